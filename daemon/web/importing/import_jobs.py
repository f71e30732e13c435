"""The one file that the page imports at a time: read, shown, imported, and what came of it.

Never imports a file that it has not shown, and never keeps one for longer than KEPT_S.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import structlog

from daemon.formats.core.importer import ImportResult
from daemon.formats.importing import Imports, Preview, TextFile, Underway
from daemon.refusal import Refused
from store.file.errors import StoreError
from store.sentence import Sentence, sentence

KEPT_S: Final = 900.0
"""So long a file waits for a person's yes, and the outcome to be read."""

_BUG: Final = sentence("daemon-met-bug", "the daemon met a bug; its log says which")
_log = structlog.get_logger("web")


@dataclass(frozen=True, slots=True)
class Working:
    """A file is being read, or imported."""

    file: TextFile
    imports: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A file that waits for a person's yes."""

    file: TextFile
    preview: Preview

    @property
    def digest(self) -> str:
        """Return what no other file has: a yes to another one does not count."""
        return hashlib.sha256("\0".join(self.file).encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Imported:
    """A file that was imported, and what it brought."""

    file: TextFile
    result: ImportResult


@dataclass(frozen=True, slots=True)
class Failed:
    """A file of which nothing is imported, or a part if the store failed half-way: why, and each fault."""

    name: str
    refusal: Refused | Sentence


Stage = Working | Shown | Imported | Failed


class ImportJobs:
    """What the page knows of its import: its `stage` is None before the first, and KEPT_S after the last."""

    def __init__(self, imports: Imports) -> None:
        self._imports = imports
        self._forgetting: asyncio.TimerHandle | None = None
        self._job: asyncio.Task[None] | None = None
        self.stage: Stage | None = None

    def look_at(self, file: TextFile) -> None:
        """Begin to find out what a file would bring, in place of what was there before."""

        async def look() -> Stage:
            return Shown(file, await self._imports.preview(file))

        self._begin(Working(file, imports=False), look)

    def take(self, shown: Shown) -> None:
        """Begin to import what was shown."""

        async def take() -> Stage:
            return Imported(shown.file, await self._imports.run(shown.file, dry_run=False))

        self._begin(Working(shown.file, imports=True), take)

    def forget(self) -> None:
        """Drop the file, or the outcome; an import goes on."""
        if not isinstance(self.stage, Working):
            self._become(None)

    async def wait(self, within_s: float) -> None:
        """Wait until the work has ended, or for so many seconds."""
        if self._job is not None and not self._job.done():
            await asyncio.wait({self._job}, timeout=within_s)

    def progress(self) -> Underway | None:
        """Say how far the work is."""
        if not isinstance(self.stage, Working):
            return None
        file = self.stage.file
        own = [
            underway
            for underway in self._imports.underway()
            if (underway.format, underway.name) == (file.format, file.name)
        ]
        return own[0] if own else Underway(file.format, file.name)

    def _begin(self, working: Working, work: Callable[[], Awaitable[Stage]]) -> None:
        assert not isinstance(self.stage, Working)
        self._become(working)
        self._job = asyncio.create_task(self._run(working, work))

    async def _run(self, working: Working, work: Callable[[], Awaitable[Stage]]) -> None:
        stage: Stage | None = None
        try:
            stage = await work()
        except Refused as refused:
            stage = Failed(working.file.name, refused)
        except StoreError as fault:
            stage = Failed(working.file.name, fault.sentence)
        except Exception as bug:  # noqa: BLE001 - the boundary: the browser must hear of a bug, the log must hold it
            _log.error("bug", route="import", kind=type(bug).__name__)
            stage = Failed(working.file.name, _BUG)
        finally:
            self._become(stage)

    def _become(self, stage: Stage | None) -> None:
        if self._forgetting is not None:
            self._forgetting.cancel()
            self._forgetting = None
        self.stage = stage
        if stage is not None and not isinstance(stage, Working):
            self._forgetting = asyncio.get_running_loop().call_later(KEPT_S, self.forget)
