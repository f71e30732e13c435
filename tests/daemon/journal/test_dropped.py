"""Tests that a member who drops what still counts leaves a journal that can be read, shown and taken away.

Never drops anything by the rules: that is never seen in what is shown.
"""

import json
from datetime import UTC

from daemon.journal import conflicts, entries, log, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.exports.formats import WRITERS
from daemon.journal.tasks import NewTask, TaskEdit
from store.verifying import verify
from syncproto import commit as commits
from syncproto.commit import SignedCommit
from tests.daemon.agents.fleet import Home

LONG = "words that somebody would rather not have said " * 5


def with_everything_dropped(a: Home, b: Home) -> None:
    """Bring what one device has to another, without any long value."""
    page = a.read(lambda snapshot: snapshot.page((), 0, 1 << 20))
    bare = []
    for signed in page.commits:
        commit = commits.read(signed).commit
        names = {one.entity: set(one.fields) for one in commit.operations}
        bare.append(SignedCommit(commits.redact(commit, names), signed.signature))
    assert sum(len(one.body) for one in bare) < sum(len(one.body) for one in page.commits) - 3 * 150
    b.write(lambda tx: tx.take(bare))


def test_everything_can_be_shown_exported_and_written_over(a: Home, b: Home) -> None:
    made = a.write(lambda tx: tasks.add(tx, NewTask(title=LONG)))
    a.write(lambda tx: tasks.edit(tx, made.id, TaskEdit(status="BLOCKED", reason=LONG)))
    a.write(lambda tx: entries.add(tx, made.id, NewEntry(text=LONG)))
    with_everything_dropped(a, b)
    shown = b.read(lambda snapshot: tasks.show(snapshot, made.id))
    assert [len(shown.entries or []), shown.status] == [1, "BLOCKED"]
    assert len(b.read(lambda snapshot: tasks.tasks(snapshot, closed=True, removed=False, brief=False))) == 1
    told = b.read(lambda snapshot: log.log(snapshot, None, limit=50))
    assert "(dropped)" in [one.after for one in told]
    assert b.read(lambda snapshot: conflicts.conflicts(snapshot, None)) == []
    for write in WRITERS.values():
        assert b.read(lambda snapshot, write=write: "".join(write(snapshot, UTC)))  # type: ignore[misc]
    found = b.read(lambda snapshot: verify(snapshot, lambda *_: None))
    assert {one.what for one in found.findings} == {"a member's device dropped a value that still counts"}
    b.write(lambda tx: tasks.edit(tx, made.id, TaskEdit(title="said again")))
    assert b.read(lambda snapshot: tasks.show(snapshot, made.id)).title == "said again"
    assert json.dumps(told[0].after)
