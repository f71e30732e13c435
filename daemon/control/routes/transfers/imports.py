"""The route by which files are imported.

Never reads a file: the client sends its text, so that the daemon opens nothing by a name from outside.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import tzinfo
from functools import partial

from msgspec import Struct

from daemon.control.route import AsyncHandler, Call, Nothing, Route
from daemon.formats.core.importer import ImportResult, PlanImport, import_again
from daemon.refusal import RefusalCode, Refused
from store.file.errors import StoreError
from store.sentence import sentence
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
    """An import under way: it is done with `done` of its `tasks`, which are 0 until the file is read."""

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
        body, turn = call.body, object()
        self._underway[turn] = Underway(body.format, body.name)
        try:
            # A large file is read for seconds: neither the loop nor the one writer may wait for that.
            work = await asyncio.to_thread(_read, body, self._zone, self._now_ms())
            work = await self._store.read(work.with_matched_tasks)
            self._underway[turn] = Underway(body.format, body.name, work.tasks)
            outcome = self._preview_parts(work) if body.dry_run else self._import_parts(work)
            import_result, count = work.empty_result, 0
            async for result, tasks in outcome:
                import_result, count = import_result + result, count + tasks
                self._underway[turn] = Underway(body.format, body.name, work.tasks, count)
            return import_result
        finally:
            del self._underway[turn]

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


def routes(store: StoreThreads, zone: tzinfo, now_ms: Callable[[], int]) -> list[Route]:
    """Return the routes; `zone` is the zone in which the person's days begin."""
    imports = _Imports(store, zone, now_ms)
    return [
        Route(
            "GET",
            "/v1/import",
            "Say how far the imports under way are",
            AsyncHandler(imports.watch),
            list[Underway],
        ),
        Route(
            "POST",
            "/v1/import",
            "Import a file; what an end half-way leaves out comes with the next import of it",
            AsyncHandler(imports.run),
            ImportResult,
            Import,
            bytes_max=IMPORT_BYTES_MAX,
            writes_nothing=lambda body: body.dry_run,
        ),
    ]


def _read(requested_import: Import, zone: tzinfo, now_ms: int) -> PlanImport:
    # The parsers and what they rest on are a sixth of what the daemon would import at its start.
    from daemon.formats import readers

    return PlanImport(
        readers.read_plan(requested_import.format, requested_import.name, requested_import.text, zone, now_ms)
    )
