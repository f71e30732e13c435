"""Routes that only pass a request on to one use case.

Never decides anything: the request is validated before, and the answer is encoded after. The types ensure
that a use case accepts what its route declares and returns what it promises.
"""

from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from daemon.control.route import ReadHandler, Route, WriteHandler
from store.snapshot import Snapshot
from store.transaction import Transaction

A = TypeVar("A")
B = TypeVar("B", bound=Struct)
Q = TypeVar("Q", bound=Struct)


def read(path: str, summary: str, use: Callable[[Snapshot], A], answer: type[A]) -> Route:
    """Return a GET route that answers with `use(snapshot)`."""
    return Route("GET", path, summary, ReadHandler(lambda snapshot, _: use(snapshot)), answer)


def read_ref(path: str, summary: str, use: Callable[[Snapshot, str], A], answer: type[A]) -> Route:
    """Return a GET route that answers with `use(snapshot, ref)`."""
    return Route("GET", path, summary, ReadHandler(lambda snapshot, call: use(snapshot, call.ref)), answer)


def read_query(
    path: str, summary: str, use: Callable[[Snapshot, Q], A], answer: type[A], query: type[Q]
) -> Route:
    """Return a GET route that answers with `use(snapshot, query)`."""
    handler = ReadHandler(lambda snapshot, call: use(snapshot, call.query))
    return Route("GET", path, summary, handler, answer, query=query)


def read_ref_query(
    path: str, summary: str, use: Callable[[Snapshot, str, Q], A], answer: type[A], query: type[Q]
) -> Route:
    """Return a GET route that answers with `use(snapshot, ref, query)`."""
    handler = ReadHandler(lambda snapshot, call: use(snapshot, call.ref, call.query))
    return Route("GET", path, summary, handler, answer, query=query)


def write_ref(
    method: str, path: str, summary: str, use: Callable[[Transaction, str], A], answer: type[A]
) -> Route:
    """Return a route that answers with `use(tx, ref)`."""
    return Route(method, path, summary, WriteHandler(lambda tx, call: use(tx, call.ref)), answer)


def write_body(  # noqa: PLR0917 - the order is that of Route
    method: str,
    path: str,
    summary: str,
    use: Callable[[Transaction, B], A],
    answer: type[A],
    body: type[B],
    *,
    status: int = 200,
) -> Route:
    """Return a route that answers with `use(tx, body)`."""
    handler = WriteHandler(lambda tx, call: use(tx, call.body))
    return Route(method, path, summary, handler, answer, body, status=status)


def write_ref_body(  # noqa: PLR0917 - the order is that of Route
    method: str,
    path: str,
    summary: str,
    use: Callable[[Transaction, str, B], A],
    answer: type[A],
    body: type[B],
    *,
    status: int = 200,
) -> Route:
    """Return a route that answers with `use(tx, ref, body)`."""
    handler = WriteHandler(lambda tx, call: use(tx, call.ref, call.body))
    return Route(method, path, summary, handler, answer, body, status=status)
