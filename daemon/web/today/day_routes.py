"""The routes of the first page: the day, what waits, and what is done to both in place.

Never changes anything on a GET; a form is sent to the address of the page that shows it.
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from aiohttp import web

from daemon.agents.person import inbox
from daemon.agents.person.task_agents import waiting_by_task
from daemon.journal.human_input import HumanInput
from daemon.journal.views.day import Day, DayGroup, read_day
from daemon.web.decide.ask_rows import AskRow
from daemon.web.decide.item_rows import Card
from daemon.web.decide.verdict_form import Outcome, decide_form
from daemon.web.first_run.step_values import step_values
from daemon.web.forms import read_form
from daemon.web.inbox.waiting_rows import read_waiting, rows_with_evidence
from daemon.web.page_answer import page_answer
from daemon.web.services import PageServices
from daemon.web.tasks.list_rows import TaskRow, rows_of_lines
from daemon.web.tasks.row_deeds import do_to_rows
from daemon.web.tasks.row_menu import category_names, label_names, menu_choices, offered_labels
from daemon.words.dates import full_day_words
from daemon.words.day_groups import begin_later_words, group_words
from store.snapshot import Snapshot

PATH: Final = "/"
WAITING_MAX: Final = 5
ROWS_MAX: Final = 30
_ALWAYS: Final = ("today",)


def routes(services: PageServices, human_input: HumanInput) -> list[web.RouteDef]:
    """Return the routes of this room. `human_input` knows the day that it is here."""
    room = _Today(services, human_input)
    return [web.get(PATH, room.show), web.post(PATH, room.act)]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group of the day: its head, how many tasks it has, the first of them, and where all of them are.

    `rest` is how many it does not show. `address` is "" if no list has exactly these.
    """

    name: str
    title: str
    count: int
    rows: list[TaskRow]
    rest: int
    address: str


class _Shown(NamedTuple):
    day: Day
    groups: list[GroupRow]
    waiting: list[Card | AskRow]
    waiting_left: int
    counts: dict[str, int]
    steps: dict[str, Any]
    labels: list[str]
    categories: list[str]


class _Today:
    def __init__(self, services: PageServices, human_input: HumanInput) -> None:
        self._services = services
        self._typed = human_input

    async def show(self, request: web.Request) -> web.Response:
        del request
        return await self._page()

    async def act(self, request: web.Request) -> web.Response:
        """Decide on what waits, or do something to rows, and answer with the page as it is then."""
        form = await read_form(request)
        if "decide" in form:
            return await self._page(await decide_form(self._services, form, request.host))
        fault = await do_to_rows(self._services, self._typed, form)
        if not fault:
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})
        return await self._page(fault=fault)

    async def _page(self, outcome: Outcome | None = None, fault: str = "") -> web.Response:
        after = self._services.store.feed_end
        shown = await self._services.store.read(self._read)
        is_refused = fault or (outcome is not None and outcome.refusals)
        return await page_answer(
            self._services,
            "today/today.html",
            HTTPStatus.CONFLICT if is_refused else HTTPStatus.OK,
            room="today",
            after=after,
            here=PATH,
            day_words=full_day_words(shown.day.day, None).words,
            groups=shown.groups,
            later=begin_later_words(shown.day.begin_later),
            waiting=shown.waiting,
            waiting_left=shown.waiting_left,
            menu=menu_choices(self._typed.today(), shown.labels, shown.categories),
            outcome=outcome,
            fault=fault,
            **shown.counts,
            **shown.steps,
        )

    def _read(self, snapshot: Snapshot) -> _Shown:
        now_ms = self._services.now_ms()
        waiting = read_waiting(snapshot, now_ms, self._services.open_per_day)
        first = inbox.in_order_of_urgency(
            [rest for card in waiting.cards if (rest := inbox.without_held_back(card)) is not None],
            waiting.asks,
            now_ms,
        )
        by_task = waiting_by_task(waiting.items)
        today = self._typed.today()
        day = read_day(snapshot, today, limit=ROWS_MAX, waiting=by_task, today=today)
        groups = [
            _group(snapshot, group, by_task, day.today, now_ms / 1000)
            for group in day.groups
            if group.count or group.name in _ALWAYS
        ]
        return _Shown(
            day,
            groups,
            rows_with_evidence(snapshot, first[:WAITING_MAX], now_ms / 1000),
            max(0, len(first) - WAITING_MAX),
            waiting.counts(),
            step_values(snapshot),
            offered_labels(
                label_names(snapshot), (name for group in groups for row in group.rows for name in row.labels)
            ),
            category_names(snapshot),
        )


def _group(
    snapshot: Snapshot, group: DayGroup, by_task: dict[str, int], today: str | None, now_s: float
) -> GroupRow:
    return GroupRow(
        group.name,
        group_words(group.name, group.day, today),
        group.count,
        rows_of_lines(snapshot, group.tasks, by_task, now_s),
        group.count - len(group.tasks),
        {"overdue": "/tasks?due=overdue", "in_progress": "/tasks?status=IN+PROGRESS&due=none"}.get(
            group.name, f"/tasks?due={group.day}"
        ),
    )
