"""The routes of the journal: tasks, and what belongs to them, each part from its own table.

Never decides anything: each line names a use case.
"""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from daemon.control.route import CREATED, Route
from daemon.control.routes.journal import checklists, entries, history, removed, series, task_lists
from daemon.control.routes.journal.task_lists import Page
from daemon.control.use_case_routes import read_query, read_ref_query, write_body, write_ref, write_ref_body
from daemon.journal import tasks
from daemon.journal.captured_line import LINE_CHARS_MAX, CapturedLine
from daemon.journal.human_input import HumanInput
from daemon.journal.references.task_filters import resolve_filter
from daemon.journal.tasks import NewTask, Shift, TaskEdit
from daemon.journal.views.structures import Task
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId, id_from_text

OnNewTask = Callable[[Transaction, EntityId], None]


class Listing(Page, frozen=True, forbid_unknown_fields=True):
    """A page of tasks in full; `brief` leaves texts and reports out."""

    brief: bool = False


class LineQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A line that notes a task.

    `keep`: words of it that stay in the title, as `readings` give them, on a line each. `given`: names of
    fields, with commas between them, whose values are known from elsewhere, so that the line says none.
    """

    line: Annotated[str, Meta(max_length=LINE_CHARS_MAX)]
    keep: Annotated[str, Meta(max_length=LINE_CHARS_MAX)] = ""
    given: Annotated[str, Meta(max_length=LINE_CHARS_MAX)] = ""


class Showing(Struct, frozen=True, forbid_unknown_fields=True):
    """How much: `provenance` adds who wrote each value, and the statuses that the task has had."""

    provenance: bool = False


def routes(human_input: HumanInput, on_new_task: OnNewTask | None = None) -> list[Route]:
    """Return the journal's part of the table; `human_input` reads what people type.

    `on_new_task` is called in the transaction that adds a task.
    """

    def add(tx: Transaction, body: NewTask) -> Task:
        task = tasks.add(tx, human_input.read_new_task(body))
        if on_new_task is not None:
            on_new_task(tx, id_from_text(task.id))
        return task

    def edit(tx: Transaction, task: str, body: TaskEdit) -> Task:
        return tasks.edit(tx, task, human_input.read_task_edit(body))

    def list_tasks(snapshot: Snapshot, query: Listing) -> list[Task]:
        return tasks.list_tasks(
            snapshot,
            closed=query.all,
            removed=query.removed,
            brief=query.brief,
            after=query.after or None,
            limit=query.limit,
            wanted=resolve_filter(snapshot, query, human_input.due_day),
            order=query.order,
            begun_by=human_input.latest_start(query.begun),
            today=human_input.today(),
        )

    def read_line(snapshot: Snapshot, query: LineQuery) -> CapturedLine:
        keep, given = query.keep.splitlines(), query.given.split(",")
        return human_input.captured_line(snapshot, query.line, keep=keep, given=given)

    text, task = "/v1/tasks", "/v1/tasks/{ref}"
    reading = "Read a line that notes a task, and add nothing"
    return [
        write_body("POST", text, "Add a task", add, Task, NewTask, status=CREATED),
        read_query(text, "List tasks", list_tasks, list[Task], Listing),
        read_query("/v1/captured-line", reading, read_line, CapturedLine, LineQuery),
        *task_lists.routes(human_input),
        read_ref_query(task, "Show a task", _show, Task, Showing),
        write_ref_body("PATCH", task, "Change a task", edit, Task, TaskEdit),
        write_ref("DELETE", task, "Take a task out of sight", tasks.remove, Task),
        write_ref_body("POST", f"{task}/done", "Finish a task", tasks.finish, Task, Shift),
        write_ref("POST", f"{task}/restore", "Bring a removed task back", tasks.restore, Task),
        *entries.routes(human_input),
        *checklists.routes(),
        *history.routes(human_input),
        *removed.routes(),
        *series.routes(human_input),
    ]


def _show(snapshot: Snapshot, task: str, query: Showing) -> Task:
    return tasks.show(snapshot, task, provenance=query.provenance)
