"""Verdicts that need another device than the agent's: how they are asked for, given, kept and shown."""

from typing import Any

import pytest

from daemon.agents.deciding import decisions
from daemon.agents.deciding.decision_history import list_decisions
from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from daemon.agents.deciding.waiting_items import list_waiting_items
from daemon.agents.person import lifecycle, presence_edits
from daemon.journal.change_log import list_changes
from daemon.refusal import Refused
from store.fold.verdicts import DecisionStatus
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import confirm, reject, undo
from tests.support.fleet import Fleet, Home
from tests.support.questions import asked


def agent_of(task: EntityId) -> EntityId:
    return derived_id("agent", id_to_text(task), time_of=task)


def ask_for(
    home: Home, task: EntityId, presence: str, tool: str = "all", *, has_other_devices: bool = True
) -> None:
    home.write(
        lambda tx: presence_edits.set_presence(
            tx, agent_of(task), tool, presence, has_other_devices=has_other_devices
        )
    )


@pytest.fixture
def guarded(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    """A task whose agent works on `a`, and needs verdicts of another device."""
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    ask_for(a, task, "other_device")
    fleet.sync()
    return task


def status(home: Home, item: EntityId) -> DecisionStatus:
    return home.item(item).status


def test_a_verdict_on_the_agents_device_is_kept_and_changes_nothing(
    fleet: Fleet, a: Home, b: Home, guarded: EntityId
):
    item = a.estimate(guarded, 120)
    result = confirm(a, item)
    assert (result.result, result.status) == (DecisionOutcome.NOT_COUNTED, "pending")
    assert result.message_id == "verdict-not-from-another-device"
    assert a.value(guarded, "estimate_minutes") == 60
    fleet.sync()
    for home in (a, b):
        (waiting,) = home.read(lambda snapshot: list_waiting_items(snapshot, a.now_ms()))
        assert (waiting.presence, waiting.counts_here) == ("other_device", home is b)
        assert [(idle.verdict, idle.lacks) for idle in waiting.idle_verdicts] == [
            ("confirmed", "other_device")
        ]
        (record,) = home.read(lambda snapshot: list_decisions(snapshot, a.now_ms(), limit=9))
        assert (record.lacks, record.counts, record.status) == ("other_device", False, "pending")
    assert confirm(b, item).result is DecisionOutcome.APPLIED
    fleet.sync()
    assert [home.value(guarded, "estimate_minutes") for home in (a, b)] == [120, 120]


@pytest.mark.parametrize("verb", ["confirm", "reject", "defer", "undo", "reopen"])
def test_no_verdict_of_the_agents_device_takes_one_back(
    fleet: Fleet, a: Home, b: Home, guarded: EntityId, verb: str
):
    item = a.estimate(guarded, 120)
    fleet.sync()
    confirm(b, item)
    fleet.sync()
    how: Any = {"via": "cli"}
    result: DecisionResult = a.write(lambda tx: getattr(decisions, verb)(tx, item, **how))
    assert result.result is not DecisionOutcome.APPLIED
    fleet.sync()
    assert {status(home, item) for home in (a, b)} == {DecisionStatus.CONFIRMED}
    assert b.value(guarded, "estimate_minutes") == 120


def test_whoever_tries_without_end_writes_once(a: Home, guarded: EntityId):
    item = a.add(guarded, "Buy paper")
    for _ in range(5):
        assert reject(a, item).result is DecisionOutcome.NOT_COUNTED
    assert len(a.item(item).all_decisions) == 1
    assert a.item(item).decisions == ()


def test_what_was_edited_on_the_agents_device_never_comes_into_effect(
    fleet: Fleet, a: Home, b: Home, guarded: EntityId
):
    item = a.estimate(guarded, 120)
    confirm(a, item, edit={"minutes": 999})
    fleet.sync()
    assert confirm(b, item).result is DecisionOutcome.APPLIED
    fleet.sync()
    assert {home.value(guarded, "estimate_minutes") for home in (a, b)} == {120}


def test_a_created_item_needs_another_device_too(fleet: Fleet, a: Home, b: Home, guarded: EntityId):
    item = a.add(guarded, "Buy paper")
    confirm(a, item)
    fleet.sync()
    assert a.titles(guarded) == b.titles(guarded) == []
    confirm(b, item)
    fleet.sync()
    assert a.titles(guarded) == b.titles(guarded) == ["Buy paper"]
    assert undo(a, item).result is DecisionOutcome.NOT_COUNTED
    assert a.titles(guarded) == ["Buy paper"]
    assert undo(b, item).result is DecisionOutcome.APPLIED


def test_a_question_is_answered_on_another_device(fleet: Fleet, a: Home, b: Home, guarded: EntityId):
    first, second, *_ = asked(a, guarded)
    assert confirm(a, first).result is DecisionOutcome.NOT_COUNTED
    fleet.sync()
    assert confirm(b, first).result is DecisionOutcome.APPLIED
    fleet.sync()
    assert (status(a, first), status(a, second)) == (DecisionStatus.CONFIRMED, DecisionStatus.REJECTED)


def test_it_is_not_loosened_on_the_agents_device(fleet: Fleet, a: Home, b: Home, guarded: EntityId):
    for tool, presence in (("all", "any"), ("all", "default"), ("update_task_estimate", "any")):
        with pytest.raises(Refused) as refused:
            ask_for(a, guarded, presence, tool)
        assert refused.value.sentence.id == "presence-loosened-at-home"
    with pytest.raises(Refused):
        a.write(lambda tx: presence_edits.require_movable(tx, agent_of(guarded), b.read(lambda s: s.device)))
    ask_for(b, guarded, "any", "update_task_estimate")
    fleet.sync()
    item, created = a.estimate(guarded, 120), a.add(guarded, "Buy paper", "another run")
    assert confirm(a, item).result is DecisionOutcome.APPLIED
    assert confirm(a, created).result is DecisionOutcome.NOT_COUNTED


def test_nothing_is_asked_for_that_nobody_could_fulfil(a: Home, task: EntityId):
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    for presence in ("other_device", "passkey", "retina"):
        with pytest.raises(Refused):
            ask_for(a, task, presence, has_other_devices=False)


def test_what_was_proposed_before_is_not_proposed_again_under_another_id(
    fleet: Fleet, a: Home, b: Home, task: EntityId
):
    a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    fleet.sync()
    waiting = a.estimate(task, 120)
    ask_for(a, task, "other_device")
    assert a.propose(task, "another run", ("update_task_estimate", {"minutes": 120})) == []
    confirm(a, waiting)
    undo(a, waiting)
    assert a.propose(task, "a third run", ("update_task_estimate", {"minutes": 120})) == []


def test_the_log_says_that_a_verdict_does_not_count(a: Home, guarded: EntityId):
    confirm(a, a.estimate(guarded, 120))
    changes = a.read(lambda snapshot: list_changes(snapshot, id_to_text(guarded), limit=50))
    assert {change.lacks for change in changes if change.kind == "decision"} == {"other_device"}


def test_an_item_without_a_counting_verdict_expires(fleet: Fleet, a: Home, guarded: EntityId):
    item = a.estimate(guarded, 120)
    confirm(a, item)
    later = a.now_ms() + 8 * 86_400_000
    assert a.read(lambda snapshot: list_waiting_items(snapshot, later)) == []
    assert a.item(item).decisions == ()
