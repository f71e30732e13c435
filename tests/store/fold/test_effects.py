"""How many entities an item's confirmation can be in effect on, and what a turned verdict costs.

Never compares with a number of seconds.
"""

import random

import pytest

from store.fold.conditional import ConditionalFold, InEffect
from store.fold.effects import EFFECTS_MAX
from store.fold.entity_state import EntityState
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
