"""Proposals that name a checklist item or a label: what is so already, out of reach, or left to propose.

Never runs a model: the tests contain the calls.
"""

from typing import Any

import pytest

from daemon.agents.proposing.tool_answers import QUEUED_TEXT, CallOutcome
from store.fold.verdicts import DecisionStatus
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import confirm, reject, undo
from tests.support.fleet import Home
from tests.support.tool_calls import At

NOWHERE = "0" * 32


@pytest.fixture
def checklist(a: Home, task: EntityId) -> EntityId:
    return a.new("checklist", task_id=task, title="Todos", position="a")


def make(home: Home, checklist: EntityId, **fields: Value) -> EntityId:
    """Make a checklist item by the agent's hand, so that the agent may tick it."""

    def use(tx: Transaction) -> EntityId:
        item = tx.new_id()
        values: dict[str, Value] = {"checklist_id": checklist, "position": "a", "is_checked": False}
        agent = derived_id("agent", id_to_text(item), time_of=item)
        tx.commit([EntityWrite(item, "checklist_item", values | fields)], by=AuthorKind.AGENT, agent=agent)
        return item

    return home.write(use)


def update(caller: At, item: EntityId | str, **fields: Any) -> str:
    written_item = item if isinstance(item, str) else id_to_text(item)
    return caller.ask("update_checklist_item", {"id": written_item, **fields})


# -- checklist items ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stands", "fields", "answer"),
    [
        ({"is_checked": True}, {"isChecked": True}, "is already checked"),
        ({}, {"isChecked": False}, "is already unchecked"),
        ({"is_archived": True}, {"isArchived": True}, "is already archived"),
        ({}, {"isArchived": False}, "is not archived"),
        ({}, {"title": " Buy groceries "}, "has that title already"),
        ({}, {"title": "Buy groceries", "isChecked": False}, "is already unchecked"),
        (
            {"is_checked": True, "is_archived": True},
            {"isChecked": True, "isArchived": True},
            "is already checked and is already archived",
        ),
    ],
)
def test_what_is_so_of_an_item_is_skipped_to_the_letter(
    a: Home, task: EntityId, stands: dict[str, Value], fields: dict[str, Any], answer: str
) -> None:
    checklist = a.new("checklist", task_id=task, title="Todos", position="a")
    item = make(a, checklist, title="Buy groceries", **stands)
    caller = At(a, task)
    assert update(caller, item, **fields) == f'Skipped: "Buy groceries" {answer}.'
    assert caller.proposed() == []


def test_a_batch_of_updates_is_answered_to_the_letter(a: Home, task: EntityId, checklist: EntityId) -> None:
    bought = make(a, checklist, title="Buy groceries", is_checked=True)
    walked = make(a, checklist, title="Walk dog", is_checked=True)
    open_ = make(a, checklist, title="Write tests")
    items = [{"id": id_to_text(identifier), "isChecked": True} for identifier in (bought, walked, open_)]
    answer = At(a, task).take("update_checklist_items", {"items": [*items, {"id": id_to_text(open_)}]})
    assert answer.text == (
        "Proposal queued for user review (1 item(s) queued).\n"
        'Skipped 2 redundant update(s): "Buy groceries" is already checked; "Walk dog" is already checked.\n'
        "1 malformed item(s) skipped.\n"
        "The first: update_checklist_item: give at least one of isChecked, title and isArchived"
    )
    assert answer.outcome is CallOutcome.QUEUED
    assert len(answer.items) == 1


def test_of_an_update_only_what_changes_is_proposed(a: Home, task: EntityId, checklist: EntityId) -> None:
    item = make(a, checklist, title="Write tests")
    caller = At(a, task)
    assert update(caller, item, isChecked=False, title="Write more tests", isArchived=False) == QUEUED_TEXT
    assert caller.args() == [{"id": id_to_text(item), "title": "Write more tests"}]


def test_an_update_rests_on_what_the_run_saw_of_the_item(
    a: Home, task: EntityId, checklist: EntityId
) -> None:
    item = make(a, checklist, title="Write tests")
    caller = At(a, task)
    a.set(item, title="Write the tests")
    assert update(caller, item, title="Write more tests") == QUEUED_TEXT
    (proposed,) = caller.end()
    assert proposed.occurrences[0].value == {"title": "Write tests"}
    assert confirm(a, proposed.id).result == "stale"


def test_an_item_that_is_not_found_is_kept(a: Home, task: EntityId) -> None:
    caller = At(a, task)
    assert update(caller, NOWHERE, isChecked=True) == QUEUED_TEXT
    assert caller.args() == [{"id": NOWHERE, "isChecked": True}]


def test_an_item_of_a_checklist_that_is_not_found_is_kept(a: Home, task: EntityId) -> None:
    item = make(a, EntityId(bytes(16)), title="On its way")
    assert update(At(a, task), item, isChecked=True) == QUEUED_TEXT


def test_an_item_that_was_removed_is_not_updated(a: Home, task: EntityId, checklist: EntityId) -> None:
    item = make(a, checklist, title="Gone")
    a.set(item, deleted=True)
    assert update(At(a, task), item, isChecked=True) == 'Skipped: "Gone" was removed.'


def test_an_item_of_another_task_is_out_of_reach(a: Home, task: EntityId, checklist: EntityId) -> None:
    other = a.new("task", title="Another", status="OPEN")
    theirs = make(a, a.new("checklist", task_id=other, title="Todos", position="a"), title="Theirs")
    own = make(a, checklist, title="Own")
    caller = At(a, task)
    reason = f"{id_to_text(theirs)} is a checklist item of another task: only your own task's can be changed"
    for fields in ({"isChecked": True}, {"title": "Mine now"}, {"isArchived": True}):
        answer = caller.take("update_checklist_item", {"id": id_to_text(theirs), **fields})
        assert (answer.text, answer.outcome) == (f"Refused: {reason}.", CallOutcome.REFUSED)
    items = [{"id": id_to_text(identifier).upper(), "isChecked": True} for identifier in (theirs, own)]
    assert caller.ask("update_checklist_items", {"items": items}) == (
        f"Proposal queued for user review (1 item(s) queued).\nRefused 1 item(s): {reason}."
    )
    assert caller.args() == [{"id": id_to_text(own), "isChecked": True}]


def test_an_id_of_something_else_is_no_item(a: Home, task: EntityId, checklist: EntityId) -> None:
    for identifier in (task, checklist, a.new("entry", task_id=task, text="x")):
        assert update(At(a, task), identifier, title="x") == (
            f"Refused: {id_to_text(identifier)} is no checklist item: use an id that you were given."
        )


def test_the_same_update_in_other_words_is_one(a: Home, task: EntityId, checklist: EntityId) -> None:
    item = make(a, checklist, title="Write tests")
    caller = At(a, task)
    assert update(caller, item, isChecked=True, reason="Because it is done.") == QUEUED_TEXT
    again = update(
        caller, id_to_text(item).upper(), isChecked="true", reason="As it is done.", evidenceIds=[NOWHERE]
    )
    assert again == 'Skipped: "Write tests" is already proposed in this run.'


def test_a_new_item_is_skipped_for_one_in_sight_and_not_for_an_archived_one(
    a: Home, task: EntityId, checklist: EntityId
) -> None:
    make(a, checklist, title="In sight")
    make(a, checklist, title="Archived", is_archived=True)
    caller = At(a, task)
    text = caller.ask("add_checklist_item", {"title": "in SIGHT"})
    assert text == 'Skipped: "in SIGHT" already exists on the task.'
    assert caller.ask("add_checklist_item", {"title": "archived"}) == QUEUED_TEXT


# -- status -------------------------------------------------------------------------------------------


def test_a_status_is_so_whatever_its_reason(a: Home, task: EntityId) -> None:
    a.set(task, status="BLOCKED", reason="Ann is away")
    caller = At(a, task)
    text = caller.ask("set_task_status", {"status": "blocked", "reason": "Bob is away"})
    assert text == "Skipped: status is already BLOCKED."


def test_a_status_takes_its_reason_with_it_and_drops_an_old_one(a: Home, task: EntityId) -> None:
    a.set(task, status="BLOCKED", reason="Ann is away")
    caller = At(a, task)
    caller.ask("set_task_status", {"status": "IN PROGRESS"})
    (item,) = caller.end()
    assert confirm(a, item.id).result == "applied"
    assert (a.value(task, "status"), a.value(task, "reason")) == ("IN PROGRESS", None)
    again = At(a, task, "again")
    again.ask("set_task_status", {"status": "ON_HOLD", "reason": "until May"})
    (item,) = again.end()
    assert confirm(a, item.id).result == "applied"
    assert (a.value(task, "status"), a.value(task, "reason")) == ("ON HOLD", "until May")


@pytest.mark.parametrize("status", ["DONE", "done", " Rejected ", "REJECTED"])
def test_an_agent_never_closes_a_task(a: Home, task: EntityId, status: str) -> None:
    caller = At(a, task)
    answer = caller.take("set_task_status", {"status": status, "reason": "all is well"})
    assert answer.text == (
        "Refused: set_task_status: DONE and REJECTED are the user's alone: an agent never closes a task"
    )
    assert caller.proposed() == []


@pytest.mark.parametrize("status", ["BLOCKED", "ON HOLD"])
@pytest.mark.parametrize("reason", [{}, {"reason": " "}, {"reason": None}])
def test_a_task_that_waits_needs_a_reason(
    a: Home, task: EntityId, status: str, reason: dict[str, object]
) -> None:
    answer = At(a, task).take("set_task_status", {"status": status, **reason})
    assert answer.text == f"Refused: set_task_status: {status} needs a reason: say what the task waits for"


# -- labels -------------------------------------------------------------------------------------------


def offered(home: Home, name: str, **fields: Value) -> str:
    return id_to_text(home.new("label", None, name=name, **fields))


def assign(caller: At, *labels: str, confidence: Any = "high") -> str:
    parameters = [{"id": label, "confidence": confidence} for label in labels]
    return caller.ask("assign_task_labels", {"labels": parameters})


def test_each_label_becomes_an_item(a: Home, task: EntityId) -> None:
    bug, ui = offered(a, "bug"), offered(a, "ui")
    caller = At(a, task)
    assert assign(caller, bug, ui) == "Proposal queued for user review (2 item(s) queued)."
    items = caller.end()
    assert [(item.tool, item.args["id"]) for item in items] == [
        ("assign_task_label", bug),
        ("assign_task_label", ui),
    ]
    assert confirm(a, items[0].id).result == "applied"
    assert a.value(task, f"label_ids/{bug}") is True
    assert a.value(task, f"label_ids/{ui}") is None


def test_a_label_that_the_task_has_is_skipped(a: Home, task: EntityId) -> None:
    bug = offered(a, "bug")
    a.set(task, **{f"label_ids/{bug}": True})
    assert assign(At(a, task), bug) == 'Skipped 1 redundant update(s): "bug" is already assigned.'


def test_a_label_given_twice_is_one(a: Home, task: EntityId) -> None:
    bug = offered(a, "bug")
    assert assign(At(a, task), bug, bug.upper()) == (
        "Proposal queued for user review (1 item(s) queued).\n"
        'Skipped 1 redundant update(s): "bug" is already proposed in this run.'
    )


@pytest.mark.parametrize("confidence", ["low", "LOW", 0, 0.49])
def test_a_label_of_low_confidence_is_dropped(a: Home, task: EntityId, confidence: object) -> None:
    text = assign(At(a, task), offered(a, "bug"), confidence=confidence)
    assert text == 'Skipped 1 redundant update(s): "bug" has low confidence.'


@pytest.mark.parametrize("confidence", ["medium", "High", 0.5, 1])
def test_a_label_of_enough_confidence_is_proposed(a: Home, task: EntityId, confidence: object) -> None:
    text = assign(At(a, task), offered(a, "bug"), confidence=confidence)
    assert text == "Proposal queued for user review (1 item(s) queued)."


@pytest.mark.parametrize("confidence", [None, "sure", 1.5, -1, True, []])
def test_a_label_without_a_confidence_that_can_be_read_is_malformed(
    a: Home, task: EntityId, confidence: object
) -> None:
    text = assign(At(a, task), offered(a, "bug"), confidence=confidence)
    assert text.splitlines()[0] == "1 malformed item(s) skipped."
    assert text.splitlines()[1].startswith("The first: assign_task_label: ")


def test_a_label_that_the_person_rejected_or_took_off_is_suppressed(a: Home, task: EntityId) -> None:
    bug, ui, ops = offered(a, "bug"), offered(a, "ui"), offered(a, "ops")
    first = At(a, task)
    assign(first, bug, ui)
    rejected, undone = first.end()
    reject(a, rejected.id)
    confirm(a, undone.id)
    undo(a, undone.id)
    a.set(task, **{f"label_ids/{ops}": True})
    a.set(task, **{f"label_ids/{ops}": False})
    text = assign(At(a, task, "later"), bug, ui, ops)
    assert text == (
        'Skipped 3 redundant update(s): "bug" was rejected by the user; "ui" was rejected by the user;'
        ' "ops" was rejected by the user.'
    )


def test_a_label_of_another_category_is_skipped(a: Home, task: EntityId) -> None:
    category = a.new("category", name="Work")
    label = offered(a, "bug", **{f"category_ids/{id_to_text(category)}": True})
    text = assign(At(a, task), label)
    assert text == """Skipped 1 redundant update(s): "bug" is not for the task's category."""
    agent = derived_id("agent", id_to_text(task), time_of=task)
    field = f"allowed_category_ids/{id_to_text(category)}"
    a.write(lambda tx: tx.commit([EntityWrite(agent, "agent", {"task_id": task, field: True})]))
    a.set(task, category_id=category)
    assert assign(At(a, task), label) == "Proposal queued for user review (1 item(s) queued)."


def test_a_label_that_was_removed_or_never_made_is_not_proposed(a: Home, task: EntityId) -> None:
    label = a.new("label", name="bug")
    a.set(label, deleted=True)
    caller = At(a, task)
    assert assign(caller, id_to_text(label)) == 'Skipped 1 redundant update(s): "bug" was removed.'
    for text in (NOWHERE, id_to_text(task)):
        reason = f"{text} is no label: use an id that you were given"
        assert assign(caller, text) == f"Refused 1 item(s): {reason}."
    assert caller.proposed() == []


def test_an_agent_brings_a_task_to_five_labels_and_no_further(a: Home, task: EntityId) -> None:
    texts = [offered(a, f"held {number}") for number in range(3)]
    a.set(task, **{f"label_ids/{text}": True for text in texts})
    new = [offered(a, f"new {number}") for number in range(4)]
    caller = At(a, task)
    assert assign(caller, *new[:3]) == (
        "Proposal queued for user review (2 item(s) queued).\n"
        "Skipped 1 redundant update(s): a task has at most 5 labels."
    )
    assert caller.ask("assign_task_label", {"id": new[3], "confidence": "high"}) == (
        "Skipped: a task has at most 5 labels."
    )


def test_a_label_out_of_sight_takes_no_room(a: Home, task: EntityId) -> None:
    identifiers = [a.new("label", name=f"held {number}") for number in range(5)]
    a.set(task, **{f"label_ids/{id_to_text(identifier)}": True for identifier in identifiers})
    a.set(identifiers[0], deleted=True)
    assert assign(At(a, task), offered(a, "bug")) == "Proposal queued for user review (1 item(s) queued)."


def test_more_than_three_labels_in_one_call_are_refused(a: Home, task: EntityId) -> None:
    labels = [offered(a, f"label {number}") for number in range(4)]
    assert assign(At(a, task), *labels) == "Refused: assign_task_labels: 4 labels, at most 3 in one call"


def test_a_confirmed_label_that_was_taken_off_again_by_undo_stays_rejected(a: Home, task: EntityId) -> None:
    bug = offered(a, "bug")
    caller = At(a, task)
    assign(caller, bug)
    (item,) = caller.end()
    confirm(a, item.id)
    undo(a, item.id)
    assert a.item(item.id).status is DecisionStatus.REJECTED
    assert (
        At(a, task, "later").take("assign_task_label", {"id": bug, "confidence": "high"}).outcome
        is CallOutcome.SKIPPED
    )
