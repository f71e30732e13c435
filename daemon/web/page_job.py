"""One piece of work that takes long: the page begins it, says how far it is, and tells how it ended.

Never begins a second one while the first goes on, and never lets a fault of it go untold.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import structlog

from daemon.refusal import Refused
from store.file.errors import StoreError
from store.sentence import Sentence, sentence

WAIT_S: Final = 1.0
"""So long a request waits for the end of the work; after that the page says how far it is."""

_BUG: Final = sentence("daemon-met-bug", "the daemon met a bug; its log says which")
_log = structlog.get_logger("web")

Stage = TypeVar("Stage")
Fault = Refused | Sentence
"""Why work ended without an outcome."""


class PageJob(Generic[Stage]):
    """The work of one room. `stage` is what the page shows of it, None before the first.

    `started_ms` is when this daemon began: it tells a job of this one from a job of one before it.
    """

    def __init__(self, name: str, started_ms: int) -> None:
        self._name = name
        self._started_ms = started_ms
        self._begun = 0
        self._forgetting: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self.stage: Stage | None = None

    @property
    def is_working(self) -> bool:
        """Return whether the work goes on."""
        return self._task is not None and not self._task.done()

    @property
    def mark(self) -> str:
        """Return what names the newest job in addresses, so that a page knows which one it follows."""
        return f"{self._started_ms:x}-{self._begun}"

    def is_lost(self, mark: str) -> bool:
        """Return whether a page follows a job that ended with an earlier daemon."""
        return bool(mark) and mark.partition("-")[0] != f"{self._started_ms:x}"

    def begin(
        self,
        working: Stage,
        work: Callable[[], Awaitable[Stage]],
        failed: Callable[[Fault], Stage],
        *,
        kept_s: float | None = None,
    ) -> None:
        """Begin work that goes on: `work` returns what is shown in the end, `failed` makes that of a fault.

        The end is shown for `kept_s`, or until something else begins.
        """
        assert not self.is_working
        self._become(working)
        self._begun += 1
        self._task = asyncio.create_task(self._run(work, failed, kept_s))

    def forget(self) -> None:
        """Show nothing of the work any more, unless it goes on."""
        if not self.is_working:
            self._become(None)

    async def wait(self) -> None:
        """Wait until the work has ended, or for a moment."""
        if self._task is not None and not self._task.done():
            await asyncio.wait({self._task}, timeout=WAIT_S)

    async def _run(
        self, work: Callable[[], Awaitable[Stage]], failed: Callable[[Fault], Stage], kept_s: float | None
    ) -> None:
        stage: Stage | None = None
        try:
            stage = await work()
        except Refused as refused:
            stage = failed(refused)
        except StoreError as fault:
            stage = failed(fault.sentence)
        except Exception as bug:  # noqa: BLE001 - the boundary: the browser gets an answer, and the log the bug
            _log.error("bug", route=self._name, kind=type(bug).__name__)
            stage = failed(_BUG)
        finally:
            self._become(stage)
        if kept_s is not None:
            self._forgetting = asyncio.get_running_loop().call_later(kept_s, self.forget)

    def _become(self, stage: Stage | None) -> None:
        if self._forgetting is not None:
            self._forgetting.cancel()
            self._forgetting = None
        self.stage = stage
