"""What may be under way: within its bounds whatever is told, short on narrow lines, full on fast ones.

Never waits: lines, and the moments on them, are reckoned.
"""

from collections import deque
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncproto.messages import FRAME_BYTES_MAX, PAGE_BYTES_MAX, PAGE_BYTES_MIN
from syncproto.send_window import (
    ACK_GOAL_S,
    WINDOW_BYTES_FIRST,
    WINDOW_BYTES_MAX,
    WINDOW_BYTES_MIN,
    WINDOW_PAGES,
    SendWindow,
)


class Line(NamedTuple):
    """A line to a peer: its rate, the time of a byte on it, and what a page costs the peer's disk."""

    bytes_per_s: float
    way_s: float = 0.01
    disk_s: float = 0.005


class Page(NamedTuple):
    """What became of a page."""

    size: int
    sent_s: float
    acked_s: float


class Trip:
    """A long backlog that goes over a line, one page behind the other."""

    def __init__(self) -> None:
        self.flight = SendWindow()
        self.now_s = 0.0
        self._line_free_s = 0.0
        self._disk_free_s = 0.0
        self._under_way: deque[Page] = deque()

    def go(self, line: Line, until_s: float) -> list[Page]:
        """Send until a moment; return the pages that were acknowledged by then."""
        acked = []
        while self.now_s < until_s:
            while size := self.flight.next_page_bytes:
                self._send(line, size)
            page = self._under_way.popleft()
            self.now_s = max(self.now_s, page.acked_s)
            self.flight.note_acked(self.now_s)
            acked.append(page)
        return acked

    def _send(self, line: Line, size: int) -> None:
        self.flight.note_sent(size, self.now_s)
        self._line_free_s = max(self._line_free_s, self.now_s) + size / line.bytes_per_s
        self._disk_free_s = max(self._disk_free_s, self._line_free_s + line.way_s) + line.disk_s
        self._under_way.append(Page(size, self.now_s, self._disk_free_s + line.way_s))


def waits(pages: list[Page]) -> list[float]:
    """Return how long each page took."""
    return [page.acked_s - page.sent_s for page in pages]


def rate(pages: list[Page]) -> float:
    """Return how many bytes a second came through."""
    return sum(page.size for page in pages) / (pages[-1].acked_s - pages[0].sent_s)


@pytest.mark.parametrize("kib_per_s", [4, 8, 17, 40, 200])
@pytest.mark.parametrize("way_s", [0.001, 0.15])
def test_a_narrow_line_is_kept_full_and_what_is_under_way_on_it_is_soon_there(kib_per_s: int, way_s: float):
    line, trip = Line(kib_per_s * 1024, way_s), Trip()
    trip.go(line, 2 * WINDOW_BYTES_FIRST / line.bytes_per_s)
    pages = trip.go(line, trip.now_s + 300)
    assert max(waits(pages)) <= (1.1 if kib_per_s >= 17 else 2.05) * ACK_GOAL_S
    assert rate(pages) >= 0.97 * line.bytes_per_s


def test_before_anything_is_known_of_a_line_no_more_is_under_way_than_it_is_tried_with():
    trip = Trip()
    assert max(waits(trip.go(Line(17 * 1024), 8))) <= WINDOW_BYTES_FIRST / (17 * 1024) + 0.1


@pytest.mark.parametrize("line", [Line(100e6, 0.0001, 0.002), Line(10e6, 0.02), Line(10e6, 0.15, 0.05)])
def test_a_fast_line_is_sent_full_pages_within_a_few(line: Line):
    sizes = [page.size for page in Trip().go(line, 10)]
    assert PAGE_BYTES_MAX in sizes[:8]
    assert set(sizes[12:]) == {PAGE_BYTES_MAX}


@pytest.mark.parametrize("line", [Line(10e6, 0.6), Line(10e6, 1.5), Line(10e6, 0.01, 1.2)])
def test_a_long_way_or_a_slow_disk_is_not_taken_for_a_narrow_line(line: Line):
    """Shorter pages would take as long, and bring less."""
    trip = Trip()
    trip.go(line, 120)
    assert trip.go(line, 180)[-1].size == PAGE_BYTES_MAX


def test_a_line_that_becomes_narrow_gets_short_pages_at_once_and_long_ones_when_it_is_wide_again():
    wide, narrow, trip = Line(10e6), Line(8 * 1024), Trip()
    trip.go(wide, 5)
    trip.go(narrow, trip.now_s + 2 * WINDOW_BYTES_MAX / narrow.bytes_per_s)
    assert max(waits(trip.go(narrow, trip.now_s + 60))) <= 2 * ACK_GOAL_S
    assert trip.go(wide, trip.now_s + 20)[-1].size == PAGE_BYTES_MAX


# -- laws ------------------------------------------------------------------------------------------------

SIZES = st.one_of(st.integers(1, 2000), st.integers(1, PAGE_BYTES_MAX), st.just(FRAME_BYTES_MAX))
MOMENTS = st.one_of(st.floats(0, 0.01), st.floats(-1, 1e4), st.just(0.0))
STEPS = st.lists(
    st.tuples(st.sampled_from(["send", "send full", "ack", "rest"]), SIZES, MOMENTS), max_size=80
)


@given(STEPS)
def test_whatever_the_moments_told_pages_stay_within_bounds_and_something_may_always_be_sent(steps):
    flight, under_way, now_s = SendWindow(), deque[int](), 0.0
    for kind, size, later_s in steps:
        now_s += later_s
        room = flight.next_page_bytes
        assert room <= PAGE_BYTES_MAX
        assert room + sum(under_way) <= WINDOW_BYTES_MAX or not room
        assert not room or (room >= PAGE_BYTES_MIN // 2 and len(under_way) < WINDOW_PAGES)
        assert room >= PAGE_BYTES_MIN or under_way
        if kind.startswith("send") and room:
            under_way.append(room if kind == "send full" else size)
            flight.note_sent(under_way[-1], now_s)
        elif kind == "ack" and under_way:
            under_way.popleft()
            flight.note_acked(now_s)
        elif kind == "rest":
            flight.note_idle()
        assert flight.pages_in_flight == len(under_way)


@given(STEPS)
def test_whatever_a_line_did_its_pages_are_full_again_once_it_is_fast(steps):
    flight, now_s = SendWindow(), 0.0
    for kind, size, later_s in steps:
        now_s += abs(later_s)
        if kind == "ack" and flight.pages_in_flight:
            flight.note_acked(now_s)
        elif kind.startswith("send") and flight.next_page_bytes:
            flight.note_sent(size, now_s)
    while flight.pages_in_flight:
        flight.note_acked(now_s)
    for _ in range(12):
        flight.note_sent(flight.next_page_bytes, now_s)
        flight.note_acked(now_s + 0.01)
    assert flight.next_page_bytes == PAGE_BYTES_MAX


def test_a_page_beyond_what_was_wished_keeps_all_others_back_until_it_is_through():
    """A commit is never split, and a run is not cut before its signature."""
    flight = SendWindow()
    flight.note_sent(FRAME_BYTES_MAX, 0.0)
    assert flight.next_page_bytes == 0
    flight.note_acked(100.0)
    assert WINDOW_BYTES_MIN // 2 <= flight.next_page_bytes < WINDOW_BYTES_FIRST // 4
