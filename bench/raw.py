"""The raw limit: the same rows into the same tables in transactions of the same size, by apsw alone.

Never folds, signs or checks anything; it copies what a store wrote, as fast as SQLite takes it.
"""

import time
from pathlib import Path

from store.file import database
from store.file.database import SchemaRule
from store.fold.entity_state import load_state
from store.fold.word_index import words_of_entity

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
    source = database.connect(path, SchemaRule.CURRENT)
    rows_by_table = {table: list(source.execute(f"SELECT * FROM {table}")) for table in TABLES}
    # The index of words keeps no rows of its own to be read again.
    words = [
        (no, words_of_entity(entity_id, load_state(state)))
        for no, entity_id, state in source.execute(_STATES)
    ]
    rows_by_table["search (rowid, name, title, text, tags, label)"] = [
        (no, *entity_id) for no, entity_id in words if entity_id
    ]
    source.close()
    return rows_by_table


def replay_s(rows: dict[str, list[tuple[object, ...]]], into: Path, per_transaction: int) -> float:
    """Insert the rows again, `per_transaction` feed rows a transaction with their share of the others.

    Returns seconds. The one row that a store updates in each transaction is updated here too.
    """
    target = database.connect(into, SchemaRule.CREATED)
    target.execute("INSERT INTO standing VALUES (1, x'00', NULL, NULL, x'00', 0, 0, 0)")
    target.execute("PRAGMA foreign_keys = OFF").fetchall()
    commits = max(1, len(rows["feed"]))
    transactions = -(-commits // per_transaction)
    inserts = {
        table: f"INSERT INTO {table} VALUES ({', '.join('?' * len(row[0]))})"
        for table, row in rows.items()
        if row
    }
    start = time.perf_counter()
    for turn in range(transactions):
        target.execute("BEGIN IMMEDIATE")
        for table, insert in inserts.items():
            stored_rows = rows[table]
            share = slice(
                len(stored_rows) * turn // transactions, len(stored_rows) * (turn + 1) // transactions
            )
            target.executemany(insert, stored_rows[share])
        target.execute("UPDATE standing SET stamp_ms = ?, entities = ?", (turn, turn))
        target.execute("COMMIT")
    seconds = time.perf_counter() - start
    target.close()
    return seconds


def single_commit_s(path: Path, payload: bytes, count: int) -> float:
    """Make `count` durable transactions of one row each; return seconds."""
    target = database.connect(path, SchemaRule.CREATED)
    target.execute("CREATE TABLE IF NOT EXISTS one (id INTEGER PRIMARY KEY, body BLOB) STRICT")
    start = time.perf_counter()
    for _ in range(count):
        with target:
            target.execute("INSERT INTO one (body) VALUES (?)", (payload,))
    seconds = time.perf_counter() - start
    target.close()
    return seconds
