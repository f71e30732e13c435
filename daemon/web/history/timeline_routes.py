"""The route of a task's timeline.

Never changes anything.
"""

from http import HTTPStatus
from typing import Final

from aiohttp import web

from daemon.agents.deciding.decision_history import DECISIONS_LISTED_MAX, DecisionRecord
from daemon.agents.person import full_history
from daemon.journal.task_timeline import Timeline, task_timeline
from daemon.refusal import Refused
from daemon.web.history.timeline_rows import timeline_page
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words
from daemon.web.services import PageServices
from store.snapshot import Snapshot

_DIGITS_MAX: Final = 15


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    return [web.get("/tasks/{task:[0-9a-f]{32}}/timeline", _Timelines(services).show)]


class _Timelines:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    async def show(self, request: web.Request) -> web.Response:
        """Show a page of the timeline, the newest first."""
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        ref, before = request.match_info["task"], _position(request.query.get("before", ""))

        def read(snapshot: Snapshot) -> tuple[Timeline, list[DecisionRecord]]:
            timeline = task_timeline(snapshot, ref, before=before)
            records = full_history.list_decided(
                snapshot, now_ms, task=ref, before=before, limit=DECISIONS_LISTED_MAX
            )
            return timeline, records

        try:
            timeline, records = await self._services.store.read(read)
        except Refused as refused:
            return await page_answer(
                self._services,
                "tasks/gone.html",
                HTTPStatus.NOT_FOUND,
                room="tasks",
                after=after,
                fault=refusal_words(refused),
            )
        return await page_answer(
            self._services,
            "history/timeline.html",
            room="tasks",
            after=after,
            task_id=timeline.task_id,
            title=timeline.title,
            page=timeline_page(timeline, records, now_ms / 1000),
            earlier=timeline.earlier,
        )


def _position(text: str) -> int | None:
    """Return the feed position that a link of the page names; None for the newest, and for any other text."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
    return int(text) if is_number else None
