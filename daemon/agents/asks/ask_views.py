"""Asks as people and agents see them: what was asked, verbatim, how it stands, and what was done with a yes.

Never shows a summary by a model: the agent's words stand beside the arguments as the agent's.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from daemon.agents.asks.ask_outcome import outcome_of
from daemon.agents.asks.ask_record import (
    ASK,
    Ask,
    genuine_use,
    grant_of_use,
    is_withdrawn,
    read_ask,
)
from daemon.agents.deciding.urgency import SOON_MS
from daemon.agents.deciding.verdict_needs import IdleVerdict, idle_verdicts_on
from daemon.agents.tools.agent_record import load_any_agent
from daemon.agents.tools.presence import ANY
from daemon.journal.views.lookup import NameLookup, json_value
from daemon.timestamps import iso_utc, stamp_utc
from store.fold.item import Decision
from store.fold.verdicts import DecisionStatus
from store.queries.asks import asks_that_may_wait
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text

ASKS_LISTED_MAX = 500
POLL_AFTER_MS: Final = 60_000
"""How long a program waits at least before it asks again how its request stands."""


class AskState(StrEnum):
    """How an ask stands. `TOO_LATE` is a permission that nobody used in time."""

    PENDING = "pending"
    DEFERRED = "deferred"
    PERMITTED = "permitted"
    REFUSED = "refused"
    DISPUTED = "disputed"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    TOO_LATE = "too_late"
    USED = "used"


OPEN_STATES = frozenset({AskState.PENDING, AskState.DEFERRED, AskState.DISPUTED})
"""The states in which an ask waits for a person."""


class AskVerdict(Struct, frozen=True, kw_only=True):
    """The yes or the no that counts: when it was given (ISO 8601 in UTC), on which device, and why.

    `edited`: it is a yes to arguments that the person changed. `rule` is the standing rule that said yes, or
    null if a person did. `presence` is what verdicts on the ask need, which this one has: any, other_device
    or passkey.
    """

    at: str
    device: str
    device_name: str
    reason: str | None
    edited: bool
    presence: str
    rule: str | None = None


class AskDetails(Struct, frozen=True, kw_only=True):
    """An ask: what the agent wants to do, why, what verdicts on it need, and how it stands.

    `args` are those that a use is granted for: the person's own if the verdict is `edited`, else the agent's,
    which `asked_args` are. A decision or a use that sends `args_hash` back is about nothing else. `not_after`
    is until when a permission may be used. `state` is pending, deferred, permitted, refused, disputed,
    withdrawn, expired, too_late or used. `execution_id` and `used_at` say what used it. `changed_at` is when
    it was last decided on or used, else `made_at`. Ask again after `poll_after_ms` milliseconds, null if
    nothing waits. Times are ISO 8601.
    """

    ask_id: str
    agent_id: str
    agent_name: str
    home_device: str
    home_device_name: str
    name: str
    args: dict[str, Any]
    asked_args: dict[str, Any]
    args_hash: str
    asked_hash: str
    title: str
    why: str
    options: list[str]
    presence: str
    not_after: str
    made_at: str
    changed_at: str
    state: str
    option: str | None = None
    verdict: AskVerdict | None = None
    idle_verdicts: list[IdleVerdict] = []
    execution_id: str | None = None
    used_at: str | None = None
    poll_after_ms: int | None = None


def state_of(snapshot: Snapshot, ask: Ask, now_ms: int) -> AskState:
    """Return how an ask stands, as this device knows it."""
    if genuine_use(snapshot, ask) is not None:
        return AskState.USED
    decisions = snapshot.decisions_on(ask.id)
    outcome = outcome_of(snapshot, ask, decisions)
    status = outcome.status
    if status.status is DecisionStatus.RETRACTED or is_withdrawn(decisions):
        return AskState.WITHDRAWN
    if status.disputed:
        return AskState.DISPUTED
    is_late = now_ms > outcome.not_after_ms
    match status.status:
        case DecisionStatus.REJECTED:
            return AskState.REFUSED
        case DecisionStatus.CONFIRMED if outcome.grant is not None:
            return AskState.TOO_LATE if is_late else AskState.PERMITTED
        case DecisionStatus.DEFERRED:
            return AskState.EXPIRED if is_late else AskState.DEFERRED
    return AskState.EXPIRED if is_late else AskState.PENDING


def ask_details(snapshot: Snapshot, ask: Ask, now_ms: int) -> AskDetails:
    """Return an ask as people and agents see it."""
    names = NameLookup(snapshot)
    decisions = snapshot.decisions_on(ask.id)
    outcome = outcome_of(snapshot, ask, decisions)
    use = genuine_use(snapshot, ask)
    grant = outcome.grant if use is None else grant_of_use(ask, use, decisions)
    state = state_of(snapshot, ask, now_ms)
    refusal = outcome.refusal if state is AskState.REFUSED else None
    agent = load_any_agent(snapshot, ask.agent)
    execution = None if use is None else use.fields.get("execution_id")
    presence = ANY if ask.presence is None else ask.presence.value
    used_ms = [] if use is None else [use.stamp_ms]
    return AskDetails(
        ask_id=id_to_text(ask.id),
        agent_id=id_to_text(ask.agent),
        agent_name="" if agent is None else agent.name or agent.display_name,
        home_device=ask.home.hex(),
        home_device_name=names.device_name(ask.home),
        name=ask.name,
        args=json_value(ask.args if grant is None else grant.args),
        asked_args=json_value(ask.args),
        args_hash=(ask.args_hash if grant is None else grant.args_hash).hex(),
        asked_hash=ask.args_hash.hex(),
        title=ask.title,
        why=ask.why,
        options=list(ask.options),
        presence=presence,
        not_after=iso_utc(ask.not_after_ms),
        made_at=stamp_utc(ask.made_ms, now_ms),
        changed_at=stamp_utc(
            max([ask.made_ms, *(decision.stamp_ms for decision in decisions), *used_ms]), now_ms
        ),
        state=state.value,
        option=None if grant is None else grant.decision.option or None,
        verdict=_verdict(grant.decision if grant is not None else refusal, presence, names, now_ms),
        idle_verdicts=idle_verdicts_on(decisions, ask.presence, names.device_name, now_ms),
        execution_id=execution if isinstance(execution, str) else None,
        used_at=None if use is None else stamp_utc(use.stamp_ms, now_ms),
        poll_after_ms=POLL_AFTER_MS if state in OPEN_STATES else None,
    )


def _verdict(decision: Decision | None, presence: str, names: NameLookup, now_ms: int) -> AskVerdict | None:
    if decision is None:
        return None
    return AskVerdict(
        at=stamp_utc(decision.stamp_ms, now_ms),
        device=decision.device.hex(),
        device_name=names.device_name(decision.device),
        reason=decision.reason or None,
        edited=decision.edited_args is not None,
        presence=presence,
        rule=None if decision.rule is None else id_to_text(decision.rule),
    )


def list_asks(
    snapshot: Snapshot, now_ms: int, *, waiting: bool, agent: EntityId | None = None
) -> list[AskDetails]:
    """List asks, the first to expire at the top: those that wait for a person, or all, 500 at most."""
    candidates = _open_asks(snapshot, now_ms) if waiting else _every_ask(snapshot)
    listed = [ask for ask in candidates if agent in (None, ask.agent)]
    listed.sort(key=lambda ask: (ask.not_after_ms, ask.id))
    return [ask_details(snapshot, ask, now_ms) for ask in listed[:ASKS_LISTED_MAX]]


def list_expiring_asks(snapshot: Snapshot, now_ms: int) -> list[Ask]:
    """List the asks that run out within a day unless somebody decides, the first to run out first.

    What somebody deferred or disputes is left out: a person has it in hand.
    """
    expiring = [
        ask
        for ask in _genuine_asks(snapshot, asks_that_may_wait(snapshot, now_ms))
        if now_ms <= ask.not_after_ms <= now_ms + SOON_MS
        and state_of(snapshot, ask, now_ms) is AskState.PENDING
    ]
    return sorted(expiring, key=lambda ask: (ask.not_after_ms, ask.id))[:ASKS_LISTED_MAX]


def count_open_asks(snapshot: Snapshot, now_ms: int) -> int:
    """Count the asks that wait for a person. Reads no history of an ask that is refused or ran out."""
    return sum(1 for _ask in _open_asks(snapshot, now_ms))


def _open_asks(snapshot: Snapshot, now_ms: int) -> Iterator[Ask]:
    for ask in _genuine_asks(snapshot, asks_that_may_wait(snapshot, now_ms)):
        if state_of(snapshot, ask, now_ms) in OPEN_STATES:
            yield ask


def _every_ask(snapshot: Snapshot) -> Iterator[Ask]:
    return _genuine_asks(snapshot, (entity.id for entity in snapshot.entities(ASK)))


def _genuine_asks(snapshot: Snapshot, asks: Iterable[EntityId]) -> Iterator[Ask]:
    for identifier in asks:
        ask = read_ask(snapshot, identifier)
        if ask is not None:
            yield ask
