"""The one entry for an undo: an edit is written back, and a verdict is taken back by another one."""

import pytest

from daemon.agents.deciding import decisions
from daemon.agents.person.undo_of_change import UndoResult, VerdictRules, undo_any
from daemon.journal.references.change_names import commit_name
from daemon.journal.undo.undo import last_change
from daemon.refusal import RefusalCode, Refused
from store.fold.verdicts import DecisionStatus
from syncproto.ids import EntityId
from tests.daemon.formats.jsonl.files import exported, imported
from tests.daemon.journal.undo.whole_journal import last_head
from tests.support.fleet import Fleet, Home

RULES = VerdictRules("cli", 20)


def undo_last(home: Home) -> UndoResult:
    return home.write(lambda tx: undo_any(tx, last_change(tx), RULES))


def status(home: Home, item: EntityId) -> DecisionStatus:
    return home.read(lambda snapshot: snapshot.item_status(item)).status


def test_a_confirmation_is_taken_back_by_a_verdict(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    undone = undo_last(a)
    assert [verdict.result.value for verdict in undone.verdicts] == ["applied"]
    assert (undone.written, status(a, item)) == ([], DecisionStatus.REJECTED)
    assert a.value(task, "estimate_minutes") == 60
    # What took it back is no change that the next one takes back: no redo is offered.
    assert undone.undo is None
    verdict = a.read(lambda snapshot: commit_name(last_head(snapshot)))
    with pytest.raises(Refused) as refused:
        a.write(lambda tx: undo_any(tx, verdict, RULES))
    assert refused.value.code is RefusalCode.CONFLICT


def test_a_rejection_is_taken_back_and_waits_again(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.reject(tx, item, via="cli"))
    undo_last(a)
    assert status(a, item) is DecisionStatus.PENDING


def test_an_edit_after_a_confirmation_is_the_last_change(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    a.set(task, title="Another title")
    assert undo_last(a).verdicts == ()
    assert (status(a, item), a.value(task, "estimate_minutes")) == (DecisionStatus.CONFIRMED, 30)
    undo_last(a)
    assert status(a, item) is DecisionStatus.REJECTED


def test_what_an_agent_proposed_is_no_change_of_a_person(a: Home, task: EntityId) -> None:
    a.estimate(task, 30)
    proposal = a.read(lambda snapshot: commit_name(snapshot.log.head_at(snapshot.feed_end())))
    with pytest.raises(Refused) as refused:
        a.write(lambda tx: undo_any(tx, proposal, RULES))
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
    undone = a.write(lambda tx: undo_any(tx, deferral, RULES))
    assert ([left.why_id for left in undone.left], undone.verdicts) == (["decided-since"], ())
    assert (undone.undo, status(a, item)) == (None, DecisionStatus.CONFIRMED)


def test_a_rejection_before_a_later_confirmation_is_left_and_is_not_the_last_change(
    a: Home, task: EntityId
) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.reject(tx, item, via="cli"))
    rejection = a.read(last_change)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli", again=True))
    assert a.write(lambda tx: undo_any(tx, rejection, RULES)).left_count == 1
    assert status(a, item) is DecisionStatus.CONFIRMED
    assert undo_last(a).left_count == 0
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
        a.write(lambda tx: undo_any(tx, f"{edit}, {confirmation}, {proposal}", RULES))
    assert refused.value.code is RefusalCode.FORBIDDEN
    assert (a.value(task, "title"), status(a, item)) == ("Another title", DecisionStatus.CONFIRMED)
    undone = a.write(lambda tx: undo_any(tx, f"{edit}, {confirmation}", RULES))
    assert ([row.field for row in undone.written], len(undone.verdicts)) == (["title"], 1)
    assert (a.value(task, "title"), status(a, item)) == (title, DecisionStatus.REJECTED)
    # The redo is that of the edit alone, and is one.
    assert undone.undo is not None
    assert [row.after for row in a.write(lambda tx: undo_any(tx, str(undone.undo), RULES)).written] == [
        "Another title"
    ]


def test_an_import_with_decisions_is_undone_as_an_edit(fleet: Fleet, a: Home, task: EntityId) -> None:
    item = a.estimate(task, 30)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    target = fleet.home("target")
    imported(target, exported(a))
    names = target.read(lambda snapshot: [snapshot.log.head_at(seq) for seq in (1, snapshot.feed_end())])
    name = f"{names[0].counter}..{commit_name(names[1])}"
    undone = target.write(lambda tx: undo_any(tx, name, RULES))
    assert (undone.verdicts, undone.left) == ((), [])
    assert target.read(lambda snapshot: [task for task in snapshot.entities("task") if task.visible]) == []
