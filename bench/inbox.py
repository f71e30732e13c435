"""Figures of 10 000 proposals that wait for a person, and of the door that programs of other makers start.

Never measures inside the daemon: it runs the command, asks the page, and speaks to the door as a client does.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.commands import command_ms
from bench.page import BrowserConnection, DaemonConnection
from bench.table import Figure, paired
from tests.support.devices import Device, free_port
from tests.support.pseudo_terminal import terminal_of
from tests.support.starts.processes import PLACET

OPEN, SET = 10_000, 10
ROUNDS = 9
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
_LIST = (
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)
_SDK = [sys.executable, "-c", "import sys, mcp.server; print('{}', flush=True); sys.stdin.readline()"]


def figures() -> list[Figure]:
    """Fill a device with open proposals, list them in each way, and start the door beside them."""
    with tempfile.TemporaryDirectory() as folder:
        web = {"PLACET_WEB_ENABLED": "true", "PLACET_WEB_PORT": str(free_port())}
        # Of what waits, all is to be listed.
        device = Device("inbox", Path(folder) / "inbox", web | {"PLACET_PROPOSALS_OPEN_PER_DAY": str(OPEN)})
        device.start()
        try:
            _fill(device)
            return [*_lists(device), *_door(device)]
        finally:
            device.stop()


def _fill(device: Device) -> None:
    """Let an agent of another maker propose, one set for each task."""
    device.do("agent", "add", "Bench")
    device.do("agent", "limits", "Bench", "--proposals", str(2 * OPEN), "--bytes", str(1 << 30))
    agent = DaemonConnection(device)
    for number in range(OPEN // SET):
        task = agent.post("/v1/tasks", {"title": f"Task number {number}"})["id"]
        steps = [{"tool": "add_checklist_item", "args": {"title": f"Step {step}"}} for step in range(SET)]
        answer = agent.post(
            "/v1/proposals", {"agent": "Bench", "task": task, "key": str(number), "changes": steps}
        )
        assert [item["state"] for item in answer["items"]] == ["pending"] * SET, answer


def _lists(device: Device) -> list[Figure]:
    bare = [sys.executable, "-c", "pass"]
    first_task = device.do("list")[0]["id"]
    commands = {
        f"placet pending, {OPEN} open": ["pending", "--plain"],
        f"placet pending of one task, {OPEN} open": ["pending", "--plain", first_task],
    }
    rows = []
    for name, words in commands.items():
        mine, theirs = paired(
            lambda words=words: command_ms([str(PLACET), *words], device),  # type: ignore[misc]
            lambda: command_ms(bare, device),
            ROUNDS,
        )
        rows.append(Figure(name, mine, theirs, "ms", "python -c pass", "(shown)"))
    mine, theirs = paired(lambda: _first_card_ms(device), lambda: command_ms(bare, device), ROUNDS)
    rows.append(
        Figure(f"placet review, first card, {OPEN} open", mine, theirs, "ms", "python -c pass", "(shown)")
    )
    # Now: the page ends a connection on which nothing is asked for a while.
    browser = BrowserConnection(device)
    mine, theirs = paired(
        lambda: browser.first_byte_ms("/inbox"), lambda: browser.first_byte_ms("/healthz"), ROUNDS
    )
    rows.append(Figure(f"page /inbox, {OPEN} open, first byte", mine, theirs, "ms", "/healthz", "(shown)"))
    return rows


def _first_card_ms(device: Device) -> float:
    start = time.perf_counter()
    with terminal_of([str(PLACET), "review"], device.environment) as review:
        review.until("?] ")
        taken = 1e3 * (time.perf_counter() - start)
        review.end("q")
    return taken


def _door(device: Device) -> list[Figure]:
    door = [str(PLACET), "mcp", "--as", "Bench"]
    mine, theirs = paired(lambda: _start(device, door)[0], lambda: _start(device, _SDK)[0], ROUNDS)
    memory, bare = _start(device, door)[1], _start(device, _SDK)[1]
    return [
        Figure(
            "placet mcp, start to the list of tools", mine, theirs, "ms", "its SDK, imported", "<= 1500 ms"
        ),
        Figure("placet mcp, memory", memory, bare, "MiB", "its SDK, imported", "(shown)"),
    ]


def _start(device: Device, command: list[str]) -> tuple[float, float]:
    """Start the door and ask for its tools; return how long it took in ms, and its memory in MiB."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, env=device.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for messages in ([_HELLO], _LIST) if command is not _SDK else ([],):
            process.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
            process.stdin.flush()
            assert json.loads(process.stdout.readline()).keys() <= {"jsonrpc", "id", "result"}
        taken = 1e3 * (time.perf_counter() - start)
        memory = _resident_mib(process.pid)
        process.stdin.close()
        process.stdout.read()
    return taken, memory


def _resident_mib(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text("ascii", "replace")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
