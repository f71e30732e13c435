"""Tests that files are known again after a compaction dropped what they had said.

Never drops anything by hand: a real compaction does.
"""

import pytest

from daemon.formats.core.importer import ImportResult
from daemon.journal import entries, tasks
from daemon.journal.entries import EntryEdit
from daemon.journal.tasks import TaskEdit
from store.upkeep.compaction import Retention, compact_step
from tests.daemon.formats.transfers import bring, commits, stored_tasks
from tests.support.fleet import Home

LONG = "write to everybody who came to the house last summer and thank them for it " * 2


def compacted(home: Home) -> int:
    """Drop all that may go; return how many values that were."""
    step = home.write(lambda tx: compact_step(tx, Retention(home.now_ms() + 10**9)))
    assert step.after is None
    return step.freed.values


@pytest.mark.parametrize(("format_", "text"), [("todotxt", LONG), ("markdown", f"# {LONG}\n")])
def test_a_long_title_that_a_person_changed_stays_theirs(a: Home, format_: str, text: str) -> None:
    bring(a, format_, text)
    (task,) = stored_tasks(a)
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(title="thank them")))
    assert compacted(a) == 1
    before = commits(a)
    assert bring(a, format_, text) == ImportResult(unchanged=1)
    assert [listed_task.title for listed_task in stored_tasks(a)] == ["thank them"]
    assert commits(a) == before
    bring(a, format_, text.replace("summer", "winter"))
    assert LONG.replace("summer", "winter").strip() in [listed_task.title for listed_task in stored_tasks(a)]


def test_a_long_note_that_a_person_changed_stays_theirs(a: Home) -> None:
    text = f"# Party\n\n{LONG}\n"
    bring(a, "markdown", text)
    (entry,) = stored_tasks(a)[0].entries
    a.write(lambda tx: entries.edit(tx, entry.id, EntryEdit(text="done")))
    assert compacted(a) == 1
    before = commits(a)
    assert bring(a, "markdown", text) == ImportResult(unchanged=1)
    assert commits(a) == before
    assert [listed_entry.text for listed_entry in stored_tasks(a)[0].entries] == ["done"]
