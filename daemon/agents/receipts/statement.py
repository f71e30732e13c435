"""What a receipt states: computed from signed operations alone, when it is made and when it is checked.

Never states what no operation says, and never that nothing else was decided.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from daemon.agents.asks.ask_record import Ask, ask_in, use_id
from daemon.agents.receipts.receipt_form import Fact, ReceiptFault
from daemon.agents.standing.rule_record import STANDING_RULE, is_creation_of_rule
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.effects import args_hash, fingerprint_of, item_id, written_entity
from daemon.agents.tools.presence import ANY
from daemon.agents.tools.table import TOOLS, validate_arguments
from daemon.journal.fields.provenance import AUTHOR_NAMES
from daemon.journal.views.lookup import json_value
from daemon.timestamps import iso_utc
from store.fold.item import Occurrence, read_occurrence
from store.fold.item_name import Presence, Requirement, name_shown_in
from store.fold.proposal_index import ASK, CHANGE_SET, PASSKEY, ParsedDecision, parse_decision
from store.fold.verdicts import Opinion, deciding_opinions, item_status_from
from store.queries.asks import SignedWrite
from store.sentence import sentence
from syncproto.assertion import Passkey, is_asserted, passkey_in
from syncproto.codec import Value
from syncproto.commit import AuthorKind
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
    subject = _ask(name, facts) or _item(name, follows, facts)
    if subject is None:
        raise ReceiptFault(
            sentence("receipt-no-subject", "nothing in it shows what {id} stands for", id=id_to_text(name))
        )
    passkeys = dict(_passkeys(facts))
    decisions = [
        (fact, decision)
        for fact in sorted(facts, key=lambda fact: (fact.stamp_ms, fact.n, fact.operation.entity))
        if (decision := parse_decision(fact.operation)) is not None and decision.item == name
    ]
    opinions = [
        decision.opinion._replace(counts=_fulfils(fact, decision, subject.requirement, passkeys))
        for fact, decision in decisions
    ]
    return subject.stated | {
        "verdicts": [
            _verdict(fact, opinion) for (fact, _decision), opinion in zip(decisions, opinions, strict=True)
        ],
        "status": _status(opinions),
        "rules": [_rule(fact) for fact in facts if _is_rule(fact)],
        "uses": [] if subject.ask is None else [_use(fact) for fact in facts if _is_use(fact, subject.ask)],
    }


def _ask(name: EntityId, facts: Iterable[Fact]) -> _Subject | None:
    for fact in facts:
        ask = ask_in(name, _as_write(fact)) if fact.operation.entity == name else None
        if ask is None or fact.operation.kind != ASK:
            continue
        requirement = None if ask.presence is None else Requirement(ask.presence, ask.home)
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
        return _Subject(stated, requirement, ask)
    return None


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


def _passkeys(facts: Iterable[Fact]) -> Iterable[tuple[EntityId, Passkey]]:
    for fact in facts:
        operation = fact.operation
        passkey = passkey_in(operation.fields) if operation.kind == PASSKEY and operation.creates else None
        if passkey is not None and passkey.id == operation.entity and operation.by is AuthorKind.USER:
            yield passkey.id, passkey


def _fulfils(
    fact: Fact, decision: ParsedDecision, needed: Requirement | None, passkeys: dict[EntityId, Passkey]
) -> bool:
    """Report whether a decision is what its item needs (PROTOCOL.md §8)."""
    if needed is None or decision.opinion.by is not AuthorKind.USER:
        return needed is None
    if needed.presence is Presence.OTHER_DEVICE:
        return fact.signer != needed.home
    assertion = decision.assertion
    passkey = None if assertion is None else passkeys.get(assertion.passkey)
    return (
        assertion is not None and passkey is not None and is_asserted(assertion, passkey, decision.challenge)
    )


def _status(opinions: Sequence[Opinion]) -> str:
    deciding = deciding_opinions(opinions)
    status = item_status_from(Counter(opinion.verdict for opinion in deciding))
    return "disputed" if status.disputed else status.status.value


def _verdict(fact: Fact, opinion: Opinion) -> dict[str, Any]:
    fields = fact.operation.fields
    return {
        "verdict": opinion.verdict.value,
        "by": AUTHOR_NAMES[opinion.by],
        "counts": opinion.counts,
        "at": iso_utc(fact.stamp_ms),
        "device": fact.signer.hex(),
        **{
            name: json_value(fields.get(name))
            for name in ("args_hash", "reason", "edited_args", "option", "rule")
        },
    }


def _is_rule(fact: Fact) -> bool:
    return fact.operation.kind == STANDING_RULE and is_creation_of_rule(
        fact.operation.entity, _as_write(fact)
    )


def _rule(fact: Fact) -> dict[str, Any]:
    names = ("name", "exact", "begins", "uses_a_day")
    fields = {name: json_value(fact.operation.fields.get(name)) for name in names}
    until = fact.operation.fields.get("until")
    return {
        "rule": id_to_text(fact.operation.entity),
        "at": iso_utc(fact.stamp_ms),
        "device": fact.signer.hex(),
        "until": iso_utc(until) if isinstance(until, int) else None,
        **fields,
    }


def _is_use(fact: Fact, ask: Ask) -> bool:
    return (
        fact.operation.kind == "use"
        and fact.operation.entity == use_id(ask.id, ask.replica)
        and fact.signer == ask.home
        and fact.head.replica == ask.replica
    )


def _use(fact: Fact) -> dict[str, Any]:
    fields = fact.operation.fields
    return {
        "at": iso_utc(fact.stamp_ms),
        "device": fact.signer.hex(),
        "args_hash": json_value(fields.get("args_hash")),
        "execution_id": json_value(fields.get("execution_id")),
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
    )
