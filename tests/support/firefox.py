"""Debian's Firefox without a window, driven by WebDriver BiDi, which it speaks itself.

Never downloads a browser, and knows no more of the protocol than the tests of the page need.
"""

import asyncio
import itertools
import re
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.patience import LIMIT_S, POLL_S

PROGRAM = "firefox-esr"
_LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_MESSAGE_BYTES_MAX = 1 << 26


class FirefoxTab:
    """One tab: goes to an address, evaluates, presses keys, and keeps what the page complained about."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._context = ""
        self.complaints: list[str] = []

    async def listen(self) -> None:
        """Read what the browser sends, until it ends."""
        async for message in self._socket:
            document = message.json()
            if document.get("method") == "log.entryAdded":
                self.complaints.append(str(document["params"]["text"]))
            elif (answer := self._answers.pop(document.get("id") or 0, None)) is not None:
                answer.set_result(document)

    async def command(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command; return its result."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        document = await asyncio.wait_for(answer, LIMIT_S)
        assert document["type"] == "success", document
        return dict(document["result"])

    async def open(self) -> None:
        """Begin a session, and use the tab that is open."""
        await self.command("session.new", capabilities={})
        await self.command("session.subscribe", events=["log.entryAdded"])
        tree = await self.command("browsingContext.getTree")
        self._context = tree["contexts"][0]["context"]

    async def go(self, address: str) -> None:
        """Go to an address and wait until it is loaded."""
        await self.command("browsingContext.navigate", context=self._context, url=address, wait="complete")

    async def evaluate(self, script: str) -> Any:
        """Return what an expression gives: a text, a number or a truth."""
        result = await self.command(
            "script.evaluate", expression=script, target={"context": self._context}, awaitPromise=True
        )
        assert result["type"] == "success", result
        return result["result"].get("value")

    async def wait_for(self, condition: str) -> None:
        """Wait until an expression is true, also across pages."""
        end_s = time.monotonic() + LIMIT_S
        while not await self._is_true(condition):
            assert time.monotonic() < end_s, f"Firefox never saw that {condition}"
            await asyncio.sleep(POLL_S)

    async def _is_true(self, condition: str) -> bool:
        try:
            return bool(await self.evaluate(f"Boolean({condition})"))
        except AssertionError:  # the page is just being left
            return False

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        await self.command("input.performActions", context=self._context, actions=[source])

    async def click(self, selector: str) -> None:
        """Click the first element of a selector with the mouse."""
        nodes = await self.command(
            "browsingContext.locateNodes",
            context=self._context,
            locator={"type": "css", "value": selector},
            maxNodeCount=1,
        )
        await self.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
        (node,) = nodes["nodes"]
        origin = {"type": "element", "element": {"sharedId": node["sharedId"]}}
        actions = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        source = {"type": "pointer", "id": "mouse", "actions": actions}
        await self.command("input.performActions", context=self._context, actions=[source])


@asynccontextmanager
async def firefox_tab(profile: Path) -> AsyncIterator[FirefoxTab]:
    """Start Firefox with a profile of its own, a folder that exists; yield its tab, and end it afterwards."""
    path = shutil.which(PROGRAM)
    assert path
    process = await asyncio.create_subprocess_exec(
        path,
        "--headless",
        "--no-remote",
        "--remote-debugging-port=0",
        "--profile",
        profile,
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        address = await asyncio.wait_for(_address(process), LIMIT_S)
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"{address}/session", max_msg_size=_MESSAGE_BYTES_MAX) as socket,
        ):
            tab = FirefoxTab(socket)
            listening = asyncio.create_task(tab.listen())
            try:
                await tab.open()
                yield tab
            finally:
                listening.cancel()
    finally:
        process.terminate()
        await process.communicate()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        if match := _LISTENS.search(line.decode(errors="replace")):
            return match[1]
    raise AssertionError("Firefox ended")
