"""A filled template as the answer to a browser.

Never lets a browser keep it.
"""

from http import HTTPStatus
from typing import Any

from aiohttp import web

from daemon.agents.deciding import waiting_items
from daemon.web.services import PageServices


async def page_answer(
    services: PageServices, template: str, status: HTTPStatus = HTTPStatus.OK, **values: Any
) -> web.Response:
    """Return a page of HTML, with the number of things that wait, compressed if the browser takes that.

    `after` is the feed position from which on the page follows changes: read before what it shows.
    """
    now_ms = services.now_ms()
    waiting = await services.store.read(
        lambda snapshot: waiting_items.waiting_count(waiting_items.list_waiting_items(snapshot, now_ms))
    )
    text = services.renderer.render(template, **{"waiting_count": waiting, **values})
    response = web.Response(status=status, text=text, content_type="text/html", charset="utf-8")
    response.enable_compression()
    return response
