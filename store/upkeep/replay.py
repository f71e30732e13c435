"""The fold of a whole log, from its first commit, into tables that were empty.

Never appends to the log, and never reads the tables that it is compared with.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import apsw

from store.fold.table_writer import HASH_MODULUS, TableWriter
from store.log.commit_log import CommitLog
from syncproto.commit import DecodedCommit

DERIVED_TABLES: Final[dict[str, tuple[str, ...]]] = {
    "entity": ("id",),
    "conditional": ("entity",),
    "history": ("entity", "seq"),
    "effect": ("item", "entity"),
    "named": ("item", "entity"),
    "relation": ("target", "name", "owner"),
    "proposal": ("item", "seq", "change_set", "position"),
    "opinion": ("item", "seq", "decision"),
    "overruled": ("item", "whose", "decision"),
    "tally": ("item", "whose", "verdict"),
    "item": ("id",),
    "requirement": ("item",),
    "passkey": ("entity",),
}
"""The tables that follow from the log, and the columns that identify their rows."""

# Different whenever a log is folded again: numbers of rows, and the position at which a page ended.
_LOCAL = frozenset({"no", "changed"})
_OPERATIONS_AT_ONCE = 2_000

SqlRow = tuple[Any, ...]


class _LogUpTo(CommitLog):
    """A log that reports as its end the position that the fold has reached."""

    position = 0

    def feed_end(self) -> int:
        """Return the position that has been reached."""
        return self.position


class Replay:
    """The fold of a log, commit by commit; `state_sum` and `entities` are those of what was flushed."""

    def __init__(self, db: apsw.Connection, into: apsw.Connection) -> None:
        self._log = _LogUpTo(db)
        self._folding = TableWriter(into, self._log)
        self._waiting = 0
        self.state_sum = 0
        self.entities = 0

    def add_commit(self, received: DecodedCommit, seq: int) -> None:
        """Fold the next commit."""
        self._log.position = seq
        self._folding.add_commit(received, seq)
        self._waiting += len(received.commit.operations)
        if self._waiting >= _OPERATIONS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what was folded."""
        grown, added = self._folding.flush()
        self.state_sum = (self.state_sum + grown) % HASH_MODULUS
        self.entities += added
        self._waiting = 0


class RowDifference(NamedTuple):
    """A row of a table that one side lacks (None there), or the columns in which two rows differ."""

    table: str
    key: SqlRow
    kept: SqlRow | None
    folded: SqlRow | None
    columns: tuple[str, ...]


def table_differences(connection: apsw.Connection, folded: apsw.Connection) -> Iterator[RowDifference]:
    """Compare the tables of a store with those folded again, with one row of each in memory."""
    for table, key in DERIVED_TABLES.items():
        yield from _compare_table(table, key, connection, folded)


def _compare_table(
    table: str, key: tuple[str, ...], connection: apsw.Connection, folded: apsw.Connection
) -> Iterator[RowDifference]:
    columns = _columns(folded, table)
    places = [columns.index(name) for name in key]
    query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(key)}"
    mine: Iterator[SqlRow] = iter(connection.execute(query))
    folded_rows: Iterator[SqlRow] = iter(folded.execute(query))
    kept_row, other = next(mine, None), next(folded_rows, None)
    while kept_row is not None or other is not None:
        kept_key = None if kept_row is None else tuple(kept_row[place] for place in places)
        folded_key = None if other is None else tuple(other[place] for place in places)
        if folded_key is None or (kept_key is not None and kept_key < folded_key):
            assert kept_key is not None
            if not _is_unfilled(table, kept_row):
                yield RowDifference(table, kept_key, kept_row, None, ())
            kept_row = next(mine, None)
        elif kept_key is None or folded_key < kept_key:
            yield RowDifference(table, folded_key, None, other, ())
            other = next(folded_rows, None)
        else:
            assert kept_row is not None
            assert other is not None
            if kept_row != other and not _is_unfilled(table, kept_row):
                differing = [name for name, a, b in zip(columns, kept_row, other, strict=True) if a != b]
                yield RowDifference(table, kept_key, kept_row, other, tuple(differing))
            kept_row, other = next(mine, None), next(folded_rows, None)


def _is_unfilled(table: str, row: SqlRow | None) -> bool:
    """Return whether an earlier version, which kept no conditional folds, left a row to be filled."""
    return table == "conditional" and row is not None and row[-1] == b""


def _columns(db: apsw.Connection, table: str) -> list[str]:
    rows: Any = db.execute(f"PRAGMA table_info ({table})")
    return [name for _, name, *_ in rows if name not in _LOCAL]
