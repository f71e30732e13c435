"""The routes of what agents propose, and of a person's decisions on it.

Never decides anything, and never lets a decision reach further than to the items that were named.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from daemon.agents.asks import ask_decisions
from daemon.agents.asks.ask_record import ASK
from daemon.agents.asks.own_asks import ReaderQuery, is_own_ask
from daemon.agents.deciding import (
    change_set_status,
    decision_history,
    set_decisions,
    waiting_items,
)
from daemon.agents.deciding.attention import mark_held_back
from daemon.agents.deciding.change_set_status import ChangeSetSummary
from daemon.agents.deciding.decision_history import DecisionRecord
from daemon.agents.deciding.decision_result import (
    UNKNOWN,
    DecisionOutcome,
    DecisionResult,
    decision_result,
    no_such_proposal,
)
from daemon.agents.deciding.item_state import UNDECIDED
from daemon.agents.deciding.verdict_requests import (
    RequestedVerdict,
    VerdictRequest,
    apply_verdict,
    decide_item,
)
from daemon.agents.deciding.waiting_items import PendingItem
from daemon.agents.person import full_history
from daemon.agents.person.external_agents import find_any_agent, find_calling_agent
from daemon.agents.person.shown_verdicts import is_ask, require_no_choice
from daemon.agents.receipts.receipt_builder import make_receipt
from daemon.agents.receipts.receipt_form import ReceiptFault
from daemon.agents.running.note_evidence import with_note_evidence
from daemon.control.route import AsyncHandler, Call, Nothing, ReadHandler, Route
from daemon.journal.references import entities
from daemon.refusal import Candidate, RefusalCode, Refused, usage_error
from store.fold.verdicts import DecisionStatus, Verdict
from store.queries.items import items_with_prefix
from store.sentence import sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import EntityId, id_from_text, id_to_text

ITEMS_MAX = 500
LISTED_DEFAULT = 100

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Hashes = dict[EntityId | str, bytes]
"""What was shown of items: the hash of the arguments, by the item, or by a reference that names none."""


class PendingQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose proposals: one task's, one agent's, or all. `expired`: those not decided in time, instead.

    Of all, those that are beyond the budget of their agent are marked as `held_back`. `task` may also be the
    `task_id` of a proposal that waits, even if that task was removed, or if it is the id of an agent.

    `agent` is the name of an agent of another maker, an agent's id, or the task of one.
    Of expired ones, at most 200 are listed, the last to expire first.
    """

    task: str | None = None
    agent: str | None = None
    expired: bool = False


class DecidedQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which decisions: those on a task's items, or all on items and asks; about `limit`, the newest first."""

    task: str | None = None
    before: Annotated[int, Meta(ge=0, description="The seq of the last one of the page before.")] | None = (
        None
    )
    limit: Annotated[int, Meta(ge=1, le=decision_history.DECISIONS_LISTED_MAX)] = LISTED_DEFAULT


class Decide(Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict on items, or on the pending items of a set; `edit` replaces arguments of a single item.

    Of a set, deferred, disputed and expired items are left, and the answer says so: they have to be named.
    `remember`: the reason of a rejection becomes a preference, for the task's category, or for all tasks if
    it has none. `args_hashes` gives, by the id of an item, the `args_hash` that was shown: nothing else is
    confirmed. Of a set, items without one are left, too. `items` may name asks; `option` is what is chosen of
    what an ask offers, and a yes to such an ask needs one.
    """

    verdict: RequestedVerdict
    items: Annotated[list[str], Meta(max_length=ITEMS_MAX)] | None = None
    set: str | None = None
    args_hashes: Annotated[dict[str, Hash], Meta(max_length=ITEMS_MAX)] | None = None
    reason: str | None = None
    edit: dict[str, Any] | None = None
    force: bool = False
    again: bool = False
    remember: bool = False
    option: Annotated[str, Meta(max_length=100)] | None = None
    via: Literal["cli", "web", "api"] = "api"


class DecisionRoutes:
    """The routes, on one store. `reason_min` is how long an agent's reason against a person's tick is.

    `open_per_day` is how many of an agent's open proposals of one day are put before a person at once.
    """

    def __init__(
        self, store: StoreThreads, now_ms: Callable[[], int], *, reason_min: int, open_per_day: int
    ) -> None:
        self._store = store
        self._now_ms = now_ms
        self._reason_min = reason_min
        self._open_per_day = open_per_day

    def routes(self) -> list[Route]:
        """Return the table."""
        waiting, path = "List what waits for a person", "/v1/decisions"
        text = "Show the decisions that were made"
        return [
            Route(
                "GET",
                "/v1/pending",
                waiting,
                ReadHandler(self._pending_items),
                list[PendingItem],
                query=PendingQuery,
            ),
            Route("GET", path, text, ReadHandler(self._decisions), list[DecisionRecord], query=DecidedQuery),
            Route(
                "GET",
                "/v1/receipts/{ref}",
                "Make a receipt of what was decided on a proposal or an ask",
                ReadHandler(self._receipt),
                dict[str, Any],
                query=ReaderQuery,
            ),
            Route(
                "GET",
                "/v1/sets/{ref}",
                "Show how a change set stands",
                ReadHandler(self._set_summary),
                ChangeSetSummary,
            ),
            Route(
                "POST", path, "Decide on proposals", AsyncHandler(self._decide), list[DecisionResult], Decide
            ),
        ]

    def _pending_items(self, snapshot: Snapshot, call: Call[Nothing, PendingQuery]) -> list[PendingItem]:
        about = _task_of_items(snapshot, call.query.task, self._now_ms()) if call.query.task else None
        proposer = None if not call.query.agent else id_to_text(find_any_agent(snapshot, call.query.agent))
        if call.query.expired:
            items = waiting_items.list_expired_items(snapshot, self._now_ms(), about)
        else:
            items = waiting_items.list_waiting_items(snapshot, self._now_ms(), task=about)
            # Whoever names a task or an agent looks at all of it.
            if about is None and proposer is None:
                items = mark_held_back(items, self._open_per_day)
        return with_note_evidence(snapshot, [item for item in items if proposer in (None, item.agent_id)])

    def _set_summary(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> ChangeSetSummary:
        change_set = entities.find_entity(snapshot, ["change_set"], call.ref)
        return change_set_status.change_set_summary(snapshot, change_set.id, self._now_ms())

    def _receipt(self, snapshot: Snapshot, call: Call[Nothing, ReaderQuery]) -> dict[str, Any]:
        if call.query.agent is None:
            name = _item(snapshot, call.ref)
        else:
            agent = find_calling_agent(snapshot, call.query.agent, find_any_agent)
            name = _own_item(snapshot, agent, call.ref)
        if isinstance(name, str):
            raise Refused(RefusalCode.NOT_FOUND, no_such_proposal())
        try:
            return make_receipt(snapshot, name)
        except ReceiptFault as fault:
            raise Refused(RefusalCode.CONFLICT, fault.sentence) from fault

    def _decisions(self, snapshot: Snapshot, call: Call[Nothing, DecidedQuery]) -> list[DecisionRecord]:
        query = call.query
        return full_history.list_decided(
            snapshot, self._now_ms(), task=query.task or None, before=query.before, limit=query.limit
        )

    async def _decide(self, call: Call[Decide, Nothing]) -> list[DecisionResult]:
        """Decide on each item in a commit of its own, in order; one that fails does not stop the rest."""
        body = call.body
        items = await self._store.read(lambda snapshot: _items_of_request(snapshot, body))
        if body.remember and (body.verdict != "rejected" or not (body.reason or "").strip()):
            raise usage_error(sentence("remember-needs-reason", "remember needs a rejection with a reason"))
        if body.edit is not None and (body.verdict != "confirmed" or len(items) != 1):
            raise usage_error(sentence("edit-one-item", "edit needs exactly one item to confirm"))
        if body.option is not None and (body.verdict != "confirmed" or len(items) != 1):
            raise usage_error(sentence("option-one-item", "option needs exactly one permission to confirm"))
        _require_fit_for_set(body)
        hashes = await self._store.read(lambda snapshot: _hashes(snapshot, body))
        if body.verdict == "confirmed" and len(items) > 1:
            names = [item for item in items if not isinstance(item, str)]
            await self._store.read(lambda snapshot: require_no_choice(snapshot, names, self._now_ms()))
        return [await self._decide_one(item, body, hashes) for item in items]

    async def _decide_one(self, item: EntityId | str, body: Decide, hashes: Hashes) -> DecisionResult:
        if isinstance(item, str):
            return _unknown(item)
        return await decide_item(self._store, item, lambda tx: self._verdict(tx, item, body, hashes))

    def _verdict(self, tx: Transaction, item: EntityId, body: Decide, hashes: Hashes) -> DecisionResult:
        if is_ask(tx, item):
            return ask_decisions.decide(
                tx,
                item,
                Verdict(body.verdict),
                reason=body.reason,
                via=body.via,
                edit=body.edit,
                option=body.option,
                shown=hashes.get(item),
            )
        force = body.force
        if body.set is not None:
            left = set_decisions.answer_if_left_out(tx, item, None if body.args_hashes is None else hashes)
            if left is not None:
                return left
            # What is decided already is only reported: force is for what the set stands for.
            force = force and tx.item_status(item).status is DecisionStatus.PENDING
        request = VerdictRequest(
            verdict=body.verdict,
            via=body.via,
            reason_min=self._reason_min,
            reason=body.reason,
            edit=body.edit,
            force=force,
            again=body.again,
            remember=body.remember,
        )
        return apply_verdict(tx, item, request, hashes.get(item))


def _require_fit_for_set(body: Decide) -> None:
    """Refuse, for a set, what is only meant for items that somebody decided on."""
    if body.set is None:
        return
    if body.again:
        raise usage_error(sentence("again-names-items", "--again needs items: a set means what is pending"))
    if body.verdict in ("undone", "reopened"):
        raise usage_error(
            sentence("verdict-names-items", "undo and reopen need items: a set means what is pending")
        )


def _task_of_items(snapshot: Snapshot, ref: str, now_ms: int) -> EntityId:
    """Return the task that `ref` names, or what proposals that wait give as their task under this full id."""
    named = entities.entity_by_full_id(snapshot, ref)
    if named is not None and snapshot.open_items(now_ms, named.id):
        return named.id
    return entities.find_task(snapshot, ref).id


def _hashes(snapshot: Snapshot, body: Decide) -> Hashes:
    """Return what was shown of items, by the item that is meant."""
    return {
        _item(snapshot, ref): bytes.fromhex(args_hash) for ref, args_hash in (body.args_hashes or {}).items()
    }


def _unknown(ref: str) -> DecisionResult:
    message = no_such_proposal() if entities.is_id_prefix(ref) else entities.ID_FORMAT_HINT
    return decision_result(ref[:80], UNKNOWN, DecisionOutcome.NOT_FOUND, message)


def _items_of_request(snapshot: Snapshot, body: Decide) -> list[EntityId | str]:
    """Return the items that are meant, each once; a reference that matches nothing is returned as it is."""
    if (body.items is None) == (body.set is None):
        raise usage_error(sentence("items-or-set", "name items, or a set"))
    if body.set is not None:
        return _of_set(snapshot, body.set)
    items = [_item(snapshot, ref) for ref in body.items or ()]
    if not items:
        raise usage_error(sentence("name-an-item", "name at least one item"))
    return list(dict.fromkeys(items))


def _of_set(snapshot: Snapshot, ref: str) -> list[EntityId | str]:
    """Return the open items of a set in its order; if none is pending, all: a retry then reports it."""
    change_set = entities.find_entity(snapshot, ["change_set"], ref)
    items = snapshot.items_of_set(change_set.id)
    if len(items) > ITEMS_MAX:
        raise usage_error(
            sentence(
                "no-agents-set", "a set of {count} proposals was not made by an agent", count=len(items)
            ),
            sentence("name-the-items", "name the items that you mean"),
        )
    if any(item.status is DecisionStatus.PENDING for item in items):
        items = [item for item in items if item.status in UNDECIDED or item.disputed]
    return [item.id for item in items]


def _item(snapshot: Snapshot, ref: str) -> EntityId | str:
    if not entities.is_id_prefix(ref):
        return ref
    matches = items_with_prefix(snapshot, ref.strip().lower(), entities.CANDIDATES_MAX + 1)
    matches += snapshot.ids_with_prefix([ASK], ref.strip().lower(), entities.CANDIDATES_MAX + 1)
    if len(matches) > 1:
        meant = [_candidate(snapshot, item_id) for item_id in matches[: entities.CANDIDATES_MAX]]
        raise Refused(
            RefusalCode.AMBIGUOUS,
            sentence("ambiguous-proposal", "{ref!r} could mean several proposals", ref=ref[:80]),
            sentence("more-of-id", "give more of the id"),
            meant,
        )
    return matches[0] if matches else ref


def _own_item(snapshot: Snapshot, agent: EntityId, ref: str) -> EntityId | str:
    """Return what an agent alone proposed, or asked, by its whole id; for anything else the reference."""
    try:
        name = id_from_text(ref.strip().lower())
    except ValueError:
        return ref
    item = snapshot.item(name)
    is_own = item is not None and all(occurrence.agent == agent for occurrence in item.occurrences)
    return name if is_own or is_own_ask(snapshot, agent, name) else ref


def _candidate(snapshot: Snapshot, item: EntityId) -> Candidate:
    state = snapshot.item(item)
    return Candidate(id_to_text(item), "" if state is None else state.tool)
