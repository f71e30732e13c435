"""The routes that find tasks: lists with one line per task, and full-text search.

Never decides anything: each names a use case.
"""

from typing import Annotated

from msgspec import Meta, Struct, structs

from daemon.agents.deciding.waiting_items import list_waiting_items
from daemon.agents.person.task_agents import agent_ids_of_tasks, waiting_by_task
from daemon.control.route import Route
from daemon.control.use_case_routes import read_query
from daemon.journal import search
from daemon.journal.human_input import HumanInput
from daemon.journal.references.task_filters import TaskFilter, resolve_filter
from daemon.journal.search import Found
from daemon.journal.views import task_lines
from daemon.journal.views.task_lines import ListedTask, TaskLine
from store.fold.list_columns import ListOrder
from store.snapshot import Snapshot
from syncproto.ids import id_from_text, id_to_text

QUERY_CHARS_MAX = 1000


class Page(TaskFilter, frozen=True, forbid_unknown_fields=True):
    """Which tasks: open ones, `all`, or instead the `removed` ones; a page of them, in an order."""

    all: bool = False
    removed: bool = False
    after: Annotated[str, Meta(max_length=32, description="The id of the last task of the page before.")] = ""
    limit: Annotated[int, Meta(ge=1, le=task_lines.PAGE_MAX)] = task_lines.PAGE_MAX
    order: Annotated[ListOrder, Meta(description="What comes first.")] = ListOrder.OLDEST
    begun: Annotated[bool, Meta(description="Without open tasks whose start lies behind today.")] = False


class LinesPage(Page, frozen=True, forbid_unknown_fields=True):
    """The same of lines, of which one answer may have more."""

    limit: Annotated[int, Meta(ge=1, le=task_lines.LINES_MAX)] = task_lines.PAGE_MAX


class SearchQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Words, "phrases in quotes" and -excluded words; `removed` looks among what was removed too.

    `begun` leaves out open tasks whose start lies behind today, and counts them.
    """

    q: Annotated[str, Meta(max_length=QUERY_CHARS_MAX)]
    limit: Annotated[int, Meta(ge=1, le=search.LIMIT_MAX)] = search.LIMIT_DEFAULT
    after: Annotated[int, Meta(ge=0, le=1_000_000_000, description="The `next` of the page before.")] = 0
    removed: bool = False
    begun: bool = False


def routes(human_input: HumanInput) -> list[Route]:
    """Return the part of the table on lists and search; `human_input` reads the days that people type."""

    def list_lines(snapshot: Snapshot, query: LinesPage) -> list[ListedTask]:
        lines = task_lines.task_lines_page(
            snapshot,
            closed=query.all,
            removed=query.removed,
            after=query.after or None,
            limit=query.limit,
            wanted=resolve_filter(snapshot, query, human_input.due_day),
            order=query.order,
            begun_by=human_input.latest_start(query.begun),
            today=human_input.today(),
        )
        return _with_agents(snapshot, lines, human_input.now_ms())

    def find(snapshot: Snapshot, query: SearchQuery) -> Found:
        return search.search_tasks(
            snapshot,
            query.q,
            removed=query.removed,
            after=query.after,
            limit=query.limit,
            begun_by=human_input.latest_start(query.begun),
        )

    return [
        read_query("/v1/task-lines", "List tasks, a line each", list_lines, list[ListedTask], LinesPage),
        read_query("/v1/search", "Find tasks by words", find, Found, SearchQuery),
    ]


def _with_agents(snapshot: Snapshot, lines: list[TaskLine], now_ms: int) -> list[ListedTask]:
    """Add to lines of tasks which of them have an agent, and how many proposals wait on each."""
    waiting = waiting_by_task(list_waiting_items(snapshot, now_ms))
    agents = agent_ids_of_tasks(snapshot, [id_from_text(line.id) for line in lines])
    agent_texts = {id_to_text(task): id_to_text(agent) for task, agent in agents.items()}
    return [
        ListedTask(**structs.asdict(line), waiting=waiting.get(line.id, 0), agent_id=agent_texts.get(line.id))
        for line in lines
    ]
