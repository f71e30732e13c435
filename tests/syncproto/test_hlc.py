"""Stamps: they go up, keep near the clock, and follow no clock that is far ahead.

Never reads a clock.
"""

from hypothesis import given
from hypothesis import strategies as st

from syncproto.hlc import COUNT_MAX, LEAD_MS_MAX, MS_MAX, Stamp, follow, tick
from tests.support import strategies as draw

times = st.integers(0, MS_MAX)
near = st.integers(-3, 3)


@given(draw.stamps.filter(lambda last: last < (MS_MAX, COUNT_MAX)), st.integers(-5, MS_MAX + 5))
def test_the_next_stamp_is_later_than_the_last_and_not_before_the_clock(last, now_ms):
    stamp = tick(last, now_ms)
    assert stamp > last
    assert stamp.ms >= min(now_ms, MS_MAX)
    assert 0 <= stamp.ms <= MS_MAX
    assert 0 <= stamp.n <= COUNT_MAX


@given(times.filter(lambda ms: ms < MS_MAX))
def test_a_count_that_is_full_moves_on_to_the_next_millisecond(ms):
    assert tick(Stamp(ms, COUNT_MAX), ms) == Stamp(ms + 1, 0)


def test_the_last_stamp_of_all_is_not_exceeded():
    assert tick(Stamp(MS_MAX, COUNT_MAX), MS_MAX) == Stamp(MS_MAX, 0)
    assert tick(Stamp(0, 0), MS_MAX + 1) == Stamp(MS_MAX, 0)


@given(draw.stamps, times, st.integers(0, LEAD_MS_MAX), st.integers(0, COUNT_MAX))
def test_a_stamp_within_ten_minutes_of_the_clock_is_followed(last, now_ms, lead_ms, n):
    stamp = Stamp(min(now_ms + lead_ms, MS_MAX), n)
    assert follow(last, [stamp], now_ms) == max(last, stamp)
    assert follow(last, [stamp, Stamp(0, 0)], now_ms) == max(last, stamp)


@given(draw.stamps, times, st.integers(1, MS_MAX), st.integers(0, COUNT_MAX))
def test_a_stamp_more_than_ten_minutes_ahead_is_not_followed(last, now_ms, beyond_ms, n):
    assert follow(last, [Stamp(now_ms + LEAD_MS_MAX + beyond_ms, n)], now_ms) == last


@given(st.lists(st.tuples(st.booleans(), draw.stamps, st.integers(0, 1 << 41)), max_size=20))
def test_however_stamps_come_the_local_clock_never_goes_back(events):
    last, latest_ms = Stamp(0, 0), 0
    for created, observed, now_ms in events:
        after = tick(last, now_ms) if created else follow(last, [observed], now_ms)
        assert after >= last
        latest_ms = max(latest_ms, now_ms)
        assert after.ms <= latest_ms + LEAD_MS_MAX
        last = after
