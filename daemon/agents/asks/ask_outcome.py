"""What the verdicts on an ask come to, a person's first, then what a standing rule permits.

Never looks at a clock: it says until when a permission may be used, and the caller compares.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from daemon.agents.asks.ask_record import (
    Ask,
    Grant,
    genuine_use,
    grant_on,
    is_hindered,
    is_withdrawn,
    refusal_on,
)
from daemon.agents.asks.standing_permission import rule_behind
from daemon.agents.asks.use_rule import Permission, UsedBy
from daemon.agents.standing_rules.rule_record import StandingRule
from store.fold.item import Decision
from store.fold.verdicts import UNDECIDED, DecisionStatus, ItemStatus
from store.local.granted_uses import granted_use
from store.snapshot import Snapshot
from syncproto.commit import AuthorKind

_PERMITTED = ItemStatus(DecisionStatus.CONFIRMED, disputed=False)


class AskOutcome(NamedTuple):
    """How an ask was decided: its status, and the yes or the no that counts.

    `rule` is the standing rule that gave the yes, None if a person did. `not_after_ms` is until when a
    permission may be used, Unix time in milliseconds: a rule's also ends with the rule.
    """

    status: ItemStatus
    grant: Grant | None
    refusal: Decision | None
    rule: StandingRule | None
    not_after_ms: int


def outcome_of(snapshot: Snapshot, ask: Ask, decisions: tuple[Decision, ...]) -> AskOutcome:
    """Return how an ask was decided, as this device knows it; `decisions` are all on it."""
    return outcome_from(ask, decisions, snapshot.item_status(ask.id), partial(rule_behind, snapshot, ask))


def outcome_from(
    ask: Ask,
    decisions: tuple[Decision, ...],
    status: ItemStatus,
    find_rule: Callable[[Decision], StandingRule | None],
) -> AskOutcome:
    """Return how an ask was decided, by all decisions that are known, and the status that they fold to.

    `find_rule` returns the rule that a decision rests on, None if it rests on none. What no person decided,
    and no rule that stands, is open: a daemon's word alone permits nothing. A rule that was revoked since
    permits nothing any more that was not used.
    """
    by_person = any(decision.counts and decision.by is AuthorKind.USER for decision in decisions)
    if by_person or is_withdrawn(decisions):
        grant = grant_on(ask, decisions) if status.status is DecisionStatus.CONFIRMED else None
        refusal = refusal_on(decisions) if status.status is DecisionStatus.REJECTED else None
        return AskOutcome(status, grant, refusal, None, ask.not_after_ms)
    for decision in decisions:
        rule = find_rule(decision)
        if rule is not None and rule.revoked is None:
            grant = Grant(decision, ask.args, ask.args_hash)
            return AskOutcome(_PERMITTED, grant, None, rule, min(ask.not_after_ms, rule.until_ms))
    return AskOutcome(UNDECIDED, None, None, None, ask.not_after_ms)


def permission_of(snapshot: Snapshot, ask: Ask) -> Permission:
    """Return what the rule of use needs to know of an ask, as this device knows it."""
    decisions = snapshot.decisions_on(ask.id)
    outcome = outcome_of(snapshot, ask, decisions)
    return Permission(
        asked_here=ask.home == snapshot.device and ask.replica == snapshot.replica,
        status=outcome.status,
        granted_hash=None if outcome.grant is None else outcome.grant.args_hash,
        not_after_ms=outcome.not_after_ms,
        is_withdrawn=is_withdrawn(decisions),
        is_hindered=is_hindered(snapshot, ask),
        used_by=_earlier_use(snapshot, ask),
    )


def _earlier_use(snapshot: Snapshot, ask: Ask) -> UsedBy | None:
    """Return the use that was granted, by the row of this store or by its commit; None without both.

    Either is enough: they are written in one transaction, and a file that lost one has been meddled with.
    """
    row, use = granted_use(snapshot, ask.id), genuine_use(snapshot, ask)
    if row is not None:
        return UsedBy(row.execution, row.args_hash)
    if use is None:
        return None
    execution, args_hash = use.fields.get("execution_id"), use.fields.get("args_hash")
    return UsedBy(
        execution if isinstance(execution, str) else "", args_hash if isinstance(args_hash, bytes) else b""
    )
