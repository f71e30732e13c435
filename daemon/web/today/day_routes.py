"""The routes of the first page: the day, what waits, and what is done to both in place.

Never changes anything on a GET; a form is sent to the address of the page that shows it.
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from aiohttp import web

from daemon.agents.person import inbox
from daemon.agents.person.agent_overview import OutlookLookup
from daemon.agents.person.task_agents import waiting_by_task
from daemon.journal.human_input import HumanInput
from daemon.journal.views.day import Day, DayGroup, read_day
from daemon.web.decide.ask_rows import AskRow
from daemon.web.decide.item_rows import Card
from daemon.web.first_run.step_values import step_values
from daemon.web.forms import read_form
from daemon.web.inbox.waiting_rows import read_waiting, rows_with_evidence
from daemon.web.page_answer import page_answer
from daemon.web.services import PageServices
from daemon.web.tasks.list_rows import TaskRow, rows_of_lines
from daemon.web.tasks.one_task import NOTHING_DONE, DoneForm, OneTask, open_task
from daemon.web.tasks.row_menu import category_names, label_names, menu_choices, offered_labels
from daemon.words.dates import full_day_words
from daemon.words.day_groups import begin_later_words, group_words
from store.snapshot import Snapshot

PATH: Final = "/"
WAITING_MAX: Final = 5
ROWS_MAX: Final = 30
_ALWAYS: Final = ("today",)


def routes(services: PageServices, human_input: HumanInput, outlook: OutlookLookup) -> list[web.RouteDef]:
    """Return the routes of this room. `human_input` knows the day that it is here.

    `outlook` says when an agent runs next.
    """
    room = _Today(services, human_input, OneTask(services, human_input, outlook))
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
    def __init__(self, services: PageServices, human_input: HumanInput, beside: OneTask) -> None:
        self._services = services
        self._typed = human_input
        self._beside = beside

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(open_task(request.query))

    async def act(self, request: web.Request) -> web.Response:
        """Decide on what waits, or do something to rows, and answer with the page as it is then."""
        form, ref = await read_form(request), open_task(request.query)
        done = await self._beside.act(form, ref, request.host)
        if done.is_done:
            place = PATH if done.is_removed else _address(ref) + done.place
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": place})
        return await self._page(ref, done)

    async def _page(self, ref: str, done: DoneForm = NOTHING_DONE) -> web.Response:
        after, here = self._services.store.feed_end, _address(ref)
        shown = await self._services.store.read(self._read)
        values = await self._beside.pane(ref, done, here, PATH)
        own = [] if values["task"] is None else values["task"].labels
        values |= {
            "here": here,
            "menu": menu_choices(self._typed.today(), offered_labels(shown.labels, own), shown.categories),
        }
        return await page_answer(
            self._services,
            "today/today.html",
            HTTPStatus.CONFLICT if done.is_refused() else HTTPStatus.OK,
            room="today",
            after=after,
            day_words=full_day_words(shown.day.day, None).words,
            groups=shown.groups,
            later=begin_later_words(shown.day.begin_later),
            waiting=shown.waiting,
            waiting_left=shown.waiting_left,
            outcome=done.outcome,
            fault=done.fault,
            **values,
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
            # The steps are shown only if there is no task that they could offer.
            step_values(snapshot, has_offer=False),
            offered_labels(
                label_names(snapshot), (name for group in groups for row in group.rows for name in row.labels)
            ),
            category_names(snapshot),
        )


def _address(ref: str) -> str:
    """Return the address of the day, with a task open beside it if one is named."""
    return f"{PATH}?task={ref}" if ref else PATH


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
