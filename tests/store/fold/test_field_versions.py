"""What many versions of an entity's fields cost, and that searching them finds what comparing them does.

Never compares with a number of seconds.
"""

import random
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from store.fold import field_versions
from store.fold.conditional import fold_history
from store.fold.entity import Entity
from store.fold.entity_state import (
    EntityState,
    SourcedOperation,
    apply_operation,
    dump_state,
    is_visible,
    load_state,
)
from syncproto.codec import Value
from syncproto.vector_clock import Chains, NoForks
from tests.support.drawn_histories import TASK, OneFork, drawn_head, drawn_history, sourced_write
from tests.support.growth import Work, assert_linear
from tests.support.stores import entity_id

ITEM = entity_id(50)
CHAINS = NoForks()


def fold(history: list[SourcedOperation], chains: Chains = CHAINS) -> EntityState:
    return fold_history(history, lambda item: item == ITEM, chains)


def page(row: bytes, history: list[SourcedOperation]) -> bytes:
    """Apply a page of operations to a row, as a store does."""
    loaded = load_state(row)
    for write in history:
        apply_operation(loaded, write, CHAINS)
    return dump_state(loaded)


def blind(first: int, count: int, fields: Mapping[str, Value] | None = None) -> list[SourcedOperation]:
    """Return writes of as many replicas, none of which has seen another."""
    return [
        sourced_write(drawn_head(replica, 1), ms=replica * 7919 % 1009, values=fields or {"title": replica})
        for replica in range(first, first + count)
    ]


def one_version_each(size: int) -> Work:
    return partial(page, dump_state(EntityState()), blind(1, size))


def each_covers_another(size: int) -> Work:
    """Half of them stand; each of the other half has seen one of these."""
    later = [
        sourced_write(drawn_head(size + replica, 1), drawn_head(replica, 1), ms=replica % 7, title=-replica)
        for replica in range(1, size + 1)
    ]
    return partial(page, dump_state(fold(blind(1, size))), later)


def each_has_seen_what_stands_elsewhere(size: int) -> Work:
    """One replica's writes stand in as many fields; those who have seen it write one field, blindly."""
    own = [sourced_write(drawn_head(1, n), values={f"field {n}": n}) for n in range(1, size + 1)]
    later = [
        sourced_write(drawn_head(1 + n, 1), drawn_head(1, size), ms=n % 7, note=n) for n in range(1, size + 1)
    ]
    return partial(page, dump_state(fold(own)), later)


def each_has_a_long_base(size: int) -> Work:
    """Bases that cover nothing are looked up only as far as there is something to cover."""
    base = [drawn_head(9_000_000 + n, 1) for n in range(100)]
    later = [sourced_write(drawn_head(n, 2), drawn_head(n, 1), *base, title=n) for n in range(1, size + 1)]
    return partial(page, dump_state(fold(blind(1, 2 * size))), later)


@pytest.mark.parametrize(
    "work", [one_version_each, each_covers_another, each_has_seen_what_stands_elsewhere, each_has_a_long_base]
)
def test_a_version_costs_alike_however_many_others_stand(work: Any) -> None:
    assert_linear(work, 500)


def test_a_page_costs_what_its_fields_and_the_row_have() -> None:
    def work(size: int) -> Work:
        fields: dict[str, Value] = {f"{n}": n for n in range(200)}
        return partial(page, dump_state(fold(blind(1, size, fields))), blind(size + 1, size, fields))

    assert_linear(work, 20)


def test_deletions_that_nobody_has_seen_are_joined_in_linear_time() -> None:
    def work(size: int) -> Work:
        first = blind(1, 4 * size)
        tombs = [
            sourced_write(
                drawn_head(5 * size + tomb, 1),
                *(drawn_head(4 * tomb + n, 1) for n in range(1, 5)),
                deleted=True,
                ms=tomb,
            )
            for tomb in range(size)
        ]
        row = fold([*first, *tombs])
        assert not is_visible(row, CHAINS)
        return partial(is_visible, row, CHAINS)

    assert_linear(work, 300)


@pytest.mark.parametrize("chains", [CHAINS, OneFork()])
@pytest.mark.parametrize("seed", range(30))
def test_searching_the_versions_finds_what_comparing_each_does(
    seed: int, chains: Chains, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = drawn_history(random.Random(seed), 120, chains, [ITEM])
    monkeypatch.setattr(field_versions, "_FEW_PARTS", 1 << 30)
    compared = dump_state(fold(history, chains))
    for limit in ("_FEW_PARTS", "_SCANS_MAX"):
        monkeypatch.setattr(field_versions, limit, 0)
    assert dump_state(fold(history, chains)) == compared


def test_a_row_gives_each_of_its_versions_to_who_asks() -> None:
    row = load_state(dump_state(fold([*blind(1, 3), sourced_write(drawn_head(9, 1), note="n")])))
    titles = [version.value for version in row.fields["title"]]
    assert titles == sorted(titles, key=lambda replica: -(replica * 7919 % 1009))  # type: ignore[operator]
    assert (row.fields.value("title"), row.fields.value("due")) == (titles[0], None)
    assert row.fields.winner("due") is None
    assert row.fields.version("title", 2) == row.fields["title"][2]
    assert ("title" in row.fields, "due" in row.fields, len(row.fields)) == (True, False, 2)
    assert [source.head for source in row.fields.standing_sources()] == [
        drawn_head(n, 1) for n in (1, 2, 3, 9)
    ]
    assert {source.head for source in row.fields.winning_sources()} == {
        row.fields["title"][0].source.head,
        drawn_head(9, 1),
    }
    assert list(row.fields.competing_values("task")) == [("title", list(enumerate(titles)))]
    assert [version.value for version in Entity(TASK, row, True).conflicts()["title"]] == titles
