"""A filled template as the answer to a browser.

Never lets a browser keep it.
"""

from http import HTTPStatus
from typing import Any

from aiohttp import web

from daemon.agents.asks import ask_views
from daemon.agents.deciding import waiting_items
from daemon.web.frame.step_line import step_line
from daemon.web.services import PageServices
from store.snapshot import Snapshot


async def page_answer(
    services: PageServices, template: str, status: HTTPStatus = HTTPStatus.OK, **values: Any
) -> web.Response:
    """Return a page of HTML, with what its frame shows of all rooms, compressed if the browser takes that.

    `after` is the feed position from which on the page follows changes: read before what it shows.
    """
    now_ms = services.now_ms()
    is_counted = {"waiting_count", "asks_count"} <= values.keys()
    counts = {} if is_counted else await services.store.read(lambda snapshot: _counts(snapshot, now_ms))
    step = step_line(await services.device_states())
    text = services.renderer.render(
        template, **{"step_words": step.words, "step_tone": step.tone, **counts, **values}
    )
    response = web.Response(status=status, text=text, content_type="text/html", charset="utf-8")
    response.enable_compression()
    return response


def _counts(snapshot: Snapshot, now_ms: int) -> dict[str, int]:
    items = waiting_items.list_waiting_items(snapshot, now_ms)
    return {
        "waiting_count": waiting_items.waiting_count(items),
        "asks_count": ask_views.count_open_asks(snapshot, now_ms),
    }
