"""The routes of the board: the tasks by status, and moving one, by its menu or by dragging.

Never changes anything on a GET. A move counts against what the board showed.
"""

from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

import msgspec
from aiohttp import web
from msgspec import structs

from daemon.journal import tasks
from daemon.journal.fields.validation import CLOSED, NEEDS_REASON, STATUSES
from daemon.journal.tasks import TaskEdit
from daemon.journal.views.board import BoardColumn, BoardTask, read_board
from daemon.journal.views.structures import ClockJson
from daemon.refusal import Refused
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.words import terms
from daemon.words.dates import due_words, local_day
from daemon.words.day_groups import begin_later_words

PATH: Final = "/board"
SHOWN_MAX: Final = 40
WITH_LATER: Final = "any"
"""What `start` says in the address if tasks that have not begun are asked for too."""


@dataclass(frozen=True, slots=True)
class CardRow:
    """A task on the board. `base` is what its form gives back, so that it counts against what was shown."""

    id: str
    title: str
    due: str
    is_late: bool
    progress: str
    labels: list[str]
    base: str


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """A column. `needs_reason`: a task comes here only with a reason."""

    status: str
    title: str
    count: int
    needs_reason: bool
    cards: list[CardRow]


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Board(services)
    return [web.get(PATH, room.show), web.post(PATH, room.move)]


class _Board:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(
            closed=request.query.get("all") == "yes", later=request.query.get("start") == WITH_LATER
        )

    async def move(self, request: web.Request) -> web.Response:
        """Give a task another status, and show the board; what is refused is said above it."""
        form = await read_form(request)
        closed, later = form.get("all") == "yes", form.get("start") == WITH_LATER
        reason = form.get("reason", "").strip()
        try:
            base = msgspec.json.decode(form.get("base", ""), type=ClockJson)
        except msgspec.MsgspecError:
            raise refuse_form() from None
        edit = TaskEdit(status=form.get("status", ""), base=base)
        if reason:
            edit = structs.replace(edit, reason=reason)
        fault = shortfall_words(self._services)
        if not fault:
            try:
                await self._services.store.write(lambda tx: tasks.edit(tx, form.get("task", ""), edit))
            except Refused as refused:
                fault = refusal_words(refused)
            else:
                place = _address(closed=closed, later=later)
                return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": place})
        return await self._page(closed=closed, later=later, fault=fault)

    async def _page(self, *, closed: bool, later: bool, fault: str = "") -> web.Response:
        after, now_s = self._services.store.feed_end, self._services.now_ms() / 1000
        begun_by = None if later else local_day(now_s)
        today = date.fromisoformat(local_day(now_s))
        board = await self._services.store.read(
            lambda snapshot: read_board(
                snapshot, closed=closed, shown_max=SHOWN_MAX, begun_by=begun_by, today=today
            )
        )
        return await page_answer(
            self._services,
            "tasks/board.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            room="tasks",
            after=after,
            columns=[_column(column, now_s) for column in board.columns],
            later=begin_later_words(board.begin_later),
            start=WITH_LATER if later else "",
            with_later=_address(closed=closed, later=True),
            others=_address(closed=not closed, later=later),
            statuses=[(status, terms.task_status(status)) for status in STATUSES],
            closed=closed,
            closed_statuses=CLOSED,
            fault=fault,
        )


def _address(*, closed: bool, later: bool) -> str:
    """Return the address of a board."""
    words = {
        name: value
        for name, value, is_asked in (("all", "yes", closed), ("start", WITH_LATER, later))
        if is_asked
    }
    return f"{PATH}?{urlencode(words)}" if words else PATH


def _column(column: BoardColumn, now_s: float) -> ColumnRow:
    return ColumnRow(
        column.status,
        terms.task_status(column.status),
        column.count,
        column.status in NEEDS_REASON,
        [_card(task, now_s) for task in column.tasks],
    )


def _card(task: BoardTask, now_s: float) -> CardRow:
    line = task.line
    due, days = due_words(line.due, now_s, line.due_time)
    progress = line.checklist_progress
    return CardRow(
        id=line.id,
        title=line.title,
        due=due,
        is_late=days is not None and days < 0,
        progress=f"{progress.completed}/{progress.total}" if progress.total else "",
        labels=line.labels,
        base=msgspec.json.encode(task.vector_clock).decode(),
    )
