"""The route by which files are imported.

Never reads a file: the client sends its text, so that the daemon opens nothing by a name from outside.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import tzinfo
from functools import partial

from msgspec import Struct

from daemon.control.routes import Asks, Call, Nothing, Route
from daemon.journal.errors import Code, Refused
from daemon.journal.imports.apply import ImportResult, Work
from store.faults import StoreError
from store.threads import StoreThreads

IMPORT_BYTES_MAX = 64 << 20
"""A whole file is one request, so that one fault in it keeps all of it out; beyond other requests' limit."""


class Import(Struct, frozen=True, forbid_unknown_fields=True):
    """A file's text, its name, and its format: icalendar, markdown, taskwarrior or todotxt.

    A Markdown or todo.txt file of the same name updates what came before; another name is another list.
    """

    format: str
    name: str
    text: str
    dry_run: bool = False


class Underway(Struct, frozen=True):
    """An import under way: `done` of its `tasks` have been looked at; no tasks are known until it is read."""

    format: str
    name: str
    tasks: int = 0
    done: int = 0


class _Imports:
    """All imports under way on one daemon, in the order of their beginning."""

    def __init__(self, store: StoreThreads, zone: tzinfo, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._zone = zone
        self._now_ms = now_ms
        self._underway: dict[object, Underway] = {}

    async def watch(self, call: Call[Nothing, Nothing]) -> list[Underway]:
        """Say how far they are."""
        del call
        return list(self._underway.values())

    async def run(self, call: Call[Import, Nothing]) -> ImportResult:
        """Import a file."""
        asked, turn = call.body, object()
        self._underway[turn] = Underway(asked.format, asked.name)
        try:
            # A large file is read for seconds: neither the loop nor the one writer may wait for that.
            work = await asyncio.to_thread(_read, asked, self._zone, self._now_ms())
            work = await self._store.read(work.known)
            self._underway[turn] = Underway(asked.format, asked.name, work.tasks)
            taken = self._looked(work) if asked.dry_run else self._taken(work)
            done, count = work.nothing_yet, 0
            async for result, tasks in taken:
                done, count = done + result, count + tasks
                self._underway[turn] = Underway(asked.format, asked.name, work.tasks, count)
            return done
        finally:
            del self._underway[turn]

    async def _looked(self, work: Work) -> AsyncIterator[tuple[ImportResult, int]]:
        for part in work.parts:
            yield await self._store.read(partial(work.look, part=part)), len(part)

    async def _taken(self, work: Work) -> AsyncIterator[tuple[ImportResult, int]]:
        """Take part after part; other writes, and the end of the daemon, get their turn in between."""
        taken = 0
        for part in work.parts:
            try:
                done = await self._store.write(partial(work.take, part=part))
            except StoreError as fault:
                if not taken:
                    raise
                seen = f"{taken} of the file's {work.tasks} tasks are imported, then: {fault}"
                hint = f"{fault.hint}; " * bool(fault.hint) + "import it again: it goes on from there"
                raise Refused(Code.PARTLY, seen, hint) from fault
            taken += len(part)
            yield done, len(part)


def routes(store: StoreThreads, zone: tzinfo, now_ms: Callable[[], int]) -> list[Route]:
    """Return the routes; `zone` is where the person's days begin."""
    imports = _Imports(store, zone, now_ms)
    return [
        Route(
            "GET", "/v1/import", "Say how far the imports under way are", Asks(imports.watch), list[Underway]
        ),
        Route(
            "POST",
            "/v1/import",
            "Import a file; what an end half-way leaves out comes with the next import of it",
            Asks(imports.run),
            ImportResult,
            Import,
            bytes_max=IMPORT_BYTES_MAX,
            only_looks=lambda asked: asked.dry_run,
        ),
    ]


def _read(asked: Import, zone: tzinfo, now_ms: int) -> Work:
    # The parsers and what they rest on are a sixth of what the daemon would import at its start.
    from daemon.journal.imports import formats

    return Work(formats.read(asked.format, asked.name, asked.text, zone, now_ms))
