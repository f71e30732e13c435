"""The control API of a daemon, asked directly: a command for each question would cost more than the answer.

Never changes anything.
"""

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

from tests.support.devices import Device
from tests.support.patience import LIMIT_S


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over the Unix socket of a daemon."""

    def __init__(self, path: str) -> None:
        super().__init__("placet", timeout=LIMIT_S)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket instead of a host."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _answer_of(device: Device, path: str) -> Any:
    connection = _UnixConnection(str(device.home / "control.sock"))
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def status_of(device: Device) -> dict[str, Any]:
    """Return what a daemon says of its journal and its peers."""
    answer: dict[str, Any] = _answer_of(device, "/v1/status")
    return answer


def devices_of(device: Device) -> Iterator[dict[str, Any]]:
    """Yield all devices of a vault, page by page: one answer lists some of them only."""
    after = ""
    while page := _answer_of(device, f"/v1/devices{after}"):
        yield from page
        after = f"?after={page[-1]['device_id']}"


def agree(device: Device, other: Device) -> bool:
    """Say whether two devices hold the same commits and show the same state."""
    first, second = status_of(device), status_of(other)
    return all(first[name] == second[name] for name in ("entities", "commits", "state_hash"))
