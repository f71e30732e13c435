"""Permissions that a standing rule gives: in the moment of the ask, by a decision that names the rule.

Never decides for a person: any decision of a person outranks it, and it comes from no earlier decision.
"""

from typing import Final

from daemon.agents.asks.ask_record import Ask
from daemon.agents.standing_rules.argument_pattern import matches, wide_arguments
from daemon.agents.standing_rules.rule_record import StandingRule, read_rule, rules_in_force_on
from daemon.agents.standing_rules.rule_uses import may_use, use_fields
from store.fold.item import Decision
from store.fold.verdicts import Verdict
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId
from syncproto.keys import device_id_of_key

BY_RULE: Final = "rule"
"""What a decision of a rule says instead of the program in which a person decided."""


def covers(rule: StandingRule, ask: Ask) -> bool:
    """Report whether a rule is about an ask: its agent, home, action and arguments, and what verdicts need.

    A rule cannot choose among options.
    """
    return (
        rule.agent == ask.agent
        and rule.home == ask.home
        and rule.name == ask.name
        and not ask.options
        and rule.meets_need(ask.presence)
        and matches(rule.pattern, ask.args)
    )


def permit_by_rule(tx: Transaction, ask: Ask) -> None:
    """Permit a new ask if a rule covers it that may still be used; of several, the one that ends first.

    Call it in the transaction that makes the ask: so an ask is compared with the rules once, and a rule that
    comes later leaves it to a person.
    """
    if ask.home != tx.device or ask.replica != tx.replica or tx.opinions_on(ask.id):
        return
    # What the stamp says of each rule, `may_use` asks.
    standing = rules_in_force_on(tx, ask.agent, tx.now_ms())
    usable = [
        rule
        for rule in standing
        if covers(rule, ask) and not wide_arguments(rule.pattern) and may_use(tx, rule)
    ]
    rule = min(usable, key=lambda usable_rule: (usable_rule.until_ms, usable_rule.id), default=None)
    if rule is None:
        return
    fields: dict[str, Value] = {
        "item_id": ask.id,
        "verdict": Verdict.CONFIRMED.value,
        "device": tx.device,
        "seen": [],
        "via": BY_RULE,
        "args_hash": ask.args_hash,
        **use_fields(tx, rule),
    }
    tx.commit([EntityWrite(tx.new_id(), "decision", fields)], by=AuthorKind.SYSTEM)


def rule_behind(snapshot: Snapshot, ask: Ask, decision: Decision) -> StandingRule | None:
    """Return the rule by which a device permitted an ask; None if it was not that, or the rule is none."""
    if decision.rule is None:
        return None
    signer = device_id_of_key(snapshot.log.key_of_commit(decision.head))
    return rule_if_permitting(ask, decision, signer, read_rule(snapshot, decision.rule))


def rule_if_permitting(
    ask: Ask, decision: Decision, signer: DeviceId, rule: StandingRule | None
) -> StandingRule | None:
    """Return the rule that a decision names if it permits the ask; `signer` has signed the decision.

    Everything is compared again: a decision that merely names a rule permits nothing.
    """
    if rule is None or decision.by is not AuthorKind.SYSTEM or decision.rule != rule.id:
        return None
    if decision.verdict is not Verdict.CONFIRMED or decision.args_hash != ask.args_hash:
        return None
    if decision.edited_args is not None or decision.option or signer != ask.home or decision.is_imported:
        return None
    return rule if covers(rule, ask) else None
