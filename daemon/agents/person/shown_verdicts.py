"""A person's verdicts on what a face has shown: proposals and asks alike, one commit each.

Never decides which are meant, and never lets one that fails stop the others.
"""

from collections.abc import Callable, Iterable, Sequence

from daemon.agents.asks import ask_decisions
from daemon.agents.asks.ask_record import ASK
from daemon.agents.deciding.decision_result import DecisionResult
from daemon.agents.deciding.verdict_requests import VerdictRequest, apply_verdict, decide_item
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import EntityId


async def decide_shown(
    store: StoreThreads,
    shown: Sequence[tuple[EntityId, bytes]],
    request: VerdictRequest,
    now_ms: int,
    option: str | None = None,
) -> list[DecisionResult]:
    """Decide on items and asks that a person saw, each with the hash of the arguments that were shown.

    `option` is one that the only ask offers. Raises Refused for another, for a yes that lacks one, and for an
    edit that an agent could not ask for either.
    """
    if request.verdict == "confirmed" and len(shown) > 1:
        names = [name for name, _args_hash in shown]
        await store.read(lambda snapshot: require_no_choice(snapshot, names, now_ms))

    def decision_on(name: EntityId, args_hash: bytes) -> Callable[[Transaction], DecisionResult]:
        return lambda tx: _decide(tx, name, args_hash, request, option)

    return [await decide_item(store, name, decision_on(name, args_hash)) for name, args_hash in shown]


def require_no_choice(snapshot: Snapshot, names: Iterable[EntityId], now_ms: int) -> None:
    """Raise Refused if a yes to one of several asks has to choose among what its agent offers.

    Whoever confirms several in turn calls this first: nothing is done, rather than a part of it.
    """
    for name in names:
        if is_ask(snapshot, name):
            ask_decisions.require_no_choice(snapshot, name, now_ms)


def is_ask(snapshot: Snapshot, name: EntityId) -> bool:
    """Report whether an id is that of something an agent asked permission for."""
    entity = snapshot.entity(name)
    return entity is not None and entity.kind == ASK


def _decide(
    tx: Transaction, name: EntityId, args_hash: bytes, request: VerdictRequest, option: str | None
) -> DecisionResult:
    if not is_ask(tx, name):
        return apply_verdict(tx, name, request, args_hash)
    return ask_decisions.decide(
        tx,
        name,
        request.verdict,
        reason=request.reason,
        via=request.via,
        edit=request.edit,
        option=option if request.verdict == "confirmed" else None,
        shown=args_hash,
        proof=request.proof,
    )
