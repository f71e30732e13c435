"""Proposals that name a checklist item or a label: what is so already, what is not the task's, what is left.

Never runs a model: the calls are written here.
"""

from typing import Any

import pytest

from daemon.agents.proposals import QUEUED, Taken
from store.transaction import Transaction, Write
from store.verdicts import Status
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import EntityId, derived_id, text
from tests.daemon.agents.asking import At
from tests.daemon.agents.deciding import confirm, reject, undo
from tests.daemon.agents.fleet import Home

NOWHERE = "0" * 32


@pytest.fixture
def checklist(a: Home, task: EntityId) -> EntityId:
    return a.new("checklist", task_id=task, title="Todos", position="a")


def make(home: Home, checklist: EntityId, **fields: Value) -> EntityId:
    """Make a checklist item by the agent's hand, so that the agent may tick it."""

    def use(tx: Transaction) -> EntityId:
        item = tx.new_id()
        values: dict[str, Value] = {"checklist_id": checklist, "position": "a", "is_checked": False}
        agent = derived_id("agent", text(item), time_of=item)
        tx.commit([Write(item, "checklist_item", values | fields)], by=By.AGENT, agent=agent)
        return item

    return home.write(use)


def update(at: At, item: EntityId | str, **fields: Any) -> str:
    written = item if isinstance(item, str) else text(item)
    return at.ask("update_checklist_item", {"id": written, **fields})


# -- checklist items ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stands", "asked", "answer"),
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
    a: Home, task: EntityId, stands: dict[str, Value], asked: dict[str, Any], answer: str
) -> None:
    checklist = a.new("checklist", task_id=task, title="Todos", position="a")
    item = make(a, checklist, title="Buy groceries", **stands)
    at = At(a, task)
    assert update(at, item, **asked) == f'Skipped: "Buy groceries" {answer}.'
    assert at.proposed() == []


def test_a_batch_of_updates_is_answered_to_the_letter(a: Home, task: EntityId, checklist: EntityId) -> None:
    bought = make(a, checklist, title="Buy groceries", is_checked=True)
    walked = make(a, checklist, title="Walk dog", is_checked=True)
    open_ = make(a, checklist, title="Write tests")
    items = [{"id": text(one), "isChecked": True} for one in (bought, walked, open_)]
    answer = At(a, task).take("update_checklist_items", {"items": [*items, {"id": text(open_)}]})
    assert answer.text == (
        "Proposal queued for user review (1 item(s) queued).\n"
        'Skipped 2 redundant update(s): "Buy groceries" is already checked; "Walk dog" is already checked.\n'
        "1 malformed item(s) skipped.\n"
        "The first: update_checklist_item: give at least one of isChecked, title and isArchived"
    )
    assert answer.taken is Taken.QUEUED
    assert len(answer.items) == 1


def test_of_an_update_only_what_changes_is_proposed(a: Home, task: EntityId, checklist: EntityId) -> None:
    item = make(a, checklist, title="Write tests")
    at = At(a, task)
    assert update(at, item, isChecked=False, title="Write more tests", isArchived=False) == QUEUED
    assert at.args() == [{"id": text(item), "title": "Write more tests"}]


def test_an_update_rests_on_what_the_run_saw_of_the_item(
    a: Home, task: EntityId, checklist: EntityId
) -> None:
    item = make(a, checklist, title="Write tests")
    at = At(a, task)
    a.set(item, title="Write the tests")
    assert update(at, item, title="Write more tests") == QUEUED
    (proposed,) = at.end()
    assert proposed.occurrences[0].value == {"title": "Write tests"}
    assert confirm(a, proposed.id).result == "stale"


def test_an_item_that_is_not_found_is_kept(a: Home, task: EntityId) -> None:
    at = At(a, task)
    assert update(at, NOWHERE, isChecked=True) == QUEUED
    assert at.args() == [{"id": NOWHERE, "isChecked": True}]


def test_an_item_of_a_checklist_that_is_not_found_is_kept(a: Home, task: EntityId) -> None:
    item = make(a, EntityId(bytes(16)), title="On its way")
    assert update(At(a, task), item, isChecked=True) == QUEUED


def test_an_item_that_was_removed_is_not_updated(a: Home, task: EntityId, checklist: EntityId) -> None:
    item = make(a, checklist, title="Gone")
    a.set(item, deleted=True)
    assert update(At(a, task), item, isChecked=True) == 'Skipped: "Gone" was removed.'


def test_an_item_of_another_task_is_out_of_reach(a: Home, task: EntityId, checklist: EntityId) -> None:
    other = a.new("task", title="Another", status="OPEN")
    theirs = make(a, a.new("checklist", task_id=other, title="Todos", position="a"), title="Theirs")
    own = make(a, checklist, title="Own")
    at = At(a, task)
    why = f"{text(theirs)} is a checklist item of another task: only your own task's can be changed"
    for fields in ({"isChecked": True}, {"title": "Mine now"}, {"isArchived": True}):
        answer = at.take("update_checklist_item", {"id": text(theirs), **fields})
        assert (answer.text, answer.taken) == (f"Refused: {why}.", Taken.REFUSED)
    items = [{"id": text(one).upper(), "isChecked": True} for one in (theirs, own)]
    assert at.ask("update_checklist_items", {"items": items}) == (
        f"Proposal queued for user review (1 item(s) queued).\nRefused 1 item(s): {why}."
    )
    assert at.args() == [{"id": text(own), "isChecked": True}]


def test_an_id_of_something_else_is_no_item(a: Home, task: EntityId, checklist: EntityId) -> None:
    for named in (task, checklist, a.new("entry", task_id=task, text="x")):
        assert update(At(a, task), named, title="x") == (
            f"Refused: {text(named)} is no checklist item: use an id that you were given."
        )


def test_the_same_update_in_other_words_is_one(a: Home, task: EntityId, checklist: EntityId) -> None:
    item = make(a, checklist, title="Write tests")
    at = At(a, task)
    assert update(at, item, isChecked=True, reason="Because it is done.") == QUEUED
    again = update(at, text(item).upper(), isChecked="true", reason="As it is done.", evidenceIds=[NOWHERE])
    assert again == 'Skipped: "Write tests" is already proposed in this run.'


def test_a_new_item_is_skipped_for_one_in_sight_and_not_for_an_archived_one(
    a: Home, task: EntityId, checklist: EntityId
) -> None:
    make(a, checklist, title="In sight")
    make(a, checklist, title="Archived", is_archived=True)
    at = At(a, task)
    said = at.ask("add_checklist_item", {"title": "in SIGHT"})
    assert said == 'Skipped: "in SIGHT" already exists on the task.'
    assert at.ask("add_checklist_item", {"title": "archived"}) == QUEUED


# -- status -------------------------------------------------------------------------------------------


def test_a_status_is_so_whatever_its_reason(a: Home, task: EntityId) -> None:
    a.set(task, status="BLOCKED", reason="Ann is away")
    at = At(a, task)
    said = at.ask("set_task_status", {"status": "blocked", "reason": "Bob is away"})
    assert said == "Skipped: status is already BLOCKED."


def test_a_status_takes_its_reason_with_it_and_drops_an_old_one(a: Home, task: EntityId) -> None:
    a.set(task, status="BLOCKED", reason="Ann is away")
    at = At(a, task)
    at.ask("set_task_status", {"status": "IN PROGRESS"})
    (item,) = at.end()
    assert confirm(a, item.id).result == "applied"
    assert (a.value(task, "status"), a.value(task, "reason")) == ("IN PROGRESS", None)
    again = At(a, task, "again")
    again.ask("set_task_status", {"status": "ON_HOLD", "reason": "until May"})
    (item,) = again.end()
    assert confirm(a, item.id).result == "applied"
    assert (a.value(task, "status"), a.value(task, "reason")) == ("ON HOLD", "until May")


@pytest.mark.parametrize("status", ["DONE", "done", " Rejected ", "REJECTED"])
def test_an_agent_never_closes_a_task(a: Home, task: EntityId, status: str) -> None:
    at = At(a, task)
    answer = at.take("set_task_status", {"status": status, "reason": "all is well"})
    assert answer.text == (
        "Refused: set_task_status: DONE and REJECTED are the user's alone: an agent never closes a task"
    )
    assert at.proposed() == []


@pytest.mark.parametrize("status", ["BLOCKED", "ON HOLD"])
@pytest.mark.parametrize("reason", [{}, {"reason": " "}, {"reason": None}])
def test_a_task_that_waits_needs_a_reason(
    a: Home, task: EntityId, status: str, reason: dict[str, object]
) -> None:
    answer = At(a, task).take("set_task_status", {"status": status, **reason})
    assert answer.text == f"Refused: set_task_status: {status} needs a reason: say what the task waits for"


# -- labels -------------------------------------------------------------------------------------------


def offered(home: Home, name: str, **fields: Value) -> str:
    return text(home.new("label", None, name=name, **fields))


def assign(at: At, *labels: str, confidence: Any = "high") -> str:
    given = [{"id": label, "confidence": confidence} for label in labels]
    return at.ask("assign_task_labels", {"labels": given})


def test_each_label_becomes_an_item(a: Home, task: EntityId) -> None:
    bug, ui = offered(a, "bug"), offered(a, "ui")
    at = At(a, task)
    assert assign(at, bug, ui) == "Proposal queued for user review (2 item(s) queued)."
    items = at.end()
    assert [(one.tool, one.args["id"]) for one in items] == [
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
    said = assign(At(a, task), offered(a, "bug"), confidence=confidence)
    assert said == 'Skipped 1 redundant update(s): "bug" has low confidence.'


@pytest.mark.parametrize("confidence", ["medium", "High", 0.5, 1])
def test_a_label_of_enough_confidence_is_proposed(a: Home, task: EntityId, confidence: object) -> None:
    said = assign(At(a, task), offered(a, "bug"), confidence=confidence)
    assert said == "Proposal queued for user review (1 item(s) queued)."


@pytest.mark.parametrize("confidence", [None, "sure", 1.5, -1, True, []])
def test_a_label_without_a_confidence_that_can_be_read_is_malformed(
    a: Home, task: EntityId, confidence: object
) -> None:
    said = assign(At(a, task), offered(a, "bug"), confidence=confidence)
    assert said.splitlines()[0] == "1 malformed item(s) skipped."
    assert said.splitlines()[1].startswith("The first: assign_task_label: ")


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
    said = assign(At(a, task, "later"), bug, ui, ops)
    assert said == (
        'Skipped 3 redundant update(s): "bug" was rejected by the user; "ui" was rejected by the user;'
        ' "ops" was rejected by the user.'
    )


def test_a_label_of_another_category_is_skipped(a: Home, task: EntityId) -> None:
    category = a.new("category", name="Work")
    label = offered(a, "bug", **{f"category_ids/{text(category)}": True})
    said = assign(At(a, task), label)
    assert said == """Skipped 1 redundant update(s): "bug" is not for the task's category."""
    agent = derived_id("agent", text(task), time_of=task)
    field = f"allowed_category_ids/{text(category)}"
    a.write(lambda tx: tx.commit([Write(agent, "agent", {"task_id": task, field: True})]))
    a.set(task, category_id=category)
    assert assign(At(a, task), label) == "Proposal queued for user review (1 item(s) queued)."


def test_a_label_that_was_removed_or_never_made_is_not_proposed(a: Home, task: EntityId) -> None:
    label = a.new("label", name="bug")
    a.set(label, deleted=True)
    at = At(a, task)
    assert assign(at, text(label)) == 'Skipped 1 redundant update(s): "bug" was removed.'
    for named in (NOWHERE, text(task)):
        why = f"{named} is no label: use an id that you were given"
        assert assign(at, named) == f"Refused 1 item(s): {why}."
    assert at.proposed() == []


def test_an_agent_brings_a_task_to_five_labels_and_no_further(a: Home, task: EntityId) -> None:
    held = [offered(a, f"held {number}") for number in range(3)]
    a.set(task, **{f"label_ids/{one}": True for one in held})
    new = [offered(a, f"new {number}") for number in range(4)]
    at = At(a, task)
    assert assign(at, *new[:3]) == (
        "Proposal queued for user review (2 item(s) queued).\n"
        "Skipped 1 redundant update(s): a task has at most 5 labels."
    )
    assert at.ask("assign_task_label", {"id": new[3], "confidence": "high"}) == (
        "Skipped: a task has at most 5 labels."
    )


def test_a_label_out_of_sight_takes_no_room(a: Home, task: EntityId) -> None:
    held = [a.new("label", name=f"held {number}") for number in range(5)]
    a.set(task, **{f"label_ids/{text(one)}": True for one in held})
    a.set(held[0], deleted=True)
    assert assign(At(a, task), offered(a, "bug")) == "Proposal queued for user review (1 item(s) queued)."


def test_more_than_three_labels_in_one_call_are_refused(a: Home, task: EntityId) -> None:
    labels = [offered(a, f"label {number}") for number in range(4)]
    assert assign(At(a, task), *labels) == "Refused: assign_task_labels: 4 labels, at most 3 in one call"


def test_a_confirmed_label_that_was_taken_off_again_by_undo_stays_rejected(a: Home, task: EntityId) -> None:
    bug = offered(a, "bug")
    at = At(a, task)
    assign(at, bug)
    (item,) = at.end()
    confirm(a, item.id)
    undo(a, item.id)
    assert a.item(item.id).status is Status.REJECTED
    assert (
        At(a, task, "later").take("assign_task_label", {"id": bug, "confidence": "high"}).taken
        is Taken.SKIPPED
    )
