"""The history of decisions: newest first, in pages that end where a commit does, at what they cost.

Never judges a decision: only which are found, and in which order.
"""

from itertools import pairwise
from typing import Any

import pytest

from store.decisions import Made, decisions_before
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import Write
from syncproto.commit import By
from syncproto.ids import EntityId
from tests.store.stores import Bench, entity_id
from tests.store.test_cost import cost

TASK, OTHER = entity_id(1), entity_id(2)


def propose(store: Store, number: int, task: EntityId = TASK) -> EntityId:
    item = entity_id(1000 + number)
    proposed: dict[str, Any] = {"item_id": item, "fingerprint": b"", "tool": "", "args": {}}
    fields: dict[str, Any] = {"task_id": task, "items": [proposed], "expires_at": 1}
    with store.write() as tx:
        tx.commit([Write(entity_id(3000 + number), "change_set", fields)], by=By.AGENT)
    return item


def decide(store: Store, *items: EntityId) -> list[EntityId]:
    with store.write() as tx:
        made = [tx.new_id() for _ in items]
        tx.commit(
            [
                Write(one, "decision", {"item_id": item, "verdict": "rejected", "seen": []})
                for one, item in zip(made, items, strict=True)
            ]
        )
    return made


def made(store: Store, limit: int = 100, **which: Any) -> list[Made]:
    asked: dict[str, Any] = {"task": None, "before": None, **which}
    with store.read() as snapshot:
        return decisions_before(snapshot, limit=limit, **asked)


@pytest.fixture
def store(bench: Bench) -> Store:
    return bench.store("a")


def test_decisions_come_newest_first_each_with_its_item(store: Store) -> None:
    one, two = propose(store, 1), propose(store, 2)
    first, second, third = (decide(store, item)[0] for item in (one, two, one))
    assert [(found.item, found.decision) for found in made(store)] == [
        (one, third),
        (two, second),
        (one, first),
    ]
    assert all(newer.seq > older.seq for newer, older in pairwise(made(store)))


def test_pages_follow_each_other_without_gap_or_repetition(store: Store) -> None:
    items = [propose(store, number) for number in range(7)]
    for item in items:
        decide(store, item)
    every, before = [], None
    while page := made(store, 3, before=before):
        every += page
        before = page[-1].seq
    assert every == made(store)
    assert len(every) == 7


def test_a_commit_with_several_decisions_is_not_cut(store: Store) -> None:
    items = [propose(store, number) for number in range(4)]
    together = decide(store, *items[:3])
    last = decide(store, items[3])
    page = made(store, 2)
    assert [one.decision for one in page[:1]] == last
    assert sorted(one.decision for one in page[1:]) == sorted(together)
    assert made(store, 2, before=page[-1].seq) == []


def test_decisions_on_what_was_never_proposed_here_are_left_out(store: Store) -> None:
    item = propose(store, 1)
    decide(store, item)
    for number in range(5):
        decide(store, entity_id(2000 + number))
    assert [one.item for one in made(store, 1)] == [item]


def test_a_task_shows_the_decisions_on_its_own_items(store: Store) -> None:
    mine, theirs = propose(store, 1), propose(store, 2, OTHER)
    decide(store, mine)
    decide(store, theirs)
    decide(store, mine)
    assert [one.item for one in made(store, task=TASK)] == [mine, mine]
    assert [one.item for one in made(store, 1, task=OTHER)] == [theirs]
    assert made(store, task=entity_id(9)) == []


def test_an_item_that_two_sets_hold_is_told_once(store: Store) -> None:
    item = propose(store, 1)
    proposed: dict[str, Any] = {"item_id": item}
    with store.write() as tx:
        tx.commit([Write(tx.new_id(), "change_set", {"task_id": TASK, "items": [proposed]})], by=By.AGENT)
    decide(store, item)
    assert len(made(store)) == len(made(store, task=TASK)) == 1


@pytest.mark.parametrize("task", [None, TASK])
def test_a_page_costs_what_it_shows_however_much_was_decided(bench: Bench, task: EntityId | None) -> None:
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

        costs.append(cost(store, page))
    assert costs[1] <= costs[0] + 20
