"""What a run does at once: report, observations, retractions, the task's language.

Never runs a model: the tests contain the calls.
"""

import pytest

from daemon.agents.proposing.immediate_tools import OBSERVATIONS_PER_RUN_MAX
from daemon.agents.proposing.tool_answers import QUEUED_TEXT, CallOutcome
from store.fold.verdicts import DecisionStatus, Verdict
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.agent_queries import set_policy
from tests.support.decision_verbs import confirm, defer, reject, reopen
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.tool_calls import At

GERMAN = {"languageCode": "de", "confidence": "high"}


def by_agent(home: Home, task: EntityId, **fields: str | None) -> None:
    agent = derived_id("agent", id_to_text(task), time_of=task)

    def use(tx: Transaction) -> None:
        tx.commit([EntityWrite(task, "task", dict(fields))], by=AuthorKind.AGENT, agent=agent)

    home.write(use)


# -- language -----------------------------------------------------------------------------------------


def test_a_language_nobody_chose_is_set_at_the_end_of_the_run_and_as_the_agents(
    a: Home, task: EntityId
) -> None:
    caller = At(a, task)
    answer = caller.take("set_task_language", GERMAN)
    assert (answer.text, answer.outcome) == ("Language set to de.", CallOutcome.DONE)
    assert a.value(task, "language") is None
    assert caller.end() == []
    version = a.entity(task).version("language")
    assert version is not None
    assert (version.value, version.source.by) == ("de", AuthorKind.AGENT)


def test_a_language_that_stands_is_not_set_again(a: Home, task: EntityId) -> None:
    a.set(task, language="de")
    assert At(a, task).ask("set_task_language", GERMAN) == "Skipped: language is already de."


@pytest.mark.parametrize("chosen", ["en", None])
def test_a_language_that_the_user_chose_is_never_overridden(
    a: Home, task: EntityId, chosen: str | None
) -> None:
    a.set(task, language=chosen)
    answer = At(a, task).take("set_task_language", GERMAN)
    assert (answer.text, answer.outcome) == ("Skipped: the user chose the language.", CallOutcome.SKIPPED)


def test_a_language_that_an_agent_set_may_be_corrected(a: Home, task: EntityId) -> None:
    by_agent(a, task, language="en")
    caller = At(a, task)
    caller.ask("set_task_language", GERMAN)
    caller.end()
    assert a.value(task, "language") == "de"


def test_a_language_that_the_user_chose_during_the_run_stays(a: Home, task: EntityId) -> None:
    caller = At(a, task)
    caller.ask("set_task_language", GERMAN)
    a.set(task, language="en")
    assert caller.ask("set_task_language", GERMAN) == "Skipped: the user chose the language."
    caller.end()
    assert a.value(task, "language") == "en"


def test_a_language_that_the_user_chose_while_apart_stays(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    fleet.sync()
    b.set(task, language="en")
    fleet.now_ms += 1000
    caller = At(a, task)
    caller.ask("set_task_language", GERMAN)
    caller.end()
    fleet.sync()
    assert a.value(task, "language") == "en"
    assert At(a, task, "later").ask("set_task_language", GERMAN) == "Skipped: the user chose the language."


def test_a_language_is_not_set_where_it_was_denied_meanwhile_or_the_task_is_gone(
    a: Home, task: EntityId
) -> None:
    caller = At(a, task)
    caller.ask("set_task_language", GERMAN)
    set_policy(a, task, set_task_language="deferred")
    caller.end()
    assert a.value(task, "language") is None
    set_policy(a, task, set_task_language=None)
    again = At(a, task)
    again.ask("set_task_language", GERMAN)
    a.set(task, deleted=True)
    again.end()
    assert a.value(task, "language") is None


def test_a_language_of_low_confidence_is_dropped(a: Home, task: EntityId) -> None:
    caller = At(a, task)
    text = caller.ask("set_task_language", {"languageCode": "de", "confidence": 0.2})
    assert text == "Skipped: confidence is low."
    caller.end()
    assert a.value(task, "language") is None


# -- observations -------------------------------------------------------------------------------------


def test_observations_are_kept_for_the_run_without_blank_ones(a: Home, task: EntityId) -> None:
    caller = At(a, task)
    answer = caller.take("record_observations", {"observations": [" one ", "", "  ", "two"]})
    assert (answer.text, answer.outcome) == ("Recorded 2 observation(s).", CallOutcome.DONE)
    assert caller.ask("record_observations", {"observations": ["\n"]}) == "Recorded 0 observation(s)."
    assert caller.desk.observations == ["one", "two"]
    assert caller.home.write(caller.desk.run_end_writes) == []


def test_a_run_records_a_limited_number_of_observations(a: Home, task: EntityId) -> None:
    caller = At(a, task)
    caller.ask("record_observations", {"observations": [f"first {number}" for number in range(20)]})
    text = caller.ask("record_observations", {"observations": [f"second {number}" for number in range(20)]})
    assert text == "Recorded 10 observation(s). 10 refused: a run records at most 30."
    assert caller.take("record_observations", {"observations": ["more"]}).outcome is CallOutcome.REFUSED
    assert len(caller.desk.observations) == OBSERVATIONS_PER_RUN_MAX


# -- taking back --------------------------------------------------------------------------------------


def retract(a: Home, task: EntityId, *items: EntityId, end: bool = True) -> str:
    caller = At(a, task, "later")
    text = caller.ask(
        "retract_proposals", {"itemIds": [id_to_text(item) for item in items], "reason": "outdated"}
    )
    if end:
        caller.end()
    return text


def test_an_agent_takes_back_what_waits(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    assert retract(a, task, item) == "Retracted 1 proposal(s)."
    stored_item = a.item(item)
    assert stored_item.status is DecisionStatus.RETRACTED
    (decision,) = stored_item.decisions
    assert (decision.verdict, decision.by, decision.reason) == (
        Verdict.RETRACTED,
        AuthorKind.AGENT,
        "outdated",
    )


def test_what_was_taken_back_may_be_proposed_again_as_a_new_item(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    retract(a, task, item)
    assert a.estimate(task, 120, "again") != item


def test_what_is_taken_back_in_a_run_is_not_said_to_wait(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    caller = At(a, task, "later")
    caller.ask("retract_proposals", {"itemIds": [id_to_text(item)], "reason": "outdated"})
    assert caller.ask("update_task_estimate", {"minutes": 120}) == (
        "Skipped: an estimate of 120 minutes is taken back in this run: propose it at a later wake."
    )


@pytest.mark.parametrize("decide", [confirm, reject, defer])
def test_what_a_person_decided_is_not_the_agents_to_take_back(
    a: Home, task: EntityId, decide: object
) -> None:
    item = a.estimate(task, 120)
    assert callable(decide)
    decide(a, item)
    before = a.item(item)
    assert retract(a, task, item) == f"Skipped 1: {id_to_text(item)} was decided by the user."
    assert a.item(item).decisions == before.decisions


def test_what_a_person_reopened_is_not_the_agents_to_take_back(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    reject(a, item)
    reopen(a, item)
    assert retract(a, task, item) == f"Skipped 1: {id_to_text(item)} was decided by the user."


def test_what_expired_cannot_be_taken_back_to_be_proposed_anew(fleet: Fleet, a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    fleet.now_ms += 8 * DAY_MS
    assert retract(a, task, item) == f"Skipped 1: {id_to_text(item)} has expired."


def test_what_another_agent_proposed_or_nobody_did_is_not_taken_back(a: Home, task: EntityId) -> None:
    other = a.new("task", title="Another", status="OPEN")
    item = a.estimate(other, 120)
    for identifier in (item, task):
        assert retract(a, task, identifier) == f"Skipped 1: {id_to_text(identifier)} is no proposal of yours."
    assert a.item(item).status is DecisionStatus.PENDING


def test_one_thing_is_taken_back_once(a: Home, task: EntityId) -> None:
    identifier, two = a.estimate(task, 120), a.add(task, "x", "another run")
    caller = At(a, task, "later")
    caller.ask(
        "retract_proposals",
        {"itemIds": [id_to_text(identifier), id_to_text(identifier).upper()], "reason": "outdated"},
    )
    tool_answer = caller.take(
        "retract_proposals", {"itemIds": [id_to_text(identifier), id_to_text(two)], "reason": "outdated"}
    )
    assert (
        tool_answer.text
        == f"Retracted 1 proposal(s).\nSkipped 1: {id_to_text(identifier)} is retracted already."
    )
    assert tool_answer.items == (two,)
    caller.end()
    assert len(a.item(identifier).decisions) == len(a.item(two).decisions) == 1
    assert retract(a, task, identifier) == f"Skipped 1: {id_to_text(identifier)} is retracted already."


def test_what_a_person_decided_before_the_run_ended_stays_decided(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    caller = At(a, task, "later")
    caller.ask("retract_proposals", {"itemIds": [id_to_text(item)], "reason": "outdated"})
    confirm(a, item)
    caller.end()
    stored_item = a.item(item)
    assert stored_item.status is DecisionStatus.CONFIRMED
    assert len(stored_item.decisions) == 1


def test_a_retraction_that_meets_a_verdict_gives_way(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(b, item)
    retract(a, task, item)
    fleet.sync()
    for home in (a, b):
        assert home.item(item).status is DecisionStatus.CONFIRMED


def test_a_retraction_does_not_stop_the_run_from_proposing(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    caller = At(a, task, "later")
    caller.ask("retract_proposals", {"itemIds": [id_to_text(item)], "reason": "outdated"})
    assert caller.ask("update_task_estimate", {"minutes": 90}) == QUEUED_TEXT
    assert [listed_item.args for listed_item in caller.end()] == [{"minutes": 90}]
