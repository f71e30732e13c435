"""The one file that the page imports at a time: read, shown, imported, and what came of it.

Never imports a file that it has not shown, and never keeps one for longer than KEPT_S.
"""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from daemon.formats.core.importer import FaultyFile, ImportResult
from daemon.formats.importing import Imports, Preview, TextFile, Underway
from daemon.journal.references.change_names import span_names
from daemon.web.page_job import Fault, PageJob
from store.threads import note_writes

KEPT_S: Final = 900.0
"""So long a file waits for a person's yes, and the outcome to be read."""


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
        return _digest(self.file)


@dataclass(frozen=True, slots=True)
class Imported:
    """A file that was imported, what it brought, and the name of the change, "" if it changed nothing."""

    file: TextFile
    result: ImportResult
    change: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A file of which nothing is imported, or a part if the store failed half-way: why, and each fault.

    `rest` is the file without what is faulty in it, None if nothing would be left.
    """

    name: str
    refusal: Fault
    rest: TextFile | None = None

    @property
    def digest(self) -> str:
        """Return what no other file has: a word about another one does not count."""
        return "" if self.rest is None else _digest(self.rest)


Stage = Working | Shown | Imported | Failed


class ImportJobs:
    """What the page knows of its import: nothing before the first, and KEPT_S after the last."""

    def __init__(self, imports: Imports, started_ms: int) -> None:
        self._imports = imports
        self.job: PageJob[Stage] = PageJob("import", started_ms)

    def look_at(self, file: TextFile) -> None:
        """Begin to find out what a file would bring, in place of what was there before."""

        async def look() -> Stage:
            return Shown(file, await self._imports.preview(file))

        self._begin(Working(file, imports=False), look)

    def take(self, shown: Shown) -> None:
        """Begin to import what was shown."""

        async def take() -> Stage:
            # The request is answered before the end: its answer would name a part of the import.
            with note_writes() as spans:
                result = await self._imports.run(shown.file, dry_run=False)
            return Imported(shown.file, result, span_names(spans))

        self._begin(Working(shown.file, imports=True), take)

    def progress(self) -> Underway | None:
        """Say how far the work is."""
        if not isinstance(self.job.stage, Working):
            return None
        file = self.job.stage.file
        own = [
            underway
            for underway in self._imports.underway()
            if (underway.format, underway.name) == (file.format, file.name)
        ]
        return own[0] if own else Underway(file.format, file.name)

    def _begin(self, working: Working, work: Callable[[], Awaitable[Stage]]) -> None:
        self.job.begin(working, work, lambda fault: _failed_stage(working.file, fault), kept_s=KEPT_S)


def _failed_stage(file: TextFile, fault: Fault) -> Failed:
    has_rest = isinstance(fault, FaultyFile) and fault.has_more
    return Failed(file.name, fault, file._replace(skip_faulty=True) if has_rest else None)


def _digest(file: TextFile) -> str:
    return hashlib.sha256("\0".join(map(str, file)).encode(errors="surrogatepass")).hexdigest()
