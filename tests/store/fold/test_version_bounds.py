"""What the fold costs if one device writes a field over and over without naming what it has seen.

Never compares with a number of seconds.
"""

from functools import partial
from itertools import pairwise

import pytest

from store.fold.conditional import fold_history
from store.fold.entity import Entity
from store.fold.entity_state import EntityState, SourcedOperation
from store.fold.field_versions import CHAIN_VERSIONS_MAX, Provenance
from syncproto.commit import AuthorKind
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head, NoForks
from tests.support.growth import assert_linear
from tests.support.stores import entity_id, operation

TASK, ITEM = entity_id(1), entity_id(50)
CHAINS = NoForks()


def head(replica: int, counter: int) -> Head:
    return Head(ReplicaId(replica.to_bytes(16, "big")), counter, counter.to_bytes(8, "big"))


def blind_write(write_head: Head, value: int | str, by: AuthorKind = AuthorKind.USER) -> SourcedOperation:
    """Return a write of a title that names nothing that its device had seen."""
    created = operation(TASK, (), by=by, title=value)
    return SourcedOperation(Provenance(write_head, write_head.counter, 0, by, None, None, None), created)


def fold(history: list[SourcedOperation]) -> EntityState:
    return fold_history(history, lambda item: item == ITEM, CHAINS)


def values(row: EntityState) -> list[object]:
    return [version.value for version in row.fields["title"]]


def test_of_what_one_device_wrote_blindly_the_newest_four_stand() -> None:
    row = fold([blind_write(head(1, number), number) for number in range(1, 30)])
    assert values(row) == [29, 28, 27, 26]


def test_each_device_has_its_own_four() -> None:
    history = [
        blind_write(head(replica, number), f"{replica} {number}")
        for number in range(1, 8)
        for replica in (1, 2)
    ]
    remaining = values(fold(history))
    assert remaining == ["2 7", "1 7", "2 6", "1 6", "2 5", "1 5", "2 4", "1 4"]
    assert len(remaining) == 2 * CHAIN_VERSIONS_MAX


def test_what_an_agent_writes_never_overtakes_what_its_person_wrote() -> None:
    own = blind_write(head(1, 1), "mine")
    agents = [blind_write(head(1, number), number, AuthorKind.AGENT) for number in range(2, 20)]
    assert values(fold([own, *agents])) == ["mine", 19, 18, 17, 16]


def test_what_a_person_wrote_overtakes_what_an_agent_wrote_before() -> None:
    agent = blind_write(head(1, 1), "agent", AuthorKind.AGENT)
    own = [blind_write(head(1, number), number) for number in range(2, 6)]
    assert values(fold([agent, *own[:3]])) == [4, 3, 2, "agent"]
    assert values(fold([agent, *own])) == [5, 4, 3, 2]


def test_versions_that_nothing_covers_fold_in_linear_time() -> None:
    def work(size: int):
        return partial(fold, [blind_write(head(1, number), number) for number in range(1, size + 1)])

    assert_linear(work, 300)


@pytest.mark.parametrize("alike", [True, False])
def test_the_values_of_a_conflict_are_compared_in_linear_time(alike: bool) -> None:
    def work(size: int):
        row = fold([blind_write(head(number, 1), 0 if alike else number) for number in range(1, size + 1)])
        return Entity(TASK, row, visible=True).conflicts

    assert_linear(work, 300)


def test_the_order_of_versions_is_that_of_their_stamps_whatever_came_first() -> None:
    history = [blind_write(head(replica, replica * 7 % 40), replica) for replica in range(1, 40)]
    stamps = [version.source.order for version in fold(history).fields["title"]]
    assert all(better > worse for better, worse in pairwise(stamps))
