"""Answers kept for retries.

Never asks what an answer means.
"""

import pytest

from store import idempotency
from store.idempotency import Answer
from tests.store.stores import Bench

ANSWER = Answer(bytes(32), 201, b"{}")


def test_an_answer_is_kept_with_what_it_answers(bench: Bench):
    store = bench.store("a")
    with store.write() as tx:
        idempotency.keep(tx, "k1", ANSWER)
        assert idempotency.kept(tx, "k1") == ANSWER
    with store.read() as snapshot:
        assert idempotency.kept(snapshot, "k1") == ANSWER
        assert idempotency.kept(snapshot, "k2") is None


def test_an_answer_whose_write_was_undone_is_not_kept(bench: Bench):
    store = bench.store("a")

    def fail() -> None:
        with store.write() as tx:
            idempotency.keep(tx, "k1", ANSWER)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with store.read() as snapshot:
        assert idempotency.kept(snapshot, "k1") is None


def test_the_oldest_answers_make_room(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(idempotency, "KEPT_MAX", 3)
    store = bench.store("a")
    with store.write() as tx:
        for number in range(5):
            idempotency.keep(tx, f"k{number}", ANSWER)
    with store.read() as snapshot:
        left = [number for number in range(5) if idempotency.kept(snapshot, f"k{number}")]
    assert left == [2, 3, 4]
