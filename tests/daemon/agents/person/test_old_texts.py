"""What agents said long ago is let go of: the texts are dropped, and nothing else changes, on any device.

Never calls a network: a script answers.
"""

from functools import partial
from typing import Any

import pytest

from daemon.agents.person import lifecycle, old_texts
from daemon.agents.person.activity import agent_messages
from daemon.agents.tools.model_interface import ModelTurn, ToolCall
from store.upkeep.compaction import Retention, compact_step
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_service import Scripted, serving

LONG = "a long thought " * 300
WISH = "a long wish " * 50
OBSERVATION = "a long observation " * 20
TURN = ModelTurn(
    (
        ToolCall("update_task_estimate", {"minutes": 90, "rationale": "It says so."}),
        ToolCall("set_task_title", {"title": "Write it", "rationale": "It says so."}),
        ToolCall("record_observations", {"observations": [OBSERVATION]}),
    ),
    text=LONG,
)


@pytest.fixture
async def agent(a: Home, task: EntityId) -> EntityId:
    """An agent with a run that said much, a confirmed item and an open one."""
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "interactive"))
    async with serving(a, Scripted(TURN)) as service:
        await service.scheduler.ask(agent, WISH, wait_s=LIMIT_S)
    estimate, _ = a.read(lambda snapshot: snapshot.items(task))
    confirm(a, estimate.id)
    return agent


def empty(home: Home, older_than_ms: int = 0) -> int:
    before_ms, texts = home.now_ms() - older_than_ms, 0
    place = home.read(lambda snapshot: old_texts.first_place(snapshot, before_ms))
    while place is not None:
        step = home.write(partial(old_texts.empty_old_texts, place=place, before_ms=before_ms))
        texts, place = texts + step.texts, step.resume_at
    return texts


def shown(home: Home, task: EntityId) -> Any:
    """Return what a person sees of a task, its proposals and its decisions."""

    def read(snapshot: Any) -> Any:
        entity = snapshot.entity(task)
        fields = {name: entity.value(name) for name in entity.fields()}
        items = [(item.id, item.status, item.args, len(item.decisions)) for item in snapshot.items(task)]
        return fields, items

    return home.read(read)


def texts(home: Home, agent: EntityId) -> list[str]:
    return [
        message.text
        for message in home.read(lambda snapshot: agent_messages(snapshot, agent, tools=True, limit=100))
    ]


def freed(home: Home, *others: Home) -> int:
    vectors = tuple(other.read(lambda snapshot: snapshot.vector()) for other in others)
    step = home.write(lambda tx: compact_step(tx, Retention(home.now_ms() + 1, vectors)))
    assert step.after is None
    return step.freed.bytes


def test_old_texts_go_on_every_device_and_the_task_stays_as_it_was(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    fleet.sync()
    before = shown(a, task)
    fleet.now_ms += 6 * DAY_MS
    assert empty(b, 5 * DAY_MS) > 0
    assert empty(b, 5 * DAY_MS) == 0
    # Until the other device has the write, nothing is dropped.
    assert freed(b, a) == 0
    fleet.sync()
    assert freed(a, b) > len(LONG) / 2
    assert freed(b, a) > len(LONG) / 2
    for home in (a, b):
        assert shown(home, task) == before
        assert LONG not in " ".join(texts(home, agent))
        assert "(dropped)" in texts(home, agent)
        assert WISH.strip() in texts(home, agent)
        (name,) = home.read(lambda s: s.newest_ids_pointing_at(agent, "agent_observation", 9))
        observation = home.entity(name)
        assert observation is not None
        assert observation.text("text").strip() == OBSERVATION.strip()
    fleet.sync()
    open_item = a.read(lambda snapshot: snapshot.items(task))[1]
    confirm(a, open_item.id)
    assert a.value(task, "title") == "Write it"


def test_what_is_newer_stays(fleet: Fleet, a: Home, agent: EntityId) -> None:
    fleet.now_ms += 3 * DAY_MS
    assert empty(a, 7 * DAY_MS) == 0
    assert "(dropped)" not in texts(a, agent)
