"""The route by which the journal leaves as a file.

Never keeps a snapshot open for a client: the file is made first, whole, and then sent, so that a client that
stalls holds neither a reader nor the write-ahead log, and the length is known before the first byte.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web
from msgspec import Struct

from daemon.control.route import Call, Nothing, Route, StreamHandler
from daemon.control.spool import Spool
from daemon.disk import DiskFloor
from daemon.file_formats import format_names, join_alternatives
from daemon.refusal import RefusalCode, Refused
from store.sentence import sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads

if TYPE_CHECKING:
    from daemon.formats.core.format import Writer

MEDIA = "application/octet-stream"
WRITE_WITHIN_S = 30.0
EXPORTS_MAX = 4
PIECE_BYTES = 1 << 18


class Export(Struct, frozen=True, forbid_unknown_fields=True):
    """The format: {names}."""

    format: str


# The description of the API shows it.
Export.__doc__ = (Export.__doc__ or "").format(names=join_alternatives(format_names()))


class _Abandoned(Exception):
    """Nobody waits for this file any more."""


class ExportRoutes:
    """All exports under way on one daemon: one is made at a time, a few may be on their way out."""

    def __init__(
        self, store: StoreThreads, folder: Path, floor: DiskFloor, zone: Callable[[], tzinfo]
    ) -> None:
        self._store = store
        self._folder = folder
        self._floor = floor
        self._zone = zone
        # Making a file keeps one of the readers busy; two at once would leave none for anything else.
        self._turn = asyncio.Semaphore(1)
        self._open = 0

    def routes(self) -> list[Route]:
        """Return the route."""
        summary = "Export the journal as a file, from one moment; its length comes before it"
        return [Route("GET", "/v1/export", summary, StreamHandler(self._stream, MEDIA), str, query=Export)]

    async def _stream(self, request: web.Request, call: Call[Nothing, Export]) -> web.StreamResponse:
        return await self.send(request, call.query.format, {})

    async def send(
        self, request: web.Request, format_: str, headers: Mapping[str, str]
    ) -> web.StreamResponse:
        """Make the file of an export, and send it with these headers too. Raises Refused before that."""
        wanted = await asyncio.to_thread(_writer, format_)
        if self._open >= EXPORTS_MAX:
            raise Refused(
                RefusalCode.FAILED,
                sentence("exports-under-way", "{count} exports are under way already", count=EXPORTS_MAX),
                sentence("wait-for-one", "wait for one to end"),
            )
        self._open += 1
        try:
            async with self._turn:
                spool = await self._write_spool(request, wanted)
            with spool:
                return await _send_file(request, spool, headers)
        finally:
            self._open -= 1

    async def _write_spool(self, request: web.Request, wanted: "Writer") -> Spool:
        ended = threading.Event()

        def make(snapshot: Snapshot) -> Spool:
            spool = Spool(self._folder, self._floor)
            try:
                for piece in _pieces(wanted(snapshot, self._zone())):
                    _go_on(listening=not ended.is_set() and request.transport is not None)
                    spool.append(piece)
            except BaseException:
                spool.close()
                raise
            return spool

        try:
            return await self._store.read(make)
        except _Abandoned:
            raise web.HTTPRequestTimeout from None
        finally:
            ended.set()


def _go_on(*, listening: bool) -> None:
    if not listening:
        raise _Abandoned


def _pieces(texts: Iterator[str]) -> Iterator[bytes]:
    """Join what a writer yields to pieces worth a write each."""
    buffer = bytearray()
    for text in texts:
        buffer += text.encode()
        if len(buffer) >= PIECE_BYTES:
            yield bytes(buffer)
            buffer.clear()
    yield bytes(buffer)


async def _send_file(request: web.Request, spool: Spool, headers: Mapping[str, str]) -> web.StreamResponse:
    """Send a file. What is cut short falls short of its Content-Length: no client can take it for whole."""
    response = web.StreamResponse(headers={"Content-Type": MEDIA, "Cache-Control": "no-store", **headers})
    response.content_length = spool.size
    spool.rewind()
    try:
        await response.prepare(request)
        while piece := await asyncio.to_thread(spool.read, PIECE_BYTES):
            async with asyncio.timeout(WRITE_WITHIN_S):
                await response.write(piece)
    except (ConnectionError, TimeoutError):
        if request.transport is not None:
            request.transport.abort()
    return response


def _writer(format_: str) -> "Writer":
    """Return the writer of a format. Raises Refused (usage) if no writer has this name."""
    # The writers are imported by the first export: nobody else needs them, and the start is shorter by that.
    from daemon.formats.writers import writer_for

    return writer_for(format_)
