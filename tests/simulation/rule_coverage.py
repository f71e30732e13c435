"""How often each rule was at work in a run of histories: a property whose rule never was proves nothing.

Never judges: it counts what an oracle and a fleet have seen.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

from syncproto.ids import EntityId
from syncproto.vector_clock import Head
from tests.simulation.fleet import StoreFleet
from tests.simulation.oracle import DELETED, FoldOracle, WitnessedOperation


def apart(operation: WitnessedOperation, other: WitnessedOperation) -> bool:
    """Return whether neither author had seen the other's operation."""
    return (
        operation.head not in other.past and other.head not in operation.past and operation.head != other.head
    )


def _verdicts(oracle: FoldOracle, item: bytes, *names: str) -> list[WitnessedOperation]:
    return [deed for deed in oracle.decisions[item] if deed.value("verdict") in names]


def _verdicts_apart(oracle: FoldOracle, first: str, second: str) -> bool:
    return any(
        apart(operation, other)
        for item in oracle.decisions
        for operation in _verdicts(oracle, item, first)
        for other in _verdicts(oracle, item, second)
    )


def _three_at_once(oracle: FoldOracle) -> bool:
    return any(
        len({deed.head.replica for deed in three}) == 3
        and all(apart(*pair) for pair in combinations(three, 2))
        for deeds in oracle.decisions.values()
        for three in combinations(deeds, 3)
    )


def _retraction_beside_a_person(oracle: FoldOracle) -> bool:
    return any(
        _verdicts(oracle, item, "retracted") and _verdicts(oracle, item, "confirmed", "rejected", "deferred")
        for item in oracle.decisions
    )


def _edited_and_plain(oracle: FoldOracle) -> bool:
    for item in oracle.decisions:
        confirmed = _verdicts(oracle, item, "confirmed")
        edits = [deed for deed in confirmed if "edited_args" in deed.operation.fields]
        if any(apart(edit, other) for edit in edits for other in confirmed if other not in edits):
            return True
    return False


# -- versions --------------------------------------------------------------------------------------------


def _contests(oracle: FoldOracle) -> Iterator[list[WitnessedOperation]]:
    """Yield the maximal versions of every field that has more than one, best first."""
    for entity in oracle.deeds:
        for field in oracle.fields(entity):
            tops = oracle.maximal(entity, field)
            if len(tops) > 1:
                yield tops


def _conflicts(oracle: FoldOracle) -> bool:
    return any(
        len({repr(deed.value(field)) for deed in oracle.maximal(entity, field)}) > 1
        for entity in oracle.deeds
        for field in oracle.fields(entity)
    )


def _ranks(first: int, second: int) -> Callable[[FoldOracle], bool]:
    return lambda oracle: any(tops[0].rank == first and tops[1].rank == second for tops in _contests(oracle))


def _rank_against_time(oracle: FoldOracle) -> bool:
    return any(tops[0].rank > tops[1].rank and tops[0].stamp < tops[1].stamp for tops in _contests(oracle))


def _time_decides(oracle: FoldOracle) -> bool:
    return any(tops[0].rank == tops[1].rank and tops[0].stamp > tops[1].stamp for tops in _contests(oracle))


def _replica_decides(oracle: FoldOracle) -> bool:
    return any(tops[0].rank == tops[1].rank and tops[0].stamp == tops[1].stamp for tops in _contests(oracle))


def _labels(oracle: FoldOracle, same: bool) -> bool:
    deeds = [
        (field, deed)
        for of_one in oracle.deeds.values()
        for deed in of_one
        for field in deed.operation.fields
        if field.startswith("label_ids/")
    ]
    return any(
        apart(operation, other) and (left == right) is same
        for (left, operation), (right, other) in combinations(deeds, 2)
        if same or (operation.value(left) and other.value(right))
    )


def _edit_stays_after_undo(oracle: FoldOracle) -> bool:
    return any(
        not oracle.confirmed(item)
        and any(
            top.person and effect.head in top.past
            for effect in effects
            for field in effect.operation.fields
            for top in oracle.maximal(effect.operation.entity, field)
        )
        for item, effects in oracle.effects.items()
        if item in oracle.decisions and _verdicts(oracle, item, "undone")
    )


# -- creations -------------------------------------------------------------------------------------------


def _creations(
    oracle: FoldOracle,
) -> Iterator[tuple[EntityId, list[WitnessedOperation], list[WitnessedOperation]]]:
    """Yield entities made by confirmations: the creations that are confirmed or kept, and the dead ones."""
    for entity, deeds in oracle.deeds.items():
        operations = [deed for deed in deeds if deed.creates and deed.operation.effect]
        if operations:
            live = [deed for deed in operations if oracle.is_live(deed)]
            yield entity, live, [deed for deed in operations if deed not in live]


def _unconfirmed(oracle: FoldOracle, deed: WitnessedOperation) -> bool:
    return deed.operation.effect is not None and not oracle.confirmed(deed.operation.effect)


def _kept(oracle: FoldOracle) -> bool:
    return any(_unconfirmed(oracle, deed) for _, live, _ in _creations(oracle) for deed in live)


def _kept_beside_dead(oracle: FoldOracle) -> bool:
    return any(live and dead for _, live, dead in _creations(oracle))


def _gone(oracle: FoldOracle) -> bool:
    return any(dead and not oracle.exists(entity) for entity, _, dead in _creations(oracle))


def _gone_with_a_change(oracle: FoldOracle) -> bool:
    return any(oracle.live(entity) and not oracle.exists(entity) for entity, _, _ in _creations(oracle))


def _made_twice(oracle: FoldOracle) -> bool:
    return any(
        apart(operation, other)
        for _, live, dead in _creations(oracle)
        for operation, other in combinations(live + dead, 2)
    )


def _lands_on_dead(oracle: FoldOracle) -> bool:
    return any(
        person.person and operation.head in person.past and apart(person, undoing)
        for entity, live, dead in _creations(oracle)
        for operation in live + dead
        for undoing in _undoings(oracle, operation)
        for person in oracle.deeds[entity]
    )


def _undoings(oracle: FoldOracle, operation: WitnessedOperation) -> list[WitnessedOperation]:
    assert operation.operation.effect is not None
    return _verdicts(oracle, operation.operation.effect, "undone", "rejected")


def _made_again(oracle: FoldOracle) -> bool:
    return any(
        undoing.head in other.past
        for _, live, _ in _creations(oracle)
        for operation in live
        if not _unconfirmed(oracle, operation)
        for undoing in _undoings(oracle, operation)
        for other in _verdicts(oracle, operation.operation.effect or b"", "confirmed")
    )


def _checklists(oracle: FoldOracle) -> Iterator[list[WitnessedOperation]]:
    for entity, deeds in oracle.deeds.items():
        if deeds[0].operation.kind == "checklist":
            yield [deed for deed in oracle.deeds[entity] if deed.creates]


def _checklist_made_twice(oracle: FoldOracle) -> bool:
    return any(len(operations) > 1 for operations in _checklists(oracle))


def _checklist_outlives_undo(oracle: FoldOracle) -> bool:
    makers = {deed.head for operations in _checklists(oracle) for deed in operations}
    return any(
        effect.head in makers and not oracle.confirmed(item)
        for item, effects in oracle.effects.items()
        for effect in effects
    )


# -- deletions -------------------------------------------------------------------------------------------


def _hidden(oracle: FoldOracle) -> Iterator[EntityId]:
    return (entity for entity in oracle.deeds if oracle.exists(entity) and not oracle.visible(entity))


def _outlived(oracle: FoldOracle) -> Iterator[tuple[EntityId, list[WitnessedOperation]]]:
    """Yield entities that are in sight although a tombstone is maximal, with what no tombstone had seen."""
    for entity in oracle.deeds:
        tombs = oracle.tombstones(entity)
        if tombs and oracle.visible(entity):
            yield (
                entity,
                [
                    deed
                    for deed in oracle.deeds[entity]
                    if deed.person and not deed.deletes and not any(deed.head in tomb.past for tomb in tombs)
                ],
            )


def _effect_beneath(oracle: FoldOracle) -> bool:
    return any(
        deed.operation.effect
        and oracle.is_live(deed)
        and all(apart(deed, tomb) for tomb in oracle.tombstones(entity))
        for entity in _hidden(oracle)
        for deed in oracle.deeds[entity]
    )


def _hidden_only_together(oracle: FoldOracle) -> bool:
    for entity in _hidden(oracle):
        tombs = oracle.tombstones(entity)
        persons = [deed for deed in oracle.deeds[entity] if deed.person and not deed.deletes]
        if tombs and not any(all(deed.head in tomb.past for deed in persons) for tomb in tombs):
            return True
    return False


def _touch_keeps_task(oracle: FoldOracle) -> bool:
    return any(
        unseen and all(not deed.operation.fields for deed in unseen) for _, unseen in _outlived(oracle)
    )


def _restored(oracle: FoldOracle) -> bool:
    return any(
        deed.operation.fields.get(DELETED) is False for deeds in oracle.deeds.values() for deed in deeds
    )


# -- proposals -------------------------------------------------------------------------------------------


def _proposals(oracle: FoldOracle) -> dict[bytes, list[tuple[bytes, WitnessedOperation]]]:
    """Return by fingerprint the items that were proposed, each with the operation that did."""
    proposals: dict[bytes, list[tuple[bytes, WitnessedOperation]]] = {}
    for deeds in oracle.deeds.values():
        for deed in deeds:
            items: Any = deed.operation.fields.get("items", []) if deed.operation.kind == "change_set" else []
            for item in items:
                proposals.setdefault(item["fingerprint"], []).append((item["item_id"], deed))
    return proposals


def _twins(oracle: FoldOracle) -> bool:
    return any(
        left == right and apart(operation, other)
        for proposed in _proposals(oracle).values()
        for (left, operation), (right, other) in combinations(proposed, 2)
    )


def _proposed_again(oracle: FoldOracle) -> bool:
    return any(len({item for item, _ in proposed}) > 1 for proposed in _proposals(oracle).values())


def _not_followed(oracle: FoldOracle) -> bool:
    stamps = {head: oracle.truth.received[head].commit.stamp for head in oracle.held}
    return any(
        stamps[head] > deed.stamp for deeds in oracle.deeds.values() for deed in deeds for head in deed.past
    )


def _idle_beside_counting(oracle: FoldOracle) -> bool:
    return any(0 < len(oracle.counting(item)) < len(oracle.decisions[item]) for item in oracle.decisions)


RULES_IN_ORACLE: dict[str, Callable[[FoldOracle], bool]] = {
    "confirmed on two devices while apart": lambda o: _verdicts_apart(o, "confirmed", "confirmed"),
    "confirmed here, rejected there": lambda o: _verdicts_apart(o, "confirmed", "rejected"),
    "undone on two devices while apart": lambda o: _verdicts_apart(o, "undone", "undone"),
    "disputed to the end": lambda o: any(o.item_status(item).disputed for item in o.decisions),
    "verdicts of three devices at once": _three_at_once,
    "an agent's retraction beside a person's verdict": _retraction_beside_a_person,
    "reopened here, retracted there": lambda o: _verdicts_apart(o, "reopened", "retracted"),
    "edited here, confirmed as it was there": _edited_and_plain,
    "a verdict that does not count beside one that does": _idle_beside_counting,
    "a conflict of values": _conflicts,
    "a person's edit against a plain confirmation": _ranks(3, 1),
    "a person's edit against an edited confirmation": _ranks(3, 2),
    "an edited confirmation against a plain one": _ranks(2, 1),
    "a person's edit against an agent's immediate write": _ranks(3, 0),
    "rank wins over a later time": _rank_against_time,
    "time decides between equal ranks": _time_decides,
    "the replica decides between equal times": _replica_decides,
    "concurrent additions to a set": lambda o: _labels(o, same=False),
    "one member of a set, written twice while apart": lambda o: _labels(o, same=True),
    "a later edit stays after an undo": _edit_stays_after_undo,
    "a dead creation is kept by a person's write": _kept,
    "one creation is kept, its twin is dead": _kept_beside_dead,
    "an undone creation is gone": _gone,
    "an undone creation takes a confirmed change with it": _gone_with_a_change,
    "one thing created on two devices": _made_twice,
    "a person's write meets a creation undone meanwhile": _lands_on_dead,
    "created again after its undo": _made_again,
    "two devices make the common checklist": _checklist_made_twice,
    "the common checklist outlives the undo of what made it": _checklist_outlives_undo,
    "deleted, and nobody wrote meanwhile": lambda o: any(True for _ in _hidden(o)),
    "deleted here, written there: in sight": lambda o: any(True for _ in _outlived(o)),
    "deleted here, confirmed there: beneath": _effect_beneath,
    "hidden by two deletions together": _hidden_only_together,
    "a child's touch keeps its task in sight": _touch_keeps_task,
    "a deletion taken back": _restored,
    "two runs propose the same": _twins,
    "proposed again after a decision": _proposed_again,
    "a clock too far ahead is not followed": _not_followed,
}

RULES_IN_ACTIONS: dict[str, tuple[str, ...]] = {
    "a dispute settled by confirming": ("confirm: settled",),
    "a dispute settled by confirming the edit in it": ("confirm: settled, edited",),
    "a dispute settled by rejecting": ("reject: settled",),
    "the same verdict again": ("confirm: already", "reject: already"),
    "the opposite verdict refused": ("confirm: conflict", "reject: conflict"),
    "confirmed again after a rejection or an undo": ("confirm: confirmed again",),
    "an undo brings back what was covered": ("undo: what it covered shows again",),
    "reopened": ("reopen: done",),
    "deferred": ("defer: done",),
    "retracted": ("retract: done",),
    "refused as stale": ("confirm: stale",),
    "a verdict on the agent's own device": ("confirm: does not count", "reject: does not count"),
    "a creation refused as stale": ("confirm: creation stale",),
    "forced over something newer": ("confirm: forced",),
    "forced again after an edit overtook it": ("confirm: forced again",),
    "confirmed with an edit": ("confirm: edited",),
    "refused, for its task is deleted": ("confirm: obsolete",),
    "all of a set confirmed": ("confirm all: several at once",),
    "written on a page that had grown old": ("write page: what it showed was old",),
    "an exchange that broke off": ("sync: partly",),
    "two links brought the same": ("two links: both brought the same",),
    "a restart": ("restart: done",),
    "a transaction undone": ("abort: done",),
    "a restored backup": ("restored: done",),
}


class RuleCoverage:
    """In how many histories each rule was at work."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.histories = 0

    def add(self, fleet: StoreFleet, oracles: list[FoldOracle]) -> None:
        """Count one history, by what its judges saw on the way and at the end."""
        self.histories += 1
        self.counts.update(
            name for name, is_covered in RULES_IN_ORACLE.items() if any(map(is_covered, oracles))
        )
        self.counts.update(
            name for name, keys in RULES_IN_ACTIONS.items() if any(fleet.counts[key] for key in keys)
        )
        self.counts.update(dict.fromkeys(fleet.counts, 1))

    def add_forks(self, fleet: StoreFleet) -> None:
        """Count what forks a history had; call it after `add`."""
        truth, heads = fleet.truth, fleet.devices[0].held
        siblings = Counter(truth.parent(head) or head.replica for head in heads)
        forks = [parent for parent, count in siblings.items() if count > 1]
        names = {head.replica: truth.received[head].commit for head in heads}
        writers = Counter(truth.signers[replica].device for replica in names)
        self.counts.update(
            name
            for name, observed in {
                "a replica forked": bool(forks),
                "a replica forked before its first commit was known": any(
                    isinstance(fork, bytes) for fork in forks
                ),
                "a replica has three branches or more": max(
                    Counter(fork.replica for fork in forks if isinstance(fork, Head)).values(), default=0
                )
                > 1
                or max(siblings.values()) > 2,
                "a device goes on as a new replica": max(writers.values()) > 1,
            }.items()
            if observed
        )

    def report(self, names: Iterable[str]) -> str:
        """Return the counts as lines, rarest first."""
        rows = sorted((self.counts[name], name) for name in names)
        return "\n".join([f"of {self.histories} histories:"] + [f"{count:6} {name}" for count, name in rows])

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return what never occurred."""
        return [name for name in names if not self.counts[name]]
