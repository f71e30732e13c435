"""What a person corrected after confirming it is not proposed again, unless a later note says so.

Never decides what a later note means: it only has to be named, visible, the person's own, and later.
"""

from typing import Any

import pytest

from daemon.agents.proposing.tool_answers import CallOutcome, ToolAnswer
from daemon.agents.tools.agent_record import agent_id
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_from_text, id_to_text
from tests.support.decision_verbs import confirm, undo
from tests.support.fleet import Fleet, Home


def call(home: Home, task: EntityId, tool: str, **arguments: Any) -> ToolAnswer:
    """Let a run make one call, and return the answer; nothing is committed."""

    def use(tx: Any) -> ToolAnswer:
        return home.desk(tx, task, agent_id(task), "next run").answer_call(tool, arguments, tx)

    return home.write(use)


def estimate(home: Home, task: EntityId, minutes: int, **more: Any) -> ToolAnswer:
    return call(home, task, "update_task_estimate", minutes=minutes, **more)


def note(home: Home, task: EntityId, text: str = "It takes two hours after all") -> str:
    home.fleet.now_ms += 1000
    return id_to_text(home.new("entry", task_id=task, text=text))


def corrected(home: Home, task: EntityId) -> EntityId:
    item = home.estimate(task, 120)
    confirm(home, item)
    home.fleet.now_ms += 1000
    home.set(task, estimate_minutes=90)
    return item


def test_a_corrected_value_is_refused_with_the_persons_word_on_every_device(
    fleet: Fleet, a: Home, b: Home, task: EntityId
):
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(a, item)
    fleet.sync()
    b.set(task, estimate_minutes=90)
    fleet.sync()
    for home in (a, b):
        answer = estimate(home, task, 120)
        assert answer.outcome is CallOutcome.REFUSED
        assert "the user has set estimate in minutes to 90 since" in answer.text
        assert estimate(home, task, 100).outcome is CallOutcome.QUEUED


def test_a_correction_made_while_apart_from_the_confirmation_counts_too(
    fleet: Fleet, a: Home, b: Home, task: EntityId
):
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(a, item)
    b.set(task, estimate_minutes=90)
    fleet.sync()
    assert estimate(a, task, 120).outcome is CallOutcome.REFUSED


def test_a_value_that_was_edited_in_the_confirmation_is_not_proposed_again(a: Home, task: EntityId):
    item = a.estimate(task, 60 * 2)
    confirm(a, item, edit={"minutes": 45})
    answer = estimate(a, task, 120)
    assert answer.outcome is CallOutcome.REFUSED
    assert "to 45 since" in answer.text


def test_a_note_that_is_later_than_the_word_lets_it_be_proposed(a: Home, task: EntityId):
    before = note(a, task)
    corrected(a, task)
    assert estimate(a, task, 120, evidenceIds=[before]).outcome is CallOutcome.REFUSED
    after = note(a, task)
    assert estimate(a, task, 120).outcome is CallOutcome.REFUSED
    assert estimate(a, task, 120, evidenceIds=[before, after]).outcome is CallOutcome.REFUSED
    answer = estimate(a, task, 120, evidenceIds=[after])
    assert (answer.outcome, answer.args) == (CallOutcome.QUEUED, {"minutes": 120})


def test_another_correction_needs_another_note(a: Home, task: EntityId):
    corrected(a, task)
    after = note(a, task)
    (item,) = a.propose(task, "again", ("update_task_estimate", {"minutes": 120, "evidenceIds": [after]}))
    confirm(a, item)
    assert a.value(task, "estimate_minutes") == 120
    a.fleet.now_ms += 1000
    a.set(task, estimate_minutes=95)
    answer = estimate(a, task, 120, evidenceIds=[after])
    assert answer.outcome is CallOutcome.REFUSED
    assert "to 95 since" in answer.text


def test_only_a_visible_note_of_the_person_on_this_task_is_evidence(a: Home, task: EntityId):
    corrected(a, task)
    other = a.new("task", title="Another", status="OPEN")
    removed, foreign = note(a, task), note(a, other)
    a.set(id_from_text(removed), deleted=True)

    def write(tx: Any) -> EntityId:
        entry: EntityId = tx.new_id()
        fields: dict[str, Any] = {"task_id": task, "text": "120 minutes, I say"}
        tx.commit([EntityWrite(entry, "entry", fields)], by=AuthorKind.AGENT, agent=agent_id(task))
        return entry

    agents = id_to_text(a.write(write))
    for by_name in (removed, foreign, agents, id_to_text(task), "0" * 32):
        assert estimate(a, task, 120, evidenceIds=[by_name]).outcome is CallOutcome.REFUSED
    malformed: tuple[Any, ...] = (
        "x",
        ["x"],
        [7],
        ["ab" * 16 for _ in range(2)] + [f"{number:032x}" for number in range(10)],
    )
    for named_wrongly in malformed:
        answer = estimate(a, task, 120, evidenceIds=named_wrongly)
        assert (answer.outcome, "evidenceIds" in answer.text) == (CallOutcome.REFUSED, True)


def test_what_was_never_confirmed_or_what_another_proposal_replaced_is_not_guarded(a: Home, task: EntityId):
    a.set(task, estimate_minutes=90)
    assert estimate(a, task, 120).outcome is CallOutcome.QUEUED
    confirm(a, a.estimate(task, 120))
    confirm(a, a.estimate(task, 60, "another"))
    assert a.value(task, "estimate_minutes") == 60
    assert estimate(a, task, 120).outcome is CallOutcome.QUEUED


def test_a_status_is_guarded_by_its_value_and_not_by_its_reason(a: Home, task: EntityId):
    blocked = {"status": "BLOCKED", "reason": "Waits for Ann"}
    (item,) = a.propose(task, "run", ("set_task_status", blocked))
    confirm(a, item)
    a.set(task, status="IN PROGRESS", reason=None)
    answer = call(a, task, "set_task_status", status="BLOCKED", reason="Waits for Bob")
    assert answer.outcome is CallOutcome.REFUSED


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"title": "Buy a pen"}, "'Buy a pen'"),
        ({"is_archived": True}, "archived it"),
        ({"deleted": True}, "removed it"),
    ],
)
def test_an_item_that_the_person_reworded_archived_or_removed_is_not_added_again(
    change: dict[str, Any], text: str, a: Home, task: EntityId
):
    item = a.add(task, "Buy paper")
    confirm(a, item)
    a.set(derived_id("entity", id_to_text(item), time_of=item), **change)
    answer = call(a, task, "add_multiple_checklist_items", items=[{"title": "Buy paper"}, {"title": "Eat"}])
    assert answer.outcome is CallOutcome.QUEUED
    assert len(answer.items) == 1
    assert text in answer.text
    after = note(a, task)
    members = [{"title": "Buy paper", "evidenceIds": [after]}]
    assert call(a, task, "add_multiple_checklist_items", items=members).outcome is CallOutcome.QUEUED
    assert (
        call(
            a, task, "add_multiple_checklist_items", items=[{"title": "Buy paper"}], evidenceIds=[after]
        ).outcome
        is CallOutcome.QUEUED
    )


def test_what_the_person_undid_stays_rejected(a: Home, task: EntityId):
    item = corrected(a, task)
    undo(a, item)
    after = note(a, task)
    answer = estimate(a, task, 120, evidenceIds=[after])
    assert answer.outcome is CallOutcome.SKIPPED
