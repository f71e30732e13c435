"""The routes of the finder: what tasks and actions are called as one types, and the list of all keys.

Never changes anything, and never reads more of the journal than it shows.
"""

from typing import Final, NamedTuple

from aiohttp import web

from daemon.journal import search
from daemon.journal.fields.validation import CLOSED
from daemon.journal.views.sorted_tasks import TaskOrder
from daemon.journal.views.task_lines import TaskLine, task_lines_of
from daemon.refusal import Refused
from daemon.web.frame import keys
from daemon.web.frame.entries import BAR, FINDER_ALONE, entries_named, shown_entries
from daemon.web.page_answer import page_answer
from daemon.web.services import PageServices
from daemon.words.dates import due_words
from store.snapshot import Snapshot

PATH: Final = "/find"
KEYS_PATH: Final = "/keys"
TASKS_MAX: Final = 8
ACTIONS_MAX: Final = 5
_CHARS_MAX: Final = 200
_OFFERED_UNTYPED: Final = (FINDER_ALONE[0], *BAR)


class FinderRow(NamedTuple):
    """A row: where it leads, its icon, its words, and what stands beside them: a key, or the day of a task.

    `deed` is what a script does in place of going there.
    """

    path: str
    icon: str
    words: str
    key: str = ""
    day: str = ""
    deed: str = ""
    is_closed: bool = False


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""

    async def find(request: web.Request) -> web.Response:
        """Show the rows for what was typed so far: a part of a page."""
        typed = request.query.get("q", "").strip()[:_CHARS_MAX]
        now_s = services.now_ms() / 1000
        tasks = (
            await services.store.read(lambda snapshot: _tasks_named(snapshot, typed, now_s)) if typed else []
        )
        text = services.renderer.render("finder/rows.html", rows=_actions(typed) + tasks, typed=typed)
        return web.Response(text=text, content_type="text/html", charset="utf-8")

    async def show_keys(request: web.Request) -> web.Response:
        """Show all keys: the page from which a script takes them into a dialog."""
        del request
        after = services.store.feed_end
        return await page_answer(
            services, "finder/keys.html", room="settings", after=after, key_list=keys.key_list()
        )

    return [web.get(PATH, find), web.get(KEYS_PATH, show_keys)]


def _actions(typed: str) -> list[FinderRow]:
    named = entries_named(typed)[:ACTIONS_MAX] if typed else shown_entries(_OFFERED_UNTYPED)
    return [
        FinderRow(
            entry.path, entry.icon, entry.words, key=f"g {entry.key}" if entry.key else "", deed=entry.deed
        )
        for entry in named
    ]


def _tasks_named(snapshot: Snapshot, typed: str, now_s: float) -> list[FinderRow]:
    """Return the tasks that a search finds best, done ones too; none for words that search for nothing."""
    try:
        states = search.found_states(snapshot, typed, TaskOrder.MADE, wanted=None, count=TASKS_MAX)
    except Refused:
        return []
    return [_task_row(line, now_s) for line in task_lines_of(snapshot, states, removed=False)]


def _task_row(line: TaskLine, now_s: float) -> FinderRow:
    is_closed = line.status in CLOSED
    day = due_words(line.due, now_s, line.due_time)[0] if line.due and not is_closed else ""
    return FinderRow(f"/tasks/{line.id}", "list", line.title, day=day, is_closed=is_closed)
