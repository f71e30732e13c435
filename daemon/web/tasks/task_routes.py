"""The routes of one task on a page of its own: what waits on it, what it holds, and what a person does to it.

Never changes anything on a GET. A form that is refused is shown again with what was typed, also if the task
was removed meanwhile.
"""

from http import HTTPStatus
from typing import Final

from aiohttp import web

from daemon.agents.person.agent_overview import OutlookLookup
from daemon.journal.human_input import HumanInput
from daemon.refusal import Refused
from daemon.web.forms import read_form
from daemon.web.page_answer import page_answer
from daemon.web.services import PageServices
from daemon.web.tasks.one_task import EVERY, NOTHING_DONE, PATH, DoneForm, OneTask, TaskAddress

_TASK: Final = "{task:[0-9a-f]{32}}"
_ID_CHARS: Final = 32


def routes(services: PageServices, human_input: HumanInput, outlook: OutlookLookup) -> list[web.RouteDef]:
    """Return the routes of a task. `human_input` reads the days and lengths that people type.

    `outlook` says when an agent runs next.
    """
    room = _Tasks(services, OneTask(services, human_input, outlook))
    return [web.get(f"{PATH}/{_TASK}", room.show), web.post(f"{PATH}/{_TASK}", room.act)]


class _Tasks:
    def __init__(self, services: PageServices, tasks: OneTask) -> None:
        self._services = services
        self._tasks = tasks

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(_address(request), NOTHING_DONE)

    async def act(self, request: web.Request) -> web.Response:
        """Do what a form asks for, and show the task; what is refused is said, and what was typed stays."""
        form, address = await read_form(request), _address(request)
        done = await self._tasks.act(form, address.ref, request.host)
        if done.is_done:
            place = PATH if done.is_removed else address.text() + done.place
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": place})
        return await self._page(address, done)

    async def _page(self, address: TaskAddress, done: DoneForm) -> web.Response:
        after, status = self._services.store.feed_end, HTTPStatus.OK
        template = "tasks/task.html"
        try:
            values = await self._tasks.values(address, done, address.text())
            status = HTTPStatus.CONFLICT if done.is_refused() else status
        except Refused as refused:
            template, status = "tasks/gone.html", HTTPStatus.NOT_FOUND
            values = self._tasks.gone_values(address, refused, done, address.text())
        values |= {"fault": done.fault, "outcome": done.outcome}
        return await page_answer(self._services, template, status, room="tasks", after=after, **values)


def _address(request: web.Request) -> TaskAddress:
    note = request.query.get("note", "")
    notes = EVERY if request.query.get("notes") == EVERY else ""
    return TaskAddress(request.match_info["task"], note if len(note) == _ID_CHARS else "", notes)
