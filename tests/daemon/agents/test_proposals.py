"""From a model's calls to change items: the answers to the letter, ids, limits, repetition.

Never runs a model: the calls are written here.
"""

from typing import Any

import pytest

from daemon.agents.effects import change_set_id, fingerprint_of, item_id
from daemon.agents.proposals import QUEUED, Desk, Limits, Run, Seen
from store.item import Item
from store.transaction import Write
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, text, uuid7
from tests.daemon.agents.deciding import confirm, defer, reject, reopen, undo
from tests.daemon.agents.fleet import DAY_MS, Fleet, Home

TASK = uuid7(1_774_000_000_000, bytes(10))
AGENT = derived_id("agent", text(TASK), time_of=TASK)


def nothing_known(item: EntityId) -> Item | None:
    del item
    return None


def desk() -> Desk:
    fields: dict[str, Value] = {
        "title": "Fix login bug",
        "estimate_minutes": 120,
        "due": "2026-03-15",
        "priority": "P1",
    }
    seen = Seen(TASK, (), fields, ("Buy groceries", "Walk dog"), None)
    return Desk(Run(AGENT, TASK, "run", 0), seen, Limits())


def ask(at: Desk, name: str, arguments: Any) -> str:
    return at.take(name, arguments, nothing_known)


def ids_in(change_set: Write) -> list[Any]:
    items: Any = change_set.fields["items"]
    return [item["item_id"] for item in items]


# -- answers ------------------------------------------------------------------------------------------


def test_a_proposal_is_queued_for_review() -> None:
    assert ask(desk(), "update_task_estimate", {"minutes": 60}) == "Proposal queued for user review."


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("update_task_estimate", {"minutes": "120"}, "Skipped: estimate is already 120 minutes."),
        ("update_task_priority", {"priority": "p1"}, "Skipped: priority is already P1."),
        ("update_task_due_date", {"dueDate": "2026-03-15"}, "Skipped: due date is already 2026-03-15."),
        ("set_task_title", {"title": " Fix login bug"}, 'Skipped: title is already "Fix login bug".'),
        ("add_checklist_item", {"title": "walk DOG"}, 'Skipped: "walk DOG" already exists on the task.'),
    ],
)
def test_what_is_already_so_is_skipped_to_the_letter(tool: str, arguments: Any, answer: str) -> None:
    at = desk()
    assert ask(at, tool, arguments) == answer
    assert at.change_sets() == []


def test_where_the_state_cannot_be_read_the_proposal_is_kept() -> None:
    at = Desk(Run(AGENT, TASK, "run", 0), Seen(TASK, (), None, None, None), Limits())
    assert ask(at, "update_task_estimate", {"minutes": 120}) == QUEUED
    assert ask(at, "add_checklist_item", {"title": "Walk dog"}) == QUEUED


def test_a_batch_is_answered_with_what_was_queued_skipped_and_malformed() -> None:
    items = [
        {"title": "New"},
        {"title": "Buy groceries"},
        {"title": "Walk dog"},
        {"title": ""},
    ]
    assert ask(desk(), "add_multiple_checklist_items", {"items": items}) == (
        "Proposal queued for user review (1 item(s) queued).\n"
        'Skipped 2 redundant update(s): "Buy groceries" already exists on the task; '
        '"Walk dog" already exists on the task.\n'
        "1 malformed item(s) skipped."
    )


def test_a_members_own_rationale_comes_before_the_batchs() -> None:
    at = desk()
    items = [{"title": "x", "rationale": "its own"}, {"title": "y"}]
    ask(at, "add_multiple_checklist_items", {"items": items, "humanSummary": "the batch's"})
    (only,) = at.change_sets()
    kept: Any = only.fields["items"]
    assert [item["rationale"] for item in kept] == ["its own", "the batch's"]


@pytest.mark.parametrize("member", [5, None, "x", [], {}, {"name": "x"}, {"title": "x", "evil": 1}])
def test_malformed_members_are_counted_and_the_others_go_on(member: object) -> None:
    answer = ask(desk(), "add_multiple_checklist_items", {"items": [member, {"title": "New"}]})
    assert answer == ("Proposal queued for user review (1 item(s) queued).\n1 malformed item(s) skipped.")


@pytest.mark.parametrize(
    "arguments", [{}, {"items": []}, {"items": "x"}, {"items": [{"title": "x"}] * 21}, {"items": [], "x": 1}]
)
def test_a_batch_that_is_none_is_refused(arguments: Any) -> None:
    assert ask(desk(), "add_multiple_checklist_items", arguments).startswith("Refused: ")


def test_an_unknown_tool_is_refused_with_the_names_of_the_known_ones() -> None:
    answer = ask(desk(), "rm -rf", {})
    assert answer.startswith("Refused: there is no tool 'rm -rf'")
    assert "set_task_title" in answer


@pytest.mark.parametrize("written", ["no json", '{"minutes": "lots"}', '{"minutes": 1e15}', "[]"])
def test_arguments_that_cannot_be_used_are_refused_with_the_reason(written: str) -> None:
    at = desk()
    assert ask(at, "update_task_estimate", written).startswith("Refused: ")
    assert at.change_sets() == []


def test_the_last_report_of_a_run_counts_and_is_no_proposal() -> None:
    at = desk()
    ask(at, "update_report", {"title": "a", "tldr": "one"})
    assert ask(at, "updateReport", {"title": "a", "tldr": "two"}) == "Report updated."
    assert at.report is not None
    assert at.report["tldr"] == "two"
    assert at.change_sets() == []


# -- ids and sets -------------------------------------------------------------------------------------


def test_ids_follow_from_what_is_proposed_and_not_from_how_it_is_worded() -> None:
    one, other = desk(), desk()
    ask(one, "update_task_estimate", {"minutes": 60, "rationale": "because"})
    ask(other, "functions.updateTaskEstimate", '{"minutes": "60", "humanSummary": "why not"}')
    (first,), (second,) = one.change_sets(), other.change_sets()
    fingerprint = fingerprint_of(TASK, "update_task_estimate", None, {"minutes": 60})
    assert ids_in(first) == ids_in(second) == [item_id(fingerprint, None, TASK)]
    assert first.entity == change_set_id("run", 0, TASK)


def test_the_same_proposal_twice_in_a_run_is_one() -> None:
    at = desk()
    ask(at, "update_task_estimate", {"minutes": 60})
    assert (
        ask(at, "update_task_estimate", {"minutes": 60}) == "Skipped: this is already proposed in this run."
    )
    (only,) = at.change_sets()
    assert len(ids_in(only)) == 1


def test_ten_items_make_a_set_and_the_thirty_first_is_refused_never_done() -> None:
    at = desk()
    for number in range(30):
        assert ask(at, "add_checklist_item", {"title": f"item {number}"}) == QUEUED
    answer = ask(at, "add_checklist_item", {"title": "one more"})
    assert answer.startswith("Refused: a run queues at most 30 proposals (3 sets of 10)")
    batch = ask(at, "add_multiple_checklist_items", {"items": [{"title": "x"}, {"title": "y"}]})
    assert batch.startswith("2 item(s) refused: a run queues at most 30 proposals")
    sets = at.change_sets()
    assert [len(ids_in(write)) for write in sets] == [10, 10, 10]
    assert len({write.entity for write in sets}) == 3


def test_a_run_that_queues_nothing_writes_no_set() -> None:
    at = desk()
    ask(at, "update_task_estimate", {"minutes": 120})
    assert at.change_sets() == []


# -- repetition, against a real store -----------------------------------------------------------------


@pytest.fixture
def waiting_item(a: Home, task: EntityId) -> EntityId:
    return a.estimate(task, 120)


def asked_again(a: Home, task: EntityId) -> str:
    agent = derived_id("agent", text(task), time_of=task)
    return a.read(
        lambda snapshot: a.desk(snapshot, task, agent, "later").take(
            "update_task_estimate", {"minutes": 120}, snapshot.item
        )
    )


def test_what_waits_is_not_proposed_again(a: Home, task: EntityId, waiting_item: EntityId) -> None:
    assert asked_again(a, task) == "Skipped: this is already proposed and waits for the user."
    reject(a, waiting_item)
    reopen(a, waiting_item)
    assert asked_again(a, task) == "Skipped: this is already proposed and waits for the user."


def test_what_expired_is_not_proposed_again(
    fleet: Fleet, a: Home, task: EntityId, waiting_item: EntityId
) -> None:
    fleet.now_ms += 8 * DAY_MS
    assert asked_again(a, task) == "Skipped: this was proposed before and expired without a decision."


def test_what_was_rejected_is_not_proposed_again_and_the_reason_is_told(
    a: Home, task: EntityId, waiting_item: EntityId
) -> None:
    reject(a, waiting_item, "I know better")
    assert asked_again(a, task) == 'Skipped: this was rejected by the user (reason: "I know better").'


def test_what_was_deferred_is_not_proposed_again(a: Home, task: EntityId, waiting_item: EntityId) -> None:
    defer(a, waiting_item)
    assert asked_again(a, task) == "Skipped: this was deferred by the user."


def test_what_was_undone_is_not_proposed_again(a: Home, task: EntityId, waiting_item: EntityId) -> None:
    confirm(a, waiting_item)
    undo(a, waiting_item)
    assert asked_again(a, task) == "Skipped: this was rejected by the user."


def test_what_was_confirmed_and_is_no_longer_so_may_be_proposed_again_as_a_new_item(
    a: Home, task: EntityId, waiting_item: EntityId
) -> None:
    confirm(a, waiting_item)
    a.set(task, estimate_minutes=30)
    second = a.estimate(task, 120, "later")
    fingerprint = a.item(waiting_item).fingerprint
    assert second == item_id(fingerprint, waiting_item, task) != waiting_item
    assert confirm(a, second).result == "applied"
    a.set(task, estimate_minutes=30)
    assert a.estimate(task, 120, "much later") == item_id(fingerprint, second, task)
