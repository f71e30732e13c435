"""The routes of a new task: a form, and making the task of what was typed.

Never changes anything on a GET. A form that is refused is shown again with what was typed.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web
from multidict import MultiDictProxy

from daemon.journal import entries, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.human_input import HumanInput
from daemon.journal.tasks import NewTask
from daemon.journal.views.structures import Task
from daemon.refusal import Refused
from daemon.web.forms import read_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from store.transaction import Transaction
from syncproto.ids import EntityId, id_from_text

PATH: Final = "/tasks/new"

OnNewTask = Callable[[Transaction, EntityId], None]


def routes(
    services: PageServices, human_input: HumanInput, on_new_task: OnNewTask | None = None
) -> list[web.RouteDef]:
    """Return the routes of a new task. `human_input` reads the days and lengths that people type."""
    room = _NewTask(services, human_input, on_new_task)
    return [web.get(PATH, room.show_form), web.post(PATH, room.make)]


class _NewTask:
    def __init__(
        self, services: PageServices, human_input: HumanInput, on_new_task: OnNewTask | None
    ) -> None:
        self._services = services
        self._typed = human_input
        self._on_new_task = on_new_task

    async def show_form(self, request: web.Request) -> web.Response:
        del request
        return await self._form({}, "")

    async def make(self, request: web.Request) -> web.Response:
        """Make a task of what was typed, and show it."""
        form = await read_form(request)
        fault = shortfall_words(self._services)
        if not fault:
            try:
                task = await self._services.store.write(lambda tx: self._add(tx, form))
            except Refused as refused:
                fault = refusal_words(refused)
            else:
                return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": f"/tasks/{task.id}"})
        return await self._form(form, fault)

    def _add(self, tx: Transaction, form: MultiDictProxy[str]) -> Task:
        new = NewTask(
            title=form.get("title", ""),
            due=form.get("due", "").strip() or None,
            estimate_minutes=form.get("estimate", "").strip() or None,
        )
        task = tasks.add(tx, self._typed.read_new_task(new))
        note = form.get("note", "").strip()
        if note:
            entries.add(tx, task.id, NewEntry(note))
        if self._on_new_task is not None:
            self._on_new_task(tx, id_from_text(task.id))
        return task

    async def _form(self, typed: Any, fault: str) -> web.Response:
        fields = {name: typed.get(name, "") for name in ("title", "due", "estimate", "note")}
        status = HTTPStatus.CONFLICT if fault else HTTPStatus.OK
        after = self._services.store.feed_end
        return await page_answer(
            self._services, "tasks/new.html", status, room="tasks", after=after, typed=fields, fault=fault
        )
