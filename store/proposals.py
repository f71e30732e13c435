"""The index of change items and decisions: what was proposed, and what people made of it.

Never folds an entity; it says which items' confirmation changed, and the caller folds again.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw

from store.verdicts import UNDECIDED, Opinion, Standing, Status, Verdict
from syncproto import codec
from syncproto.commit import By, Operation
from syncproto.ids import ID_BYTES, EntityId

CHANGE_SET = "change_set"
DECISION = "decision"

FOR_EVER_MS = (1 << 63) - 1

_VERDICTS = frozenset(verdict.value for verdict in Verdict)


class Decided(NamedTuple):
    """A decision as its operation states it."""

    item: EntityId
    opinion: Opinion


def _ids(values: object) -> list[EntityId]:
    """Return the ids in a list from outside, leaving out what is none."""
    found = values if isinstance(values, list) else []
    return [EntityId(one) for one in found if isinstance(one, bytes) and len(one) == ID_BYTES]


def decided(operation: Operation) -> Decided | None:
    """Read a decision from its operation, None where it is not one that this version understands."""
    fields = operation.fields
    verdict = fields.get("verdict")
    items = _ids([fields.get("item_id")])
    if operation.kind != DECISION or not operation.creates or not items:
        return None
    if not isinstance(verdict, str) or verdict not in _VERDICTS:
        return None
    seen = frozenset(_ids(fields.get("seen")))
    return Decided(items[0], Opinion(operation.entity, Verdict(verdict), operation.by, seen))


def record_change_set(db: apsw.Connection, operation: Operation, seq: int) -> None:
    """Index the items of a change set; what is not of their form is left out, and stays in the log.

    An item that a set names again is left out too: to read it would cost its occurrences times the set.
    """
    items, tasks = operation.fields.get("items"), _ids([operation.fields.get("task_id")])
    if operation.kind != CHANGE_SET or not operation.creates or not tasks or not isinstance(items, list):
        return
    known: set[EntityId] = set()
    for position, item in enumerate(items):
        ids = _ids([item.get("item_id")]) if isinstance(item, dict) else []
        if not isinstance(item, dict) or not ids or ids[0] in known:
            continue
        known.add(ids[0])
        fingerprint = item.get("fingerprint")
        db.execute(
            "INSERT INTO proposal VALUES (?, ?, ?, ?, ?, ?)",
            (
                ids[0],
                operation.entity,
                position,
                tasks[0],
                fingerprint if isinstance(fingerprint, bytes) else b"",
                seq,
            ),
        )
        expires_ms = operation.fields.get("expires_at")
        wait_for(db, ids[0], expires_ms if type(expires_ms) is int else 0)


def wait_for(db: apsw.Connection, item: EntityId, until_ms: int) -> None:
    """Note that an item was proposed, and until when it may wait for a decision."""
    db.execute(
        "INSERT INTO item VALUES (?, ?, 0, ?) ON CONFLICT (id) DO UPDATE"
        " SET until_ms = max(until_ms, excluded.until_ms)",
        (item, Status.PENDING.value, until_ms),
    )


def record_decision(db: apsw.Connection, decision: Decided, seq: int) -> None:
    """Index a decision; what it changes is for the caller to tally and `settle`."""
    opinion = decision.opinion
    db.execute(
        "INSERT INTO opinion VALUES (?, ?, ?, ?, ?, ?)",
        (
            decision.item,
            seq,
            opinion.decision,
            opinion.verdict.value,
            int(opinion.by),
            codec.encode(sorted(opinion.seen)),
        ),
    )


def settle(db: apsw.Connection, item: EntityId, standing: Standing) -> None:
    """Write what the decisions on an item amount to."""
    db.execute(
        "INSERT INTO item VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
        " SET status = excluded.status, disputed = excluded.disputed, until_ms = excluded.until_ms",
        (item, standing.status.value, int(standing.disputed), FOR_EVER_MS),
    )


def opinions(db: apsw.Connection, item: EntityId) -> list[Opinion]:
    """Return the decisions on an item, in feed order."""
    rows = db.execute("SELECT decision, verdict, by, seen FROM opinion WHERE item = ? ORDER BY seq", (item,))
    return [
        Opinion(decision, Verdict(verdict), By(by), frozenset(codec.plain(seen)))
        for decision, verdict, by, seen in rows
    ]


def standing(db: apsw.Connection, item: EntityId) -> Standing:
    """Return what the decisions on an item amount to."""
    row = db.execute("SELECT status, disputed FROM item WHERE id = ?", (item,)).fetchone()
    return UNDECIDED if row is None else Standing(Status(row[0]), bool(row[1]))


def entities_of(db: apsw.Connection, items: Iterable[EntityId]) -> set[EntityId]:
    """Return the entities that confirmations of these items wrote."""
    found: set[EntityId] = set()
    for item in items:
        rows: Any = db.execute("SELECT entity FROM effect WHERE item = ?", (item,))
        found |= {entity for (entity,) in rows}
    return found
