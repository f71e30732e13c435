"""Asks and their uses as they were written: what each write says, and which device and replica signed it.

Never decides which of them is genuine.
"""

from typing import Any, Final, NamedTuple

from store.fold.entity import Entity
from store.fold.entity_state import load_state
from store.fold.operations import operations_on
from store.fold.proposal_index import ASK
from store.fold.verdicts import DecisionStatus
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId, EntityId
from syncproto.keys import device_id_of_key
from syncproto.vector_clock import Head

_ASKS_OF_AGENT: Final = (
    "(SELECT owner FROM relation WHERE target = :agent AND name = 'agent_ask')"
    " JOIN entity ON entity.id = owner"
)


class SignedWrite(NamedTuple):
    """One write to an entity: its fields, its commit, the time of that in ms, the signer, and the author.

    `is_imported`: the device took it from a file, which says nothing of who decided.
    """

    kind: str
    fields: dict[str, Value]
    head: Head
    stamp_ms: int
    n: int
    signer: DeviceId
    creates: bool
    by: AuthorKind
    entity: EntityId
    is_imported: bool


def signed_writes(snapshot: Snapshot, entity: EntityId) -> list[SignedWrite]:
    """Return the writes to an entity in feed order. Reads its whole history."""
    return [
        SignedWrite(
            write.operation.kind,
            write.operation.fields,
            write.head,
            write.source.ms,
            write.source.n,
            device_id_of_key(snapshot.log.key_of_commit(write.head)),
            write.operation.creates,
            write.operation.by,
            entity,
            write.operation.origin is not None,
        )
        for write in operations_on(snapshot.db, entity, snapshot.log)
    ]


def asks_that_may_wait(snapshot: Snapshot, now_ms: int, agent: EntityId | None = None) -> list[EntityId]:
    """Return, by id, the asks whose history tells whether they wait for a person; the others do not.

    Those of one agent, or of all. Left out are those that are rejected or taken back without a dispute, and
    those that ran out. Costs a row for each ask that was decided so, and a state for each that ran out: no
    history.
    """
    source = "entity" if agent is None else _ASKS_OF_AGENT
    rows: Any = snapshot.db.execute(
        "SELECT entity.id, state, item.disputed,"
        " (SELECT count(*) FROM (SELECT 1 FROM history WHERE history.entity = entity.id LIMIT 2))"
        f" FROM {source} LEFT JOIN item ON item.id = entity.id"
        " WHERE kind = :kind AND visible = 1"
        " AND (item.id IS NULL OR item.disputed OR item.status NOT IN (:rejected, :retracted))"
        " ORDER BY entity.id",
        {
            "kind": ASK,
            "rejected": DecisionStatus.REJECTED.value,
            "retracted": DecisionStatus.RETRACTED.value,
            "agent": agent,
        },
    )
    # Another member can write to an ask: its folded fields are what was asked only if nobody did.
    return [
        EntityId(ask)
        for ask, state, disputed, commits in rows
        if disputed or commits > 1 or not _ran_out(Entity(EntityId(ask), load_state(state), True), now_ms)
    ]


def _ran_out(ask: Entity, now_ms: int) -> bool:
    not_after = ask.value("not_after")
    return isinstance(not_after, int) and not_after < now_ms
