"""Two honest devices and a member that was patched: real daemons on loopback, and the member's key.

Never fakes a part of the honest devices; the member is a third real device whose daemon has ended.
"""

import asyncio
import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.hostile.chain_writer import Clock
from tests.hostile.control import agree, devices_of
from tests.hostile.delivery import deliver
from tests.hostile.member_link import MemberLink
from tests.hostile.shape import Shape, Target
from tests.support.devices import Device, have_equal_state, pair
from tests.support.patience import LIMIT_S, wait_until
from tests.vectors import wire

MEMBER = "mallory"
_PEM = re.compile(r"-----BEGIN PRIVATE KEY-----(.*?)-----END PRIVATE KEY-----", re.DOTALL)
_KEY_BYTES = 32


@dataclass(slots=True)
class AttackedPair:
    """The two devices, and what the member has: its key file, and what it knows of them."""

    honest: tuple[Device, Device]
    identity: Path
    target: Target
    shapes_sent: int = 0
    subject: bytes = b""
    """The task that the last shape was about; not each shape is about one."""

    def __post_init__(self) -> None:
        """Begin with the task of the honest devices."""
        self.subject = self.target.task

    def send(self, shape: Shape, size: int) -> int:
        """Send so many bytes of a shape and wait until the daemons took them; return what was sent.

        The ids of what is sent differ from one call to the next.
        """
        self.shapes_sent += 1
        target = replace(self.target, name=f"{shape.name} {self.shapes_sent}")
        ports = (self.honest[0].port, self.honest[1].port)
        self.subject = target.subject
        return asyncio.run(deliver(shape, target, size, self.identity, ports))

    def wait_until_equal(self, limit_s: float = LIMIT_S) -> None:
        """Wait until both devices hold the same commits and the same state."""
        wait_until("the devices agree", lambda: agree(*self.honest), limit_s)

    def write_on_each(self) -> None:
        """Let each person add a task, and wait until both devices show both."""
        titles = set()
        for device in self.honest:
            title = f"honest {self.shapes_sent} on {device.name}"
            device.do("add", title)
            titles.add(title)
        self.wait_until_equal()
        for device in self.honest:
            assert titles <= {task["title"] for task in device.do("list")}, device.name

    def remove_member(self) -> None:
        """Let the first device remove the member, and wait until both know it."""
        first, second = self.honest
        first.do("devices", "remove", self.target.member.id.hex())
        wait_until("the removal travels", lambda: _is_removed(second, self.target.member.id.hex()))
        self.wait_until_equal()


def _is_removed(device: Device, member: str) -> bool:
    return any(peer["device_id"] == member and peer["removed"] for peer in devices_of(device))


@contextmanager
def attacked_pair(folder: Path) -> Iterator[AttackedPair]:
    """Make the three devices, pair them, and end the daemon of the one that is patched."""
    first, second, member = (Device(name, folder / name) for name in ("ann", "ben", MEMBER))
    devices = (first, second, member)
    try:
        for device in devices:
            device.launch()
        for device in devices:
            wait_until(f"{device.name} answers", device.answers)
        pair(first, second)
        pair(first, member)
        task, item, proposal = _write_journal(first)
        wait_until("both hold the same", lambda: have_equal_state(*devices))
        member.stop()
        identity = member.home / "identity.pem"
        seed = base64.b64decode(_PEM.findall(identity.read_text())[0])[-_KEY_BYTES:]
        vault, clock = asyncio.run(_greeting(identity, first.port))
        target = Target(
            member=wire.Device(seed),
            devices=(_device_id(first), _device_id(second)),
            vault=vault,
            task=_id(task["id"]),
            checklist=_id(task["checklists"][0]["id"]),
            item=_id(item),
            proposal=_id(proposal),
            clock=clock,
        )
        yield AttackedPair((first, second), identity, target)
    finally:
        for device in devices:
            if device.daemon is not None and device.daemon.poll() is None:
                device.kill()


def _write_journal(device: Device) -> tuple[dict[str, Any], str, str]:
    """Write what people would miss: a task with an item, a note and a proposal that waits."""
    task = device.do("add", "Paint the kitchen")["id"]
    device.do("check", "add", task, "buy paint")
    device.do("agent", "create", task)
    device.do("note", task, "It takes about 90 minutes.")
    wait_until("the agent proposes", lambda: bool(device.do("pending")))
    details = device.do("show", task)
    (item,) = details["checklists"][0]["items"]
    return details, item["id"], device.do("pending")[0]["item_id"]


async def _greeting(identity: Path, port: int) -> tuple[bytes, Clock]:
    """Return the vault and the vector that a device tells."""
    link = MemberLink(identity, port)
    await link.open()
    await link.close()
    _, _, vault, _, vector, _, _ = link.hello
    return vault, [(replica, counter, hash_) for replica, counter, hash_ in vector]


def _id(text: str) -> bytes:
    raw = bytes.fromhex(text)
    return raw[7:] + raw[:7]


def _device_id(device: Device) -> bytes:
    return bytes.fromhex(device.do("status")["device_id"])
