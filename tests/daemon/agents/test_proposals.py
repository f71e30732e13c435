"""From a model's calls to change items: the answers to the letter, ids, limits, repetition.

Never runs a model: the calls are written here.
"""

from collections.abc import Callable
from typing import Any

import pytest

from daemon.agents.decisions import Result
from daemon.agents.effects import change_set_id, fingerprint_of, item_id
from daemon.agents.proposals import QUEUED, Taken
from daemon.agents.queueing import CHAIN_MAX, Limits
from daemon.agents.records import agent_id
from daemon.agents.retracting import retraction
from store.transaction import Transaction, Write
from store.verdicts import Status
from syncproto.commit import By
from syncproto.ids import EntityId, uuid7
from tests.daemon.agents.asking import At
from tests.daemon.agents.deciding import confirm, defer, reject, reopen, undo
from tests.daemon.agents.fleet import DAY_MS, START_MS, Fleet, Home


@pytest.fixture
def bug(a: Home) -> EntityId:
    task = a.new(
        "task",
        title="Fix login bug",
        status="IN PROGRESS",
        estimate_minutes=120,
        due="2026-03-15",
        priority="P1",
        language="en",
    )
    checklist = a.new("checklist", task_id=task, title="Todos", position="a")
    a.new("checklist_item", checklist_id=checklist, title="Buy groceries", is_checked=True, position="a")
    a.new("checklist_item", checklist_id=checklist, title="Walk dog", is_checked=True, position="b")
    return task


@pytest.fixture
def at(a: Home, bug: EntityId) -> At:
    return At(a, bug)


def ids_in(change_set: Write) -> list[Any]:
    items: Any = change_set.fields["items"]
    return [item["item_id"] for item in items]


# -- answers ------------------------------------------------------------------------------------------


def test_a_proposal_is_queued_for_review(at: At) -> None:
    assert at.ask("update_task_estimate", {"minutes": 60}) == "Proposal queued for user review."


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("update_task_estimate", {"minutes": "120"}, "Skipped: estimate is already 120 minutes."),
        ("update_task_priority", {"priority": "p1"}, "Skipped: priority is already P1."),
        ("update_task_due_date", {"dueDate": "2026-03-15"}, "Skipped: due date is already 2026-03-15."),
        ("set_task_title", {"title": " Fix login bug"}, 'Skipped: title is already "Fix login bug".'),
        ("set_task_status", {"status": "in-progress"}, "Skipped: status is already IN PROGRESS."),
        ("set_task_language", {"languageCode": "EN", "confidence": 1}, "Skipped: language is already en."),
        ("add_checklist_item", {"title": "walk DOG"}, 'Skipped: "walk DOG" already exists on the task.'),
    ],
)
def test_what_is_already_so_is_skipped_to_the_letter(at: At, tool: str, arguments: Any, answer: str) -> None:
    assert at.ask(tool, arguments) == answer
    assert at.desk.change_sets() == []


def test_where_the_state_cannot_be_read_the_proposal_is_kept(a: Home) -> None:
    at = At(a, uuid7(START_MS, bytes(10)))
    assert at.ask("update_task_estimate", {"minutes": 120}) == QUEUED
    assert at.ask("add_checklist_item", {"title": "Walk dog"}) == QUEUED
    assert at.ask("set_task_status", {"status": "OPEN"}) == QUEUED
    assert at.ask("update_task_priority", {"priority": "P2"}) == QUEUED


def test_a_batch_is_answered_with_what_was_queued_skipped_and_malformed(at: At) -> None:
    items = [
        {"title": "New"},
        {"title": "Buy groceries"},
        {"title": "Walk dog"},
        {"title": ""},
    ]
    assert at.ask("add_multiple_checklist_items", {"items": items}) == (
        "Proposal queued for user review (1 item(s) queued).\n"
        'Skipped 2 redundant update(s): "Buy groceries" already exists on the task; '
        '"Walk dog" already exists on the task.\n'
        "1 malformed item(s) skipped.\n"
        "The first: add_checklist_item: Expected `str` of length >= 1 - at `$.title`"
    )


def test_a_members_own_rationale_comes_before_the_batchs(at: At) -> None:
    items = [{"title": "x", "rationale": "its own"}, {"title": "y"}]
    at.ask("add_multiple_checklist_items", {"items": items, "humanSummary": "the batch's"})
    (only,) = at.desk.change_sets()
    kept: Any = only.fields["items"]
    assert [item["rationale"] for item in kept] == ["its own", "the batch's"]


@pytest.mark.parametrize("member", [5, None, "x", [], {}, {"name": "x"}, {"title": "x", "evil": 1}])
def test_malformed_members_are_counted_and_the_others_go_on(at: At, member: object) -> None:
    answer = at.ask("add_multiple_checklist_items", {"items": [member, {"title": "New"}]})
    assert answer.startswith(
        "Proposal queued for user review (1 item(s) queued).\n"
        "1 malformed item(s) skipped.\n"
        "The first: add_checklist_item: Object "
    )


@pytest.mark.parametrize(
    "arguments", [{}, {"items": []}, {"items": "x"}, {"items": [{"title": "x"}] * 21}, {"items": [], "x": 1}]
)
def test_a_batch_that_is_none_is_refused(at: At, arguments: Any) -> None:
    assert at.ask("add_multiple_checklist_items", arguments).startswith("Refused: ")


def test_an_unknown_tool_is_refused_with_the_names_of_the_known_ones(at: At) -> None:
    answer = at.ask("rm -rf", {})
    assert answer.startswith("Refused: there is no tool 'rm -rf'")
    assert "set_task_title" in answer


@pytest.mark.parametrize("written", ["no json", '{"minutes": "lots"}', '{"minutes": 1e15}', "[]"])
def test_arguments_that_cannot_be_used_are_refused_with_the_reason(at: At, written: str) -> None:
    assert at.ask("update_task_estimate", written).startswith("Refused: ")
    assert at.desk.change_sets() == []


def test_the_last_report_of_a_run_counts_and_is_no_proposal(at: At) -> None:
    at.ask("update_report", {"title": "a", "tldr": "one"})
    assert at.ask("updateReport", {"title": "a", "tldr": "two"}) == "Report updated."
    assert at.desk.report is not None
    assert at.desk.report["tldr"] == "two"
    assert at.desk.change_sets() == []


# -- ids and sets -------------------------------------------------------------------------------------


def test_ids_follow_from_what_is_proposed_and_not_from_how_it_is_worded(a: Home, bug: EntityId) -> None:
    one, other = At(a, bug), At(a, bug)
    one.ask("update_task_estimate", {"minutes": 60, "rationale": "because"})
    other.ask("functions.updateTaskEstimate", '{"minutes": "60", "humanSummary": "why not"}')
    (first,), (second,) = one.desk.change_sets(), other.desk.change_sets()
    fingerprint = fingerprint_of(bug, "update_task_estimate", {"minutes": 60})
    assert ids_in(first) == ids_in(second) == [item_id(fingerprint, None, bug)]
    assert first.entity == change_set_id("run", 0, bug)


def test_the_same_proposal_twice_in_a_run_is_one(at: At) -> None:
    at.ask("update_task_estimate", {"minutes": 60})
    assert at.ask("update_task_estimate", {"minutes": 60}) == (
        "Skipped: an estimate of 60 minutes is already proposed in this run."
    )
    (only,) = at.desk.change_sets()
    assert len(ids_in(only)) == 1


def test_items_whose_titles_differ_in_case_alone_are_one(at: At) -> None:
    items = [{"title": "Buy milk"}, {"title": "buy Milk"}, {"title": "Buy milk", "isChecked": True}]
    assert at.ask("add_multiple_checklist_items", {"items": items}) == (
        "Proposal queued for user review (1 item(s) queued).\n"
        'Skipped 2 redundant update(s): "buy Milk" is already proposed in this run; '
        '"Buy milk" is already proposed in this run.'
    )


def test_ten_items_make_a_set_and_the_thirty_first_is_refused_never_done(at: At) -> None:
    for number in range(30):
        assert at.ask("add_checklist_item", {"title": f"item {number}"}) == QUEUED
    answer = at.ask("add_checklist_item", {"title": "one more"})
    assert answer.startswith("Refused: a run queues at most 30 proposals (3 sets of 10)")
    batch = at.ask("add_multiple_checklist_items", {"items": [{"title": "x"}, {"title": "y"}]})
    assert batch.startswith("2 item(s) refused: a run queues at most 30 proposals")
    sets = at.desk.change_sets()
    assert [len(ids_in(write)) for write in sets] == [10, 10, 10]
    assert len({write.entity for write in sets}) == 3


def test_however_many_may_be_proposed_they_fit_into_the_commit_of_the_runs_end(
    a: Home, bug: EntityId
) -> None:
    at = At(a, bug, limits=Limits(per_set=100_000))
    answers = [
        at.ask("add_checklist_item", {"title": f"{number:03}" + "😀" * 397, "rationale": "😀" * 300})
        for number in range(100)
    ]
    assert QUEUED in answers
    assert answers[-1] == (
        "Refused: the proposals of this run are too long together; nothing beyond that was queued or done."
    )
    assert len(at.end()) == answers.count(QUEUED)


def test_a_run_that_queues_nothing_writes_no_set(at: At) -> None:
    at.ask("update_task_estimate", {"minutes": 120})
    assert at.desk.change_sets() == []


def test_a_refusal_quotes_no_more_than_a_line_of_what_was_written(at: At) -> None:
    assert len(at.ask("update_task_priority", {"priority": "P" * 60_000})) < 350
    assert len(at.ask("add_multiple_checklist_items", {"items": [{}], "x" * 60_000: 1})) < 350


# -- repetition, against a real store -----------------------------------------------------------------


@pytest.fixture
def waiting_item(a: Home, task: EntityId) -> EntityId:
    return a.estimate(task, 120)


def asked_again(a: Home, task: EntityId) -> str:
    return At(a, task, "later").ask("update_task_estimate", {"minutes": 120})


def test_what_waits_is_not_proposed_again(a: Home, task: EntityId, waiting_item: EntityId) -> None:
    assert (
        asked_again(a, task)
        == "Skipped: an estimate of 120 minutes is already proposed and waits for the user."
    )
    reject(a, waiting_item)
    reopen(a, waiting_item)
    assert (
        asked_again(a, task)
        == "Skipped: an estimate of 120 minutes is already proposed and waits for the user."
    )


def test_what_expired_is_not_proposed_again(
    fleet: Fleet, a: Home, task: EntityId, waiting_item: EntityId
) -> None:
    fleet.now_ms += 8 * DAY_MS
    assert (
        asked_again(a, task)
        == "Skipped: an estimate of 120 minutes was proposed before and expired without a decision."
    )


def test_what_was_rejected_is_not_proposed_again_and_the_reason_is_told(
    a: Home, task: EntityId, waiting_item: EntityId
) -> None:
    reject(a, waiting_item, "I know better")
    assert (
        asked_again(a, task)
        == 'Skipped: an estimate of 120 minutes was rejected by the user (reason: "I know better").'
    )


def test_what_was_deferred_is_not_proposed_again(a: Home, task: EntityId, waiting_item: EntityId) -> None:
    defer(a, waiting_item)
    assert asked_again(a, task) == "Skipped: an estimate of 120 minutes was deferred by the user."


def test_what_was_undone_is_not_proposed_again(a: Home, task: EntityId, waiting_item: EntityId) -> None:
    confirm(a, waiting_item)
    undo(a, waiting_item)
    assert asked_again(a, task) == "Skipped: an estimate of 120 minutes was rejected by the user."


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


@pytest.mark.parametrize(
    ("verdict", "answer"), [(undo, "was rejected by the user"), (reopen, "is already proposed and waits")]
)
def test_a_verdict_that_was_taken_back_from_an_earlier_one_of_several_counts_too(
    a: Home, task: EntityId, waiting_item: EntityId, verdict: Callable[[Home, EntityId], Result], answer: str
) -> None:
    confirm(a, waiting_item)
    a.set(task, estimate_minutes=30)
    assert confirm(a, a.estimate(task, 120, "later")).result == "applied"
    assert verdict(a, waiting_item).result == "applied"
    a.set(task, estimate_minutes=30)
    assert f"Skipped: an estimate of 120 minutes {answer}" in At(a, task, "last").ask(
        "update_task_estimate", {"minutes": 120}
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "called"),
    [
        ("set_task_title", {"title": "Send it"}, 'the title "Send it"'),
        ("update_task_due_date", {"dueDate": "2031-03-15"}, "the due date 2031-03-15"),
        ("update_task_priority", {"priority": "P1"}, "the priority P1"),
        ("set_task_status", {"status": "BLOCKED", "reason": "no parts"}, "the status BLOCKED"),
        ("add_checklist_item", {"title": "Buy stamps"}, '"Buy stamps"'),
    ],
)
def test_what_was_rejected_is_named(
    a: Home, task: EntityId, tool: str, arguments: dict[str, Any], called: str
) -> None:
    (item,) = a.propose(task, "run", (tool, arguments))
    reject(a, item)
    assert At(a, task, "later").ask(tool, arguments) == f"Skipped: {called} was rejected by the user."


def test_what_was_taken_back_too_often_is_refused_and_the_run_goes_on(a: Home, task: EntityId) -> None:
    agent = agent_id(task)

    def take_back_and_again(tx: Transaction, number: int) -> None:
        at = a.desk(tx, task, agent, f"run {number}")
        assert at.take("update_task_estimate", {"minutes": 120}, tx).taken is Taken.QUEUED
        tx.commit(at.writes(tx), by=By.AGENT, agent=agent)
        (item,) = [one for one in tx.items(task) if one.status is Status.PENDING]
        tx.commit([retraction(tx, item, "no")], by=By.AGENT, agent=agent)

    def often(tx: Transaction) -> None:
        for number in range(CHAIN_MAX):
            take_back_and_again(tx, number)

    a.write(often)
    assert asked_again(a, task).startswith("Refused: this was proposed 200 times already")
