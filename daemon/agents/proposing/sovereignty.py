"""The guard of what a person ticked or unticked: an agent needs a reason and evidence from after that.

Never trusts what a model says of its evidence. Each id is looked up here, when the agent proposes and again
when a person confirms. A value of unknown origin counts as the user's.
"""

from typing import NamedTuple

from daemon.agents.tools.arguments import Arguments
from daemon.journal.fields.provenance import ORIGIN_AT_KEY, written_ms
from daemon.journal.wishes import is_wish
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.fold.field_versions import Provenance
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text

_FIELD = "is_checked"


class WriteTime(NamedTuple):
    """When something was written.

    `stamp` is the hybrid logical time, `shown_ms` the Unix time that people see. `imported` is True for a
    value that came with an import.
    """

    stamp: tuple[int, int]
    shown_ms: int
    imported: bool

    def is_after(self, other: "WriteTime") -> bool:
        """Report whether this was written later. Imported values are as old as they were at their origin."""
        if self.imported and other.imported:
            return self.shown_ms > other.shown_ms
        # Both clocks must agree: an import may show a time long before its stamp, and is as old as its
        # origin.
        return self.stamp > other.stamp and self.shown_ms >= other.shown_ms


def tick_objection(
    snapshot: Snapshot, task: EntityId, item: Entity | None, args: Arguments, reason_min: int
) -> str | None:
    """Return why an agent may not tick an item as proposed; None if it may, or if it changes no tick.

    `item` is the checklist item as it is now, None if it is not known here. `args` are those of
    `update_checklist_item`. `reason_min` is how many characters a reason must have.
    """
    if item is None or not changes_tick(item, args):
        return None
    by_people = [
        source.source for source in item.versions(_FIELD) if source.source.by is not AuthorKind.AGENT
    ]
    # Without any version the origin of the value is unknown, and counts as the person's.
    if item.versions(_FIELD) and not by_people:
        return None
    set_at = max((write_time_of(source) for source in by_people if _is_dated(source)), default=None)
    # Without a known toggle, evidence must at least be later than the item itself.
    since = set_at or (None if item.created is None else write_time_of(item.created))
    if (
        _visible_reason_length(args) >= reason_min
        and since is not None
        and _has_evidence(snapshot, task, args, since)
    ):
        return None
    time = "unknown" if set_at is None else iso_utc(snapshot.shown_ms(set_at.shown_ms))
    return (
        f"User set this item at {time}. Provide a reason (>= {reason_min} chars)"
        " and evidence from after that time to override."
    )


def changes_tick(item: Entity, args: Arguments) -> bool:
    """Report whether a call changes the tick of an existing item; a call that creates an item names no id."""
    return {"id", "isChecked"} <= args.keys() and args["isChecked"] is not (item.value(_FIELD) is True)


def _visible_reason_length(args: Arguments) -> int:
    """Return the number of visible characters of the reason; a run of blanks counts as one."""
    reason = args.get("reason")
    text = "".join(sign for sign in reason if sign.isprintable()) if isinstance(reason, str) else ""
    return len(" ".join(text.split()))


def _has_evidence(snapshot: Snapshot, task: EntityId, args: Arguments, since: WriteTime) -> bool:
    """Report whether a call names evidence, and each named entry counts as such."""
    evidence_ids = args.get("evidenceIds") or []
    return bool(evidence_ids) and all(
        is_later_note(snapshot.entity(id_from_text(entry)), task, since) for entry in evidence_ids
    )


def is_later_note(entry: Entity | None, task: EntityId, since: WriteTime) -> bool:
    """Report whether an entity has the user's own words on this task, written later: an entry or a wish."""
    if entry is None or not entry.visible or entry.value("task_id") != task:
        return False
    if entry.kind != "entry" and not is_wish(entry):
        return False
    created, texts = entry.created, entry.versions("text")
    is_own = bool(texts) and all(_is_users(version.source) for version in texts)
    return is_own and created is not None and _is_users(created) and write_time_of(created).is_after(since)


def _is_users(source: Provenance) -> bool:
    return source.by is AuthorKind.USER


def write_time_of(source: Provenance) -> WriteTime:
    """Return when a value was written."""
    return WriteTime((source.ms, source.n), written_ms(source), source.origin is not None)


def _is_dated(source: Provenance) -> bool:
    """Report whether it is known when a value was written: an import may not contain the time."""
    origin_ms: Value = None if source.origin is None else source.origin.get(ORIGIN_AT_KEY)
    return source.origin is None or type(origin_ms) is int
