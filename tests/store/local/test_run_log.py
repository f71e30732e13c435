"""The run log: claiming run keys, endings, failures in a row, and forgetting.

Never runs anything.
"""

import pytest

from store.local import run_log
from store.local.run_log import FailureStreak, RunRequest, RunStatus, WakeCause
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


def wanted(
    key: str, agent: EntityId = AGENT, cause: WakeCause = WakeCause.SUBSCRIPTION, life: bytes = b""
) -> RunRequest:
    return RunRequest(key, agent, cause, "because", life)


def begin(
    store: Store,
    key: str,
    agent: EntityId = AGENT,
    *,
    live: tuple[str, ...] = (),
    cause: WakeCause = WakeCause.SUBSCRIPTION,
    life: bytes = b"",
) -> bool:
    with store.write() as tx:
        return run_log.begin(tx, wanted(key, agent, cause, life), live)


def queue(store: Store, key: str, cause: WakeCause, agent: EntityId = AGENT) -> bool:
    with store.write() as tx:
        return run_log.queue(tx, wanted(key, agent, cause))


def status(store: Store, key: str) -> str:
    with store.read() as snapshot:
        result = run_log.find(snapshot, key)
    assert result is not None
    return result.status.value


def waits(store: Store) -> list[str]:
    with store.read() as snapshot:
        return [run.run_key for run in run_log.waiting_runs(snapshot)]


def end(store: Store, key: str, status: RunStatus, error: str = "") -> None:
    with store.write() as tx:
        run_log.end(tx, key, status, error)


def failures(store: Store, life: bytes = b"") -> FailureStreak:
    with store.read() as snapshot:
        return run_log.failure_streak(snapshot, AGENT, life)


def test_a_run_key_is_claimed_once_while_live_and_never_once_completed(store: Store) -> None:
    assert begin(store, "key")
    assert not begin(store, "key", live=("key",))
    end(store, "key", RunStatus.COMPLETED)
    assert not begin(store, "key")


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.ABANDONED])
def test_a_run_that_did_not_complete_may_be_begun_again_and_keeps_its_row(
    store: Store, world: StoreBench, status: RunStatus
) -> None:
    begin(store, "key")
    end(store, "key", status, "two\nlines " + "x" * 999)
    with store.read() as snapshot:
        ended = run_log.find(snapshot, "key")
    assert ended is not None
    assert ended.ended_ms == 1000
    assert ended.error.startswith("two lines xxx")
    assert len(ended.error) == run_log.ERROR_CHARS_MAX
    world.now_ms = 2000
    assert begin(store, "key")
    with store.read() as snapshot:
        (again,) = run_log.runs_of_agent(snapshot, AGENT, 10)
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
        (run,) = run_log.runs_of_agent(snapshot, AGENT, 10)
    assert (run.status, run.error) == (RunStatus.COMPLETED, "")


def test_a_clock_set_back_does_not_hide_the_newest_run(store: Store, world: StoreBench) -> None:
    world.now_ms = 90_000
    begin(store, "before")
    end(store, "before", RunStatus.FAILED)
    world.now_ms = 5_000
    begin(store, "after")
    end(store, "after", RunStatus.FAILED)
    assert failures(store) == FailureStreak(2, 5_000)
    begin(store, "last")
    end(store, "last", RunStatus.COMPLETED)
    assert failures(store) == FailureStreak(0, 0)


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
        counted = run_log.counts_by_status(snapshot)
    none = {"queued": 0, "skipped": 0, "abandoned": 0}
    assert counted == {"running": 1, "completed": 1, "failed": 2} | none


def test_an_unknown_run_is_none(store: Store) -> None:
    with store.read() as snapshot:
        assert run_log.find(snapshot, "key") is None


def test_what_is_running_at_a_start_is_abandoned(store: Store) -> None:
    begin(store, "one")
    begin(store, "two", OTHER)
    begin(store, "three")
    end(store, "three", RunStatus.COMPLETED)
    with store.write() as tx:
        assert run_log.close_interrupted(tx) == 2
        assert run_log.close_interrupted(tx) == 0
        runs = run_log.runs_of_agent(tx, AGENT, 10)
    assert [(run.run_key, run.status) for run in runs] == [
        ("three", RunStatus.COMPLETED),
        ("one", RunStatus.ABANDONED),
    ]


def test_failures_are_counted_back_to_the_last_success(store: Store, world: StoreBench) -> None:
    assert failures(store) == FailureStreak(0, 0)
    story = [RunStatus.FAILED, RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.ABANDONED, RunStatus.FAILED]
    for number, status in enumerate(story):
        world.now_ms += 1000
        begin(store, f"run {number}")
        end(store, f"run {number}", status)
    assert failures(store) == FailureStreak(2, world.now_ms)


def test_the_oldest_runs_of_an_agent_are_forgotten_and_no_others(store: Store, world: StoreBench) -> None:
    begin(store, "another agent's", OTHER)
    for number in range(run_log.RUNS_KEPT_PER_AGENT + 5):
        world.now_ms += 1
        begin(store, f"run {number}")
        end(store, f"run {number}", RunStatus.COMPLETED)
    with store.read() as snapshot:
        runs = run_log.runs_of_agent(snapshot, AGENT, 1000)
        assert len(runs) == run_log.RUNS_KEPT_PER_AGENT
        assert runs[0].run_key == f"run {run_log.RUNS_KEPT_PER_AGENT + 4}"
        assert run_log.find(snapshot, "another agent's") is not None


# -- requests and timers ------------------------------------------------------------------------------


@pytest.mark.parametrize("cause", [WakeCause.SESSION, WakeCause.TIMER])
def test_a_request_waits_through_restarts_until_its_run_is_over(store: Store, cause: WakeCause) -> None:
    assert queue(store, "key", cause)
    assert not queue(store, "key", cause)
    assert waits(store) == ["key"]
    assert begin(store, "key", cause=cause)
    assert waits(store) == ["key"]
    with store.write() as tx:
        assert run_log.close_interrupted(tx) == 1
    assert (status(store, "key"), waits(store)) == ("queued", ["key"])
    begin(store, "key", cause=cause)
    end(store, "key", RunStatus.COMPLETED)
    assert waits(store) == []
    assert not begin(store, "key", cause=cause)
    assert not queue(store, "key", cause)


def test_a_request_that_was_skipped_is_answered_and_a_change_that_was_is_not(store: Store) -> None:
    queue(store, "asked", WakeCause.SESSION)
    begin(store, "changed")
    for key in ("asked", "changed"):
        end(store, key, RunStatus.SKIPPED, "it is paused")
    assert not begin(store, "asked", cause=WakeCause.SESSION)
    assert begin(store, "changed")


@pytest.mark.parametrize(
    ("cause", "ended", "then"),
    [
        (WakeCause.SUBSCRIPTION, RunStatus.FAILED, "failed"),
        (WakeCause.SUBSCRIPTION, RunStatus.ABANDONED, "abandoned"),
        (WakeCause.SESSION, RunStatus.FAILED, "failed"),
        (WakeCause.SESSION, RunStatus.ABANDONED, "queued"),
        (WakeCause.TIMER, RunStatus.FAILED, "queued"),
        (WakeCause.TIMER, RunStatus.ABANDONED, "queued"),
    ],
)
def test_what_nobody_would_ask_for_again_is_queued_again(
    store: Store, cause: WakeCause, ended: RunStatus, then: str
) -> None:
    begin(store, "key", cause=cause)
    end(store, "key", ended, "why")
    assert status(store, "key") == then
    assert failures(store).number == (ended is RunStatus.FAILED)


def test_failures_of_an_earlier_life_are_over(store: Store, world: StoreBench) -> None:
    for _ in range(2):
        begin(store, "key", life=b"one")
        end(store, "key", RunStatus.FAILED)
    assert failures(store, b"one") == FailureStreak(2, 1000)
    assert failures(store, b"two") == FailureStreak(0, 0)
    begin(store, "key", life=b"two")
    end(store, "key", RunStatus.FAILED)
    assert failures(store, b"two") == FailureStreak(1, 1000)


def test_processes_that_end_in_the_middle_of_a_run_are_counted(store: Store, world: StoreBench) -> None:
    for _ in range(3):
        begin(store, "key")
        with store.write() as tx:
            run_log.close_interrupted(tx)
    assert failures(store) == FailureStreak(0, 1000, 3)
    begin(store, "key")
    end(store, "key", RunStatus.COMPLETED)
    assert failures(store) == FailureStreak(0, 0)


def test_when_an_agent_last_ran_by_itself_counts_no_requests_and_nothing_skipped(
    store: Store, world: StoreBench
) -> None:
    for key, cause, ended in (
        ("changed", WakeCause.SUBSCRIPTION, RunStatus.COMPLETED),
        ("asked", WakeCause.SESSION, RunStatus.COMPLETED),
        ("skipped", WakeCause.TIMER, RunStatus.SKIPPED),
    ):
        begin(store, key, cause=cause)
        end(store, key, ended)
        world.now_ms += 1000
    with store.read() as snapshot:
        assert run_log.last_unrequested_ms(snapshot, AGENT) == 1000
        assert run_log.last_unrequested_ms(snapshot, OTHER) is None


def test_the_waiting_runs_of_timers_can_be_taken_back_and_requests_stay(store: Store) -> None:
    queue(store, "timer", WakeCause.TIMER)
    queue(store, "asked", WakeCause.SESSION)
    queue(store, "another agent's", WakeCause.TIMER, OTHER)
    with store.write() as tx:
        assert run_log.cancel_timer_runs(tx, AGENT, "taken back") == 1
    assert waits(store) == ["asked", "another agent's"]
