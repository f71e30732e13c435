"""Figures of the page, with 10 000 tasks, and of what agents ask: from the request to another device.

Never measures inside the daemon: it speaks HTTP to it, as a browser and as an agent's program do.
"""

import http.client
import json
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.commands import import_tasks
from bench.table import Figure, paired
from tests.support.browser import sign_in_address
from tests.support.devices import Device, free_port, pair

TASKS, ROUNDS, WARM = 10_000, 41, 5
ASKS = 60
WAIT_S = 30.0
_PAGES = (("/", "<= 10"), ("/tasks", "(shown)"), ("/board", "(shown)"), ("/tasks?q=77", "(shown)"))


class BrowserConnection:
    """A browser's connection to the page, signed in."""

    def __init__(self, device: Device) -> None:
        address = urlsplit(sign_in_address(device))
        self._host = address.netloc
        self._connection = http.client.HTTPConnection("127.0.0.1", address.port)
        self._cookie = ""
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{self._host}"}
        answer = self._ask("POST", "/in", f"secret={address.fragment}", headers)
        self._cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]
        answer.read()

    def _ask(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Any:
        sent = {"Host": self._host, "Sec-Fetch-Site": "same-origin", "Cookie": self._cookie, **headers}
        self._connection.request(method, path, body, sent)
        return self._connection.getresponse()

    def first_byte_ms(self, path: str) -> float:
        """Ask for a page; return the time to its first byte."""
        start = time.perf_counter()
        answer = self._ask("GET", path, None, {})
        taken = 1e3 * (time.perf_counter() - start)
        answer.read()
        assert answer.status == 200, f"{path}: {answer.status}"
        return taken


def figures() -> list[Figure]:
    """Measure the page of one daemon, then an ask between two."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_page_figures(Path(folder) / "page"), _ask_figure(Path(folder) / "asks")]


def _page_figures(folder: Path) -> list[Figure]:
    web = {"PLACET_WEB_ENABLED": "true", "PLACET_WEB_PORT": str(free_port())}
    device = Device("page", folder, web)
    device.start()
    try:
        # All of them overdue: the day has to count them.
        import_tasks(device, "many", TASKS, " (due 2020-01-01)")
        browser = BrowserConnection(device)
        rows = []
        for path, goal in _PAGES:
            for _ in range(WARM):
                browser.first_byte_ms(path)
            mine, theirs = paired(
                lambda path=path: browser.first_byte_ms(path),  # type: ignore[misc]
                lambda: browser.first_byte_ms("/healthz"),
                ROUNDS,
            )
            rows.append(
                Figure(f"page {path}, {TASKS} tasks, first byte", mine, theirs, "ms", "/healthz", goal)
            )
        daemon = DaemonConnection(device)
        day = paired(lambda: daemon.answer_ms("/v1/today"), lambda: browser.first_byte_ms("/healthz"), ROUNDS)
        rows.append(Figure(f"GET /v1/today, {TASKS} tasks overdue", *day, "ms", "/healthz", "<= 10"))
        return rows
    finally:
        device.stop()


class DaemonConnection(http.client.HTTPConnection):
    """A connection to a daemon's socket, on which answers are JSON."""

    def __init__(self, device: Device) -> None:
        super().__init__("placet")
        self._path = device.do("paths")["socket"]

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)

    def post(self, path: str, body: object) -> Any:
        """Send a body; return what the answer says."""
        self.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        return json.loads(self.getresponse().read())

    def answer_ms(self, path: str) -> float:
        """Ask for something; return the time to the end of the answer."""
        start = time.perf_counter()
        self.request("GET", path)
        answer = self.getresponse()
        answer.read()
        assert answer.status == 200, f"{path}: {answer.status}"
        return 1e3 * (time.perf_counter() - start)


class _Watcher:
    """Follows the events of a device, and says when one of a kind came."""

    def __init__(self, device: Device) -> None:
        self._came = threading.Condition()
        self._counts: dict[str, int] = {}
        self._connection = DaemonConnection(device)
        self._connection.request("GET", "/v1/events")
        self._answer = self._connection.getresponse()
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        while line := self._answer.readline():
            for kind in ("ask", "entry"):
                if b'"%s"' % kind.encode() in line:
                    with self._came:
                        self._counts[kind] = self._counts.get(kind, 0) + 1
                        self._came.notify_all()

    def visible_ms(self, kind: str, write: Callable[[], object]) -> float:
        """Write something; return how long it took until it was an event on the other device."""
        before, start = self._counts.get(kind, 0), time.perf_counter()
        write()
        with self._came:
            assert self._came.wait_for(lambda: self._counts.get(kind, 0) > before, WAIT_S)
            return 1e3 * (time.perf_counter() - start)


def _ask_figure(folder: Path) -> Figure:
    laptop, phone = Device("laptop", folder / "laptop"), Device("phone", folder / "phone")
    try:
        laptop.start()
        phone.start()
        pair(laptop, phone)
        laptop.do("agent", "add", "Bench", "--scope", "none")
        laptop.do("agent", "limits", "Bench", "--asks", "1000")
        task = laptop.do("add", "A task")["id"]
        agent, watcher = DaemonConnection(laptop), _Watcher(phone)
        now_ms = int(time.time() * 1000)  # noqa: TID251 - that of the daemon, which is real

        def ask(number: int) -> object:
            fields = {"name": "run", "args": {"number": number}, "title": "Run", "key": str(number)}
            return agent.post("/v1/asks", {"agent": "Bench", "not_after": now_ms + 3_600_000, **fields})

        def note(number: int) -> object:
            return agent.post(f"/v1/tasks/{task}/entries", {"text": f"A note, number {number}"})

        numbers = iter(range(10 * ASKS))
        mine, theirs = paired(
            lambda: watcher.visible_ms("ask", lambda: ask(next(numbers))),
            lambda: watcher.visible_ms("entry", lambda: note(next(numbers))),
            ASKS,
        )
        return Figure("ask to visible on a linked device", mine, theirs, "ms", "a note, likewise", "<= 10 ms")
    finally:
        laptop.stop()
        phone.stop()
