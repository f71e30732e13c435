"""The run log: claiming run keys, endings, failures in a row, and forgetting.

Never runs anything.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import runs
from store.runs import Failures, RunStatus
from store.store import Store
from syncproto.ids import EntityId
from syncproto.keys import Signer

AGENT, OTHER = EntityId(bytes(16)), EntityId(bytes([1]) * 16)


class World:
    """A clock that is set by hand."""

    now_ms = 1000

    def now(self) -> int:
        return self.now_ms

    def randomness(self, count: int) -> bytes:
        return hashlib.shake_256(b"runs").digest(count)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def store(tmp_path: Path, world: World) -> Iterator[Store]:
    signer = Signer(bytes(32))
    opened = Store.open(tmp_path / "s.db", signer=signer, now_ms=world.now, randomness=world.randomness)
    yield opened
    opened.close()


def begin(store: Store, key: str, agent: EntityId = AGENT, live: tuple[str, ...] = ()) -> bool:
    with store.write() as tx:
        return runs.begin(tx, key, agent, "because", live)


def end(store: Store, key: str, status: RunStatus, error: str = "") -> None:
    with store.write() as tx:
        runs.end(tx, key, status, error)


def failures(store: Store) -> Failures:
    with store.read() as snapshot:
        return runs.failures(snapshot, AGENT)


def test_a_run_key_is_claimed_once_while_live_and_never_once_completed(store: Store) -> None:
    assert begin(store, "key")
    assert not begin(store, "key", live=("key",))
    end(store, "key", RunStatus.COMPLETED)
    assert not begin(store, "key")


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.ABANDONED])
def test_a_run_that_did_not_complete_may_be_begun_again_and_keeps_its_row(
    store: Store, world: World, status: RunStatus
) -> None:
    begin(store, "key")
    end(store, "key", status, "two\nlines " + "x" * 999)
    with store.read() as snapshot:
        ended = runs.find(snapshot, "key")
    assert ended is not None
    assert ended.ended_ms == 1000
    assert ended.error.startswith("two lines xxx")
    assert len(ended.error) == runs.ERROR_CHARS_MAX
    world.now_ms = 2000
    assert begin(store, "key")
    with store.read() as snapshot:
        (again,) = runs.of_agent(snapshot, AGENT, 10)
    assert (again.status, again.started_ms, again.ended_ms, again.error) == (
        RunStatus.RUNNING,
        2000,
        None,
        "",
    )


def test_a_key_that_says_running_but_is_not_live_is_taken_over(store: Store) -> None:
    assert begin(store, "key")
    assert begin(store, "key", live=("another",))


def test_a_run_that_has_ended_stays_as_it_ended(store: Store) -> None:
    begin(store, "key")
    end(store, "key", RunStatus.COMPLETED)
    end(store, "key", RunStatus.FAILED, "too late")
    with store.read() as snapshot:
        (run,) = runs.of_agent(snapshot, AGENT, 10)
    assert (run.status, run.error) == (RunStatus.COMPLETED, "")


def test_a_clock_set_back_does_not_hide_the_newest_run(store: Store, world: World) -> None:
    world.now_ms = 90_000
    begin(store, "before")
    end(store, "before", RunStatus.FAILED)
    world.now_ms = 5_000
    begin(store, "after")
    end(store, "after", RunStatus.FAILED)
    assert failures(store) == Failures(2, 5_000)
    begin(store, "last")
    end(store, "last", RunStatus.COMPLETED)
    assert failures(store) == Failures(0, 0)


def test_a_key_that_fails_again_counts_again(store: Store) -> None:
    for _ in range(3):
        begin(store, "key")
        end(store, "key", RunStatus.FAILED)
    assert failures(store).number == 3


def test_runs_are_counted_by_how_they_stand(store: Store) -> None:
    for key, status in (("a", RunStatus.FAILED), ("b", RunStatus.FAILED), ("c", RunStatus.COMPLETED)):
        begin(store, key)
        end(store, key, status)
    begin(store, "d", OTHER)
    with store.read() as snapshot:
        counted = runs.by_status(snapshot)
    assert counted == {"running": 1, "completed": 1, "failed": 2, "abandoned": 0}


def test_an_unknown_run_is_none(store: Store) -> None:
    with store.read() as snapshot:
        assert runs.find(snapshot, "key") is None


def test_what_is_running_at_a_start_is_abandoned(store: Store) -> None:
    begin(store, "one")
    begin(store, "two", OTHER)
    begin(store, "three")
    end(store, "three", RunStatus.COMPLETED)
    with store.write() as tx:
        assert runs.abandon_running(tx) == 2
        assert runs.abandon_running(tx) == 0
        found = runs.of_agent(tx, AGENT, 10)
    assert [(run.run_key, run.status) for run in found] == [
        ("three", RunStatus.COMPLETED),
        ("one", RunStatus.ABANDONED),
    ]


def test_failures_are_counted_back_to_the_last_success(store: Store, world: World) -> None:
    assert failures(store) == Failures(0, 0)
    story = [RunStatus.FAILED, RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.ABANDONED, RunStatus.FAILED]
    for number, status in enumerate(story):
        world.now_ms += 1000
        begin(store, f"run {number}")
        end(store, f"run {number}", status)
    assert failures(store) == Failures(2, world.now_ms)


def test_the_oldest_runs_of_an_agent_are_forgotten_and_no_others(store: Store, world: World) -> None:
    begin(store, "another agent's", OTHER)
    for number in range(runs.KEPT_PER_AGENT + 5):
        world.now_ms += 1
        begin(store, f"run {number}")
        end(store, f"run {number}", RunStatus.COMPLETED)
    with store.read() as snapshot:
        kept = runs.of_agent(snapshot, AGENT, 1000)
        assert len(kept) == runs.KEPT_PER_AGENT
        assert kept[0].run_key == f"run {runs.KEPT_PER_AGENT + 4}"
        assert runs.find(snapshot, "another agent's") is not None
