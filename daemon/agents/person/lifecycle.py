"""The life of an agent: created, paused, resumed, moved, edited, destroyed; each in one commit.

Never runs an agent, and never reverses the end of one that was destroyed.
"""

from daemon.agents.deciding import orphans
from daemon.agents.tools.agent_record import (
    ACTIVE,
    AUTONOMOUS,
    DESTROYED,
    DORMANT,
    MODES,
    PAUSED_REASON,
    TASK_AGENT,
    Agent,
    AnyAgent,
    agent_id,
    is_paused,
    load_agent,
    load_any_agent,
    replicated_failures,
    state_id,
    task_removed_sentence,
)
from daemon.agents.tools.policy import CATEGORIES_FIELD
from daemon.journal.references import entities
from daemon.journal.references.names import category_id_of
from daemon.refusal import RefusalCode, Refused, usage_error
from store.local import run_log, timers
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import DeviceId, EntityId, id_to_text


def _destroyed_sentence() -> Sentence:
    return sentence("agent-destroyed-for-good", "the agent was destroyed, which is final")


def create_agent(
    tx: Transaction,
    task_ref: str,
    model: str,
    mode: str | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
) -> EntityId:
    """Give the task that `task_ref` names an agent, at home on this device; an existing one is kept.

    `name` and `description` are the agent's own, as a person words them. The agent may work on tasks of the
    category that this task has now. Raises Refused if the reference names no task, and as a conflict if the
    task's agent was destroyed or has another mode than the requested one.
    """
    task = entities.find_task(tx, task_ref)
    identifier = agent_id(task.id)
    agent = load_agent(tx, identifier)
    if agent is not None:
        if agent.lifecycle == DESTROYED:
            raise Refused(
                RefusalCode.CONFLICT,
                sentence("agent-of-task-destroyed", "the agent of this task was destroyed, which is final"),
            )
        if mode is not None and mode != agent.mode:
            raise Refused(
                RefusalCode.CONFLICT,
                sentence("task-has-agent", "the task has an agent already, which is {mode}", mode=agent.mode),
                sentence("use-agent-edit", "change it: `agent edit`"),
            )
        return identifier
    fields: dict[str, Value] = {
        "kind": TASK_AGENT,
        "display_name": task.text("title")[:80],
        "mode": mode or AUTONOMOUS,
        "lifecycle": ACTIVE,
        "task_id": task.id,
        "home_device_id": tx.device,
        "model": model,
    }
    category = category_id_of(task)
    if category is not None:
        fields[f"{CATEGORIES_FIELD}/{id_to_text(category)}"] = True
    fields |= {field: words for field, words in _persona(name, description).items() if words}
    tx.commit([EntityWrite(identifier, "agent", fields)])
    return identifier


def parse_mode(text: str) -> str:
    """Return the mode that is meant. Raises Refused for a word that is no mode."""
    mode = text.strip().lower()
    if mode not in MODES:
        raise usage_error(
            sentence("mode-unknown", "no mode is called {name!r}", name=text[:80]),
            sentence("one-of", "one of {choices}", choices=", ".join(MODES)),
        )
    return mode


def require_not_destroyed(snapshot: Snapshot, agent: EntityId) -> AnyAgent:
    """Return an agent that may still be changed. Raises Refused if it was destroyed."""
    known_agent = load_any_agent(snapshot, agent)
    assert known_agent is not None
    if known_agent.lifecycle == DESTROYED:
        raise Refused(RefusalCode.CONFLICT, _destroyed_sentence())
    return known_agent


def _require_of_task(snapshot: Snapshot, agent: EntityId) -> Agent:
    """Return a task's own agent that may still be changed. Raises Refused for one of another maker."""
    known_agent = require_not_destroyed(snapshot, agent)
    if not isinstance(known_agent, Agent):
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("agent-of-other-maker", "this agent is a program of its own: Placet does not run it"),
        )
    return known_agent


def pause_agent(tx: Transaction, agent: EntityId, until_ms: int | None = None) -> None:
    """Make an agent dormant until a person resumes it, or until a time, Unix time in milliseconds.

    One that is dormant because it failed stays as it is. A pause takes the end that was given last.
    """
    known_agent = require_not_destroyed(tx, agent)
    dormant = known_agent.lifecycle == DORMANT
    if dormant and (not is_paused(known_agent) or known_agent.paused_until_ms == until_ms):
        return
    fields: dict[str, Value] = {"lifecycle": DORMANT, "lifecycle_reason": PAUSED_REASON}
    if until_ms is not None or known_agent.paused_until_ms is not None:
        fields["paused_until"] = until_ms
    _write(tx, agent, fields)


def resume_agent(tx: Transaction, agent: EntityId) -> None:
    """Make a dormant agent active; its failures so far are forgotten.

    Raises Refused if the agent is dormant because its task was removed: restoring the task wakes it.
    """
    known_agent = require_not_destroyed(tx, agent)
    task = tx.entity(known_agent.task) if isinstance(known_agent, Agent) else None
    if isinstance(known_agent, Agent) and (task is None or not task.visible):
        raise Refused(
            RefusalCode.CONFLICT,
            task_removed_sentence(),
            sentence("restore-task-first", "restore the task first"),
        )
    if known_agent.lifecycle != DORMANT:
        return
    fields: dict[str, Value] = {"lifecycle": ACTIVE, "lifecycle_reason": None}
    if known_agent.paused_until_ms is not None:
        fields["paused_until"] = None
    writes = [EntityWrite(agent, "agent", fields)]
    if replicated_failures(tx, agent):
        writes.append(
            EntityWrite(state_id(agent), "agent_state", {"agent_id": agent, "consecutive_failures": 0})
        )
    tx.commit(writes)


def move_agent(tx: Transaction, agent: EntityId, device: DeviceId) -> None:
    """Give an agent another home. A run that is under way on the old home writes nothing more there."""
    if _require_of_task(tx, agent).home != device:
        _write(tx, agent, {"home_device_id": device})


def edit_agent(
    tx: Transaction,
    agent: EntityId,
    *,
    mode: str | None = None,
    model: str | None = None,
    name: str | None = None,
    description: str | None = None,
) -> None:
    """Change what wakes an agent, the model that it uses, its name or its description.

    Unchanged values are not written. An empty name or description takes it away.
    """
    known_agent = _require_of_task(tx, agent)
    fields: dict[str, Value] = {}
    if mode is not None and parse_mode(mode) != known_agent.mode:
        fields["mode"] = parse_mode(mode)
    if model is not None and model != known_agent.model:
        fields["model"] = model
    before = {"name": known_agent.name, "description": known_agent.description}
    persona = _persona(name, description)
    fields |= {field: words or None for field, words in persona.items() if words != before[field]}
    if fields:
        _write(tx, agent, fields)


def _persona(name: str | None, description: str | None) -> dict[str, str]:
    """Return what was given of a name, on one line, and a description."""
    persona = {} if name is None else {"name": " ".join(name.split())}
    return persona if description is None else persona | {"description": description.strip()}


def destroy_agent(tx: Transaction, agent: EntityId) -> None:
    """End an agent for good. Its undecided items are retracted in the same commit."""
    known_agent = load_any_agent(tx, agent)
    assert known_agent is not None
    timers.clear_timers(tx, agent)
    run_log.cancel_timer_runs(tx, agent, "it was destroyed")
    if known_agent.lifecycle == DESTROYED:
        return
    retracted = [
        orphans.orphan_retraction_write(tx, item)
        for item in orphans.undecided_items_of(tx, known_agent, tx.now_ms())
    ]
    end = EntityWrite(agent, "agent", {"lifecycle": DESTROYED, "lifecycle_reason": None})
    tx.commit([end, *retracted[: orphans.RETRACTED_PER_COMMIT]])
    # What does not fit into one commit goes into further commits of the same transaction.
    for first in range(orphans.RETRACTED_PER_COMMIT, len(retracted), orphans.RETRACTED_PER_COMMIT):
        tx.commit(retracted[first : first + orphans.RETRACTED_PER_COMMIT])


def _write(tx: Transaction, agent: EntityId, fields: dict[str, Value]) -> None:
    tx.commit([EntityWrite(agent, "agent", fields)])
