"""What readers remember: never of another feed position, and never what can still be taken back.

Never remembers anything of the program itself: its list of what waits has tests of its own.
"""

import pytest

from store.log.reader_memory import ReaderMemory
from store.store import Store
from store.transaction import EntityWrite, Transaction
from tests.support.stores import StoreBench, entity_id

KIND = "titles"
TASK = entity_id(1)


@pytest.fixture
def store(bench: StoreBench) -> Store:
    return bench.store("a")


def write(store: Store, title: str) -> None:
    with store.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"title": title})])


def recalled(store: Store) -> tuple[int, object] | None:
    with store.read() as snapshot:
        return snapshot.recall(KIND)


def test_a_value_is_known_with_its_feed_position_and_never_before_it(store: Store) -> None:
    with store.read() as before:
        write(store, "first")
        with store.read() as snapshot:
            snapshot.remember(KIND, ["first"])
        assert before.recall(KIND) is None
    assert recalled(store) == (1, ["first"])
    write(store, "second")
    assert recalled(store) == (1, ["first"])


def test_an_older_snapshot_does_not_take_the_place_of_a_newer_one(store: Store) -> None:
    write(store, "first")
    with store.read() as older:
        write(store, "second")
        with store.read() as newer:
            newer.remember(KIND, ["second"])
        older.remember(KIND, ["first"])
        assert older.recall(KIND) is None
    assert recalled(store) == (2, ["second"])


def test_a_transaction_remembers_nothing(store: Store) -> None:
    def fail(tx: Transaction) -> None:
        tx.commit([EntityWrite(TASK, "task", {"title": "taken back"})])
        tx.remember(KIND, ["taken back"])
        assert tx.recall(KIND) is None
        raise InterruptedError

    with pytest.raises(InterruptedError), store.write() as tx:
        fail(tx)
    write(store, "another at that position")
    assert recalled(store) is None


def test_a_transaction_recalls_what_readers_know_with_its_position(store: Store) -> None:
    write(store, "first")
    with store.read() as snapshot:
        snapshot.remember(KIND, ["first"])
    with store.write() as tx:
        assert tx.recall(KIND) == (1, ["first"])
        tx.commit([EntityWrite(TASK, "task", {"title": "second"})])
        assert tx.recall(KIND) == (1, ["first"])
    assert recalled(store) == (1, ["first"])


def test_kinds_are_apart() -> None:
    memory = ReaderMemory()
    memory.remember("a", 1, "of a")
    assert (memory.latest("a", 1), memory.latest("b", 1), memory.latest("a", 0)) == ((1, "of a"), None, None)
