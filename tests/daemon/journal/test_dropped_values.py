"""Tests that a member who drops what still counts leaves a journal that can be read, shown and taken away.

Never drops anything by the rules: that is never seen in what is shown.
"""

import json
from datetime import UTC

from daemon.file_formats import format_names
from daemon.formats.writers import writer_for
from daemon.journal import change_log, conflicts, entries, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask, TaskEdit
from store.upkeep.verification import verify_store
from syncproto import commit as commits
from syncproto.commit import SignedCommit
from tests.support.fleet import Home

LONG = "words that somebody would rather not have said " * 5


def with_everything_dropped(a: Home, b: Home) -> None:
    """Bring what one device has to another, without any long value."""
    page = a.read(lambda snapshot: snapshot.page_lacking((), 0, 1 << 20))
    bare = []
    for signed in page.commits:
        commit = commits.decode_commit(signed).commit
        names = {operation.entity: set(operation.fields) for operation in commit.operations}
        bare.append(SignedCommit(commits.redact_values(commit, names), signed.signature))
    assert (
        sum(len(listed_commit.body) for listed_commit in bare)
        < sum(len(listed_commit.body) for listed_commit in page.commits) - 3 * 150
    )
    b.write(lambda tx: tx.accept_page(bare))


def test_everything_can_be_shown_exported_and_written_over(a: Home, b: Home) -> None:
    task = a.write(lambda tx: tasks.add(tx, NewTask(title=LONG)))
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(status="BLOCKED", reason=LONG)))
    a.write(lambda tx: entries.add(tx, task.id, NewEntry(text=LONG)))
    with_everything_dropped(a, b)
    shown_task = b.read(lambda snapshot: tasks.show(snapshot, task.id))
    assert [len(shown_task.entries or []), shown_task.status] == [1, "BLOCKED"]
    assert (
        len(b.read(lambda snapshot: tasks.list_tasks(snapshot, closed=True, removed=False, brief=False))) == 1
    )
    changes = b.read(lambda snapshot: change_log.list_changes(snapshot, None, limit=50))
    assert "(dropped)" in [change.after for change in changes]
    assert b.read(lambda snapshot: conflicts.list_conflicts(snapshot, None)) == []
    for write in map(writer_for, format_names()):
        assert b.read(lambda snapshot, write=write: "".join(write(snapshot, UTC)))  # type: ignore[misc]
    report = b.read(lambda snapshot: verify_store(snapshot, lambda *_: None))
    assert {finding.what.text for finding in report.findings} == {
        "a member's device dropped a value that still counts"
    }
    b.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(title="said again")))
    assert b.read(lambda snapshot: tasks.show(snapshot, task.id)).title == "said again"
    assert json.dumps(changes[0].after)
