"""The route by which files are imported.

Never reads a file: the client sends its text, so that the daemon opens nothing by a name from outside.
"""

import asyncio
from collections.abc import Callable
from datetime import tzinfo
from functools import partial

from msgspec import Struct

from daemon.control.routes import Asks, Call, Nothing, Route
from daemon.journal.errors import Code, Refused
from daemon.journal.imports import formats
from daemon.journal.imports.apply import ImportResult, Work
from store.faults import StoreError
from store.threads import StoreThreads

IMPORT_BYTES_MAX = 64 << 20
"""A whole file is one request, so that one fault in it keeps all of it out; beyond other requests' limit."""


class Import(Struct, frozen=True, forbid_unknown_fields=True):
    """A file's text, its name, and its format: icalendar, jsonl, markdown, taskwarrior or todotxt.

    A Markdown or todo.txt file of the same name updates what came before; another name is another list.
    """

    format: str
    name: str
    text: str
    dry_run: bool = False


def routes(store: StoreThreads, zone: tzinfo, now_ms: Callable[[], int]) -> list[Route]:
    """Return the route; `zone` is where the person's days begin."""

    async def run(call: Call[Import, Nothing]) -> ImportResult:
        asked = call.body
        # A large file is read for seconds: neither the loop nor the one writer may wait for that.
        work = await store.read((await asyncio.to_thread(_read, asked, zone, now_ms())).known)
        return await (_look(store, work) if asked.dry_run else _take(store, work))

    return [
        Route(
            "POST",
            "/v1/import",
            "Import a file; what an end half-way leaves out comes with the next import of it",
            Asks(run),
            ImportResult,
            Import,
            bytes_max=IMPORT_BYTES_MAX,
            only_looks=lambda asked: asked.dry_run,
        )
    ]


def _read(asked: Import, zone: tzinfo, now_ms: int) -> Work:
    return Work(formats.read(asked.format, asked.name, asked.text, zone, now_ms))


async def _look(store: StoreThreads, work: Work) -> ImportResult:
    done = work.nothing_yet
    for part in work.parts:
        done += await store.read(partial(work.look, part=part))
    return done


async def _take(store: StoreThreads, work: Work) -> ImportResult:
    """Take part after part; other writes, and the end of the daemon, get their turn in between."""
    done, taken = work.nothing_yet, 0
    for part in work.parts:
        try:
            done += await store.write(partial(work.take, part=part))
        except StoreError as fault:
            if not taken:
                raise
            seen = f"{taken} of the file's {work.tasks} tasks are imported, then: {fault}"
            hint = f"{fault.hint}; " * bool(fault.hint) + "import it again: it goes on from there"
            raise Refused(Code.PARTLY, seen, hint) from fault
        taken += len(part)
    return done
