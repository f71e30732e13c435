"""The log of an agent: what a run queued and lost is not shown as if it waited.

Never calls a network: a script answers.
"""

import pytest

from daemon.agents.person import lifecycle
from daemon.agents.person.activity import agent_messages
from daemon.agents.tools.model_interface import ModelTurn, RunContext, ToolCall
from syncproto.ids import EntityId, id_to_text
from tests.support.fleet import Home
from tests.support.scheduler_service import Scripted, serving

ESTIMATE = ModelTurn((ToolCall("update_task_estimate", {"minutes": 90, "rationale": "It says so."}),))


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "interactive"))


def outcomes(home: Home, agent: EntityId) -> list[str | None]:
    messages = home.read(lambda snapshot: agent_messages(snapshot, agent, tools=True, limit=50))
    return [message.outcome for message in messages if message.kind == "tool_result"]


async def test_what_waits_was_queued_and_what_a_skipped_run_lost_was_dropped(
    a: Home, agent: EntityId
) -> None:
    before: list[str | None] = []

    def pause(context: RunContext) -> ModelTurn:
        before.extend(outcomes(a, agent))
        a.write(lambda tx: lifecycle.pause_agent(tx, agent))
        return ModelTurn(())

    model = Scripted(ESTIMATE, pause)
    async with serving(a, model) as service:
        run = await service.scheduler.wake(agent, wait_s=20)
    assert run is not None
    assert run.status.value == "skipped"
    assert (before, outcomes(a, agent)) == (["queued"], ["dropped"])
    a.write(lambda tx: lifecycle.resume_agent(tx, agent))
    other = ModelTurn((ToolCall("update_task_estimate", {"minutes": 45, "rationale": "It says so."}),))
    async with serving(a, Scripted(other)) as service:
        await service.scheduler.wake(agent, wait_s=20)
    assert outcomes(a, agent) == ["dropped", "queued"]
