"""Runs one request: reads it as its route declares, calls the use case, writes the answer.

Never knows what a use case does; it sees to it that a write runs at most once for its key.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar
from weakref import WeakValueDictionary

import msgspec
from aiohttp import web
from msgspec import Struct

from daemon.control.meter import Meter
from daemon.control.once import HEADER, Once
from daemon.control.routes import Asks, Call, Reads, Route, Streams, Writes
from daemon.disk import Floor
from daemon.journal.errors import Code, Refused, usage
from store.threads import StoreThreads
from store.transaction import Transaction

S = TypeVar("S", bound=Struct)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Dispatch:
    """Turns routes into handlers on one store."""

    def __init__(self, store: StoreThreads, floor: Floor, meter: Meter | None = None) -> None:
        self._store = store
        self._floor = floor
        self._meter = meter or Meter(lambda: 0.0)
        # Locks live as long as a request that holds or awaits them.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def handler(self, route: Route) -> Handler:
        """Return the aiohttp handler of a route."""

        async def handle(request: web.Request) -> web.StreamResponse:
            is_read_there = isinstance(route.how, Streams) and route.how.takes is not None
            raw = b"" if is_read_there else await _body(request, route.bytes_max)
            call = Call(request.match_info, _json(raw, route.body), _query(request.query, route.query))
            writes = route.writes(call.body)
            if writes:
                self._require_room()
            if isinstance(route.how, Streams):
                return await route.how.run(request, call)
            with self._meter.measured("write" if writes else "read"):
                status, body = await self._answer(route, call, _once(request, raw, route) if writes else None)
            return web.Response(status=status, body=body, content_type="application/json")

        return handle

    async def _answer(self, route: Route, call: Call[Struct, Struct], once: Once | None) -> tuple[int, bytes]:
        how = route.how
        if isinstance(how, Reads):
            reads = how.run
            return await self._store.read(lambda snapshot: _encoded(route, reads(snapshot, call)))
        if isinstance(how, Writes):
            writes = how.run
            return await self._store.write(lambda tx: _written(route, writes, tx, call, once))
        assert isinstance(how, Asks)
        return await self._asked(route, how.run, call, once)

    async def _asked(
        self,
        route: Route,
        run: Callable[[Call[Struct, Struct]], Awaitable[object]],
        call: Call[Struct, Struct],
        once: Once | None,
    ) -> tuple[int, bytes]:
        """Run what has transactions of its own; requests with the same key wait for each other."""
        if once is None:
            return _encoded(route, await run(call))
        async with self._turns.setdefault(once.key, asyncio.Lock()):
            before = await self._store.read(once.answered)
            if before is not None:
                return before
            status, body = _encoded(route, await run(call))
            await self._store.write(lambda tx: once.keep(tx, status, body))
            return status, body

    def _require_room(self) -> None:
        shortfall = self._floor.shortfall()
        if shortfall is not None:
            raise Refused(Code.DISK, shortfall, "free some space; reading still works")


def _written(
    route: Route,
    run: Callable[[Transaction, Call[Struct, Struct]], object],
    tx: Transaction,
    call: Call[Struct, Struct],
    once: Once | None,
) -> tuple[int, bytes]:
    """Run a use case and keep its answer in the same transaction: a crash leaves both or neither."""
    before = once.answered(tx) if once else None
    if before is not None:
        return before
    answer = _encoded(route, run(tx, call))
    if once:
        once.keep(tx, *answer)
    return answer


def _encoded(route: Route, answer: object) -> tuple[int, bytes]:
    return route.status, msgspec.json.encode(answer)


def _once(request: web.Request, raw: bytes, route: Route) -> Once | None:
    key = request.headers.get(HEADER)
    if key is None or not route.keeps_answers:
        return None
    return Once(key, [request.method.encode(), request.raw_path.encode(), raw])


async def _body(request: web.Request, bytes_max: int) -> bytes:
    """Read a body of at most `bytes_max`; what is longer is not read to its end."""
    raw = bytearray()
    async for piece in request.content.iter_chunked(1 << 16):
        raw += piece
        if len(raw) > bytes_max:
            raise usage(f"a request of more than {bytes_max} bytes", "send it in parts")
    return bytes(raw)


def _json(raw: bytes, shape: type[S]) -> S:
    try:
        return msgspec.json.decode(raw or b"{}", type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise usage(f"the request's body: {error}") from None


def _query(query: Mapping[str, str], shape: type[S]) -> S:
    given = list(query.items())
    if len(dict(given)) < len(given):
        raise usage("the request's query: a parameter is given twice")
    try:
        return msgspec.convert(dict(given), shape, strict=False)
    except msgspec.ValidationError as error:
        raise usage(f"the request's query: {error}") from None
