"""Decisions made on several devices while apart: every row of the table of cases, on real stores.

Never looks at the inside of a decision: only at the answers, and at what people see once the devices meet.
"""

from typing import Any

import pytest

from daemon.agents.deciding.decision_result import DecisionOutcome
from store.fold.verdicts import DecisionStatus
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import confirm, defer, reject, undo, waiting
from tests.support.fleet import Fleet, Home


def test_confirmed_on_two_devices_while_apart_is_one_change_and_two_decisions(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    estimate, added = a.estimate(task, 120, "one"), a.add(task, "Buy paper", "two")
    also = a.add(task, "Call Ann", "three")
    fleet.sync()
    for home, items in ((a, [estimate, added]), (b, [also, added, estimate])):
        for item in items:
            assert confirm(home, item).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert home.value(task, "estimate_minutes") == 120
        assert sorted(home.titles(task)) == ["Buy paper", "Call Ann"]
        assert len(home.item(added).decisions) == 2
        created = home.entity(derived_id("entity", id_to_text(added), time_of=added))
        assert created.conflicts() == {}
        assert home.entity(task).conflicts() == {}
        assert home.entity(derived_id("checklist", id_to_text(task), time_of=task)).conflicts() == {}


def test_confirmed_here_and_rejected_there_is_disputed_and_not_in_effect(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(a, item)
    reject(b, item)
    fleet.sync()
    for home in (a, b):
        assert home.value(task, "estimate_minutes") == 60
        (line,) = waiting(home)
        assert (line.status, line.disputed) == ("rejected", True)


@pytest.mark.parametrize(("settle", "count"), [(confirm, 120), (reject, 60), (undo, 60)])
def test_a_dispute_is_settled_by_either_verdict(
    fleet: Fleet, b: Home, task: EntityId, settle: Any, count: int
) -> None:
    (a, _) = fleet.homes
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(a, item)
    reject(b, item)
    fleet.sync()
    assert defer(b, item).result is DecisionOutcome.CONFLICT
    assert settle(b, item).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert not home.item(item).disputed
        assert home.value(task, "estimate_minutes") == count


def test_confirming_a_disputed_item_again_keeps_the_edited_words(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(a, item, edit={"minutes": 90})
    reject(b, item)
    fleet.sync()
    confirm(b, item)
    fleet.sync()
    assert a.value(task, "estimate_minutes") == 90


def test_confirming_a_disputed_item_as_proposed_is_possible_by_saying_so(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(a, item, edit={"minutes": 90})
    reject(b, item)
    fleet.sync()
    confirm(b, item, edit={"minutes": 120})
    fleet.sync()
    assert a.value(task, "estimate_minutes") == 120


def test_edited_there_and_confirmed_here_is_one_effect_the_edited_one(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    item, added = a.estimate(task, 120, "one"), a.add(task, "Buy paper", "two")
    fleet.sync()
    confirm(a, item)
    confirm(a, added)
    confirm(b, item, edit={"minutes": 90})
    confirm(b, added, edit={"title": "Buy ink"})
    fleet.sync()
    for home in (a, b):
        assert home.value(task, "estimate_minutes") == 90
        assert home.titles(task) == ["Buy ink"]


def test_the_persons_edit_wins_over_an_unaware_confirmation_and_can_be_overruled(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    a.set(task, estimate_minutes=45)
    confirm(b, item)
    fleet.sync()
    for home in (a, b):
        assert home.value(task, "estimate_minutes") == 45
    result = confirm(b, item)
    assert "overtaken by your edit" in result.message
    assert confirm(b, item, force=True).result is DecisionOutcome.APPLIED
    fleet.sync()
    assert a.value(task, "estimate_minutes") == 120


def test_a_change_known_here_makes_it_stale_here(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    a.set(task, estimate_minutes=45)
    fleet.sync()
    assert confirm(b, item).result is DecisionOutcome.STALE


def test_undo_on_two_devices_is_one_undo(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item)
    fleet.sync()
    undo(a, item)
    undo(b, item)
    fleet.sync()
    assert b.item(item).status is DecisionStatus.REJECTED
    assert not b.item(item).disputed
    assert b.value(task, "estimate_minutes") == 60


def test_a_task_deleted_elsewhere_meanwhile_stays_deleted_with_the_effect_beneath(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    estimate, added = a.estimate(task, 120, "one"), a.add(task, "Buy paper", "two")
    fleet.sync()
    a.set(task, deleted=True)
    confirm(b, estimate)
    confirm(b, added)
    fleet.sync()
    for home in (a, b):
        assert not home.entity(task).visible
        assert home.value(task, "estimate_minutes") == 120
    a.set(task, deleted=False)
    fleet.sync()
    assert b.titles(task) == ["Buy paper"]


def test_two_runs_that_propose_the_same_make_one_item_with_one_verdict(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    fleet.sync()
    first, second = a.estimate(task, 120, "one"), b.estimate(task, 120, "two")
    assert first == second
    fleet.sync()
    assert len(a.item(first).occurrences) == 2
    assert len(waiting(a)) == 1
    confirm(a, first)
    fleet.sync()
    assert waiting(b) == []


def test_of_two_occurrences_one_fresh_base_is_enough(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    fleet.sync()
    item = a.estimate(task, 120, "one")
    b.set(task, estimate_minutes=45)
    assert b.estimate(task, 120, "two") == item
    fleet.sync()
    assert confirm(a, item).result is DecisionOutcome.APPLIED


def test_three_devices_that_decide_apart_agree_afterwards(
    fleet: Fleet, a: Home, b: Home, c: Home, task: EntityId
) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(a, item)
    confirm(b, item, edit={"minutes": 90})
    reject(c, item)
    fleet.sync()
    assert {home.item(item).disputed for home in (a, b, c)} == {True}
    confirm(c, item)
    fleet.sync()
    assert {home.value(task, "estimate_minutes") for home in (a, b, c)} == {90}


def test_edited_words_that_are_confirmed_again_do_not_hide_what_a_person_wrote_meanwhile(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    todos = a.new("checklist", task_id=task, title="Todos", position="V")
    listed = a.new("checklist_item", checklist_id=todos, title="Buy paper", position="V")
    (item,) = a.propose(
        task, "one", ("update_checklist_item", {"id": id_to_text(listed), "isArchived": True})
    )
    fleet.sync()
    a.set(listed, title="Buy ink")
    reject(a, item)
    confirm(b, item, edit={"title": "Buy glue"})
    fleet.sync()
    assert a.item(item).disputed
    for words in (None, {"title": "Buy tape"}):
        assert confirm(b, item, edit=words).result is DecisionOutcome.STALE
    assert b.value(listed, "title") == "Buy ink"
    assert confirm(b, item, force=True).result is DecisionOutcome.APPLIED
    fleet.sync()
    assert a.value(listed, "title") == "Buy glue"
