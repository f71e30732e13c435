"""The run log: claiming run keys, endings, failures in a row, and forgetting.

Never runs anything.
"""

import pytest

from store import runs
from store.runs import Cause, Failures, RunStatus, Wanted
from store.store import Store
from syncproto.ids import EntityId
from tests.store.stores import Bench

AGENT, OTHER = EntityId(bytes(16)), EntityId(bytes([1]) * 16)


@pytest.fixture
def world(bench: Bench) -> Bench:
    """Return what sets the clock."""
    bench.now_ms = 1000
    return bench


@pytest.fixture
def store(world: Bench) -> Store:
    return world.store("s")


def wanted(key: str, agent: EntityId = AGENT, cause: Cause = Cause.SUBSCRIPTION, life: bytes = b"") -> Wanted:
    return Wanted(key, agent, cause, "because", life)


def begin(
    store: Store,
    key: str,
    agent: EntityId = AGENT,
    *,
    live: tuple[str, ...] = (),
    cause: Cause = Cause.SUBSCRIPTION,
    life: bytes = b"",
) -> bool:
    with store.write() as tx:
        return runs.begin(tx, wanted(key, agent, cause, life), live)


def queue(store: Store, key: str, cause: Cause, agent: EntityId = AGENT) -> bool:
    with store.write() as tx:
        return runs.queue(tx, wanted(key, agent, cause))


def status(store: Store, key: str) -> str:
    with store.read() as snapshot:
        found = runs.find(snapshot, key)
    assert found is not None
    return found.status.value


def waits(store: Store) -> list[str]:
    with store.read() as snapshot:
        return [run.run_key for run in runs.waiting(snapshot)]


def end(store: Store, key: str, status: RunStatus, error: str = "") -> None:
    with store.write() as tx:
        runs.end(tx, key, status, error)


def failures(store: Store, life: bytes = b"") -> Failures:
    with store.read() as snapshot:
        return runs.failures(snapshot, AGENT, life)


def test_a_run_key_is_claimed_once_while_live_and_never_once_completed(store: Store) -> None:
    assert begin(store, "key")
    assert not begin(store, "key", live=("key",))
    end(store, "key", RunStatus.COMPLETED)
    assert not begin(store, "key")


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.ABANDONED])
def test_a_run_that_did_not_complete_may_be_begun_again_and_keeps_its_row(
    store: Store, world: Bench, status: RunStatus
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


def test_a_clock_set_back_does_not_hide_the_newest_run(store: Store, world: Bench) -> None:
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
    none = {"queued": 0, "skipped": 0, "abandoned": 0}
    assert counted == {"running": 1, "completed": 1, "failed": 2} | none


def test_an_unknown_run_is_none(store: Store) -> None:
    with store.read() as snapshot:
        assert runs.find(snapshot, "key") is None


def test_what_is_running_at_a_start_is_abandoned(store: Store) -> None:
    begin(store, "one")
    begin(store, "two", OTHER)
    begin(store, "three")
    end(store, "three", RunStatus.COMPLETED)
    with store.write() as tx:
        assert runs.recover(tx) == 2
        assert runs.recover(tx) == 0
        found = runs.of_agent(tx, AGENT, 10)
    assert [(run.run_key, run.status) for run in found] == [
        ("three", RunStatus.COMPLETED),
        ("one", RunStatus.ABANDONED),
    ]


def test_failures_are_counted_back_to_the_last_success(store: Store, world: Bench) -> None:
    assert failures(store) == Failures(0, 0)
    story = [RunStatus.FAILED, RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.ABANDONED, RunStatus.FAILED]
    for number, status in enumerate(story):
        world.now_ms += 1000
        begin(store, f"run {number}")
        end(store, f"run {number}", status)
    assert failures(store) == Failures(2, world.now_ms)


def test_the_oldest_runs_of_an_agent_are_forgotten_and_no_others(store: Store, world: Bench) -> None:
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


# -- requests and timers ------------------------------------------------------------------------------


@pytest.mark.parametrize("cause", [Cause.SESSION, Cause.TIMER])
def test_a_request_waits_through_restarts_until_its_run_is_over(store: Store, cause: Cause) -> None:
    assert queue(store, "key", cause)
    assert not queue(store, "key", cause)
    assert waits(store) == ["key"]
    assert begin(store, "key", cause=cause)
    assert waits(store) == ["key"]
    with store.write() as tx:
        assert runs.recover(tx) == 1
    assert (status(store, "key"), waits(store)) == ("queued", ["key"])
    begin(store, "key", cause=cause)
    end(store, "key", RunStatus.COMPLETED)
    assert waits(store) == []
    assert not begin(store, "key", cause=cause)
    assert not queue(store, "key", cause)


def test_a_request_that_was_skipped_is_answered_and_a_change_that_was_is_not(store: Store) -> None:
    queue(store, "asked", Cause.SESSION)
    begin(store, "changed")
    for key in ("asked", "changed"):
        end(store, key, RunStatus.SKIPPED, "it is paused")
    assert not begin(store, "asked", cause=Cause.SESSION)
    assert begin(store, "changed")


@pytest.mark.parametrize(
    ("cause", "ended", "then"),
    [
        (Cause.SUBSCRIPTION, RunStatus.FAILED, "failed"),
        (Cause.SUBSCRIPTION, RunStatus.ABANDONED, "abandoned"),
        (Cause.SESSION, RunStatus.FAILED, "failed"),
        (Cause.SESSION, RunStatus.ABANDONED, "queued"),
        (Cause.TIMER, RunStatus.FAILED, "queued"),
        (Cause.TIMER, RunStatus.ABANDONED, "queued"),
    ],
)
def test_what_nobody_would_ask_for_again_is_queued_again(
    store: Store, cause: Cause, ended: RunStatus, then: str
) -> None:
    begin(store, "key", cause=cause)
    end(store, "key", ended, "why")
    assert status(store, "key") == then
    assert failures(store).number == (ended is RunStatus.FAILED)


def test_failures_of_an_earlier_life_are_over(store: Store, world: Bench) -> None:
    for _ in range(2):
        begin(store, "key", life=b"one")
        end(store, "key", RunStatus.FAILED)
    assert failures(store, b"one") == Failures(2, 1000)
    assert failures(store, b"two") == Failures(0, 0)
    begin(store, "key", life=b"two")
    end(store, "key", RunStatus.FAILED)
    assert failures(store, b"two") == Failures(1, 1000)


def test_processes_that_end_in_the_middle_of_a_run_are_counted(store: Store, world: Bench) -> None:
    for _ in range(3):
        begin(store, "key")
        with store.write() as tx:
            runs.recover(tx)
    assert failures(store) == Failures(0, 1000, 3)
    begin(store, "key")
    end(store, "key", RunStatus.COMPLETED)
    assert failures(store) == Failures(0, 0)


def test_when_an_agent_last_ran_by_itself_counts_no_requests_and_nothing_skipped(
    store: Store, world: Bench
) -> None:
    for key, cause, ended in (
        ("changed", Cause.SUBSCRIPTION, RunStatus.COMPLETED),
        ("asked", Cause.SESSION, RunStatus.COMPLETED),
        ("skipped", Cause.TIMER, RunStatus.SKIPPED),
    ):
        begin(store, key, cause=cause)
        end(store, key, ended)
        world.now_ms += 1000
    with store.read() as snapshot:
        assert runs.ran_ms(snapshot, AGENT) == 1000
        assert runs.ran_ms(snapshot, OTHER) is None


def test_the_waiting_runs_of_timers_can_be_taken_back_and_requests_stay(store: Store) -> None:
    queue(store, "timer", Cause.TIMER)
    queue(store, "asked", Cause.SESSION)
    queue(store, "another agent's", Cause.TIMER, OTHER)
    with store.write() as tx:
        assert runs.take_back(tx, AGENT, "taken back") == 1
    assert waits(store) == ["asked", "another agent's"]
