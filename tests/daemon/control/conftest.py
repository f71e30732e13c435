"""A control API on a real store and socket, and a client that holds answers to their description."""

import io
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import msgspec
import pytest

from daemon import paths
from daemon.control.dispatcher import Dispatcher
from daemon.control.error_body import Envelope
from daemon.control.route import AsyncHandler, ReadHandler, Route
from daemon.control.routes import self_description, undo
from daemon.control.routes.events import EventStreams
from daemon.control.routes.journal import tasks
from daemon.control.server import ControlServer
from daemon.disk import DiskFloor
from daemon.journal.human_input import HumanInput
from daemon.notifier import Notifier
from daemon.peers.mailboxes.mailbox_state import MailboxActivity
from store.store import Store
from store.threads import StoreThreads
from syncproto.ids import DeviceId
from syncproto.keys import Signer
from tests.support.empty_database import lay_empty_database
from tests.support.fleet import START_MS, Fleet


class Answer(NamedTuple):
    status: int
    json: Any
    left_out: str | None = None
    """The header that counts what of a list follows."""
    change: str | None = None
    """The header that names what the request changed."""

    @property
    def code(self) -> str:
        return str(self.json["error"]["code"])


class Api:
    """One daemon's control API, without its agents and peers."""

    def __init__(self, folder: Path, extra: list[Route]) -> None:
        self.path = folder / "control.sock"
        self.floor = 0
        self.now_ms = START_MS
        self.folder = folder
        fleet = Fleet(folder)
        self.store = StoreThreads(
            Store.open(
                lay_empty_database(folder / "placet.db"),
                signer=Signer(bytes(32)),
                now_ms=lambda: self.now_ms,
                randomness=fleet.randomness,
            )
        )
        self.notifier = Notifier()
        self.store.on_commit.append(self.notifier.notify)
        self.differing: dict[DeviceId, str] = {}
        self.agreeing: set[DeviceId] = set()
        self.activities: list[MailboxActivity] = []
        self.events = EventStreams(
            self.store,
            self.notifier,
            lambda: START_MS,
            lambda: self.differing,
            lambda: self.agreeing,
            activities=lambda: self.activities,
        )
        self.routes = [
            *tasks.routes(HumanInput(lambda: START_MS, UTC, "en")),
            *undo.routes(self.store, reason_min=20),
            *extra,
        ]
        self.control: ControlServer | None = None
        self._opened = ExitStack()

    async def start(self, uid: int | None = None, passed: socket.socket | None = None) -> None:
        dispatch = Dispatcher(self.store, DiskFloor(self.folder, self.floor))
        self.control = await ControlServer.start(
            self.path, self.routes, dispatch, self.events, uid=uid, passed=passed
        )
        address = self._opened.enter_context(paths.short_address(str(self.path)))
        self.session = aiohttp.ClientSession("http://placet", connector=aiohttp.UnixConnector(address))

    async def stop(self) -> None:
        assert self.control is not None
        await self.session.close()
        await self.control.stop()
        self.store.close()
        self._opened.close()

    async def ask(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, raw: bytes | None = None
    ) -> Answer:
        """Ask, and hold the answer to what its route declares."""
        content = raw if body is None else msgspec.json.encode(body)
        data = None if content is None else io.BytesIO(content)
        headers = {} if key is None else {"Idempotency-Key": key}
        async with self.session.request(method, path, data=data, headers=headers) as response:
            answer = await response.read()
            if response.status >= 400:
                msgspec.json.decode(answer, type=Envelope)
            else:
                self._hold(method, path, answer)
            left_out = response.headers.get("Placet-Left-Out")
            change = response.headers.get("Placet-Change")
            return Answer(response.status, msgspec.json.decode(answer), left_out, change)

    def _hold(self, method: str, path: str, answer: bytes) -> None:
        template = path.partition("?")[0].split("/")
        for route in [*self_description.routes(self.events, self.routes), *self.routes]:
            pieces = route.path.split("/")
            alike = len(pieces) == len(template) and all(
                piece in (text, "{ref}") for piece, text in zip(pieces, template, strict=True)
            )
            if alike and route.method == method:
                msgspec.json.decode(answer, type=route.response)
                return
        raise AssertionError(f"no route answers {method} {path}")

    async def commits(self) -> int:
        return await self.store.read(lambda snapshot: snapshot.counts().commits)


class Probe:
    """Routes that only tests have: a fault of choice, a count, and a secret that must not be kept."""

    def __init__(self) -> None:
        self.runs = 0
        self.fault: Exception = RuntimeError("private words")

    def routes(self) -> list[Route]:
        return [
            Route("GET", "/v1/bug", "Meet a bug", ReadHandler(self._bug), int),
            Route("POST", "/v1/count", "Count", AsyncHandler(self._count), int),
            Route(
                "POST",
                "/v1/look",
                "Count, and say that it writes nothing",
                AsyncHandler(self._count),
                int,
                writes_nothing=lambda _: True,
            ),
            Route(
                "POST", "/v1/secret", "Count in secret", AsyncHandler(self._count, stores_response=False), int
            ),
        ]

    def _bug(self, snapshot: Any, call: Any) -> int:
        raise self.fault

    async def _count(self, call: Any) -> int:
        self.runs += 1
        return self.runs


@pytest.fixture
def probe() -> Probe:
    return Probe()


@pytest.fixture
async def api(tmp_path: Path, probe: Probe) -> AsyncIterator[Api]:
    new_api = Api(tmp_path, probe.routes())
    await new_api.start()
    yield new_api
    await new_api.stop()
