"""A due that has an hour: it belongs to its day, on every device, also beside versions that know no hours.

Never asks this machine for its zone or its time.
"""

from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from daemon.due_time import DueTime, due_time_on, read_due_time
from daemon.journal import tasks
from daemon.journal.human_input import HumanInput
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.views.structures import Task
from daemon.journal.views.task_lines import task_lines_page
from daemon.refusal import Refused
from store.fold.list_columns import ListOrder
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import id_from_text
from tests.support.fleet import Fleet, Home

BERLIN = ZoneInfo("Europe/Berlin")
SUNDAY = int(datetime(2026, 11, 29, 12, tzinfo=BERLIN).timestamp() * 1000)
TWO = "2030-05-01T14:00[Europe/Berlin]"


def typed(language: str = "en") -> HumanInput:
    return HumanInput(lambda: SUNDAY, BERLIN, language)


def add(home: Home, **fields: Any) -> Task:
    new = typed().read_new_task(NewTask(title="Call Ana", **fields))
    return home.write(lambda tx: tasks.add(tx, new))


def edit(home: Home, task: Task, **fields: Any) -> Task:
    change = typed().read_task_edit(TaskEdit(**fields))
    return home.write(lambda tx: tasks.edit(tx, task.id, change))


def show(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id))


def write_as_an_older_version(home: Home, task: Task, **fields: Value) -> None:
    home.write(lambda tx: tx.commit([EntityWrite(id_from_text(task.id), "task", fields)]))


def test_an_hour_comes_with_its_day_moves_with_it_and_goes_with_it(a: Home) -> None:
    task = add(a, due="1 May 2030 14:00")
    assert (task.due, task.due_time) == ("2030-05-01", TWO)
    moved = edit(a, task, due="2030-05-03")
    assert (moved.due, moved.due_time) == ("2030-05-03", "2030-05-03T14:00[Europe/Berlin]")
    later = edit(a, task, due_time="3 pm")
    assert (later.due, later.due_time) == ("2030-05-03", "2030-05-03T15:00[Europe/Berlin]")
    without = edit(a, task, due_time="none")
    assert (without.due, without.due_time) == ("2030-05-03", None)
    edit(a, task, due_time=TWO)
    assert (show(a, task).due, show(a, task).due_time) == ("2030-05-01", TWO)
    gone = edit(a, task, due=None)
    assert (gone.due, gone.due_time) == (None, None)


def test_an_hour_without_a_day_or_of_another_day_is_refused(a: Home) -> None:
    with pytest.raises(Refused, match="hour of no day"):
        add(a, due_time="at 14:00")
    with pytest.raises(Refused, match="not on 2030-05-02"):
        add(a, due="2030-05-02", due_time=TWO)
    with pytest.raises(Refused, match="no time of a day"):
        a.write(lambda tx: tasks.add(tx, NewTask(title="x", due_time="2030-02-30T14:00[Europe/Berlin]")))


def test_a_day_that_an_older_version_sets_leaves_no_hour_of_another_day(a: Home) -> None:
    task = add(a, due="1 May 2030 14:00")
    write_as_an_older_version(a, task, due="2030-05-02")
    assert (show(a, task).due, show(a, task).due_time) == ("2030-05-02", None)
    edit(a, task, due="2030-05-04")
    assert show(a, task).due_time is None


@pytest.mark.parametrize(
    "hostile", ["2030-05-01T99:99[X]", "2030-05-01T14:00", "2030-05-01Tjunk", "\0", "T" * 9999]
)
def test_an_hour_of_a_peer_that_is_none_stops_no_list(a: Home, hostile: str) -> None:
    task = add(a, due="2030-05-01")
    write_as_an_older_version(a, task, due_time=hostile)
    [line] = a.read(lambda snapshot: task_lines_page(snapshot, closed=False, removed=False))
    assert (line.due, line.due_time) == ("2030-05-01", None)


def test_an_hour_and_a_day_that_devices_set_apart_never_stand_beside_each_other(
    fleet: Fleet, a: Home, b: Home
) -> None:
    task = add(a, due="2030-05-01")
    fleet.sync()
    edit(a, task, due_time=TWO)
    edit(b, task, due="2030-05-02")
    fleet.sync()
    shown = [(show(home, task).due, show(home, task).due_time) for home in (a, b)]
    assert shown[0] == shown[1]
    assert shown[0] in [("2030-05-01", TWO), ("2030-05-02", None)]
    # Whichever day won, that there were two is shown.
    assert [conflict.field for conflict in show(a, task).conflicts] == ["due"]


def test_what_has_an_hour_stands_by_it_behind_what_has_none(a: Home) -> None:
    for due in ("1 May 2030 14:00", "2 May 2030", "1 May 2030 9:00", "1 May 2030"):
        add(a, due=due)
    lines = a.read(
        lambda snapshot: task_lines_page(snapshot, closed=False, removed=False, order=ListOrder.DUE)
    )
    clocks = [(line.due, "" if line.due_time is None else line.due_time[11:16]) for line in lines]
    assert clocks == [
        ("2030-05-01", ""),
        ("2030-05-01", "09:00"),
        ("2030-05-01", "14:00"),
        ("2030-05-02", ""),
    ]


@pytest.mark.parametrize(
    ("hour", "utc"),
    [
        ("2027-01-15T09:00[Europe/Berlin]", datetime(2027, 1, 15, 8, tzinfo=UTC)),
        # Skipped in the spring, and shown twice in the autumn.
        ("2027-03-28T02:30[Europe/Berlin]", datetime(2027, 3, 28, 1, 30, tzinfo=UTC)),
        ("2027-10-31T02:30[Europe/Berlin]", datetime(2027, 10, 31, 0, 30, tzinfo=UTC)),
        # A zone that this machine does not know is taken for the one here.
        ("2027-01-15T09:00[Mars/Olympus]", datetime(2027, 1, 15, 14, tzinfo=UTC)),
    ],
)
def test_an_hour_is_one_moment_whatever_the_clocks_do(hour: str, utc: datetime) -> None:
    due_time = read_due_time(hour)
    assert due_time is not None
    assert due_time.moment(ZoneInfo("America/New_York")) == utc


@pytest.mark.parametrize(
    ("language", "line", "title", "hour"),
    [
        ("en", "Call Mar tomorrow 14:00", "Call Mar", "2026-11-30T14:00"),
        ("en", "Call Mar at 2 pm", "Call Mar", "2026-11-29T14:00"),
        ("en", "Call Mar at 11:30", "Call Mar", "2026-11-30T11:30"),
        ("en", "Call Ana in 2 hours", "Call Ana", "2026-11-29T14:00"),
        ("en", "Fly Friday at 6:30 for 2h #trip", "Fly", "2026-12-04T06:30"),
        ("en", "Lunch 12:30 tomorrow", "Lunch", "2026-11-30T12:30"),
        ("de", "Zahnarzt am Freitag um 9 Uhr", "Zahnarzt", "2026-12-04T09:00"),
        ("fr", "Dentiste vendredi 9h30", "Dentiste", "2026-12-04T09:30"),
        ("es", "Llamar a Mar mañana a las 14:00", "Llamar a Mar", "2026-11-30T14:00"),
        ("ro", "Dentist vineri la ora 9", "Dentist", "2026-12-04T09:00"),
        *(
            ("en", line, line, None)
            for line in (
                "Call Mar 14:00",
                "Read John 3:16",
                "Open 9:00 to 17:00",
                "Meet tomorrow 9:00 to 5 pm",
                "Meet tomorrow 14:00-15:00",
                "Meeting 14:00 - 15:00",
                "Set alarm to 6 am",
                "Sleep until 9 am tomorrow",
            )
        ),
    ],
)
def test_an_hour_at_the_end_of_a_line_is_read_if_it_can_mean_nothing_else(
    a: Home, language: str, line: str, title: str, hour: str | None
) -> None:
    captured = a.read(lambda snapshot: typed(language).captured_line(snapshot, line))
    due_time = None if hour is None else f"{hour}[Europe/Berlin]"
    assert (captured.title, captured.due_time) == (title, due_time)
    assert captured.due is None if hour is None else str(captured.due) == hour[:10]


def test_the_last_and_the_first_day_have_moments_too() -> None:
    for day, zone in ((date.max, "America/New_York"), (date.min, "Europe/Berlin")):
        hour = DueTime(day, time(23, 59), zone)
        assert due_time_on(day.isoformat(), hour.text()) == hour
        hour.moment(UTC)
