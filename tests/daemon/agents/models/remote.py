"""A remote model at a fake server, with pauses that take no time, and a context to ask it about.

Never decides what a server does: that is the script of each test.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from daemon.agents.models.interface import Exchange, NoteView, RunContext, TaskView
from daemon.agents.models.openai import OpenAI
from daemon.agents.models.openai_around import Around
from daemon.agents.models.openai_endpoint import Endpoint, Mode
from daemon.agents.models.openai_retries import Patience
from tests.daemon.agents.models.fake_openai import FakeOpenAI, Step, serving_model

KEY = "sk-Kanarienvogel-0123456789"
NOTE = "Geheimnisvolle Zimtschnecke"
NOW = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)
REPORT = {"title": "Write the report", "tldr": "Half done."}
CONTEXT = RunContext(
    run_key="run",
    now=NOW,
    report=None,
    task=TaskView("t", "Write the report", "OPEN", "P2", 60, None, None, ()),
    notes=(NoteView("n", NOTE, NOW, "user"),),
    decisions=(),
)


class World:
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
class Remote:
    """A model, its server and its world."""

    server: FakeOpenAI
    model: OpenAI
    world: World = field(default_factory=World)


@asynccontextmanager
async def remote(
    *script: Step, mode: Mode = "tools", key: str = KEY, around: Around | None = None, **patience: Any
) -> AsyncIterator[Remote]:
    """Connect a model to a server with a script."""
    world = World()
    async with serving_model(*script) as server:
        endpoint = Endpoint(server.url, "fake-1", mode, key)
        model = OpenAI(endpoint, world, replace(Patience(sleep=world.pause), **patience), around)
        try:
            yield Remote(server, model, world)
        finally:
            await model.close()


def replace_exchanges(exchanges: tuple[Exchange, ...]) -> RunContext:
    """Return the context as it is after these calls."""
    return replace(CONTEXT, exchanges=exchanges)
