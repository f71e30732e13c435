"""What a person ticked or unticked stays so, unless an agent argues for it with evidence from after that.

Never trusts what a model says of its evidence: each id is looked up here, when it proposes and again when a
person confirms (DOMAIN.md §3). Whose value cannot be told counts as the user's.
"""

from typing import NamedTuple

from daemon.agents.tools import Arguments
from daemon.journal.provenance import ORIGIN_AT, iso, written_ms
from store.entity import Entity
from store.fold import Source
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import EntityId, from_text

_FIELD = "is_checked"


class Moment(NamedTuple):
    """When something was written: hybrid logical time, the time that people are shown, and if it came in."""

    stamp: tuple[int, int]
    shown_ms: int
    imported: bool

    def is_after(self, other: "Moment") -> bool:
        """Say whether this was written later; what was imported is as old as it was where it came from."""
        if self.imported and other.imported:
            return self.shown_ms > other.shown_ms
        return self.stamp > other.stamp and self.shown_ms >= other.shown_ms


def objection(
    snapshot: Snapshot, task: EntityId, item: Entity | None, args: Arguments, reason_min: int
) -> str | None:
    """Say why an agent may not tick an item as proposed; None where it may, or does not.

    `item` is the checklist item as it stands, None where it is not known here; `args` are those of
    `update_checklist_item`; `reason_min` is how many characters a reason must have.
    """
    if item is None or not ticks(item, args):
        return None
    users = [one.source for one in item.versions(_FIELD) if one.source.by is not By.AGENT]
    if item.versions(_FIELD) and not users:
        return None
    set_at = max((_moment(one) for one in users if _is_dated(one)), default=None)
    since = set_at or (None if item.created is None else _moment(item.created))
    if _said(args) >= reason_min and since is not None and _evidence(snapshot, task, args, since):
        return None
    time = "unknown" if set_at is None else iso(set_at.shown_ms)
    return (
        f"User set this item at {time}. Provide a reason (>= {reason_min} chars)"
        " and evidence from after that time to override."
    )


def ticks(item: Entity, args: Arguments) -> bool:
    """Say whether a call would really tick or untick an item; one that makes an item names none."""
    return {"id", "isChecked"} <= args.keys() and args["isChecked"] is not (item.value(_FIELD) is True)


def _said(args: Arguments) -> int:
    """Count what of a reason can be seen, blanks that follow each other as one."""
    reason = args.get("reason")
    shown = "".join(sign for sign in reason if sign.isprintable()) if isinstance(reason, str) else ""
    return len(" ".join(shown.split()))


def _evidence(snapshot: Snapshot, task: EntityId, args: Arguments, since: Moment) -> bool:
    """Say whether a call names evidence, and all that it names counts."""
    named = args.get("evidenceIds") or []
    return bool(named) and all(_counts(snapshot.entity(from_text(one)), task, since) for one in named)


def _counts(entry: Entity | None, task: EntityId, since: Moment) -> bool:
    """Say whether an entity is an entry in sight, of this task, in the user's own words, and from later."""
    if entry is None or entry.kind != "entry" or not entry.visible or entry.value("task_id") != task:
        return False
    created, texts = entry.created, entry.versions("text")
    own = bool(texts) and all(_is_users(one.source) for one in texts)
    return own and created is not None and _is_users(created) and _moment(created).is_after(since)


def _is_users(source: Source) -> bool:
    return source.by is By.USER


def _moment(source: Source) -> Moment:
    return Moment((source.ms, source.n), written_ms(source), source.origin is not None)


def _is_dated(source: Source) -> bool:
    """Say whether it is known when a value was written: an import may not tell."""
    at: Value = None if source.origin is None else source.origin.get(ORIGIN_AT)
    return source.origin is None or type(at) is int
