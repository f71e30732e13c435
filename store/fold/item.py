"""Change items as readers see them: what was proposed, by which runs, and every decision.

Never writes.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from store.fold.item_name import Requirement
from store.fold.verdicts import DecisionStatus, ItemStatus, Opinion, Verdict
from store.log.commit_log import CommitLog
from syncproto.commit import AuthorKind, DecodedCommit, Operation, is_valid_clock
from syncproto.hlc import Stamp
from syncproto.ids import ID_BYTES, DeviceId, EntityId
from syncproto.keys import device_id_of_key
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One proposal of the item, in the change set of one run. `value` is the value that the agent saw.

    `signer` is the device whose key signed it.
    """

    change_set: EntityId
    position: int
    task: EntityId
    agent: EntityId
    run_key: str
    tool: str
    args: dict[str, Any]
    base: VectorClock
    value: Any
    rationale: str
    created_ms: int
    expires_ms: int
    signer: DeviceId


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision on the item; `counts` says whether it is what the item needs.

    `companion_of` is the decision on another answer of the same question that this one came with, if any.
    `args_hash` is that of the arguments that the person saw, empty if it is unknown. `option` is what was
    chosen of an ask's options. `rule` is the standing rule by which the daemon decided, if it did.
    `is_imported`: the device took it from a file.
    """

    id: EntityId
    verdict: Verdict
    by: AuthorKind
    device: DeviceId
    stamp_ms: int
    n: int
    seen: frozenset[EntityId]
    reason: str
    edited_args: dict[str, Any] | None
    via: str
    head: Head
    companion_of: EntityId | None = None
    counts: bool = True
    args_hash: bytes = b""
    option: str = ""
    rule: EntityId | None = None
    is_imported: bool = False

    @property
    def opinion(self) -> Opinion:
        """Return the part of it that the fold of verdicts needs."""
        return Opinion(self.id, self.verdict, self.by, self.seen, self.counts)


@dataclass(frozen=True, slots=True)
class Item:
    """A change item: what it proposes, its occurrences in feed order, its decisions in feed order.

    `all_decisions` has those too that do not count. `requirement` is what a verdict needs in order to count.
    """

    id: EntityId
    fingerprint: bytes
    item_status: ItemStatus
    occurrences: tuple[Occurrence, ...]
    all_decisions: tuple[Decision, ...]
    requirement: Requirement | None = None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Return the decisions that count, in feed order."""
        return tuple(decision for decision in self.all_decisions if decision.counts)

    @property
    def status(self) -> DecisionStatus:
        """Return the folded status."""
        return self.item_status.status

    @property
    def disputed(self) -> bool:
        """Return whether a confirmation and a rejection were made without either seeing the other."""
        return self.item_status.disputed

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
    # For Python a boolean is an integer; in the protocol it is none (PROTOCOL.md §3).
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _id(value: object) -> EntityId:
    return EntityId(value if isinstance(value, bytes) and len(value) == ID_BYTES else bytes(ID_BYTES))


def _id_or_none(value: object) -> EntityId | None:
    return EntityId(value) if isinstance(value, bytes) and len(value) == ID_BYTES else None


def clock_from_value(value: object) -> VectorClock:
    """Return the clock in the value of a field (a list of [replica, counter, hash]); empty if malformed."""
    try:
        clock = msgspec.convert(value, VectorClock, builtin_types=(bytes,))
    except msgspec.ValidationError:
        return EMPTY_CLOCK
    # Any number of heads: only the base of an operation is limited, the clock of an entity is not.
    return clock if is_valid_clock(clock, len(clock)) else EMPTY_CLOCK


def clock_as_value(clock: VectorClock) -> list[Any]:
    """Return a clock as the value of a field."""
    return [[head.replica, head.counter, head.hash] for head in clock]


def read_occurrence(operation: Operation, position: int, stamp_ms: int, signer: DeviceId) -> Occurrence:
    """Return one item of a change set from its operation; malformed parts become empty values."""
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
        signer=signer,
    )


def read_decision(received: DecodedCommit, opinion: Opinion, log: CommitLog) -> Decision:
    """Return a decision in full, from the commit that contains it."""
    operation = next(
        candidate for candidate in received.commit.operations if candidate.entity == opinion.decision
    )
    device = device_id_of_key(log.owner_key(received.commit.replica))
    return decision_in(operation, opinion, received.head, received.commit.stamp, device)


def decision_in(
    operation: Operation, opinion: Opinion, head: Head, stamp: Stamp, device: DeviceId
) -> Decision:
    """Return a decision in full, from its operation; `opinion` says whether it counts."""
    fields = operation.fields
    edited, args_hash = fields.get("edited_args"), fields.get("args_hash")
    return Decision(
        id=opinion.decision,
        verdict=opinion.verdict,
        by=opinion.by,
        device=device,
        stamp_ms=stamp.ms,
        n=stamp.n,
        seen=opinion.seen,
        reason=_text(fields.get("reason")),
        edited_args=edited if isinstance(edited, dict) else None,
        via=_text(fields.get("via")),
        head=head,
        companion_of=_id_or_none(fields.get("companion_of")),
        counts=opinion.counts,
        args_hash=args_hash if isinstance(args_hash, bytes) else b"",
        option=_text(fields.get("option")),
        rule=_id_or_none(fields.get("rule")) if opinion.by is AuthorKind.SYSTEM else None,
        is_imported=operation.origin is not None,
    )
