"""What a route of the control API is: a path, typed structures, and the use case behind them.

Never does I/O: dispatch runs a route, openapi describes it, both from the same entry of one table.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from aiohttp import web
from msgspec import Struct

from store.snapshot import Snapshot
from store.transaction import Transaction

REQUEST_BYTES_MAX = 1 << 20


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
class Reads:
    """Runs on one consistent snapshot."""

    run: Callable[[Snapshot, Call[Any, Any]], object]


@dataclass(frozen=True, slots=True)
class Writes:
    """Runs in one transaction, which also keeps the answer for its Idempotency-Key: both or neither."""

    run: Callable[[Transaction, Call[Any, Any]], object]


@dataclass(frozen=True, slots=True)
class Asks:
    """Runs on the event loop and arranges its own transactions.

    `kept`: the answer may be stored for an Idempotency-Key (never where it holds a secret).
    """

    run: Callable[[Call[Any, Any]], Awaitable[object]]
    kept: bool = True


@dataclass(frozen=True, slots=True)
class Streams:
    """Answers by itself, for as long as the client listens.

    `takes`: the media type of a body that it also reads by itself, piece by piece; and where it writes, it
    asks for the room for that itself. `also`: what its stream is made of beside the answer that is declared.
    """

    run: Callable[[web.Request, Call[Any, Any]], Awaitable[web.StreamResponse]]
    media: str
    takes: str | None = None
    also: type[Struct] | None = None


def _never(body: Any) -> bool:
    del body
    return False


@dataclass(frozen=True, slots=True)
class Route:
    """One line of the table. `answer` is any type that msgspec can describe."""

    method: str
    path: str
    summary: str
    how: Reads | Writes | Asks | Streams
    answer: Any
    body: type[Struct] = Nothing
    query: type[Struct] = Nothing
    status: int = 200
    bytes_max: int = REQUEST_BYTES_MAX
    only_looks: Callable[[Any], bool] = _never
    """Whether a request with this body writes nothing, although others to the same route do."""

    @property
    def changes(self) -> bool:
        """Whether a request may change anything."""
        return self.method != "GET"

    @property
    def keeps_answers(self) -> bool:
        """Whether it heeds an Idempotency-Key: a retry gets the answer that was kept."""
        if isinstance(self.how, Asks):
            return self.changes and self.how.kept
        return self.changes and not isinstance(self.how, Streams)

    def writes(self, body: Struct) -> bool:
        """Whether a request with this body may write, so that the disk floor and Idempotency-Key apply."""
        return self.changes and not self.only_looks(body)
