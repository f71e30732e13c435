"""Timers: set, taken back, and turned into queued runs, once.

Never waits: the clock is set by hand.
"""

import pytest

from store.local import run_log, timers
from store.local.run_log import RunStatus, WakeCause
from store.local.timers import Timer
from store.store import Store
from syncproto.ids import EntityId
from tests.support.stores import StoreBench

AGENT, OTHER = EntityId(bytes(16)), EntityId(bytes([1]) * 16)


@pytest.fixture
def world(bench: StoreBench) -> StoreBench:
    """Return what sets the clock."""
    bench.now_ms = 1000
    return bench


@pytest.fixture
def store(world: StoreBench) -> Store:
    return world.store("s")


def put(store: Store, *wanted: Timer) -> None:
    with store.write() as tx:
        for timer in wanted:
            timers.add_timer(tx, timer)


def fired(store: Store) -> list[str]:
    with store.write() as tx:
        return [queue_due_run.run_key for queue_due_run in timers.queue_due_runs(tx, "a timer")]


def left(store: Store, agent: EntityId = AGENT) -> list[int]:
    with store.read() as snapshot:
        return timers.times_of_agent(snapshot, agent)


def next_ms(store: Store) -> int | None:
    with store.read() as snapshot:
        return timers.next_wake_ms(snapshot)


def test_no_timer_is_next_where_none_is_set(store: Store) -> None:
    assert next_ms(store) is None
    assert fired(store) == []


def test_a_timer_fires_when_its_time_has_come_and_only_then(store: Store, world: StoreBench) -> None:
    put(store, Timer("later", AGENT, 3000), Timer("soon", AGENT, 2000), Timer("soon", AGENT, 2000))
    assert (next_ms(store), left(store)) == (2000, [2000, 3000])
    world.now_ms = 1999
    assert fired(store) == []
    world.now_ms = 2000
    assert fired(store) == ["soon"]
    assert fired(store) == []
    assert (next_ms(store), left(store)) == (3000, [3000])
    with store.read() as snapshot:
        (run,) = run_log.waiting_runs(snapshot)
    assert (run.run_key, run.cause, run.reason) == ("soon", WakeCause.TIMER, "a timer")


def test_of_several_missed_timers_of_an_agent_the_newest_runs(store: Store, world: StoreBench) -> None:
    put(store, Timer("b", AGENT, 1100), Timer("a", AGENT, 1200), Timer("c", OTHER, 1150))
    world.now_ms = 90_000
    assert sorted(fired(store)) == ["a", "c"]
    assert (left(store), left(store, OTHER)) == ([], [])


def test_a_timer_whose_run_is_known_does_not_run_again(store: Store, world: StoreBench) -> None:
    put(store, Timer("key", AGENT, 1500))
    world.now_ms = 2000
    assert fired(store) == ["key"]
    with store.write() as tx:
        run_log.end(tx, "key", RunStatus.SKIPPED)
    world.now_ms = 1200  # the clock is set back, and the same moment is asked for once more
    put(store, Timer("key", AGENT, 1500))
    world.now_ms = 2000
    assert fired(store) == []


def test_an_agents_timers_are_taken_back_together(store: Store) -> None:
    put(store, Timer("a", AGENT, 5000), Timer("b", AGENT, 6000), Timer("c", OTHER, 7000))
    with store.write() as tx:
        assert timers.clear_timers(tx, AGENT) == 2
    assert (left(store), left(store, OTHER)) == ([], [7000])
