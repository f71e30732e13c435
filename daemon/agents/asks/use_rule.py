"""Whether a permission may be used: the whole rule, without a store or a clock.

Never looks at anything but its arguments, so that a million histories can be tried on it.
"""

from enum import StrEnum
from typing import NamedTuple

from store.fold.verdicts import DecisionStatus, ItemStatus


class UseResult(StrEnum):
    """The answer to a use. Only `GRANTED` lets the agent act."""

    GRANTED = "granted"
    ALREADY_USED = "already_used"
    CHANGED = "changed"
    EXPIRED = "expired"
    REJECTED = "rejected"
    DISPUTED = "disputed"
    PENDING = "pending"
    POLICY_CHANGED = "policy_changed"
    WITHDRAWN = "withdrawn"
    RESTORED = "restored"


class UsedBy(NamedTuple):
    """The use that was granted: to which execution, and the hash of the arguments."""

    execution: str
    args_hash: bytes


class Permission(NamedTuple):
    """What is known of an ask at the moment of its use.

    `asked_here` is whether this store wrote the ask as the replica that it writes as now. `granted_hash` is
    the hash of the arguments that the person said yes to; None without a yes to this very ask, or with one to
    what the device asked under the same key before its database was put back. `is_hindered` is whether the
    agent may not act any more, or needs more of a verdict than when it asked.
    """

    asked_here: bool
    status: ItemStatus
    granted_hash: bytes | None
    not_after_ms: int
    is_withdrawn: bool
    is_hindered: bool
    used_by: UsedBy | None


def judge_use(permission: Permission, execution: str, args_hash: bytes, now_ms: int) -> UseResult:
    """Return whether an execution may act with these arguments now. `now_ms` is Unix time in milliseconds.

    A use that was granted is granted again to the same execution, whatever happened since: it may have acted
    before the answer was lost.
    """
    if not permission.asked_here:
        # The yes may have been used before this database was copied or put back.
        return UseResult.RESTORED
    used = permission.used_by
    if used is not None:
        if used.execution != execution:
            return UseResult.ALREADY_USED
        return UseResult.GRANTED if used.args_hash == args_hash else UseResult.CHANGED
    if permission.is_withdrawn or permission.status.status is DecisionStatus.RETRACTED:
        return UseResult.WITHDRAWN
    if permission.is_hindered:
        return UseResult.POLICY_CHANGED
    return _result_of_verdicts(permission, args_hash, now_ms)


def _result_of_verdicts(permission: Permission, args_hash: bytes, now_ms: int) -> UseResult:
    """Return what the verdicts on an ask come to that nobody has used."""
    is_late = now_ms > permission.not_after_ms
    if permission.status.disputed:
        return UseResult.DISPUTED
    match permission.status.status:
        case DecisionStatus.REJECTED:
            return UseResult.REJECTED
        case DecisionStatus.CONFIRMED if permission.granted_hash is not None:
            if permission.granted_hash != args_hash:
                return UseResult.CHANGED
            return UseResult.EXPIRED if is_late else UseResult.GRANTED
        case _:
            return UseResult.EXPIRED if is_late else UseResult.PENDING
