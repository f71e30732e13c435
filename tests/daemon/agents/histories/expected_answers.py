"""The expected answers to a person, by the table of decisions, from what really happened.

Never asks the code that it judges.
"""

from syncproto.ids import EntityId
from tests.daemon.agents.histories.reference import OPEN, Fields, Reference

_BECOMES = {"reject": "rejected", "undo": "rejected", "reopen": "pending", "defer": "deferred"}

_DUE = {
    "reject": {"pending": "applied", "deferred": "applied", "rejected": "already", "confirmed": "conflict",
               "retracted": "obsolete"},
    "undo": {"confirmed": "applied", "rejected": "already", "pending": "conflict", "deferred": "conflict",
             "retracted": "conflict"},
    "reopen": {"pending": "already", "confirmed": "applied", "rejected": "applied", "deferred": "applied",
               "retracted": "applied"},
    "defer": {"pending": "applied", "deferred": "already", "confirmed": "conflict", "rejected": "conflict",
              "retracted": "obsolete"},
}  # fmt: skip


def left(verdict: str) -> str:
    """Return the status that a verdict leaves behind."""
    return _BECOMES[verdict]


def settling(reference: Reference, item: EntityId, verdict: str) -> set[str]:
    """Return what a verdict other than a confirmation is answered by."""
    if reference.disputed(item):
        return {"conflict" if verdict == "defer" else "applied"}
    if verdict == "reopen" and reference.expired(item):
        return {"applied"}  # it is asked for again
    return {_DUE[verdict][reference.status(item)]}


def confirming(
    reference: Reference,
    item: EntityId,
    *,
    words: Fields | None = None,
    force: bool = False,
    again: bool = False,
) -> set[str]:
    """Return what a confirmation is answered by."""
    status = reference.status(item)
    if status == "confirmed":
        if not (force and reference.overtaken(item)):
            return {"already", "conflict"} if words is not None else {"already"}
    elif status in ("rejected", "retracted") and not (reference.disputed(item) or again):
        return {"conflict"}
    return {_standing(reference, item, words, force)}


def _standing(reference: Reference, item: EntityId, words: Fields | None, force: bool) -> str:
    """Say what stands in the way of an item that may be confirmed as far as verdicts go."""
    if reference.gone(item):
        return "obsolete"
    nothing_to_do = reference.status(item) in OPEN and reference.already_so(item)
    if nothing_to_do and not (force and reference.creates(item)):
        return "obsolete"
    if reference.expired(item) and not force:
        return "expired"
    if reference.stale(item, words) and not force:
        return "stale"
    return "failed" if reference.guarded(item) and not force else "applied"
