"""The entries of the roster by what changed: who has read them once need not read all of them again.

Never costs more than what changed since, however many entries there are.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from store.fold.entity import Entity
from store.fold.entity_state import load_state, with_provenance
from store.fold.field_versions import Provenance
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import DeviceId, EntityId


class FieldWrite(NamedTuple):
    """A value that was written to a field of an entity; `seq` is the feed position of its commit."""

    seq: int
    entity: EntityId
    writer: DeviceId
    source: Provenance
    value: Value


def newest_change(snapshot: Snapshot) -> int:
    """Return the feed position at which an entry changed last, 0 if there is none."""
    row: Any = snapshot.db.execute(
        "SELECT max((SELECT coalesce(max(changed), 0) FROM entity INDEXED BY entity_device_changed"
        " WHERE kind = 'device'), (SELECT coalesce(max(changed), 0) FROM former_entry))"
    ).fetchone()
    return int(row[0])


def some_entries(snapshot: Snapshot, count_max: int) -> list[Entity]:
    """Return at most so many entries, visible or not, those first that changed last the longest ago."""
    rows: Any = snapshot.db.execute(
        "SELECT id, visible, state FROM entity INDEXED BY entity_device_changed"
        " WHERE kind = 'device' ORDER BY changed LIMIT ?",
        (count_max,),
    )
    return [Entity(entity, load_state(state), bool(visible)) for entity, visible, state in rows]


def entries_changed(snapshot: Snapshot, after: int) -> dict[EntityId, Entity | None]:
    """Return the entries that changed beyond a feed position, visible or not; None for former ones."""
    gone: Any = snapshot.db.execute("SELECT entity FROM former_entry WHERE changed > ?", (after,))
    entries: dict[EntityId, Entity | None] = {entity: None for (entity,) in gone}
    rows: Any = snapshot.db.execute(
        "SELECT id, visible, state FROM entity INDEXED BY entity_device_changed"
        " WHERE kind = 'device' AND changed > ?",
        (after,),
    )
    entries.update(
        (entity, Entity(entity, load_state(state), bool(visible))) for entity, visible, state in rows
    )
    return entries


def writes_of_field(snapshot: Snapshot, field: str, beyond: Mapping[EntityId, int]) -> Iterator[FieldWrite]:
    """Yield the writes of a field to several entities in feed order, each beyond the position given for it.

    A commit that wrote to many of them is decoded once. Writes that were overwritten count too.
    """
    touched: dict[int, set[EntityId]] = {}
    for entity, after in beyond.items():
        # Searching the bytes of a commit costs a tenth of decoding it.
        rows: Any = snapshot.db.execute(
            "SELECT seq FROM history JOIN feed USING (seq) WHERE entity = ? AND seq > ? AND instr(body, ?)",
            (entity, after, field.encode()),
        )
        for (seq,) in rows:
            touched.setdefault(seq, set()).add(entity)
    for seq in sorted(touched):
        received = snapshot.log.commit_at(seq)
        writer = snapshot.device_of(received.commit.replica)
        for operation in received.commit.operations:
            if operation.entity in touched[seq] and field in operation.fields:
                source = with_provenance(received, operation).source
                yield FieldWrite(seq, operation.entity, writer, source, operation.fields[field])
