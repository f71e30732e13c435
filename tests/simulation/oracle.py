"""The fold as the documents say it, told from what really happened: slow, plain, and without any clock.

Never looks at a base, a `seen` list or anything that the store has folded.
"""

from dataclasses import dataclass
from functools import cached_property

from store.verdicts import Standing, Status
from syncproto.codec import Value
from syncproto.commit import By, Operation
from syncproto.heads import Head
from syncproto.hlc import Stamp
from syncproto.ids import EntityId
from tests.simulation.device import Held, Truth

DELETED = "deleted"


@dataclass(frozen=True, eq=False)
class Deed:
    """One operation, with what its author had truly seen."""

    head: Head
    operation: Operation
    stamp: Stamp
    past: Held

    @property
    def person(self) -> bool:
        """Say whether a person wrote this directly."""
        return self.operation.by is By.USER and self.operation.effect is None

    @property
    def deletes(self) -> bool:
        """Say whether it is a tombstone."""
        return self.operation.fields.get(DELETED) is True

    @property
    def creates(self) -> bool:
        """Say whether it is a creating operation, which names no base."""
        return self.operation.base == ()

    @property
    def rank(self) -> int:
        """Return what it weighs: own write 3, edited confirmation 2, confirmation 1, all else 0."""
        by_user = self.operation.by is By.USER
        if self.operation.effect is not None:
            return 2 if by_user else 1
        return 3 if by_user else 0

    @property
    def weight(self) -> tuple[int, Stamp, Head]:
        """Return the key by which the winner is the highest."""
        return (self.rank, self.stamp, self.head)

    def value(self, field: str) -> Value:
        """Return what it wrote in a field."""
        return self.operation.fields[field]


class Oracle:
    """What a store that holds these commits must show."""

    def __init__(self, truth: Truth, held: Held) -> None:
        self.truth = truth
        self.held = held
        self.deeds: dict[EntityId, list[Deed]] = {}
        self.decisions: dict[bytes, list[Deed]] = {}
        self.effects: dict[bytes, list[Deed]] = {}
        for head in sorted(held):
            commit = truth.received[head].commit
            for operation in commit.operations:
                past = truth.past[head, operation.entity]
                self._add(Deed(head, operation, commit.stamp, past))

    def _add(self, deed: Deed) -> None:
        self.deeds.setdefault(deed.operation.entity, []).append(deed)
        if deed.operation.kind == "decision":
            item = deed.operation.fields["item_id"]
            assert isinstance(item, bytes)
            self.decisions.setdefault(item, []).append(deed)
        if deed.operation.effect is not None:
            self.effects.setdefault(deed.operation.effect, []).append(deed)

    # -- verdicts ---------------------------------------------------------------------------------------

    def deciding(self, item: bytes) -> list[Deed]:
        """Return the decisions that count: people's if any, and of those the ones that no other had seen."""
        every = self.decisions.get(item, [])
        pool = [one for one in every if one.operation.by is By.USER] or every
        return [one for one in pool if not any(one.head in other.past for other in pool)]

    def verdicts(self, item: bytes) -> list[str]:
        """Return the verdicts that count."""
        return sorted(str(one.value("verdict")) for one in self.deciding(item))

    @cached_property
    def _standings(self) -> dict[bytes, Standing]:
        return {item: self._standing(item) for item in self.decisions}

    def _standing(self, item: bytes) -> Standing:
        verdicts = self.verdicts(item)
        if "rejected" in verdicts or "undone" in verdicts:
            return Standing(Status.REJECTED, "confirmed" in verdicts)
        for status in (Status.CONFIRMED, Status.DEFERRED, Status.RETRACTED):
            if status.value in verdicts:
                return Standing(status, disputed=False)
        return Standing(Status.PENDING, disputed=False)

    def standing(self, item: bytes) -> Standing:
        """Return an item's status and whether it is disputed."""
        return self._standings.get(item, Standing(Status.PENDING, disputed=False))

    def confirmed(self, item: bytes) -> bool:
        """Say whether an item is in effect."""
        return self.standing(item).status is Status.CONFIRMED

    # -- entities ---------------------------------------------------------------------------------------

    def rested_on(self, deed: Deed) -> bool:
        """Say whether a person wrote on the entity having seen this operation."""
        return any(other.person and deed.head in other.past for other in self.deeds[deed.operation.entity])

    def is_live(self, deed: Deed) -> bool:
        """Say whether an operation counts."""
        effect = deed.operation.effect
        return effect is None or self.confirmed(effect) or (deed.creates and self.rested_on(deed))

    @cached_property
    def _live(self) -> dict[EntityId, list[Deed]]:
        return {
            entity: [deed for deed in deeds if self.is_live(deed)] for entity, deeds in self.deeds.items()
        }

    def live(self, entity: EntityId) -> list[Deed]:
        """Return the operations of an entity that count."""
        return self._live.get(entity, [])

    def fields(self, entity: EntityId) -> set[str]:
        """Return the fields that have a version."""
        return {name for deed in self.live(entity) for name in deed.operation.fields}

    def maximal(self, entity: EntityId, field: str) -> list[Deed]:
        """Return the versions of a field that no other version's author had seen, best first."""
        having = [deed for deed in self.live(entity) if field in deed.operation.fields]
        tops = [deed for deed in having if not any(deed.head in other.past for other in having)]
        return sorted(tops, key=lambda deed: deed.weight, reverse=True)

    def exists(self, entity: EntityId) -> bool:
        """Say whether a creating operation counts."""
        return any(deed.creates for deed in self.live(entity))

    def tombstones(self, entity: EntityId) -> list[Deed]:
        """Return the maximal tombstones."""
        return [deed for deed in self.maximal(entity, DELETED) if deed.deletes]

    def visible(self, entity: EntityId) -> bool:
        """Say whether an entity is in sight."""
        if not self.exists(entity):
            return False
        tombs = self.tombstones(entity)
        persons = [deed for deed in self.deeds[entity] if deed.person and not deed.deletes]
        hidden = tombs and all(any(deed.head in tomb.past for tomb in tombs) for deed in persons)
        return not hidden

    def clock(self, entity: EntityId) -> tuple[Head, ...]:
        """Return the ends of the chains on which the entity was touched, dead operations included."""
        touched = {deed.head for deed in self.deeds[entity]}
        return tuple(
            sorted(head for head in touched if not any(self.truth.descends(other, head) for other in touched))
        )
