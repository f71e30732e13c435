"""The route of the bar on top of every page: what waits, for pages that show nothing else of what changed.

Never does the work of the page below the bar.
"""

from typing import Final

from aiohttp import web

from daemon.web.page_answer import page_answer
from daemon.web.services import PageServices

PATH: Final = "/bar"


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the route of this room."""

    async def show(request: web.Request) -> web.Response:
        """Show a page without a content; `room` names the one whose page it is."""
        after = services.store.feed_end
        return await page_answer(services, "frame/page.html", room=request.query.get("room", ""), after=after)

    return [web.get(PATH, show)]
