"""The boundary of the control API: who may ask, and how every failure is answered.

Never lets a traceback or a request's content out: a bug is logged where it happened and answered as a bug.
"""

import socket
import struct
import traceback
from pathlib import Path

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from daemon.control.error_body import error_body, http_status
from daemon.refusal import RefusalCode, Refused, not_found_refusal, usage_error
from store.file.errors import DiskFull, ReadOnlyDatabase, StoreError
from store.sentence import sentence
from syncproto.errors import CommitTooLarge, LocalProtocolError

_CREDENTIALS = struct.Struct("3i")  # struct ucred (unix(7)): pid, uid, gid

FRAMES_LOGGED = 8

_log = structlog.get_logger("control")


def refusal_middleware() -> Middleware:
    """Answer every failure in the one form of errors; outermost."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except (Refused, StoreError, LocalProtocolError, web.HTTPException) as error:
            refused = _refusal(request, error)
            if isinstance(error, web.HTTPMethodNotAllowed):
                answer = _answer(refused, error.status)
                answer.headers["Allow"] = error.headers["Allow"]
                return answer
            return _answer(refused, http_status(refused))
        except Exception as bug:  # noqa: BLE001 - the boundary: the caller gets an answer, and the log the bug
            _log.error("bug", route=_route(request), kind=type(bug).__name__, at=_frames_words(bug))
            refused = Refused(
                RefusalCode.FAILED,
                sentence("bug", "the daemon met a bug; nothing was changed"),
                sentence("log-has-details", "its log has the details"),
            )
            return _answer(refused, 500)

    return middleware


def single_user_middleware(uid: int) -> Middleware:
    """Refuse every process that does not run as the user `uid`, whatever the socket's permissions say."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        caller_uid = _uid_of(request)
        if caller_uid != uid:
            _log.warning("stranger", uid=caller_uid)
            raise Refused(
                RefusalCode.FORBIDDEN,
                sentence(
                    "other-user",
                    "this daemon serves another user than the one with uid {uid}",
                    uid=str(caller_uid),
                ),
            )
        return await handler(request)

    return middleware


def _uid_of(request: web.Request) -> int | None:
    """Return the uid of the process at the other end (SO_PEERCRED); None if it is unknown."""
    connection = request.get_extra_info("socket")
    if connection is None:
        return None
    # The kernel vouches for these numbers: the caller cannot set them.
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(raw)[1])


def _refusal(request: web.Request, error: Exception) -> Refused:
    match error:
        case Refused():
            return error
        case DiskFull():
            return Refused(RefusalCode.DISK, error.sentence, error.hint_sentence)
        case ReadOnlyDatabase() | StoreError():
            return Refused(RefusalCode.FAILED, error.sentence, error.hint_sentence)
        case CommitTooLarge():
            return usage_error(
                sentence("commit-too-large", "too much text for one change: {fault}", fault=str(error)),
                sentence("split-it", "split it"),
            )
        case LocalProtocolError():
            return usage_error(
                sentence("value-not-kept", "a value cannot be stored: {fault}", fault=str(error))
            )
        case web.HTTPNotFound():
            return not_found_refusal("path", request.path, sentence("see-openapi", "see /v1/openapi.json"))
        case web.HTTPMethodNotAllowed():
            allowed = ", ".join(sorted(error.allowed_methods))
            return usage_error(
                sentence(
                    "method-not-allowed",
                    "{path} takes {allowed}, not {method}",
                    path=request.path,
                    allowed=allowed,
                    method=request.method,
                )
            )
    return usage_error(
        sentence("http-fault", "a request that HTTP does not allow: {fault}", fault=str(error))
    )


def _answer(refused: Refused, status: int) -> web.Response:
    return web.Response(status=status, body=error_body(refused), content_type="application/json")


def _route(request: web.Request) -> str:
    """Name the route as it is declared: the path itself may hold a title."""
    resource = request.match_info.route.resource
    return f"{request.method} {resource.canonical if resource else '?'}"


def _frames_words(bug: BaseException) -> str:
    """Name the places that a bug passed through, without its message, which may hold words of the journal."""
    frames = traceback.extract_tb(bug.__traceback__)[-FRAMES_LOGGED:]
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
