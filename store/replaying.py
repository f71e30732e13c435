"""Folding a whole log again, from its first commit, into tables that were empty.

Never appends to the log, and never asks what the tables that it is held against say.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import apsw

from store.folding import HASH_MODULUS, Folding
from store.log import Log
from syncproto.commit import Received

TABLES: Final[dict[str, tuple[str, ...]]] = {
    "entity": ("id",),
    "history": ("entity", "seq"),
    "effect": ("item", "entity"),
    "relation": ("target", "name", "owner"),
    "proposal": ("item", "seq", "change_set", "position"),
    "opinion": ("item", "seq", "decision"),
    "item": ("id",),
}
"""The tables that follow from the log, and what their rows are known by."""

# Local to a store, and so different where a log is folded again: numbers of rows, and where a page ended.
_LOCAL = frozenset({"no", "changed"})
_OPERATIONS_AT_ONCE = 2_000

Row = tuple[Any, ...]


class _AsOf(Log):
    """A log that ends, for who asks, where the folding has come to."""

    position = 0

    def end(self) -> int:
        """Return the position that has been reached."""
        return self.position


class Replay:
    """The fold of a log, commit after commit; `state_sum` and `entities` are those of what was flushed."""

    def __init__(self, db: apsw.Connection, into: apsw.Connection) -> None:
        self._log = _AsOf(db)
        self._folding = Folding(into, self._log)
        self._waiting = 0
        self.state_sum = 0
        self.entities = 0

    def take(self, received: Received, seq: int) -> None:
        """Fold the next commit."""
        self._log.position = seq
        self._folding.take(received, seq)
        self._waiting += len(received.commit.operations)
        if self._waiting >= _OPERATIONS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what has been folded."""
        grown, added = self._folding.flush()
        self.state_sum = (self.state_sum + grown) % HASH_MODULUS
        self.entities += added
        self._waiting = 0


class Difference(NamedTuple):
    """A row of a table that one side lacks (None), or columns in which the two sides differ."""

    table: str
    key: Row
    kept: Row | None
    folded: Row | None
    columns: tuple[str, ...]


def differences(kept: apsw.Connection, folded: apsw.Connection) -> Iterator[Difference]:
    """Compare what a store keeps with what was folded anew, holding no more than a row of each."""
    for table, key in TABLES.items():
        yield from _compared(table, key, kept, folded)


def _compared(
    table: str, key: tuple[str, ...], kept: apsw.Connection, folded: apsw.Connection
) -> Iterator[Difference]:
    columns = _columns(folded, table)
    places = [columns.index(name) for name in key]
    query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(key)}"
    mine: Iterator[Row] = iter(kept.execute(query))
    made: Iterator[Row] = iter(folded.execute(query))
    one, other = next(mine, None), next(made, None)
    while one is not None or other is not None:
        here = None if one is None else tuple(one[place] for place in places)
        there = None if other is None else tuple(other[place] for place in places)
        if there is None or (here is not None and here < there):
            assert here is not None
            yield Difference(table, here, one, None, ())
            one = next(mine, None)
        elif here is None or there < here:
            yield Difference(table, there, None, other, ())
            other = next(made, None)
        else:
            assert one is not None
            assert other is not None
            if one != other:
                differing = [name for name, a, b in zip(columns, one, other, strict=True) if a != b]
                yield Difference(table, here, one, other, tuple(differing))
            one, other = next(mine, None), next(made, None)


def _columns(db: apsw.Connection, table: str) -> list[str]:
    rows: Any = db.execute(f"PRAGMA table_info ({table})")
    return [name for _, name, *_ in rows if name not in _LOCAL]
