"""The routes of the list of tasks: filters, an order, a search, a page at a time, and what is done to rows.

Never changes anything on a GET; a form is sent to the address of the list that shows it.
"""

from datetime import date
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import urlencode

from aiohttp import web

from daemon.agents.asks import ask_views
from daemon.agents.deciding.waiting_items import list_waiting_items
from daemon.agents.person.agent_overview import OutlookLookup
from daemon.agents.person.task_agents import agents_of_tasks, waiting_by_task
from daemon.journal import search
from daemon.journal.fields.validation import PRIORITIES, STATUSES
from daemon.journal.human_input import HumanInput
from daemon.journal.references.task_filters import WITHOUT_ANY, ResolvedFilter, TaskFilter, resolve_filter
from daemon.journal.views.sorted_tasks import TaskOrder, TaskState, count_later, sorted_states
from daemon.journal.views.task_lines import task_lines_of
from daemon.refusal import Refused
from daemon.web.forms import read_form
from daemon.web.frame.frame_counts import frame_counts
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words
from daemon.web.services import PageServices
from daemon.web.tasks.list_rows import TaskRow, rows_of_lines
from daemon.web.tasks.one_task import NOTHING_DONE, DoneForm, OneTask, open_task
from daemon.web.tasks.row_menu import category_names, label_names, menu_choices, offered_labels
from daemon.words import terms
from daemon.words.day_groups import begin_later_words
from daemon.words.translation import _
from store.snapshot import Snapshot
from syncproto.ids import id_to_text

PATH: Final = "/tasks"
SHOWN_MAX: Final = 100
EVERY: Final = "all"
WITH_LATER: Final = "any"
"""What `start` says in the address if tasks that have not begun are asked for too."""
_CHARS_MAX: Final = 500
_NUMBER_DIGITS_MAX: Final = 6


def routes(services: PageServices, human_input: HumanInput, outlook: OutlookLookup) -> list[web.RouteDef]:
    """Return the routes of the list. `human_input` knows the day that it is here.

    `outlook` says when an agent runs next.
    """
    room = _TaskList(services, human_input, OneTask(services, human_input, outlook))
    return [web.get(PATH, room.show), web.post(PATH, room.act)]


class _ListQuery(NamedTuple):
    """What the address of the list asks for, `task` beside it; "" asks for nothing in particular."""

    q: str
    status: str
    label: str
    category: str
    priority: str
    due: str
    sort: str
    start: str
    after: str
    task: str = ""

    def address(self, **changes: str) -> str:
        """Return the address that asks for this, with changes."""
        words = {name: value for name, value in self._replace(**changes)._asdict().items() if value}
        return f"{PATH}?{urlencode(words)}" if words else PATH


def _query_of(request: web.Request) -> _ListQuery:
    words = (request.query.get(name, "").strip()[:_CHARS_MAX] for name in _ListQuery._fields)
    return _ListQuery(*words)._replace(task=open_task(request.query))


class _Listed(NamedTuple):
    """A page of the list. `more` is the `after` of the next page, "" at the end."""

    rows: list[TaskRow]
    more: str
    labels: list[str]
    categories: list[str]
    later_count: int
    counts: dict[str, int]


class _TaskList:
    def __init__(self, services: PageServices, human_input: HumanInput, beside: OneTask) -> None:
        self._services = services
        self._typed = human_input
        self._beside = beside

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request)

    async def act(self, request: web.Request) -> web.Response:
        """Do something to rows, or to the task beside them, and show both again; what is refused is said."""
        query = _query_of(request)
        done = await self._beside.act(await read_form(request), query.task, request.host)
        if done.is_done:
            place = query.address(task="") if done.is_removed else query.address() + done.place
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": place})
        return await self._page(request, done)

    async def _page(self, request: web.Request, done: DoneForm = NOTHING_DONE) -> web.Response:
        """Show a page of tasks; what is refused is said above an empty one."""
        query = _query_of(request)
        after, now_ms = self._services.store.feed_end, self._services.now_ms()
        fault = ""
        try:
            listed = await self._services.store.read(
                lambda snapshot: _read(snapshot, query, now_ms, self._typed)
            )
        except Refused as refused:
            listed, fault = _Listed([], "", [], [], 0, {}), refusal_words(refused)
        here = query.address()
        values = await self._beside.pane(query.task, done, here, query.address(task="")) | {"here": here}
        shown = [values["task"]] if values["task"] is not None else []
        values |= {
            "menu": menu_choices(
                self._typed.today(),
                offered_labels(
                    listed.labels, (name for row in (*listed.rows, *shown) for name in row.labels)
                ),
                listed.categories,
            )
        }
        return await page_answer(
            self._services,
            "tasks/tasks.html",
            HTTPStatus.CONFLICT if done.is_refused() else HTTPStatus.OK,
            room="tasks",
            after=after,
            refused_words=done.fault,
            outcome=done.outcome,
            fault=fault,
            rows=listed.rows,
            query=query,
            is_narrowed=any(query._replace(q="", start="", after="", task="")),
            later=begin_later_words(listed.later_count),
            with_later=query.address(start=WITH_LATER, after=""),
            selects=_selects(query, listed),
            first=query.address(after=""),
            more=query.address(after=listed.more) if listed.more else "",
            **listed.counts,
            **values,
        )


def _read(snapshot: Snapshot, query: _ListQuery, now_ms: int, typed: HumanInput) -> _Listed:
    """Read a page of the list. Raises Refused for a filter that names nothing, and for words without any."""
    status = "" if query.status == EVERY else query.status
    wanted = resolve_filter(
        snapshot,
        TaskFilter(query.label, query.category, status, query.priority, due=query.due),
        typed.due_day,
    )
    begun_by = typed.latest_start(query.start != WITH_LATER)
    if query.q:
        states, more = _page_found(snapshot, query, wanted, begun_by)
    else:
        states, more = _page_of_all(snapshot, query, wanted, begun_by, typed.today())
    waiting = list_waiting_items(snapshot, now_ms)
    by_task, agents = waiting_by_task(waiting), agents_of_tasks(snapshot, [task for task, _state in states])
    return _Listed(
        rows_of_lines(
            snapshot, task_lines_of(snapshot, states, removed=False), by_task, now_ms / 1000, agents
        ),
        more,
        label_names(snapshot),
        category_names(snapshot),
        _later_count(snapshot, query, wanted, begun_by),
        frame_counts(waiting, ask_views.count_open_asks(snapshot, now_ms)),
    )


def _later_count(
    snapshot: Snapshot, query: _ListQuery, wanted: ResolvedFilter | None, begun_by: str | None
) -> int:
    """Count the tasks that are left out for their start; none if these are shown."""
    if begun_by is None:
        return 0
    if query.q:
        return search.count_found_later(snapshot, query.q, wanted=wanted, begun_by=begun_by)
    return count_later(snapshot, begun_by, wanted)


def _page_of_all(
    snapshot: Snapshot,
    query: _ListQuery,
    wanted: ResolvedFilter | None,
    begun_by: str | None,
    today: date,
) -> tuple[list[TaskState], str]:
    """Return a page of all tasks; the next goes on behind its last task."""
    states = sorted_states(
        snapshot,
        _order(query),
        closed=query.status == EVERY,
        after=query.after or None,
        limit=SHOWN_MAX + 1,
        wanted=wanted,
        begun_by=begun_by,
        today=today,
    )
    return states[:SHOWN_MAX], id_to_text(states[SHOWN_MAX - 1][0]) if len(states) > SHOWN_MAX else ""


def _page_found(
    snapshot: Snapshot, query: _ListQuery, wanted: ResolvedFilter | None, begun_by: str | None
) -> tuple[list[TaskState], str]:
    """Return a page of what was found, the best first unless an order is asked for; the next has a number."""
    start = _number(query.after)
    states = search.found_states(
        snapshot, query.q, _order(query), wanted=wanted, count=start + SHOWN_MAX + 1, begun_by=begun_by
    )[start:]
    return states[:SHOWN_MAX], str(start + SHOWN_MAX) if len(states) > SHOWN_MAX else ""


def _order(query: _ListQuery) -> TaskOrder:
    """Return the order that is asked for; the usual one for a word that names none."""
    return TaskOrder(query.sort) if query.sort in set(TaskOrder) else TaskOrder.MADE


def _number(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= _NUMBER_DIGITS_MAX
    return int(text) if is_number else 0


def _selects(query: _ListQuery, listed: _Listed) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return what the form offers: the name of each field, its words, and its values with theirs."""
    every, without = ("", _("all")), (WITHOUT_ANY, _("none"))
    usual = [every] if query.q else [("", _("open ones")), (EVERY, _("all"))]
    named = [("label", _("Label"), listed.labels), ("category", _("Category"), listed.categories)]
    return [
        ("status", _("Status"), [*usual, *((status, terms.task_status(status)) for status in STATUSES)]),
        ("due", _("Due"), _due_choices()),
        ("priority", _("Priority"), [every, *((name, name) for name in PRIORITIES)]),
        *(
            (field, words, [every, *((name, name) for name in names), without])
            for field, words, names in named
            if names
        ),
        ("sort", _("In order of"), _order_choices(query)),
    ]


def _due_choices() -> list[tuple[str, str]]:
    return [
        ("", _("any day")),
        ("overdue", _("overdue")),
        ("today", _("today")),
        ("week", _("this week")),
        (WITHOUT_ANY, _("no due date")),
    ]


def _order_choices(query: _ListQuery) -> list[tuple[str, str]]:
    return [
        (TaskOrder.MADE, _("how well they match") if query.q else _("age, the oldest first")),
        (TaskOrder.NEWEST, _("age, the newest first")),
        (TaskOrder.DUE, _("due date")),
        (TaskOrder.PRIORITY, _("priority")),
        (TaskOrder.TITLE, _("title")),
    ]
