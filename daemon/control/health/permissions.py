"""What `doctor` says of permissions that agents used: each use rests on a yes, and each yes on one use.

Never judges a use that its home device did not sign.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from daemon.agents.asks.ask_record import USE, Ask, ask_in, genuine_uses, grant_of_use, use_id
from daemon.agents.asks.standing_permission import rule_behind
from daemon.control.health.check import Check, make_check
from store.local.granted_uses import granted_uses
from store.queries.asks import SignedWrite, signed_writes
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, EntityId, id_to_text

SHOWN_MAX: Final = 5
ASK_DIGITS: Final = 14


def check_permissions(snapshot: Snapshot) -> Iterator[Check]:
    """Look for uses that nothing permits, for yeses that were used twice, and for uses without a commit."""
    findings = list(islice(_findings(snapshot), SHOWN_MAX))
    yield from findings
    if not findings:
        summary = sentence("permissions-well", "each permission that was used was given, and used once")
        yield make_check("permissions", summary, well=True, code="permissions_well")


def _findings(snapshot: Snapshot) -> Iterator[Check]:
    for ask in _used_asks(snapshot):
        uses = genuine_uses(snapshot, ask)
        count = len({str(use.fields.get("execution_id")) for use in uses})
        if count > 1:
            yield _used_again(ask, count)
        if not all(_is_permitted(snapshot, ask, use) for use in uses):
            yield _used_without_yes(ask)
    for identifier, replica in granted_uses(snapshot):
        writes = signed_writes(snapshot, use_id(identifier, replica))
        if all(write.head.replica != replica for write in writes):
            yield _used_without_commit(identifier)


def _used_asks(snapshot: Snapshot) -> Iterator[Ask]:
    """Yield each ask for which there is the entity of a use, as the replica asked it of which that is."""
    for use in snapshot.entities(USE):
        named = {write.fields.get("ask_id") for write in signed_writes(snapshot, use.id)}
        for name in named:
            if not isinstance(name, bytes) or len(name) != ID_BYTES:
                continue
            for creation in signed_writes(snapshot, EntityId(name)):
                ask = ask_in(EntityId(name), creation)
                if ask is not None and use_id(ask.id, ask.replica) == use.id:
                    yield ask


def _is_permitted(snapshot: Snapshot, ask: Ask, use: SignedWrite) -> bool:
    grant = grant_of_use(ask, use, snapshot.decisions_on(ask.id))
    if grant is None or grant.decision.rule is None:
        return grant is not None
    return rule_behind(snapshot, ask, grant.decision) is not None


def _used_again(ask: Ask, count: int) -> Check:
    text = sentence(
        "permission-used-again",
        "the permission {ask} was used {count} times: its device's disk was put back after a use",
        ask=_short(ask.id),
        count=count,
    )
    remedy = sentence(
        "see-what-was-done", "see what the agent did: {name}, and take back what was too much", name=ask.name
    )
    return _finding("permission_used_again", text, ask.id, remedy)


def _used_without_yes(ask: Ask) -> Check:
    text = sentence(
        "permission-not-given", "the permission {ask} was used, and no yes to it is here", ask=_short(ask.id)
    )
    remedy = sentence("sync-then-look-again", "run 'placet sync --wait', then look again")
    return _finding("permission_not_given", text, ask.id, remedy)


def _used_without_commit(ask: EntityId) -> Check:
    text = sentence(
        "permission-use-unlogged", "the use of the permission {ask} is missing in the log", ask=_short(ask)
    )
    remedy = sentence("run-verify", "run 'placet verify'")
    return _finding("permission_use_unlogged", text, ask, remedy)


def _finding(code: str, text: Sentence, ask: EntityId, remedy: Sentence) -> Check:
    return make_check("permissions", text, remedy, well=False, code=code, parameters={"ask": _short(ask)})


def _short(ask: EntityId) -> str:
    return id_to_text(ask)[:ASK_DIGITS]
