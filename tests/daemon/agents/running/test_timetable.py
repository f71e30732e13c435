"""The timetable: debounce, throttle, back-off, coalescing, single flight and the limit, in made-up seconds.

Never waits: time is an argument.
"""

import pytest

from daemon.agents.running.timetable import FAILURE_BACKOFF, FAILURES_MAX, RunPace, RunStart, Timetable
from syncproto.ids import EntityId

ONE, TWO, THREE = (EntityId(bytes([number]) * 16) for number in (1, 2, 3))


@pytest.fixture
def table() -> Timetable:
    return Timetable(RunPace(debounce_s=2, throttle_s=5, concurrency=2))


def test_news_wait_until_it_is_quiet(table: Timetable) -> None:
    table.note_news(ONE, 0)
    assert table.take_ready(1) == []
    table.note_news(ONE, 1)
    assert table.take_ready(2) == []
    assert table.next_s(2) == 1
    assert table.take_ready(3) == [RunStart(ONE, None)]


def test_an_agent_whose_task_is_written_to_all_day_has_its_turn(table: Timetable) -> None:
    for second in range(10):
        assert table.take_ready(second) == []
        table.note_news(ONE, second)
    assert table.take_ready(10) == [RunStart(ONE, None)]


def test_much_news_is_one_run(table: Timetable) -> None:
    for _ in range(5):
        table.note_news(ONE, 0)
    assert table.take_ready(9) == [RunStart(ONE, None)]
    table.note_start(RunStart(ONE, None))
    table.note_end(RunStart(ONE, None), 10)
    assert table.take_ready(99) == []


def test_news_during_a_run_make_the_next_one_after_the_throttle(table: Timetable) -> None:
    table.note_news(ONE, 0)
    table.note_start(RunStart(ONE, None))
    table.note_news(ONE, 3)
    assert table.take_ready(9) == []
    assert table.outlook(ONE, 9).why == "it is running"
    table.note_end(RunStart(ONE, None), 10)
    assert table.take_ready(14) == []
    assert table.next_s(14) == 1
    assert table.take_ready(15) == [RunStart(ONE, None)]


def test_a_persons_request_skips_debounce_throttle_and_backoff(table: Timetable) -> None:
    table.note_news(ONE, 0)
    table.note_start(RunStart(ONE, None))
    table.note_end(RunStart(ONE, None), 1)
    table.note_failures(ONE, FAILURES_MAX, 9999)
    table.add_urgent_request(ONE, "session")
    assert table.take_ready(1) == [RunStart(ONE, "session")]


def test_an_agent_never_runs_twice_at_once(table: Timetable) -> None:
    table.add_urgent_request(ONE, "first")
    table.note_start(RunStart(ONE, "first"))
    table.add_urgent_request(ONE, "second")
    assert table.take_ready(0) == []
    table.note_end(RunStart(ONE, None), 1)
    assert table.take_ready(1) == [RunStart(ONE, "second")]


def test_no_more_run_at_once_than_the_limit_and_people_go_first(table: Timetable) -> None:
    table.note_news(ONE, 0)
    table.note_news(TWO, 1)
    table.add_urgent_request(THREE, "session")
    assert table.take_ready(9) == [RunStart(THREE, "session"), RunStart(ONE, None)]
    for start in table.take_ready(9):
        table.note_start(start)
    assert table.take_ready(9) == []
    assert table.running_count() == 2
    assert table.waiting_count() == 1
    table.note_end(RunStart(ONE, None), 9)
    assert table.take_ready(9) == [RunStart(TWO, None)]


def test_failures_back_off_and_too_many_of_them_wait_for_a_person(table: Timetable) -> None:
    table.note_news(ONE, 0)
    table.note_failures(ONE, 1, 60)
    assert table.take_ready(59) == []
    assert "backing off" in table.outlook(ONE, 59).why
    assert table.take_ready(60) == [RunStart(ONE, None)]
    table.note_failures(ONE, FAILURES_MAX, 60)
    assert table.take_ready(10_000) == []
    assert table.outlook(ONE, 10_000).in_s is None


def test_the_backoff_doubles_up_to_six_hours() -> None:
    assert [FAILURE_BACKOFF.delay_s(failures) for failures in (0, 1, 2, 3, 4, 20)] == [
        0,
        60,
        120,
        240,
        480,
        21_600,
    ]


def test_news_that_turn_out_to_be_none_are_dropped(table: Timetable) -> None:
    table.note_news(ONE, 0)
    table.clear_news(ONE)
    assert table.take_ready(99) == []
    assert table.next_s(0) is None
    assert table.outlook(ONE, 0).in_s is None


def test_a_timers_run_puts_off_what_comes_by_itself_and_a_persons_does_not(table: Timetable) -> None:
    for ask, in_s in ((table.add_urgent_request, 2.0), (table.add_patient_request, 5.0)):
        ask(ONE, "request")
        (start,) = table.take_ready(100.0)
        table.note_start(start)
        table.note_end(start, 100.0)
        table.note_news(ONE, 100.0)
        assert table.outlook(ONE, 100.0).in_s == in_s
        table.clear_news(ONE)
