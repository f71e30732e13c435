"""A filled template as the answer to a browser.

Never lets a browser keep it, nor fills it on the event loop: what others wrote decides how long that takes.
"""

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Any

from aiohttp import web

from daemon.web.frame.frame_counts import frame_counts, read_frame_counts
from daemon.web.frame.step_line import step_line
from daemon.web.services import PageServices


async def page_answer(
    services: PageServices, template: str, status: HTTPStatus = HTTPStatus.OK, **values: Any
) -> web.Response:
    """Return a page of HTML, with what its frame shows of all rooms, compressed if the browser takes that.

    `after` is the feed position from which on the page follows changes: read before what it shows.
    """
    now_ms = services.now_ms()
    is_counted = frame_counts((), 0).keys() <= values.keys()
    counts = (
        {} if is_counted else await services.store.read(lambda snapshot: read_frame_counts(snapshot, now_ms))
    )
    step = step_line(await services.device_states())
    shown = {"step_words": step.words, "step_tone": step.tone, **counts, **values}
    text = await asyncio.to_thread(partial(services.renderer.render, template, **shown))
    response = web.Response(status=status, text=text, content_type="text/html", charset="utf-8")
    response.enable_compression()
    return response
