"""New tasks that an agent of another maker proposes beside no task: they are about the agent itself.

Never repeats what tests/daemon/agents/deciding/test_new_tasks.py asks of every new task.
"""

from typing import Any

import pytest

from daemon.agents.deciding import decision_history
from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.person import external_agents, inbox, lifecycle, policy_edits
from daemon.agents.tools.agent_record import agent_id
from store.fold.entity import Entity
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_from_text, id_to_text
from tests.support.decision_verbs import confirm, reject, undo, waiting
from tests.support.fleet import Fleet, Home
from tests.support.outside import ESTIMATE, added, proposed

CALL: tuple[str, dict[str, Any]] = ("add_task", {"title": "Call Ana", "minutes": 20})


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home) -> EntityId:
    """An agent of another maker that works on `a`, known to `b` as well."""
    identifier = added(a)
    fleet.sync()
    return identifier


def propose(home: Home, agent: EntityId, **how: Any) -> EntityId:
    """Propose the new task; return its item."""
    (item,) = proposed(home, agent, None, CALL, **how).items
    assert item.item is not None, item
    return id_from_text(item.item)


def task_made(home: Home, item: EntityId) -> Entity | None:
    """Return the task that an item made, None if it is not in sight."""
    made = home.read(lambda snapshot: snapshot.entity(derived_id("entity", id_to_text(item), time_of=item)))
    return made if made is not None and made.visible else None


def test_it_waits_under_the_agents_name_and_becomes_a_task_on_every_device(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    result = proposed(a, agent, None, CALL)
    assert (result.task, result.state) == (None, "pending")
    item = propose(a, agent)
    fleet.sync()
    (line,) = waiting(b)
    assert (line.task_id, line.task_title, line.agent_id) == (id_to_text(agent), "Claude", id_to_text(agent))
    (card,) = b.read(lambda snapshot: inbox.list_cards(snapshot, b.now_ms(), open_per_day=50))
    assert (card.task_title, card.count) == ("Claude", 1)
    assert confirm(b, item).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        made = task_made(home, item)
        assert made is not None
        assert (made.text("title"), made.value("estimate_minutes")) == ("Call Ana", 20)
    assert undo(a, item).message == "undone: the task is gone"
    assert task_made(a, item) is None


def test_twins_are_one_item_and_devices_that_confirm_it_apart_make_one_task(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    item = propose(a, agent)
    (twin,) = proposed(a, agent, None, CALL, key="next").items
    assert twin.state == "skipped"
    fleet.sync()
    for home in (a, b):
        assert confirm(home, item).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        titles = home.read(
            lambda snapshot: [task.text("title") for task in snapshot.entities("task") if task.visible]
        )
        assert titles.count("Call Ana") == 1


def test_what_is_no_new_task_needs_a_task(a: Home, agent: EntityId) -> None:
    calls = [ESTIMATE, CALL, ("add_checklist_item", {"title": "Call"}), ("fly", {})]
    result = proposed(a, agent, None, *calls)
    assert [item.state for item in result.items] == ["refused", "pending", "refused", "refused"]
    assert result.items[0].reason == "Refused: update_task_estimate needs a task."


@pytest.mark.parametrize(
    ("scope", "state"), [("all", "pending"), ("categories", "pending"), ("none", "denied")]
)
def test_its_scope_is_that_for_tasks_without_a_category(
    a: Home, agent: EntityId, scope: str, state: str
) -> None:
    a.write(lambda tx: external_agents.set_scope(tx, agent, scope))
    (item,) = proposed(a, agent, None, CALL).items
    assert item.state == state


def test_an_agent_of_some_categories_proposes_no_task_without_one_and_none_of_it_is_confirmed(
    a: Home, agent: EntityId
) -> None:
    before = propose(a, agent)
    a.new("category", name="Health")
    a.write(lambda tx: external_agents.set_scope(tx, agent, "categories"))
    a.write(lambda tx: policy_edits.edit_allowed_categories(tx, agent, allow=["Health"], disallow=[]))
    (item,) = proposed(a, agent, None, CALL, key="next").items
    assert item.state == "denied"
    assert confirm(a, before).result is DecisionOutcome.FAILED
    assert task_made(a, before) is None


def test_what_the_policy_denies_by_now_is_not_confirmed(a: Home, agent: EntityId) -> None:
    item = propose(a, agent)
    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "add_task", "denied"))
    assert confirm(a, item).result is DecisionOutcome.FAILED
    assert task_made(a, item) is None


def test_a_destroyed_agents_new_tasks_wait_no_more(fleet: Fleet, a: Home, b: Home, agent: EntityId) -> None:
    propose(a, agent)
    fleet.sync()
    b.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    assert waiting(b) == []
    fleet.sync()
    assert waiting(a) == []


def test_its_decisions_are_listed_by_the_agent(a: Home, agent: EntityId) -> None:
    item = propose(a, agent)
    reject(a, item, "Not mine.")
    (record,) = a.read(
        lambda snapshot: decision_history.list_decisions(
            snapshot, a.now_ms(), task=id_to_text(agent), limit=10
        )
    )
    assert (record.item_id, record.task_title, record.reason) == (id_to_text(item), "Claude", "Not mine.")
    latest = a.read(lambda snapshot: inbox.latest_decision(snapshot, a.now_ms(), item))
    assert latest == record


@pytest.mark.parametrize("forger", ["other agent", "agent of no task"])
def test_nobody_joins_what_another_agent_proposes_beside_no_task(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, forger: str
) -> None:
    item = propose(a, agent)
    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "add_task", "denied"))
    fleet.sync()
    change_set = b.item(item).occurrences[0].change_set
    fields: dict[str, Any] = {name: b.value(change_set, name) for name in b.entity(change_set).fields()}
    joining = added(b, "Codex") if forger == "other agent" else agent_id(agent)
    write = EntityWrite(EntityId(bytes(15) + b"7"), "change_set", fields | {"agent_id": joining})
    b.write(lambda tx: tx.commit([write], by=AuthorKind.AGENT, agent=joining))
    fleet.sync()
    for home in (a, b):
        assert joining in {proposal.agent for proposal in home.item(item).occurrences}
        (line,) = waiting(home)
        assert line.agent_id == id_to_text(agent)
        assert confirm(home, item).result is DecisionOutcome.FAILED
        assert task_made(home, item) is None
