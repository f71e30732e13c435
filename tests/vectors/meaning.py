"""What commits mean, implemented a second time from PROTOCOL.md: coverage, acceptance, verdicts, the fold.

Never imports what it is there to check. It walks the chain of hashes and folds whole histories, where Placet
keeps branches and folds as commits land: the two ways must give the same bytes.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.vectors import wire
from tests.vectors.wire import Fault, require

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


def follow(last: list[int], seen: list[int], now_ms: int) -> list[int]:
    """Return the clock after a commit of someone else's."""
    return last if seen[0] - now_ms > 600_000 else max(last, seen)


# -- chains -------------------------------------------------------------------------------------------


class Chains:
    """Commits by the one that each follows."""

    def __init__(self) -> None:
        self.before: dict[Head, Head | None] = {}

    def past(self, head: Head) -> set[Head]:
        """Return the commits on the chain that ends in `head`, itself included; none where it is unknown."""
        found: set[Head] = set()
        at: Head | None = head
        while at is not None and at in self.before:
            found.add(at)
            at = self.before[at]
        return found

    def covered(self, clock: Iterable[Head]) -> set[Head]:
        """Return the commits that a clock stands for."""
        return set().union(*(self.past(head) for head in clock))

    def join(self, heads: Iterable[Head]) -> Clock:
        """Return the smallest clock that covers these commits."""
        held = set(heads)
        return sorted(one for one in held if not any(one != end and one in self.past(end) for end in held))


# -- acceptance ---------------------------------------------------------------------------------------


class Held(NamedTuple):
    """A commit that a store holds."""

    commit: list[Any]
    head: Head
    digest: bytes


def as_head(values: list[Any]) -> Head:
    """Make a head of what was read."""
    replica, counter, hash8 = values
    return (replica, counter, hash8)


class Store:
    """A store as the protocol sees it: what it holds, and law 1."""

    def __init__(self) -> None:
        self.chains = Chains()
        self.held: dict[Head, Held] = {}
        self.keys: dict[bytes, bytes] = {}
        self.checked: dict[Head, bytes] = {}

    def take(self, page: list[tuple[bytes, bytes]]) -> int:
        """Take a page of (body, signature), all or nothing; return how many commits were new."""
        trial = Store()
        trial.held, trial.keys = dict(self.held), dict(self.keys)
        trial.chains.before = dict(self.chains.before)
        ends: dict[Head, bytes] = {}
        for body, signed in page:
            trial.take_one(body, signed, ends)
        for end, signed in ends.items():
            trial.check_signature(end, signed)
        new = len(trial.held) - len(self.held)
        self.chains, self.held, self.keys = trial.chains, trial.held, trial.keys
        self.checked.update(ends)
        return new

    def take_one(self, body: bytes, signed: bytes, ends: dict[Head, bytes]) -> None:
        """Take one commit, its signature apart; note it in `ends` in place of the one that it follows."""
        commit = wire.read_commit(body, signed)
        digest = wire.hash_of(body)
        replica, counter, previous, key = commit[1], commit[2], commit[3], commit[6]
        head = (replica, counter, digest[:8])
        require(replica in self.keys or counter == 1, "gap")
        require(key is None or self.keys.setdefault(replica, key) == key, "another-key")
        if head in self.held:
            return
        before = (replica, counter - 1, previous[:8]) if counter > 1 else None
        require(before is None or (before in self.held and self.held[before].digest == previous), "gap")
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
        """Refuse a run that does not end in a signature by its replica's key."""
        message = b"placet commit 1\x00" + self.held[end].digest
        try:
            Ed25519PublicKey.from_public_bytes(self.keys[end[0]]).verify(signed, message)
        except (InvalidSignature, ValueError) as fault:
            raise Fault("bad-signature") from fault

    def vector(self) -> Clock:
        """Return what the store holds."""
        return self.chains.join(self.held)


# -- verdicts -----------------------------------------------------------------------------------------

VERDICTS = ("confirmed", "rejected", "deferred", "undone", "reopened", "retracted")


class Opinion(NamedTuple):
    """A decision: its id, what it says, whether a person made it, and the decisions that it had seen."""

    decision: bytes
    verdict: str
    by: int
    seen: set[bytes]


def standing(opinions: list[Opinion]) -> tuple[str, bool]:
    """Fold the decisions on an item to its status, and whether it is disputed."""
    persons = [one for one in opinions if one.by == USER]
    counted = persons or opinions
    overtaken = set().union(*(one.seen for one in counted))
    last = {one.verdict for one in counted if one.decision not in overtaken}
    if "rejected" in last or "undone" in last:
        return "rejected", "confirmed" in last
    for status in ("confirmed", "deferred", "retracted"):
        if status in last:
            return status, False
    return "pending", False


def _ids(values: Any) -> list[bytes]:
    return [one for one in values if wire.is_id(one)] if isinstance(values, list) else []


def opinions_by_item(store: Store) -> dict[bytes, list[Opinion]]:
    """Collect the decisions in a store, by the item that they are about."""
    found: dict[bytes, list[Opinion]] = {}
    for held in store.held.values():
        for entity, kind, base, fields, _, by, _ in held.commit[7]:
            verdict, item = fields.get("verdict"), fields.get("item_id")
            known = isinstance(verdict, str) and verdict in VERDICTS
            if kind == "decision" and not base and known and wire.is_id(item):
                opinion = Opinion(entity, str(verdict), by, set(_ids(fields.get("seen"))))
                found.setdefault(item, []).append(opinion)
    return found


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
        base = [list(one) for one in self.base] if self.tombstone else None
        return [list(self.head), self.ms, self.n, self.by, self.effect, self.origin, base]


class Folded(NamedTuple):
    """An entity's fold: its state form, and whether it is in sight."""

    state: bytes
    visible: bool


def writes_of(store: Store, entity: bytes) -> list[Write]:
    """Collect the operations on an entity."""
    found = []
    for held in store.held.values():
        for name, kind, base, fields, effect, by, origin in held.commit[7]:
            if name == entity:
                clock = [as_head(one) for one in base]
                ms, n = held.commit[4]
                found.append(Write(held.head, ms, n, kind, clock, fields, effect, by, origin))
    return found


def _live(store: Store, writes: list[Write], statuses: dict[bytes, str]) -> list[Write]:
    """Leave out what rests on an item that is not confirmed, but for creations that a person has touched."""
    touched = set().union(*(store.chains.covered(one.base) for one in writes if one.person))
    return [
        one
        for one in writes
        if one.effect is None
        or statuses.get(one.effect) == "confirmed"
        or (not one.base and one.head in touched)
    ]


def _maximal(store: Store, live: list[Write], field: str) -> list[Write]:
    """Return the live writes of a field that no other live one had seen, best first."""
    writers = [one for one in live if field in one.fields]
    seen = set().union(*(store.chains.covered(one.base) for one in writers))
    return sorted((one for one in writers if one.head not in seen), key=lambda one: one.weight, reverse=True)


def fold(store: Store, entity: bytes, statuses: dict[bytes, str]) -> Folded:
    """Fold an entity from all that a store holds."""
    writes = writes_of(store, entity)
    live = _live(store, writes, statuses)
    fields = {name: _maximal(store, live, name) for one in live for name in one.fields}
    born = min(
        (one for one in live if not one.base), key=lambda one: (-one.weight[0], one.weight[1:]), default=None
    )
    shown = {one.head: one for kept in fields.values() for one in kept}
    if born is not None:
        shown[born.head] = born
    places = {head: place for place, head in enumerate(sorted(shown))}
    person = store.chains.join(one.head for one in writes if one.person and not one.tombstone)
    state = [
        "" if born is None else born.kind,
        store.chains.join(one.head for one in writes),
        person,
        sum(1 for one in live if not one.base),
        any(not one.base and one not in live for one in writes),
        -1 if born is None else places[born.head],
        [shown[head].source() for head in sorted(shown)],
        {
            name: [part for one in kept for part in (places[one.head], one.fields[name])]
            for name, kept in fields.items()
        },
    ]
    tombs = [one for one in fields.get("deleted", []) if one.tombstone]
    hidden = bool(tombs) and set(person) <= set().union(*(store.chains.covered(one.base) for one in tombs))
    return Folded(wire.pack(state), born is not None and not hidden)


def entities(store: Store) -> list[bytes]:
    """Return every entity that some operation is on."""
    return sorted({operation[0] for held in store.held.values() for operation in held.commit[7]})


def states(store: Store) -> dict[bytes, Folded]:
    """Fold every entity."""
    statuses = {item: standing(found)[0] for item, found in opinions_by_item(store).items()}
    return {entity: fold(store, entity, statuses) for entity in entities(store)}


def state_hash(folded: dict[bytes, Folded]) -> bytes:
    """Sum the hashes of all entities' states modulo 2^256."""
    total = sum(
        int.from_bytes(hashlib.sha256(name + one.state).digest(), "big") for name, one in folded.items()
    )
    return (total % 2**256).to_bytes(32, "big")
