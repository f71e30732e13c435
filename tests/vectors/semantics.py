"""What commits mean, implemented a second time from PROTOCOL.md: coverage, acceptance, verdicts, the fold.

Never imports what it is there to check. It walks the chain of hashes and folds whole histories, where Placet
keeps branches and folds as commits land: the two ways must give the same bytes.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.vectors import presence, wire
from tests.vectors.wire import InvalidEncoding, require

Head = tuple[bytes, int, bytes]
Clock = list[Head]
SYSTEM, AGENT, USER = 0, 1, 2


# -- hybrid logical clock -----------------------------------------------------------------------------


def tick(last: list[int], now_ms: int) -> list[int]:
    """Return the next stamp to write with."""
    if now_ms > last[0]:
        return [min(now_ms, 2**48 - 1), 0]
    ms, n = divmod(last[0] * 2**32 + last[1] + 1, 2**32)
    return [ms, n] if ms < 2**48 else [2**48 - 1, 0]


def follow(last: list[int], observed: list[int], now_ms: int) -> list[int]:
    """Return the clock after a commit of someone else's."""
    return last if observed[0] - now_ms > 600_000 else max(last, observed)


# -- chains -------------------------------------------------------------------------------------------


class ReferenceChains:
    """Commits by the one that each follows."""

    def __init__(self) -> None:
        self.before: dict[Head, Head | None] = {}

    def past(self, head: Head) -> set[Head]:
        """Return the commits on the chain that ends in `head`, itself included; none if it is unknown."""
        heads: set[Head] = set()
        current: Head | None = head
        while current is not None and current in self.before:
            heads.add(current)
            current = self.before[current]
        return heads

    def covered(self, clock: Iterable[Head]) -> set[Head]:
        """Return the commits that a clock stands for."""
        return set().union(*(self.past(head) for head in clock))

    def join(self, heads: Iterable[Head]) -> Clock:
        """Return the smallest clock that covers these commits."""
        stored_heads = set(heads)
        return sorted(
            stored_head
            for stored_head in stored_heads
            if not any(stored_head != end and stored_head in self.past(end) for end in stored_heads)
        )


# -- acceptance ---------------------------------------------------------------------------------------


class Held(NamedTuple):
    """A commit that a store holds."""

    commit: list[Any]
    head: Head
    digest: bytes


def as_head(values: list[Any]) -> Head:
    """Make a head of what was read."""
    replica, counter, digest = values
    return (replica, counter, digest)


def _united(remaining: list[Any], other: list[Any]) -> list[Any]:
    """Return a commit with each value that one of its two spellings has."""
    operations = []
    for mine, theirs in zip(remaining[7], other[7], strict=True):
        fields = {
            name: theirs[3][name] if wire.is_dropped(value) else value for name, value in mine[3].items()
        }
        operations.append([*mine[:3], fields, *mine[4:]])
    return [*remaining[:7], operations]


class ReferenceStore:
    """A store as the protocol sees it: what it holds, and law 1."""

    def __init__(self) -> None:
        self.chains = ReferenceChains()
        self.held: dict[Head, Held] = {}
        self.checked: dict[Head, bytes] = {}

    def take(self, page: list[tuple[bytes, bytes]]) -> int:
        """Take a page of (body, signature), all or nothing; return how many commits were new."""
        trial = ReferenceStore()
        trial.held = dict(self.held)
        trial.chains.before = dict(self.chains.before)
        ends: dict[Head, bytes] = {}
        for body, signed in page:
            trial.take_one(body, signed, ends)
        for end, signed in ends.items():
            trial.check_signature(end, signed)
        new = len(trial.held) - len(self.held)
        self.chains, self.held = trial.chains, trial.held
        self.checked.update(ends)
        return new

    def take_one(self, body: bytes, signed: bytes, ends: dict[Head, bytes]) -> None:
        """Take one commit, its signature apart; note it in `ends` in place of the one that it follows."""
        commit = wire.read_commit(body, signed)
        digest = wire.hash_of(body)
        replica, counter, previous = commit[1], commit[2], commit[3]
        head = (replica, counter, digest)
        if head in self.held:
            self.held[head] = Held(_united(self.held[head].commit, commit), head, digest)
            return
        before = (replica, counter - 1, previous) if counter > 1 else None
        require(before is None or (before in self.held), "gap")
        for operation in commit[7]:
            for base in map(as_head, operation[2]):
                require(base[0] != replica or base[1] < counter, "future-base")
                require(base in self.held, "unknown-base")
        self.held[head] = Held(commit, head, digest)
        self.chains.before[head] = before
        if before is not None:
            ends.pop(before, None)
        ends[head] = signed

    def check_signature(self, end: Head, signed: bytes) -> None:
        """Refuse a run that does not end in a signature by the key in the first commit of its chain."""
        message = b"placet commit 1\x00" + self.held[end].digest
        try:
            Ed25519PublicKey.from_public_bytes(self.key_of(end)).verify(signed, message)
        except (InvalidSignature, ValueError) as fault:
            raise InvalidEncoding("bad-signature") from fault

    def key_of(self, head: Head) -> bytes:
        """Return the key in the first commit of the chain that a commit is on."""
        first = next(past for past in self.chains.past(head) if past[1] == 1)
        return bytes(self.held[first].commit[6])

    def vector(self) -> Clock:
        """Return what the store holds."""
        return self.chains.join(self.held)


# -- verdicts -----------------------------------------------------------------------------------------


class ReferenceOpinion(NamedTuple):
    """A decision: its id, what it says, whether a person made it, and the decisions that it had seen."""

    decision: bytes
    verdict: str
    by: int
    seen: set[bytes]


def standing(opinions: list[ReferenceOpinion]) -> tuple[str, bool]:
    """Fold the decisions on an item to its status, and whether it is disputed."""
    persons = [opinion for opinion in opinions if opinion.by == USER]
    counted = persons or opinions
    overtaken = set().union(*(reference_opinion.seen for reference_opinion in counted))
    last = {
        reference_opinion.verdict
        for reference_opinion in counted
        if reference_opinion.decision not in overtaken
    }
    if "rejected" in last or "undone" in last:
        return "rejected", "confirmed" in last
    for status in ("confirmed", "deferred", "retracted"):
        if status in last:
            return status, False
    return "pending", False


def _ids(values: Any) -> list[bytes]:
    return [value for value in values if wire.is_id(value)] if isinstance(values, list) else []


def opinions_by_item(store: ReferenceStore) -> dict[bytes, list[ReferenceOpinion]]:
    """Collect the decisions in a store that count, by the item that they are about."""
    reference_opinions: dict[bytes, list[ReferenceOpinion]] = {}
    rules = presence.Rules(operation for record in store.held.values() for operation in record.commit[7])
    for record in store.held.values():
        for operation in record.commit[7]:
            if not presence.is_decision(operation):
                continue
            entity, _, _, fields, _, by, _ = operation
            counting = reference_opinions.setdefault(fields["item_id"], [])
            if rules.counts(operation, store.key_of(record.head)):
                counting.append(
                    ReferenceOpinion(entity, fields["verdict"], by, set(_ids(fields.get("seen"))))
                )
    return reference_opinions


# -- the fold -----------------------------------------------------------------------------------------


class Write(NamedTuple):
    """An operation with its commit's head and stamp."""

    head: Head
    ms: int
    n: int
    kind: str
    base: Clock
    fields: dict[str, Any]
    effect: bytes | None
    by: int
    origin: dict[str, Any] | None

    @property
    def person(self) -> bool:
        """Say whether a person wrote this directly."""
        return self.by == USER and self.effect is None

    @property
    def tombstone(self) -> bool:
        """Say whether this deletes."""
        return self.fields.get("deleted") is True

    @property
    def weight(self) -> tuple[int, int, int, Head]:
        """Return what the winner among concurrent writes has most of."""
        rank = (3 if self.by == USER else 0) if self.effect is None else (2 if self.by == USER else 1)
        return (rank, self.ms, self.n, self.head)

    def source(self) -> list[Any]:
        """Return the provenance that the state form keeps."""
        base = [list(element) for element in self.base] if self.tombstone else None
        return [list(self.head), self.ms, self.n, self.by, self.effect, self.origin, base]


class Folded(NamedTuple):
    """An entity's fold: its state form, and whether it is in sight."""

    state: bytes
    visible: bool


def writes_of(store: ReferenceStore, entity: bytes) -> list[Write]:
    """Collect the operations on an entity."""
    writes = []
    for record in store.held.values():
        for name, kind, base, fields, effect, by, origin in record.commit[7]:
            if name == entity:
                clock = [as_head(element) for element in base]
                ms, n = record.commit[4]
                writes.append(Write(record.head, ms, n, kind, clock, fields, effect, by, origin))
    return writes


def in_effect(store: ReferenceStore) -> dict[bytes, set[bytes]]:
    """Return the confirmed items, each with the entities on which it is in effect.

    These are the ones that the item names, and of the others those with the least 24 ids.
    """
    by_name: dict[bytes, set[bytes]] = {}
    for stored in store.held.values():
        for entity, _, _, _, effect, _, _ in stored.commit[7]:
            if effect is not None:
                by_name.setdefault(effect, set()).add(entity)
    confirmed = {
        item for item, opinion in opinions_by_item(store).items() if standing(opinion)[0] == "confirmed"
    }
    effects = {}
    for item in confirmed:
        written = by_name.get(item, set())
        named = named_entities(store, item) & written
        effects[item] = named | set(sorted(written - named)[:24])
    return effects


def named_entities(store: ReferenceStore, item: bytes) -> set[bytes]:
    """Return the entity whose id follows from an item's, and those from whose ids the item's follows."""
    named = {wire.derived_id("entity", [wire.text(item)], item)}
    for record in store.held.values():
        for operation in record.commit[7]:
            if presence.is_decision(operation) and operation[3]["item_id"] == item:
                entity, _ = presence.shown(operation[3], item)
                named |= set() if entity is None else {entity}
    return named


def _live(store: ReferenceStore, writes: list[Write], effects: set[bytes]) -> list[Write]:
    """Leave out what rests on an item that is not in effect here, but for creations that a person touched."""
    touched = set().union(*(store.chains.covered(write.base) for write in writes if write.person))
    return [
        write
        for write in writes
        if write.effect is None or write.effect in effects or (not write.base and write.head in touched)
    ]


def _maximal(store: ReferenceStore, live: list[Write], field: str) -> list[Write]:
    """Return the live writes of a field that stand, best first.

    Left out is what another live one had seen, and what its own chain wrote over four times.
    """
    writers = [write for write in live if field in write.fields]
    observed = set().union(*(store.chains.covered(writer.base) for writer in writers))
    standing = [
        writer for writer in writers if writer.head not in observed and not _overtaken(store, writer, writers)
    ]
    return sorted(standing, key=lambda write: write.weight, reverse=True)


def _overtaken(store: ReferenceStore, write: Write, writers: list[Write]) -> bool:
    """Say whether four writes of its rank or a higher one follow a write on one chain."""
    for end in writers:
        past = store.chains.past(end.head)
        if write.head in past:
            later = [
                other
                for other in writers
                if other.head in past
                and other.head != write.head
                and write.head in store.chains.past(other.head)
                and other.weight[0] >= write.weight[0]
            ]
            if len(later) >= 4:
                return True
    return False


def _founds(write: Write, entity: bytes) -> bool:
    """Say whether a creation gives in its fields what its entity's id is derived from."""
    if write.effect is not None:
        return False
    if write.kind == "device":
        key = write.fields.get("public_key")
        if not isinstance(key, bytes) or len(key) != 32:
            return False
        device = hashlib.sha256(bytes.fromhex("302a300506032b6570032100") + key).hexdigest()
        return entity == wire.derived_id("device", [device], bytes(16))
    for kind, tag, field in (("agent", "agent", "task_id"), ("agent_state", "state", "agent_id")):
        by_name = write.fields.get(field)
        if write.kind == kind and isinstance(by_name, bytes) and wire.is_id(by_name):
            return entity == wire.derived_id(tag, [wire.text(by_name)], by_name)
    return False


def fold(store: ReferenceStore, entity: bytes, effects: set[bytes]) -> Folded:
    """Fold an entity from all that a store holds; `effects` are the items that are in effect on it."""
    writes = writes_of(store, entity)
    live = _live(store, writes, effects)
    fields = {name: _maximal(store, live, name) for write in live for name in write.fields}
    creations = [write for write in live if not write.base]
    founding = [write for write in creations if _founds(write, entity)]
    born = min(founding or creations, key=lambda write: (-write.weight[0], write.weight[1:]), default=None)
    shown_writes = {write.head: write for field in fields.values() for write in field}
    if born is not None:
        shown_writes[born.head] = born
    places = {head: place for place, head in enumerate(sorted(shown_writes))}
    person = store.chains.join(write.head for write in writes if write.person and not write.tombstone)
    state = [
        "" if born is None else born.kind,
        store.chains.join(write.head for write in writes),
        person,
        sum(1 for write in live if not write.base),
        any(not write.base and write not in live for write in writes),
        -1 if born is None else places[born.head],
        [shown_writes[head].source() for head in sorted(shown_writes)],
        {
            name: [part for write in field for part in (places[write.head], write.fields[name])]
            for name, field in fields.items()
        },
    ]
    tombs = [write for write in fields.get("deleted", []) if write.tombstone]
    hidden = bool(tombs) and set(person) <= set().union(*(store.chains.covered(tomb.base) for tomb in tombs))
    return Folded(wire.pack(state), born is not None and not hidden)


def entities(store: ReferenceStore) -> list[bytes]:
    """Return every entity that some operation is on."""
    return sorted({operation[0] for record in store.held.values() for operation in record.commit[7]})


def states(store: ReferenceStore) -> dict[bytes, Folded]:
    """Fold every entity."""
    document = in_effect(store)
    return {
        entity: fold(store, entity, {item for item, counting in document.items() if entity in counting})
        for entity in entities(store)
    }


def state_hash(folded: dict[bytes, Folded]) -> bytes:
    """Sum the hashes of all entities' states modulo 2^256."""
    total = sum(
        int.from_bytes(hashlib.sha256(name + listed_folded.state).digest(), "big")
        for name, listed_folded in folded.items()
    )
    return (total % 2**256).to_bytes(32, "big")
