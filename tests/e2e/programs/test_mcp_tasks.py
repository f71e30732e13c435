"""The tasks extension at the door, with a client that is written from its specification.

Never goes through an SDK: that of the protocol has no client of the extension.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.devices import Device, MakeDevice
from tests.support.door_clients import speak
from tests.support.starts import processes
from tests.support.starts.processes import PLACET

pytestmark = pytest.mark.e2e

TASKS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
ESTIMATE = {"tool": "update_task_estimate", "args": {"minutes": 90}, "why": "The mail says so."}
MAIL = {"name": "send_mail", "args": {"to": "ana@example.org"}}
INVALID, MISSING = -32602, -32021


class Speaker:
    """A client that sends one request after the other, each with what it knows."""

    def __init__(self, door: subprocess.Popen[str]) -> None:
        self._door = door
        self._sent = 0

    def ask(self, method: str, knows: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
        """Send a request; return the answer with its `result`, or its `error`."""
        assert self._door.stdin is not None
        assert self._door.stdout is not None
        self._sent += 1
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": TASKS if knows is None else knows,
        }
        request = {"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params | {"_meta": meta}}
        self._door.stdin.write(json.dumps(request) + "\n")
        self._door.stdin.flush()
        answers = (json.loads(line) for line in self._door.stdout)
        return dict(next(answer for answer in answers if answer.get("id") == self._sent))

    def result(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; return its result."""
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return dict(answer["result"])

    def call(self, tool: str, **args: Any) -> dict[str, Any]:
        """Call a tool; return the result, or the task in its place."""
        return self.result("tools/call", name=tool, arguments=args)

    def error(self, method: str, **params: Any) -> int:
        """Send a request that is refused; return the code."""
        return int(self.ask(method, **params)["error"]["code"])


@contextmanager
def door_of(device: Device, name: str = "Claude") -> Iterator[Speaker]:
    with processes.Popen(
        [PLACET, "mcp", "--as", name],
        env=device.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as door:
        yield Speaker(door)
        assert door.stdin is not None
        door.stdin.close()


def test_what_waits_is_a_task_that_a_later_client_finds_completed(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude")
    task = laptop.do("add", "Write to Ana")["id"]
    with door_of(laptop) as client:
        extensions = client.result("server/discover")["capabilities"]["extensions"]
        assert extensions == {"io.modelcontextprotocol/tasks": {}}
        made = client.call("propose_changes", task=task, changes=[ESTIMATE], key="mail 7")
        assert (made["resultType"], made["status"], made["ttlMs"]) == ("task", "working", None)
        working = client.result("tasks/get", taskId=made["taskId"])
        assert (working["resultType"], working["status"]) == ("complete", "working")
        updated = client.result("tasks/update", taskId=made["taskId"], inputResponses={})
        assert updated["resultType"] == "complete"
        retried = client.call("propose_changes", task=task, changes=[ESTIMATE], key="mail 7")
        assert retried["taskId"] == made["taskId"]
    (item,) = laptop.do("pending")
    laptop.do("confirm", item["item_id"])
    with door_of(laptop) as client:
        done = client.result("tasks/get", taskId=made["taskId"])
        assert done["status"] == "completed"
        assert done["createdAt"] == made["createdAt"] <= done["lastUpdatedAt"]
        content = done["result"]["structuredContent"]
        assert (content["set"], content["items"][0]["state"]) == (made["taskId"], "confirmed")
        # What is decided already needs no task.
        decided = client.call("propose_changes", task=task, changes=[ESTIMATE], key="mail 7")
        assert (decided["resultType"], decided["structuredContent"]["state"]) == ("complete", "decided")


def test_a_task_is_cancelled_while_it_waits_and_never_after_the_verdict(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude")
    task = laptop.do("add", "Write to Ana")["id"]
    with door_of(laptop) as client:
        made = client.call("propose_changes", task=task, changes=[ESTIMATE], key="mail 7")
        assert client.result("tasks/cancel", taskId=made["taskId"])["resultType"] == "complete"
        assert client.result("tasks/get", taskId=made["taskId"])["status"] == "cancelled"
        assert laptop.do("pending") == []
        ask = client.call("ask_permission", action=MAIL, title="Mail Ana", valid_minutes=60, key="mail 1")
        laptop.do("confirm", ask["taskId"])
        client.result("tasks/cancel", taskId=ask["taskId"])
        done = client.result("tasks/get", taskId=ask["taskId"])
        assert (done["status"], done["result"]["structuredContent"]["state"]) == ("completed", "permitted")


def test_only_a_client_that_knows_tasks_gets_them_and_only_its_own(device: MakeDevice):
    laptop = device("laptop")
    for name in ("Claude", "Codex"):
        laptop.do("agent", "add", name)
    task = laptop.do("add", "Write to Ana")["id"]
    with door_of(laptop) as client, door_of(laptop, "Codex") as other:
        made = client.call("propose_changes", task=task, changes=[ESTIMATE], key="mail 7")
        arguments = {"task": task, "changes": [ESTIMATE], "key": "mail 7"}
        plain = client.ask("tools/call", {}, name="propose_changes", arguments=arguments)["result"]
        assert (plain["resultType"], plain["structuredContent"]["state"]) == ("complete", "pending")
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            assert client.error(method, knows={}, taskId=made["taskId"]) == MISSING
            for unknown in ("f" * 32, made["taskId"][:8], task, ""):
                assert client.error(method, taskId=unknown) == INVALID
            assert other.error(method, taskId=made["taskId"]) == INVALID
        watched = {"taskIds": [made["taskId"]]}
        assert client.error("subscriptions/listen", knows={}, notifications=watched) == MISSING
    assert len(laptop.do("pending")) == 1


def test_the_era_before_has_no_such_tasks(device: MakeDevice):
    laptop = device("laptop")
    laptop.do("agent", "add", "Claude")
    task = laptop.do("add", "Write to Ana")["id"]

    async def propose(call: Any) -> dict[str, Any]:
        return dict(await call("propose_changes", task=task, changes=[ESTIMATE], key="mail 7"))

    assert speak(laptop, "legacy", propose)["state"] == "pending"
