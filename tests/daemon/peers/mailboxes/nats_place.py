"""A stream of NATS as a place that devices exchange through.

Never speaks for a device: what it changes, whoever keeps the server could change.
"""

from daemon.peers.mailboxes.carrier_choice import Access
from tests.daemon.peers.fleet import Device
from tests.daemon.peers.mailboxes.places import DROP, HAVE
from tests.daemon.peers.mailboxes.running_nats import SECRET, RunningNats

_VERSION = "9-1-7-0123456789abcdef"
_FOREIGN = ("x", "aa.have.0", "aa.have.x.0", f"a.b.c.have.{_VERSION}.0", f"aa.have.{_VERSION}.0")
"""Subjects that look nearly like those of blobs."""


class NatsPlace:
    """The stream of one server."""

    fault = "mailbox-relay-fault"
    secret = SECRET.rpartition(":")[2]

    def __init__(self, nats: RunningNats) -> None:
        self._nats = nats

    async def use(self, *devices: Device) -> None:
        """Let devices look into the stream from now on."""
        for device in devices:
            await device.peers.mailboxes.add("nats", self._nats.url, "box", Access(SECRET))

    async def lose(self, ending: str) -> None:
        """Purge the messages of all blobs of an ending."""
        async with self._nats.open_streams() as stream:
            subjects = (await stream.stream_info("box", subjects_filter=">")).state.subjects or {}
            lost = [subject for subject in subjects if f".{ending}." in subject]
            assert lost, "nothing is there to be lost"
            for subject in lost:
                await stream.purge_stream("box", subject=subject)

    async def mix_up(self) -> None:
        """Publish other messages under the subjects of blobs, and foreign ones beside them."""
        async with self._nats.open_streams() as stream:
            subjects = sorted((await stream.stream_info("box", subjects_filter=">")).state.subjects)
            drops = [subject for subject in subjects if f".{DROP}." in subject]
            haves = [subject for subject in subjects if f".{HAVE}." in subject]
            first, last = [await stream.get_last_msg("box", subject) for subject in (drops[0], drops[-1])]
            await stream.publish(drops[0], last.data)
            await stream.publish(drops[-1], first.data[: len(first.data) // 2])
            have = await stream.get_last_msg("box", haves[1])
            await stream.publish(haves[0], have.data)
            vault = drops[0].split(".")[1]
            for foreign in _FOREIGN:
                await stream.publish(f"box.{vault}.{foreign}", b"foreign")
            await stream.publish("box.x", b"foreign")

    async def go_away(self) -> None:
        """Kill the server."""
        (server,) = self._nats.servers
        await server.kill()

    async def come_back(self) -> None:
        """Start the server again."""
        (server,) = self._nats.servers
        await server.start()
