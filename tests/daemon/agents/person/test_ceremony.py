"""Agents without ceremony: for new tasks by themselves, for all at once, with a name, paused until a time.

Never sleeps: the clock is the fleet's.
"""

import pytest

from daemon.agents.person import agent_overview, agent_timers, lifecycle
from daemon.agents.person.default_agents import DefaultAgent
from daemon.agents.running.timetable import Outlook
from daemon.refusal import Refused
from daemon.timestamps import iso_utc
from store.sentence import foreign_text
from syncproto.ids import EntityId, id_to_text
from tests.support.agent_queries import agent_details_of, human_input_of, stored_agent
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.patience import wait_until_async
from tests.support.scheduler_faults import spend_idle_turns
from tests.support.scheduler_service import serving

HOUR_MS = 3_600_000


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


def pause(home: Home, agent: EntityId, words: str | None) -> None:
    home.write(
        lambda tx: lifecycle.pause_agent(
            tx,
            agent,
            None if words is None else agent_timers.future_ms(words, human_input_of(home), tx.now_ms()),
        )
    )


# -- a pause with an end ------------------------------------------------------------------------------


async def test_a_pause_ends_by_itself_and_the_agent_reads_what_came_meanwhile(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    pause(a, agent, "in 2 hours")
    until = iso_utc(a.now_ms() + 2 * HOUR_MS)
    details = agent_details_of(a, agent)
    assert (details.lifecycle, details.paused_until) == ("dormant", until)
    assert details.lifecycle_reason == f"it is paused until {until}"
    async with serving(a) as service:
        await service.note(task, "takes 2 hours")
        a.fleet.now_ms += 2 * HOUR_MS - 1
        service.scheduler.on_timers_changed()
        await spend_idle_turns(service, agent)
        assert await service.runs(agent) == []
        a.fleet.now_ms += 1
        service.scheduler.on_timers_changed()
        await service.completed(agent, 1)
    assert (agent_details_of(a, agent).lifecycle, agent_details_of(a, agent).paused_until) == ("active", None)


async def test_a_pause_that_ended_while_the_device_was_off_ends_at_its_start(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    pause(a, agent, "in 2 hours")
    a.set(task, estimate_minutes=30)
    a.fleet.now_ms += 7 * DAY_MS
    async with serving(a) as service:
        await service.completed(agent, 1)


async def test_only_the_home_ends_a_pause_and_one_of_another_device_meanwhile_stays(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    pause(a, agent, "in 2 hours")
    fleet.sync()
    fleet.now_ms += DAY_MS
    async with serving(b) as service:
        await spend_idle_turns(service, agent)
    assert stored_agent(b, agent).lifecycle == "dormant"
    pause(b, agent, None)
    async with serving(a):
        await wait_until_async("the pause ends", lambda: stored_agent(a, agent).lifecycle == "active")
    fleet.sync()
    for home in (a, b):
        assert stored_agent(home, agent).lifecycle == "dormant"
        assert agent_details_of(home, agent).paused_until is None


def test_the_end_that_was_given_last_counts_and_a_failure_stays(a: Home, agent: EntityId) -> None:
    pause(a, agent, "in 2 hours")
    pause(a, agent, "in 5 hours")
    assert agent_details_of(a, agent).paused_until == iso_utc(a.now_ms() + 5 * HOUR_MS)
    pause(a, agent, None)
    assert agent_details_of(a, agent).paused_until is None
    a.write(lambda tx: lifecycle.resume_agent(tx, agent))
    assert agent_details_of(a, agent).lifecycle_reason is None
    with pytest.raises(Refused, match="has passed"):
        pause(a, agent, "2020-01-01 9:00")


# -- many at once, and by themselves ------------------------------------------------------------------


def test_all_open_tasks_get_an_agent_once(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    a.new("task", title="Done", status="DONE")
    other = a.new("task", title="Other", status="OPEN")
    fleet.sync()
    for home in (a, b):
        wanting = home.read(lambda snapshot: agent_overview.tasks_without_agent(snapshot, None, 10))
        assert set(wanting) == {task, other}
        for identifier in wanting:
            home.write(
                lambda tx, identifier=identifier: lifecycle.create_agent(tx, id_to_text(identifier), "rules")  # type: ignore[misc]
            )
    fleet.sync()
    for home in (a, b):
        assert home.read(lambda snapshot: agent_overview.tasks_without_agent(snapshot, None, 10)) == []
        assert len(home.read(lambda snapshot: list(snapshot.entities("agent")))) == 2


def test_agents_are_listed_by_their_state(a: Home, agent: EntityId) -> None:
    def listed(state: str) -> int:
        def nothing(_agent: EntityId) -> Outlook:
            return Outlook(None, foreign_text(""))

        return len(
            a.read(lambda snapshot: agent_overview.list_agents(snapshot, a.now_ms(), nothing, [state]))
        )

    assert (listed("created"), listed("dormant")) == (1, 0)
    pause(a, agent, None)
    assert (listed("created"), listed("dormant")) == (0, 1)


def test_a_default_agent_is_for_its_categories_alone(a: Home, task: EntityId) -> None:
    category = a.new("category", name="Work")
    meant = a.new("task", title="Meant", status="OPEN", category_id=category)
    default = DefaultAgent("rules", "hybrid", frozenset({"work"}))
    for identifier in (task, meant):
        a.write(lambda tx, identifier=identifier: default.create(tx, identifier))  # type: ignore[misc]
    (agent,) = a.read(lambda snapshot: list(snapshot.entities("agent")))
    assert (agent.value("task_id"), agent.text("mode")) == (meant, "hybrid")


# -- a name and a description -------------------------------------------------------------------------


def test_a_name_and_a_description_can_be_given_changed_and_taken_away(a: Home, task: EntityId) -> None:
    agent = a.write(
        lambda tx: lifecycle.create_agent(
            tx, id_to_text(task), "rules", name="  Ana\nthe\tfirst ", description="Terse. "
        )
    )
    assert (agent_details_of(a, agent).name, agent_details_of(a, agent).description) == (
        "Ana the first",
        "Terse.",
    )
    before = a.read(lambda snapshot: snapshot.feed_end())
    a.write(lambda tx: lifecycle.edit_agent(tx, agent, name="Ana the first"))
    assert a.read(lambda snapshot: snapshot.feed_end()) == before
    a.write(lambda tx: lifecycle.edit_agent(tx, agent, name="", description="Kind"))
    assert (agent_details_of(a, agent).name, agent_details_of(a, agent).description) == (None, "Kind")
