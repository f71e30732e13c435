"""The routes of asks: permission for something outside the journal, asked for, shown, taken back and used.

Never decides on an ask: that is for the route of decisions, which a person's programs call.
"""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from daemon.agents.asks import ask_requests, ask_views
from daemon.agents.asks.ask_record import ASK, read_ask
from daemon.agents.asks.ask_requests import NewAsk, UsedPermission
from daemon.agents.asks.ask_views import AskDetails
from daemon.agents.asks.own_asks import AgentRef, ReaderQuery, find_own_ask
from daemon.agents.person.external_agents import find_any_agent, find_calling_agent
from daemon.control.route import CREATED, Call, Nothing, ReadHandler, Route, WriteHandler
from daemon.journal.references import entities
from daemon.refusal import RefusalCode, Refused
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId


class AsksQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which asks: those that wait for a person, or with `all`, every one; of one agent, or of all."""

    all: bool = False
    agent: str | None = None


class Use(Struct, frozen=True, forbid_unknown_fields=True):
    """A use of a permission: the hash of the arguments as the ask shows it, and an id of the execution.

    `agent` is the one that asked, by its name, or its task: no other one may use it. Of a use that was
    granted, a retry with the same `execution_id` is granted again; no other one ever is. So draw it at random
    for each execution, and keep it for a retry. The ask is named by its whole id.
    """

    agent: AgentRef
    args_hash: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    execution_id: Annotated[str, Meta(min_length=1, max_length=ask_requests.EXECUTION_CHARS_MAX)]


class Withdrawal(Struct, frozen=True, forbid_unknown_fields=True):
    """The agent that asked, by its name, or its task, and why it takes its ask back."""

    agent: AgentRef
    reason: Annotated[str, Meta(max_length=ask_requests.WHY_CHARS_MAX)] = ""


def routes(now_ms: Callable[[], int]) -> list[Route]:
    """Return the part of the table on asks."""
    handlers, of_one = _AskHandlers(now_ms), "/v1/asks/{ref}"
    make, use = WriteHandler(handlers.make), WriteHandler(handlers.use)
    return [
        Route("POST", "/v1/asks", "Ask for a permission", make, AskDetails, NewAsk, status=CREATED),
        Route("GET", "/v1/asks", "List asks", ReadHandler(handlers.list), list[AskDetails], query=AsksQuery),
        Route("GET", of_one, "Show an ask", ReadHandler(handlers.show), AskDetails, query=ReaderQuery),
        Route("POST", f"{of_one}/use", "Use a permission, at most once", use, UsedPermission, Use),
        Route(
            "POST",
            f"{of_one}/withdraw",
            "Take an ask back",
            WriteHandler(handlers.withdraw),
            AskDetails,
            Withdrawal,
        ),
    ]


class _AskHandlers:
    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms

    def make(self, tx: Transaction, call: Call[NewAsk, Nothing]) -> AskDetails:
        return self._details(tx, ask_requests.make_ask(tx, _find_caller(tx, call.body.agent), call.body))

    def list(self, snapshot: Snapshot, call: Call[Nothing, AsksQuery]) -> list[AskDetails]:
        agent = None if call.query.agent is None else find_any_agent(snapshot, call.query.agent)
        return ask_views.list_asks(snapshot, self._now_ms(), waiting=not call.query.all, agent=agent)

    def show(self, snapshot: Snapshot, call: Call[Nothing, ReaderQuery]) -> AskDetails:
        if call.query.agent is None:
            return self._details(snapshot, _find_ask(snapshot, call.ref))
        agent = _find_caller(snapshot, call.query.agent)
        return self._details(snapshot, find_own_ask(snapshot, agent, call.ref))

    def use(self, tx: Transaction, call: Call[Use, Nothing]) -> UsedPermission:
        body = call.body
        ask = find_own_ask(tx, _find_caller(tx, body.agent), call.ref)
        return ask_requests.use_permission(tx, ask, bytes.fromhex(body.args_hash), body.execution_id)

    def withdraw(self, tx: Transaction, call: Call[Withdrawal, Nothing]) -> AskDetails:
        ask = find_own_ask(tx, _find_caller(tx, call.body.agent), call.ref)
        return self._details(tx, ask_requests.withdraw(tx, ask, call.body.reason).id)

    def _details(self, snapshot: Snapshot, ask: EntityId) -> AskDetails:
        stored = read_ask(snapshot, ask)
        if stored is None:
            raise Refused(RefusalCode.NOT_FOUND, sentence("ask-unknown", "there is no such ask"))
        return ask_views.ask_details(snapshot, stored, self._now_ms())


def _find_ask(snapshot: Snapshot, ref: str) -> EntityId:
    return entities.find_entity(snapshot, [ASK], ref).id


def _find_caller(snapshot: Snapshot, agent: str) -> EntityId:
    return find_calling_agent(snapshot, agent, find_any_agent)
