"""A program of the user that calls a daemon's socket, as agents without a door do.

Never waits for long: a daemon that was killed breaks the connection.
"""

import http.client
import json
import socket
from pathlib import Path
from typing import Any

from tests.support.commands import COMMAND_S
from tests.support.devices import Device


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("placet", timeout=COMMAND_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Program:
    """One program that acts as an agent of a device; `device` may be another one later."""

    def __init__(self, device: Device, agent: str) -> None:
        self.agent = agent
        self.socket = str(Path(device.do("paths")["socket"]))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Post to the socket; return the answer. Raises OSError and HTTPException if the daemon is gone."""
        connection = _Connection(self.socket)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        assert response.status < 400, answer
        return answer

    def ask(self, key: str, not_after_ms: int) -> dict[str, Any]:
        """Ask to send a mail."""
        fields = {
            "agent": self.agent,
            "name": "send_mail",
            "args": {"to": "ana@example.org"},
            "title": "Mail Ana",
            "key": key,
            "not_after": not_after_ms,
        }
        return dict(self.post("/v1/asks", fields))

    def use(self, ask: dict[str, Any], execution: str) -> str:
        """Use a permission; return the result."""
        body = {"agent": self.agent, "args_hash": ask["args_hash"], "execution_id": execution}
        return str(self.post(f"/v1/asks/{ask['ask_id']}/use", body)["result"])

    def confirm(self, ask: dict[str, Any]) -> None:
        """Say yes to an ask, as a person's program does."""
        (decision,) = self.post("/v1/decisions", {"verdict": "confirmed", "items": [ask["ask_id"]]})
        assert decision["result"] == "applied", decision
