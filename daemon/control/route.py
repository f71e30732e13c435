"""What a route of the control API is: a path, typed structures, and the use case behind them.

Never does I/O: dispatch runs a route, openapi describes it, both from the same entry of one table.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from aiohttp import web
from msgspec import Struct

from daemon.control import list_answers
from store.snapshot import Snapshot
from store.transaction import Transaction

REQUEST_BYTES_MAX = 1 << 20
CREATED = 201
IDEMPOTENCY_HEADER: Final = "Idempotency-Key"
IDEMPOTENCY_KEY_PATTERN: Final = r"[\x21-\x7e]{1,128}"


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """A request without a body, or without a query."""


B = TypeVar("B", bound=Struct)
Q = TypeVar("Q", bound=Struct)


@dataclass(frozen=True, slots=True)
class Call(Generic[B, Q]):
    """A request as its route declared it, already validated."""

    path: Mapping[str, str]
    body: B
    query: Q

    @property
    def ref(self) -> str:
        """The `{ref}` of the path."""
        return self.path["ref"]


@dataclass(frozen=True, slots=True)
class ReadHandler:
    """Runs on one consistent snapshot."""

    run: Callable[[Snapshot, Call[Any, Any]], object]


@dataclass(frozen=True, slots=True)
class WriteHandler:
    """Runs in one transaction, which also keeps the answer for its Idempotency-Key: both or neither."""

    run: Callable[[Transaction, Call[Any, Any]], object]


@dataclass(frozen=True, slots=True)
class AsyncHandler:
    """Runs on the event loop and arranges its own transactions.

    `stores_response`: the answer may be stored for an Idempotency-Key (never if it contains a secret).
    """

    run: Callable[[Call[Any, Any]], Awaitable[object]]
    stores_response: bool = True


@dataclass(frozen=True, slots=True)
class StreamHandler:
    """Answers by itself, for as long as the client listens.

    `request_media` is the media type of a body that the handler reads itself, piece by piece. If it writes,
    it checks the free space itself. `other_responses` are what its stream contains besides `response`.
    """

    run: Callable[[web.Request, Call[Any, Any]], Awaitable[web.StreamResponse]]
    response_media: str
    request_media: str | None = None
    other_responses: tuple[type[Struct], ...] = ()


def _never(body: Any) -> bool:
    del body
    return False


@dataclass(frozen=True, slots=True)
class Route:
    """One line of the table. `response` is any type that msgspec can describe."""

    method: str
    path: str
    summary: str
    handler: ReadHandler | WriteHandler | AsyncHandler | StreamHandler
    response: Any
    body: type[Struct] = Nothing
    query: type[Struct] = Nothing
    status: int = 200
    bytes_max: int = REQUEST_BYTES_MAX
    writes_nothing: Callable[[Any], bool] = _never
    """Whether a request with this body writes nothing, although others to the same route do."""

    @property
    def is_mutation(self) -> bool:
        """Whether a request may change anything."""
        return self.method != "GET"

    @property
    def lists(self) -> bool:
        """Whether it answers a list, of which one answer has as much as it has bytes for."""
        is_stream = isinstance(self.handler, StreamHandler)
        return list_answers.is_list(self.response) and not self.is_mutation and not is_stream

    @property
    def stores_responses(self) -> bool:
        """Whether the route applies an Idempotency-Key: a retry receives the stored answer."""
        if isinstance(self.handler, AsyncHandler):
            return self.is_mutation and self.handler.stores_response
        return self.is_mutation and not isinstance(self.handler, StreamHandler)

    def may_write(self, body: Struct) -> bool:
        """Whether a request with this body may write, so that the disk floor and Idempotency-Key apply."""
        return self.is_mutation and not self.writes_nothing(body)
