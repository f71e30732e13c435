"""Runs one request: decodes it as its route declares, calls the use case, encodes the answer.

Never knows what a use case does; it ensures that a write runs at most once per idempotency key.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar
from weakref import WeakValueDictionary

import msgspec
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from msgspec import Struct

from daemon.control import list_answers
from daemon.control.list_answers import EncodedList
from daemon.control.request_metrics import RequestMeter
from daemon.control.route import (
    IDEMPOTENCY_HEADER,
    IDEMPOTENCY_KEY_PATTERN,
    AsyncHandler,
    Call,
    ReadHandler,
    Route,
    StreamHandler,
    WriteHandler,
)
from daemon.disk import READING_STILL_WORKS, DiskFloor
from daemon.journal.references.change_names import CHANGE_HEADER, span_names
from daemon.refusal import RefusalCode, Refused, usage_error
from store.local import idempotency
from store.local.idempotency import StoredResponse
from store.sentence import sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads, note_writes
from store.transaction import Transaction

S = TypeVar("S", bound=Struct)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_BODY_UNREADABLE = sentence("body-unreadable", "the request's body cannot be read")
_PLACE_CHARS_MAX = 100
_KEY = re.compile(IDEMPOTENCY_KEY_PATTERN)


class Answer(NamedTuple):
    """A status and a body, and the name of the change that the request made, empty if it made none."""

    status: int
    body: bytes
    change: str = ""


class KeyedRequest:
    """A write with an idempotency key: the key, and a digest of the whole request."""

    __slots__ = ("_key", "_request")

    def __init__(self, key: str, parts: Iterable[bytes]) -> None:
        self._key = key
        digest = hashlib.sha256()
        for part in parts:
            # With the lengths, no two divisions of the same bytes have one digest.
            digest.update(len(part).to_bytes(8, "big") + part)
        self._request = digest.digest()

    @property
    def key(self) -> str:
        """The key, by which requests of one kind wait for each other."""
        return self._key

    def stored_response(self, snapshot: Snapshot) -> Answer | None:
        """Return the stored answer. Raises Refused if the key was used for another request."""
        stored = idempotency.find_response(snapshot, self._key)
        if stored is None:
            return None
        if stored.request != self._request:
            raise Refused(
                RefusalCode.CONFLICT,
                sentence(
                    "idempotency-key-reused",
                    "Idempotency-Key {key!r} was used for another request",
                    key=self._key,
                ),
                sentence("use-new-key", "use a new key"),
            )
        return Answer(stored.status, stored.body, stored.change)

    def store_response(self, transaction: Transaction, answer: Answer) -> None:
        """Store the answer for a retry."""
        idempotency.store_response(transaction, self._key, StoredResponse(self._request, *answer))


class Dispatcher:
    """Turns routes into handlers on one store."""

    def __init__(self, store: StoreThreads, floor: DiskFloor, meter: RequestMeter | None = None) -> None:
        self._store = store
        self._floor = floor
        self._meter = meter or RequestMeter(lambda: 0.0)
        # A lock lives as long as a request holds it or waits for it.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def handler(self, route: Route) -> Handler:
        """Return the aiohttp handler of a route."""

        async def handle(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Content-Encoding", "identity") != "identity":
                # No client packs what it sends, and a small packed body may unpack to any size.
                raise usage_error(_BODY_UNREADABLE)
            streams_body = (
                isinstance(route.handler, StreamHandler) and route.handler.request_media is not None
            )
            raw = b"" if streams_body else await _body(request, route.bytes_max)
            pairs = _distinct_pairs(request.query)
            first, pairs = list_answers.take_first(pairs) if route.lists else (0, pairs)
            call = Call(request.match_info, _json(raw, route.body), _query(pairs, route.query))
            writes = route.may_write(call.body)
            if writes:
                self._require_room()
            keyed = _keyed_request(request, raw, route, writes)
            if isinstance(route.handler, StreamHandler):
                with note_writes() as spans:
                    response = await route.handler.run(request, call)
                if spans and not response.prepared:
                    response.headers[CHANGE_HEADER] = span_names(spans)
                return response
            with self._meter.measure("write" if writes else "read"):
                if route.lists:
                    body, left_out = await self._list(route, call, first)
                    headers = {list_answers.LEFT_OUT_HEADER: str(left_out)} if left_out else {}
                    return web.Response(
                        status=route.status, body=body, headers=headers, content_type="application/json"
                    )
                answer = await self._answer(route, call, keyed)
            headers = {CHANGE_HEADER: answer.change} if answer.change else {}
            return web.Response(
                status=answer.status, body=answer.body, headers=headers, content_type="application/json"
            )

        return handle

    async def _list(self, route: Route, call: Call[Struct, Struct], first: int) -> EncodedList:
        """Return what a list has from an element on, as much as an answer has room for."""
        handler = route.handler
        if isinstance(handler, ReadHandler):
            reads = handler.run
            return await self._store.read(
                lambda snapshot: list_answers.encode_list(_as_list(reads(snapshot, call)), first)
            )
        assert isinstance(handler, AsyncHandler)
        return list_answers.encode_list(_as_list(await handler.run(call)), first)

    async def _answer(self, route: Route, call: Call[Struct, Struct], keyed: KeyedRequest | None) -> Answer:
        handler = route.handler
        if isinstance(handler, ReadHandler):
            reads = handler.run
            return await self._store.read(lambda snapshot: _encode_answer(route, reads(snapshot, call)))
        if isinstance(handler, WriteHandler):
            writes = handler.run
            return await self._store.write(lambda tx: _run_in_transaction(route, writes, tx, call, keyed))
        assert isinstance(handler, AsyncHandler)
        return await self._run_handler(route, handler.run, call, keyed)

    async def _run_handler(
        self,
        route: Route,
        run: Callable[[Call[Struct, Struct]], Awaitable[object]],
        call: Call[Struct, Struct],
        keyed: KeyedRequest | None,
    ) -> Answer:
        """Run a handler that opens its own transactions; requests with the same key wait for each other."""
        if keyed is None:
            return await self._run_noted(route, run, call)
        async with self._turns.setdefault(keyed.key, asyncio.Lock()):
            # Read in turn: a retry that arrives while the first request runs waits for it and gets its
            # answer.
            stored = await self._store.read(keyed.stored_response)
            if stored is not None:
                return stored
            answer = await self._run_noted(route, run, call)
            await self._store.write(lambda tx: keyed.store_response(tx, answer))
            return answer

    @staticmethod
    async def _run_noted(
        route: Route, run: Callable[[Call[Struct, Struct]], Awaitable[object]], call: Call[Struct, Struct]
    ) -> Answer:
        """Run such a handler, and name all that it wrote."""
        with note_writes() as spans:
            answer = _encode_answer(route, await run(call))
        return answer._replace(change=span_names(spans))

    def _require_room(self) -> None:
        shortfall = self._floor.shortfall()
        if shortfall is not None:
            raise Refused(RefusalCode.DISK, shortfall, READING_STILL_WORKS)


def _run_in_transaction(
    route: Route,
    run: Callable[[Transaction, Call[Struct, Struct]], object],
    tx: Transaction,
    call: Call[Struct, Struct],
    keyed: KeyedRequest | None,
) -> Answer:
    """Run a use case and store its answer in the same transaction: a crash leaves both or neither."""
    stored = keyed.stored_response(tx) if keyed else None
    if stored is not None:
        return stored
    answer = _encode_answer(route, run(tx, call))
    if tx.written is not None:
        answer = answer._replace(change=span_names([tx.written]))
    if keyed:
        keyed.store_response(tx, answer)
    return answer


def _as_list(answer: object) -> list[object]:
    assert isinstance(answer, list), "the route declares a list"
    return answer


def _encode_answer(route: Route, answer: object) -> Answer:
    return Answer(route.status, msgspec.json.encode(answer))


def _keyed_request(request: web.Request, raw: bytes, route: Route, writes: bool) -> KeyedRequest | None:
    """Return a write with its key; None without one, or if the answer is not kept.

    Raises Refused for a key that is none, to whatever route that may write, also if this request writes
    nothing: its client counts on it all the same.
    """
    key = request.headers.get(IDEMPOTENCY_HEADER)
    if key is None or not route.is_mutation:
        return None
    if not _KEY.fullmatch(key):
        raise usage_error(
            sentence("idempotency-key-form", "Idempotency-Key takes 1 to 128 visible ASCII characters")
        )
    if not (writes and route.stores_responses):
        return None
    # The raw path includes the query: the same key with another query is another request.
    return KeyedRequest(key, [request.method.encode(), request.raw_path.encode(), raw])


async def _body(request: web.Request, bytes_max: int) -> bytes:
    """Read a body of at most `bytes_max` bytes. Raises Refused for a longer one, without reading it all."""
    raw = bytearray()
    try:
        async for piece in request.content.iter_chunked(1 << 16):
            raw += piece
            if len(raw) > bytes_max:
                raise usage_error(
                    sentence("request-too-long", "the request has more than {count} bytes", count=bytes_max),
                    sentence("send-in-parts", "send it in parts"),
                )
    except (HttpProcessingError, web.PayloadAccessError, web.RequestPayloadError) as fault:
        # It was cut off, or it is not what its Transfer-Encoding says.
        raise usage_error(_BODY_UNREADABLE) from fault
    return bytes(raw)


def _json(raw: bytes, shape: type[S]) -> S:
    try:
        return msgspec.json.decode(raw or b"{}", type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        if place := _half_character(raw):
            raise usage_error(
                sentence(
                    "body-half-character",
                    "the request's body: the text at {place} has one half of a character",
                    place=place,
                )
            ) from None
        raise usage_error(sentence("body-fault", "the request's body: {fault}", fault=str(error))) from None


def _half_character(raw: bytes) -> str:
    """Return where a body has a text with a lone surrogate, such as `$.title`; empty if it has none.

    The library that reads bodies says of one that they were truncated.
    """
    place = "$"
    try:
        left = [(place, json.loads(raw))]
        while left:
            place, value = left.pop()
            if isinstance(value, dict):
                left += ((place, name) for name in value)
                left += ((f"{place}.{name}", member) for name, member in value.items())
            elif isinstance(value, list):
                left += ((f"{place}[{index}]", member) for index, member in enumerate(value))
            elif isinstance(value, str) and not value.isascii():
                value.encode()
    except UnicodeEncodeError:
        return place.encode(errors="replace").decode()[:_PLACE_CHARS_MAX]
    except (ValueError, RecursionError):
        return ""
    return ""


def _distinct_pairs(query: Mapping[str, str]) -> dict[str, str]:
    pairs = list(query.items())
    # Which of the two was meant would be a guess.
    if len(dict(pairs)) < len(pairs):
        raise usage_error(sentence("query-twice", "the request's query: a parameter is given twice"))
    return dict(pairs)


def _query(pairs: Mapping[str, str], shape: type[S]) -> S:
    try:
        return msgspec.convert(pairs, shape, strict=False)
    except msgspec.ValidationError as error:
        raise usage_error(sentence("query-fault", "the request's query: {fault}", fault=str(error))) from None
