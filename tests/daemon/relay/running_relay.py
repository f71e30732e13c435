"""A relay in this process, on a port of its own, with a box and carriers that use it.

Never fakes a part of Placet: what is sent goes over a real connection.
"""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from daemon.clock import SystemClock
from daemon.peers.mailboxes import relay
from daemon.peers.mailboxes.relay import RelayCarrier, RelayTimes
from daemon.relay.boxes import BoxFile
from daemon.relay.request_limits import RelayLimits
from daemon.relay.server import RelayServer
from tests.support.patience import LIMIT_S

PATIENT = RelayTimes(answer_s=LIMIT_S, news_s=LIMIT_S, retry_s=0.01)


@dataclass
class RunningRelay:
    """A relay with a box, and its carriers, which are closed with it."""

    folder: Path
    limits: RelayLimits
    tls: ssl.SSLContext | None = None
    secret: str = ""
    port: int = 0
    server: RelayServer | None = None
    carriers: list[RelayCarrier] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{'http' if self.tls is None else 'https'}://127.0.0.1:{self.port}/box"

    async def start(self) -> None:
        self.server = RelayServer(self.folder, SystemClock(), limits=self.limits)
        self.port = await self.server.start("127.0.0.1", self.port, self.tls)

    async def stop(self) -> None:
        assert self.server is not None
        await self.server.stop()

    def carrier(
        self, vault: bytes = bytes(16), *, secret: str = "", url: str = "", times: RelayTimes = PATIENT
    ) -> RelayCarrier:
        reader = f"reader {len(self.carriers)}"
        place = relay.parse_place(url or self.url)
        carrier = RelayCarrier(place, secret or self.secret, vault, reader=reader, times=times)
        self.carriers.append(carrier)
        return carrier


@asynccontextmanager
async def relay_in(
    folder: Path, *, quota_mib: int = 8, limits: RelayLimits | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[RunningRelay]:
    secret = BoxFile(str(folder)).add("box", quota_mib, SystemClock().randomness)
    running = RunningRelay(folder, limits or RelayLimits(), tls, secret)
    await running.start()
    try:
        yield running
    finally:
        for carrier in running.carriers:
            await carrier.close()
        await running.stop()
