"""Timers that recur: at the same local time, whatever the clocks do, and once for all that was missed.

Never sleeps: the clock is the fleet's.
"""

import asyncio
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.person import agent_timers, lifecycle
from daemon.agents.running.recurrence import PERIODS, needs_next, next_time_ms
from store.local import peer_records, timers
from store.local.recurring_timers import RecurringTimer, recurring_timers
from store.upkeep import restored_rows
from syncproto.ids import EntityId, id_to_text
from tests.support.agent_queries import agent_details_of, human_input_of
from tests.support.fleet import DAY_MS, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_faults import spend_idle_turns
from tests.support.scheduler_service import Serving, serving

HOUR_MS = 3_600_000
BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [BERLIN, ZoneInfo("UTC"), ZoneInfo("America/St_Johns"), ZoneInfo("Australia/Lord_Howe")]


def ms(text: str, zone: tzinfo = BERLIN) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp() * 1000)


def following(first: str, every: str, count: int) -> list[str]:
    """Return the times of a timer after its first, as the clocks of Berlin show them."""
    now_ms, shown = ms(first), []
    for _ in range(count):
        now_ms = next_time_ms(ms(first), every, now_ms, BERLIN)
        shown.append(datetime.fromtimestamp(now_ms / 1000, BERLIN).isoformat(timespec="minutes"))
    return shown


def test_nine_o_clock_stays_nine_o_clock_when_the_clocks_are_changed():
    assert following("2026-03-28T09:00", "day", 2) == ["2026-03-29T09:00+02:00", "2026-03-30T09:00+02:00"]
    assert following("2026-10-24T09:00", "week", 2) == ["2026-10-31T09:00+01:00", "2026-11-07T09:00+01:00"]


def test_a_time_that_the_clocks_skip_comes_later_and_one_that_they_show_twice_comes_once():
    assert following("2026-03-28T02:30", "day", 2) == ["2026-03-29T03:30+02:00", "2026-03-30T02:30+02:00"]
    assert following("2026-10-24T02:30", "day", 2) == ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"]


def test_a_period_of_a_newer_version_or_of_a_restored_file_is_never_due():
    timer = RecurringTimer(EntityId(bytes(16)), 0, "fortnight", ms("2026-03-28T09:00"))
    assert not any(needs_next(timer, now_ms) for now_ms in (0, timer.next_ms, 2 * timer.next_ms))


def test_a_restore_keeps_as_many_timers_and_addresses_as_a_device_sets():
    assert (restored_rows.TIMERS_MAX, restored_rows.ADDRESSES_MAX) == (
        agent_timers.TIMERS_MAX,
        peer_records.ADDRESSES_MAX,
    )


def test_working_days_leave_out_the_weekend_and_hours_go_on():
    assert following("2026-11-19T09:00", "weekday", 2) == [
        "2026-11-20T09:00+01:00",
        "2026-11-23T09:00+01:00",
    ]
    assert following("2026-10-25T01:30", "hour", 3)[-1] == "2026-10-25T03:30+01:00"


@given(
    st.integers(1_700_000_000_000, 1_900_000_000_000),
    st.integers(0, 3 * 365 * DAY_MS),
    st.sampled_from(PERIODS),
    st.sampled_from(ZONES),
)
def test_the_next_time_is_after_now_and_near(anchor_ms: int, later_ms: int, every: str, zone: tzinfo):
    now_ms = anchor_ms + later_ms
    at_ms = next_time_ms(anchor_ms, every, now_ms, zone)
    length_ms = {"hour": HOUR_MS, "day": DAY_MS, "weekday": 3 * DAY_MS, "week": 7 * DAY_MS}[every]
    assert now_ms < at_ms <= now_ms + length_ms + 2 * HOUR_MS


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "hybrid"))


def recur(home: Home, agent: EntityId, words: str, every: str) -> None:
    home.write(lambda tx: agent_timers.set_timer(tx, agent, words, human_input_of(home), every))


def set_times(home: Home, agent: EntityId) -> list[int]:
    return home.read(lambda snapshot: timers.times_of_agent(snapshot, agent))


async def look(service: Serving, agent: EntityId) -> None:
    service.scheduler.on_timers_changed()
    await spend_idle_turns(service, agent)


async def test_a_timer_fires_again_and_a_week_off_makes_one_run(a: Home, agent: EntityId) -> None:
    begin_ms = a.now_ms()
    recur(a, agent, "in 2 hours", "day")
    assert list(agent_details_of(a, agent).recurring.values()) == ["day"]
    async with serving(a) as service:
        for count in (1, 2):
            a.fleet.now_ms = begin_ms + 2 * HOUR_MS + (count - 1) * DAY_MS
            await look(service, agent)
            await service.completed(agent, count)
            assert len(set_times(a, agent)) == 1
    a.fleet.now_ms += 7 * DAY_MS
    async with serving(a) as service:
        await service.completed(agent, 3)
        await look(service, agent)
        assert len(await service.runs(agent)) == 3
    (next_ms,) = set_times(a, agent)
    assert 0 < next_ms - a.now_ms() <= DAY_MS + HOUR_MS


async def test_a_clock_that_was_a_year_ahead_does_not_silence_a_timer_for_a_year(
    a: Home, agent: EntityId
) -> None:
    recur(a, agent, "in 2 hours", "day")
    begin_ms = a.now_ms()
    async with serving(a) as service:
        a.fleet.now_ms = begin_ms + 365 * DAY_MS
        await look(service, agent)
        await service.completed(agent, 1)
        a.fleet.now_ms = begin_ms + DAY_MS
        async with asyncio.timeout(LIMIT_S):
            while set_times(a, agent)[0] > begin_ms + 300 * DAY_MS:
                await look(service, agent)
        (next_ms,) = set_times(a, agent)
        assert next_ms == begin_ms + DAY_MS + 2 * HOUR_MS


def test_cancelling_ends_what_recurs(a: Home, agent: EntityId) -> None:
    recur(a, agent, "in 2 hours", "week")
    a.write(lambda tx: agent_timers.cancel_timers(tx, agent))
    assert (set_times(a, agent), a.read(recurring_timers)) == ([], [])
