"""The proposals of one run that wait for its end, and the change sets that they become.

Never executes what does not fit: it is refused with the limit named.
"""

from collections.abc import Container
from dataclasses import dataclass

from daemon.agents.effects import change_set_id, effect_of, fingerprint_of, item_id
from daemon.agents.seeing import Seen
from daemon.agents.tools import TOOLS, Arguments, Writes
from daemon.journal import positions
from daemon.journal.values import folded
from store.item import Item, clock_as_value
from store.snapshot import Snapshot
from store.transaction import Write
from store.verdicts import Status
from syncproto import codec
from syncproto.codec import Value
from syncproto.heads import EMPTY, Clock
from syncproto.ids import EntityId

SETS_MAX = 3
BYTES_MAX = 200 * 1024
"""How long the proposals of a run are together: the commit of its end holds them all, and more."""
CHAIN_MAX = 200
"""How often the same is proposed for a task: each is found by way of all that went before it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many items a set holds, how long they stay open, how long a reason against a person's tick is."""

    per_set: int = 10
    lifetime_ms: int = 7 * 86_400_000
    reason_min: int = 20


@dataclass(frozen=True, slots=True)
class Run:
    """Whose proposals these are."""

    agent: EntityId
    task: EntityId
    run_key: str
    now_ms: int


@dataclass(frozen=True, slots=True)
class Queued:
    """One proposal that waits for the end of the run."""

    item_id: EntityId
    fingerprint: bytes
    tool: str
    args: Arguments
    base: Clock
    seen: dict[str, Value]
    rationale: str | None


class Full(Exception):
    """More is proposed than a person can be asked to read; the message names the limit."""


class Queue:
    """Collects what a run proposes, each thing once."""

    def __init__(self, run: Run, seen: Seen, limits: Limits) -> None:
        self._run = run
        self._seen = seen
        self._limits = limits
        self._queued: list[Queued] = []
        self._last_place = seen.last_place
        self._bytes = 0

    def count(self, writes: Writes) -> int:
        """Return how many proposals wait that write this."""
        return sum(TOOLS[one.tool].writes is writes for one in self._queued)

    def add(
        self,
        snapshot: Snapshot,
        tool: str,
        args: Arguments,
        rationale: str | None,
        *,
        taken_back: Container[EntityId] = (),
    ) -> EntityId | str:
        """Queue a proposal and return its item, or why it is not made again (DOMAIN.md §3, 4 and 5).

        `taken_back` are the items that the run takes back at its end. Raises Full.
        """
        fingerprint = fingerprint_of(self._run.task, tool, args)
        if any(queued.fingerprint == fingerprint or _is_twin(queued, tool, args) for queued in self._queued):
            return "is already proposed in this run"
        identifier, before = self._next_item(fingerprint, snapshot)
        # Not only the last of them: verdicts on an earlier one may have been taken back since.
        for item in reversed(before):
            repeated = _repeated(item, self._run.now_ms)
            if repeated is not None:
                is_going = item.id in taken_back
                return "is taken back in this run: propose it at a later wake" if is_going else repeated
        if len(self._queued) >= SETS_MAX * self._limits.per_set:
            raise Full(self.limit())
        proposal = self._proposal(identifier, fingerprint, tool, args, rationale)
        weight = len(codec.encode(_as_value(proposal)))
        if self._bytes + weight > BYTES_MAX:
            raise Full(
                "the proposals of this run are too long together; nothing beyond that was queued or done"
            )
        self._bytes += weight
        self._queued.append(proposal)
        return identifier

    def limit(self) -> str:
        """Name the limit."""
        return (
            f"a run queues at most {SETS_MAX * self._limits.per_set} proposals"
            f" ({SETS_MAX} sets of {self._limits.per_set}); nothing beyond that was queued or done"
        )

    def _next_item(self, fingerprint: bytes, snapshot: Snapshot) -> tuple[EntityId, list[Item]]:
        """Follow the chain of items that propose the same to its end: the next id, and the items.

        Raises Full for one that is too long.
        """
        before: list[Item] = []
        for _ in range(CHAIN_MAX):
            identifier = item_id(fingerprint, before[-1].id if before else None, self._run.task)
            found = snapshot.item(identifier)
            if found is None:
                return identifier, before
            before.append(found)
        raise Full(f"this was proposed {CHAIN_MAX} times already, and decided or taken back each time")

    def _proposal(
        self, identifier: EntityId, fingerprint: bytes, tool: str, args: Arguments, rationale: str | None
    ) -> Queued:
        effect = effect_of(tool, args, identifier, self._run.task)
        if effect.creates:
            # The place is chosen once, here: two devices that confirm while apart then write the same.
            self._last_place = positions.between(self._last_place, None)
            seen: dict[str, Value] = {"position": self._last_place}
            return Queued(identifier, fingerprint, tool, args, EMPTY, seen, rationale)
        seen = {field: self._seen.value(effect.entity, field) for field in effect.fields}
        return Queued(identifier, fingerprint, tool, args, self._seen.clock(effect.entity), seen, rationale)

    # -- the end of the run ---------------------------------------------------------------------------

    def change_sets(self, stamp_ms: int = 0) -> list[Write]:
        """Return the writes of the run's change sets, none where nothing was queued.

        `stamp_ms` is when their commit says that it was made. They wait from then on where the clock was set
        back meanwhile: once that is right again, they would have expired unseen, and not be proposed again.
        """
        size = self._limits.per_set
        parts = [self._queued[at : at + size] for at in range(0, len(self._queued), size)]
        ends_ms = max(self._run.now_ms, stamp_ms) + self._limits.lifetime_ms
        return [self._change_set(number, part, ends_ms) for number, part in enumerate(parts)]

    def _change_set(self, number: int, part: list[Queued], ends_ms: int) -> Write:
        run = self._run
        fields: dict[str, Value] = {
            "agent_id": run.agent,
            "task_id": run.task,
            "thread_id": run.run_key,
            "run_key": run.run_key,
            "items": [_as_value(queued) for queued in part],
            "expires_at": ends_ms,
        }
        return Write(change_set_id(run.run_key, number, run.task), "change_set", fields)


def _is_twin(queued: Queued, tool: str, args: Arguments) -> bool:
    """Say whether two proposals would make items whose titles are the same to people."""
    made = [one for one in (queued.tool, tool) if TOOLS[one].writes is Writes.NEW_ITEM]
    return len(made) == 2 and folded(queued.args["title"]) == folded(args["title"])


def _repeated(item: Item, now_ms: int) -> str | None:
    """Say why a proposal that was made before is not made again; None where it may be."""
    if item.status is Status.REJECTED:
        reasons = [decision.reason for decision in item.decisions if decision.reason]
        why = f' (reason: "{reasons[-1][:200]}")' if reasons else ""
        return f"was rejected by the user{why}"
    if item.status is Status.DEFERRED:
        return "was deferred by the user"
    if item.status is Status.PENDING:
        if not item.decisions and item.expires_ms <= now_ms:
            return "was proposed before and expired without a decision"
        return "is already proposed and waits for the user"
    return None


def _as_value(queued: Queued) -> dict[str, Value]:
    """Return an item as its change set keeps it."""
    base: dict[str, Value] = {"clock": clock_as_value(queued.base), "value": dict(queued.seen)}
    return {
        "item_id": queued.item_id,
        "fingerprint": queued.fingerprint,
        "tool": queued.tool,
        "args": queued.args,
        "base": base,
        "rationale": queued.rationale or "",
    }
