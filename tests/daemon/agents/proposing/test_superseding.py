"""Corrections replace: a later word of an agent takes the place of what it proposed before.

Never decides more than the tests say: what a person put off or decided stays as it is.
"""

import pytest

from daemon.agents.deciding.decision_result import DecisionOutcome
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm, defer, reject, reopen, waiting
from tests.support.fleet import Fleet, Home
from tests.support.questions import asked
from tests.support.tool_calls import At

DUE = "update_task_due_date"


def due(a: Home, task: EntityId, day: str, run_key: str) -> EntityId:
    (item,) = a.propose(task, run_key, (DUE, {"dueDate": day}))
    return item


def test_a_later_proposal_for_the_same_field_takes_back_the_open_one(a: Home, task: EntityId) -> None:
    old = due(a, task, "2027-03-01", "one")
    new = due(a, task, "2027-03-08", "two")
    (line,) = waiting(a, task)
    assert line.proposed == "2027-03-08"
    assert a.item(old).status.value == "retracted"
    assert a.item(old).decisions[0].reason == "Replaced by: Set due date to 2027-03-08"
    assert a.item(new).status.value == "pending"


def test_another_field_is_another_matter(a: Home, task: EntityId) -> None:
    due(a, task, "2027-03-01", "one")
    a.estimate(task, 120, "two")
    a.add(task, "Buy ink", "three")
    a.add(task, "Buy paper", "four")
    assert len(waiting(a, task)) == 4


def test_what_a_person_put_off_or_reopened_stays(a: Home, task: EntityId) -> None:
    put_off = due(a, task, "2027-03-01", "one")
    defer(a, put_off)
    reopened = due(a, task, "2027-03-02", "two")
    reject(a, reopened)
    reopen(a, reopened)
    due(a, task, "2027-03-08", "three")
    assert a.item(put_off).status.value == "deferred"
    assert a.item(reopened).status.value == "pending"
    assert len(waiting(a, task)) == 3


def test_the_last_word_of_one_run_counts(a: Home, task: EntityId) -> None:
    caller = At(a, task)
    for minutes in (90, 120, 90):
        caller.ask("update_task_estimate", {"minutes": minutes})
    assert caller.args() == [{"minutes": 90}]


def test_going_back_to_what_waits_keeps_it(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 90, "one")
    caller = At(a, task, "two")
    caller.ask("update_task_estimate", {"minutes": 120})
    caller.ask("update_task_estimate", {"minutes": 90})
    assert caller.end() == []
    assert a.item(item).status.value == "pending"


def test_the_value_that_is_there_is_a_word_too(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 90, "one")
    caller = At(a, task, "two")
    assert caller.ask("update_task_estimate", {"minutes": 60}) == "Skipped: estimate is already 60 minutes."
    caller.end()
    assert a.item(item).status.value == "retracted"


def test_an_update_that_writes_more_is_not_replaced_by_less(a: Home, task: EntityId) -> None:
    checklist = a.new("checklist", task_id=task, title="Todos", position="a")
    target = a.new("checklist_item", checklist_id=checklist, title="Buy ink", position="a")
    name = id_to_text(target)
    (both,) = a.propose(
        task, "one", ("update_checklist_item", {"id": name, "title": "Ink", "isArchived": True})
    )
    a.propose(task, "two", ("update_checklist_item", {"id": name, "title": "Buy black ink"}))
    assert a.item(both).status.value == "pending"


def test_a_question_replaces_a_proposal_and_a_proposal_a_question(a: Home, task: EntityId) -> None:
    old = due(a, task, "2027-01-01", "one")
    answers = asked(a, task, "two")
    assert a.item(old).status.value == "retracted"
    assert a.item(old).decisions[0].reason == "Replaced by: When is it due?"
    due(a, task, "2027-04-01", "three")
    assert [a.item(answer).status.value for answer in answers] == ["retracted"] * 3


def test_a_deferred_question_is_the_persons_to_keep(a: Home, task: EntityId) -> None:
    answers = asked(a, task, "one")
    defer(a, answers[0])
    due(a, task, "2027-04-01", "two")
    assert [a.item(answer).status.value for answer in answers] == ["deferred"] * 3


@pytest.mark.parametrize("knows", [False, True])
def test_whoever_confirms_the_old_one_meanwhile_has_the_last_word(
    fleet: Fleet, b: Home, task: EntityId, *, knows: bool
) -> None:
    (a, _) = fleet.homes
    old = due(a, task, "2027-03-01", "one")
    fleet.sync()
    new = due(a, task, "2027-03-08", "two")
    if knows:
        fleet.sync()
    answer = confirm(b, old, again=knows)
    assert answer.result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert home.item(old).status.value == "confirmed"
        assert home.value(task, "due") == "2027-03-01"
        # The newer proposal still waits, and says that the value has changed since.
        (line,) = waiting(home, task)
        assert (line.proposed, line.stale) == ("2027-03-08", True)
    assert confirm(a, new).result is DecisionOutcome.STALE


def test_two_homes_at_once_keep_both_until_the_next_run(fleet: Fleet, b: Home, task: EntityId) -> None:
    (a, _) = fleet.homes
    old = due(a, task, "2027-03-01", "one")
    fleet.sync()
    due(a, task, "2027-03-08", "two")
    due(b, task, "2027-03-09", "three")
    fleet.sync()
    assert a.item(old).status.value == "retracted"
    assert sorted(line.proposed for line in waiting(b, task)) == ["2027-03-08", "2027-03-09"]
    due(b, task, "2027-03-10", "four")
    fleet.sync()
    for home in (a, b):
        assert [line.proposed for line in waiting(home, task)] == ["2027-03-10"]
