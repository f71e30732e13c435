"""Agents, states, change sets and decisions that another device wrote by hand: lists work all the same.

Never assumes that a member's device runs this program.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.agents.deciding import decision_history, decisions
from daemon.agents.deciding.decision_result import DecisionResult
from daemon.agents.deciding.waiting_items import list_waiting_items
from daemon.agents.person import agent_overview, lifecycle
from daemon.agents.running import due_agents, wakes
from daemon.agents.running.timetable import Outlook
from daemon.agents.tools.agent_record import agent_id, load_agent, state_id
from daemon.agents.tools.effects import fingerprint_of, item_id
from daemon.refusal import RefusalCode, Refused
from store.fold.item import clock_as_value
from store.fold.verdicts import DecisionStatus
from store.sentence import foreign_text
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.codec import INT_MAX, INT_MIN
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.fleet import Fleet, Home
from tests.support.scheduler_service import serving

OTHER = Outlook(None, foreign_text("nothing"))
TITLE = {"title": "Owned"}


def foreign(home: Home, task: EntityId) -> EntityId:
    """Write an agent of the task under an id that does not follow from it, at home on this device."""
    forged = derived_id("forged", time_of=task)
    device = home.read(lambda snapshot: snapshot.device)
    fields: dict[str, Any] = {
        "task_id": task,
        "home_device_id": device,
        "display_name": "It failed: call Eve",
    }
    dormant = {"lifecycle": "dormant", "lifecycle_reason": "it failed 5 times in a row: call Eve"}
    home.write(lambda tx: tx.commit([EntityWrite(forged, "agent", fields | dormant)]))
    home.set(forged, lifecycle="active")
    return forged


def test_an_agent_under_an_id_that_is_not_its_tasks_is_none_and_neither_wakes_nor_is_listed(
    a: Home, task: EntityId
) -> None:
    forged = foreign(a, task)
    assert a.read(lambda snapshot: load_agent(snapshot, forged)) is None
    assert a.read(lambda snapshot: agent_overview.list_agents(snapshot, a.now_ms(), lambda _: OTHER)) == []
    (due,) = a.read(lambda snapshot: due_agents.check_agents(snapshot, [forged], a.now_ms()))
    assert isinstance(due, due_agents.AgentCheck)
    assert not due.has_news
    with pytest.raises(Refused) as refused:
        a.read(lambda snapshot: agent_overview.find_agent(snapshot, id_to_text(forged)))
    assert refused.value.code is RefusalCode.NOT_FOUND


def test_an_agent_that_is_none_alarms_nobody(a: Home, task: EntityId) -> None:
    a.set(foreign(a, task), lifecycle="dormant")
    assert a.read(agent_overview.stopped_agents) == []


def test_the_tasks_own_agent_is_made_whatever_was_forged_beside_it(a: Home, task: EntityId) -> None:
    foreign(a, task)
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    assert agent == agent_id(task)
    assert a.read(lambda snapshot: agent_overview.find_agent(snapshot, id_to_text(task))) == agent


@pytest.mark.parametrize("odd", [{"mode": "weekly"}, {"lifecycle": "retired"}])
def test_an_agent_of_a_newer_version_is_listed_and_does_not_run_by_itself(
    a: Home, task: EntityId, odd: dict[str, Any]
) -> None:
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    a.set(agent, **odd)
    (agent_details,) = a.read(
        lambda snapshot: agent_overview.list_agents(snapshot, a.now_ms(), lambda _: OTHER)
    )
    assert (agent_details.mode, agent_details.lifecycle) in (
        ("interactive", "created"),
        ("autonomous", "dormant"),
    )
    assert not a.read(lambda snapshot: wakes.is_due(snapshot, agent))
    counted = a.read(lambda snapshot: agent_overview.count_agents(snapshot, 0, 0))
    assert (counted.active, counted.dormant) == (int("mode" in odd), int("lifecycle" in odd))


def test_a_watermark_of_what_is_not_there_yet_hides_nothing_that_comes(a: Home, task: EntityId) -> None:
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    (head,) = a.read(lambda snapshot: snapshot.vector())
    answer: list[Any] = [[head.replica, 1 << 40, bytes(32)]]
    a.write(lambda tx: tx.commit([EntityWrite(state_id(agent), "agent_state", {"watermark": answer})]))
    a.new("entry", task, task_id=task, text="takes 2 hours")
    assert a.read(lambda snapshot: wakes.is_due(snapshot, agent))
    expected = [clock_as_value(a.read(lambda snapshot: snapshot.vector()))[0], answer[0]]
    a.set(state_id(agent), watermark=expected)
    assert not a.read(lambda snapshot: wakes.is_due(snapshot, agent))


# -- whatever was written -----------------------------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([INT_MIN, -1, 0, 1, INT_MAX]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.binary(max_size=3),
    st.binary(min_size=16, max_size=16),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=5,
)


def fields(*names: str, at_most: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), values, max_size=at_most)


of_agent = fields(
    "display_name", "mode", "lifecycle", "lifecycle_reason", "task_id", "home_device_id", "model"
)
of_state = fields("watermark", "last_wake_at", "consecutive_failures", "head_message_id", "report_id")
of_set = fields("expires_at", "run_key", "agent_id", at_most=1)
of_item = fields("fingerprint", "tool", "args", "base", "rationale", at_most=2)
of_decision = fields("seen", "device", "reason", "edited_args", "via", "args_hash")


def _hold(home: Home, item: EntityId) -> None:
    """Read all that people and the scheduler read, and decide in every way."""
    now_ms = home.now_ms()

    def read(snapshot: Snapshot) -> None:
        displayed: list[Any] = [
            agent_overview.list_agents(snapshot, now_ms, lambda _: OTHER),
            agent_overview.count_agents(snapshot, 0, 0),
            agent_overview.stopped_agents(snapshot),
            list_waiting_items(snapshot, now_ms),
            list_waiting_items(snapshot, now_ms, closed=True),
            decision_history.list_decisions(snapshot, now_ms, limit=100),
        ]
        msgspec.json.encode(displayed)
        looks = due_agents.check_agents(snapshot, wakes.home_agents(snapshot), now_ms)
        assert [look for look in looks if isinstance(look, Exception)] == []
        wakes.agents_concerned(snapshot, 0)

    home.read(read)
    verbs: list[Callable[..., DecisionResult]] = [
        decisions.undo,
        decisions.defer,
        decisions.reopen,
        decisions.reject,
    ]
    for verb in verbs:
        home.write(lambda tx, verb=verb: verb(tx, item, via="cli"))  # type: ignore[misc]
    home.write(lambda tx: decisions.confirm(tx, item, force=True, again=True, via="cli"))
    home.read(read)


anything = st.fixed_dictionaries(
    {"agent": of_agent, "state": of_state, "set": of_set, "item": of_item, "decision": of_decision}
)


@settings(max_examples=30, deadline=None)
@given(anything, st.sampled_from(list(AuthorKind)))
def test_whatever_another_device_wrote_lists_hold_and_people_can_decide(
    drawn: dict[str, dict[str, Any]], by: AuthorKind
) -> None:
    with TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder))
        home = fleet.home("a")
        task = home.new("task", title="Write the report")
        agent = home.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
        item = item_id(fingerprint_of(task, "set_task_title", TITLE), None, task, task)
        words: dict[str, Any] = {"item_id": item, "tool": "set_task_title", "args": TITLE, "base": {}}
        proposed = {"agent_id": agent, "task_id": task, "items": [words | drawn["item"]]} | drawn["set"]
        judged: dict[str, Any] = {"item_id": item, "verdict": "rejected", "seen": []}
        forged = [
            EntityWrite(agent, "agent", drawn["agent"]),
            EntityWrite(state_id(agent), "agent_state", drawn["state"]),
            EntityWrite(derived_id("set", time_of=task), "change_set", proposed, by=AuthorKind.AGENT),
            EntityWrite(derived_id("decision", time_of=task), "decision", judged | drawn["decision"], by=by),
        ]
        for write in forged:
            home.write(lambda tx, write=write: tx.commit([write]))  # type: ignore[misc]
        _hold(home, item)
        fleet.close()


async def test_an_item_that_cannot_be_taken_back_does_not_keep_other_agents_from_running(
    a: Home, task: EntityId
) -> None:
    """A decision names all that it has seen.

    If that is more than a commit can contain, no further one is possible.
    """
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    a.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    item, other = a.estimate(task, 90), a.new("task", title="Another")
    reopened: dict[str, Any] = {"item_id": item, "verdict": "reopened", "seen": []}
    for _ in range(8):
        a.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "decision", reopened) for _ in range(2000)]))
    async with serving(a) as service:
        (woken,) = await service.scheduler.create_and_wake(
            lambda tx: [lifecycle.create_agent(tx, id_to_text(other), "rules")]
        )
        await service.completed(woken, 1)
    assert a.item(item).status is DecisionStatus.PENDING
