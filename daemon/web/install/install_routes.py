"""The routes of what a browser installs: the manifest of the page, and its worker.

Never says anything of the journal: a browser asks for these without a session too.
"""

import json
from typing import Any, Final

from aiohttp import web

from daemon.web.frame.entries import FINDER_ALONE, shown_entries
from daemon.web.services import PageServices
from daemon.words.translation import _, language_in_use

MANIFEST_PATH: Final = "/manifest.webmanifest"
WORKER_PATH: Final = "/worker.js"
OPEN_PATHS: Final = (MANIFEST_PATH, WORKER_PATH)
ICONS: Final = (
    ("icon-192.png", 192, "any"),
    ("icon-512.png", 512, "any"),
    ("maskable-512.png", 512, "maskable"),
)
"""The file of each icon, its size in pixels, and what it is for; `make icons` draws them."""
_PAGE_PLACE: Final = b'"{page}"'
_INDIGO: Final = "#4338ca"


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    renderer = services.renderer

    async def manifest(request: web.Request) -> web.Response:
        """Describe the page as an application. Its addresses are those of every version, past and to come."""
        del request
        return web.Response(
            text=json.dumps(_manifest(renderer.static_root), ensure_ascii=False),
            content_type="application/manifest+json",
            charset="utf-8",
        )

    async def worker(request: web.Request) -> web.Response:
        """Send the worker, with its page in the language and the colours of the browser that asks."""
        del request
        page = json.dumps(renderer.render("install/away.html"))
        _media, script = renderer.static_files["worker.js"]
        assert _PAGE_PLACE in script
        return web.Response(
            body=script.replace(_PAGE_PLACE, page.encode()), content_type="text/javascript", charset="utf-8"
        )

    return [web.get(MANIFEST_PATH, manifest), web.get(WORKER_PATH, worker)]


def _manifest(static_root: str) -> dict[str, Any]:
    add, *_others = shown_entries(FINDER_ALONE)
    return {
        "id": "/",
        "name": "Placet",
        "short_name": "Placet",
        "description": _("Your tasks, and what agents propose: nothing is done until you confirm it."),
        "lang": language_in_use(),
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "theme_color": _INDIGO,
        "background_color": "#fbfbfc",
        "icons": [
            {
                "src": f"{static_root}/{name}",
                "sizes": f"{size}x{size}",
                "type": "image/png",
                "purpose": purpose,
            }
            for name, size, purpose in ICONS
        ],
        "shortcuts": [{"name": add.words, "url": add.path}],
    }
