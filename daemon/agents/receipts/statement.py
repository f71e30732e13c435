"""What a receipt states: computed from signed operations alone, when it is made and when it is checked.

Never states what no operation says, and never that nothing else was decided.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from daemon.agents.asks.ask_record import Ask, ask_in, order_of_writes
from daemon.agents.receipts.receipt_form import Fact, ReceiptFault
from daemon.agents.receipts.signed_verdicts import SignedDecision, judge_ask, judge_proposal
from daemon.agents.standing_rules.rule_record import StandingRule
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.effects import args_hash, fingerprint_of, item_id, written_entity
from daemon.agents.tools.presence import ANY
from daemon.agents.tools.table import TOOLS, validate_arguments
from daemon.journal.fields.provenance import AUTHOR_NAMES
from daemon.journal.views.lookup import json_value
from daemon.timestamps import iso_utc
from store.fold.item import Occurrence, decision_in, read_occurrence
from store.fold.item_name import Presence, Requirement, name_shown_in
from store.fold.proposal_index import CHANGE_SET, PASSKEY, ParsedDecision, parse_decision
from store.fold.verdicts import Verdict
from store.queries.asks import SignedWrite
from store.sentence import sentence
from syncproto.assertion import is_asserted, passkey_in
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.hlc import Stamp
from syncproto.ids import EntityId, id_to_text


class _Subject(NamedTuple):
    """What was decided on: how it is stated, and what verdicts on it need."""

    stated: dict[str, Any]
    requirement: Requirement | None
    ask: Ask | None


def statement_of(name: EntityId, follows: EntityId | None, facts: Sequence[Fact]) -> dict[str, Any]:
    """State what was asked or proposed under an id, what was decided, and how a permission was used.

    `follows` is the decided item that proposed the same before, if there is one: the id follows from it.
    Raises ReceiptFault if the operations do not show what the id stands for.
    """
    # The id of an ask follows no other: what is said of one would be believed without a proof.
    subject = (None if follows is not None else _ask(name, facts)) or _item(name, follows, facts)
    if subject is None:
        raise ReceiptFault(
            sentence("receipt-no-subject", "nothing in it shows what {id} stands for", id=id_to_text(name))
        )
    registrations = dict(_registrations(facts))
    decisions = [
        _decision(fact, parsed, subject.requirement, registrations)
        for fact in sorted(facts, key=lambda fact: (fact.stamp_ms, fact.n, fact.operation.entity))
        if (parsed := parse_decision(fact.operation)) is not None and parsed.item == name
    ]
    if subject.ask is None:
        judged = judge_proposal(decisions)
    else:
        judged = judge_ask(subject.ask, decisions, [_as_write(fact) for fact in facts])
    counting = {decision.passkey for decision, counts in zip(decisions, judged.counts, strict=True) if counts}
    return subject.stated | {
        "verdicts": [
            _verdict(decision, counts=counts)
            for decision, counts in zip(decisions, judged.counts, strict=True)
        ],
        "status": judged.status,
        "rules": [_rule(rule) for rule in judged.rules],
        "passkeys": [
            _registration(passkey, fact) for passkey, fact in registrations.items() if passkey in counting
        ],
        "uses": [_use(write, is_permitted=is_permitted) for write, is_permitted in judged.uses],
    }


def _ask(name: EntityId, facts: Iterable[Fact]) -> _Subject | None:
    """Return the ask under an id; the newest, if its device asked again after its database was put back."""
    creations = [fact for fact in facts if fact.operation.entity == name]
    asks = [(fact, ask) for fact in creations if (ask := ask_in(name, _as_write(fact))) is not None]
    if not asks:
        return None
    fact, ask = max(asks, key=lambda pair: order_of_writes(_as_write(pair[0])))
    stated = {
        "kind": "ask",
        "action": ask.name,
        "args": json_value(ask.args),
        "args_hash": ask.args_hash.hex(),
        "title": ask.title,
        "why": ask.why,
        "options": list(ask.options),
        "presence": ANY if ask.presence is None else ask.presence.value,
        "not_after": iso_utc(ask.not_after_ms),
        **_origin(fact, ask.agent),
    }
    return _Subject(stated, None if ask.presence is None else Requirement(ask.presence, ask.home), ask)


def _item(name: EntityId, follows: EntityId | None, facts: Iterable[Fact]) -> _Subject | None:
    for fact in facts:
        items = fact.operation.fields.get("items")
        if fact.operation.kind != CHANGE_SET or not fact.operation.creates or not isinstance(items, list):
            continue
        for position, item in enumerate(items):
            if not isinstance(item, dict) or item.get("item_id") != name:
                continue
            proposed = read_occurrence(fact.operation, position, fact.stamp_ms, fact.signer)
            requirement = _requirement(item, name)
            args = _validated_args(proposed)
            if args is None or not _follows(name, proposed, args, follows, requirement):
                continue
            stated = {
                "kind": "proposal",
                "tool": proposed.tool,
                "args": json_value(args),
                "args_hash": args_hash(proposed.tool, args).hex(),
                "task": id_to_text(proposed.task),
                "why": proposed.rationale,
                "presence": ANY if requirement is None else requirement.presence.value,
                **_origin(fact, proposed.agent),
            }
            return _Subject(stated, requirement, None)
    return None


def _requirement(item: dict[str, Value], name: EntityId) -> Requirement | None:
    shown = name_shown_in(item, name)
    return None if shown is None else shown.requirement


def _validated_args(proposed: Occurrence) -> Arguments | None:
    tool = TOOLS.get(proposed.tool)
    try:
        return None if tool is None else validate_arguments(tool.name, proposed.args)
    except ArgumentFault:
        return None


def _follows(
    name: EntityId,
    proposed: Occurrence,
    args: Arguments,
    follows: EntityId | None,
    requirement: Requirement | None,
) -> bool:
    """Report whether the id of an item follows from what was proposed under it."""
    fingerprint = fingerprint_of(proposed.task, proposed.tool, args)
    # Until an item's id followed from what it writes, all ids were made as are those of items that make it.
    entities = (written_entity(proposed.tool, args, proposed.task), None)
    return any(
        item_id(fingerprint, follows, proposed.task, entity, requirement) == name for entity in entities
    )


def _origin(fact: Fact, agent: EntityId) -> dict[str, Any]:
    return {"agent": id_to_text(agent), "at": iso_utc(fact.stamp_ms), "device": fact.signer.hex()}


def _registrations(facts: Iterable[Fact]) -> Iterator[tuple[EntityId, Fact]]:
    for fact in facts:
        operation = fact.operation
        passkey = passkey_in(operation.fields) if operation.kind == PASSKEY and operation.creates else None
        if passkey is not None and passkey.id == operation.entity and operation.by is AuthorKind.USER:
            yield passkey.id, fact


def _decision(
    fact: Fact, parsed: ParsedDecision, needed: Requirement | None, registrations: Mapping[EntityId, Fact]
) -> SignedDecision:
    assertion = parsed.assertion
    registration = None if assertion is None else registrations.get(assertion.passkey)
    passkey = None if registration is None else passkey_in(registration.operation.fields)
    is_by_passkey = (
        assertion is not None and passkey is not None and is_asserted(assertion, passkey, parsed.challenge)
    )
    opinion = parsed.opinion
    match needed:
        case None:
            counts = True
        case _ if opinion.by is not AuthorKind.USER:
            counts = opinion.verdict is Verdict.RETRACTED
        case Requirement(Presence.OTHER_DEVICE, home):
            counts = fact.signer != home
        case _:
            counts = is_by_passkey
    stamp = Stamp(fact.stamp_ms, fact.n)
    decision = decision_in(fact.operation, opinion._replace(counts=counts), fact.head, stamp, fact.signer)
    return SignedDecision(decision, passkey.id if passkey is not None and is_by_passkey else None)


def _verdict(signed: SignedDecision, *, counts: bool) -> dict[str, Any]:
    decision = signed.decision
    return {
        "verdict": decision.verdict.value,
        "by": AUTHOR_NAMES[decision.by],
        "counts": counts,
        "at": iso_utc(decision.stamp_ms),
        "device": decision.device.hex(),
        "args_hash": decision.args_hash.hex() or None,
        "reason": decision.reason or None,
        "edited_args": json_value(decision.edited_args),
        "option": decision.option or None,
        "rule": None if decision.rule is None else id_to_text(decision.rule),
        "passkey": None if signed.passkey is None else id_to_text(signed.passkey),
    }


def _rule(rule: StandingRule) -> dict[str, Any]:
    revoked = rule.revoked
    return {
        "rule": id_to_text(rule.id),
        "at": iso_utc(rule.made_ms),
        "device": rule.maker.hex(),
        "name": rule.name,
        "exact": json_value(dict(rule.pattern.exact)),
        "begins": dict(rule.pattern.begins),
        "until": iso_utc(rule.until_ms),
        "uses_a_day": rule.uses_a_day,
        "revoked": None
        if revoked is None
        else {"at": iso_utc(revoked.stamp_ms), "device": revoked.signer.hex()},
    }


def _registration(passkey: EntityId, fact: Fact) -> dict[str, Any]:
    return {
        "passkey": id_to_text(passkey),
        "rp_id": json_value(fact.operation.fields.get("rp_id")),
        "at": iso_utc(fact.stamp_ms),
        "device": fact.signer.hex(),
    }


def _use(write: SignedWrite, *, is_permitted: bool) -> dict[str, Any]:
    return {
        "at": iso_utc(write.stamp_ms),
        "device": write.signer.hex(),
        "args_hash": json_value(write.fields.get("args_hash")),
        "execution_id": json_value(write.fields.get("execution_id")),
        "permitted": is_permitted,
    }


def _as_write(fact: Fact) -> SignedWrite:
    operation = fact.operation
    return SignedWrite(
        operation.kind,
        operation.fields,
        fact.head,
        fact.stamp_ms,
        fact.n,
        fact.signer,
        operation.creates,
        operation.by,
        operation.entity,
        operation.origin is not None,
    )
