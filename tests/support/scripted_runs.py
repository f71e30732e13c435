"""One run of an agent at a time, with a model that follows a script: without scheduler and run log.

Never decides what a model answers: that is the script of each test.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from daemon.agents.context.run_inputs import RunInputs, gather_inputs
from daemon.agents.context.triggers import unseen_triggers
from daemon.agents.person import lifecycle
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.running.conversation import run_agent
from daemon.agents.running.observation_summary import with_observations_summary
from daemon.agents.running.run_end import RunReceipt
from daemon.agents.running.run_language import with_writing_language
from daemon.agents.tools.agent_record import load_agent
from daemon.agents.tools.model_interface import Model, ModelTurn, RunContext, TokenUsage, ToolCall
from store.fold.entity import Entity
from syncproto.ids import EntityId, id_to_text
from tests.support.fleet import Home
from tests.support.patience import LIMIT_S

Step = ModelTurn | Exception | Callable[[RunContext], ModelTurn]


@dataclass
class Script:
    """A model that takes these turns, then has nothing more to call. `seen` are the contexts that it got."""

    steps: list[Step]
    name: str = "scripted"
    seen: list[RunContext] = field(default_factory=list)

    async def turn(self, context: RunContext) -> ModelTurn:
        self.seen.append(context)
        step = self.steps.pop(0) if self.steps else ModelTurn(())
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, ModelTurn) else step(context)


def says(*calls: tuple[str, Any], words: str = "", usage: TokenUsage | None = None) -> ModelTurn:
    new_calls = tuple(ToolCall(name, arguments) for name, arguments in calls)
    return ModelTurn(new_calls, words, usage or TokenUsage())


def reports(tldr: str = "Half done.", **more: Any) -> tuple[str, Any]:
    return ("update_report", {"title": "Write the report", "tldr": tldr, **more})


def new_agent(home: Home, task: EntityId) -> EntityId:
    return home.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


def gathered_inputs(home: Home, agent: EntityId, key: str = "run") -> RunInputs:
    def use(snapshot: Any) -> RunInputs:
        known_agent = load_agent(snapshot, agent)
        assert known_agent is not None
        changed = unseen_triggers(snapshot, known_agent)
        inputs = gather_inputs(
            snapshot,
            known_agent,
            changed,
            run_key=key,
            reason="one change",
            now_ms=home.now_ms(),
            zone=UTC,
            limits=ProposalLimits(),
        )
        return with_observations_summary(with_writing_language(inputs))

    return home.read(use)


async def ran(
    home: Home, agent: EntityId, *steps: Step, key: str = "run", timeout_s: float = LIMIT_S
) -> RunReceipt:
    """Run an agent once."""
    return await run_script(home, agent, Script(list(steps)), key=key, timeout_s=timeout_s)


async def run_script(
    home: Home, agent: EntityId, model: Model, *, key: str = "run", timeout_s: float = LIMIT_S
) -> RunReceipt:
    """Run an agent once with a model that the test looks at afterwards."""
    return await run_agent(
        home.threads(),
        model,
        gathered_inputs(home, agent, key),
        limits=ProposalLimits(),
        timeout_s=timeout_s,
        now_ms=home.now_ms(),
    )


def all_of(home: Home, kind: str) -> list[Entity]:
    return home.read(lambda snapshot: snapshot.entities(kind))


def messages_of(home: Home, agent: EntityId) -> list[Entity]:
    """Return an agent's messages, oldest first."""

    def use(snapshot: Any) -> list[Entity]:
        names = snapshot.newest_ids_pointing_at(agent, "agent_message", 1000)
        return [snapshot.entity(name) for name in reversed(names)]

    return home.read(use)
