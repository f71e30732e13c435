"""What many versions of an entity's fields cost, and that searching them finds what comparing them does.

Never compares with a number of seconds.
"""

import random
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from store.fold import field_versions
from store.fold.entity import Entity
from store.fold.entity_state import (
    EntityState,
    SourcedOperation,
    apply_operation,
    dump_state,
    fold_history,
    is_visible,
    load_state,
)
from store.fold.field_versions import Provenance
from syncproto.codec import Value
from syncproto.commit import AuthorKind, Operation
from syncproto.ids import EntityId, ReplicaId
from syncproto.vector_clock import Chains, Head, NoForks
from tests.support.growth import Work, assert_linear
from tests.support.stores import entity_id

TASK, ITEM = entity_id(1), entity_id(50)
CHAINS = NoForks()


class OneFork(NoForks):
    """Replica 0 has forked at counter 3: odd hashes are on one chain, even ones on the other."""

    def is_forked(self, replica: ReplicaId) -> bool:
        """Return whether it is replica 0."""
        return replica == bytes(16)

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Compare what comes before the fork by counters, and the rest by the side."""
        same_side = commit.hash[0] % 2 == end.hash[0] % 2
        return commit.counter <= end.counter and (commit.counter < 3 or same_side)


def head(replica: int, counter: int, side: int = 0) -> Head:
    return Head(ReplicaId(replica.to_bytes(16, "big")), counter, bytes([side]) * 32)


def wrote(
    write_head: Head,
    *base: Head,
    ms: int = 0,
    by: AuthorKind = AuthorKind.USER,
    effect: EntityId | None = None,
    values: Mapping[str, Value] | None = None,
    **fields: Value,
) -> SourcedOperation:
    new_operation = Operation(
        TASK, "task", tuple(sorted(base)), {**fields, **(values or {})}, effect, by, None
    )
    tomb = new_operation.base if new_operation.deletes else None
    return SourcedOperation(Provenance(write_head, ms, 0, by, effect, None, tomb), new_operation)


def fold(history: list[SourcedOperation], chains: Chains = CHAINS) -> EntityState:
    return fold_history(history, lambda item: item == ITEM, chains)


def page(row: bytes, history: list[SourcedOperation]) -> bytes:
    """Apply a page of operations to a row, as a store does."""
    loaded = load_state(row)
    for write in history:
        assert not apply_operation(loaded, write, live=True, chains=CHAINS)
    return dump_state(loaded)


def blind(first: int, count: int, fields: Mapping[str, Value] | None = None) -> list[SourcedOperation]:
    """Return writes of as many replicas, none of which has seen another."""
    return [
        wrote(head(replica, 1), ms=replica * 7919 % 1009, values=fields or {"title": replica})
        for replica in range(first, first + count)
    ]


def one_version_each(size: int) -> Work:
    return partial(page, dump_state(EntityState()), blind(1, size))


def each_covers_another(size: int) -> Work:
    """Half of them stand; each of the other half has seen one of these."""
    later = [
        wrote(head(size + replica, 1), head(replica, 1), ms=replica % 7, title=-replica)
        for replica in range(1, size + 1)
    ]
    return partial(page, dump_state(fold(blind(1, size))), later)


def each_has_seen_what_stands_elsewhere(size: int) -> Work:
    """One replica's writes stand in as many fields; those who have seen it write one field, blindly."""
    own = [wrote(head(1, n), values={f"field {n}": n}) for n in range(1, size + 1)]
    later = [wrote(head(1 + n, 1), head(1, size), ms=n % 7, note=n) for n in range(1, size + 1)]
    return partial(page, dump_state(fold(own)), later)


def each_has_a_long_base(size: int) -> Work:
    """Bases that cover nothing are looked up only as far as there is something to cover."""
    base = [head(9_000_000 + n, 1) for n in range(100)]
    later = [wrote(head(n, 2), head(n, 1), *base, title=n) for n in range(1, size + 1)]
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
            wrote(
                head(5 * size + tomb, 1), *(head(4 * tomb + n, 1) for n in range(1, 5)), deleted=True, ms=tomb
            )
            for tomb in range(size)
        ]
        row = fold([*first, *tombs])
        assert not is_visible(row, CHAINS)
        return partial(is_visible, row, CHAINS)

    assert_linear(work, 300)


def drawn_history(dice: random.Random, count: int, chains: Chains) -> list[SourcedOperation]:
    """Return writes of few replicas on few fields; each has seen any of what came before."""
    history: list[SourcedOperation] = []
    counters = dict.fromkeys([(replica, side) for replica in range(12) for side in range(2)], 0)
    for place in range(count):
        replica = dice.randrange(12)
        # Only the chains of replica 0 part, after two commits that they share.
        parts = chains.is_forked(head(replica, 1).replica) and counters[replica, 0] >= 2
        side = dice.randrange(2) if parts else 0
        counters[replica, side] = max(counters[replica, side], 2 if side else 0) + 1
        count_covered = min(len(history), dice.choice((0, 0, 1, 1, 2, 9)))
        heads = {write.head for write in dice.sample(history, count_covered)}
        fields: dict[str, Value] = {name: place for name in "abc" if dice.random() < 0.5}
        ms, by = dice.randrange(5), dice.choice((AuthorKind.USER, AuthorKind.AGENT))
        effect = dice.choice((None, None, None, ITEM))
        write_head = head(replica, counters[replica, side], side)
        history.append(wrote(write_head, *heads, ms=ms, by=by, effect=effect, values=fields))
    return history


@pytest.mark.parametrize("chains", [CHAINS, OneFork()])
@pytest.mark.parametrize("seed", range(30))
def test_searching_the_versions_finds_what_comparing_each_does(
    seed: int, chains: Chains, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = drawn_history(random.Random(seed), 120, chains)
    monkeypatch.setattr(field_versions, "_FEW_PARTS", 1 << 30)
    compared = dump_state(fold(history, chains))
    monkeypatch.setattr(field_versions, "_FEW_PARTS", 0)
    assert dump_state(fold(history, chains)) == compared


def test_a_row_gives_each_of_its_versions_to_who_asks() -> None:
    row = load_state(dump_state(fold([*blind(1, 3), wrote(head(9, 1), note="n")])))
    titles = [version.value for version in row.fields["title"]]
    assert titles == sorted(titles, key=lambda replica: -(replica * 7919 % 1009))  # type: ignore[operator]
    assert (row.fields.value("title"), row.fields.value("due")) == (titles[0], None)
    assert row.fields.winner("due") is None
    assert row.fields.version("title", 2) == row.fields["title"][2]
    assert ("title" in row.fields, "due" in row.fields, len(row.fields)) == (True, False, 2)
    assert [source.head for source in row.fields.standing_sources()] == [head(n, 1) for n in (1, 2, 3, 9)]
    assert {source.head for source in row.fields.winning_sources()} == {
        row.fields["title"][0].source.head,
        head(9, 1),
    }
    assert list(row.fields.competing_values()) == [("title", titles)]
    assert [version.value for version in Entity(TASK, row, True).conflicts()["title"]] == titles
