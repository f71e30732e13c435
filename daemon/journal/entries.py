"""Entries: the notes and texts on a task: add, list, show, edit, remove, restore.

Never shortens or rewords a text: what is too long is refused when it is entered.
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from daemon.journal.fields import validation
from daemon.journal.fields.described_texts import EntryText
from daemon.journal.fields.provenance import is_set_by_person
from daemon.journal.references import entities
from daemon.journal.references.entities import BaseClock
from daemon.journal.tasks import remove_child, require_visible_task, restore_child, touch_task
from daemon.journal.views.presenter import JournalPresenter
from daemon.journal.views.structures import Entry
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId

SourceName = Literal["note", "transcript"]
"""The origins of a text that a person can choose; imports use an origin of their own."""


class NewEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A note or transcript to add; without `happened_at` it happened now."""

    text: EntryText
    happened_at: str | None = None
    source: SourceName = "note"


class EntryEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of an entry; what is left out stays."""

    text: EntryText | UnsetType = UNSET
    happened_at: str | UnsetType = UNSET
    source: SourceName | UnsetType = UNSET
    base: BaseClock = None


def add(tx: Transaction, ref: str, new: NewEntry) -> Entry:
    """Add a note to the task that `ref` names."""
    task = entities.find_task(tx, ref)
    happened_at = (
        iso_utc(tx.now_ms()) if new.happened_at is None else validation.checked_moment(new.happened_at)
    )
    entry = tx.new_id()
    fields: dict[str, Value] = {
        "task_id": task.id,
        "text": validation.checked_entry_text(new.text),
        "source": new.source,
        "happened_at": happened_at,
    }
    tx.commit([EntityWrite(entry, "entry", fields), touch_task(task)])
    return _present(tx, entry)


def list_entries(snapshot: Snapshot, ref: str, *, removed: bool) -> list[Entry]:
    """Show the entries of a task in order of their times; or `removed`, those that are out of sight."""
    return JournalPresenter(snapshot).entries(entities.find_task(snapshot, ref), removed=removed)


def show(snapshot: Snapshot, ref: str) -> Entry:
    """Show one entry, also one that was removed."""
    return JournalPresenter(snapshot).entry(entities.find_entity(snapshot, ["entry"], ref, removed=True))


def edit(tx: Transaction, ref: str, change: EntryEdit) -> Entry:
    """Change an entry; a value that is already the person's own is not written again."""
    entry = entities.find_entity(tx, ["entry"], ref)
    task = require_visible_task(_task(tx, entry))
    clock = entities.resolve_base_clock(tx, entry, change.base)
    changed = {
        name: value for name, value in _fields(change).items() if not is_set_by_person(entry, name, value)
    }
    if changed:
        tx.commit(
            [EntityWrite(entry.id, "entry", changed, base=clock), *([touch_task(task)] if task else [])]
        )
    return _present(tx, entry.id)


def remove(tx: Transaction, ref: str) -> Entry:
    """Take an entry out of sight; its text stays in the history."""
    return _present(tx, remove_child(tx, "entry", ref).id)


def restore(tx: Transaction, ref: str) -> Entry:
    """Bring a removed entry back."""
    entry = entities.find_entity(tx, ["entry"], ref, removed=True)
    restore_child(tx, entry, _task(tx, entry))
    return _present(tx, entry.id)


def _fields(change: EntryEdit) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if change.text is not UNSET:
        fields["text"] = validation.checked_entry_text(change.text)
    if change.happened_at is not UNSET:
        fields["happened_at"] = validation.checked_moment(change.happened_at)
    if change.source is not UNSET:
        fields["source"] = change.source
    return fields


def _task(snapshot: Snapshot, entry: Entity) -> Entity | None:
    target = entry.value("task_id")
    return snapshot.entity(EntityId(target)) if isinstance(target, bytes) else None


def _present(tx: Transaction, entry: EntityId) -> Entry:
    entity = tx.entity(entry)
    assert entity is not None
    return JournalPresenter(tx).entry(entity)
