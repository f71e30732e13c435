"""The route by which a journal that was exported as JSON lines comes back, of any size.

Never writes before the whole file is here and has been read without a fault, and never holds it in memory.
"""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

from aiohttp import web
from msgspec import Struct, json

from daemon.control.routes import Call, Nothing, Route, Streams
from daemon.control.spool import Spool
from daemon.disk import Floor
from daemon.journal.errors import Code, Refused
from daemon.journal.imports import jsonl, jsonl_apply
from daemon.journal.imports.apply import ImportResult
from daemon.journal.imports.plan import Skipped
from store.faults import StoreError
from store.threads import StoreThreads

MEDIA = "application/jsonl"
READ_WITHIN_S = 60.0
SKIPPED_MAX = 100


class How(Struct, frozen=True, forbid_unknown_fields=True):
    """`dry_run`: say what would be taken, and take nothing."""

    dry_run: bool = False


class LinesImport:
    """Imports of JSON lines, one at a time."""

    def __init__(self, store: StoreThreads, folder: Path, floor: Floor) -> None:
        self._store = store
        self._folder = folder
        self._floor = floor
        self._turn = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the route. It needs no Idempotency-Key: the same file twice brings nothing twice."""
        return [
            Route(
                "POST",
                "/v1/import/jsonl",
                "Import what `placet export jsonl` wrote, sent as it is",
                Streams(self._run, "application/json", takes=MEDIA),
                ImportResult,
                query=How,
                only_looks=lambda _: True,
            )
        ]

    async def _run(self, request: web.Request, call: Call[Nothing, How]) -> web.StreamResponse:
        shortfall = None if call.query.dry_run else self._floor.shortfall()
        if shortfall is not None:
            raise Refused(Code.DISK, shortfall, "free some space; reading still works")
        with Spool(self._folder, self._floor) as spool:
            await _received(request, spool)
            async with self._turn:
                total = await asyncio.to_thread(jsonl.check, spool)
                done = await self._parts(spool, total, dry_run=call.query.dry_run)
        return web.Response(body=json.encode(done), content_type="application/json")

    async def _parts(self, spool: Spool, total: int, *, dry_run: bool) -> ImportResult:
        """Take part after part; other writes, and the end of the daemon, get their turn in between."""
        done, taken, left_out = ImportResult(), 0, 0
        parts = jsonl.parts(spool)
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            try:
                if dry_run:
                    done += await self._store.read(partial(jsonl_apply.look, part=part))
                else:
                    done += await self._store.write(partial(jsonl_apply.take, part=part))
            except StoreError as fault:
                if not taken:
                    raise
                raise _partly(taken, total, fault) from fault
            taken += len(part)
            left_out += len(done.skipped[SKIPPED_MAX:])
            done = replace(done, skipped=done.skipped[:SKIPPED_MAX])
        if left_out:
            more = Skipped(None, f"{left_out} more", "as those above")
            done = replace(done, skipped=(*done.skipped, more))
        return done


async def _received(request: web.Request, spool: Spool) -> None:
    try:
        while True:
            async with asyncio.timeout(READ_WITHIN_S):
                piece = await request.content.readany()
            if not piece:
                return
            spool.put(piece)
    except TimeoutError:
        raise Refused(Code.TIMEOUT, "the file stopped coming", "nothing was imported") from None
    except (ConnectionError, web.PayloadAccessError, web.RequestPayloadError):
        raise Refused(Code.USAGE, "the file did not come whole", "nothing was imported") from None


def _partly(taken: int, total: int, fault: StoreError) -> Refused:
    seen = f"{taken} of the file's {total} entities are imported, then: {fault}"
    hint = f"{fault.hint}; " * bool(fault.hint) + "import it again: it goes on from there"
    return Refused(Code.PARTLY, seen, hint)
