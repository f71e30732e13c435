"""What becomes of an agent: paused, resumed, moved, given up, destroyed; each a commit with its reason.

Never runs an agent, and never takes back that one was destroyed.
"""

from daemon.agents.confirming import decision_write
from daemon.agents.records import (
    ACTIVE,
    DESTROYED,
    DORMANT,
    MODES,
    PAUSED,
    Agent,
    failures_told,
    load,
    state_id,
)
from daemon.journal.errors import Code, Refused, usage
from store import runs, timers
from store.item import Item
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from store.verdicts import Status, Verdict
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import DeviceId, EntityId

DESTROYED_IS_FINAL = "the agent was destroyed, which is final"
VIA = "agent"
RETRACTED_PER_COMMIT = 300


def checked_mode(asked: str) -> str:
    """Return the mode that is meant. Raises Refused."""
    mode = asked.strip().lower()
    if mode not in MODES:
        raise usage(f"no mode is called {asked[:80]!r}", f"one of {', '.join(MODES)}")
    return mode


def living(snapshot: Snapshot, agent: EntityId) -> Agent:
    """Return an agent that may still be changed. Raises Refused for one that was destroyed."""
    known = load(snapshot, agent)
    assert known is not None
    if known.lifecycle == DESTROYED:
        raise Refused(Code.CONFLICT, DESTROYED_IS_FINAL)
    return known


def pause(tx: Transaction, agent: EntityId) -> None:
    """Let an agent sleep until it is resumed; one that sleeps already stays as it is."""
    known = living(tx, agent)
    if known.lifecycle != DORMANT:
        _write(tx, agent, {"lifecycle": DORMANT, "lifecycle_reason": PAUSED})


def resume(tx: Transaction, agent: EntityId) -> None:
    """Wake a dormant agent up; its failures so far are forgotten.

    Raises Refused where it sleeps because its task was removed: restoring that is what wakes it.
    """
    known = living(tx, agent)
    task = tx.entity(known.task)
    if task is None or not task.visible:
        raise Refused(Code.CONFLICT, "its task was removed", "restore the task first")
    if known.lifecycle != DORMANT:
        return
    writes = [Write(agent, "agent", {"lifecycle": ACTIVE, "lifecycle_reason": None})]
    if failures_told(tx, agent):
        writes.append(Write(state_id(agent), "agent_state", {"agent_id": agent, "consecutive_failures": 0}))
    tx.commit(writes)


def give_up(tx: Transaction, known: Agent, failures: int, error: str) -> None:
    """Let an agent sleep that failed too often in a row, and say so to the person on every device."""
    if known.lifecycle in (DORMANT, DESTROYED) or known.home != tx.device:
        return
    reason = f"it failed {failures} times in a row: {error}"
    fields: dict[str, Value] = {"agent_id": known.id, "consecutive_failures": failures}
    writes = [
        Write(known.id, "agent", {"lifecycle": DORMANT, "lifecycle_reason": reason}),
        Write(state_id(known.id), "agent_state", fields),
    ]
    tx.commit(writes, by=By.SYSTEM)


def move(tx: Transaction, agent: EntityId, device: DeviceId) -> None:
    """Give an agent another home; a run that is under way where it was writes nothing any more."""
    if living(tx, agent).home != device:
        _write(tx, agent, {"home_device_id": device})


def edit(tx: Transaction, agent: EntityId, *, mode: str | None, model: str | None) -> None:
    """Change what wakes an agent, and the model that it asks; what is so already is not written."""
    known = living(tx, agent)
    fields: dict[str, Value] = {}
    if mode is not None and checked_mode(mode) != known.mode:
        fields["mode"] = checked_mode(mode)
    if model is not None and model != known.model:
        fields["model"] = model
    if fields:
        _write(tx, agent, fields)


def destroy(tx: Transaction, agent: EntityId) -> None:
    """End an agent for good: what it proposed and nobody decided is taken back in the same commit."""
    known = load(tx, agent)
    assert known is not None
    timers.clear(tx, agent)
    runs.take_back(tx, agent, "it was destroyed")
    if known.lifecycle == DESTROYED:
        return
    retracted = [_retraction(tx, item) for item in leftovers(tx, known, tx.now_ms())]
    ended = Write(agent, "agent", {"lifecycle": DESTROYED, "lifecycle_reason": None})
    tx.commit([ended, *retracted[:RETRACTED_PER_COMMIT]])
    # Beyond what a commit holds, further ones of the same transaction.
    for first in range(RETRACTED_PER_COMMIT, len(retracted), RETRACTED_PER_COMMIT):
        tx.commit(retracted[first : first + RETRACTED_PER_COMMIT])


def retract_leftovers(tx: Transaction, agent: EntityId) -> None:
    """Take back what a destroyed agent proposed elsewhere before that was known there."""
    known = load(tx, agent)
    if known is None or known.lifecycle != DESTROYED:
        return
    found = leftovers(tx, known, tx.now_ms())[:RETRACTED_PER_COMMIT]
    if found:
        tx.commit([_retraction(tx, item) for item in found], by=By.AGENT, agent=agent)


def leftovers(snapshot: Snapshot, agent: Agent, now_ms: int) -> list[Item]:
    """Return what an agent proposed and nobody has decided: deferred ones are the person's own to keep."""
    found = snapshot.open_items(now_ms, agent.task)
    return [
        item
        for item in found
        if item.status is Status.PENDING and any(one.agent == agent.id for one in item.occurrences)
    ]


def _retraction(tx: Transaction, item: Item) -> Write:
    """Take an item back; one that a person reopened only in that person's name: theirs alone count there."""
    write = decision_write(tx, item, Verdict.RETRACTED, reason=None, via=VIA)
    touched = any(one.by is By.USER for one in item.decisions)
    return Write(write.entity, write.kind, write.fields, by=By.USER if touched else By.AGENT)


def _write(tx: Transaction, agent: EntityId, fields: dict[str, Value]) -> None:
    tx.commit([Write(agent, "agent", fields)])
