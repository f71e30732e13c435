"""Entries: the notes and texts on a task: add, list, show, edit, remove, restore.

Never shortens or rewords a text: what is too long is refused where it is entered.
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from daemon.journal import refs, values
from daemon.journal.checklists import require_task, touch
from daemon.journal.provenance import iso
from daemon.journal.show import Shown
from daemon.journal.tasks import Base, stands
from daemon.journal.views import Entry
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import EntityId

SourceName = Literal["note", "transcript"]
"""Where a text comes from, as far as a person says it; imports have a word of their own."""


class NewEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A note or transcript to add; without `happened_at` it happened now."""

    text: str
    happened_at: str | None = None
    source: SourceName = "note"


class EntryEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of an entry; what is left out stays."""

    text: str | UnsetType = UNSET
    happened_at: str | UnsetType = UNSET
    source: SourceName | UnsetType = UNSET
    base: Base = None


def add(tx: Transaction, ref: str, new: NewEntry) -> Entry:
    """Add a note to the task that `ref` names."""
    task = refs.task(tx, ref)
    happened_at = iso(tx.now_ms()) if new.happened_at is None else values.moment(new.happened_at)
    entry = tx.new_id()
    fields: dict[str, Value] = {
        "task_id": task.id,
        "text": values.entry_text(new.text),
        "source": new.source,
        "happened_at": happened_at,
    }
    tx.commit([Write(entry, "entry", fields), touch(task)])
    return _shown(tx, entry)


def entries(snapshot: Snapshot, ref: str, *, removed: bool) -> list[Entry]:
    """Show the entries of a task in order of their times; or `removed`, those that are out of sight."""
    return Shown(snapshot).entries(refs.task(snapshot, ref), removed=removed)


def show(snapshot: Snapshot, ref: str) -> Entry:
    """Show one entry, also one that was removed."""
    return Shown(snapshot).entry(refs.entity(snapshot, ["entry"], ref, removed=True))


def edit(tx: Transaction, ref: str, change: EntryEdit) -> Entry:
    """Change an entry; what already stands as the person's own is not written again."""
    entry = refs.entity(tx, ["entry"], ref)
    task = require_task(_task(tx, entry))
    clock = refs.base_shown(tx, entry, change.base)
    changed = {name: value for name, value in _fields(change).items() if not stands(entry, name, value)}
    if changed:
        tx.commit([Write(entry.id, "entry", changed, base=clock), *([touch(task)] if task else [])])
    return _shown(tx, entry.id)


def remove(tx: Transaction, ref: str) -> Entry:
    """Take an entry out of sight; its text stays in the history."""
    entry = refs.entity(tx, ["entry"], ref, removed=True)
    if entry.visible:
        tx.commit([Write(entry.id, "entry", {DELETED: True})])
    return _shown(tx, entry.id)


def restore(tx: Transaction, ref: str) -> Entry:
    """Bring a removed entry back."""
    entry = refs.entity(tx, ["entry"], ref, removed=True)
    task = require_task(_task(tx, entry))
    fields: dict[str, Value] = {DELETED: False}
    if not stands(entry, DELETED, False):
        tx.commit([Write(entry.id, "entry", fields), *([touch(task)] if task else [])])
    return _shown(tx, entry.id)


def _fields(change: EntryEdit) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if change.text is not UNSET:
        fields["text"] = values.entry_text(change.text)
    if change.happened_at is not UNSET:
        fields["happened_at"] = values.moment(change.happened_at)
    if change.source is not UNSET:
        fields["source"] = change.source
    return fields


def _task(snapshot: Snapshot, entry: Entity) -> Entity | None:
    target = entry.value("task_id")
    return snapshot.entity(EntityId(target)) if isinstance(target, bytes) else None


def _shown(tx: Transaction, entry: EntityId) -> Entry:
    held = tx.entity(entry)
    assert held is not None
    return Shown(tx).entry(held)
