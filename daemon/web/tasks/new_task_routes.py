"""The routes of a new task: a form, one line from any page, and taking back what was just made.

Never changes anything on a GET. A form that is refused is shown again with what was typed.
"""

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from aiohttp import web
from multidict import MultiDictProxy

from daemon.journal import entries, series, tasks
from daemon.journal.captured_line import LINE_CHARS_MAX
from daemon.journal.entries import NewEntry
from daemon.journal.fields import validation
from daemon.journal.fields.validation import PRIORITY_DEFAULT
from daemon.journal.human_input import HumanInput
from daemon.journal.removed import remove_thing
from daemon.journal.tasks import NewTask
from daemon.journal.typed_series import series_of_line
from daemon.journal.views.series_view import Series
from daemon.journal.views.structures import Task
from daemon.refusal import Refused
from daemon.task_fields import form_fields
from daemon.web.forms import read_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.web.tasks.sent_forms import FormFields, checks_of, faults_of, typed_fields
from daemon.words.dates import due_words, duration_words, full_day_words, hour_words
from daemon.words.recurrence import often_words
from daemon.words.translation import _
from daemon.words.values import value_words
from store.transaction import Transaction
from syncproto.ids import EntityId, id_from_text

PATH: Final = "/tasks/new"
READ_PATH: Final = "/tasks/read"
_ASKED: Final = tuple(field.name for field in form_fields(is_new=True))
FIELDS: Final = (*_ASKED, "note")

OnNewTask = Callable[[Transaction, EntityId], None]


def routes(
    services: PageServices, human_input: HumanInput, on_new_task: OnNewTask | None = None
) -> list[web.RouteDef]:
    """Return the routes of a new task. `human_input` reads the days and lengths that people type."""
    room = _NewTask(services, human_input, on_new_task)
    return [web.get(PATH, room.show_form), web.get(READ_PATH, room.read), web.post(PATH, room.make)]


class _Made(NamedTuple):
    """What a form made, or took back: its id, the task to show, "" for none, and what is said of it."""

    id: str
    task: str
    words: str


class _NewTask:
    def __init__(
        self, services: PageServices, human_input: HumanInput, on_new_task: OnNewTask | None
    ) -> None:
        self._services = services
        self._typed = human_input
        self._on_new_task = on_new_task

    async def show_form(self, request: web.Request) -> web.Response:
        del request
        return await self._form(FormFields({}))

    async def read(self, request: web.Request) -> web.Response:
        """Say what is read of a line, as it is typed."""
        typed, keep = request.query.get("line", "")[:LINE_CHARS_MAX], request.query.getall("keep", [])
        line = await self._services.store.read(
            lambda snapshot: self._typed.captured_line(snapshot, typed, keep=keep)
        )
        now_s = self._services.now_ms() / 1000
        due = due_words(line.due, now_s, line.due_time)[0] if line.due else ""
        shown = {
            "due": due,
            "estimate_minutes": duration_words(line.estimate_minutes or 0),
            "every": often_words(line.every or "", line.due_time) if line.every else "",
        }
        chips = [(reading.words, shown.get(reading.field, reading.words)) for reading in line.readings]
        text = self._services.renderer.render("tasks/read.html", chips=chips)
        return web.Response(text=text, content_type="text/html", charset="utf-8")

    async def make(self, request: web.Request) -> web.Response:
        """Make a task of what was typed, and show it; of one line, say what was read. Or take one back."""
        form = await read_form(request)
        faults = {} if form.keys() & {"line", "undo"} else self._faults(form)
        fault = "" if faults else shortfall_words(self._services)
        if not faults and not fault:
            try:
                made = await self._services.store.write(lambda tx: self._change(tx, form))
            except Refused as refused:
                fault = refusal_words(refused)
            else:
                return await self._answer_made(made, form)
        return await self._form(typed_fields(form, faults), fault)

    async def _answer_made(self, made: _Made, form: MultiDictProxy[str]) -> web.Response:
        if form.keys().isdisjoint(("line", "undo")):
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": f"/tasks/{made.id}"})
        return await page_answer(
            self._services,
            "tasks/added.html",
            room="tasks",
            after=self._services.store.feed_end,
            made=made.id,
            task=made.task,
            words=made.words,
            is_undone="undo" in form,
        )

    def _change(self, tx: Transaction, form: MultiDictProxy[str]) -> _Made:
        if "undo" in form:
            title = remove_thing(tx, form["undo"])
            return _Made(form["undo"], "", _("Taken back: {task}").format(task=title))
        if "line" in form:
            captured = self._typed.captured_line(tx, form["line"], keep=form.getall("keep", []))
            if (new := series_of_line(captured)) is not None:
                return _made_series(series.add(tx, new, self._typed.today(), self._typed.zone_name()))
        task = tasks.add(tx, self._new_task(tx, form))
        note = form.get("note", "")
        if note.strip():
            entries.add(tx, task.id, NewEntry(note))
        if self._on_new_task is not None:
            self._on_new_task(tx, id_from_text(task.id))
        return _Made(task.id, task.id, _added_words(task))

    def _new_task(self, tx: Transaction, form: MultiDictProxy[str]) -> NewTask:
        if "line" in form:
            return self._typed.read_captured_task(tx, form["line"], keep=form.getall("keep", []))
        typed: dict[str, Any] = {name: words for name in _ASKED if (words := form.get(name, "").strip())}
        return self._typed.read_new_task(NewTask(**{"title": "", **typed}))

    def _faults(self, form: MultiDictProxy[str]) -> dict[str, str]:
        """Return what is wrong at each field."""
        note = form.get("note", "").strip()
        typed = {name: words for name in _ASKED if (words := form.get(name, "").strip())}
        checks = checks_of({"title": "", **typed}, self._typed)
        if note:
            checks["note"] = lambda: validation.checked_entry_text(note)
        return faults_of(checks)

    async def _form(self, form: FormFields, fault: str = "") -> web.Response:
        values = {name: form.values.get(name, "") for name in FIELDS}
        values["title"] = values["title"] or form.values.get("line", "")
        return await page_answer(
            self._services,
            "tasks/new.html",
            HTTPStatus.CONFLICT if fault or form.faults else HTTPStatus.OK,
            room="tasks",
            after=self._services.store.feed_end,
            form=replace(form, values=values),
            asked=[
                (field.name, _(words.asked))
                for field, words in form_fields(is_new=True).items()
                if field.type != "title"
            ],
            fault=fault,
        )


def _made_series(made: Series) -> _Made:
    """Say how often it comes, and the next days: nothing that was read may come as a surprise."""
    days = ", ".join(full_day_words(day, None).words for day in made.next)
    facts = filter(None, [made.title, often_words(made.rule, made.due_time), days])
    return _Made(made.id, made.next_task or "", _("Added: {task}").format(task=", ".join(facts)))


def _added_words(task: Task) -> str:
    """Say what was read of a line: nothing of it may come as a surprise."""
    facts = [
        task.title,
        _("due {day}").format(day=value_words(task.due, "due") + hour_words(task.due_time))
        if task.due
        else "",
        duration_words(task.estimate_minutes) if task.estimate_minutes else "",
        task.priority if task.priority != PRIORITY_DEFAULT else "",
        *(f"#{label}" for label in task.labels),
        task.category or "",
    ]
    template = _("Added: {task}") if task.due else _("Added to the tasks, without a day: {task}")
    return template.format(task=", ".join(filter(None, facts)))
