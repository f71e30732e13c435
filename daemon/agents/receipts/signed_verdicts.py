"""What signed verdicts come to, on a proposal or an ask: by the rules of the daemon, without a journal.

Never lets a yes count that a person or a standing rule did not give to exactly what was asked.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from daemon.agents.asks.ask_outcome import outcome_from
from daemon.agents.asks.ask_record import Ask, grant_of_use, is_use_of, is_withdrawn
from daemon.agents.asks.standing_permission import rule_if_permitting
from daemon.agents.standing_rules.rule_record import StandingRule, rule_in
from store.fold.item import Decision
from store.fold.verdicts import DecisionStatus, ItemStatus, Verdict, deciding_opinions, item_status_from
from store.queries.asks import SignedWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from syncproto.vector_clock import Head

_USED, _DISPUTED = "used", "disputed"
_USES_MAX: Final = 8
"""A device uses a yes once: more are stated by nobody but an attacker."""


class SignedDecision(NamedTuple):
    """A decision, whose `device` has signed it, and the passkey with which it was genuine, if it was."""

    decision: Decision
    passkey: EntityId | None


class Judgement(NamedTuple):
    """What decisions come to: for each whether it counts, the status, the rules behind them, and the uses.

    A use is permitted if its arguments are those of a yes that is known.
    """

    counts: list[bool]
    status: str
    rules: list[StandingRule]
    uses: list[tuple[SignedWrite, bool]]


def judge_proposal(decisions: Sequence[SignedDecision]) -> Judgement:
    """Judge the decisions on a proposal: they count as in the fold."""
    counts = [signed.decision.counts for signed in decisions]
    return Judgement(counts, _word_for(_status_of([signed.decision for signed in decisions])), [], [])


def judge_ask(ask: Ask, signed: Sequence[SignedDecision], writes: Sequence[SignedWrite]) -> Judgement:
    """Judge the decisions on an ask. `writes` are all that is signed, also to its rules and of its use."""
    decisions = tuple(pair.decision for pair in signed)
    rules = _rules_in(decisions, writes)
    # By its place: an attacker may give one id to many.
    rule_at = {
        _place(decision): rule
        for decision in decisions
        if decision.rule is not None
        and (rule := rule_if_permitting(ask, decision, decision.device, rules.get(decision.rule)))
    }
    args_hash = ask.args_hash
    genuine = [_place(decision) in rule_at or _is_given(decision, args_hash) for decision in decisions]
    counted = tuple(decision for decision, is_genuine in zip(decisions, genuine, strict=True) if is_genuine)
    uses = [write for write in writes if is_use_of(ask, write)][:_USES_MAX]
    grants = [grant_of_use(ask, write, counted) for write in uses]
    used_by = {_place(grant.decision) for grant in grants if grant is not None}
    counts = [
        is_genuine and (_place(decision) in used_by or _is_in_force(rule_at.get(_place(decision))))
        for decision, is_genuine in zip(decisions, genuine, strict=True)
    ]
    if used_by:
        status = _USED
    elif is_withdrawn(decisions):
        status = DecisionStatus.RETRACTED.value
    else:
        outcome = outcome_from(
            ask, decisions, _status_of(decisions), lambda decision: rule_at.get(_place(decision))
        )
        is_empty = outcome.status.status is DecisionStatus.CONFIRMED and outcome.grant is None
        status = DecisionStatus.PENDING.value if is_empty else _word_for(outcome.status)
    behind = {rule.id: rule for rule in rule_at.values()}
    judged_uses = [(write, grant is not None) for write, grant in zip(uses, grants, strict=True)]
    return Judgement(counts, status, list(behind.values()), judged_uses)


def _place(decision: Decision) -> tuple[Head, EntityId]:
    return decision.head, decision.id


def _is_given(decision: Decision, args_hash: bytes) -> bool:
    """Report whether a person decided, or the agent took it back; a yes only to exactly what was asked."""
    if not decision.counts:
        return False
    if decision.verdict is Verdict.CONFIRMED:
        is_seen = decision.args_hash == args_hash and not decision.is_imported
        return decision.by is AuthorKind.USER and is_seen
    return decision.by is AuthorKind.USER or decision.verdict is Verdict.RETRACTED


def _is_in_force(rule: StandingRule | None) -> bool:
    return rule is None or rule.revoked is None


def _rules_in(decisions: Sequence[Decision], writes: Sequence[SignedWrite]) -> dict[EntityId, StandingRule]:
    named: dict[EntityId, list[SignedWrite]] = {
        decision.rule: [] for decision in decisions if decision.rule is not None
    }
    for write in writes:
        if write.entity in named:
            named[write.entity].append(write)
    rules = (rule_in(name, rule_writes) for name, rule_writes in named.items())
    return {rule.id: rule for rule in rules if rule is not None}


def _status_of(decisions: Sequence[Decision]) -> ItemStatus:
    deciding = deciding_opinions(decision.opinion for decision in decisions)
    return item_status_from(Counter(opinion.verdict for opinion in deciding))


def _word_for(status: ItemStatus) -> str:
    return _DISPUTED if status.disputed else status.status.value
