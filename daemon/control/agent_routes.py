"""The routes of agents, of what they propose, and of a person's decisions on it.

Never decides anything, and never lets a decision reach further than to the items that were named.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from daemon.agents import agents, decisions, pending
from daemon.agents.agents import AgentShown
from daemon.agents.decisions import Outcome, Result
from daemon.agents.pending import PendingItem
from daemon.agents.scheduler import Scheduler
from daemon.control.routes import Asks, Call, Nothing, Reads, Route
from daemon.journal import refs
from daemon.journal.errors import Candidate, Code, Refused, usage
from store.faults import StoreError
from store.item_ids import items_with_prefix
from store.runs import Run, RunStatus
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from store.verdicts import Status
from syncproto.ids import EntityId, text

ITEMS_MAX = 500
WAIT_S_MAX = 600
_OPEN = frozenset({Status.PENDING, Status.DEFERRED})

Wait = Annotated[float, Meta(ge=0, le=WAIT_S_MAX)]
Verdict = Literal["confirmed", "rejected", "undone", "reopened", "deferred"]


class NewAgent(Struct, frozen=True, forbid_unknown_fields=True):
    """The task that gets its agent; without a model, the one of the settings."""

    task: str
    model: str | None = None


class Wake(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether to wait for the run to end, and for how many seconds."""

    wait: Wait | None = None


class PendingQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose proposals: one task's, or all."""

    task: str | None = None


class Decide(Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict on items, or on all open items of a set; `edit` replaces arguments of a single item."""

    verdict: Verdict
    items: Annotated[list[str], Meta(max_length=ITEMS_MAX)] | None = None
    set: str | None = None
    reason: str | None = None
    edit: dict[str, Any] | None = None
    force: bool = False
    again: bool = False
    via: Literal["cli", "web", "api"] = "api"


class AgentRoutes:
    """The routes, on one store and one scheduler. `models` are the names that a person may give."""

    def __init__(
        self,
        store: StoreThreads,
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        *,
        models: frozenset[str],
        model: str,
    ) -> None:
        self._store = store
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._models = models
        self._model = model

    def routes(self) -> list[Route]:
        """Return the agents' part of the table."""
        agent = "/v1/agents/{ref}"
        return [
            Route(
                "POST",
                "/v1/agents",
                "Give a task its agent",
                Asks(self._create),
                AgentShown,
                NewAgent,
                status=201,
            ),
            Route("GET", "/v1/agents", "List agents", Reads(self._list), list[AgentShown]),
            Route("GET", agent, "Show an agent", Reads(self._show), AgentShown),
            Route("POST", f"{agent}/wake", "Wake an agent", Asks(self._wake), AgentShown, Wake),
            Route(
                "GET",
                "/v1/pending",
                "List what waits for a person",
                Reads(self._pending),
                list[PendingItem],
                query=PendingQuery,
            ),
            Route("POST", "/v1/decisions", "Decide on proposals", Asks(self._decide), list[Result], Decide),
        ]

    # -- agents ---------------------------------------------------------------------------------------

    async def _create(self, call: Call[NewAgent, Nothing]) -> AgentShown:
        model = call.body.model or self._model
        if model not in self._models:
            raise usage(f"no model is called {model[:80]!r}", f"one of {', '.join(sorted(self._models))}")
        agent = await self._store.write(lambda tx: agents.create(tx, call.body.task, model))
        shown = await self._store.read(lambda snapshot: self._shown(snapshot, agent))
        if not shown.at_home:
            return shown
        await self._scheduler.wake(agent)
        return await self._store.read(lambda snapshot: self._shown(snapshot, agent))

    def _list(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> list[AgentShown]:
        del call
        return agents.every(snapshot, self._now_ms(), self._scheduler.outlook)

    def _show(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> AgentShown:
        return self._shown(snapshot, agents.find(snapshot, call.ref))

    def _shown(self, snapshot: Snapshot, agent: EntityId) -> AgentShown:
        return agents.shown(snapshot, agent, self._now_ms(), self._scheduler.outlook)

    async def _wake(self, call: Call[Wake, Nothing]) -> AgentShown:
        agent = await self._store.read(lambda snapshot: agents.find(snapshot, call.ref))
        run = await self._scheduler.wake(agent, wait_s=call.body.wait)
        _require_success(run)
        return await self._store.read(lambda snapshot: self._shown(snapshot, agent))

    # -- proposals ------------------------------------------------------------------------------------

    def _pending(self, snapshot: Snapshot, call: Call[Nothing, PendingQuery]) -> list[PendingItem]:
        task = call.query.task
        about = None if not task else refs.task(snapshot, task).id
        return pending.pending(snapshot, self._now_ms(), task=about)

    async def _decide(self, call: Call[Decide, Nothing]) -> list[Result]:
        """Decide on each item in a commit of its own, in order; one that fails does not stop the rest."""
        asked = call.body
        named = await self._store.read(lambda snapshot: _named(snapshot, asked))
        if asked.edit is not None and (asked.verdict != "confirmed" or len(named) != 1):
            raise usage("edit goes with the confirmation of one item")
        return [await self._decide_one(item, asked) for item in named]

    async def _decide_one(self, item: EntityId | str, asked: Decide) -> Result:
        if isinstance(item, str):
            return _unknown(item)
        try:
            return await self._store.write(lambda tx: _decided(tx, item, asked))
        except StoreError as fault:
            return Result(item_id=text(item), status="unknown", result=Outcome.FAILED, message=str(fault))


def _require_success(run: Run | None) -> None:
    if run is not None and run.status is RunStatus.FAILED:
        raise Refused(Code.FAILED, f"the agent's run failed: {run.error}", "placet agent show says more")


def _decided(tx: Transaction, item: EntityId, asked: Decide) -> Result:
    reason, via = asked.reason, asked.via
    match asked.verdict:
        case "confirmed":
            return decisions.confirm(
                tx, item, force=asked.force, again=asked.again, edit=asked.edit, reason=reason, via=via
            )
        case "rejected":
            return decisions.reject(tx, item, reason=reason, via=via)
        case "undone":
            return decisions.undo(tx, item, reason=reason, via=via)
        case "reopened":
            return decisions.reopen(tx, item, reason=reason, via=via)
        case "deferred":
            return decisions.defer(tx, item, reason=reason, via=via)


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
