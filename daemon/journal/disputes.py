"""Conflicts in plain structure: the values that stand beside each other, each with who, where and when.

Never hides one, and never settles one: `conflicts` does, when a person says so.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from daemon.journal import names
from daemon.journal.provenance import AUTHORS, author, iso, written_ms
from daemon.journal.views import Conflict, ConflictVersion
from store.entity import Entity
from store.fold import DELETED
from store.listed import disputed
from store.shown import counters, stamp_ms
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.heads import Head, covers
from syncproto.ids import DeviceId, EntityId, from_text, text

if TYPE_CHECKING:
    from daemon.journal.show import Shown

_SIBLINGS = {
    "checklist_item": ("checklist_id", "checklist_item"),
    "checklist": ("task_id", "task_checklist"),
}
"""What has a place among others: the field that points up, and the relation down again."""

_NAMED_BY = ("title", "name", "text", "note")


class Choice(NamedTuple):
    """One of the values of a field in conflict, as it is kept."""

    value: Value
    by: str
    head: Head
    ms: int


def choices(snapshot: Snapshot, entity: Entity) -> dict[str, list[Choice]]:
    """Return the values of each field in conflict, the one in effect first."""
    if not entity.visible or not disputed(entity.row) or _is_over(entity):
        return {}
    found = {
        field: [
            _choice(one.value, author(one.source) or "", one.source.head, written_ms(one.source))
            for one in versions
        ]
        for field, versions in entity.conflicts().items()
        if field != DELETED
    }
    tombs = [one for one in entity.versions(DELETED) if one.value is True]
    if tombs:
        kept = [one for one in entity.versions(DELETED) if one.value is not True]
        stays = [_choice(False, author(one.source) or "", one.source.head, one.source.ms) for one in kept]
        gone = [_choice(True, author(one.source) or "", one.source.head, one.source.ms) for one in tombs]
        found[DELETED] = [*(stays or _outliving(snapshot, entity)), *gone[:1]]
    return dict(sorted(found.items()))


_choice = Choice


def _is_over(entity: Entity) -> bool:
    """Say whether an agent was destroyed: that is final, and a value kept in its place would take it back."""
    return entity.kind == "agent" and any(one.value == "destroyed" for one in entity.versions("lifecycle"))


def _outliving(snapshot: Snapshot, entity: Entity) -> list[Choice]:
    """Return the writes of people that a deletion had not seen: they keep the entity in sight."""
    tombs = [one.source.base or () for one in entity.versions(DELETED) if one.value is True]
    unseen = [
        head for head in entity.row.person if not any(covers(tomb, head, snapshot.log) for tomb in tombs)
    ]
    told = [Choice(False, AUTHORS[By.USER], head, stamp_ms(snapshot, head)) for head in unseen]
    return sorted(told, key=lambda one: one.ms, reverse=True)[:1]


def conflicts(shown: "Shown", snapshot: Snapshot, entity: Entity) -> list[Conflict]:
    """Show the fields that have more than one value, and a deletion that an edit outlived."""
    return [
        Conflict(
            entity=text(entity.id),
            kind=entity.kind,
            field=field,
            versions=[_version(shown, snapshot, entity, field, one) for one in several],
            vector_clock={text(replica): counter for replica, counter in counters(entity.clock).items()},
            name=field_name(shown, field),
            title=next((words for one in _NAMED_BY if (words := entity.text(one))), "")[:80],
        )
        for field, several in choices(snapshot, entity).items()
    ]


def field_name(shown: "Shown", field: str) -> str:
    """Name a field as people do: a label's membership by the label's name."""
    prefix, slash, member = field.partition("/")
    if not slash or prefix not in (names.SET, names.SCOPE):
        return field
    known = shown.labels if prefix == names.SET else shown.categories
    try:
        return f"{prefix}/{known.get(from_text(member), member)}"
    except ValueError:
        return field


def _version(
    shown: "Shown", snapshot: Snapshot, entity: Entity, field: str, choice: Choice
) -> ConflictVersion:
    source = next((one.source for one in entity.versions(field) if one.source.head == choice.head), None)
    if source is None:
        device = shown.device(choice.head.replica)
        name = shown.device_names.get(device, "")
    else:
        device, name = shown.wrote_on(source)
    return ConflictVersion(
        value=shown.value(field, choice.value),
        by=choice.by,
        device=device.hex(),
        device_name=name,
        at=iso(choice.ms),
        words=_words(shown, snapshot, entity, field, choice.value),
    )


def _words(shown: "Shown", snapshot: Snapshot, entity: Entity, field: str, value: Value) -> str:
    """Say a value that means nothing by itself; the empty string for one that does."""
    if field == DELETED:
        return "remove it" if value is True else "keep it"
    if "/" in field:
        return "with it" if value is True else "without it"
    if field == "position" and isinstance(value, str):
        return _place(value, _siblings(shown, entity))
    if field == "home_device_id" and isinstance(value, bytes):
        return shown.device_names.get(DeviceId(value), "")
    if field.endswith("_id") and isinstance(value, bytes):
        held = snapshot.entity(EntityId(value))
        return "" if held is None else held.text("title") or held.text("name")
    return ""


def _siblings(shown: "Shown", entity: Entity) -> list[Entity]:
    field, relation = _SIBLINGS.get(entity.kind, ("", ""))
    target = entity.value(field)
    if not isinstance(target, bytes):
        return []
    return [one for one in shown.children(EntityId(target), relation) if one.id != entity.id]


def _place(place: str, siblings: Sequence[Entity]) -> str:
    before = [(one.text("position"), one.text("title")) for one in siblings if one.text("position") < place]
    return f"after “{max(before)[1]}”" if before else "first"
