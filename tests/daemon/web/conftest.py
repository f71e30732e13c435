"""A page on a real store, asked as a browser asks, and the shortest way to something that waits."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest
from aiohttp import web

from daemon.browser_access import COOKIE, BrowserAccess
from daemon.config import WebSettings
from daemon.connections import DEFAULT_LIMITS, ConnectionLimits
from daemon.disk import DiskFloor
from daemon.notifier import Notifier
from daemon.web import listening
from daemon.web.live.page_stream import Surroundings
from daemon.web.server import PageServer
from daemon.web.services import PageServices
from store.store import Store
from store.threads import StoreThreads
from syncproto.ids import id_from_text
from syncproto.keys import Signer
from tests.daemon.control.routes.test_decisions import proposed
from tests.support.empty_database import lay_empty_database
from tests.support.fleet import Fleet

PROXIED = "laptop.example.net"
CHANGES = (
    ("update_task_estimate", {"minutes": 120}),
    ("set_task_title", {"title": "Better"}),
    ("add_checklist_item", {"title": "Buy paper"}),
)


class PageAnswer(NamedTuple):
    status: int
    text: str
    headers: dict[str, str]

    def forms(self) -> dict[str, str]:
        """Return what the buttons of the page send, by the id of the item and the verdict."""
        values = re.findall(r'name="decide" value="([a-z]+):([0-9a-f]{32}):([0-9a-f]{64})"', self.text)
        return {f"{verdict} {item}": f"{verdict}:{item}:{args_hash}" for verdict, item, args_hash in values}


class Network:
    """What a page sees of the network: some links."""

    def __init__(self) -> None:
        self.changed = Notifier()
        self.links = 0

    async def notify_for_ever(self) -> None:
        while True:
            self.changed.notify()
            await asyncio.sleep(0)


class Page:
    """One daemon's page, without its agents and peers. Asks with the headers that its own pages cause."""

    limits = DEFAULT_LIMITS

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.fleet = Fleet(folder)
        self.monotonic_s = 100.0
        self.floor = 0
        self.store = StoreThreads(
            Store.open(
                lay_empty_database(folder / "placet.db"),
                signer=Signer(bytes(32)),
                now_ms=self.now_ms,
                randomness=self.fleet.randomness,
            )
        )
        self.notifier = Notifier()
        self.store.on_commit.append(self.notifier.notify)
        self.access = BrowserAccess(self.now_ms, lambda: self.monotonic_s, self.fleet.randomness)
        self.services = PageServices(
            self.store,
            self.notifier,
            DiskFloor(folder, 0),
            self.access,
            self.now_ms,
            reason_min=20,
            open_per_day=50,
        )
        self.settings = WebSettings(enabled=True, hosts=(PROXIED,), **settings)
        self.network = Network()
        self.token = ""

    def now_ms(self) -> int:
        return self.fleet.now_ms

    def more_routes(self) -> list[web.RouteDef]:
        """Return the routes of rooms that need more than a store."""
        return []

    async def start(self) -> None:
        state = listening.load_state(self.folder, self.fleet.randomness)
        self.server = PageServer(
            self.services,
            self.settings,
            self.folder,
            state,
            self.fleet.randomness,
            more_routes=self.more_routes(),
            surroundings=Surroundings(self.network.changed, lambda: {"network": self.network.links}),
            limits=self.limits,
        )
        await self.server.start()
        self.origin = self.access.origins[0]
        self.host = self.origin.removeprefix("http://")
        self.port = int(self.host.rpartition(":")[2])
        self.session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())

    async def stop(self) -> None:
        await self.session.close()
        await self.server.stop()

    async def ask(
        self, path: str, form: Any = None, *, method: str = "", headers: dict[str, str | None] | None = None
    ) -> PageAnswer:
        """Send a request as the page's own form or link would; a header of None is left out."""
        sent: dict[str, str | None] = {
            "Host": self.host,
            "Cookie": f"{COOKIE}={self.token}" if self.token else None,
            "Sec-Fetch-Site": "same-origin",
            "Origin": self.origin if form is not None else None,
            **(headers or {}),
        }
        kept = {name: value for name, value in sent.items() if value is not None}
        async with self.session.request(
            method or ("GET" if form is None else "POST"),
            f"http://127.0.0.1:{self.port}{path}",
            data=form,
            headers=kept,
            allow_redirects=False,
        ) as response:
            return PageAnswer(response.status, await response.text(), dict(response.headers))

    async def sign_in(self, headers: dict[str, str | None] | None = None) -> SimpleCookie:
        """Sign in, use the session from now on, and return the cookie as the browser gets it."""
        secret = self.access.issue_secret().text
        answer = await self.ask("/in", {"secret": secret}, headers=headers)
        assert answer.status == 303, answer.text
        cookie = SimpleCookie(answer.headers["Set-Cookie"])
        self.token = cookie[COOKIE].value
        return cookie

    async def propose(self, *calls: tuple[str, dict[str, Any]], run_key: str = "run") -> list[str]:
        return await self.store.write(lambda tx: proposed(tx, run_key, *calls))

    async def status_of(self, item: str) -> str:
        stored_item = await self.store.read(lambda snapshot: snapshot.item(id_from_text(item)))
        assert stored_item is not None
        return stored_item.status.value

    async def commits(self) -> int:
        return await self.store.read(lambda snapshot: snapshot.counts().commits)


Serve = Callable[[ConnectionLimits], AbstractAsyncContextManager[Page]]
"""Serves a page with other limits, to no browser that is signed in."""


@pytest.fixture
async def unknown_page(tmp_path: Path) -> AsyncIterator[Page]:
    """A page to which no browser is signed in."""
    page = Page(tmp_path)
    await page.start()
    yield page
    await page.stop()
    page.store.close()


@pytest.fixture
async def page(unknown_page: Page) -> Page:
    """A page to which a browser is signed in."""
    await unknown_page.sign_in()
    return unknown_page


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    @asynccontextmanager
    async def serving(limits: ConnectionLimits) -> AsyncIterator[Page]:
        page = Page(tmp_path)
        page.limits = limits
        await page.start()
        try:
            yield page
        finally:
            await page.stop()
            page.store.close()

    return serving
