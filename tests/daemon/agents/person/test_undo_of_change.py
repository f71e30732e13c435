"""The one entry for an undo: an edit is written back, and a verdict is taken back by another one."""

from collections.abc import Callable
from typing import Any

import pytest

from daemon.agents.deciding import decisions
from daemon.agents.person.undo_of_change import undo_change
from daemon.journal import tasks
from daemon.journal.references.change_names import commit_name
from daemon.journal.tasks import NewTask
from daemon.journal.undo import undo as undo_of_edits
from daemon.journal.undo.changes import last_change
from daemon.refusal import RefusalCode, Refused
from store.file.errors import StoreError
from store.fold.verdicts import DecisionStatus
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId
from tests.daemon.formats.jsonl.files import exported, imported
from tests.daemon.journal.undo.acts import RULES, change, undo
from tests.daemon.journal.undo.whole_journal import last_head
from tests.support.fleet import Fleet, Home


def status(home: Home, item: EntityId) -> DecisionStatus:
    return home.read(lambda snapshot: snapshot.item_status(item)).status


def test_a_confirmation_is_taken_back_by_a_verdict(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    undone = undo(a)
    assert [verdict.result.value for verdict in undone.verdicts] == ["applied"]
    assert (undone.written, status(a, item)) == ([], DecisionStatus.REJECTED)
    assert a.value(task, "estimate_minutes") == 60
    # What took it back is no change that the next one takes back: no redo is offered.
    assert undone.undo is None
    verdict = a.read(lambda snapshot: commit_name(last_head(snapshot)))
    with pytest.raises(Refused) as refused:
        undo(a, verdict)
    assert refused.value.code is RefusalCode.CONFLICT


def test_a_rejection_is_taken_back_and_waits_again(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.reject(tx, item, via="cli"))
    undo(a)
    assert status(a, item) is DecisionStatus.PENDING


def test_an_edit_after_a_confirmation_is_the_last_change(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    a.set(task, title="Another title")
    assert undo(a).verdicts == ()
    assert (status(a, item), a.value(task, "estimate_minutes")) == (DecisionStatus.CONFIRMED, 30)
    undo(a)
    assert status(a, item) is DecisionStatus.REJECTED


def test_what_an_agent_proposed_is_no_change_of_a_person(a: Home, task: EntityId) -> None:
    a.estimate(task, 30)
    proposal = a.read(lambda snapshot: commit_name(snapshot.log.head_at(snapshot.feed_end())))
    with pytest.raises(Refused) as refused:
        undo(a, proposal)
    assert refused.value.code is RefusalCode.FORBIDDEN


def test_an_old_verdict_takes_back_none_that_came_after_it_on_another_device(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.defer(tx, item, via="cli"))
    deferral = a.read(lambda snapshot: commit_name(snapshot.log.head_at(snapshot.feed_end())))
    fleet.sync()
    b.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    fleet.sync()
    undone = undo(a, deferral)
    assert ([left.why_id for left in undone.left], undone.verdicts) == (["decided-since"], ())
    assert (undone.undo, status(a, item)) == (None, DecisionStatus.CONFIRMED)


def test_a_rejection_before_a_later_confirmation_is_left_and_is_not_the_last_change(
    a: Home, task: EntityId
) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.reject(tx, item, via="cli"))
    rejection = a.read(last_change)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli", again=True))
    assert undo(a, rejection).left_count == 1
    assert status(a, item) is DecisionStatus.CONFIRMED
    assert undo(a).left_count == 0
    assert status(a, item) is DecisionStatus.REJECTED


def test_an_edit_and_a_confirmation_are_undone_together_or_neither(a: Home, task: EntityId) -> None:
    title = a.value(task, "title")
    a.set(task, title="Another title")
    edit = a.read(last_change)
    item = a.estimate(task, 30)
    proposal = a.read(lambda snapshot: commit_name(snapshot.log.head_at(snapshot.feed_end())))
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    confirmation = a.read(last_change)
    with pytest.raises(Refused) as refused:
        undo(a, f"{edit}, {confirmation}, {proposal}")
    assert refused.value.code is RefusalCode.FORBIDDEN
    assert (a.value(task, "title"), status(a, item)) == ("Another title", DecisionStatus.CONFIRMED)
    undone = undo(a, f"{edit}, {confirmation}")
    assert ([row.field for row in undone.written], len(undone.verdicts)) == (["title"], 1)
    assert (a.value(task, "title"), status(a, item)) == (title, DecisionStatus.REJECTED)
    # The redo is that of the edit alone, and is one.
    assert undone.undo is not None
    assert [row.after for row in undo(a, str(undone.undo)).written] == ["Another title"]


def test_an_import_with_decisions_is_undone_as_an_edit(fleet: Fleet, a: Home, task: EntityId) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    target = fleet.home("target")
    imported(target, exported(a))
    names = target.read(lambda snapshot: [snapshot.log.head_at(seq) for seq in (1, snapshot.feed_end())])
    name = f"{names[0].counter}..{commit_name(names[1])}"
    undone = undo(target, name)
    assert (undone.verdicts, undone.left) == ((), [])
    assert target.read(lambda snapshot: [task for task in snapshot.entities("task") if task.visible]) == []


class FullDisk:
    """A store that takes so many writes, and then has no room."""

    def __init__(self, home: Home, writes: int) -> None:
        self.home, self.writes = home, writes

    async def read(self, use: Callable[[Snapshot], Any]) -> Any:
        return self.home.read(use)

    async def write(self, use: Callable[[Transaction], Any]) -> Any:
        if not self.writes:
            raise StoreError(sentence("no-room", "no room"))
        self.writes -= 1
        return self.home.write(use)


@pytest.mark.asyncio
@pytest.mark.parametrize("writes", [0, 2])
async def test_an_undo_that_the_store_ends_says_how_far_it_came(
    a: Home, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_of_edits, "PART_OPERATIONS", 1)
    names = [change(a, lambda tx, t=title: tasks.add(tx, NewTask(title=t))) for title in "abc"]  # type: ignore[misc]
    with pytest.raises((Refused, StoreError)) as fault:
        await undo_change(FullDisk(a, writes), lambda _: ", ".join(names), RULES)  # type: ignore[arg-type]
    if writes:
        assert isinstance(fault.value, Refused)
        assert fault.value.code is RefusalCode.PARTLY
        assert fault.value.sentence.text == "2 of 3 parts of the change are undone, then: no room"
    done = await undo_change(FullDisk(a, 9), lambda _: ", ".join(names), RULES)  # type: ignore[arg-type]
    assert (done.written_count, done.left) == (3 - writes, [])
