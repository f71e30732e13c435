"""Conflicts as they are shown: the competing values, each with its author, device and time.

Never hides a conflict and never settles one: `daemon/journal/conflicts.py` does, when a person says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import UNSET

from daemon.journal.fields.provenance import AUTHOR_NAMES, as_proposed, author_name, written_ms
from daemon.journal.references.names import shown_name
from daemon.journal.views.lookup import ChildLookup, NameLookup, clock_json
from daemon.journal.views.structures import Conflict, ConflictVersion
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.fold.field_versions import Provenance
from store.fold.list_columns import needs_settling
from store.queries.clock_counters import commit_stamp_ms
from store.sentence import Sentence, foreign_text, sentence, sentence_fields
from store.snapshot import Snapshot
from syncproto.codec import Value, encode
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId, EntityId, id_to_text
from syncproto.vector_clock import Head, covers

_SIBLINGS = {
    "checklist_item": ("checklist_id", "checklist_item"),
    "checklist": ("task_id", "task_checklist"),
}
"""The kinds that are ordered among siblings: the field that points at the parent, and the relation back."""

_TITLE_FIELDS = ("title", "name", "text", "note")


VERSIONS_SHOWN_MAX = 12
"""The versions of one field that are shown, best first: a person chooses among these."""

VERSION_BYTES_MAX = 256 * 1024
"""The bytes that the versions of one field may have together; the best two are always shown."""


class ConflictingValue(NamedTuple):
    """One of the values of a field in conflict, as it is stored."""

    value: Value
    by: str
    head: Head
    ms: int


def conflicting_values(snapshot: Snapshot, entity: Entity) -> dict[str, list[ConflictingValue]]:
    """Return the values of each field in conflict that are shown, the one in effect first."""
    if not entity.visible or not needs_settling(entity.state) or _is_destroyed_agent(entity):
        return {}
    values = {
        field: [
            _conflicting_value(version.value, version.source, written_ms(version.source))
            for version in versions
        ]
        for field, versions in entity.conflicts().items()
        if field != DELETED
    }
    deletions = [version.source for version in entity.versions(DELETED) if version.value is True]
    if deletions:
        restores = [version.source for version in entity.versions(DELETED) if version.value is not True]
        restored = [_conflicting_value(False, source, source.ms) for source in restores]
        removed = _conflicting_value(True, deletions[0], deletions[0].ms)
        # All restores have the same value. More than one would only crowd out the choice to remove.
        values[DELETED] = [*(restored or _writes_outliving_deletion(snapshot, entity))[:1], removed]
    return {field: _first_versions(versions) for field, versions in sorted(values.items())}


def _first_versions(versions: list[ConflictingValue]) -> list[ConflictingValue]:
    """Return the versions that are shown: some, and no more than fit into an answer."""
    shown_versions = versions[:2]
    size = sum(len(encode(version.value)) for version in shown_versions)
    for version in versions[2:VERSIONS_SHOWN_MAX]:
        size += len(encode(version.value))
        if size > VERSION_BYTES_MAX:
            break
        shown_versions.append(version)
    return shown_versions


_REMOVE_IT = sentence("deletion-remove", "remove it")
_KEEP_IT = sentence("deletion-keep", "keep it")
_WITH_IT = sentence("member-with", "with it")
_WITHOUT_IT = sentence("member-without", "without it")


def _conflicting_value(value: Value, source: Provenance, ms: int) -> ConflictingValue:
    return ConflictingValue(value, author_name(source) or "", source.head, ms)


def _is_destroyed_agent(entity: Entity) -> bool:
    """Say whether an agent was destroyed: that is final, and keeping another value would undo it."""
    return entity.kind == "agent" and any(
        version.value == "destroyed" for version in entity.versions("lifecycle")
    )


def _writes_outliving_deletion(snapshot: Snapshot, entity: Entity) -> list[ConflictingValue]:
    """Return the writes by a person that no deletion had seen, newest first: they keep the entity visible."""
    bases = [version.source.base or () for version in entity.versions(DELETED) if version.value is True]
    unseen = [
        head for head in entity.state.person if not any(covers(base, head, snapshot.log) for base in bases)
    ]
    values = [
        ConflictingValue(False, AUTHOR_NAMES[AuthorKind.USER], head, commit_stamp_ms(snapshot, head))
        for head in unseen
    ]
    return sorted(values, key=lambda value: value.ms, reverse=True)


@dataclass(frozen=True, slots=True)
class ConflictPresenter:
    """Shows the conflicts of entities of one snapshot, with names instead of ids."""

    names: NameLookup
    children: ChildLookup
    snapshot: Snapshot

    def conflicts(self, entity: Entity) -> list[Conflict]:
        """Show the fields that have more than one value, and a deletion that an edit outlived.

        The clock is that of the entity, so only the first has it.
        """
        distinct = entity.conflicts()
        return [
            Conflict(
                entity=id_to_text(entity.id),
                kind=entity.kind,
                field=field,
                versions=[self._version(entity, field, value) for value in values],
                left_out=0 if field == DELETED else len(distinct[field]) - len(values),
                vector_clock=UNSET if place else clock_json(entity.clock),
                name=self.names.field_label(field),
                title=next((text for name in _TITLE_FIELDS if (text := entity.text(name))), "")[:80],
            )
            for place, (field, values) in enumerate(conflicting_values(self.snapshot, entity).items())
        ]

    def _version(self, entity: Entity, field: str, choice: ConflictingValue) -> ConflictVersion:
        sources = (version.source for version in entity.versions(field))
        source = next((source for source in sources if source.head == choice.head), None)
        if source is None:
            # The write that outlived a deletion wrote other fields, so no version of this field is its own.
            device = self.names.device_of_replica(choice.head.replica)
            device_name = self.names.device_name(device)
        else:
            device, device_name = self.names.writing_device(source)
        return ConflictVersion(
            value=self.names.field_value_json(field, choice.value),
            by=choice.by,
            device=device.hex(),
            device_name=device_name,
            at=iso_utc(self.snapshot.shown_ms(choice.ms)),
            as_proposed=as_proposed(source),
            **sentence_fields("words", self._value_in_words(entity, field, choice.value)),
        )

    def _value_in_words(self, entity: Entity, field: str, value: Value) -> Sentence:
        """Describe a value that means nothing by itself; return an empty text for one that does."""
        if field == DELETED:
            return _REMOVE_IT if value is True else _KEEP_IT
        if "/" in field:
            return _WITH_IT if value is True else _WITHOUT_IT
        if field == "position" and isinstance(value, str):
            return _position_in_words(value, self._siblings(entity))
        if field == "home_device_id" and isinstance(value, bytes):
            return foreign_text(self.names.device_name(DeviceId(value)))
        if field.endswith("_id") and isinstance(value, bytes):
            target = self.snapshot.entity(EntityId(value))
            return foreign_text("" if target is None else shown_name(target))
        return foreign_text("")

    def _siblings(self, entity: Entity) -> list[Entity]:
        field, relation = _SIBLINGS.get(entity.kind, ("", ""))
        parent = entity.value(field)
        if not isinstance(parent, bytes):
            return []
        children = self.children.entities_pointing_at(EntityId(parent), relation)
        return [sibling for sibling in children if sibling.id != entity.id]


def _position_in_words(position: str, siblings: Sequence[Entity]) -> Sentence:
    placed = [(sibling.text("position"), sibling.text("title")) for sibling in siblings]
    before = [pair for pair in placed if pair[0] < position]
    if not before:
        return sentence("place-first", "first")
    return sentence("place-after", "after “{title}”", title=max(before)[1])
