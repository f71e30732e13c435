"""The control API of a daemon, asked directly: a command for each question would cost more than the answer.

Never changes anything.
"""

import http.client
import json
import socket
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


def status_of(device: Device) -> dict[str, Any]:
    """Return what a daemon says of its journal and its peers."""
    connection = _UnixConnection(str(device.home / "control.sock"))
    try:
        connection.request("GET", "/v1/status")
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer
    finally:
        connection.close()


def agree(device: Device, other: Device) -> bool:
    """Say whether two devices hold the same commits and show the same state."""
    first, second = status_of(device), status_of(other)
    return all(first[name] == second[name] for name in ("entities", "commits", "state_hash"))
