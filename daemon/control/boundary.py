"""The boundary of the control API: who may ask, and how every failure is answered.

Never lets a traceback or a request's content out: a bug is logged where it happened and answered as one.
"""

import socket
import struct
import traceback
from pathlib import Path

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from daemon.control.errors import envelope, status_of
from daemon.journal.errors import Code, Refused, not_found, usage
from store.faults import DiskFull, ReadOnlyDatabase, StoreError
from syncproto.faults import CommitTooLarge, LocalProtocolError

_CREDENTIALS = struct.Struct("3i")  # struct ucred (unix(7)): pid, uid, gid

FRAMES_LOGGED = 8

_log = structlog.get_logger("control")


def answer_refusals() -> Middleware:
    """Answer every failure in the one form of errors; outermost."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except (Refused, StoreError, LocalProtocolError, web.HTTPException) as error:
            refused = _refusal(request, error)
            return _answer(refused, status_of(refused))
        except Exception as bug:  # noqa: BLE001 - the boundary: the caller must hear of a bug, the log must hold it
            _log.error("bug", route=_route(request), kind=type(bug).__name__, at=_where(bug))
            refused = Refused(
                Code.FAILED, "the daemon met a bug; nothing was changed", "its log has the details"
            )
            return _answer(refused, 500)

    return middleware


def only_user(uid: int) -> Middleware:
    """Refuse every process that does not run as the user `uid`, whatever the socket's permissions say."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        seen = _uid_of(request)
        if seen != uid:
            _log.warning("stranger", uid=seen)
            raise Refused(Code.FORBIDDEN, f"this daemon serves another user than the one with uid {seen}")
        return await handler(request)

    return middleware


def _uid_of(request: web.Request) -> int | None:
    """Return the uid of the process at the other end (SO_PEERCRED), None where the system does not say."""
    connection = request.get_extra_info("socket")
    if connection is None:
        return None
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(raw)[1])


def _refusal(request: web.Request, error: Exception) -> Refused:
    match error:
        case Refused():
            return error
        case DiskFull():
            return Refused(Code.DISK, str(error), error.hint)
        case ReadOnlyDatabase() | StoreError():
            return Refused(Code.FAILED, str(error), error.hint)
        case CommitTooLarge():
            return usage(f"too much text for one change: {error}", "split it")
        case LocalProtocolError():
            return usage(f"a value that cannot be kept: {error}")
        case web.HTTPNotFound():
            return not_found("path", request.path, "see /v1/openapi.json")
        case web.HTTPMethodNotAllowed():
            allowed = ", ".join(sorted(error.allowed_methods))
            return usage(f"{request.path} takes {allowed}, not {request.method}")
    return usage(f"a request that HTTP does not allow: {error}")


def _answer(refused: Refused, status: int) -> web.Response:
    return web.Response(status=status, body=envelope(refused), content_type="application/json")


def _route(request: web.Request) -> str:
    """Name the route as it is declared: the path itself may hold a title."""
    resource = request.match_info.route.resource
    return f"{request.method} {resource.canonical if resource else '?'}"


def _where(bug: BaseException) -> str:
    """Name the places that a bug passed through, without its message, which may hold words of the journal."""
    frames = traceback.extract_tb(bug.__traceback__)[-FRAMES_LOGGED:]
    return " > ".join(f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in frames)
