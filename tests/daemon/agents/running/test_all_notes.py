"""Runs that read all notes anew: when a person asks for one, and after a policy has been loosened.

Never calls a network: `rules` runs the agent, or a script does.
"""

import pytest

from daemon.agents.person import lifecycle, policy_edits
from daemon.agents.tools.model_interface import ModelFault
from daemon.refusal import RefusalCode, Refused
from store.local.run_log import RunStatus
from store.sentence import foreign_text
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm
from tests.support.fleet import Fleet, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_service import Forever, Scripted, Serving, serving

NOTES = ("The first is about paint.", "The second is about nails.")


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "interactive"))


async def note_and_run(service: Serving, task: EntityId, agent: EntityId) -> None:
    """Write the two notes, and let a run read them."""
    for text in NOTES:
        await service.note(task, text)
        service.home.fleet.now_ms += 1
    await service.scheduler.wake(agent, wait_s=LIMIT_S)


def read_notes(model: Scripted) -> list[tuple[str, ...]]:
    """Return the new notes of each run that the model has seen."""
    runs = {context.run_key: tuple(view.text for view in context.new_entries) for context in model.seen}
    return list(runs.values())


def set_policy(home: Home, agent: EntityId, policy: str, tool: str = "update_task_estimate") -> None:
    home.write(lambda tx: policy_edits.set_tool_policy(tx, agent, tool, policy))


async def test_one_run_reads_all_notes_if_a_person_asks(a: Home, task: EntityId, agent: EntityId) -> None:
    model = Scripted()
    async with serving(a, model) as service:
        await note_and_run(service, task, agent)
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
        await service.scheduler.wake(agent, wait_s=LIMIT_S, all_notes=True)
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
    assert read_notes(model) == [NOTES, (), NOTES, ()]


async def test_a_request_for_all_notes_outlives_the_process_and_a_failed_run(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a) as service:
        await note_and_run(service, task, agent)
    stuck = Forever()
    async with serving(a, stuck) as service:
        await service.scheduler.wake(agent, all_notes=True)
        await stuck.asked.wait()
    failing = Scripted(ModelFault(foreign_text("no answer")))
    async with serving(a, failing) as service:

        async def has_failed() -> bool:
            return (await service.runs(agent))[0].status is RunStatus.FAILED

        await service.until(has_failed)
    model = Scripted()
    async with serving(a, model) as service:
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
    assert read_notes(failing) == [NOTES]
    assert read_notes(model) == [NOTES, ()]


async def test_a_request_that_may_not_run_writes_nothing(a: Home, agent: EntityId) -> None:
    a.write(lambda tx: lifecycle.pause_agent(tx, agent))
    before = a.read(lambda snapshot: snapshot.feed_end())
    async with serving(a) as service:
        with pytest.raises(Refused) as refused:
            await service.scheduler.wake(agent, all_notes=True)
    assert refused.value.code is RefusalCode.CONFLICT
    assert a.read(lambda snapshot: snapshot.feed_end()) == before


@pytest.mark.parametrize("policy", ["denied", "default"])
async def test_the_next_run_reads_all_notes_after_a_policy_was_loosened_and_not_tightened(
    a: Home, task: EntityId, agent: EntityId, policy: str
) -> None:
    if policy == "default":
        set_policy(a, agent, "denied")
    model = Scripted()
    async with serving(a, model) as service:
        await note_and_run(service, task, agent)
        set_policy(a, agent, policy)
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
    assert read_notes(model) == [NOTES, NOTES if policy == "default" else (), ()]


async def test_what_rules_could_not_propose_it_proposes_after_the_policy_was_loosened(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    set_policy(a, agent, "denied")
    async with serving(a) as service:
        await service.note(task, "It takes 2 hours.")
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
        assert a.read(lambda snapshot: snapshot.items(task)) == []
        set_policy(a, agent, "default")
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
    (item,) = a.read(lambda snapshot: snapshot.items(task))
    assert (item.tool, item.args) == ("update_task_estimate", {"minutes": 120})


async def test_notes_that_are_read_again_propose_nothing_behind_a_persons_later_word(
    fleet: Fleet, a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a) as service:
        await service.note(task, "It takes 2 hours.")
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
        (item,) = a.read(lambda snapshot: snapshot.items(task))
        confirm(a, item.id)
        fleet.now_ms += 1
        a.set(task, estimate_minutes=45)
        await service.scheduler.wake(agent, wait_s=LIMIT_S, all_notes=True)
    assert [item.id for item in a.read(lambda snapshot: snapshot.items(task))] == [item.id]
    assert a.value(task, "estimate_minutes") == 45
