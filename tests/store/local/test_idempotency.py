"""Answers kept for retries.

Never asks what an answer means.
"""

import pytest

from store.local import idempotency
from store.local.idempotency import StoredResponse
from tests.support.stores import StoreBench

ANSWER = StoredResponse(bytes(32), 201, b"{}")


def test_an_answer_is_kept_with_what_it_answers(bench: StoreBench):
    store = bench.store("a")
    with store.write() as tx:
        idempotency.store_response(tx, "k1", ANSWER)
        assert idempotency.find_response(tx, "k1") == ANSWER
    with store.read() as snapshot:
        assert idempotency.find_response(snapshot, "k1") == ANSWER
        assert idempotency.find_response(snapshot, "k2") is None


def test_an_answer_whose_write_was_undone_is_not_kept(bench: StoreBench):
    store = bench.store("a")

    def fail() -> None:
        with store.write() as tx:
            idempotency.store_response(tx, "k1", ANSWER)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with store.read() as snapshot:
        assert idempotency.find_response(snapshot, "k1") is None


def test_the_oldest_answers_make_room(bench: StoreBench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(idempotency, "RESPONSES_MAX", 3)
    store = bench.store("a")
    with store.write() as tx:
        for number in range(5):
            idempotency.store_response(tx, f"k{number}", ANSWER)
    with store.read() as snapshot:
        left = [number for number in range(5) if idempotency.find_response(snapshot, f"k{number}")]
    assert left == [2, 3, 4]
