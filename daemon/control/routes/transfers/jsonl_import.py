"""The route by which a journal that was exported as JSON lines comes back, of any size.

Never writes before the whole file is here and has been read without a fault, and never holds it in memory.
"""

import asyncio
from dataclasses import replace
from functools import partial
from itertools import starmap
from pathlib import Path

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from msgspec import Struct, json

from daemon.control.route import Call, Nothing, Route, StreamHandler
from daemon.control.spool import Spool
from daemon.disk import READING_STILL_WORKS, DiskFloor
from daemon.formats.core.importer import ImportResult, import_again
from daemon.formats.core.plan import describe_skipped, faulty_of
from daemon.formats.jsonl import importer, left_out, reader
from daemon.formats.jsonl.reader import CheckedFile
from daemon.refusal import RefusalCode, Refused
from store.file.errors import StoreError
from store.sentence import sentence
from store.threads import StoreThreads

MEDIA = "application/jsonl"
READ_WITHIN_S = 60.0
SKIPPED_MAX = 100


class How(Struct, frozen=True, forbid_unknown_fields=True):
    """How to import. `dry_run`: report what would be imported, and write nothing.

    `skip_faulty`: lines that cannot be read are left out and listed, instead of refusing the whole file.
    """

    dry_run: bool = False
    skip_faulty: bool = False


class JsonlImportRoutes:
    """Imports of JSON lines, one at a time."""

    def __init__(self, store: StoreThreads, folder: Path, floor: DiskFloor) -> None:
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
                StreamHandler(self._run, "application/json", request_media=MEDIA),
                ImportResult,
                query=How,
                writes_nothing=lambda _: True,
            )
        ]

    async def _run(self, request: web.Request, call: Call[Nothing, How]) -> web.StreamResponse:
        shortfall = None if call.query.dry_run else self._floor.shortfall()
        if shortfall is not None:
            raise Refused(RefusalCode.DISK, shortfall, READING_STILL_WORKS)
        with Spool(self._folder, self._floor) as spool:
            await _receive(request, spool)
            async with self._turn:
                check = partial(reader.check, spool, skip_faulty=call.query.skip_faulty)
                checked = await asyncio.to_thread(check)
                import_result = await self._parts(spool, checked, dry_run=call.query.dry_run)
        return web.Response(body=json.encode(import_result), content_type="application/json")

    async def _parts(self, spool: Spool, checked: CheckedFile, *, dry_run: bool) -> ImportResult:
        """Take part after part; other writes, and the end of the daemon, get their turn in between."""
        missing = await self._store.read(partial(left_out.not_in_journal, ids=checked.faulty_ids))
        loose = await asyncio.to_thread(left_out.find_belongings, spool, missing)
        import_result = ImportResult(
            skipped=tuple(loose.values()), faulty=tuple(starmap(faulty_of, checked.faults))
        )
        count = more_count = 0
        parts = reader.read_parts(spool, loose)
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            try:
                if dry_run:
                    import_result += await self._store.read(partial(importer.preview, part=part))
                else:
                    import_result += await self._store.write(partial(importer.import_part, part=part))
            except StoreError as fault:
                if not count:
                    raise
                raise _partly(count, checked.entities - len(loose), fault) from fault
            count += len(part)
            more_count += len(import_result.skipped[SKIPPED_MAX:])
            import_result = replace(import_result, skipped=import_result.skipped[:SKIPPED_MAX])
        if more_count:
            more = describe_skipped(
                None,
                sentence("so-many-more", "{count} more", count=more_count),
                sentence("as-those-above", "as those above"),
            )
            import_result = replace(import_result, skipped=(*import_result.skipped, more))
        return import_result


async def _receive(request: web.Request, spool: Spool) -> None:
    try:
        while True:
            async with asyncio.timeout(READ_WITHIN_S):
                piece = await request.content.readany()
            if not piece:
                return
            spool.append(piece)
    except TimeoutError:
        raise Refused(
            RefusalCode.TIMEOUT,
            sentence("file-stopped", "the rest of the file did not arrive in time"),
            sentence("nothing-imported", "nothing was imported"),
        ) from None
    except (ConnectionError, HttpProcessingError, web.PayloadAccessError, web.RequestPayloadError):
        raise Refused(
            RefusalCode.USAGE,
            sentence("file-not-whole", "the file arrived incomplete"),
            sentence("nothing-imported", "nothing was imported"),
        ) from None


def _partly(count: int, total: int, fault: StoreError) -> Refused:
    text = sentence(
        "entities-partly-imported",
        "{done} of the file's {total} entities are imported, then: {fault}",
        done=count,
        total=total,
        fault=fault.sentence,
    )
    return Refused(RefusalCode.PARTLY, text, import_again(fault))
