"""Real servers of NATS on loopback, one or a cluster of three, and carriers that use them.

Never fakes a part of Placet or of NATS: the program is Debian's, and what is sent goes over a connection.
"""

import asyncio
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import nats

from daemon.peers.mailboxes.jetstream.place import parse_place
from daemon.peers.mailboxes.nats import NatsCarrier, NatsTimes
from tests.support.needs import SEARCH_PATH
from tests.support.patience import LIMIT_S

SECRET = "placet:s3cret-of-the-test"
PATIENT = NatsTimes(task_s=LIMIT_S, answer_s=2.0, news_s=LIMIT_S, retry_s=0.05)
STARTS_MAX = 5


class PortTaken(Exception):
    """Somebody else listens on a port that was free a moment ago."""


@dataclass
class NatsServer:
    """One server as a process, with a folder of its own."""

    folder: Path
    port: int
    health_port: int
    config: str
    process: "subprocess.Popen[bytes] | None" = None

    async def start(self) -> None:
        """Start it, and wait until it takes connections."""
        await asyncio.to_thread(self._spawn)
        async with asyncio.timeout(LIMIT_S):
            while True:
                assert self.process is not None
                if self.process.poll() is not None:
                    written = (self.folder / "log").read_text()
                    assert "address already in use" in written, written
                    raise PortTaken
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    await asyncio.sleep(0.02)
                    continue
                writer.close()
                await writer.wait_closed()
                return

    async def until_well(self) -> None:
        """Wait until the server says that it has all that the others have."""
        async with asyncio.timeout(LIMIT_S), aiohttp.ClientSession() as session:
            while True:
                try:
                    async with session.get(f"http://127.0.0.1:{self.health_port}/healthz") as answer:
                        if answer.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.1)

    def _spawn(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "config").write_text(self.config)
        program = shutil.which("nats-server", path=SEARCH_PATH)
        assert program is not None
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [program, "--config", str(self.folder / "config")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    async def kill(self) -> None:
        """End it at once, as a machine that loses power does."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            await asyncio.to_thread(process.wait, LIMIT_S)


@dataclass
class RunningNats:
    """Servers with one user, and carriers, which are closed with them."""

    servers: list[NatsServer]
    scheme: str = "nats"
    query: str = ""
    carriers: list[NatsCarrier] = field(default_factory=list)

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self.servers)
        return f"{self.scheme}://{hosts}/box{self.query}"

    @asynccontextmanager
    async def open_streams(self) -> AsyncIterator[Any]:
        """Give what whoever runs the servers has: the streams, without Placet."""
        user, _, password = SECRET.partition(":")
        servers = [f"nats://127.0.0.1:{server.port}" for server in self.servers]
        client = await nats.connect(servers, user=user, password=password)
        try:
            yield client.jetstream()
        finally:
            await client.close()

    def carrier(
        self, vault: bytes = bytes(16), *, url: str = "", secret: str = SECRET, times: NatsTimes = PATIENT
    ) -> NatsCarrier:
        carrier = NatsCarrier(parse_place(url or self.url), secret, vault, times=times)
        self.carriers.append(carrier)
        return carrier


@asynccontextmanager
async def nats_in(
    folder: Path,
    *,
    count: int = 1,
    more: str = "",
    authorization: str = "",
    scheme: str = "nats",
    query: str = "",
) -> AsyncIterator[RunningNats]:
    """Run a cluster; `more` goes into the configuration of each server."""
    running = await _started(
        partial(_servers, folder, count=count, more=more, authorization=authorization),
        scheme,
        query or (f"?replicas={count}" if count > 1 else ""),
    )
    try:
        yield running
    finally:
        for carrier in running.carriers:
            await carrier.close()
        for server in running.servers:
            await server.kill()


async def _started(make: Callable[[], list[NatsServer]], scheme: str, query: str) -> RunningNats:
    """Start servers, and others on other ports if somebody took one of theirs before they did."""
    for _ in range(STARTS_MAX):
        servers = make()
        try:
            for server in servers:
                await server.start()
        except BaseException as fault:
            for server in servers:
                await server.kill()
            if not isinstance(fault, PortTaken):
                raise
        else:
            return RunningNats(servers, scheme, query)
    raise AssertionError(f"a port was taken in each of {STARTS_MAX} starts")


def _servers(folder: Path, *, count: int, more: str, authorization: str) -> list[NatsServer]:
    ports = _free_ports(3 * count)
    clients, routes, healths = ports[:count], ports[count : 2 * count], ports[2 * count :]
    user, _, password = SECRET.partition(":")
    own_user = f'user: "{user}", password: "{password}"'
    servers = []
    for number, (port, route, health) in enumerate(zip(clients, routes, healths, strict=True)):
        config = (
            f'server_name: "s{number}"\nhost: "127.0.0.1"\nport: {port}\nhttp: "127.0.0.1:{health}"\n'
            f'jetstream {{ store_dir: "{folder / str(number)}" }}\n'
            f"authorization {{ {authorization or own_user} }}\n{more}\n"
        )
        if count > 1:
            others = ", ".join(f'"nats://127.0.0.1:{other}"' for other in routes if other != route)
            config += f'cluster {{ name: "c", host: "127.0.0.1", port: {route}, routes: [{others}] }}\n'
        servers.append(NatsServer(folder / str(number), port, health, config))
    return servers


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for opened in sockets:
            opened.bind(("127.0.0.1", 0))
        return [opened.getsockname()[1] for opened in sockets]
