"""Entries: the notes and texts on a task.

Never shortens or rewords a text: what is too long is refused where it is entered.
"""

from msgspec import Struct

from daemon.journal import refs, values
from daemon.journal.checklists import touch
from daemon.journal.provenance import iso
from daemon.journal.show import Shown
from daemon.journal.views import Entry
from store.transaction import Transaction, Write
from syncproto.codec import Value

NOTE = "note"


class NewEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A note to add; without `happened_at` it happened now."""

    text: str
    happened_at: str | None = None


def add(tx: Transaction, ref: str, new: NewEntry) -> Entry:
    """Add a note to the task that `ref` names."""
    task = refs.task(tx, ref)
    happened_at = iso(tx.now_ms()) if new.happened_at is None else values.moment(new.happened_at)
    entry = tx.new_id()
    fields: dict[str, Value] = {
        "task_id": task.id,
        "text": values.entry_text(new.text),
        "source": NOTE,
        "happened_at": happened_at,
    }
    tx.commit([Write(entry, "entry", fields), touch(task)])
    held = tx.entity(entry)
    assert held is not None
    return Shown(tx).entry(held)
