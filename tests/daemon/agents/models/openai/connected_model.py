"""A remote model at a fake server, with pauses that take no time, and a context to ask it about.

Never decides what a server does: that is the script of each test.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from daemon.agents.models.openai.chat_model import ChatCompletionsModel
from daemon.agents.models.openai.device_services import DeviceServices
from daemon.agents.models.openai.endpoint import Endpoint, RequestMode, RequestSettings
from daemon.agents.models.openai.retry_policy import RetryPolicy
from daemon.agents.tools.model_interface import EntryView, RunContext, TaskView, ToolExchange
from tests.daemon.agents.models.openai.fake_server import FakeChatServer, Step, fake_chat_server

KEY = "sk-Kanarienvogel-0123456789"
CANARY = "00" * 6
"""What a schema asks for while a server is tried: chance is always the same here."""
NOTE = "Geheimnisvolle Zimtschnecke"
NOW = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)
REPORT = {"title": "Write the report", "tldr": "Half done."}
CONTEXT = RunContext(
    run_key="run",
    now=NOW,
    report=None,
    task=TaskView("t", "Write the report", "OPEN", "P2", 60, None, None, ()),
    new_entries=(EntryView("n", NOTE, NOW, "user"),),
    decisions=(),
)


class SteppedClock:
    """A clock that only pauses move, and chance that is always the same."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.pauses: list[float] = []

    def now_ms(self) -> int:
        return round(NOW.timestamp() * 1000 + self.now_s * 1000)

    def monotonic_s(self) -> float:
        return self.now_s

    def randomness(self, count: int) -> bytes:
        return bytes(count)

    async def pause(self, duration_s: float) -> None:
        self.pauses.append(duration_s)
        self.now_s += duration_s


@dataclass(slots=True)
class ConnectedModel:
    """A model, its server and its world."""

    server: FakeChatServer
    model: ChatCompletionsModel
    world: SteppedClock = field(default_factory=SteppedClock)


@asynccontextmanager
async def connected_model(
    *script: Step,
    mode: RequestMode = "tools",
    key: str = KEY,
    around: DeviceServices | None = None,
    requests: RequestSettings | None = None,
    withheld: frozenset[str] = frozenset(),
    **patience: Any,
) -> AsyncIterator[ConnectedModel]:
    """Connect a model to a server with a script."""
    world = SteppedClock()
    async with fake_chat_server(*script) as server:
        endpoint = Endpoint(server.url, "fake-1", mode, key, "", requests or RequestSettings(), withheld)
        model = ChatCompletionsModel(
            endpoint, world, replace(RetryPolicy(sleep=world.pause), **patience), around
        )
        try:
            yield ConnectedModel(server, model, world)
        finally:
            await model.close()


def replace_exchanges(exchanges: tuple[ToolExchange, ...]) -> RunContext:
    """Return the context as it is after these calls."""
    return replace(CONTEXT, tool_exchanges=exchanges)
