"""The routes of the journal: tasks, and what belongs to them, each part from its own table.

Never decides anything: each line names a use case.
"""

from msgspec import Struct

from daemon.control import checklist_routes, finding_routes
from daemon.control.entry_routes import EntryRoutes
from daemon.control.finding_routes import Page
from daemon.control.history_routes import HistoryRoutes
from daemon.control.routes import Call, Nothing, Reads, Route, Writes
from daemon.journal import tasks
from daemon.journal.filters import wanted
from daemon.journal.tasks import NewTask, Shift, TaskEdit
from daemon.journal.typed import Typed
from daemon.journal.views import Task
from store.snapshot import Snapshot
from store.transaction import Transaction

CREATED = 201


class Listing(Page, frozen=True, forbid_unknown_fields=True):
    """A page of tasks in full; `brief` leaves texts and reports out."""

    brief: bool = False


class Showing(Struct, frozen=True, forbid_unknown_fields=True):
    """How much: `provenance` adds who wrote each value, and the statuses that the task has had."""

    provenance: bool = False


def routes(typed: Typed) -> list[Route]:
    """Return the journal's part of the table; `typed` reads what people type."""

    def add(tx: Transaction, call: Call[NewTask, Nothing]) -> Task:
        return tasks.add(tx, typed.new_task(call.body))

    def edit(tx: Transaction, call: Call[TaskEdit, Nothing]) -> Task:
        return tasks.edit(tx, call.ref, typed.edit(call.body))

    def list_tasks(snapshot: Snapshot, call: Call[Nothing, Listing]) -> list[Task]:
        asked = call.query
        return tasks.tasks(
            snapshot,
            closed=asked.all,
            removed=asked.removed,
            brief=asked.brief,
            after=asked.after or None,
            limit=asked.limit,
            wanted=wanted(snapshot, asked, typed.due),
        )

    task = "/v1/tasks/{ref}"
    return [
        Route("POST", "/v1/tasks", "Add a task", Writes(add), Task, NewTask, status=CREATED),
        Route("GET", "/v1/tasks", "List tasks", Reads(list_tasks), list[Task], query=Listing),
        *finding_routes.routes(typed),
        Route("GET", task, "Show a task", Reads(_show), Task, query=Showing),
        Route("PATCH", task, "Change a task", Writes(edit), Task, TaskEdit),
        Route("DELETE", task, "Take a task out of sight", Writes(_remove), Task),
        Route("POST", f"{task}/done", "Finish a task", Writes(_done), Task, Shift),
        Route("POST", f"{task}/restore", "Bring a removed task back", Writes(_restore), Task),
        *EntryRoutes(typed).routes(),
        *checklist_routes.routes(),
        *HistoryRoutes(typed).routes(),
    ]


def _show(snapshot: Snapshot, call: Call[Nothing, Showing]) -> Task:
    return tasks.show(snapshot, call.ref, provenance=call.query.provenance)


def _remove(tx: Transaction, call: Call[Nothing, Nothing]) -> Task:
    return tasks.remove(tx, call.ref)


def _done(tx: Transaction, call: Call[Shift, Nothing]) -> Task:
    return tasks.done(tx, call.ref, call.body)


def _restore(tx: Transaction, call: Call[Nothing, Nothing]) -> Task:
    return tasks.restore(tx, call.ref)
