"""How an agent argued over a person's tick, as the log and the history of decisions show it.

Never asks a model: proposals and notes come from the tests.
"""

from typing import Any

import pytest

from daemon.agents.deciding.decision_history import DecisionRecord, list_decisions
from daemon.journal import change_log
from daemon.journal.views.structures import Change, Evidence
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm
from tests.support.fleet import Home

REASON = "The note of today says that the tests are written."
TEXT = "The tests are written, all of them."


@pytest.fixture
def item(a: Home, task: EntityId) -> EntityId:
    checklist = a.new("checklist", task_id=task, title="Todos", position="a")
    item = a.new("checklist_item", checklist_id=checklist, title="Write tests", position="a")
    a.set(item, is_checked=False)
    a.fleet.now_ms += 60_000
    return item


@pytest.fixture
def note(a: Home, task: EntityId, item: EntityId) -> EntityId:
    return a.new("entry", task_id=task, text=TEXT)


def tick(home: Home, task: EntityId, item: EntityId, **argument: Any) -> EntityId:
    """Propose and confirm a tick; return the change item."""
    call = {"id": id_to_text(item), "isChecked": True, "rationale": "It is done.", **argument}
    (proposed,) = home.propose(task, "run", ("update_checklist_item", call))
    confirm(home, proposed)
    return proposed


def shown(home: Home, task: EntityId) -> tuple[Change, DecisionRecord]:
    """Return the change of the tick in the log, and its decision in the history."""
    changes = home.read(lambda snapshot: change_log.list_changes(snapshot, id_to_text(task), limit=100))
    (decision,) = home.read(lambda snapshot: list_decisions(snapshot, home.now_ms(), limit=10))
    return next(change for change in changes if change.after is True), decision


def test_the_log_and_the_decisions_show_reason_and_evidence(
    a: Home, task: EntityId, item: EntityId, note: EntityId
) -> None:
    tick(a, task, item, reason=REASON, evidenceIds=[id_to_text(note)])
    for answer in shown(a, task):
        assert answer.agent_reason == REASON
        assert answer.evidence == [Evidence(id_to_text(note), TEXT, "user", "2026-03-20T09:47:40.000Z")]


def test_a_note_that_was_removed_or_belongs_to_another_task_shows_its_id_alone(
    a: Home, task: EntityId, item: EntityId, note: EntityId
) -> None:
    tick(a, task, item, reason=REASON, evidenceIds=[id_to_text(note)])
    a.set(note, task_id=a.new("task", title="Another"))
    for answer in shown(a, task):
        assert answer.evidence == [Evidence(id_to_text(note))]


def test_what_was_not_argued_over_has_neither(a: Home, task: EntityId) -> None:
    confirm(a, *a.propose(task, "run", ("set_task_status", {"status": "BLOCKED", "reason": "It rains."})))
    changes = a.read(lambda snapshot: change_log.list_changes(snapshot, id_to_text(task), limit=100))
    (decision,) = a.read(lambda snapshot: list_decisions(snapshot, a.now_ms(), limit=10))
    assert {change.agent_reason for change in changes} == {None}
    assert (decision.agent_reason, decision.evidence) == (None, [])
