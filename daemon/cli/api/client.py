"""Speaks to the daemon: one HTTP/1.0 request over its Unix socket, one answer.

Never waits without a limit, and never imports an HTTP library: with HTTP/1.0 an
answer ends where its stream ends, which is all that a local client needs.
"""

from __future__ import annotations

import json
import os
import socket
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from daemon.cli.api.command_error import EXIT_NOT_FOUND, CommandError, error_from_response, no_daemon_error
from daemon.paths import find_paths, short_address
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Query = Mapping[str, str | int | bool | None]

ANSWER_TIMEOUT_S: Final = 30.0
PAGE_SIZE: Final = 500
"""A list is answered in pages of so many; a shorter one is the last."""
LINES_PAGE_SIZE: Final = 2000
"""The same of lists with a line each."""
_CONNECT_S: Final = 5.0
_READ_BYTES: Final = 1 << 18
_HEAD_BYTES_MAX: Final = 1 << 16
_ANSWER_BYTES_MAX: Final = 1 << 28
# Of one list; the daemon makes them of some MiB each.
_ANSWERS_MAX: Final = 32
_LINE_BYTES_MAX: Final = 1 << 24
# Not words for people: RFC 9110 writes dates in English.
_HTTP_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# A stream that ends at once must not make this process spin.
_BETWEEN_STREAMS_S: Final = 0.5
_SEEN_CHARS: Final = 20


class ApiAnswer(NamedTuple):
    """An answer of the daemon: its JSON, and the Date header, which is the daemon's clock.

    `left_out` counts the elements of a list that the answer does not have, because it would be too long.
    `change` names what the request changed, "" if it changed nothing.
    """

    json: Any
    date: str
    left_out: int = 0
    change: str = ""

    @property
    def now_s(self) -> float | None:
        """Return the daemon's time as Unix time, or None if the answer does not carry it."""
        return parse_http_date_s(self.date)


class StreamEvent(NamedTuple):
    """One event of a stream; `id` is the feed position to resume from."""

    id: str
    name: str
    text: str


class _Broken(Exception):
    """The connection ended before the whole answer was here."""


def _cut_short(came: int, total: int) -> _Broken:
    return _Broken(_("{came} of {whole} bytes came").format(came=came, whole=total))


def get(path: str, query: Query | None = None, wait_s: float = ANSWER_TIMEOUT_S) -> ApiAnswer:
    """Read something, a long list in several answers; raises `CommandError`."""
    try:
        answer = _ask("GET", _target(path, query), b"", {}, wait_s)
        for _count in range(_ANSWERS_MAX):
            if not answer.left_out:
                break
            more = _ask("GET", _target(path, {**(query or {}), "from": len(answer.json)}), b"", {}, wait_s)
            answer = ApiAnswer(answer.json + more.json, answer.date, more.left_out)
        return answer
    except _Broken as broken:
        message = _("the connection to the daemon ended while it answered ({fault})").format(fault=broken)
        hint = _("`journalctl --user -u placet` says why, if systemd runs it")
        raise CommandError("failed", message, hint) from broken


def find(path: str) -> Any:
    """Return the JSON at a path, None if nothing is there; raises `CommandError` for any other refusal."""
    try:
        return get(path).json
    except CommandError as refusal:
        if refusal.exit_status == EXIT_NOT_FOUND:
            return None
        raise


def download(path: str, query: Query, wait_s: float) -> Iterator[tuple[bytes, int]]:
    """Yield a file's pieces as they come, each with the length of the whole; raises `CommandError`.

    A file that ends short of that length is refused at its end: what has come is not the whole of it.
    `wait_s` bounds each wait, not the whole.
    """
    with _connect() as connection:
        _write(connection, _request("GET", _target(path, query), {}, b""))
        try:
            head, piece = _read_head(connection, time.monotonic() + wait_s)
            if (status := _http_status(head)) >= 400:
                raise _refusal(status, _read_rest(connection, piece, time.monotonic() + ANSWER_TIMEOUT_S))
            total = int(_fields(head).get("content-length", 0))
            for part in _pieces(connection, piece, total, wait_s):
                yield part, total
        except _Broken as broken:
            message = _("the connection to the daemon ended while it sent the file ({fault})").format(
                fault=broken
            )
            raise CommandError("failed", message) from broken


def _pieces(connection: socket.socket, first: bytes, total: int, wait_s: float) -> Iterator[bytes]:
    piece, came = first, len(first)
    yield piece
    while came < total:
        piece = _read(connection, time.monotonic() + wait_s)
        if not piece:
            raise _cut_short(came, total)
        came += len(piece)
        yield piece


def get_pages(path: str, query: Query, limit: int | None = None, page_size: int = PAGE_SIZE) -> ApiAnswer:
    """Read a list page by page, to its end or to `limit`; raises `CommandError`."""
    answer = page = get(path, {**query, "limit": _page_size(limit, 0, page_size)})
    all_json = answer.json
    while isinstance(page.json, list) and len(page.json) == page_size and len(all_json) != limit:
        after, size = page.json[-1]["id"], _page_size(limit, len(all_json), page_size)
        page = get(path, {**query, "after": after, "limit": size})
        all_json = all_json + page.json
    return ApiAnswer(all_json, answer.date, page.left_out)


def _page_size(limit: int | None, come: int, page_size: int) -> int | None:
    """Return how much to ask for after `come` have come; None for the usual page."""
    if limit is None:
        return None if page_size == PAGE_SIZE else page_size
    return min(limit - come, page_size)


def upload(path: str, query: Query, pieces: Iterator[bytes], size: int, wait_s: float) -> ApiAnswer:
    """Send a file of `size` bytes as it is read; raises `CommandError`.

    `wait_s` bounds the wait for the answer. What the daemon does not take is no fault of the sending: it may
    refuse before all is there, and its answer says why.
    """
    head = {"Content-Type": "application/jsonl", "Content-Length": str(size)}
    with _connect() as connection:
        connection.settimeout(ANSWER_TIMEOUT_S)
        _write(connection, _request("POST", _target(path, query), head, b"", is_whole=False))
        for piece in pieces:
            if not _write(connection, piece):
                break
        try:
            return _answer(connection, time.monotonic() + wait_s)
        except _Broken as broken:
            again = _("import it again to continue where it ended")
            raise CommandError(
                "failed", _("the connection to the daemon ended before it answered"), again
            ) from broken


def send_once(
    method: str, path: str, body: Mapping[str, object], wait_s: float = ANSWER_TIMEOUT_S
) -> ApiAnswer:
    """Change something, once, even if the answer is lost on the way; raises `CommandError`."""
    text = _utf_8(json.dumps(body, ensure_ascii=False))
    headers = {"Content-Type": "application/json", "Idempotency-Key": os.urandom(16).hex()}  # noqa: TID251 - any would do
    try:
        return _ask(method, path, text, headers, wait_s)
    except _Broken:
        return _ask_again(method, path, text, headers, wait_s)


def _ask_again(method: str, path: str, body: bytes, headers: Mapping[str, str], wait_s: float) -> ApiAnswer:
    """Repeat a write whose answer was lost; its Idempotency-Key makes that harmless."""
    try:
        return _ask(method, path, body, headers, wait_s)
    except _Broken as broken:
        raise _unknown_outcome() from broken
    except CommandError as refusal:
        raise _unknown_outcome() if refusal.code == "no_daemon" else refusal from None


def post(path: str, body: Mapping[str, object], wait_s: float = ANSWER_TIMEOUT_S) -> ApiAnswer:
    """Send a POST; see `send_once`."""
    return send_once("POST", path, body, wait_s)


def _unknown_outcome() -> CommandError:
    return CommandError(
        "failed",
        _("the connection to the daemon ended before it answered"),
        _("`placet log` shows whether it was done; doing it again is safe"),
    )


def _ask(method: str, target: str, body: bytes, headers: Mapping[str, str], wait_s: float) -> ApiAnswer:
    deadline_s = time.monotonic() + wait_s
    with _connect() as connection:
        _write(connection, _request(method, target, headers, body))
        return _answer(connection, deadline_s)


def _answer(connection: socket.socket, deadline_s: float) -> ApiAnswer:
    head, rest = _read_head(connection, deadline_s)
    fields = _fields(head)
    text = _read_rest(connection, rest, deadline_s)
    if len(text) < int(fields.get("content-length", 0)):
        raise _cut_short(len(text), int(fields["content-length"]))
    status = _http_status(head)
    if status >= 400:
        raise _refusal(status, text)
    left_out = fields.get("placet-left-out", "")
    return ApiAnswer(
        _decode_json(text),
        fields.get("date", ""),
        int(left_out) if left_out.isdigit() else 0,
        fields.get("placet-change", ""),
    )


def _refusal(status: int, text: bytes) -> CommandError:
    """Read an error answer; one that is no JSON still has its HTTP status."""
    try:
        return error_from_response(status, json.loads(text))
    except ValueError:
        return error_from_response(status, None)


def _connect() -> socket.socket:
    socket_path = find_paths().socket
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(_CONNECT_S)
        with short_address(socket_path) as address:
            connection.connect(address)
    except OSError as error:
        connection.close()
        raise _unreachable(socket_path, error) from error
    return connection


def _unreachable(socket_path: str, error: OSError) -> CommandError:
    if isinstance(error, PermissionError):
        return CommandError("forbidden", _("{socket} belongs to another user").format(socket=socket_path))
    if isinstance(error, TimeoutError | BlockingIOError):
        message = _("the daemon at {socket} does not accept connections").format(socket=socket_path)
        return CommandError("timeout", message)
    return no_daemon_error(socket_path)


def _request(
    method: str, target: str, headers: Mapping[str, str], body: bytes, *, is_whole: bool = True
) -> bytes:
    path = target.partition("?")[0]
    if path.endswith("/") or "//" in path:
        # A reference is one segment: the daemon would speak of a path, which no person has typed.
        hint = _("give a name, a title or the beginning of an id")
        raise CommandError("usage", _("an empty name matches nothing"), hint)
    lines = [f"{method} {target} HTTP/1.0", "Host: placet", "Accept: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if method != "GET" and is_whole:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body


def _write(connection: socket.socket, request: bytes) -> bool:
    """Send; return whether the daemon takes it."""
    try:
        connection.sendall(request)
        return True
    except TimeoutError as error:
        raise CommandError("timeout", _("the daemon did not accept the request")) from error
    except OSError:
        # The daemon may refuse a request before it is all there; its answer says why.
        return False


def _read(connection: socket.socket, deadline_s: float) -> bytes:
    try:
        # Zero would mean: do not wait at all, and fail in another way.
        connection.settimeout(max(deadline_s - time.monotonic(), 0.001))
        return connection.recv(_READ_BYTES)
    except TimeoutError as error:
        raise CommandError("timeout", _("the daemon did not answer in time")) from error
    except ConnectionError as error:
        raise _Broken(error.strerror or _("reset")) from error


def _read_head(connection: socket.socket, deadline_s: float) -> tuple[bytes, bytes]:
    raw = b""
    while b"\r\n\r\n" not in raw:
        piece = _read(connection, deadline_s)
        if not piece:
            raise _Broken(_("no answer came"))
        raw += piece
        if len(raw) > _HEAD_BYTES_MAX + _READ_BYTES:
            raise _no_http()
    head, _end, rest = raw.partition(b"\r\n\r\n")
    return head, rest


def _read_rest(connection: socket.socket, first: bytes, deadline_s: float) -> bytes:
    pieces, count = [first], len(first)
    while piece := _read(connection, deadline_s):
        pieces.append(piece)
        count += len(piece)
        if count > _ANSWER_BYTES_MAX:
            exceeds = _("the answer exceeds {size} MiB").format(size=_ANSWER_BYTES_MAX >> 20)
            raise CommandError("failed", exceeds)
    return b"".join(pieces)


def _fields(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines)
    return {name.lower(): value.strip() for name, _colon, value in pairs}


def _http_status(head: bytes) -> int:
    words = head.split(b" ", 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        raise _no_http()
    return int(words[1])


def _no_http() -> CommandError:
    return CommandError("failed", _("what answers at the daemon's socket does not speak HTTP"))


def _decode_json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise _Broken(_("not JSON: {text!r}").format(text=text[:40])) from error


def _target(path: str, query: Query | None) -> str:
    pairs = [(key, value) for key, value in (query or {}).items() if value is not None and value is not False]
    if not pairs:
        return path
    return path + "?" + "&".join(f"{key}={percent_encode(_as_text(value))}" for key, value in pairs)


def _as_text(value: object) -> str:
    return "1" if value is True else str(value)


def percent_encode(text: str) -> str:
    """Percent-encode `text` for one segment of a path, or one value of a query (RFC 3986)."""
    if text.isascii() and text.isalnum():
        return text
    return "".join(map(_quoted_byte, _utf_8(text)))


def _utf_8(text: str) -> bytes:
    """Encode what was typed; a script can pass bytes that are no UTF-8. Raises `CommandError`."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        around = text[max(0, error.start - _SEEN_CHARS) : error.end + _SEEN_CHARS]
        raise CommandError(
            "usage",
            _("not UTF-8: {text}").format(text=around.encode(errors="replace").decode()),
            _("type it anew in a terminal that is set to UTF-8"),
        ) from error


def _quoted_byte(byte: int) -> str:
    letter = chr(byte)
    is_kept = byte < 128 and (letter.isalnum() or letter in "-_.~")
    return letter if is_kept else f"%{byte:02X}"


def follow_events(path: str, after: str, quiet_s: float) -> Iterator[StreamEvent]:
    """Yield a stream's events beyond the feed position `after`, for ever.

    A stream that ends, or that is quiet for `quiet_s`, is asked for again from
    where it was, so an event is neither missed nor waited for on a dead line.
    Raises `Refusal` when no daemon answers any more.
    """
    while True:
        for event in _stream(path, after, quiet_s):
            after = event.id or after
            yield event
        time.sleep(_BETWEEN_STREAMS_S)  # noqa: TID251 - nothing tells that the daemon would hold a stream now


def _stream(path: str, after: str, quiet_s: float) -> Iterator[StreamEvent]:
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after else {})
    with _connect() as connection:
        _write(connection, _request("GET", path, headers, b""))
        try:
            head, rest = _read_head(connection, time.monotonic() + ANSWER_TIMEOUT_S)
        except _Broken:
            return
        if (status := _http_status(head)) >= 400:
            raise _refusal(status, _read_rest(connection, rest, time.monotonic() + ANSWER_TIMEOUT_S))
        yield from parse_events(_lines(connection, rest, quiet_s))


def _lines(connection: socket.socket, rest: bytes, quiet_s: float) -> Iterator[str]:
    connection.settimeout(quiet_s)
    while True:
        *lines, rest = rest.split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r").decode("utf-8", "replace")
        try:
            piece = connection.recv(_READ_BYTES)
        except (TimeoutError, ConnectionError):
            return
        if not piece or len(rest) > _LINE_BYTES_MAX:
            return
        rest += piece


def parse_events(lines: Iterator[str]) -> Iterator[StreamEvent]:
    """Read server-sent events (WHATWG HTML, 9.2.6); one cut short is not yielded."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if "data" in fields:
                yield StreamEvent(fields.get("id", ""), fields.get("event", "message"), fields["data"])
            fields = {}
            continue
        name, _colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data" and "data" in fields:
            value = fields["data"] + "\n" + value
        if name:
            fields[name] = value


def parse_http_date_s(text: str) -> float | None:
    """Read the Date header of an answer (RFC 9110, 5.6.7) as Unix time."""
    from datetime import UTC, datetime

    words = text.replace(":", " ").split()
    try:
        _weekday, day, month, year, hour, minute, second, _zone = words
        moment = datetime(
            int(year),
            _HTTP_MONTHS.index(month) + 1,
            int(day),
            int(hour),
            int(minute),
            int(second),
            tzinfo=UTC,
        )
    except ValueError:
        return None
    return moment.timestamp()
