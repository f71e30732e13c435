"""What agents said and called long ago: a person lets go of the texts, and a compaction can drop them.

Never touches an observation, a person's words, a proposal, a decision or a report: those are still read.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from daemon.journal.wishes import is_wish
from store.fold.entity import Entity
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.commit import is_long
from syncproto.ids import ID_BYTES, EntityId

_PAGE: Final = 200
_TIME_BYTES: Final = 6
_KEPT_KINDS: Final = frozenset({"observation"})


class OldTexts(NamedTuple):
    """A place in the messages of all agents: those of `agent` before the id `before` come next."""

    agent: EntityId
    before: EntityId


class EmptiedStep(NamedTuple):
    """How many texts one step emptied, and where the next one begins, None if nothing is left."""

    texts: int
    resume_at: OldTexts | None


def first_place(snapshot: Snapshot, before_ms: int) -> OldTexts | None:
    """Return where to begin with what is older than a time, in Unix ms; None if there is no agent."""
    return _place_after(snapshot, None, before_ms)


def old_texts_step(
    snapshot: Snapshot, place: OldTexts, before_ms: int
) -> tuple[EmptiedStep, list[EntityWrite]]:
    """Return the writes of one step, at most a page of messages, and how many they are.

    A write of a person gives each long text the value null; the rule of compaction does the rest.
    """
    page = snapshot.newest_ids_pointing_at(place.agent, "agent_message", _PAGE, place.before)
    messages = (message for name in page if (message := snapshot.entity(name)) is not None)
    writes = [write for message in messages for write in _writes_of(snapshot, message)]
    following = (
        OldTexts(place.agent, page[-1])
        if len(page) == _PAGE
        else _place_after(snapshot, place.agent, before_ms)
    )
    return EmptiedStep(len(writes), following), writes


def empty_old_texts(tx: Transaction, place: OldTexts, before_ms: int) -> EmptiedStep:
    """Empty the old texts of a page of messages, in this transaction."""
    step, writes = old_texts_step(tx, place, before_ms)
    if writes:
        tx.commit(writes)
    return step


def _place_after(snapshot: Snapshot, agent: EntityId | None, before_ms: int) -> OldTexts | None:
    """Return the beginning of the next agent's messages, by the id of the agent."""
    agents = [*snapshot.entities("agent"), *snapshot.entities("agent", removed=True)]
    following = min((entity.id for entity in agents if agent is None or entity.id > agent), default=None)
    if following is None:
        return None
    # Ids of messages begin with their time.
    first = max(before_ms, 0).to_bytes(_TIME_BYTES, "big") + bytes(ID_BYTES - _TIME_BYTES)
    return OldTexts(following, EntityId(first))


def _writes_of(snapshot: Snapshot, message: Entity) -> Iterator[EntityWrite]:
    if message.text("kind") in _KEPT_KINDS or is_wish(message):
        return
    if is_long(message.value("text")):
        yield EntityWrite(message.id, "message", {"text": None})
    payload = message.value("payload_id")
    stored = snapshot.entity(EntityId(payload)) if isinstance(payload, bytes) else None
    if stored is not None and stored.kind == "payload" and is_long(stored.value("content")):
        yield EntityWrite(stored.id, "payload", {"content": None})
