"""One run of an agent at a time, with a model that follows a script: without scheduler and run log.

Never decides what a model says: that is the script of each test.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from daemon.agents import agents
from daemon.agents.context import Gathered, gather
from daemon.agents.ending import Ended
from daemon.agents.models.interface import RunContext, ToolCall, Turn, Usage
from daemon.agents.proposals import Limits
from daemon.agents.records import load
from daemon.agents.run import run
from daemon.agents.wakes import triggers
from store.entity import Entity
from store.threads import StoreThreads
from syncproto.ids import EntityId, text
from tests.daemon.agents.fleet import Home

Step = Turn | Exception | Callable[[RunContext], Turn]


@dataclass
class Script:
    """A model that takes these turns, then has nothing more to call. `seen` is what it was told."""

    steps: list[Step]
    name: str = "scripted"
    seen: list[RunContext] = field(default_factory=list)

    async def turn(self, context: RunContext) -> Turn:
        self.seen.append(context)
        step = self.steps.pop(0) if self.steps else Turn(())
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Turn) else step(context)


def says(*calls: tuple[str, Any], words: str = "", usage: Usage | None = None) -> Turn:
    made = tuple(ToolCall(name, arguments) for name, arguments in calls)
    return Turn(made, words, usage or Usage())


def reports(tldr: str = "Half done.", **more: Any) -> tuple[str, Any]:
    return ("update_report", {"title": "Write the report", "tldr": tldr, **more})


def new_agent(home: Home, task: EntityId) -> EntityId:
    return home.write(lambda tx: agents.create(tx, text(task), "rules"))


def gathered(home: Home, agent: EntityId, key: str = "run") -> Gathered:
    def use(snapshot: Any) -> Gathered:
        known = load(snapshot, agent)
        assert known is not None
        changed = triggers(snapshot, known)
        return gather(
            snapshot,
            known,
            changed,
            run_key=key,
            reason="one change",
            now_ms=home.now_ms(),
            zone=UTC,
            limits=Limits(),
        )

    return home.read(use)


async def ran(home: Home, agent: EntityId, *steps: Step, key: str = "run", timeout_s: float = 20) -> Ended:
    """Run an agent once."""
    model = Script(list(steps))
    return await run(
        StoreThreads(home.store),
        model,
        gathered(home, agent, key),
        limits=Limits(),
        timeout_s=timeout_s,
        now_ms=home.now_ms(),
    )


def all_of(home: Home, kind: str) -> list[Entity]:
    return home.read(lambda snapshot: snapshot.entities(kind))


def messages_of(home: Home, agent: EntityId) -> list[Entity]:
    """Return an agent's messages, oldest first."""

    def use(snapshot: Any) -> list[Entity]:
        names = snapshot.newest_referring(agent, "agent_message", 1000)
        return [snapshot.entity(one) for one in reversed(names)]

    return home.read(use)
