"""Makes a receipt from the journal: it gathers the commits that matter, and states what they show.

Never puts anything into a receipt that its proofs do not show.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from daemon.agents.asks.ask_record import genuine_use, read_ask
from daemon.agents.receipts.receipt_form import (
    FORMAT,
    PROOFS_MAX,
    VERSION,
    Fact,
    ReceiptFault,
    facts_in,
    proof_json,
)
from daemon.agents.receipts.statement import statement_of
from daemon.agents.standing_rules.rule_record import read_rule
from store.fold.proposal_index import parse_decision
from store.queries.asks import signed_writes
from store.queries.signed_runs import signed_run
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text
from syncproto.vector_clock import Head

_DECISIONS_MAX = PROOFS_MAX // 2


def make_receipt(snapshot: Snapshot, name: EntityId) -> dict[str, Any]:
    """Return the receipt of a proposal or an ask. Raises ReceiptFault if nothing shows what it stands for."""
    proven = {name}
    own = dict.fromkeys(_own_heads(snapshot, name, proven))
    proofs = [_proof(snapshot, head, proven) for head in own]
    keys = _passkeys(facts_in({"proofs": proofs})) if proofs else ()
    for passkey in dict.fromkeys(keys):
        heads = [head for head in _creations(snapshot, passkey) if head not in own]
        proofs += [_proof(snapshot, head, {passkey}) for head in heads]
    facts = facts_in({"proofs": proofs}) if proofs else []
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": id_to_text(name),
        **_statement_fields(snapshot, name, facts),
        "proofs": proofs,
    }


def _statement_fields(snapshot: Snapshot, name: EntityId, facts: list[Fact]) -> dict[str, Any]:
    """Return the statement, with the item that this one follows. Raises ReceiptFault."""
    item = snapshot.item(name)
    before = [] if item is None else snapshot.items_with_fingerprint(item.fingerprint)
    for follows in before:
        with suppress(ReceiptFault):
            return {"follows": id_to_text(follows), "statement": statement_of(name, follows, facts)}
    return {"follows": None, "statement": statement_of(name, None, facts)}


def _own_heads(snapshot: Snapshot, name: EntityId, proven: set[EntityId]) -> Iterator[Head]:
    """Yield the commits of what was asked or proposed, of its decisions, their rules, and of its use."""
    yield from _creations(snapshot, name)
    item, ask = snapshot.item(name), read_ask(snapshot, name)
    for occurrence in () if item is None else item.occurrences[:_DECISIONS_MAX]:
        yield from _creations(snapshot, occurrence.change_set)
    for decision in snapshot.decisions_on(name)[-_DECISIONS_MAX:]:
        yield decision.head
        if decision.rule is not None:
            proven.add(decision.rule)
            yield from _rule_heads(snapshot, decision.rule)
    use = None if ask is None else genuine_use(snapshot, ask)
    if use is not None:
        yield use.head


def _rule_heads(snapshot: Snapshot, rule: EntityId) -> Iterable[Head]:
    """Return the commit that made a rule, and the one that ended it."""
    stored = read_rule(snapshot, rule)
    ends = [] if stored is None or stored.revoked is None else [stored.revoked.head]
    return [*_creations(snapshot, rule), *ends]


def _creations(snapshot: Snapshot, entity: EntityId) -> Iterable[Head]:
    return [write.head for write in islice(signed_writes(snapshot, entity), PROOFS_MAX) if write.creates]


def _passkeys(facts: Iterable[Fact]) -> Iterator[EntityId]:
    for fact in facts:
        decision = parse_decision(fact.operation)
        if decision is not None and decision.assertion is not None:
            yield decision.assertion.passkey


def _proof(snapshot: Snapshot, head: Head, proven: set[EntityId]) -> dict[str, Any]:
    return proof_json(signed_run(snapshot, head), frozenset(proven))
