"""The index of change items and decisions: what was proposed, and how people decided.

Never folds an entity: the caller folds again what a changed confirmation touches.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

from store.fold import effects
from store.fold.item_name import ItemName, name_shown_in
from store.fold.verdicts import UNDECIDED, DecisionStatus, ItemStatus, Opinion, Verdict
from syncproto import codec
from syncproto.assertion import Assertion, assertion_in, decision_challenge
from syncproto.commit import AuthorKind, Operation
from syncproto.ids import ID_BYTES, EntityId

CHANGE_SET = "change_set"
DECISION = "decision"
ASK = "ask"
PASSKEY = "passkey"

NEVER_EXPIRES_MS = (1 << 63) - 1

_VERDICTS = frozenset(verdict.value for verdict in Verdict)


class ParsedDecision(NamedTuple):
    """A decision on an item, as its operation contains it.

    `name` is what it shows the item's id to follow from. `assertion` is that of a passkey, over `challenge`.
    """

    item: EntityId
    opinion: Opinion
    name: ItemName | None = None
    assertion: Assertion | None = None
    challenge: bytes = b""


def _ids(values: object) -> list[EntityId]:
    """Return the ids in a list from outside, without what is no id."""
    members = values if isinstance(values, list) else []
    return [EntityId(member) for member in members if isinstance(member, bytes) and len(member) == ID_BYTES]


def parse_decision(operation: Operation) -> ParsedDecision | None:
    """Return the decision in an operation, None if this version understands none in it."""
    fields = operation.fields
    verdict = fields.get("verdict")
    items = _ids([fields.get("item_id")])
    # Only its creation decides: a later write to a decision must not turn what was decided.
    if operation.kind != DECISION or not operation.creates or not items:
        return None
    if not isinstance(verdict, str) or verdict not in _VERDICTS:
        return None
    identifiers = frozenset(_ids(fields.get("seen")))
    opinion = Opinion(operation.entity, Verdict(verdict), operation.by, identifiers)
    assertion = assertion_in(fields)
    challenge = b"" if assertion is None else decision_challenge(fields)
    return ParsedDecision(items[0], opinion, name_shown_in(fields, items[0]), assertion, challenge)


def record_change_set(db: apsw.Connection, operation: Operation, seq: int) -> list[tuple[EntityId, ItemName]]:
    """Index the items of a change set, and return those that show what their ids follow from.

    Malformed ones are left out, and stay in the log.

    An item that a set names twice is indexed once: otherwise reading it would cost its occurrences times
    the size of the set.
    """
    items, tasks = operation.fields.get("items"), _ids([operation.fields.get("task_id")])
    if operation.kind != CHANGE_SET or not operation.creates or not tasks or not isinstance(items, list):
        return []
    identifiers: set[EntityId] = set()
    names = []
    for position, item in enumerate(items):
        ids = _ids([item.get("item_id")]) if isinstance(item, dict) else []
        if not isinstance(item, dict) or not ids or ids[0] in identifiers:
            continue
        identifiers.add(ids[0])
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
        extend_waiting(db, ids[0], expiry_in(operation))
        name = name_shown_in(item, ids[0])
        if name is not None:
            names.append((ids[0], name))
    return names


def extend_waiting(db: apsw.Connection, item: EntityId, until_ms: int) -> None:
    """Record that an item was proposed, and until when it may wait for a decision."""
    db.execute(
        "INSERT INTO item VALUES (?, ?, 0, ?) ON CONFLICT (id) DO UPDATE"
        " SET until_ms = max(until_ms, excluded.until_ms)",
        (item, DecisionStatus.PENDING.value, until_ms),
    )


def record_decision(db: apsw.Connection, decision: ParsedDecision, seq: int) -> None:
    """Index a decision; the caller has counted it, and calls `write_item_status`."""
    opinion = decision.opinion
    db.execute(
        "INSERT INTO opinion VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            decision.item,
            seq,
            opinion.decision,
            opinion.verdict.value,
            int(opinion.by),
            codec.encode(sorted(opinion.seen)),
            int(opinion.counts),
            None if decision.assertion is None else decision.assertion.passkey,
        ),
    )


def positions_of_decisions(db: apsw.Connection, item: EntityId) -> list[tuple[int, EntityId]]:
    """Return the feed positions and ids of the decisions on an item, in feed order."""
    rows: Any = db.execute("SELECT seq, decision FROM opinion WHERE item = ? ORDER BY seq, decision", (item,))
    return [(seq, EntityId(decision)) for seq, decision in rows]


def counts_already(db: apsw.Connection, decision: ParsedDecision, seq: int) -> bool:
    """Return whether an indexed decision counts, as far as was known."""
    row: Any = db.execute(
        "SELECT counts FROM opinion WHERE item = ? AND seq = ? AND decision = ?",
        (decision.item, seq, decision.opinion.decision),
    ).fetchone()
    return bool(row[0])


def write_counts(db: apsw.Connection, decision: ParsedDecision, seq: int) -> None:
    """Write whether an indexed decision counts."""
    db.execute(
        "UPDATE opinion SET counts = ? WHERE item = ? AND seq = ? AND decision = ?",
        (int(decision.opinion.counts), decision.item, seq, decision.opinion.decision),
    )


def write_item_status(db: apsw.Connection, item: EntityId, status: ItemStatus, until_ms: int) -> None:
    """Write the status of an item, and until when it may wait for a decision."""
    db.execute(
        "INSERT INTO item VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
        " SET status = excluded.status, disputed = excluded.disputed, until_ms = excluded.until_ms",
        (item, status.status.value, int(status.disputed), until_ms),
    )


def positions_of_proposals(db: apsw.Connection, item: EntityId) -> list[tuple[int, EntityId]]:
    """Return the feed positions and ids of the change sets that propose an item."""
    rows: Any = db.execute("SELECT seq, change_set FROM proposal WHERE item = ?", (item,))
    return [(seq, EntityId(change_set)) for seq, change_set in rows]


def expiry_in(operation: Operation) -> int:
    """Return when the items of a change set expire, Unix time in milliseconds."""
    expires_ms = operation.fields.get("expires_at")
    return expires_ms if type(expires_ms) is int else 0


def opinions_on(db: apsw.Connection, item: EntityId) -> list[Opinion]:
    """Return the decisions on an item, in feed order."""
    rows: Any = db.execute(
        "SELECT decision, verdict, by, seen, counts FROM opinion WHERE item = ? ORDER BY seq", (item,)
    )
    return [
        Opinion(
            decision, Verdict(verdict), AuthorKind(by), frozenset(codec.decode_trusted(ids)), bool(counts)
        )
        for decision, verdict, by, ids, counts in rows
    ]


def read_item_status(db: apsw.Connection, item: EntityId) -> ItemStatus:
    """Return the status of an item, undecided if it is unknown."""
    row = db.execute("SELECT status, disputed FROM item WHERE id = ?", (item,)).fetchone()
    return UNDECIDED if row is None else ItemStatus(DecisionStatus(row[0]), bool(row[1]))


def has_effect(db: apsw.Connection, item: EntityId) -> bool:
    """Return whether the log contains an effect of an item, live or not."""
    return db.execute("SELECT 1 FROM effect WHERE item = ?", (item,)).fetchone() is not None


def confirmed_without_effect(
    db: apsw.Connection, task: EntityId | None = None, *, crowded: bool = False
) -> Iterator[EntityId]:
    """Yield the proposed items, of a task or of all, that are confirmed and have no effect.

    Placet writes a confirmation and its effect in one commit. So another program or a fault wrote such a
    decision. With `crowded`, yield instead those that operations name for more entities than count, and for
    none that the item names: their own effect may not count. Costs a look-up per item, or per item of the
    task.
    """
    # SQLite keeps the order of a CROSS JOIN: it starts with the items by status, or with those of the task.
    joined = "item CROSS JOIN proposal" if task is None else "proposal CROSS JOIN item"
    rows: Any = db.execute(
        f"SELECT DISTINCT id FROM {joined} ON proposal.item = id WHERE status = ?"
        + (" AND EXISTS" if crowded else " AND NOT EXISTS")
        + " (SELECT 1 FROM effect WHERE effect.item = id LIMIT 1 OFFSET ?)"
        + ("" if task is None else " AND task = ?"),
        (
            DecisionStatus.CONFIRMED.value,
            effects.EFFECTS_MAX if crowded else 0,
            *(() if task is None else (task,)),
        ),
    )
    for (item,) in rows:
        if not crowded or not effects.EffectIndex(db).writes_what_it_names(item):
            yield EntityId(item)
