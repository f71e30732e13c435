"""An agent proposes to take a value away: only one that is there, and a person's only with a later note.

Never runs a model: the tests contain the calls.
"""

import pytest

from daemon.agents.proposing.tool_answers import CallOutcome
from daemon.agents.tools.agent_record import agent_id
from daemon.agents.tools.policy import policy_field
from store.transaction import EntityWrite
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm, undo, waiting
from tests.support.fleet import Fleet, Home
from tests.support.tool_calls import At

CASES = [("clear_task_due_date", "due", "2027-03-01"), ("clear_task_estimate", "estimate_minutes", 90)]


@pytest.mark.parametrize(("tool", "field", "value"), CASES)
def test_a_value_of_the_agents_is_taken_away_and_comes_back_by_undo(
    tool: str, field: str, value: object, a: Home
) -> None:
    task = a.new("task", title="Write the report", status="OPEN")
    assert At(a, task).ask(tool, {}).startswith("Skipped: there is no")
    argument = {"due": "dueDate", "estimate_minutes": "minutes"}[field]
    (setting,) = a.propose(task, "set", (tool.replace("clear", "update"), {argument: value}))
    confirm(a, setting)
    (item,) = a.propose(task, "clear", (tool, {}))
    (line,) = waiting(a, task)
    assert (line.current, line.proposed, line.summary[:4]) == (value, None, "Take")
    confirm(a, item)
    assert a.value(task, field) is None
    undo(a, item)
    assert a.value(task, field) == value


@pytest.mark.parametrize(("tool", "field", "value"), CASES)
def test_a_persons_value_yields_to_a_later_note_alone(
    tool: str, field: str, value: str | int, fleet: Fleet, a: Home
) -> None:
    task = a.new("task", title="Write the report", status="OPEN")
    early = a.new("entry", task_id=task, text="Hurry")
    fleet.now_ms += 1000
    a.set(task, **{field: value})
    fleet.now_ms += 1000
    caller = At(a, task)
    for arguments in ({}, {"evidenceIds": [id_to_text(early)]}):
        answer = caller.take(tool, arguments)
        assert answer.outcome is CallOutcome.REFUSED
        assert "goes against what the user set" in answer.text
    late = a.new("entry", task_id=task, text="Take your time")
    assert caller.take(tool, {"evidenceIds": [id_to_text(late)]}).outcome is CallOutcome.QUEUED


@pytest.mark.parametrize(
    ("denied", "tool"), [CASES[0][:1] * 2, ("update_task_due_date", "clear_task_due_date")]
)
def test_a_policy_counts_for_all_that_write_the_field(
    denied: str, tool: str, a: Home, task: EntityId
) -> None:
    fields = {policy_field(denied): "denied"}
    a.write(lambda tx: tx.commit([EntityWrite(agent_id(task), "agent", {"task_id": task, **fields})]))
    assert At(a, task).take(tool, {}).outcome is CallOutcome.DENIED


def test_taking_away_replaces_what_would_set_it(a: Home, task: EntityId) -> None:
    (old,) = a.propose(task, "one", ("update_task_due_date", {"dueDate": "2027-03-01"}))
    caller = At(a, task, "two")
    caller.ask("clear_task_due_date", {})
    caller.end()
    assert a.item(old).status.value == "retracted"


# -- labels -------------------------------------------------------------------------------------------


def label_field(label: EntityId) -> str:
    return f"label_ids/{id_to_text(label)}"


def test_a_label_of_the_agents_is_taken_away_and_comes_back_by_undo(a: Home, task: EntityId) -> None:
    label = a.new("label", name="bug")
    arguments = {"id": id_to_text(label)}
    assert 'does not have the label "bug"' in At(a, task).ask("remove_task_label", arguments)
    (giving,) = a.propose(task, "give", ("assign_task_label", {**arguments, "confidence": "high"}))
    confirm(a, giving)
    (item,) = a.propose(task, "take", ("remove_task_label", arguments))
    (line,) = waiting(a, task)
    assert (line.current, line.proposed, line.summary) == (True, False, 'Take the label away: "bug"')
    confirm(a, item)
    assert a.value(task, label_field(label)) is False
    assert undo(a, item).message == "undone: the label is on again"
    assert a.value(task, label_field(label)) is True


def test_a_label_that_the_person_gave_yields_to_a_later_note_alone(
    fleet: Fleet, a: Home, task: EntityId
) -> None:
    label = a.new("label", name="bug")
    early = a.new("entry", task_id=task, text="No bug")
    fleet.now_ms += 1000
    a.set(task, **{label_field(label): True})
    fleet.now_ms += 1000
    caller = At(a, task)
    for evidence in ({}, {"evidenceIds": [id_to_text(early)]}):
        answer = caller.take("remove_task_label", {"id": id_to_text(label), **evidence})
        assert answer.outcome is CallOutcome.REFUSED
        assert "goes against what the user set" in answer.text
    late = a.new("entry", task_id=task, text="It is no bug after all")
    arguments = {"id": id_to_text(label), "evidenceIds": [id_to_text(late)]}
    assert caller.take("remove_task_label", arguments).outcome is CallOutcome.QUEUED
    (item,) = caller.end()
    a.set(task, **{label_field(label): False})
    refused = confirm(a, item.id)
    assert (refused.result.value, refused.message) == ("obsolete", "the task does not have this label")


def test_giving_and_taking_a_label_replace_each_other(a: Home, task: EntityId) -> None:
    label = a.new("label", name="bug")
    arguments = {"id": id_to_text(label)}
    (old,) = a.propose(task, "one", ("assign_task_label", {**arguments, "confidence": "high"}))
    caller = At(a, task, "two")
    caller.ask("remove_task_label", arguments)
    caller.end()
    assert a.item(old).status.value == "retracted"


@pytest.mark.parametrize("denied", ["assign_task_label", "assign_task_labels", "remove_task_label"])
def test_a_policy_for_labels_counts_for_giving_and_taking(denied: str, a: Home, task: EntityId) -> None:
    label = a.new("label", name="bug")
    a.set(task, **{label_field(label): True})
    fields = {policy_field(denied): "denied"}
    a.write(lambda tx: tx.commit([EntityWrite(agent_id(task), "agent", {"task_id": task, **fields})]))
    answer = At(a, task).take("remove_task_label", {"id": id_to_text(label)})
    assert answer.outcome is CallOutcome.DENIED


def test_labels_that_are_taken_away_leave_room_for_five_new_ones(a: Home, task: EntityId) -> None:
    old, *new = [a.new("label", name=f"label {number}") for number in range(6)]
    (giving,) = a.propose(task, "give", ("assign_task_label", {"id": id_to_text(old), "confidence": "high"}))
    confirm(a, giving)
    caller = At(a, task)
    assert caller.take("remove_task_label", {"id": id_to_text(old)}).outcome is CallOutcome.QUEUED
    outcomes = [
        caller.take("assign_task_label", {"id": id_to_text(label), "confidence": "high"}).outcome
        for label in new
    ]
    assert outcomes.count(CallOutcome.QUEUED) == 4
