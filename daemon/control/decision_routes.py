"""The routes of what agents propose, and of a person's decisions on it.

Never decides anything, and never lets a decision reach further than to the items that were named.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from daemon.agents import decided, decisions, pending, sets
from daemon.agents.decided import Decided
from daemon.agents.decisions import Outcome, Result
from daemon.agents.pending import PendingItem
from daemon.agents.sets import SetShown
from daemon.control.routes import Asks, Call, Nothing, Reads, Route
from daemon.journal import refs
from daemon.journal.errors import Candidate, Code, Refused, usage
from store.faults import StoreError
from store.item_ids import items_with_prefix
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from store.verdicts import Status
from syncproto.faults import CommitTooLarge
from syncproto.ids import EntityId, text

ITEMS_MAX = 500
LISTED_DEFAULT = 100
_OPEN = frozenset({Status.PENDING, Status.DEFERRED})

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Verdict = Literal["confirmed", "rejected", "undone", "reopened", "deferred"]


class PendingQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose proposals: one task's, or all."""

    task: str | None = None


class DecidedQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which decisions: those on a task's items, or all; about `limit` of them, the newest first."""

    task: str | None = None
    before: Annotated[int, Meta(ge=0, description="The seq of the last one of the page before.")] | None = (
        None
    )
    limit: Annotated[int, Meta(ge=1, le=decided.LISTED_MAX)] = LISTED_DEFAULT


class Decide(Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict on items, or on all open items of a set; `edit` replaces arguments of a single item.

    `args_hashes` gives, by the id of an item, the `args_hash` that was shown: nothing else is confirmed.
    """

    verdict: Verdict
    items: Annotated[list[str], Meta(max_length=ITEMS_MAX)] | None = None
    set: str | None = None
    args_hashes: Annotated[dict[str, Hash], Meta(max_length=ITEMS_MAX)] = {}
    reason: str | None = None
    edit: dict[str, Any] | None = None
    force: bool = False
    again: bool = False
    via: Literal["cli", "web", "api"] = "api"


class DecisionRoutes:
    """The routes, on one store. `reason_min` is how long an agent's reason against a person's tick is."""

    def __init__(self, store: StoreThreads, now_ms: Callable[[], int], *, reason_min: int) -> None:
        self._store = store
        self._now_ms = now_ms
        self._reason_min = reason_min

    def routes(self) -> list[Route]:
        """Return the table."""
        waiting, path = "List what waits for a person", "/v1/decisions"
        made = "Show the decisions that were made"
        return [
            Route("GET", "/v1/pending", waiting, Reads(self._pending), list[PendingItem], query=PendingQuery),
            Route("GET", path, made, Reads(self._decided), list[Decided], query=DecidedQuery),
            Route("GET", "/v1/sets/{ref}", "Show how a change set stands", Reads(self._set), SetShown),
            Route("POST", path, "Decide on proposals", Asks(self._decide), list[Result], Decide),
        ]

    def _pending(self, snapshot: Snapshot, call: Call[Nothing, PendingQuery]) -> list[PendingItem]:
        task = call.query.task
        about = None if not task else refs.task(snapshot, task).id
        return pending.pending(snapshot, self._now_ms(), task=about)

    def _set(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> SetShown:
        change_set = refs.entity(snapshot, ["change_set"], call.ref)
        return sets.shown(snapshot, change_set.id, self._now_ms())

    def _decided(self, snapshot: Snapshot, call: Call[Nothing, DecidedQuery]) -> list[Decided]:
        asked = call.query
        return decided.decided(
            snapshot, self._now_ms(), task=asked.task or None, before=asked.before, limit=asked.limit
        )

    async def _decide(self, call: Call[Decide, Nothing]) -> list[Result]:
        """Decide on each item in a commit of its own, in order; one that fails does not stop the rest."""
        asked = call.body
        named = await self._store.read(lambda snapshot: _named(snapshot, asked))
        if asked.edit is not None and (asked.verdict != "confirmed" or len(named) != 1):
            raise usage("edit goes with the confirmation of one item")
        hashes = await self._store.read(lambda snapshot: _hashes(snapshot, asked))
        return [await self._decide_one(item, asked, hashes) for item in named]

    async def _decide_one(
        self, item: EntityId | str, asked: Decide, hashes: dict[EntityId | str, bytes]
    ) -> Result:
        if isinstance(item, str):
            return _unknown(item)
        try:
            return await self._store.write(lambda tx: self._verdict(tx, item, asked, hashes.get(item)))
        except (StoreError, CommitTooLarge) as fault:
            return Result(item_id=text(item), status="unknown", result=Outcome.FAILED, message=str(fault))

    def _verdict(self, tx: Transaction, item: EntityId, asked: Decide, shown: bytes | None) -> Result:
        reason, via = asked.reason, asked.via
        match asked.verdict:
            case "confirmed":
                return decisions.confirm(
                    tx,
                    item,
                    force=asked.force,
                    again=asked.again,
                    edit=asked.edit,
                    shown=shown,
                    reason=reason,
                    via=via,
                    reason_min=self._reason_min,
                )
            case "rejected":
                return decisions.reject(tx, item, reason=reason, via=via)
            case "undone":
                return decisions.undo(tx, item, reason=reason, via=via)
            case "reopened":
                return decisions.reopen(tx, item, reason=reason, via=via)
            case "deferred":
                return decisions.defer(tx, item, reason=reason, via=via)


def _hashes(snapshot: Snapshot, asked: Decide) -> dict[EntityId | str, bytes]:
    """Return what was shown of items, by the item that is meant."""
    return {_item(snapshot, ref): bytes.fromhex(shown) for ref, shown in asked.args_hashes.items()}


def _unknown(ref: str) -> Result:
    message = "there is no such proposal" if refs.is_prefix(ref) else refs.ID_IN_WORDS
    return Result(item_id=ref[:80], status="unknown", result=Outcome.NOT_FOUND, message=message)


def _named(snapshot: Snapshot, asked: Decide) -> list[EntityId | str]:
    """Return the items that are meant, each once; a name that means nothing stays what it is."""
    if (asked.items is None) == (asked.set is None):
        raise usage("name items, or a set")
    if asked.set is not None:
        return _of_set(snapshot, asked.set)
    found = [_item(snapshot, ref) for ref in asked.items or ()]
    if not found:
        raise usage("name at least one item")
    return list(dict.fromkeys(found))


def _of_set(snapshot: Snapshot, ref: str) -> list[EntityId | str]:
    """Return the open items of a set in its order; where none is open, all, so that a retry hears so."""
    change_set = refs.entity(snapshot, ["change_set"], ref)
    items = snapshot.items_of_set(change_set.id)
    if len(items) > ITEMS_MAX:
        raise usage(f"a set of {len(items)} proposals is none of an agent's", "name the items that you mean")
    still_open = [one.id for one in items if one.status in _OPEN or one.disputed]
    return [*(still_open or (one.id for one in items))]


def _item(snapshot: Snapshot, ref: str) -> EntityId | str:
    if not refs.is_prefix(ref):
        return ref
    found = items_with_prefix(snapshot, ref.strip().lower(), refs.CANDIDATES_MAX + 1)
    if len(found) > 1:
        meant = [_candidate(snapshot, one) for one in found[: refs.CANDIDATES_MAX]]
        raise Refused(
            Code.AMBIGUOUS, f"{ref[:80]!r} could mean several proposals", "give more of the id", meant
        )
    return found[0] if found else ref


def _candidate(snapshot: Snapshot, item: EntityId) -> Candidate:
    held = snapshot.item(item)
    return Candidate(text(item), "" if held is None else held.tool)
