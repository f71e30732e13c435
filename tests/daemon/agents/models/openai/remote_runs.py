"""Runs of agents with a remote model at a fake server, and what they leave.

Never decides what a server does: that is the script of each test.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daemon.agents.tools.agent_record import current_report, load_agent
from store.local.run_log import AgentRun, RunStatus
from store.snapshot import Snapshot
from syncproto.ids import EntityId
from tests.daemon.agents.models.openai.connected_model import ConnectedModel, connected_model
from tests.daemon.agents.models.openai.fake_server import Step
from tests.support.decision_verbs import waiting
from tests.support.fleet import Home
from tests.support.scheduler_service import Serving, serving


@asynccontextmanager
async def running(home: Home, *script: Step, **how: object) -> AsyncIterator[tuple[ConnectedModel, Serving]]:
    """Run the agents of a device with a remote model."""
    async with connected_model(*script, **how) as far, serving(home, far.model) as service:  # type: ignore[arg-type]
        yield far, service


async def ended(service: Serving, agent: EntityId) -> AgentRun:
    """Wait until the first run has ended, well or badly."""

    async def holds() -> bool:
        return any(run.status is not RunStatus.RUNNING for run in await service.runs(agent))

    await service.until(holds)
    return (await service.runs(agent))[-1]


async def failed(home: Home, agent: EntityId, *script: Step, **how: object) -> str:
    """Return the error of a run that must not reach its end, and leaves nothing but what it said and cost."""
    before = standing(home, agent)
    async with running(home, *script, **how) as (_, service):
        run = await ended(service, agent)
    assert run.status in {RunStatus.FAILED, RunStatus.ABANDONED}
    assert not waiting(home)
    assert standing(home, agent) == before
    return run.error


def standing(home: Home, agent: EntityId) -> object:
    """Return what stands of an agent and its task, but for the log of what was said."""

    def use(snapshot: Snapshot) -> object:
        known_agent = load_agent(snapshot, agent)
        assert known_agent is not None
        task = snapshot.entity(known_agent.task)
        assert task is not None
        fields = [
            task.value(name) for name in ("title", "status", "priority", "estimate_minutes", "due_date")
        ]
        return known_agent, fields, current_report(snapshot, known_agent)

    return home.read(use)


def report_of(home: Home, agent: EntityId) -> object:
    def use(snapshot: Snapshot) -> object:
        found_agent = load_agent(snapshot, agent)
        assert found_agent is not None
        return current_report(snapshot, found_agent)

    return home.read(use)
