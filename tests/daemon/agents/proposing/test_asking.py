"""A model asks the person: what a question has to be, what is refused in words, and how many may wait.

Never decides on a question: `tests/daemon/agents/deciding/test_questions.py` does.
"""

from typing import Any

import pytest

from daemon.agents.models.rules.embedded_model import proposed_calls
from daemon.agents.proposing.asking import QUESTIONS_OPEN_MAX
from daemon.agents.proposing.tool_answers import CallOutcome
from daemon.agents.tools.agent_record import agent_id
from daemon.agents.tools.policy import policy_field
from store.transaction import EntityWrite
from syncproto.ids import EntityId, id_to_text
from tests.daemon.agents.models.rules.sample_notes import context
from tests.support.decision_verbs import confirm, defer, reject, waiting
from tests.support.fleet import Home
from tests.support.questions import DUE_QUESTION, answered_by, question
from tests.support.tool_calls import At


@pytest.fixture
def caller(a: Home, task: EntityId) -> At:
    return At(a, task)


def test_a_question_becomes_one_item_for_each_answer(caller: At, a: Home, task: EntityId) -> None:
    answer = caller.take("ask_question", DUE_QUESTION)
    assert answer.text == "Question queued for the user, with 3 answers."
    assert answer.outcome is CallOutcome.QUEUED
    assert [item.tool for item in caller.end()] == ["answer_question"] * 3
    listed = waiting(a, task)
    assert [item.question.number for item in listed if item.question] == [1, 2, 3]
    assert [item.tool for item in listed] == [
        "update_task_due_date",
        "update_task_due_date",
        "answer_question",
    ]
    assert {item.question.question_id for item in listed if item.question} == {listed[0].item_id}
    assert listed[2].summary == "Change nothing"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (question("Which?", {"text": "This"}), "Refused"),
        (question("Which?", *({"text": f"Number {number}"} for number in range(5))), "Refused"),
        (question("", {"text": "This"}, {"text": "That"}), "Refused"),
        (question("Which?", {"text": "This"}, {"text": "  this "}), "two answers are the same"),
        (
            question(
                "How long?",
                answered_by("An hour", "update_task_estimate", minutes=90),
                answered_by("Ninety minutes", "update_task_estimate", minutes="90"),
            ),
            "two answers are the same",
        ),
        (
            question("Done?", answered_by("Yes", "set_task_status", status="DONE"), {"text": "Not yet"}),
            "answer 1: set_task_status: DONE and REJECTED are the user's alone",
        ),
        (
            question(
                "When?", {"text": "Never"}, answered_by("Soon", "update_task_due_date", dueDate="2026-02-31")
            ),
            "answer 2: update_task_due_date: dueDate 2026-02-31 is not a real calendar date",
        ),
        (
            question("Which?", answered_by("It", "update_report", title="x"), {"text": "No"}),
            "answer 1: 'update_report' is no tool whose call an answer can stand for",
        ),
        (question("Which?", answered_by("It", "ask_question"), {"text": "No"}), "Refused"),
        (question("Which?", {"text": "It", "arguments": {"minutes": 5}}, {"text": "No"}), "no tool"),
    ],
)
def test_what_is_no_question_is_refused_in_words(caller: At, arguments: Any, words: str) -> None:
    answer = caller.take("ask_question", arguments)
    assert answer.outcome is CallOutcome.REFUSED
    assert words in answer.text
    assert caller.proposed() == []


def test_a_blank_tool_is_an_answer_that_changes_nothing_and_a_value_in_place_stays_an_answer(
    caller: At,
) -> None:
    arguments = question(
        "How long does it take?",
        answered_by("An hour, as it says", "update_task_estimate", minutes=60),
        answered_by("Two hours", "update_task_estimate", minutes=120),
        {"text": "Nobody knows", "tool": "none", "arguments": {}},
    )
    assert caller.take("ask_question", arguments).outcome is CallOutcome.QUEUED
    answers = caller.args()[0]["answers"]
    assert [answer.get("tool") for answer in answers] == ["update_task_estimate"] * 2 + [None]


def test_garbled_names_and_a_batch_of_one_are_the_change_that_they_mean(caller: At) -> None:
    offer = question(
        "Book it?",
        answered_by("Yes", "functions.AddMultipleChecklistItems", items=[{"title": "Book the train"}]),
        {"text": "No"},
    )
    assert caller.take("ask_question", offer).outcome is CallOutcome.QUEUED
    assert caller.args()[0]["answers"][0] == {
        "text": "Yes",
        "tool": "add_checklist_item",
        "arguments": {"title": "Book the train", "isChecked": False},
    }
    several = answered_by("Yes", "add_multiple_checklist_items", items=[{"title": "One"}, {"title": "Two"}])
    refused = caller.ask("ask_question", question("Both?", several, {"text": "No"}))
    assert refused.startswith("Refused: answer 1: an answer stands for one change")


def test_a_change_that_the_policy_denies_is_not_offered(caller: At, a: Home, task: EntityId) -> None:
    fields = {policy_field("update_task_due_date"): "denied"}
    a.write(lambda tx: tx.commit([EntityWrite(agent_id(task), "agent", {"task_id": task, **fields})]))
    answer = caller.take("ask_question", DUE_QUESTION)
    assert answer.outcome is CallOutcome.REFUSED
    assert answer.text.startswith("Refused: answer 1: the user's policy for this agent denies")


def test_an_agent_that_may_not_ask_may_not_ask_answer_by_answer_either(
    caller: At, a: Home, task: EntityId
) -> None:
    fields = {policy_field("ask_question"): "denied"}
    a.write(lambda tx: tx.commit([EntityWrite(agent_id(task), "agent", {"task_id": task, **fields})]))
    for name in ("ask_question", "answer_question"):
        assert caller.take(name, DUE_QUESTION).outcome is CallOutcome.DENIED


def test_a_change_that_the_person_rejected_or_deferred_is_not_offered(
    caller: At, a: Home, task: EntityId
) -> None:
    (rejected,) = a.propose(task, "one", ("update_task_due_date", {"dueDate": "2027-03-01"}))
    reject(a, rejected, "never on a Monday")
    answer = caller.ask("ask_question", DUE_QUESTION)
    assert answer == ('Refused: answer 1: its change was rejected by the user (reason: "never on a Monday").')
    (put_off,) = a.propose(task, "two", ("update_task_due_date", {"dueDate": "2027-04-01"}))
    defer(a, put_off)
    other = question(
        "When is it due?", answered_by("April", "update_task_due_date", dueDate="2027-04-01"), {"text": "No"}
    )
    assert "its change was deferred by the user" in caller.ask("ask_question", other)


def test_a_question_is_not_asked_twice(caller: At, a: Home, task: EntityId) -> None:
    assert caller.take("ask_question", DUE_QUESTION).outcome is CallOutcome.QUEUED
    assert caller.ask("ask_question", DUE_QUESTION) == "Skipped: the question is already asked in this run."
    first, *_ = caller.end()
    again = At(a, task, "again")
    assert "is already proposed and waits" in again.ask("ask_question", DUE_QUESTION)
    confirm(a, first.id)
    after = At(a, task, "after").ask("ask_question", DUE_QUESTION)
    assert after.startswith("Skipped: the question was answered by the user")


def test_of_ten_questions_only_the_first_few_wait(caller: At, a: Home, task: EntityId) -> None:
    def ask(desk: At, number: int) -> CallOutcome:
        arguments = question(f"Question {number}?", {"text": "Yes"}, {"text": "No"})
        return desk.take("ask_question", arguments).outcome

    outcomes = [ask(caller, number) for number in range(10)]
    assert outcomes == [CallOutcome.QUEUED] * QUESTIONS_OPEN_MAX + [CallOutcome.REFUSED] * 7
    items = caller.end()
    later = At(a, task, "later")
    assert ask(later, 10) is CallOutcome.REFUSED
    reject(a, items[0].id)
    assert ask(later, 10) is CallOutcome.QUEUED


def test_taking_back_one_answer_takes_the_question_back(caller: At, a: Home, task: EntityId) -> None:
    caller.ask("ask_question", DUE_QUESTION)
    items = caller.end()
    later = At(a, task, "later")
    taken = later.take("retract_proposals", {"itemIds": [id_to_text(items[1].id)], "reason": "it is clear"})
    assert taken.outcome is CallOutcome.DONE
    later.end()
    assert waiting(a, task) == []
    assert [a.item(item.id).status.value for item in items] == ["retracted"] * 3
    again = At(a, task, "again")
    assert again.take("ask_question", DUE_QUESTION).outcome is CallOutcome.QUEUED
    assert len(again.end()) == 3
    assert len(waiting(a, task)) == 3


def test_the_question_of_the_rules_is_one_that_can_be_asked(caller: At) -> None:
    [call] = proposed_calls(context("due 3 November", language="en"))
    arguments: Any = call.arguments
    assert caller.take(call.name, arguments).outcome is CallOutcome.QUEUED


def test_a_question_offers_what_the_person_corrected_with_a_later_note_as_evidence_alone(
    a: Home, task: EntityId
) -> None:
    (item,) = a.propose(task, "one", ("update_task_estimate", {"minutes": 90}))
    confirm(a, item)
    a.fleet.now_ms += 1000
    a.set(task, estimate_minutes=45)
    asked_again = question(
        "How long?", answered_by("Ninety minutes", "update_task_estimate", minutes=90), {"text": "As it is"}
    )
    caller = At(a, task, "two")
    answer = caller.take("ask_question", asked_again)
    assert answer.outcome is CallOutcome.REFUSED
    assert "answer 1: its change was confirmed before" in answer.text
    a.fleet.now_ms += 1000
    note = a.new("entry", task_id=task, text="It may be ninety minutes after all, or not.")
    with_evidence = {**asked_again, "evidenceIds": [id_to_text(note)]}
    assert caller.take("ask_question", with_evidence).outcome is CallOutcome.QUEUED
    # The evidence is no part of the question: without it, the question is the same one.
    assert "already asked" in caller.take("ask_question", with_evidence).text
