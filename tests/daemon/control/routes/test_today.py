"""The route of a day: the day as a person types it, and what waits on each task.

Never tests what is in a group: `tests/daemon/journal/views/test_day.py` does.
"""

from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from daemon.control.route import Call, Nothing, ReadHandler
from daemon.control.routes import today
from daemon.control.routes.today import DayQuery
from daemon.journal.human_input import HumanInput
from tests.daemon.control.conftest import Api
from tests.support.fleet import START_MS, Home

ROUTES = today.routes(HumanInput(lambda: START_MS, UTC, "en"))


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    new_api = Api(tmp_path, ROUTES)
    await new_api.start()
    yield new_api
    await new_api.stop()


async def counts(api: Api, query: str = "") -> dict[str, int]:
    answer = await api.ask("GET", f"/v1/today{query}")
    assert answer.status == 200, answer.json
    return {
        group["day"] or group["name"]: group["count"] for group in answer.json["groups"] if group["count"]
    }


async def test_the_day_is_the_one_here_or_one_in_words(api: Api):
    for due in ("yesterday", "today", "tomorrow", "in 9 days"):
        assert (await api.ask("POST", "/v1/tasks", {"title": due, "due": due})).status == 201
    today_counts = {"overdue": 1, "2026-03-20": 1, "2026-03-21": 1}
    assert await counts(api) == await counts(api, "?day=today&limit=1") == today_counts
    assert await counts(api, "?day=tomorrow") == {"overdue": 2, "2026-03-21": 1}
    assert await counts(api, "?day=9999-12-31&limit=500") == {"overdue": 4}


@pytest.mark.parametrize(
    "query", ["day=soonish", "day=none", "day=2026-02-30", "limit=0", "limit=501", "x=1"]
)
async def test_what_is_no_day_and_no_limit_is_refused_by_name(api: Api, query: str):
    answer = await api.ask("GET", f"/v1/today?{query}")
    assert (answer.status, answer.code) == (400, "usage")


async def test_a_line_counts_the_proposals_that_wait_on_its_task(a: Home):
    task = a.new("task", title="Call Ana", due="2026-03-20", status="OPEN")
    a.new("task", title="Call Bo", due="2026-03-20", status="OPEN")
    calls = [("add_checklist_item", {"title": title}) for title in ("A", "B")]
    assert len(a.propose(task, "run", *calls)) == 2
    handler = ROUTES[0].handler
    assert isinstance(handler, ReadHandler)
    day: Any = a.read(lambda snapshot: handler.run(snapshot, Call({}, Nothing(), DayQuery())))
    assert [(line.title, line.waiting) for line in day.groups[1].tasks] == [("Call Ana", 2), ("Call Bo", 0)]
