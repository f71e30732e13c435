"""What one request wrote is named as a whole, whatever others wrote between its transactions."""

import pytest

from store.local import change_parts
from store.local.change_parts import note_written, whole_change
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import CommitSpan, EntityWrite
from syncproto.commit import AuthorKind
from tests.support.stores import StoreBench, entity_id


@pytest.fixture
def store(bench: StoreBench) -> Store:
    return bench.store("a")


class Request:
    """One request: what it writes in each of its transactions."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.written: list[CommitSpan] = []

    def writes(self, count: int, by: AuthorKind = AuthorKind.USER) -> "Request":
        with self.store.write() as tx:
            for number in range(count):
                tx.commit([EntityWrite(entity_id(number), "task", {"title": "x"})], by=by)
            note_written(tx, self.written)
        self.written += filter(None, [tx.written])
        return self


def wholes(store: Store) -> list[list[tuple[int, int]]]:
    """Return the change of each commit of this device, the first first, as counters."""

    def read(snapshot: Snapshot) -> list[list[tuple[int, int]]]:
        heads = [snapshot.log.head_at(seq) for seq in range(1, snapshot.feed_end() + 1)]
        changes = [whole_change(snapshot, head) for head in heads]
        ends = {head.counter: head for head in heads}
        assert all(span.last == ends[span.last.counter] for change in changes for span in change)
        return [[(span.first, span.last.counter) for span in change] for change in changes]

    with store.read() as snapshot:
        return read(snapshot)


def test_a_commit_that_is_all_of_a_request_is_a_change_by_itself(store: Store) -> None:
    Request(store).writes(1)
    Request(store).writes(1)
    Request(store).writes(0)
    assert wholes(store) == [[(1, 1)], [(2, 2)]]
    with store.read() as snapshot:
        assert snapshot.db.execute("SELECT count(*) FROM change_part").fetchone() == (0,)


def test_several_commits_of_one_transaction_are_one_change(store: Store) -> None:
    Request(store).writes(2)
    Request(store).writes(3)
    assert wholes(store) == [[(1, 2)]] * 2 + [[(3, 5)]] * 3


def test_several_transactions_of_one_request_are_one_change(store: Store) -> None:
    Request(store).writes(1).writes(2).writes(0).writes(1)
    assert wholes(store) == [[(1, 4)]] * 4
    with store.read() as snapshot:
        assert snapshot.db.execute("SELECT count(*) FROM change_part").fetchone() == (1,)


def test_what_others_write_meanwhile_is_no_part(store: Store) -> None:
    first, second = Request(store).writes(2), Request(store).writes(1)
    first.writes(1)
    second.writes(1)
    Request(store).writes(1, AuthorKind.AGENT)
    first.writes(1)
    whole, other = [(1, 2), (4, 4), (7, 7)], [(3, 3), (5, 5)]
    assert wholes(store) == [whole, whole, other, whole, other, [(6, 6)], whole]


def test_what_an_agent_wrote_is_no_change_of_a_request(store: Store) -> None:
    Request(store).writes(2, AuthorKind.AGENT)
    assert wholes(store) == [[(1, 1)], [(2, 2)]]


def test_the_oldest_of_too_many_make_room(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_parts, "PARTS_MAX", 2)
    for _ in range(4):
        Request(store).writes(2)
    assert wholes(store) == [[(1, 1)], [(2, 2)], [(3, 3)], [(4, 4)], *[[(5, 6)]] * 2, *[[(7, 8)]] * 2]
