"""What a program says to a daemon on its socket: a command for each of these would cost more than the answer.

Never decides anything: a person does, by a command or on the page.
"""

import http.client
import json
import socket
from contextlib import closing
from typing import Any

from tests.support.devices import Device


def control(device: Device, method: str, path: str, body: object = None) -> Any:
    """Send a request to the control socket of a device that must succeed; return the answer."""
    connection = http.client.HTTPConnection("placet")
    with closing(connection), socket.socket(socket.AF_UNIX) as opened:
        opened.connect(str(device.home / "control.sock"))
        connection.sock = opened
        headers = {"Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status < http.client.BAD_REQUEST, content
    return json.loads(content)


def propose_as(device: Device, agent: str, task: str, *changes: tuple[str, dict[str, Any], str]) -> Any:
    """Propose changes of a task as a program does: the tool, its arguments and the reason of each."""
    listed = [{"tool": tool, "args": args, "why": why} for tool, args, why in changes]
    key = f"{task} {len(listed)} {changes[0][0]}"
    body = {"agent": agent, "task": task, "changes": listed, "key": key}
    return control(device, "POST", "/v1/proposals", body)
