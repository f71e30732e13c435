"""The journal as a download: an export in each format that is written, and a backup.

Never changes the journal, never holds a whole file in memory, and never puts the key of the device into one.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Final

from aiohttp import web

from daemon.file_formats import FILE_FORMATS
from daemon.journal.backup_copy import open_copy
from daemon.refusal import RefusalCode, Refused
from daemon.web.refusals import refusal_words
from daemon.web.services import PageServices
from store.sentence import sentence

PATH: Final = "/download"
BACKUP: Final = "backup"
_PIECE_BYTES: Final = 1 << 18

SendExport = Callable[[web.Request, str, Mapping[str, str]], Awaitable[web.StreamResponse]]
"""Makes the file of an export, and sends it with these headers too. Raises Refused before that."""


def routes(services: PageServices, database: Path, send_export: SendExport) -> list[web.RouteDef]:
    """Return the routes of downloads."""
    room = _Downloads(services, database, send_export)
    return [web.get(f"{PATH}/{{kind:[a-z]{{1,20}}}}", room.send)]


class _Downloads:
    def __init__(self, services: PageServices, database: Path, send_export: SendExport) -> None:
        self._services = services
        self._database = database
        self._send_export = send_export
        self._copying = asyncio.Lock()

    async def send(self, request: web.Request) -> web.StreamResponse:
        """Send a file to be saved. What cannot be made is said in words, and nothing is sent of it."""
        kind = request.match_info["kind"]
        written = next((row for row in FILE_FORMATS if row.name == kind), None)
        if written is None and kind != BACKUP:
            raise web.HTTPNotFound(text="no such file\n")
        headers = self._headers(f".{BACKUP}" if written is None else written.endings[0])
        try:
            if written is not None:
                return await self._send_export(request, kind, headers)
            return await self._send_backup(request, headers)
        except Refused as refused:
            text = f"{refusal_words(refused)}\n"
            return web.Response(status=HTTPStatus.CONFLICT, text=text)

    def _headers(self, ending: str) -> dict[str, str]:
        day = datetime.fromtimestamp(self._services.now_ms() / 1000, UTC).date().isoformat()
        return {
            "Content-Disposition": f'attachment; filename="placet-{day}{ending}"',
            "Content-Type": "application/octet-stream",
        }

    async def _send_backup(self, request: web.Request, headers: Mapping[str, str]) -> web.StreamResponse:
        if self._copying.locked():
            raise Refused(
                RefusalCode.FAILED,
                sentence("backup-under-way", "a backup is on its way already"),
                sentence("wait-for-its-end", "wait for its end"),
            )
        async with self._copying:
            with await asyncio.to_thread(open_copy, self._database, self._services.floor) as file:
                return await _send(request, file, headers)


async def _send(request: web.Request, file: BinaryIO, headers: Mapping[str, str]) -> web.StreamResponse:
    """Send a file in pieces. What is cut short falls short of its Content-Length."""
    response = web.StreamResponse(headers=headers)
    response.content_length = file.seek(0, 2)
    file.seek(0)
    with contextlib.suppress(ConnectionError):
        await response.prepare(request)
        while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
            await response.write(piece)
    return response
