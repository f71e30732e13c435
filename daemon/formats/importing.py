"""Imports of whole files, part by part: the use case of every face, and how far each import is.

Never reads a file itself, and never holds the one writer for the whole of a large one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import tzinfo
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from msgspec import Struct

from daemon.formats.core.importer import ImportResult, PlanImport, import_again
from daemon.formats.core.plan import without_faulty
from daemon.refusal import RefusalCode, Refused
from store.file.errors import StoreError
from store.sentence import sentence
from store.threads import StoreThreads

FILE_BYTES_MAX: Final = 64 << 20
"""A whole file is one request, so that one fault in it keeps all of it out; beyond other requests' limit."""
TITLES_SHOWN: Final = 5


class TextFile(NamedTuple):
    """A file's text, its name, and its format: that of a list in `daemon/file_formats.py`.

    If lists are known by their names, the same name updates what came before; another is another list.
    `skip_faulty`: what cannot be read is left out, instead of refusing the whole file.
    """

    format: str
    name: str
    text: str
    skip_faulty: bool = False


class Underway(Struct, frozen=True):
    """An import under way: it is done with `done` of its `tasks`, which are 0 until the file is read."""

    format: str
    name: str
    tasks: int = 0
    done: int = 0


class Preview(NamedTuple):
    """What an import would do, and the titles of the file's first tasks."""

    result: ImportResult
    titles: tuple[str, ...]


class Imports:
    """All imports under way on one daemon, in the order of their beginning.

    `zone` says the zone in which the person's days begin, and is asked for each file; `now_ms` is the wall
    clock.
    """

    def __init__(self, store: StoreThreads, zone: Callable[[], tzinfo], now_ms: Callable[[], int]) -> None:
        self._store = store
        self._zone = zone
        self._now_ms = now_ms
        self._underway: dict[object, Underway] = {}

    def underway(self) -> list[Underway]:
        """Say how far they are."""
        return list(self._underway.values())

    async def run(self, file: TextFile, *, dry_run: bool) -> ImportResult:
        """Import a file, or report what that would do.

        Raises FaultyFile with every fault of the file, before anything of it is written; and Refused if the
        store fails half-way, with how much is in the journal.
        """
        return (await self._run(file, dry_run=dry_run)).result

    async def preview(self, file: TextFile) -> Preview:
        """Report what an import would do. Raises FaultyFile with every fault of the file."""
        return await self._run(file, dry_run=True)

    async def _run(self, file: TextFile, *, dry_run: bool) -> Preview:
        turn = object()
        self._underway[turn] = Underway(file.format, file.name)
        try:
            work = await self._plan(file)
            self._underway[turn] = Underway(file.format, file.name, work.tasks)
            outcome = self._preview_parts(work) if dry_run else self._import_parts(work)
            import_result, count = work.empty_result, 0
            async for result, tasks in outcome:
                import_result, count = import_result + result, count + tasks
                self._underway[turn] = Underway(file.format, file.name, work.tasks, count)
            titles = (task.title for part in work.parts for task in part)
            return Preview(import_result, tuple(islice(titles, TITLES_SHOWN)))
        finally:
            del self._underway[turn]

    async def _plan(self, file: TextFile) -> PlanImport:
        # A large file is read for seconds: neither the loop nor the one writer may wait for that.
        work = await asyncio.to_thread(_read, file, self._zone(), self._now_ms())
        return await self._store.read(work.with_matched_tasks)

    async def _preview_parts(self, work: PlanImport) -> AsyncIterator[tuple[ImportResult, int]]:
        for part in work.parts:
            yield await self._store.read(partial(work.preview, part=part)), len(part)

    async def _import_parts(self, work: PlanImport) -> AsyncIterator[tuple[ImportResult, int]]:
        """Take part after part; other writes, and the end of the daemon, get their turn in between."""
        count = 0
        for part in work.parts:
            try:
                import_result = await self._store.write(partial(work.import_part, part=part))
            except StoreError as fault:
                if not count:
                    raise
                text = sentence(
                    "tasks-partly-imported",
                    "{done} of the file's {total} tasks are imported, then: {fault}",
                    done=count,
                    total=work.tasks,
                    fault=fault.sentence,
                )
                raise Refused(RefusalCode.PARTLY, text, import_again(fault)) from fault
            count += len(part)
            yield import_result, len(part)


def _read(file: TextFile, zone: tzinfo, now_ms: int) -> PlanImport:
    # The parsers and what they rest on are a sixth of what the daemon would import at its start.
    from daemon.formats import readers

    plan = readers.read_plan(file.format, file.name, file.text, zone, now_ms)
    return PlanImport(without_faulty(plan) if file.skip_faulty else plan)
