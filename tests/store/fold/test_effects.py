"""How many entities an item's confirmation can be in effect on, and what a turned verdict costs.

Never compares with a number of seconds.
"""

import random

import pytest

from store.fold.conditional import ConditionalFold, InEffect
from store.fold.effects import EFFECTS_MAX, entity_of_item
from store.fold.entity_state import EntityState
from store.fold.item_name import ItemName, fields_of_name, name_shown_in
from store.log.commit_log import CommitLog
from store.store import Store
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK, Chains, Head
from tests.support.stores import StoreBench, assert_store_is_whole, entity_id, exchange, log_and_state

ITEM = entity_id(1)
MADE = [entity_id(100 + number) for number in range(40)]


def effects(*entities: EntityId) -> list[EntityWrite]:
    return [
        EntityWrite(entity, "checklist_item", {"title": "a"}, effect=ITEM, by=AuthorKind.AGENT)
        for entity in entities
    ]


def decision(number: int, verdict: str, *identifier: EntityId) -> EntityWrite:
    fields: dict[str, Value] = {"item_id": ITEM, "verdict": verdict, "seen": list(identifier)}
    return EntityWrite(entity_id(900 + number), "decision", fields, base=EMPTY_CLOCK)


def write(store: Store, *writes: EntityWrite) -> Head:
    with store.write() as tx:
        return tx.commit(writes)


def in_effect(store: Store) -> list[EntityId]:
    with store.read() as snapshot:
        assert_store_is_whole(snapshot)
        return [
            entity for entity in MADE if (found_entity := snapshot.entity(entity)) and found_entity.exists
        ]


def test_an_item_is_in_effect_on_the_entities_with_the_least_ids(bench: StoreBench) -> None:
    a = bench.store("a")
    write(a, decision(1, "confirmed"))
    write(a, *effects(*MADE))
    assert in_effect(a) == MADE[:EFFECTS_MAX]


@pytest.mark.parametrize("seed", range(3))
def test_in_which_order_effects_come_makes_no_difference(bench: StoreBench, seed: int) -> None:
    a, b = bench.store("a"), bench.store("b")
    mixed = random.Random(seed).sample(MADE, len(MADE))
    half = len(MADE) // 2
    write(a, *effects(*mixed[:half]))
    write(a, decision(1, "confirmed"))
    for entity in mixed[half:]:
        write(b, *effects(entity))
    exchange(a, b, page_bytes=100)
    exchange(b, a, page_bytes=100)
    assert in_effect(a) == in_effect(b) == MADE[:EFFECTS_MAX]
    assert log_and_state(a)[:2] == log_and_state(b)[:2]


def test_a_turned_verdict_reads_no_commit(bench: StoreBench, monkeypatch: pytest.MonkeyPatch) -> None:
    a = bench.store("a")
    write(a, *effects(*MADE[:20]))
    for _ in range(3):
        write(a, *(EntityWrite(entity, "checklist_item", {"title": "b"}) for entity in MADE[:20]))

    def noted(log: CommitLog, seq: int) -> tuple[Head, bytes]:
        raise AssertionError(f"commit {seq} of {log} was read")

    monkeypatch.setattr(CommitLog, "body_at", noted)
    monkeypatch.setattr(CommitLog, "commit_at", noted)
    write(a, decision(1, "confirmed"))
    write(a, decision(2, "undone", entity_id(901)))
    monkeypatch.undo()
    assert in_effect(a) == MADE[:20]


def test_a_turned_verdict_folds_no_more_than_counts(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = bench.store("a")
    for entity in MADE:
        write(a, *effects(entity))
    folded: list[EntityState] = []
    fold = ConditionalFold.row

    def noted(conditional: ConditionalFold, counts: InEffect, chains: Chains) -> EntityState:
        folded.append(fold(conditional, counts, chains))
        return folded[-1]

    monkeypatch.setattr(ConditionalFold, "row", noted)
    write(a, decision(1, "confirmed"))
    assert len(folded) == EFFECTS_MAX
    write(a, decision(2, "undone", entity_id(901)))
    assert in_effect(a) == []


NAMED = entity_id(700)
NAME = ItemName(bytes(range(32)), None, NAMED)
NAMING_ITEM = NAME.item_id(time_of=NAMED)


def naming_decision(number: int, verdict: str, **more: Value) -> EntityWrite:
    fields: dict[str, Value] = {"item_id": NAMING_ITEM, "verdict": verdict, "seen": [], **more}
    return EntityWrite(entity_id(900 + number), "decision", fields, base=EMPTY_CLOCK)


def shown_decision(number: int, verdict: str) -> EntityWrite:
    return naming_decision(number, verdict, **fields_of_name(NAME))


def naming_effects(*entities: EntityId) -> list[EntityWrite]:
    return [
        EntityWrite(entity, "checklist_item", {"title": "a"}, effect=NAMING_ITEM, by=AuthorKind.AGENT)
        for entity in entities
    ]


def exists(store: Store, entity: EntityId) -> bool:
    with store.read() as snapshot:
        assert_store_is_whole(snapshot)
        found_entity = snapshot.entity(entity)
    return found_entity is not None and found_entity.exists


def test_no_forged_effect_takes_the_place_of_what_an_item_names(bench: StoreBench) -> None:
    a = bench.store("a")
    made = entity_of_item(NAMING_ITEM)
    write(a, shown_decision(1, "confirmed"), *naming_effects(NAMED, made))
    write(a, *naming_effects(*MADE))
    assert exists(a, NAMED)
    assert exists(a, made)
    assert in_effect(a) == MADE[:EFFECTS_MAX]


def test_what_an_item_names_counts_from_when_it_is_shown(bench: StoreBench) -> None:
    a = bench.store("a")
    write(a, naming_decision(1, "confirmed"), *naming_effects(NAMED, *MADE))
    assert not exists(a, NAMED)
    write(a, shown_decision(2, "deferred"))
    assert exists(a, NAMED)


def test_a_place_that_what_is_named_leaves_is_taken_by_the_next(bench: StoreBench) -> None:
    a = bench.store("a")
    later = [entity_id(1000 + number) for number in range(EFFECTS_MAX)]
    write(a, naming_decision(1, "confirmed"), *naming_effects(NAMED, *later))
    assert exists(a, NAMED)
    assert not exists(a, later[-1])
    write(a, shown_decision(2, "deferred"))
    assert exists(a, NAMED)
    assert exists(a, later[-1])


@pytest.mark.parametrize("seed", range(6))
def test_in_which_order_names_effects_and_verdicts_come_makes_no_difference(
    bench: StoreBench, seed: int
) -> None:
    a, b = bench.store("a"), bench.store("b")
    dice = random.Random(seed)
    steps = [*([write] for write in naming_effects(NAMED, *MADE)), [shown_decision(1, "deferred")]]
    steps += [[naming_decision(2, "confirmed")], [naming_decision(3, "undone")][: dice.randrange(2)]]
    dice.shuffle(steps)
    for step in filter(None, steps):
        write(dice.choice((a, b)), *step)
    exchange(a, b, page_bytes=dice.choice((100, 1 << 20)))
    exchange(b, a, page_bytes=dice.choice((100, 1 << 20)))
    assert in_effect(a) == in_effect(b)
    assert exists(a, NAMED) == exists(b, NAMED) == bool(in_effect(a))
    assert log_and_state(a)[:2] == log_and_state(b)[:2]


@pytest.mark.parametrize(
    "more",
    [
        {"entity": None},
        {"entity": bytes(15)},
        {"entity": entity_id(701)},
        {"fingerprint": "text"},
        {"fingerprint": bytes(32)},
        {"follows": bytes(15)},
        {"follows": entity_id(701)},
    ],
)
def test_what_does_not_lead_to_the_item_shows_nothing(more: dict[str, Value]) -> None:
    assert name_shown_in(fields_of_name(NAME), NAMING_ITEM) == NAME
    assert name_shown_in(fields_of_name(NAME) | more, NAMING_ITEM) is None
