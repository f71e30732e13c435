"""The fold as the documents say it, told from what really happened: slow, plain, and without any clock.

Never looks at a base, a `seen` list or anything that the store has folded.
"""

from dataclasses import dataclass
from functools import cached_property

from store.fold.verdicts import DecisionStatus, ItemStatus
from syncproto.codec import Value
from syncproto.commit import AuthorKind, Operation
from syncproto.hlc import Stamp
from syncproto.ids import EntityId, derived_id, id_to_text
from syncproto.vector_clock import Head
from tests.simulation.device import GroundTruth, HeldCommits

DELETED = "deleted"


@dataclass(frozen=True, eq=False)
class WitnessedOperation:
    """One operation, with what its author had truly seen."""

    head: Head
    operation: Operation
    stamp: Stamp
    past: HeldCommits

    @property
    def person(self) -> bool:
        """Return whether a person wrote this directly."""
        return self.operation.by is AuthorKind.USER and self.operation.effect is None

    @property
    def deletes(self) -> bool:
        """Return whether it is a tombstone."""
        return self.operation.fields.get(DELETED) is True

    @property
    def creates(self) -> bool:
        """Return whether it is a creating operation, which names no base."""
        return self.operation.base == ()

    @property
    def rank(self) -> int:
        """Return what it weighs: own write 3, edited confirmation 2, confirmation 1, all else 0."""
        by_user = self.operation.by is AuthorKind.USER
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


class FoldOracle:
    """What a store that holds these commits must show."""

    def __init__(self, truth: GroundTruth, heads: HeldCommits) -> None:
        self.truth = truth
        self.held = heads
        self.deeds: dict[EntityId, list[WitnessedOperation]] = {}
        self.decisions: dict[bytes, list[WitnessedOperation]] = {}
        self.effects: dict[bytes, list[WitnessedOperation]] = {}
        self.homes: dict[bytes, bytes] = {}
        for head in sorted(heads):
            commit = truth.received[head].commit
            for operation in commit.operations:
                past = truth.past[head, operation.entity]
                self._add(WitnessedOperation(head, operation, commit.stamp, past))

    def _add(self, deed: WitnessedOperation) -> None:
        self.deeds.setdefault(deed.operation.entity, []).append(deed)
        if deed.operation.kind == "decision":
            item = deed.operation.fields["item_id"]
            assert isinstance(item, bytes)
            self.decisions.setdefault(item, []).append(deed)
            self._note_home({**deed.operation.fields})
        items = deed.operation.fields.get("items") if deed.operation.kind == "change_set" else None
        for proposed in items if isinstance(items, list) else []:
            assert isinstance(proposed, dict)
            self._note_home(proposed)
        if deed.operation.effect is not None:
            self.effects.setdefault(deed.operation.effect, []).append(deed)

    def _note_home(self, fields: dict[str, Value]) -> None:
        """Note on which device verdicts on an item do not count, if a commit shows it."""
        item, home = fields.get("item_id"), fields.get("home")
        if isinstance(item, bytes) and isinstance(home, bytes):
            self.homes[item] = home

    # -- verdicts ---------------------------------------------------------------------------------------

    def counting(self, item: bytes) -> list[WitnessedOperation]:
        """Return the decisions on an item, without those of people on a device where they do not count."""
        decisions, home = self.decisions.get(item, []), self.homes.get(item)
        if home is None:
            return decisions
        return [
            deed
            for deed in decisions
            if self.truth.signers[deed.head.replica].device != home
            or deed.operation.by is not AuthorKind.USER
        ]

    def deciding(self, item: bytes) -> list[WitnessedOperation]:
        """Return the decisions that count: people's if any, and of those the ones that no other had seen."""
        operations = self.counting(item)
        pool = [
            operation for operation in operations if operation.operation.by is AuthorKind.USER
        ] or operations
        return [operation for operation in pool if not any(operation.head in other.past for other in pool)]

    def verdicts(self, item: bytes) -> list[str]:
        """Return the verdicts that count."""
        return sorted(str(operation.value("verdict")) for operation in self.deciding(item))

    @cached_property
    def _standings(self) -> dict[bytes, ItemStatus]:
        return {item: self._standing(item) for item in self.decisions}

    def _standing(self, item: bytes) -> ItemStatus:
        verdicts = self.verdicts(item)
        if "rejected" in verdicts or "undone" in verdicts:
            return ItemStatus(DecisionStatus.REJECTED, "confirmed" in verdicts)
        for status in (DecisionStatus.CONFIRMED, DecisionStatus.DEFERRED, DecisionStatus.RETRACTED):
            if status.value in verdicts:
                return ItemStatus(status, disputed=False)
        return ItemStatus(DecisionStatus.PENDING, disputed=False)

    def item_status(self, item: bytes) -> ItemStatus:
        """Return an item's status and whether it is disputed."""
        return self._standings.get(item, ItemStatus(DecisionStatus.PENDING, disputed=False))

    def confirmed(self, item: bytes) -> bool:
        """Return whether an item is in effect."""
        return self.item_status(item).status is DecisionStatus.CONFIRMED

    def is_in_effect(self, item: bytes, entity: EntityId) -> bool:
        """Return whether an item is confirmed, and names the entity, or has it among 24 others."""
        if not self.confirmed(item):
            return False
        named = self.named_entities(EntityId(item))
        others = {deed.operation.entity for deed in self.effects.get(item, [])} - named
        return entity in named or entity in sorted(others)[:24]

    def named_entities(self, item: EntityId) -> set[EntityId]:
        """Return the entities that decisions show an item to name, and the one that follows from it."""
        named = {derived_id("entity", id_to_text(item), time_of=item)}
        for deed in self.decisions.get(item, []):
            entity = deed.operation.fields.get("entity")
            if isinstance(entity, bytes):
                named.add(EntityId(entity))
        return named

    # -- entities ---------------------------------------------------------------------------------------

    def rested_on(self, deed: WitnessedOperation) -> bool:
        """Return whether a person wrote on the entity having seen this operation."""
        return any(other.person and deed.head in other.past for other in self.deeds[deed.operation.entity])

    def is_live(self, deed: WitnessedOperation) -> bool:
        """Return whether an operation counts."""
        effect = deed.operation.effect
        return (
            effect is None
            or self.is_in_effect(effect, deed.operation.entity)
            or (deed.creates and self.rested_on(deed))
        )

    @cached_property
    def _live(self) -> dict[EntityId, list[WitnessedOperation]]:
        return {
            entity: [deed for deed in deeds if self.is_live(deed)] for entity, deeds in self.deeds.items()
        }

    def live(self, entity: EntityId) -> list[WitnessedOperation]:
        """Return the operations of an entity that count."""
        return self._live.get(entity, [])

    def fields(self, entity: EntityId) -> set[str]:
        """Return the fields that have a version."""
        return {name for deed in self.live(entity) for name in deed.operation.fields}

    def maximal(self, entity: EntityId, field: str) -> list[WitnessedOperation]:
        """Return the versions of a field that stand, best first.

        No other version's author had seen them, and their own chain has not overtaken them.
        """
        having = [deed for deed in self.live(entity) if field in deed.operation.fields]
        tops = [deed for deed in having if not any(deed.head in other.past for other in having)]
        standing = [deed for deed in tops if not self.is_overtaken(deed, field)]
        return sorted(standing, key=lambda deed: deed.weight, reverse=True)

    def is_overtaken(self, deed: WitnessedOperation, field: str) -> bool:
        """Return whether four versions of its rank or a higher one follow a version on one chain."""
        after = [
            other
            for other in self.live(deed.operation.entity)
            if field in other.operation.fields
            and other.rank >= deed.rank
            and self.truth.descends(other.head, deed.head)
        ]
        return any(
            sum(other is end or self.truth.descends(end.head, other.head) for other in after) >= 4
            for end in after
        )

    def exists(self, entity: EntityId) -> bool:
        """Return whether a creating operation counts."""
        return any(deed.creates for deed in self.live(entity))

    def tombstones(self, entity: EntityId) -> list[WitnessedOperation]:
        """Return the maximal tombstones."""
        return [deed for deed in self.maximal(entity, DELETED) if deed.deletes]

    def visible(self, entity: EntityId) -> bool:
        """Return whether an entity is visible."""
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
