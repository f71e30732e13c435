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


def recalled(store: Store) -> object | None:
    with store.read() as snapshot:
        return snapshot.recall(KIND)


def test_a_value_is_known_at_its_feed_position_alone(store: Store) -> None:
    write(store, "first")
    with store.read() as snapshot:
        snapshot.remember(KIND, ["first"])
    assert recalled(store) == ["first"]
    write(store, "second")
    assert recalled(store) is None


def test_an_older_snapshot_does_not_take_the_place_of_a_newer_one(store: Store) -> None:
    write(store, "first")
    with store.read() as older:
        write(store, "second")
        with store.read() as newer:
            newer.remember(KIND, ["second"])
        older.remember(KIND, ["first"])
        assert older.recall(KIND) is None
    assert recalled(store) == ["second"]


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


def test_a_transaction_recalls_what_readers_know_until_it_commits(store: Store) -> None:
    write(store, "first")
    with store.read() as snapshot:
        snapshot.remember(KIND, ["first"])
    with store.write() as tx:
        assert tx.recall(KIND) == ["first"]
        tx.commit([EntityWrite(TASK, "task", {"title": "second"})])
        assert tx.recall(KIND) is None
    assert recalled(store) is None


def test_kinds_are_apart() -> None:
    memory = ReaderMemory()
    memory.remember("a", 1, "of a")
    assert (memory.value_at("a", 1), memory.value_at("b", 1), memory.value_at("a", 2)) == ("of a", None, None)
