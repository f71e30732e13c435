"""The routes of entries.

Never decides anything: each line names a use case.
"""

from typing import TypeVar

from msgspec.structs import replace

from daemon.control.checklist_routes import CREATED, Removed
from daemon.control.routes import Call, Nothing, Reads, Route, Writes
from daemon.journal import entries
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.typed import Typed
from daemon.journal.views import Entry
from store.snapshot import Snapshot
from store.transaction import Transaction

Said = TypeVar("Said", NewEntry, EntryEdit)


class EntryRoutes:
    """The table; times are read as they are typed here."""

    def __init__(self, typed: Typed) -> None:
        self._typed = typed

    def routes(self) -> list[Route]:
        """Return the table."""
        several, one = "/v1/tasks/{ref}/entries", "/v1/entries/{ref}"
        every = list[Entry]
        return [
            Route("GET", several, "List the notes of a task", Reads(_list), every, query=Removed),
            Route("POST", several, "Add a note", Writes(self._add), Entry, NewEntry, status=CREATED),
            Route("GET", one, "Show a note", Reads(_show), Entry),
            Route("PATCH", one, "Change a note", Writes(self._edit), Entry, EntryEdit),
            Route("DELETE", one, "Take a note out of sight", Writes(_remove), Entry),
            Route("POST", f"{one}/restore", "Bring a removed note back", Writes(_restore), Entry),
        ]

    def _add(self, tx: Transaction, call: Call[NewEntry, Nothing]) -> Entry:
        return entries.add(tx, call.ref, self._read(call.body))

    def _edit(self, tx: Transaction, call: Call[EntryEdit, Nothing]) -> Entry:
        return entries.edit(tx, call.ref, self._read(call.body))

    def _read(self, said: Said) -> Said:
        if not isinstance(said.happened_at, str):
            return said
        moment = self._typed.moment(said.happened_at)
        return replace(said, happened_at=moment.isoformat(timespec="milliseconds"))


def _list(snapshot: Snapshot, call: Call[Nothing, Removed]) -> list[Entry]:
    return entries.entries(snapshot, call.ref, removed=call.query.removed)


def _show(snapshot: Snapshot, call: Call[Nothing, Nothing]) -> Entry:
    return entries.show(snapshot, call.ref)


def _remove(tx: Transaction, call: Call[Nothing, Nothing]) -> Entry:
    return entries.remove(tx, call.ref)


def _restore(tx: Transaction, call: Call[Nothing, Nothing]) -> Entry:
    return entries.restore(tx, call.ref)
