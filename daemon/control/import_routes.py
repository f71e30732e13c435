"""The route by which files are imported.

Never reads a file: the client sends its text, so that the daemon opens nothing by a name from outside.
"""

import asyncio
from datetime import tzinfo

from msgspec import Struct

from daemon.control.routes import Asks, Call, Nothing, Route
from daemon.journal.imports import formats
from daemon.journal.imports.apply import ImportResult, apply_plan
from store.threads import StoreThreads

IMPORT_BYTES_MAX = 64 << 20
"""A whole file is one request, so that it is taken whole or not at all; beyond other requests' limit."""


class Import(Struct, frozen=True, forbid_unknown_fields=True):
    """A file's text, its name, and its format: markdown or taskwarrior."""

    format: str
    name: str
    text: str
    dry_run: bool = False


def routes(store: StoreThreads, zone: tzinfo) -> list[Route]:
    """Return the route; `zone` is where the person's days begin."""

    async def run(call: Call[Import, Nothing]) -> ImportResult:
        asked = call.body
        # A large file is read for seconds: neither the loop nor the one writer may wait for that.
        plan = await asyncio.to_thread(formats.read, asked.format, asked.name, asked.text, zone)
        return await store.write(lambda tx: apply_plan(tx, plan, dry_run=asked.dry_run))

    return [
        Route(
            "POST",
            "/v1/import",
            "Import a file",
            Asks(run),
            ImportResult,
            Import,
            bytes_max=IMPORT_BYTES_MAX,
        )
    ]
