"""Tests that files are known again after a compaction dropped what they had said.

Never drops anything by hand: a real compaction does.
"""

import pytest

from daemon.journal import entries, tasks
from daemon.journal.entries import EntryEdit
from daemon.journal.imports.apply import ImportResult
from daemon.journal.tasks import TaskEdit
from store.compaction import Retention, compact
from tests.daemon.agents.fleet import Home
from tests.daemon.journal.exports.taking import bring, commits, held

LONG = "write to everybody who came to the house last summer and thank them for it " * 2


def compacted(home: Home) -> int:
    """Drop all that may go; return how many values that were."""
    step = home.write(lambda tx: compact(tx, Retention(home.now_ms() + 10**9)))
    assert step.after is None
    return step.freed.values


@pytest.mark.parametrize(("format_", "text"), [("todotxt", LONG), ("markdown", f"# {LONG}\n")])
def test_a_long_title_that_a_person_changed_stays_theirs(a: Home, format_: str, text: str) -> None:
    bring(a, format_, text)
    (task,) = held(a)
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(title="thank them")))
    assert compacted(a) == 1
    before = commits(a)
    assert bring(a, format_, text) == ImportResult(unchanged=1)
    assert [one.title for one in held(a)] == ["thank them"]
    assert commits(a) == before
    bring(a, format_, text.replace("summer", "winter"))
    assert LONG.replace("summer", "winter").strip() in [one.title for one in held(a)]


def test_a_long_note_that_a_person_changed_stays_theirs(a: Home) -> None:
    text = f"# Party\n\n{LONG}\n"
    bring(a, "markdown", text)
    (entry,) = held(a)[0].entries
    a.write(lambda tx: entries.edit(tx, entry.id, EntryEdit(text="done")))
    assert compacted(a) == 1
    before = commits(a)
    assert bring(a, "markdown", text) == ImportResult(unchanged=1)
    assert commits(a) == before
    assert [one.text for one in held(a)[0].entries] == ["done"]
