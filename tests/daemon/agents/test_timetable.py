"""The timetable: debounce, throttle, back-off, coalescing, single flight and the limit, in made-up seconds.

Never waits: time is an argument.
"""

import pytest

from daemon.agents.timetable import FAILURES_MAX, Pace, Start, Timetable, backoff_s
from syncproto.ids import EntityId

ONE, TWO, THREE = (EntityId(bytes([number]) * 16) for number in (1, 2, 3))


@pytest.fixture
def table() -> Timetable:
    return Timetable(Pace(debounce_s=2, throttle_s=5, concurrency=2))


def test_news_wait_until_it_is_quiet(table: Timetable) -> None:
    table.news(ONE, 0)
    assert table.ready(1) == []
    table.news(ONE, 1)
    assert table.ready(2) == []
    assert table.next_s(2) == 1
    assert table.ready(3) == [Start(ONE, None)]


def test_an_agent_whose_task_is_written_to_all_day_has_its_turn(table: Timetable) -> None:
    for second in range(10):
        assert table.ready(second) == []
        table.news(ONE, second)
    assert table.ready(10) == [Start(ONE, None)]


def test_much_news_is_one_run(table: Timetable) -> None:
    for _ in range(5):
        table.news(ONE, 0)
    assert table.ready(9) == [Start(ONE, None)]
    table.started(Start(ONE, None))
    table.ended(Start(ONE, None), 10)
    assert table.ready(99) == []


def test_news_during_a_run_make_the_next_one_after_the_throttle(table: Timetable) -> None:
    table.news(ONE, 0)
    table.started(Start(ONE, None))
    table.news(ONE, 3)
    assert table.ready(9) == []
    assert table.outlook(ONE, 9).why == "it is running"
    table.ended(Start(ONE, None), 10)
    assert table.ready(14) == []
    assert table.next_s(14) == 1
    assert table.ready(15) == [Start(ONE, None)]


def test_a_persons_request_skips_debounce_throttle_and_backoff(table: Timetable) -> None:
    table.news(ONE, 0)
    table.started(Start(ONE, None))
    table.ended(Start(ONE, None), 1)
    table.failed_before(ONE, FAILURES_MAX, 9999)
    table.ask(ONE, "session")
    assert table.ready(1) == [Start(ONE, "session")]


def test_an_agent_never_runs_twice_at_once(table: Timetable) -> None:
    table.ask(ONE, "first")
    table.started(Start(ONE, "first"))
    table.ask(ONE, "second")
    assert table.ready(0) == []
    table.ended(Start(ONE, None), 1)
    assert table.ready(1) == [Start(ONE, "second")]


def test_no_more_run_at_once_than_the_limit_and_people_go_first(table: Timetable) -> None:
    table.news(ONE, 0)
    table.news(TWO, 1)
    table.ask(THREE, "session")
    assert table.ready(9) == [Start(THREE, "session"), Start(ONE, None)]
    for start in table.ready(9):
        table.started(start)
    assert table.ready(9) == []
    assert table.running() == 2
    assert table.due() == 1
    table.ended(Start(ONE, None), 9)
    assert table.ready(9) == [Start(TWO, None)]


def test_failures_back_off_and_too_many_of_them_wait_for_a_person(table: Timetable) -> None:
    table.news(ONE, 0)
    table.failed_before(ONE, 1, 60)
    assert table.ready(59) == []
    assert "backing off" in table.outlook(ONE, 59).why
    assert table.ready(60) == [Start(ONE, None)]
    table.failed_before(ONE, FAILURES_MAX, 60)
    assert table.ready(10_000) == []
    assert table.outlook(ONE, 10_000).in_s is None


def test_the_backoff_doubles_up_to_six_hours() -> None:
    assert [backoff_s(failures) for failures in (0, 1, 2, 3, 4, 20)] == [0, 60, 120, 240, 480, 21_600]


def test_news_that_turn_out_to_be_none_are_dropped(table: Timetable) -> None:
    table.news(ONE, 0)
    table.no_news(ONE)
    assert table.ready(99) == []
    assert table.next_s(0) is None
    assert table.outlook(ONE, 0).in_s is None


def test_a_timers_run_puts_off_what_comes_by_itself_and_a_persons_does_not(table: Timetable) -> None:
    for ask, in_s in ((table.ask, 2.0), (table.ask_patiently, 5.0)):
        ask(ONE, "request")
        (start,) = table.ready(100.0)
        table.started(start)
        table.ended(start, 100.0)
        table.news(ONE, 100.0)
        assert table.outlook(ONE, 100.0).in_s == in_s
        table.no_news(ONE)
