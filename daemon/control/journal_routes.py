"""The routes of the journal: tasks, checklist items, entries, the log.

Never decides anything: each line names a use case.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.control import checklist_routes
from daemon.control.routes import Call, Nothing, Reads, Route, Writes
from daemon.journal import entries, log, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask, Shift, TaskEdit
from daemon.journal.typed import Typed
from daemon.journal.views import Change, Entry, Task
from store.snapshot import Snapshot
from store.transaction import Transaction

CREATED = 201
LOG_DEFAULT = 100


class Listing(Struct, frozen=True, forbid_unknown_fields=True):
    """Which tasks: open ones, `all`, or instead the `removed` ones; `brief` leaves texts and reports out."""

    all: bool = False
    removed: bool = False
    brief: bool = False


class LogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose history: a task by id or title, anything else by id; without `after`, the newest changes."""

    entity: str | None = None
    after: Annotated[int, Meta(ge=0)] | None = None
    limit: Annotated[int, Meta(ge=1, le=log.LIMIT_MAX)] = LOG_DEFAULT


def routes(typed: Typed) -> list[Route]:
    """Return the journal's part of the table; `typed` reads what people type."""

    def add(tx: Transaction, call: Call[NewTask, Nothing]) -> Task:
        return tasks.add(tx, typed.new_task(call.body))

    def edit(tx: Transaction, call: Call[TaskEdit, Nothing]) -> Task:
        return tasks.edit(tx, call.ref, typed.edit(call.body))

    task = "/v1/tasks/{ref}"
    return [
        Route("POST", "/v1/tasks", "Add a task", Writes(add), Task, NewTask, status=CREATED),
        Route("GET", "/v1/tasks", "List tasks", Reads(_list), list[Task], query=Listing),
        Route("GET", task, "Show a task", Reads(_show), Task),
        Route("PATCH", task, "Change a task", Writes(edit), Task, TaskEdit),
        Route("DELETE", task, "Take a task out of sight", Writes(_remove), Task),
        Route("POST", f"{task}/done", "Finish a task", Writes(_done), Task, Shift),
        Route("POST", f"{task}/restore", "Bring a removed task back", Writes(_restore), Task),
        Route("POST", f"{task}/entries", "Add a note", Writes(_note), Entry, NewEntry, status=CREATED),
        *checklist_routes.routes(),
        Route("GET", "/v1/log", "Show the history", Reads(_log), list[Change], query=LogQuery),
    ]


def _list(snapshot: Snapshot, call: Call[Nothing, Listing]) -> list[Task]:
    asked = call.query
    return tasks.tasks(snapshot, closed=asked.all, removed=asked.removed, brief=asked.brief)


def _show(snapshot: Snapshot, call: Call[Nothing, Nothing]) -> Task:
    return tasks.show(snapshot, call.ref)


def _remove(tx: Transaction, call: Call[Nothing, Nothing]) -> Task:
    return tasks.remove(tx, call.ref)


def _done(tx: Transaction, call: Call[Shift, Nothing]) -> Task:
    return tasks.done(tx, call.ref, call.body)


def _restore(tx: Transaction, call: Call[Nothing, Nothing]) -> Task:
    return tasks.restore(tx, call.ref)


def _note(tx: Transaction, call: Call[NewEntry, Nothing]) -> Entry:
    return entries.add(tx, call.ref, call.body)


def _log(snapshot: Snapshot, call: Call[Nothing, LogQuery]) -> list[Change]:
    asked = call.query
    return log.log(snapshot, asked.entity or None, after=asked.after, limit=asked.limit)
