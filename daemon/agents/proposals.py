"""From a model's calls to change items: validate, compare with what is so, with what was said before, queue.

Never executes a deferrable call, whatever the limits say: what cannot be queued is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from daemon.agents import wording
from daemon.agents.effects import change_set_id, effect_of, fingerprint_of, item_id, values_set
from daemon.agents.recovery import recovered
from daemon.agents.tools import (
    ADD_CHECKLIST_ITEM,
    TOOLS,
    UPDATE_REPORT,
    ArgumentFault,
    Arguments,
    Mode,
    Tool,
    elements,
    normalised_name,
    validated,
    without_words,
)
from daemon.journal import positions
from daemon.journal.values import folded
from store.item import Item, clock_as_value
from store.transaction import Write
from store.verdicts import Status
from syncproto.codec import Value
from syncproto.heads import EMPTY, Clock
from syncproto.ids import EntityId

SETS_MAX = 3
QUEUED = "Proposal queued for user review."
CHAIN_MAX = 1000

Lookup = Callable[[EntityId], Item | None]


@dataclass(frozen=True, slots=True)
class Limits:
    """How many items a set holds, and how long they stay open."""

    per_set: int = 10
    lifetime_ms: int = 7 * 86_400_000


@dataclass(frozen=True, slots=True)
class Seen:
    """What the agent saw of its task when the run began; None where it could not be read."""

    task: EntityId
    clock: Clock
    fields: dict[str, Value] | None
    item_titles: tuple[str, ...] | None
    last_place: str | None


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


@dataclass(slots=True)
class _Batch:
    """What became of the members of one call."""

    queued: int = 0
    skipped: list[str] = field(default_factory=list)
    malformed: int = 0
    refused: int = 0


class Desk:
    """Takes the calls of one run and answers each in words that the model can use."""

    def __init__(self, run: Run, seen: Seen, limits: Limits) -> None:
        self._run = run
        self._seen = seen
        self._limits = limits
        self._queue: list[Queued] = []
        self._last_place = seen.last_place
        self.report: Arguments | None = None

    def take(self, name: str, written: str | dict[str, Any], lookup: Lookup) -> str:
        """Take one call; `lookup` finds change items as they stand. Never raises for what a model wrote."""
        tool = TOOLS.get(normalised_name(name))
        if tool is None:
            return f"Refused: there is no tool {name.strip()[:60]!r}. Tools: {', '.join(TOOLS)}."
        try:
            args, rationale = without_words(recovered(written))
            if tool.mode is Mode.EXPLODED:
                return self._take_batch(tool, args, rationale, lookup)
            args = validated(tool.name, args)
        except ArgumentFault as fault:
            return f"Refused: {fault}"
        if tool.name == UPDATE_REPORT:
            self.report = args
            return "Report updated."
        return self._take_one(tool.name, args, rationale, lookup)

    # -- one proposal ---------------------------------------------------------------------------------

    def _take_one(self, tool: str, args: Arguments, rationale: str | None, lookup: Lookup) -> str:
        if self._is_so(tool, args):
            return f"Skipped: {wording.already_so(tool, args)}."
        # Sovereignty stands here, between redundancy and repetition, for tools that tick (DOMAIN.md §3).
        said = self._enqueue(tool, args, rationale, lookup)
        return QUEUED if said is None else said if said.startswith("Refused") else f"Skipped: {said}."

    def _take_batch(self, tool: Tool, args: Arguments, rationale: str | None, lookup: Lookup) -> str:
        """Queue the members of a batch one by one; those that are malformed are counted, the others go on."""
        assert tool.element is not None
        batch = _Batch()
        for member in elements(tool.name, args):
            own, words = without_words(member) if isinstance(member, dict) else ({}, None)
            try:
                checked = validated(tool.element, own)
            except ArgumentFault:
                batch.malformed += 1
                continue
            self._take_member(batch, tool.element, checked, words or rationale, lookup)
        return self._answer(batch)

    def _take_member(
        self, batch: _Batch, tool: str, args: Arguments, rationale: str | None, lookup: Lookup
    ) -> None:
        if self._is_so(tool, args):
            batch.skipped.append(wording.already_so(tool, args))
            return
        said = self._enqueue(tool, args, rationale, lookup)
        if said is None:
            batch.queued += 1
        elif said.startswith("Refused"):
            batch.refused += 1
        else:
            batch.skipped.append(said)

    def _answer(self, batch: _Batch) -> str:
        lines = []
        if batch.queued:
            lines.append(f"Proposal queued for user review ({batch.queued} item(s) queued).")
        if batch.skipped:
            lines.append(f"Skipped {len(batch.skipped)} redundant update(s): {'; '.join(batch.skipped)}.")
        if batch.malformed:
            lines.append(f"{batch.malformed} malformed item(s) skipped.")
        if batch.refused:
            lines.append(f"{batch.refused} item(s) refused: {self._limit()}.")
        return "\n".join(lines)

    # -- redundancy, repetition, queue ----------------------------------------------------------------

    def _is_so(self, tool: str, args: Arguments) -> bool:
        """Say whether a proposal is already so; what cannot be read is not."""
        if tool == ADD_CHECKLIST_ITEM:
            titles = self._seen.item_titles
            return titles is not None and folded(str(args["title"])) in {folded(one) for one in titles}
        fields = self._seen.fields
        wanted = values_set(tool, args)
        return fields is not None and all(fields.get(name) == value for name, value in wanted.items())

    def _enqueue(self, tool: str, args: Arguments, rationale: str | None, lookup: Lookup) -> str | None:
        """Queue a proposal; return why not, if not."""
        fingerprint = fingerprint_of(self._run.task, tool, None, args)
        if any(queued.fingerprint == fingerprint for queued in self._queue):
            return f"{wording.subject(tool, args)} is already proposed in this run"
        identifier, last = self._next_item(fingerprint, lookup)
        repeated = None if last is None else self._repeated(last)
        if repeated is not None:
            return f"{wording.subject(tool, args)} {repeated}"
        if len(self._queue) >= SETS_MAX * self._limits.per_set:
            return f"Refused: {self._limit()}."
        self._queue.append(self._queued(identifier, fingerprint, tool, args, rationale))
        return None

    def _limit(self) -> str:
        return (
            f"a run queues at most {SETS_MAX * self._limits.per_set} proposals"
            f" ({SETS_MAX} sets of {self._limits.per_set}); nothing beyond that was queued or done"
        )

    def _next_item(self, fingerprint: bytes, lookup: Lookup) -> tuple[EntityId, Item | None]:
        """Follow the chain of items that propose the same to its end: the next id, and the last item."""
        last: Item | None = None
        for _ in range(CHAIN_MAX):
            identifier = item_id(fingerprint, None if last is None else last.id, self._run.task)
            found = lookup(identifier)
            if found is None:
                return identifier, last
            last = found
        raise AssertionError("a chain of proposals without end")

    def _repeated(self, item: Item) -> str | None:
        """Say why a proposal that was made before is not made again; None where it may be."""
        if item.status is Status.REJECTED:
            reasons = [decision.reason for decision in item.decisions if decision.reason]
            why = f' (reason: "{reasons[-1][:200]}")' if reasons else ""
            return f"was rejected by the user{why}"
        if item.status is Status.DEFERRED:
            return "was deferred by the user"
        if item.status is Status.PENDING:
            if not item.decisions and item.expires_ms <= self._run.now_ms:
                return "was proposed before and expired without a decision"
            return "is already proposed and waits for the user"
        return None

    def _queued(
        self, identifier: EntityId, fingerprint: bytes, tool: str, args: Arguments, rationale: str | None
    ) -> Queued:
        effect = effect_of(tool, args, identifier, self._run.task)
        if effect.creates:
            # The place is chosen once, here: two devices that confirm while apart then write the same.
            self._last_place = positions.between(self._last_place, None)
            seen: dict[str, Value] = {"position": self._last_place}
            return Queued(identifier, fingerprint, tool, args, EMPTY, seen, rationale)
        fields = self._seen.fields or {}
        seen = {name: fields.get(name) for name in effect.fields}
        return Queued(identifier, fingerprint, tool, args, self._seen.clock, seen, rationale)

    # -- the end of the run ---------------------------------------------------------------------------

    def change_sets(self) -> list[Write]:
        """Return the writes of the run's change sets, none where nothing was queued."""
        size = self._limits.per_set
        parts = [self._queue[at : at + size] for at in range(0, len(self._queue), size)]
        return [self._change_set(number, part) for number, part in enumerate(parts)]

    def _change_set(self, number: int, part: list[Queued]) -> Write:
        run = self._run
        fields: dict[str, Value] = {
            "agent_id": run.agent,
            "task_id": run.task,
            "thread_id": run.run_key,
            "run_key": run.run_key,
            "items": [_as_value(queued) for queued in part],
            "expires_at": run.now_ms + self._limits.lifetime_ms,
        }
        return Write(change_set_id(run.run_key, number, run.task), "change_set", fields)


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
