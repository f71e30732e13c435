"""Preferences: lines about how a person wants things, for tasks of a category or for all.

Never rules: an agent reads them as data, and what it proposes waits for a person as ever.
"""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from daemon.journal.fields import validation
from daemon.journal.fields.provenance import is_set_by_person, written_at_iso, written_ms
from daemon.journal.references import entities, names
from daemon.refusal import usage_error
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import ID_BYTES, EntityId, derived_id, id_to_text

KIND: Final = "preference"
TEXT_CHARS_MAX: Final = 500

PreferenceText = Annotated[str, Meta(max_length=TEXT_CHARS_MAX)]


class Preference(Struct, frozen=True, kw_only=True):
    """A line that agents read; `category` is a name, null if the line is for all tasks."""

    id: str
    text: str
    category: str | None
    created_at: str | None
    removed: bool = False


class NewPreference(Struct, frozen=True, forbid_unknown_fields=True):
    """A line to add, for tasks of a category or for all."""

    text: PreferenceText
    category: str | None = None


class PreferenceEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a line; what is left out stays. `category` null: it is for all tasks."""

    text: PreferenceText | UnsetType = UNSET
    category: str | UnsetType | None = UNSET


def list_preferences(snapshot: Snapshot) -> list[Preference]:
    """List the lines in sight, the oldest first."""
    return [_present(snapshot, line) for line in _lines(snapshot)]


def add(tx: Transaction, new: NewPreference) -> Preference:
    """Add a line; one that is there already, or was removed, is there again and no second time."""
    category = None if new.category is None else names.find_named(tx, "category", new.category).id
    return remember(tx, new.text, category)


def remember(tx: Transaction, text: str, category: EntityId | None) -> Preference:
    """Add a line for a category, or for all tasks.

    The id follows from the words: two devices that add the same line while apart have one.
    """
    words = _checked_text(text)
    identifier = _derived_id(words, category)
    entity = tx.entity(identifier)
    if entity is not None and entity.exists and _key(entity) != (comparison_key(words), category):
        # The line that once had these words was edited since: it is another one now.
        identifier, entity = tx.new_id(), None
    if entity is None or not entity.exists:
        fields: dict[str, Value] = {"text": words}
        if category is not None:
            fields["category_id"] = category
        tx.commit([EntityWrite(identifier, KIND, fields)])
    elif not entity.visible:
        tx.commit([EntityWrite(identifier, KIND, {DELETED: False})])
    return _again(tx, identifier)


def edit(tx: Transaction, ref: str, change: PreferenceEdit) -> Preference:
    """Change a line."""
    line = entities.find_entity(tx, [KIND], ref)
    fields: dict[str, Value] = {}
    if change.text is not UNSET:
        fields["text"] = _checked_text(change.text)
    if change.category is None:
        fields["category_id"] = None
    elif change.category is not UNSET:
        fields["category_id"] = names.find_named(tx, "category", change.category).id
    changed = {field: value for field, value in fields.items() if not is_set_by_person(line, field, value)}
    if changed:
        tx.commit([EntityWrite(line.id, KIND, changed)])
    return _again(tx, line.id)


def remove(tx: Transaction, ref: str) -> Preference:
    """Take a line out of sight: agents do not read it any more."""
    line = entities.find_entity(tx, [KIND], ref, removed=True)
    if line.visible:
        tx.commit([EntityWrite(line.id, KIND, {DELETED: True})])
    return _again(tx, line.id)


def restore(tx: Transaction, ref: str) -> Preference:
    """Bring a removed line back: agents read it again."""
    line = entities.find_entity(tx, [KIND], ref, removed=True)
    if not is_set_by_person(line, DELETED, False):
        tx.commit([EntityWrite(line.id, KIND, {DELETED: False})])
    return _again(tx, line.id)


def lines_for_task(snapshot: Snapshot, task: Entity) -> list[str]:
    """Return the lines for a task, the oldest first: those for all, and those for its category.

    What no person wrote is left out: nobody else has a say in what a person prefers.
    """
    category = names.category_id_of(task)
    return [
        line.text("text")
        for line in _lines(snapshot)
        if _category_of(line) in (None, category) and _is_by_person(line)
    ]


def _lines(snapshot: Snapshot) -> list[Entity]:
    return sorted(
        (line for line in snapshot.entities(KIND) if line.text("text")),
        key=lambda line: (0 if line.created is None else written_ms(line.created), line.id),
    )


def _is_by_person(line: Entity) -> bool:
    version = line.version("text")
    return version is not None and version.source.by is AuthorKind.USER and version.source.effect is None


def _key(line: Entity) -> tuple[str, EntityId | None]:
    return comparison_key(line.text("text")), _category_of(line)


def _category_of(line: Entity) -> EntityId | None:
    value = line.value("category_id")
    return EntityId(value) if isinstance(value, bytes) and len(value) == ID_BYTES else None


def _derived_id(words: str, category: EntityId | None) -> EntityId:
    about = "" if category is None else id_to_text(category)
    return derived_id(KIND, comparison_key(words), about, time_of=EntityId(bytes(ID_BYTES)))


def _checked_text(text: str) -> str:
    words = validation.checked_remark(text)
    if words is None:
        raise usage_error(sentence("preference-empty", "a preference needs words"))
    return words


def _again(tx: Transaction, line: EntityId) -> Preference:
    entity = tx.entity(line)
    assert entity is not None
    return _present(tx, entity)


def _present(snapshot: Snapshot, line: Entity) -> Preference:
    category_id = _category_of(line)
    category = None if category_id is None else snapshot.entity(category_id)
    return Preference(
        id=id_to_text(line.id),
        text=line.text("text"),
        category=None if category is None else names.shown_name(category),
        created_at=written_at_iso(snapshot, line.created),
        removed=not line.visible,
    )
