"""The routes of notes, which the API calls entries.

Never decides anything: each line names a use case.
"""

from typing import TypeVar

from msgspec.structs import replace

from daemon.control.route import CREATED, Route
from daemon.control.routes.journal.checklists import Removed
from daemon.control.use_case_routes import read_ref, read_ref_query, write_ref, write_ref_body
from daemon.journal import entries
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.human_input import HumanInput
from daemon.journal.views.structures import Entry
from store.snapshot import Snapshot
from store.transaction import Transaction

EntryBody = TypeVar("EntryBody", NewEntry, EntryEdit)


def routes(human_input: HumanInput) -> list[Route]:
    """Return the part of the table on notes; `human_input` reads times as people type them."""

    def with_moment(body: EntryBody) -> EntryBody:
        if not isinstance(body.happened_at, str):
            return body
        moment = human_input.moment(body.happened_at)
        return replace(body, happened_at=moment.isoformat(timespec="milliseconds"))

    def add(tx: Transaction, task: str, body: NewEntry) -> Entry:
        return entries.add(tx, task, with_moment(body))

    def edit(tx: Transaction, entry: str, body: EntryEdit) -> Entry:
        return entries.edit(tx, entry, with_moment(body))

    of_task, entry = "/v1/tasks/{ref}/entries", "/v1/entries/{ref}"
    return [
        read_ref_query(of_task, "List the notes of a task", _list, list[Entry], Removed),
        write_ref_body("POST", of_task, "Add a note", add, Entry, NewEntry, status=CREATED),
        read_ref(entry, "Show a note", entries.show, Entry),
        write_ref_body("PATCH", entry, "Change a note", edit, Entry, EntryEdit),
        write_ref("DELETE", entry, "Take a note out of sight", entries.remove, Entry),
        write_ref("POST", f"{entry}/restore", "Bring a removed note back", entries.restore, Entry),
    ]


def _list(snapshot: Snapshot, task: str, query: Removed) -> list[Entry]:
    return entries.list_entries(snapshot, task, removed=query.removed)
