"""What a replica with many branches costs when it is taken, compared and sent: it grows as its bytes do.

Never compares with a number of seconds.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from store.store import Store
from syncproto.commit import DecodedCommit
from syncproto.ids import EntityId
from tests.store.forked_logs import OTHER, TASK, comb_of_branches, ladder_of_branches, star_of_branches
from tests.support.growth import Work, assert_linear
from tests.support.stores import StoreBench, operation, replica_of, sealed, signer_of

SHAPES = pytest.mark.parametrize("shape", [star_of_branches, comb_of_branches, ladder_of_branches])
Shape = Callable[[int], list[DecodedCommit]]


@pytest.fixture
def stores(bench: StoreBench) -> Callable[[], Store]:
    """Return how to open a new store."""
    numbers = count()
    return lambda: bench.store(f"store {next(numbers)}")


def take(store: Store, made: list[DecodedCommit]) -> Store:
    with store.write() as tx:
        tx.accept_page([commit.signed for commit in made])
    return store


@SHAPES
def test_branches_are_taken_in_linear_time(stores: Callable[[], Store], shape: Shape) -> None:
    def work(size: int) -> Work:
        made = shape(size)
        return lambda: take(stores(), made)

    assert_linear(work, 40)


@SHAPES
def test_branches_that_write_one_task_are_folded_in_linear_time(
    stores: Callable[[], Store], shape: Callable[[int, EntityId], list[DecodedCommit]]
) -> None:
    def work(size: int) -> Work:
        made = shape(size, TASK)
        return lambda: take(stores(), made)

    assert_linear(work, 150)


def test_a_base_of_a_thousand_branches_is_searched_for_each_field(stores: Callable[[], Store]) -> None:
    def work(size: int) -> Work:
        trunk, *_ = star_of_branches(0)
        names: list[dict[str, Any]] = [{f"field {number}": number} for number in range(size)]
        key, replica = signer_of("a"), trunk.commit.replica
        star = [sealed(key, replica, 2, trunk, [operation(OTHER, **field)]) for field in names]
        base = tuple(sorted(made.head for made in star))
        fields: dict[str, Any] = {name: 0 for field in names for name in field}
        covering = operation(OTHER, base, **fields)
        made = [trunk, *star, sealed(signer_of("b"), replica_of("b"), 1, None, [covering])]
        return lambda: take(stores(), made)

    assert_linear(work, 120)


@SHAPES
def test_what_a_peer_lacks_of_branches_is_found_in_linear_time(
    stores: Callable[[], Store], shape: Shape
) -> None:
    def work(size: int) -> Work:
        made = shape(size)
        store = take(stores(), made)
        with store.read() as snapshot:
            vector = tuple(head for head in snapshot.vector() if head != made[-1].head)

        def compare() -> None:
            with store.read() as snapshot:
                assert snapshot.count_behind(vector) == 1
                assert snapshot.page_lacking(vector, 0, 1 << 20).commits == [made[-1].signed]

        return compare

    assert_linear(work, 100)


def test_the_way_back_is_short_however_many_branches_lead_there(stores: Callable[[], Store]) -> None:
    def work(size: int) -> Work:
        made = ladder_of_branches(size)
        store = take(stores(), made)

        def ask() -> None:
            with store.read() as snapshot:
                log = snapshot.log
                assert all(log.on_chain(made[0].head, made[-1].head) for _ in range(size))

        return ask

    assert_linear(work, 500)
