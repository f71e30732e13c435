"""Which agents are due and why, on real stores: what others changed beyond the watermark, and nothing else.

Never runs an agent: tests write a run's end as its watermark.
"""

import hashlib

import pytest

from daemon.agents.context.triggers import unseen_triggers
from daemon.agents.person import lifecycle
from daemon.agents.running import wakes
from daemon.agents.tools.agent_record import agent_id, load_agent, state_id
from daemon.journal.references.change_names import commit_name
from store.fold.item import clock_as_value
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, ReplicaId, id_to_text
from syncproto.vector_clock import Head
from tests.daemon.journal.undo.acts import undo as undo_change
from tests.support.decision_verbs import confirm, reject, undo
from tests.support.fleet import Fleet, Home


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


def run_ended(home: Home, agent: EntityId) -> None:
    """Move the watermark to all that is there, as a run does in its last commit."""

    def use(tx: Transaction) -> None:
        fields: dict[str, Value] = {"agent_id": agent, "watermark": clock_as_value(tx.vector())}
        tx.commit([EntityWrite(state_id(agent), "agent_state", fields)], by=AuthorKind.AGENT, agent=agent)

    home.write(use)


def is_due(home: Home, agent: EntityId) -> bool:
    return home.read(lambda snapshot: wakes.is_due(snapshot, agent))


def key(home: Home, agent: EntityId) -> str:
    def use(snapshot: Snapshot) -> str:
        known_agent = load_agent(snapshot, agent)
        assert known_agent is not None
        return wakes.subscription_key(
            agent, (unseen_trigger.head for unseen_trigger in unseen_triggers(snapshot, known_agent))
        )

    return home.read(use)


def test_a_new_agent_is_due_once(a: Home, agent: EntityId) -> None:
    assert is_due(a, agent)
    run_ended(a, agent)
    assert not is_due(a, agent)


def test_it_is_due_for_all_that_belongs_to_its_task(a: Home, task: EntityId, agent: EntityId) -> None:
    checklist = a.new("checklist", task, task_id=task, title="List", position="V")
    item = a.new("checklist_item", task, checklist_id=checklist, title="x", position="V")
    entry = a.new("entry", task, task_id=task, text="x")
    link = a.new("link", from_id=task, to_id=checklist, type="basic")
    run_ended(a, agent)
    for entity in (task, checklist, item, entry, link):
        assert not is_due(a, agent)
        a.set(entity, title="touched")
        assert is_due(a, agent), a.entity(entity).kind
        run_ended(a, agent)
    for entity in (item, entry, link):
        a.set(entity, deleted=True)
        assert is_due(a, agent), a.entity(entity).kind
        run_ended(a, agent)


def test_it_is_due_for_an_undo_as_for_an_edit(a: Home, task: EntityId, agent: EntityId) -> None:
    a.set(task, title="Renew it")
    for _turn in ("undo", "redo"):
        run_ended(a, agent)
        name = a.read(lambda snapshot: commit_name(snapshot.log.head_at(snapshot.feed_end() - 1)))
        assert undo_change(a, name).undo is not None
        assert is_due(a, agent)


def test_it_is_not_due_for_another_task(a: Home, agent: EntityId) -> None:
    run_ended(a, agent)
    other = a.new("task", title="Another", status="OPEN")
    a.new("entry", other, task_id=other, text="x")
    assert not is_due(a, agent)


def test_effects_of_its_own_proposals_do_not_wake_it(a: Home, task: EntityId, agent: EntityId) -> None:
    run_ended(a, agent)
    estimate, added = a.estimate(task, 120, "one"), a.add(task, "Buy paper", "two")
    rejected, undone = a.add(task, "Call Ann", "three"), a.add(task, "Call Bob", "four")
    confirm(a, estimate, edit={"minutes": 90})
    confirm(a, added)
    reject(a, rejected)
    confirm(a, undone)
    undo(a, undone)
    assert not is_due(a, agent)


def test_a_change_from_another_device_wakes_it_at_home_and_nowhere_else(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    run_ended(a, agent)
    fleet.sync()
    b.new("entry", task, task_id=task, text="due 2026-12-01")
    assert not is_due(b, agent)
    fleet.sync()
    assert is_due(a, agent)
    assert not is_due(b, agent)
    assert b.read(wakes.home_agents) == []


def test_an_agent_that_wakes_only_when_asked_or_whose_task_is_removed_is_not_due(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(agent, mode="interactive")
    assert not is_due(a, agent)
    a.set(agent, mode="autonomous")
    a.set(task, deleted=True)
    assert not is_due(a, agent)
    a.set(task, deleted=False)
    assert is_due(a, agent)


def test_the_run_key_follows_from_what_changed_and_from_nothing_else(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    run_ended(a, agent)
    a.set(task, title="One")
    first = key(a, agent)
    a.new("task", title="Another")
    fleet.sync()
    assert key(a, agent) == key(b, agent) == first
    a.set(task, title="Two")
    assert key(a, agent) != first


def test_the_change_key_does_not_depend_on_order_or_repetition() -> None:
    head, two = Head(ReplicaId(bytes(16)), 1, bytes(32)), Head(ReplicaId(bytes(16)), 2, bytes(32))
    assert wakes.change_key([head, two, head]) == wakes.change_key([two, head])
    assert wakes.change_key([head]) != wakes.change_key([two])
    heads = [Head(ReplicaId(bytes(16)), counter, bytes(32)) for counter in range(9, 0, -1)]
    dots = [f"{bytes(16).hex()}:{counter}:{bytes(32).hex()}" for counter in range(1, 10)]
    assert wakes.change_key(heads) == hashlib.sha256("|".join(dots).encode()).hexdigest()


def test_a_persons_request_has_a_key_of_its_own(agent: EntityId) -> None:
    assert wakes.session_key(agent, "x", 1) != wakes.session_key(agent, "x", 2)


def test_the_feed_says_whom_it_concerns(a: Home, task: EntityId, agent: EntityId) -> None:
    end = a.read(lambda snapshot: snapshot.feed_end())
    checklist = a.new("checklist", task_id=task, title="List", position="V")
    a.new("checklist_item", checklist_id=checklist, title="x", position="V")
    identifiers, seq = a.read(lambda snapshot: wakes.agents_concerned(snapshot, end))
    assert identifiers == {agent} == {agent_id(task)}
    assert a.read(lambda snapshot: wakes.agents_concerned(snapshot, seq)) == (set(), seq)


def test_where_there_is_no_agent_the_feed_concerns_none_and_is_not_read(b: Home) -> None:
    b.new("task", title="Nobody's")
    end = b.read(lambda snapshot: snapshot.feed_end())
    b.write(lambda tx: tx.db.execute("UPDATE feed SET body = x'00'"))
    assert b.read(lambda snapshot: wakes.agents_concerned(snapshot, 0)) == (set(), end)
    assert b.read(lambda snapshot: wakes.agents_concerned(snapshot, end)) == (set(), end)


def test_a_timer_on_its_task_is_no_news_to_an_agent_but_a_link_is(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    other = a.new("task", title="Other")
    run_ended(a, agent)
    a.new("time_record", task, task_id=task, started_at="2026-03-20T10:00:00Z")
    assert not is_due(a, agent)
    a.new("link", task, from_id=other, to_id=task, type="blocks")
    assert is_due(a, agent)
