"""Tasks that agents propose: off unless a person lets an agent, one task per proposal, and gone by undo.

Never runs a model: the tests contain the calls.
"""

from typing import Any

import pytest

from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.person import policy_edits
from daemon.agents.proposing.tool_answers import CallOutcome
from store.fold.entity import Entity
from store.fold.verdicts import DecisionStatus
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.agent_queries import set_policy
from tests.support.decision_verbs import confirm, reject, undo, waiting
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.tool_calls import At

CALL = ("add_task", {"title": "Call Ana"})


@pytest.fixture
def allowed(a: Home, task: EntityId) -> EntityId:
    """A task whose agent may propose tasks."""
    set_policy(a, task, add_task="deferred")
    return task


def propose(home: Home, task: EntityId, run_key: str = "run", **more: Any) -> EntityId:
    (item,) = home.propose(task, run_key, (CALL[0], {**CALL[1], **more}))
    return item


def entity_made(item: EntityId) -> EntityId:
    return derived_id("entity", id_to_text(item), time_of=item)


def task_made(home: Home, item: EntityId) -> Entity | None:
    """Return the task that an item made, None if it is not in sight."""
    made = home.read(lambda snapshot: snapshot.entity(entity_made(item)))
    return made if made is not None and made.visible else None


def test_it_is_off_until_a_person_lets_the_agent(a: Home, task: EntityId) -> None:
    agent = set_policy(a, task, kind="task_agent")
    answer = At(a, task).take(*CALL)
    assert (answer.outcome, answer.items) == (CallOutcome.DENIED, ())
    assert answer.text == "Denied: add_task is off until the user lets this agent call it."
    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "add_task", "deferred"))
    assert At(a, task, "next").take(*CALL).outcome is CallOutcome.QUEUED
    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "add_task", "default"))
    assert At(a, task, "last").take(*CALL).outcome is CallOutcome.DENIED


def test_a_proposal_of_an_agent_that_may_no_more_is_not_confirmed(a: Home, allowed: EntityId) -> None:
    item = propose(a, allowed)
    set_policy(a, allowed, add_task=None)
    assert confirm(a, item).result is DecisionOutcome.FAILED
    assert task_made(a, item) is None


def test_a_confirmed_one_is_a_task_with_what_it_starts_with(a: Home, allowed: EntityId) -> None:
    before = a.entity(allowed)
    item = propose(a, allowed, dueDate="2026-03-20", priority="p1", minutes="20")
    (line,) = waiting(a)
    assert line.summary == (
        'New task: "Call Ana"; Set due date to 2026-03-20; Set priority to P1; Set estimate to 20 minutes'
    )
    confirm(a, item)
    made = task_made(a, item)
    assert made is not None
    assert made.kind == "task"
    assert {field: made.value(field) for field in made.fields()} == {
        "title": "Call Ana",
        "status": "OPEN",
        "due": "2026-03-20",
        "priority": "P1",
        "estimate_minutes": 20,
    }
    # The task of the agent is another one, which a new task beside it does not change.
    assert a.entity(allowed).clock == before.clock


@pytest.mark.parametrize(
    "more",
    [{"title": ""}, {"title": "x" * 401}, {"dueDate": "2026-02-30"}, {"minutes": 0}, {"status": "DONE"}],
)
def test_arguments_that_no_task_can_start_with_are_refused(
    a: Home, allowed: EntityId, more: dict[str, Any]
) -> None:
    assert At(a, allowed).take("add_task", {**CALL[1], **more}).outcome is CallOutcome.REFUSED


def test_undo_takes_it_away_unless_a_person_has_touched_it(a: Home, allowed: EntityId) -> None:
    item = propose(a, allowed)
    confirm(a, item)
    assert undo(a, item).message == "undone: the task is gone"
    assert task_made(a, item) is None
    confirm(a, item, again=True)
    a.new("entry", entity_made(item), task_id=entity_made(item), text="She is away")
    assert undo(a, item).message == "undone, but the task stays: you changed it since"
    assert task_made(a, item) is not None


def test_what_a_person_touched_on_another_device_stays_after_an_undo_here(
    fleet: Fleet, a: Home, b: Home, allowed: EntityId
) -> None:
    item = propose(a, allowed)
    confirm(a, item)
    fleet.sync()
    b.set(entity_made(item), due="2026-04-01")
    undo(a, item)
    fleet.sync()
    for home in (a, b):
        made = task_made(home, item)
        assert made is not None
        assert made.value("due") == "2026-04-01"


def test_two_runs_on_two_devices_make_one_task(fleet: Fleet, a: Home, b: Home, allowed: EntityId) -> None:
    fleet.sync()
    items = [propose(home, allowed, home.name) for home in (a, b)]
    assert items[0] == items[1]
    for home in (a, b):
        assert confirm(home, items[0]).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        tasks = home.read(lambda snapshot: [entity.text("title") for entity in snapshot.entities("task")])
        assert tasks.count("Call Ana") == 1
        assert home.entity(entity_made(items[0])).conflicts() == {}


def test_a_task_that_is_open_already_is_not_proposed_and_a_proposal_of_it_waits_no_more(
    a: Home, allowed: EntityId
) -> None:
    item = propose(a, allowed)
    other = a.new("task", title="call ANA", status="BLOCKED")
    answer = At(a, allowed, "next").take(*CALL)
    assert answer.text == 'Skipped: a task "Call Ana" is open already.'
    assert waiting(a) == []
    assert confirm(a, item).message == 'a task "call ANA" is open already'
    a.set(other, status="DONE")
    assert confirm(a, item).result is DecisionOutcome.APPLIED


def test_whoever_wants_two_of_one_name_forces_it(a: Home, allowed: EntityId) -> None:
    item = propose(a, allowed)
    a.new("task", title="Call Ana", status="OPEN")
    assert confirm(a, item, force=True).result is DecisionOutcome.APPLIED
    assert task_made(a, item) is not None


def test_of_two_proposals_of_one_title_the_agents_last_word_waits(a: Home, allowed: EntityId) -> None:
    item = propose(a, allowed, dueDate="2026-03-20")
    (later,) = a.propose(
        allowed,
        "later",
        ("add_task", {"title": "call ana"}),
        ("add_task", {"title": "Call Ana", "dueDate": "2026-03-21"}),
    )
    assert [line.item_id for line in waiting(a)] == [id_to_text(later)]
    assert a.item(item).status is DecisionStatus.RETRACTED
    assert a.item(later).args == {"title": "Call Ana", "dueDate": "2026-03-21"}


def test_what_is_done_may_be_proposed_anew_and_is_another_task(
    fleet: Fleet, a: Home, allowed: EntityId
) -> None:
    item = propose(a, allowed)
    confirm(a, item)
    fleet.now_ms += DAY_MS
    a.set(entity_made(item), status="DONE")
    again = propose(a, allowed, "next week")
    assert again != item
    confirm(a, again)
    assert task_made(a, again) is not None


@pytest.mark.parametrize("deed", [{"deleted": True}, {"title": "Write to Ana"}])
def test_what_a_person_removed_or_reworded_needs_a_later_note(
    fleet: Fleet, a: Home, allowed: EntityId, deed: dict[str, Any]
) -> None:
    item = propose(a, allowed)
    confirm(a, item)
    fleet.now_ms += DAY_MS
    a.set(entity_made(item), **deed)
    answer = At(a, allowed, "next").take(*CALL)
    assert answer.outcome is CallOutcome.REFUSED
    assert "Name in evidenceIds entries that the user wrote after that" in answer.text
    fleet.now_ms += DAY_MS
    note = a.new("entry", allowed, task_id=allowed, text="Call Ana again")
    with_note = {**CALL[1], "evidenceIds": [id_to_text(note)]}
    assert At(a, allowed, "last").take("add_task", with_note).outcome is CallOutcome.QUEUED


def test_rejected_it_is_not_proposed_again(a: Home, allowed: EntityId) -> None:
    item = propose(a, allowed)
    reject(a, item, "not my business")
    answer = At(a, allowed, "next").take(*CALL)
    assert answer.text == 'Skipped: "Call Ana" was rejected by the user (reason: "not my business").'


def test_an_answer_may_stand_for_a_new_task(a: Home, allowed: EntityId) -> None:
    question = {
        "question": "Is Ana a task of her own?",
        "answers": [{"text": "Yes", "tool": "add_task", "arguments": CALL[1]}, {"text": "No"}],
    }
    chosen, _ = a.propose(allowed, "run", ("ask_question", question))
    assert confirm(a, chosen).result is DecisionOutcome.APPLIED
    made = task_made(a, chosen)
    assert made is not None
    version = made.version("title")
    assert version is not None
    assert (made.text("title"), version.source.by) == ("Call Ana", AuthorKind.AGENT)
