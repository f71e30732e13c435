"""The index of relations, brought forward if this version follows more fields back than the last one did.

Never indexes what a commit writes: that is `table_writer`.
"""

from typing import Any

import apsw

from store.fold.entity_state import load_state
from store.fold.relations import RELATIONS, relations_of
from syncproto.ids import EntityId

_RELATED = "INSERT OR IGNORE INTO relation VALUES (?, ?, ?)"


def index_new_fields(db: apsw.Connection) -> None:
    """Index the relations of each kind whose fields differ from those that the store has indexed.

    An older version kept commits of a newer one, but did not follow the fields that it did not know. Runs in
    one transaction of its own.
    """
    rows: Any = db.execute("SELECT kind, fields FROM indexed_fields")
    indexed: dict[str, str] = dict(rows)
    wanted = {kind: _described_fields(fields) for kind, fields in RELATIONS.items()}
    changed = [kind for kind in indexed.keys() | wanted.keys() if indexed.get(kind) != wanted.get(kind)]
    if not changed:
        return
    with db:
        for kind in sorted(changed):
            _index_kind(db, kind, indexed.get(kind, ""))
            db.execute("DELETE FROM indexed_fields WHERE kind = ?", (kind,))
            if kind in wanted:
                db.execute("INSERT INTO indexed_fields VALUES (?, ?)", (kind, wanted[kind]))


def _index_kind(db: apsw.Connection, kind: str, indexed: str) -> None:
    """Replace the relations of the entities of one kind."""
    before = {description.partition("=")[2] for description in indexed.split()}
    for name in before | set(RELATIONS.get(kind, {}).values()):
        db.execute("DELETE FROM relation WHERE name = ?", (name,))
    entities: Any = db.execute("SELECT id, state FROM entity WHERE kind = ?", (kind,))
    for entity, state in entities:
        related = [(target, name, EntityId(entity)) for target, name in relations_of(load_state(state))]
        db.executemany(_RELATED, related)


def _described_fields(fields: dict[str, str]) -> str:
    return " ".join(f"{field}={name}" for field, name in sorted(fields.items()))
