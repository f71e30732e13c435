"""The raw limit: the same rows into the same tables in transactions of the same size, by apsw alone.

Never folds, signs or checks anything; it copies what a store wrote, as fast as SQLite takes it.
"""

import time
from pathlib import Path

from store import database
from store.fold import load
from store.search import document

TABLES = (
    "replica",
    "branch",
    "feed",
    "entity",
    "history",
    "effect",
    "relation",
    "proposal",
    "opinion",
    "item",
)
_STATES = "SELECT no, id, state FROM entity"


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Read every row that a store wrote."""
    source = database.connect(path, writes=False)
    found = {table: list(source.execute(f"SELECT * FROM {table}")) for table in TABLES}
    # The index of words keeps no rows of its own to be read again.
    words = [(no, document(one, load(state))) for no, one, state in source.execute(_STATES)]
    found["search (rowid, name, title, text, tags, label)"] = [(no, *one) for no, one in words if one]
    source.close()
    return found


def replay_s(rows: dict[str, list[tuple[object, ...]]], into: Path, per_transaction: int) -> float:
    """Insert the rows again, `per_transaction` feed rows a transaction with their share of the others.

    Returns seconds. The one row that a store updates in each transaction is updated here too.
    """
    target = database.connect(into, writes=True)
    database.migrate(target, into)
    target.execute("INSERT INTO standing VALUES (1, x'00', NULL, NULL, x'00', 0, 0, 0)")
    target.execute("PRAGMA foreign_keys = OFF").fetchall()
    commits = max(1, len(rows["feed"]))
    transactions = -(-commits // per_transaction)
    inserts = {
        table: f"INSERT INTO {table} VALUES ({', '.join('?' * len(held[0]))})"
        for table, held in rows.items()
        if held
    }
    start = time.perf_counter()
    for turn in range(transactions):
        target.execute("BEGIN IMMEDIATE")
        for table, insert in inserts.items():
            held = rows[table]
            share = slice(len(held) * turn // transactions, len(held) * (turn + 1) // transactions)
            target.executemany(insert, held[share])
        target.execute("UPDATE standing SET stamp_ms = ?, entities = ?", (turn, turn))
        target.execute("COMMIT")
    taken = time.perf_counter() - start
    target.close()
    return taken


def single_commit_s(path: Path, payload: bytes, count: int) -> float:
    """Make `count` durable transactions of one row each; return seconds."""
    target = database.connect(path, writes=True)
    target.execute("CREATE TABLE IF NOT EXISTS one (id INTEGER PRIMARY KEY, body BLOB) STRICT")
    start = time.perf_counter()
    for _ in range(count):
        with target:
            target.execute("INSERT INTO one (body) VALUES (?)", (payload,))
    taken = time.perf_counter() - start
    target.close()
    return taken
