"""An hour goes to another program and comes back: its moment as the program knows it, and our zone beside it.

Never tests how people type hours: `tests/daemon/journal/test_due_time.py` does.
"""

from zoneinfo import ZoneInfo

import pytest

from daemon.journal import tasks
from daemon.journal.tasks import NewTask, TaskEdit
from tests.daemon.formats.icalendar.test_reader import calendar, todo
from tests.daemon.formats.transfers import bring, export, stored_tasks, without_ids
from tests.support.fleet import Home

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = "2030-05-01T14:00[America/New_York]"


def hours(home: Home) -> list[tuple[str | None, str | None, int]]:
    return [(task.due, task.due_time, len(task.entries)) for task in stored_tasks(home)]


@pytest.mark.parametrize("format_", ["icalendar", "taskwarrior", "todotxt"])
@pytest.mark.parametrize("hour", [NEW_YORK, "2030-05-01T14:00[Europe/Berlin]", "2030-05-01T14:00[UTC]"])
def test_an_hour_comes_back_with_its_zone_and_leaves_no_note(
    a: Home, b: Home, format_: str, hour: str
) -> None:
    a.write(lambda tx: tasks.add(tx, NewTask(title="Call Ana", due_time=hour)))
    text = export(a, format_, BERLIN)
    bring(b, format_, text, zone=BERLIN)
    assert hours(b) == [("2030-05-01", hour, 0)]
    assert without_ids(export(b, format_, BERLIN)) == without_ids(text)


def test_an_hour_that_another_program_moved_counts_and_ours_goes(a: Home) -> None:
    moved = ["SUMMARY:Call Ana", "DUE:20300502T160000Z", f"X-PLACET-DUE-TIME:{NEW_YORK}"]
    bring(a, "icalendar", calendar(*todo(*moved)), zone=BERLIN)
    assert [task.due_time for task in stored_tasks(a)] == ["2030-05-02T18:00[Europe/Berlin]"]


@pytest.mark.parametrize(
    ("zone", "hour"),
    [
        ("America/New_York", "2030-05-01T09:30[America/New_York]"),
        ("Eastern Standard Time", "2030-05-01T09:30[America/New_York]"),
        ("Nowhere/Land", "2030-05-01T09:30[Europe/Berlin]"),
    ],
)
def test_an_hour_in_a_zone_is_that_of_its_author_and_is_written_back_as_it_came(
    a: Home, zone: str, hour: str
) -> None:
    line = f"DUE;TZID={zone}:20300501T093000"
    bring(a, "icalendar", calendar(*todo("SUMMARY:Call Ana", line)), zone=BERLIN)
    assert [(task.due, task.due_time) for task in stored_tasks(a)] == [("2030-05-01", hour)]
    written = export(a, "icalendar", BERLIN)
    assert line in written
    assert "X-PLACET" not in written


@pytest.mark.parametrize("due_time", [None, "2030-05-01T10:00[Europe/Berlin]"])
def test_an_hour_that_a_person_changed_or_took_away_is_not_that_of_the_file(
    a: Home, due_time: str | None
) -> None:
    line = "DUE;TZID=America/New_York:20300501T093000"
    bring(a, "icalendar", calendar(*todo("SUMMARY:Call Ana", line)), zone=BERLIN)
    a.write(lambda tx: tasks.edit(tx, "Call Ana", TaskEdit(due_time=due_time)))
    written = export(a, "icalendar", BERLIN)
    assert line not in written
    assert ("DUE;VALUE=DATE:20300501" if due_time is None else "DUE:20300501T080000Z") in written
