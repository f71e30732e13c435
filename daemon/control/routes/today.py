"""The route of a day: the groups of tasks that a person's day begins with.

Never decides what is in a group, nor what waits: it brings the two together.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.agents.deciding.waiting_items import list_waiting_items
from daemon.agents.person.task_agents import waiting_by_task
from daemon.control.route import Route
from daemon.control.use_case_routes import read_query
from daemon.journal.human_input import HumanInput
from daemon.journal.views.day import Day, read_day
from daemon.journal.views.task_lines import PAGE_MAX
from store.snapshot import Snapshot

LIMIT_DEFAULT = 50


class DayQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which day, and how many tasks of each group are shown."""

    day: Annotated[str, Meta(description="YYYY-MM-DD, or words such as tomorrow; today if it is empty.")] = ""
    limit: Annotated[int, Meta(ge=1, le=PAGE_MAX)] = LIMIT_DEFAULT
    later: Annotated[bool, Meta(description="Also tasks whose start lies behind the day.")] = False


def routes(human_input: HumanInput) -> list[Route]:
    """Return the part of the table on a day; `human_input` knows which day it is here."""

    def show(snapshot: Snapshot, query: DayQuery) -> Day:
        return read_day(
            snapshot,
            human_input.day(query.day),
            limit=query.limit,
            later=query.later,
            today=human_input.today(),
            waiting=waiting_by_task(list_waiting_items(snapshot, human_input.now_ms())),
        )

    return [read_query("/v1/today", "Show a day", show, Day, DayQuery)]
