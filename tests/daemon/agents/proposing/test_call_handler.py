"""From a model's calls to change items: the exact answers, ids, limits, repetition.

Never runs a model: the tests contain the calls.
"""

from collections.abc import Callable
from typing import Any

import pytest

from daemon.agents.deciding.decision_result import DecisionResult
from daemon.agents.proposing.change_set_builder import REPEATED_PROPOSALS_MAX, ProposalLimits
from daemon.agents.proposing.immediate_tools import retraction_write
from daemon.agents.proposing.tool_answers import QUEUED_TEXT, CallOutcome
from daemon.agents.tools.agent_record import agent_id
from daemon.agents.tools.effects import change_set_id, fingerprint_of, item_id
from store.fold.verdicts import DecisionStatus
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, uuid7
from tests.support.decision_verbs import confirm, defer, reject, reopen, undo
from tests.support.fleet import DAY_MS, START_MS, Fleet, Home
from tests.support.tool_calls import At


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
def caller(a: Home, bug: EntityId) -> At:
    return At(a, bug)


def ids_in(change_set: EntityWrite) -> list[Any]:
    items: Any = change_set.fields["items"]
    return [item["item_id"] for item in items]


# -- answers ------------------------------------------------------------------------------------------


def test_a_proposal_is_queued_for_review(caller: At) -> None:
    assert caller.ask("update_task_estimate", {"minutes": 60}) == "Proposal queued for user review."


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
def test_what_is_already_so_is_skipped_to_the_letter(
    caller: At, tool: str, arguments: Any, answer: str
) -> None:
    assert caller.ask(tool, arguments) == answer
    assert caller.desk.change_sets() == []


def test_where_the_state_cannot_be_read_the_proposal_is_kept(a: Home) -> None:
    other_caller = At(a, uuid7(START_MS, bytes(10)))
    assert other_caller.ask("update_task_estimate", {"minutes": 120}) == QUEUED_TEXT
    assert other_caller.ask("add_checklist_item", {"title": "Walk dog"}) == QUEUED_TEXT
    assert other_caller.ask("set_task_status", {"status": "OPEN"}) == QUEUED_TEXT
    assert other_caller.ask("update_task_priority", {"priority": "P2"}) == QUEUED_TEXT


def test_a_batch_is_answered_with_what_was_queued_skipped_and_malformed(caller: At) -> None:
    items = [
        {"title": "New"},
        {"title": "Buy groceries"},
        {"title": "Walk dog"},
        {"title": ""},
    ]
    assert caller.ask("add_multiple_checklist_items", {"items": items}) == (
        "Proposal queued for user review (1 item(s) queued).\n"
        'Skipped 2 redundant update(s): "Buy groceries" already exists on the task; '
        '"Walk dog" already exists on the task.\n'
        "1 malformed item(s) skipped.\n"
        "The first: add_checklist_item: Expected `str` of length >= 1 - at `$.title`"
    )


def test_a_members_own_rationale_comes_before_the_batchs(caller: At) -> None:
    items = [{"title": "x", "rationale": "its own"}, {"title": "y"}]
    caller.ask("add_multiple_checklist_items", {"items": items, "humanSummary": "the batch's"})
    (only,) = caller.desk.change_sets()
    remaining: Any = only.fields["items"]
    assert [item["rationale"] for item in remaining] == ["its own", "the batch's"]


@pytest.mark.parametrize("member", [5, None, "x", [], {}, {"name": "x"}, {"title": "x", "evil": 1}])
def test_malformed_members_are_counted_and_the_others_go_on(caller: At, member: object) -> None:
    answer = caller.ask("add_multiple_checklist_items", {"items": [member, {"title": "New"}]})
    assert answer.startswith(
        "Proposal queued for user review (1 item(s) queued).\n"
        "1 malformed item(s) skipped.\n"
        "The first: add_checklist_item: Object "
    )


@pytest.mark.parametrize(
    "arguments", [{}, {"items": []}, {"items": "x"}, {"items": [{"title": "x"}] * 21}, {"items": [], "x": 1}]
)
def test_a_batch_that_is_none_is_refused(caller: At, arguments: Any) -> None:
    assert caller.ask("add_multiple_checklist_items", arguments).startswith("Refused: ")


def test_an_unknown_tool_is_refused_with_the_names_of_the_known_ones(caller: At) -> None:
    answer = caller.ask("rm -rf", {})
    assert answer.startswith("Refused: there is no tool 'rm -rf'")
    assert "set_task_title" in answer


@pytest.mark.parametrize("text", ["no json", '{"minutes": "lots"}', '{"minutes": 1e15}', "[]"])
def test_arguments_that_cannot_be_used_are_refused_with_the_reason(caller: At, text: str) -> None:
    assert caller.ask("update_task_estimate", text).startswith("Refused: ")
    assert caller.desk.change_sets() == []


def test_the_last_report_of_a_run_counts_and_is_no_proposal(caller: At) -> None:
    caller.ask("update_report", {"title": "a", "tldr": "one"})
    assert caller.ask("updateReport", {"title": "a", "tldr": "two"}) == "Report updated."
    assert caller.desk.report is not None
    assert caller.desk.report["tldr"] == "two"
    assert caller.desk.change_sets() == []


# -- ids and sets -------------------------------------------------------------------------------------


def test_ids_follow_from_what_is_proposed_and_not_from_how_it_is_worded(a: Home, bug: EntityId) -> None:
    only_caller, other = At(a, bug), At(a, bug)
    only_caller.ask("update_task_estimate", {"minutes": 60, "rationale": "because"})
    other.ask("functions.updateTaskEstimate", '{"minutes": "60", "humanSummary": "why not"}')
    (first,), (second,) = only_caller.desk.change_sets(), other.desk.change_sets()
    fingerprint = fingerprint_of(bug, "update_task_estimate", {"minutes": 60})
    assert ids_in(first) == ids_in(second) == [item_id(fingerprint, None, bug, bug)]
    assert first.entity == change_set_id("run", 0, bug)


def test_the_same_proposal_twice_in_a_run_is_one(caller: At) -> None:
    caller.ask("update_task_estimate", {"minutes": 60})
    assert caller.ask("update_task_estimate", {"minutes": 60}) == (
        "Skipped: an estimate of 60 minutes is already proposed in this run."
    )
    (only,) = caller.desk.change_sets()
    assert len(ids_in(only)) == 1


def test_items_whose_titles_differ_in_case_alone_are_one(caller: At) -> None:
    items = [{"title": "Buy milk"}, {"title": "buy Milk"}, {"title": "Buy milk", "isChecked": True}]
    assert caller.ask("add_multiple_checklist_items", {"items": items}) == (
        "Proposal queued for user review (1 item(s) queued).\n"
        'Skipped 2 redundant update(s): "buy Milk" is already proposed in this run; '
        '"Buy milk" is already proposed in this run.'
    )


def test_ten_items_make_a_set_and_the_thirty_first_is_refused_never_done(caller: At) -> None:
    for number in range(30):
        assert caller.ask("add_checklist_item", {"title": f"item {number}"}) == QUEUED_TEXT
    answer = caller.ask("add_checklist_item", {"title": "one more"})
    assert answer.startswith("Refused: a run queues at most 30 proposals (3 sets of 10)")
    batch = caller.ask("add_multiple_checklist_items", {"items": [{"title": "x"}, {"title": "y"}]})
    assert batch.startswith("2 item(s) refused: a run queues at most 30 proposals")
    sets = caller.desk.change_sets()
    assert [len(ids_in(write)) for write in sets] == [10, 10, 10]
    assert len({write.entity for write in sets}) == 3


def test_however_many_may_be_proposed_they_fit_into_the_commit_of_the_runs_end(
    a: Home, bug: EntityId
) -> None:
    other_caller = At(a, bug, limits=ProposalLimits(items_per_set=100_000))
    answers = [
        other_caller.ask(
            "add_checklist_item", {"title": f"{number:03}" + "😀" * 397, "rationale": "😀" * 300}
        )
        for number in range(100)
    ]
    assert QUEUED_TEXT in answers
    assert answers[-1] == (
        "Refused: the proposals of this run are too long together; nothing beyond that was queued or done."
    )
    assert len(other_caller.end()) == answers.count(QUEUED_TEXT)


def test_a_run_that_queues_nothing_writes_no_set(caller: At) -> None:
    caller.ask("update_task_estimate", {"minutes": 120})
    assert caller.desk.change_sets() == []


def test_a_refusal_quotes_no_more_than_a_line_of_what_was_written(caller: At) -> None:
    assert len(caller.ask("update_task_priority", {"priority": "P" * 60_000})) < 350
    assert len(caller.ask("add_multiple_checklist_items", {"items": [{}], "x" * 60_000: 1})) < 350


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
    confirm(a, a.estimate(task, 30, "less"))
    second = a.estimate(task, 120, "later")
    fingerprint = a.item(waiting_item).fingerprint
    assert second == item_id(fingerprint, waiting_item, task, task) != waiting_item
    assert confirm(a, second).result == "applied"
    confirm(a, a.estimate(task, 30, "less again"))
    assert a.estimate(task, 120, "much later") == item_id(fingerprint, second, task, task)


@pytest.mark.parametrize(
    ("verdict", "answer"), [(undo, "was rejected by the user"), (reopen, "is already proposed and waits")]
)
def test_a_verdict_that_was_taken_back_from_an_earlier_one_of_several_counts_too(
    a: Home,
    task: EntityId,
    waiting_item: EntityId,
    verdict: Callable[[Home, EntityId], DecisionResult],
    answer: str,
) -> None:
    confirm(a, waiting_item)
    confirm(a, a.estimate(task, 30, "less"))
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
        tool_call_handler = a.desk(tx, task, agent, f"run {number}")
        assert (
            tool_call_handler.answer_call("update_task_estimate", {"minutes": 120}, tx).outcome
            is CallOutcome.QUEUED
        )
        tx.commit(tool_call_handler.run_end_writes(tx), by=AuthorKind.AGENT, agent=agent)
        (item,) = [
            listed_item for listed_item in tx.items(task) if listed_item.status is DecisionStatus.PENDING
        ]
        tx.commit([retraction_write(tx, item, "no")], by=AuthorKind.AGENT, agent=agent)

    def often(tx: Transaction) -> None:
        for number in range(REPEATED_PROPOSALS_MAX):
            take_back_and_again(tx, number)

    a.write(often)
    assert asked_again(a, task).startswith("Refused: this was proposed 200 times already")
