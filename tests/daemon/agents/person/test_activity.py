"""The log of an agent: what a run queued and lost is not shown as if it waited.

Never calls a network: a script answers.
"""

import pytest

from daemon.agents.person import lifecycle
from daemon.agents.person.activity import agent_messages
from daemon.agents.running import conversation
from daemon.agents.tools.model_interface import ModelTurn, RunContext, ToolCall
from store.file.errors import StoreError
from store.sentence import sentence
from syncproto.ids import EntityId, id_to_text
from tests.support.fleet import Fleet, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_service import Scripted, serving
from tests.support.scripted_runs import ran, says

ESTIMATE = ModelTurn((ToolCall("update_task_estimate", {"minutes": 90, "rationale": "It says so."}),))


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "interactive"))


def lost(*_: object) -> None:
    raise StoreError(sentence("lost", "the daemon ended"))


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
        run = await service.scheduler.wake(agent, wait_s=LIMIT_S)
    assert run is not None
    assert run.status.value == "skipped"
    assert (before, outcomes(a, agent)) == (["queued"], ["dropped"])
    a.write(lambda tx: lifecycle.resume_agent(tx, agent))
    other = ModelTurn((ToolCall("update_task_estimate", {"minutes": 45, "rationale": "It says so."}),))
    async with serving(a, Scripted(other)) as service:
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
    assert outcomes(a, agent) == ["dropped", "queued"]


async def test_another_device_says_the_same_of_what_a_paused_run_lost(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    def pause(context: RunContext) -> ModelTurn:
        a.write(lambda tx: lifecycle.pause_agent(tx, agent))
        return ModelTurn(())

    async with serving(a, Scripted(ESTIMATE, pause)) as service:
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
    fleet.sync()
    assert outcomes(a, agent) == outcomes(b, agent) == ["dropped"]


async def test_another_device_learns_from_what_is_newer_than_a_page_that_a_run_is_over(
    fleet: Fleet, b: Home, task: EntityId, agent: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, _ = fleet.homes
    # The daemon ends in the middle of a run; the next one reads what changed and queues something else.
    with monkeypatch.context() as patched:
        patched.setattr(conversation, "finish_run", lost)
        with pytest.raises(StoreError):
            await ran(a, agent, says(("update_task_estimate", {"minutes": 90, "rationale": "It says so."})))
    fleet.sync()
    assert outcomes(b, agent) == ["queued"]
    fleet.now_ms += 1_000
    a.set(task, title="Write the long report")
    await ran(a, agent, says(("update_task_estimate", {"minutes": 45, "rationale": "It says so."})), key="b")
    fleet.sync()
    assert outcomes(b, agent) == ["dropped", "queued"]
    messages = b.read(lambda snapshot: agent_messages(snapshot, agent, tools=True, limit=50))
    opening = [message.id for message in messages if message.trigger][-1]
    page = b.read(lambda snapshot: agent_messages(snapshot, agent, tools=True, limit=50, before=opening))
    assert [message.outcome for message in page if message.kind == "tool_result"] == ["dropped"]


async def test_what_a_run_proposed_is_queued_on_every_device(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    async with serving(a, Scripted(ESTIMATE)) as service:
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
    fleet.sync()
    assert outcomes(a, agent) == outcomes(b, agent) == ["queued"]
