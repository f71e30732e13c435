"""The history of decisions: newest first, in pages that divide no commit, and their cost.

Never judges a decision: only which are found, and in which order.
"""

from itertools import pairwise
from typing import Any

import pytest

from store.queries.decisions import DecisionEntry, decisions_before
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from tests.support.sqlite_steps import steps_to_read
from tests.support.stores import StoreBench, entity_id

TASK, OTHER = entity_id(1), entity_id(2)


def propose(store: Store, number: int, task: EntityId = TASK) -> EntityId:
    item = entity_id(1000 + number)
    proposed: dict[str, Any] = {"item_id": item, "fingerprint": b"", "tool": "", "args": {}}
    fields: dict[str, Any] = {"task_id": task, "items": [proposed], "expires_at": 1}
    with store.write() as tx:
        tx.commit([EntityWrite(entity_id(3000 + number), "change_set", fields)], by=AuthorKind.AGENT)
    return item


def decide(store: Store, *items: EntityId) -> list[EntityId]:
    with store.write() as tx:
        new_ids = [tx.new_id() for _ in items]
        tx.commit(
            [
                EntityWrite(new_id, "decision", {"item_id": item, "verdict": "rejected", "seen": []})
                for new_id, item in zip(new_ids, items, strict=True)
            ]
        )
    return new_ids


def decisions_page(store: Store, limit: int = 100, **which: Any) -> list[DecisionEntry]:
    fields: dict[str, Any] = {"task": None, "before": None, **which}
    with store.read() as snapshot:
        return decisions_before(snapshot, limit=limit, **fields)


@pytest.fixture
def store(bench: StoreBench) -> Store:
    return bench.store("a")


def test_decisions_come_newest_first_each_with_its_item(store: Store) -> None:
    identifier, two = propose(store, 1), propose(store, 2)
    first, second, third = (decide(store, item)[0] for item in (identifier, two, identifier))
    assert [(decision.item, decision.decision) for decision in decisions_page(store)] == [
        (identifier, third),
        (two, second),
        (identifier, first),
    ]
    assert all(newer.seq > older.seq for newer, older in pairwise(decisions_page(store)))


def test_pages_follow_each_other_without_gap_or_repetition(store: Store) -> None:
    items = [propose(store, number) for number in range(7)]
    for item in items:
        decide(store, item)
    decisions, before = [], None
    while page := decisions_page(store, 3, before=before):
        decisions += page
        before = page[-1].seq
    assert decisions == decisions_page(store)
    assert len(decisions) == 7


def test_a_commit_with_several_decisions_is_not_cut(store: Store) -> None:
    items = [propose(store, number) for number in range(4)]
    together = decide(store, *items[:3])
    last = decide(store, items[3])
    page = decisions_page(store, 2)
    assert [decision.decision for decision in page[:1]] == last
    assert sorted(decision.decision for decision in page[1:]) == sorted(together)
    assert decisions_page(store, 2, before=page[-1].seq) == []


def test_decisions_on_what_was_never_proposed_here_are_left_out(store: Store) -> None:
    item = propose(store, 1)
    decide(store, item)
    for number in range(5):
        decide(store, entity_id(2000 + number))
    assert [decision.item for decision in decisions_page(store, 1)] == [item]


def test_a_task_shows_the_decisions_on_its_own_items(store: Store) -> None:
    mine, theirs = propose(store, 1), propose(store, 2, OTHER)
    decide(store, mine)
    decide(store, theirs)
    decide(store, mine)
    assert [decision.item for decision in decisions_page(store, task=TASK)] == [mine, mine]
    assert [decision.item for decision in decisions_page(store, 1, task=OTHER)] == [theirs]
    assert decisions_page(store, task=entity_id(9)) == []


def test_an_item_that_two_sets_hold_is_told_once(store: Store) -> None:
    item = propose(store, 1)
    proposed: dict[str, Any] = {"item_id": item}
    with store.write() as tx:
        tx.commit(
            [EntityWrite(tx.new_id(), "change_set", {"task_id": TASK, "items": [proposed]})],
            by=AuthorKind.AGENT,
        )
    decide(store, item)
    assert len(decisions_page(store)) == len(decisions_page(store, task=TASK)) == 1


@pytest.mark.parametrize("task", [None, TASK])
def test_a_page_costs_what_it_shows_however_much_was_decided(
    bench: StoreBench, task: EntityId | None
) -> None:
    costs = []
    for name, size in (("small", 20), ("large", 400)):
        store = bench.store(name)
        mine = propose(store, 0)
        for number in range(1, size):
            decide(store, propose(store, number, OTHER))
        for _ in range(3):
            decide(store, mine)

        def page(snapshot: Snapshot) -> object:
            return decisions_before(snapshot, task=task, before=None, limit=3)

        costs.append(steps_to_read(store, page))
    assert costs[1] <= costs[0] + 20
