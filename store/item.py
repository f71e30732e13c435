"""Change items as readers see them: what was proposed, by which runs, and every decision on it.

Never writes.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from store.log import Log
from store.verdicts import Opinion, Standing, Status, Verdict
from syncproto.commit import By, Operation, Received, is_clock
from syncproto.heads import EMPTY, Clock, Head
from syncproto.ids import ID_BYTES, DeviceId, EntityId
from syncproto.keys import device_id


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One proposal of the item, in one run's change set. `value` is the value that the agent saw."""

    change_set: EntityId
    position: int
    task: EntityId
    agent: EntityId
    run_key: str
    tool: str
    args: dict[str, Any]
    base: Clock
    value: Any
    rationale: str
    created_ms: int
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision on the item."""

    id: EntityId
    verdict: Verdict
    by: By
    device: DeviceId
    stamp_ms: int
    n: int
    seen: frozenset[EntityId]
    reason: str
    edited_args: dict[str, Any] | None
    via: str
    head: Head

    @property
    def opinion(self) -> Opinion:
        """Return what the fold of verdicts needs of it."""
        return Opinion(self.id, self.verdict, self.by, self.seen)


@dataclass(frozen=True, slots=True)
class Item:
    """A change item: what it proposes, its occurrences in feed order, its decisions in feed order."""

    id: EntityId
    fingerprint: bytes
    standing: Standing
    occurrences: tuple[Occurrence, ...]
    decisions: tuple[Decision, ...]

    @property
    def status(self) -> Status:
        """Return the folded status."""
        return self.standing.status

    @property
    def disputed(self) -> bool:
        """Say whether a confirmation meets a rejection, neither having seen the other."""
        return self.standing.disputed

    @property
    def tool(self) -> str:
        """Return the tool that the item calls."""
        return self.occurrences[0].tool

    @property
    def args(self) -> dict[str, Any]:
        """Return the tool's arguments, as first proposed."""
        return self.occurrences[0].args

    @property
    def task(self) -> EntityId:
        """Return the task that the item is about."""
        return self.occurrences[0].task

    @property
    def expires_ms(self) -> int:
        """Return when the last proposal of the item expires, Unix time in milliseconds."""
        return max(occurrence.expires_ms for occurrence in self.occurrences)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _id(value: object) -> EntityId:
    return EntityId(value if isinstance(value, bytes) and len(value) == ID_BYTES else bytes(ID_BYTES))


def clock_from_value(value: object) -> Clock:
    """Read a clock kept as a field's value (a list of [replica, counter, hash8]); empty where malformed."""
    try:
        clock = msgspec.convert(value, Clock, builtin_types=(bytes,))
    except msgspec.ValidationError:
        return EMPTY
    return clock if is_clock(clock) else EMPTY


def clock_as_value(clock: Clock) -> list[Any]:
    """Write a clock as a field's value."""
    return [[head.replica, head.counter, head.hash8] for head in clock]


def occurrence(operation: Operation, position: int, stamp_ms: int) -> Occurrence:
    """Read one item of a change set from its operation."""
    fields = operation.fields
    items = fields["items"]
    item = _map(items[position] if isinstance(items, list) else None)
    base = _map(item.get("base"))
    return Occurrence(
        change_set=operation.entity,
        position=position,
        task=_id(fields.get("task_id")),
        agent=_id(fields.get("agent_id")),
        run_key=_text(fields.get("run_key")),
        tool=_text(item.get("tool")),
        args=_map(item.get("args")),
        base=clock_from_value(base.get("clock")),
        value=base.get("value"),
        rationale=_text(item.get("rationale")),
        created_ms=stamp_ms,
        expires_ms=_number(fields.get("expires_at")),
    )


def decision(received: Received, opinion: Opinion, log: Log) -> Decision:
    """Read a decision in full from the commit that it is in."""
    operation = next(one for one in received.commit.operations if one.entity == opinion.decision)
    fields = operation.fields
    edited = fields.get("edited_args")
    return Decision(
        id=opinion.decision,
        verdict=opinion.verdict,
        by=opinion.by,
        device=device_id(log.key(received.commit.replica)),
        stamp_ms=received.commit.stamp.ms,
        n=received.commit.stamp.n,
        seen=opinion.seen,
        reason=_text(fields.get("reason")),
        edited_args=edited if isinstance(edited, dict) else None,
        via=_text(fields.get("via")),
        head=received.head,
    )
