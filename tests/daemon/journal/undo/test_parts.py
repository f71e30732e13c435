"""The undo of a large change, in parts: what may happen between them, and what each costs."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC
from functools import partial

import pytest

from daemon.agents.person.undo_of_change import UndoOfChange
from daemon.formats import readers
from daemon.formats.core.importer import PlanImport
from daemon.journal import entries, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.references import change_names
from daemon.journal.references.change_names import find_changes
from daemon.journal.tasks import NewTask
from daemon.journal.undo import changes
from daemon.journal.undo import undo as undo_module
from daemon.journal.undo.changes import last_change
from daemon.refusal import RefusalCode, Refused
from store.log.commit_log import CommitLog
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind, DecodedCommit
from tests.daemon.journal.undo.acts import begin_undo, change, undo
from tests.daemon.journal.undo.whole_journal import whole_journal
from tests.support.fleet import START_MS, Fleet, Home

TASKS = 12


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_module, "PART_OPERATIONS", 3)


def import_tasks(home: Home, count: int = TASKS) -> str:
    """Import so many tasks with a label, each a commit, and return the name of the change."""
    text = "\n".join(f"Task {number} +home" for number in range(count))
    work = PlanImport(readers.read_plan("todotxt", "todo.txt", text, UTC, START_MS))
    home.press([partial(work.import_part, part=part) for part in work.parts])
    return home.read(last_change)


def undo_parts(home: Home, work: UndoOfChange, between: Callable[[], object], count: int) -> None:
    """Do so many parts of an undo, and something else after each."""

    def uses() -> Iterator[Callable[[Transaction], None]]:
        for part in work.parts[:count]:
            yield partial(work.undo_part, part=part)
            between()

    home.press(uses())


def titles(home: Home) -> set[str]:
    return {task.text("title") for task in home.read(lambda snapshot: snapshot.entities("task"))}


def test_each_part_is_small_and_the_whole_is_one_change(a: Home) -> None:
    before = a.read(whole_journal)
    name = import_tasks(a)
    after = a.read(whole_journal)
    work = begin_undo(a, name)
    assert {sum(commit.operations for commit in part) for part in work.parts} <= {1, 2, 3}
    assert sum(len(part) for part in work.parts) == TASKS + 1
    undone = undo(a, name)
    assert (undone.left_count, undone.written_count) == (0, TASKS + 1)
    assert a.read(whole_journal) == before
    assert undone.undo is not None
    assert len(a.read(lambda snapshot: find_changes(snapshot, str(undone.undo)))) == 1
    redone = undo(a, undone.undo)
    assert a.read(whole_journal) == after
    assert redone.undo is not None
    undo(a, redone.undo)
    assert a.read(whole_journal) == before


def test_after_an_end_half_way_the_last_change_is_what_is_left_of_it(fleet: Fleet, a: Home, b: Home) -> None:
    before = a.read(whole_journal)
    name = import_tasks(a)
    after = a.read(whole_journal)
    undo_parts(a, begin_undo(a, name), lambda: None, 2)
    assert 0 < len(titles(a)) < TASKS
    assert a.read(last_change) == name
    rest = undo(a)
    assert rest.left == []
    assert a.read(whole_journal) == before
    fleet.sync()
    assert b.read(whole_journal) == before
    # The redo of both, the last first, is as it was.
    firsts = a.read(lambda snapshot: find_changes(snapshot, str(rest.undo)))[0].first
    part = f"{TASKS + 2}..{firsts - 1}-"
    head = a.read(lambda snapshot: snapshot.log.head_at(firsts - 1))
    for done in (str(rest.undo), f"{part}{head.hash.hex()[:12]}"):
        assert undo(a, done).left == []
    assert a.read(whole_journal) == after


def test_what_others_write_between_the_parts_is_left(fleet: Fleet, a: Home, b: Home) -> None:
    b.enter_device("Phone")
    name = import_tasks(a)
    fleet.sync()
    end = len(begin_undo(a, name).parts)
    b.write(lambda tx: entries.add(tx, "Task 0", NewEntry(text="Soon")))
    work = begin_undo(a, name)
    undo_parts(a, work, fleet.sync, end)
    undone = work.answer()
    assert {(left.title, left.why_id) for left in undone.left} == {
        ("Task 0", "added-to-since"),
        ("home", "tasks-have-it"),
    }
    assert [titles(home) for home in (a, b)] == [{"Task 0"}] * 2


def test_what_is_written_here_between_the_parts_is_no_part_of_the_undo(a: Home) -> None:
    name = import_tasks(a)
    after = a.read(whole_journal)
    work = begin_undo(a, name)
    mine = iter(range(99))
    undo_parts(
        a,
        work,
        lambda: a.write(lambda tx: tasks.add(tx, NewTask(title=f"Mine {next(mine)}"))),
        len(work.parts),
    )
    undone = work.answer()
    assert undone.undo is not None
    assert ", " in undone.undo
    assert len(titles(a)) == len(work.parts)
    assert undo(a, undone.undo).left == []
    for _ in work.parts:
        undo(a)
    assert a.read(whole_journal) == after


def test_two_requests_that_undo_the_same_at_once_undo_it_once(a: Home) -> None:
    before = a.read(whole_journal)
    name = import_tasks(a)
    first, second = begin_undo(a, name), begin_undo(a, name)
    for part, same_part in zip(first.parts, second.parts, strict=True):
        a.write(partial(first.undo_part, part=part))
        a.write(partial(second.undo_part, part=same_part))
    assert (first.answer().written_count, second.answer().already) == (TASKS + 1, True)
    assert a.read(whole_journal) == before


def test_two_devices_that_undo_and_redo_an_import_apart_agree(fleet: Fleet, a: Home, b: Home) -> None:
    name = import_tasks(a)
    fleet.sync()
    done = [undo(home, name) for home in (a, b)]
    undo_parts(a, begin_undo(a, done[0].undo), lambda: None, 2)
    fleet.sync()
    assert a.read(whole_journal) == b.read(whole_journal)
    undo(b, done[1].undo)
    fleet.sync()
    assert a.read(whole_journal) == b.read(whole_journal)


def test_of_more_commits_than_a_name_may_stand_for_the_last_are_undone_first(
    a: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_tasks(a)
    for module in (change_names, changes):
        monkeypatch.setattr(module, "COMMITS_MAX", TASKS // 2)
    assert undo(a).written_count == TASKS // 2
    assert len(titles(a)) == TASKS // 2
    assert undo(a).written_count == TASKS // 2
    assert undo(a).written_count == 1
    assert a.read(whole_journal) == [[], [], [], [], []]


def test_a_long_change_that_is_undone_is_one_of_those_that_are_looked_through(
    a: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = change(a, lambda tx: tasks.add(tx, NewTask(title="Mine")))
    name = import_tasks(a)
    monkeypatch.setattr(changes, "SEARCHED_MAX", 4)
    undo(a, name)
    assert a.read(last_change) == first
    monkeypatch.setattr(changes, "SEARCHED_MAX", 2)
    with pytest.raises(Refused) as refused:
        a.read(last_change)
    assert refused.value.sentence.params == {"count": 2}


def test_a_change_of_which_a_part_is_refused_is_not_begun(a: Home) -> None:
    name = import_tasks(a)
    task = a.read(lambda snapshot: snapshot.entities("task"))[0].id
    write = EntityWrite(task, "task", {"due": "2026-03-05"})
    agent = change(a, lambda tx: tx.commit([write], by=AuthorKind.AGENT))
    end = a.read(lambda snapshot: snapshot.feed_end())
    with pytest.raises(Refused) as refused:
        undo(a, f"{name}, {agent}")
    assert refused.value.code is RefusalCode.FORBIDDEN
    assert a.read(lambda snapshot: snapshot.feed_end()) == end


def test_each_commit_is_read_once_before_the_undo_and_once_for_it(
    a: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = import_tasks(a)
    end = a.read(lambda snapshot: snapshot.feed_end())
    reads, commit_at = Counter[int](), CommitLog.commit_at

    def counted(log: CommitLog, seq: int) -> DecodedCommit:
        reads[seq] += 1
        return commit_at(log, seq)

    monkeypatch.setattr(CommitLog, "commit_at", counted)
    assert a.read(last_change) == name
    assert sum(reads.values()) == 1
    reads.clear()
    undo(a, name)
    assert {reads[seq] for seq in range(1, end + 1)} == {2}
