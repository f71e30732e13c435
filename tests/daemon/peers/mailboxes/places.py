"""The kinds of place that devices exchange through, each as whoever keeps it can treat it.

Never fakes a place: folders, relays and servers of NATS are real. A new carrier joins by a class here.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from daemon.peers.mailboxes.carrier_choice import Access
from tests.daemon.peers.fleet import Device
from tests.daemon.relay.running_relay import RunningRelay, relay_in

DROP, HAVE = "drop", "have"


class Place(Protocol):
    """A place that some devices use, under the name "box"; `fault` is the id of the trouble if it is away."""

    fault: str
    secret: str
    """What nobody may see of the secret of the place; empty if it has none."""

    async def use(self, *devices: Device) -> None:
        """Let devices look there from now on."""

    async def lose(self, ending: str) -> None:
        """Delete all blobs of an ending, as whoever keeps the place can."""

    async def mix_up(self) -> None:
        """Put the last drop in place of the first, half the first in place of the last, and swap a have."""

    async def go_away(self) -> None:
        """Be out of reach from now on."""

    async def come_back(self) -> None:
        """Be within reach again, with all that was there."""


class _Files:
    """What the two places do that keep a blob as a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _blobs(self, ending: str) -> list[Path]:
        return sorted(path for path in self.folder.rglob(f"*.{ending}") if path.is_file())

    async def lose(self, ending: str) -> None:
        blobs = await asyncio.to_thread(self._blobs, ending)
        assert blobs, "nothing is there to be lost"
        for blob in blobs:
            blob.unlink()

    async def mix_up(self) -> None:
        first, *_, last = await asyncio.to_thread(self._blobs, DROP)
        sealed, other = first.read_bytes(), last.read_bytes()
        first.write_bytes(other)
        last.write_bytes(sealed[: len(sealed) // 2])
        have, other_have, *_ = await asyncio.to_thread(self._blobs, HAVE)
        have.write_bytes(other_have.read_bytes())


class FolderPlace(_Files):
    """A folder, as something copies it or a disk holds it."""

    fault = "mailbox-folder-fault"
    secret = ""

    async def use(self, *devices: Device) -> None:
        """Let devices look into the folder from now on."""
        await asyncio.to_thread(self.folder.mkdir, exist_ok=True)
        for device in devices:
            await device.peers.mailboxes.add("folder", str(self.folder), "box")

    async def go_away(self) -> None:
        """Move the folder elsewhere."""
        await asyncio.to_thread(self.folder.rename, self.folder.with_name("away"))

    async def come_back(self) -> None:
        """Move the folder back; nobody may have made another one meanwhile."""
        await asyncio.to_thread(self.folder.with_name("away").rename, self.folder)


class RelayPlace(_Files):
    """The box of a relay."""

    fault = "mailbox-relay-fault"

    def __init__(self, relay: RunningRelay) -> None:
        super().__init__(relay.folder)
        self._relay = relay
        self.secret = relay.secret

    async def use(self, *devices: Device) -> None:
        """Let devices look into the box from now on."""
        for device in devices:
            await device.peers.mailboxes.add("relay", self._relay.url, "box", Access(self.secret))

    async def go_away(self) -> None:
        """End the relay."""
        await self._relay.stop()

    async def come_back(self) -> None:
        """Start the relay again."""
        await self._relay.start()


@asynccontextmanager
async def place_in(kind: str, folder: Path) -> AsyncIterator[Place]:
    """Yield a new place of a kind: a folder, the box of a relay, or a stream of NATS."""
    if kind == "folder":
        yield FolderPlace(folder / "box")
    elif kind == "relay":
        async with relay_in(folder / "relay", quota_mib=1) as relay:
            yield RelayPlace(relay)
    else:
        # Only what needs NATS imports its client.
        from tests.daemon.peers.mailboxes.nats_place import NatsPlace
        from tests.daemon.peers.mailboxes.running_nats import nats_in

        async with nats_in(folder / "nats", query="?mib=1") as nats:
            yield NatsPlace(nats)
