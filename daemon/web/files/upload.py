"""Reading a file that a form sends: one body of multipart/form-data, with a limit of its own.

Never writes it anywhere, and never trusts the name that the browser gives.
"""

import asyncio
import re
from email.message import Message
from typing import Final, NamedTuple

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from daemon.formats.importing import FILE_BYTES_MAX
from daemon.web.forms import refuse_form

PIECE_WITHIN_S: Final = 20.0
NAME_CHARS_MAX: Final = 200
FIELD: Final = "file"
_AROUND_BYTES_MAX: Final = 16 * 1024
"""What a form may have beside the file: the boundaries and the heads of its parts."""
_PARTS_MAX: Final = 4
_HEAD_BYTES_MAX: Final = 2048
_DISPOSITION: Final = re.compile(
    r'^content-disposition: *form-data; *name="([^"\r\n]*)"(?:; *filename="([^"\r\n]*)")?',
    re.IGNORECASE | re.MULTILINE,
)
_ESCAPES: Final = {"%22": '"', "%0D": "\r", "%0A": "\n"}


class FileTooLarge(Exception):
    """A file of more than FILE_BYTES_MAX bytes."""


class SentFile(NamedTuple):
    """A file as a browser sent it; `name` is the last part of its path, "" if none was chosen."""

    name: str
    content: bytes


async def read_file(request: web.Request) -> SentFile:
    """Return the file of a form.

    Raises FileTooLarge. A body that no form of the page sends is refused with status 400, one of which
    nothing came for PIECE_WITHIN_S with 408.
    """
    boundary = _boundary(request)
    return _file_of(await _body(request), boundary)


def _boundary(request: web.Request) -> bytes:
    head = Message()
    head["Content-Type"] = request.headers.get("Content-Type", "")
    boundary = head.get_boundary() if head.get_content_type() == "multipart/form-data" else None
    packed = request.headers.get("Content-Encoding", "identity") != "identity"
    if not boundary or not boundary.isascii() or packed:
        raise refuse_form()
    return b"--" + boundary.encode()


async def _body(request: web.Request) -> bytes:
    limit = FILE_BYTES_MAX + _AROUND_BYTES_MAX
    if (request.content_length or 0) > limit:
        raise FileTooLarge
    body = bytearray()
    try:
        while True:
            async with asyncio.timeout(PIECE_WITHIN_S):
                piece = await request.content.readany()
            if not piece:
                return bytes(body)
            body += piece
            if len(body) > limit:
                raise FileTooLarge
    except TimeoutError:
        raise web.HTTPRequestTimeout(text="the form did not arrive in time\n") from None
    except (ConnectionError, HttpProcessingError, web.PayloadAccessError, web.RequestPayloadError):
        raise refuse_form() from None


def _file_of(body: bytes, delimiter: bytes) -> SentFile:
    """Return the part of the body that is the file; refuse a body that no form of the page sends."""
    first, *parts = body.split(b"\r\n" + delimiter, _PARTS_MAX)
    if not first.startswith(delimiter) or not parts or not parts.pop().startswith(b"--"):
        raise refuse_form()
    for part in (first[len(delimiter) :], *parts):
        head, blank, content = part.partition(b"\r\n\r\n")
        if not blank or not head.startswith(b"\r\n") or len(head) > _HEAD_BYTES_MAX:
            raise refuse_form()
        disposition = _DISPOSITION.search(head.decode(errors="replace"))
        if disposition is None:
            raise refuse_form()
        if disposition[1] == FIELD and disposition[2] is not None:
            if len(content) > FILE_BYTES_MAX:
                raise FileTooLarge
            return SentFile(_base_name(disposition[2]), content)
    raise refuse_form()


def _base_name(name: str) -> str:
    """Return the last part of a path, however the browser's system writes paths."""
    for escape, character in _ESCAPES.items():
        name = name.replace(escape, character)
    return name.replace("\\", "/").rpartition("/")[2][-NAME_CHARS_MAX:].strip()
