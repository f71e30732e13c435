"""What a run does at once: report, observations, proposals taken back, the task's language.

Never runs a model: the calls are written here.
"""

import pytest

from daemon.agents.own import OBSERVATIONS_MAX
from daemon.agents.proposals import QUEUED, Taken
from store.transaction import Transaction, Write
from store.verdicts import Status, Verdict
from syncproto.commit import By
from syncproto.ids import EntityId, derived_id, text
from tests.daemon.agents.asking import At
from tests.daemon.agents.deciding import confirm, defer, reject, reopen
from tests.daemon.agents.fleet import DAY_MS, Fleet, Home
from tests.daemon.agents.test_policy import set_policy

GERMAN = {"languageCode": "de", "confidence": "high"}


def by_agent(home: Home, task: EntityId, **fields: str | None) -> None:
    agent = derived_id("agent", text(task), time_of=task)

    def use(tx: Transaction) -> None:
        tx.commit([Write(task, "task", dict(fields))], by=By.AGENT, agent=agent)

    home.write(use)


# -- language -----------------------------------------------------------------------------------------


def test_a_language_nobody_chose_is_set_at_the_end_of_the_run_and_as_the_agents(
    a: Home, task: EntityId
) -> None:
    at = At(a, task)
    answer = at.take("set_task_language", GERMAN)
    assert (answer.text, answer.taken) == ("Language set to de.", Taken.DONE)
    assert a.value(task, "language") is None
    assert at.end() == []
    version = a.entity(task).version("language")
    assert version is not None
    assert (version.value, version.source.by) == ("de", By.AGENT)


def test_a_language_that_stands_is_not_set_again(a: Home, task: EntityId) -> None:
    a.set(task, language="de")
    assert At(a, task).ask("set_task_language", GERMAN) == "Skipped: language is already de."


@pytest.mark.parametrize("chosen", ["en", None])
def test_a_language_that_the_user_chose_is_never_overridden(
    a: Home, task: EntityId, chosen: str | None
) -> None:
    a.set(task, language=chosen)
    answer = At(a, task).take("set_task_language", GERMAN)
    assert (answer.text, answer.taken) == ("Skipped: the user chose the language.", Taken.SKIPPED)


def test_a_language_that_an_agent_set_may_be_corrected(a: Home, task: EntityId) -> None:
    by_agent(a, task, language="en")
    at = At(a, task)
    at.ask("set_task_language", GERMAN)
    at.end()
    assert a.value(task, "language") == "de"


def test_a_language_that_the_user_chose_during_the_run_stays(a: Home, task: EntityId) -> None:
    at = At(a, task)
    at.ask("set_task_language", GERMAN)
    a.set(task, language="en")
    assert at.ask("set_task_language", GERMAN) == "Skipped: the user chose the language."
    at.end()
    assert a.value(task, "language") == "en"


def test_a_language_that_the_user_chose_while_apart_stays(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    fleet.sync()
    b.set(task, language="en")
    fleet.now_ms += 1000
    at = At(a, task)
    at.ask("set_task_language", GERMAN)
    at.end()
    fleet.sync()
    assert a.value(task, "language") == "en"
    assert At(a, task, "later").ask("set_task_language", GERMAN) == "Skipped: the user chose the language."


def test_a_language_is_not_set_where_it_was_denied_meanwhile_or_the_task_is_gone(
    a: Home, task: EntityId
) -> None:
    at = At(a, task)
    at.ask("set_task_language", GERMAN)
    set_policy(a, task, set_task_language="deferred")
    at.end()
    assert a.value(task, "language") is None
    set_policy(a, task, set_task_language=None)
    again = At(a, task)
    again.ask("set_task_language", GERMAN)
    a.set(task, deleted=True)
    again.end()
    assert a.value(task, "language") is None


def test_a_language_of_low_confidence_is_dropped(a: Home, task: EntityId) -> None:
    at = At(a, task)
    said = at.ask("set_task_language", {"languageCode": "de", "confidence": 0.2})
    assert said == "Skipped: confidence is low."
    at.end()
    assert a.value(task, "language") is None


# -- observations -------------------------------------------------------------------------------------


def test_observations_are_kept_for_the_run_without_blank_ones(a: Home, task: EntityId) -> None:
    at = At(a, task)
    answer = at.take("record_observations", {"observations": [" one ", "", "  ", "two"]})
    assert (answer.text, answer.taken) == ("Recorded 2 observation(s).", Taken.DONE)
    assert at.ask("record_observations", {"observations": ["\n"]}) == "Recorded 0 observation(s)."
    assert at.desk.observations == ["one", "two"]
    assert at.home.write(at.desk.writes) == []


def test_a_run_records_a_limited_number_of_observations(a: Home, task: EntityId) -> None:
    at = At(a, task)
    at.ask("record_observations", {"observations": [f"first {number}" for number in range(20)]})
    said = at.ask("record_observations", {"observations": [f"second {number}" for number in range(20)]})
    assert said == "Recorded 10 observation(s). 10 refused: a run records at most 30."
    assert at.take("record_observations", {"observations": ["more"]}).taken is Taken.REFUSED
    assert len(at.desk.observations) == OBSERVATIONS_MAX


# -- taking back --------------------------------------------------------------------------------------


def retract(a: Home, task: EntityId, *items: EntityId, end: bool = True) -> str:
    at = At(a, task, "later")
    said = at.ask("retract_proposals", {"itemIds": [text(one) for one in items], "reason": "outdated"})
    if end:
        at.end()
    return said


def test_an_agent_takes_back_what_waits(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    assert retract(a, task, item) == "Retracted 1 proposal(s)."
    held = a.item(item)
    assert held.status is Status.RETRACTED
    (decision,) = held.decisions
    assert (decision.verdict, decision.by, decision.reason) == (Verdict.RETRACTED, By.AGENT, "outdated")


def test_what_was_taken_back_may_be_proposed_again_as_a_new_item(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    retract(a, task, item)
    assert a.estimate(task, 120, "again") != item


def test_what_is_taken_back_in_a_run_is_not_said_to_wait(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    at = At(a, task, "later")
    at.ask("retract_proposals", {"itemIds": [text(item)], "reason": "outdated"})
    assert at.ask("update_task_estimate", {"minutes": 120}) == (
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
    assert retract(a, task, item) == f"Skipped 1: {text(item)} was decided by the user."
    assert a.item(item).decisions == before.decisions


def test_what_a_person_reopened_is_not_the_agents_to_take_back(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    reject(a, item)
    reopen(a, item)
    assert retract(a, task, item) == f"Skipped 1: {text(item)} was decided by the user."


def test_what_expired_cannot_be_taken_back_to_be_proposed_anew(fleet: Fleet, a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    fleet.now_ms += 8 * DAY_MS
    assert retract(a, task, item) == f"Skipped 1: {text(item)} has expired."


def test_what_another_agent_proposed_or_nobody_did_is_not_taken_back(a: Home, task: EntityId) -> None:
    other = a.new("task", title="Another", status="OPEN")
    item = a.estimate(other, 120)
    for named in (item, task):
        assert retract(a, task, named) == f"Skipped 1: {text(named)} is no proposal of yours."
    assert a.item(item).status is Status.PENDING


def test_one_thing_is_taken_back_once(a: Home, task: EntityId) -> None:
    one, two = a.estimate(task, 120), a.add(task, "x", "another run")
    at = At(a, task, "later")
    at.ask("retract_proposals", {"itemIds": [text(one), text(one).upper()], "reason": "outdated"})
    said = at.take("retract_proposals", {"itemIds": [text(one), text(two)], "reason": "outdated"})
    assert said.text == f"Retracted 1 proposal(s).\nSkipped 1: {text(one)} is retracted already."
    assert said.items == (two,)
    at.end()
    assert len(a.item(one).decisions) == len(a.item(two).decisions) == 1
    assert retract(a, task, one) == f"Skipped 1: {text(one)} is retracted already."


def test_what_a_person_decided_before_the_run_ended_stays_decided(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    at = At(a, task, "later")
    at.ask("retract_proposals", {"itemIds": [text(item)], "reason": "outdated"})
    confirm(a, item)
    at.end()
    held = a.item(item)
    assert held.status is Status.CONFIRMED
    assert len(held.decisions) == 1


def test_a_retraction_that_meets_a_verdict_gives_way(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(b, item)
    retract(a, task, item)
    fleet.sync()
    for home in (a, b):
        assert home.item(item).status is Status.CONFIRMED


def test_a_retraction_does_not_stop_the_run_from_proposing(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    at = At(a, task, "later")
    at.ask("retract_proposals", {"itemIds": [text(item)], "reason": "outdated"})
    assert at.ask("update_task_estimate", {"minutes": 90}) == QUEUED
    assert [one.args for one in at.end()] == [{"minutes": 90}]
