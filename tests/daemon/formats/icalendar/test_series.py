"""To-dos that come again: at which date they are imported, and how long a rule may take.

Never asks the clock: the day of the import is given.
"""

import re
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from typing import NamedTuple, TypeVar

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from icalendar import Calendar

from daemon.formats.core.plan import PlannedTask
from daemon.formats.icalendar import reader, series
from daemon.journal import tasks
from daemon.journal.tasks import TaskEdit
from syncproto.ids import id_from_text
from tests.daemon.formats.icalendar.test_reader import BERLIN, calendar, todo
from tests.daemon.formats.transfers import bring, export, stored_tasks
from tests.support.fleet import DAY_MS, Fleet, Home

ANEW = ("DTSTAMP:", "BEGIN:", "END:", "RELATED-TO;RELTYPE=CHILD:")
"""How lines begin that each program writes anew, that stand more than once, or that are said elsewhere."""
Found = TypeVar("Found")
NOW_MS = int(datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp() * 1000)


values = st.text(st.sampled_from("ab é9 .-"), min_size=1, max_size=8).map(str.strip).filter(bool)
days = st.dates(date(1990, 1, 1), date(2035, 1, 1)).map("{:%Y%m%d}".format)
zones = st.sampled_from(["Europe/Berlin", "Eastern Standard Time", "America/New_York"])
times = st.one_of(
    days.map(";VALUE=DATE:{}".format),
    days.map(":{}T223000Z".format),
    days.map(":{}T003000".format),
    st.tuples(zones, days).map(lambda pair: f";TZID={pair[0]}:{pair[1]}T003000"),
)
parameters = st.sampled_from(["", ";LANGUAGE=fr", ';ALTREP="cid:1,2";X-A=1', ';CN="A: B";X-B=c,"d;e"'])
relations = st.tuples(
    st.sampled_from(["", "PARENT", "CHILD", "SIBLING", "DEPENDS-ON", "X-ODD"]), st.sampled_from("012")
)
texts = {
    **{name: values.map(f"{name}:{{}}".format) for name in ("LOCATION", "X-OTHER")},
    **{
        name: st.builds(f"{name}{{}}:{{}}".format, parameters, values)
        for name in ("COMMENT", "CONTACT", "RESOURCES", "ORGANIZER", "X-WITH-PARAMETERS")
    },
    "URL": values.map("URL;VALUE=URI:https://x.y/?a={};b".format),
    "CLASS": st.sampled_from(["PRIVATE", "X-ODD"]).map("CLASS:{}".format),
    "GEO": st.just("GEO:46.1;-7.25"),
    "ATTACH": st.sampled_from(
        ["ATTACH:https://x.y/a%20b", "ATTACH;FMTTYPE=text/plain;ENCODING=BASE64;VALUE=BINARY:SGk="]
    ),
    "RELATED-TO": relations.map(lambda pair: f"RELATED-TO{pair[0] and ';RELTYPE='}{pair[0]}:{pair[1]}"),
    "DURATION": st.sampled_from(["P4D", "PT90M", "P1DT12H", "P2W"]).map("DURATION:{}".format),
    "RDATE": times.map("RDATE{}".format),
    "EXRULE": st.sampled_from(["WEEKLY;BYDAY=MO", "MONTHLY", "HOURLY"]).map("EXRULE:FREQ={}".format),
    "DESCRIPTION": st.tuples(st.sampled_from(["", ";LANGUAGE=fr", ';ALTREP="cid:1"']), values).map(
        lambda pair: f"DESCRIPTION{pair[0]}:{pair[1]}"
    ),
    "CATEGORIES": values.map("CATEGORIES;LANGUAGE=en:{}".format),
    "PRIORITY": st.integers(1, 9).map("PRIORITY:{}".format),
    "PERCENT-COMPLETE": st.integers(0, 100).map("PERCENT-COMPLETE:{}".format),
    "SEQUENCE": st.integers(0, 9).map("SEQUENCE:{}".format),
    "STATUS": st.sampled_from(["STATUS:NEEDS-ACTION", "STATUS:IN-PROCESS", "STATUS:CANCELLED"]),
    "ATTENDEE": values.map('ATTENDEE;CN="A, B";X-A=1:mailto:{}'.format),
    "DTSTART": times.map("DTSTART{}".format),
    "DUE": times.map("DUE{}".format),
    "RRULE": st.sampled_from(["DAILY", "WEEKLY;BYDAY=SU", "MONTHLY;BYMONTHDAY=-1"]).map(
        "RRULE:FREQ={}".format
    ),
    "EXDATE": times.map("EXDATE{}".format),
    "RECURRENCE-ID": times.map("RECURRENCE-ID{}".format),
    "alarm": st.just("BEGIN:VALARM\nTRIGGER;RELATED=END:-PT15M\nACTION:DISPLAY\nEND:VALARM"),
}


@st.composite
def to_dos(draw: st.DrawFn) -> list[str]:
    chosen = draw(st.lists(st.sampled_from(sorted(texts)), unique=True))
    if {"DTSTART", "DUE"} <= {*chosen}:
        # RFC 5545, 3.6.2: no to-do has both an end and a length.
        chosen = [name for name in chosen if name != "DURATION"]
    lines = [line for name in chosen for line in draw(texts[name]).split("\n")]
    return ["SUMMARY;LANGUAGE=de:x", "CREATED:20260102T030405Z", *lines]


files = st.lists(to_dos(), min_size=1, max_size=3).map(
    lambda drawn: [todo(*lines, uid=str(number)) for number, lines in enumerate(drawn)]
)


def parse(*lines: str, now_ms: int | None = NOW_MS) -> tuple[PlannedTask, ...]:
    plan = reader.parse("tasks.ics", calendar(*lines), BERLIN, now_ms)
    assert (plan.faults, plan.skipped) == ((), ())
    return plan.tasks


class Case(NamedTuple):
    """The lines of a to-do and of its occurrences, and the due day and status that it has."""

    lines: list[str]
    due: str | None
    occurrences: tuple[str, ...] = ()
    status: str = "OPEN"


SUNDAYS = ["DTSTART;VALUE=DATE:20261101", "DUE;VALUE=DATE:20261102", "RRULE:FREQ=WEEKLY;BYDAY=SU"]
TIMED = ["DTSTART;TZID=Europe/Berlin:20261101T233000", "RRULE:FREQ=DAILY"]
CASES = [
    Case(SUNDAYS, "2026-11-30"),
    Case([*SUNDAYS, "EXDATE;VALUE=DATE:20261129,20261213"], "2026-12-07"),
    Case(SUNDAYS, "2026-12-07", ("RECURRENCE-ID;VALUE=DATE:20261129",)),
    Case(["DUE;VALUE=DATE:20270105", "RRULE:FREQ=DAILY"], "2027-01-05"),
    Case(["DTSTART;VALUE=DATE:20270105", "DURATION:P2D", "RRULE:FREQ=MONTHLY"], "2027-01-07"),
    Case(["DUE;VALUE=DATE:20261031", "RRULE:FREQ=MONTHLY;BYMONTHDAY=-1"], "2026-11-30"),
    Case(["DUE;VALUE=DATE:20240229", "RRULE:FREQ=YEARLY"], "2028-02-29"),
    Case(["DUE;VALUE=DATE:20261101", "RRULE:FREQ=DAILY;UNTIL=20261110"], "2026-11-10"),
    Case(["DUE:20261101T233000Z", "RRULE:FREQ=DAILY;UNTIL=20261130T233000Z"], "2026-11-28"),
    Case(["DUE;VALUE=DATE:20261101", "RDATE;VALUE=DATE:20270301,20261205"], "2026-12-05"),
    Case([*TIMED, "EXDATE:20261128T223000Z"], "2026-11-29"),
    Case([*TIMED, "EXDATE;TZID=Europe/Berlin:20261128T233000"], "2026-11-29"),
    Case(TIMED, "2026-11-29", ("RECURRENCE-ID;TZID=Europe/Berlin:20261128T233000",)),
    Case(
        ["DUE;VALUE=DATE:20261101", "RRULE:FREQ=DAILY;COUNT=2"],
        "2026-11-02",
        ("RECURRENCE-ID;VALUE=DATE:20261101", "RECURRENCE-ID;VALUE=DATE:20261102"),
        "DONE",
    ),
    Case(["DUE;VALUE=DATE:20261201", "RRULE:FREQ=NEVER"], "2026-12-01"),
    Case(["DUE;VALUE=DATE:20261201", "RRULE:FREQ=DAILY;INTERVAL=0"], "2026-12-01"),
    Case(["DUE;VALUE=DATE:20261201", "RRULE:FREQ=DAILY;BYDAY=9XX"], "2026-12-01"),
    Case(["DUE;VALUE=DATE:99991231", "DTSTART;VALUE=DATE:99991230", "RRULE:FREQ=DAILY"], "9999-12-31"),
    Case(["RRULE:FREQ=DAILY"], None),
    Case([*SUNDAYS, "EXRULE:FREQ=MONTHLY;BYDAY=-1SU"], "2026-12-07"),
    Case([*TIMED, "EXRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SA"], "2026-11-29"),
    Case(["DUE;VALUE=DATE:20261201", "RRULE:FREQ=HOURLY;INTERVAL=9"], "2026-12-01"),
    Case(["DUE;VALUE=DATE:20200101", "RRULE:FREQ=DAILY;BYHOUR=9,21"], "2026-11-28"),
]


def test_a_series_is_one_open_task_at_its_next_date() -> None:
    outcomes = []
    for case in CASES:
        occurrences = [line for identifier in case.occurrences for line in todo(identifier)]
        task, *others = parse(*todo("SUMMARY:x", *case.lines), *occurrences)
        outcomes.append((case.lines, task.due, len(others), task.status))
    assert outcomes == [(case.lines, case.due, len(case.occurrences), case.status) for case in CASES]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@example([todo("SUMMARY:x", "DUE;VALUE=DATE:20000101", "DURATION:P4D", uid="0")])
@given(files)
def test_what_comes_back_is_what_went_in_and_the_same_ever_after(fleet: Fleet, properties) -> None:
    """Every property with its parameters, each alarm and each zone, of any to-do and its occurrences."""
    first = fleet.home(f"device {len(fleet.homes)}")
    lines = [line for element in properties for line in element]
    bring(first, "icalendar", calendar(*lines), zone=BERLIN, now_ms=NOW_MS)
    written = export(first, "icalendar", BERLIN)
    unfolded = written.replace("\r\n ", "").split("\r\n")
    present = {
        *unfolded,
        *(re.sub(";(RELTYPE=PARENT|X-PLACET-AT=[0-9TZ]+)(?=:)", "", line) for line in unfolded),
    }
    assert [line for line in lines if not line.startswith(ANEW) and line not in present] == []
    assert not Calendar.from_ical(written).errors
    second = fleet.home(f"device {len(fleet.homes)}")
    bring(second, "icalendar", written, zone=BERLIN, now_ms=NOW_MS)
    assert export(second, "icalendar", BERLIN) == written
    again = bring(first, "icalendar", written, zone=BERLIN, now_ms=NOW_MS)
    assert (again.tasks, again.entries, again.checklist_items) == (0, 0, 0)
    assert export(first, "icalendar", BERLIN) == written


def test_a_note_that_looks_like_properties_stays_a_note(a: Home) -> None:
    crafted = "RRULE:FREQ=DAILY\\nSTATUS:COMPLETED\\nEND:VTODO"
    bring(a, "icalendar", calendar(*todo("SUMMARY:x", f"DESCRIPTION:{crafted}", f"COMMENT:{crafted}")))
    (kept,) = [note.id for note in stored_tasks(a)[0].entries][:1]
    a.set(id_from_text(kept), text="RRULE:FREQ=DAILY")
    bring(a, "icalendar", calendar(*todo("SUMMARY:y", "X-OTHER:y", uid="b")))
    (other,) = stored_tasks(a)[1].entries
    a.set(id_from_text(other.id), text="X-OTHER:y\nRRULE:FREQ=DAILY")
    lines = export(a, "icalendar").replace("\r\n ", "").split("\r\n")
    assert [line for line in lines if line.startswith(("RRULE", "X-OTHER", "STATUS:COMPLETED"))] == []


def test_what_the_file_no_longer_has_does_not_come_back(a: Home) -> None:
    for lines in (["LOCATION:here", *SUNDAYS], ["DUE;VALUE=DATE:20261224"], ["LOCATION:there"]):
        bring(a, "icalendar", calendar(*todo("SUMMARY:x", *lines)), now_ms=NOW_MS)
        written = export(a, "icalendar").split("\r\n")
        assert {line for line in written if line.startswith(("LOCATION", "RRULE", "DUE", "DTSTART"))} == set(
            lines
        )


def test_a_date_that_a_person_chose_stays(a: Home) -> None:
    text = calendar(*todo("SUMMARY:x", *SUNDAYS))
    bring(a, "icalendar", text, now_ms=NOW_MS)
    a.write(lambda tx: tasks.edit(tx, "x", TaskEdit(due="2026-12-24")))
    bring(a, "icalendar", text, now_ms=NOW_MS + 9 * DAY_MS)
    assert stored_tasks(a)[0].due == "2026-12-24"
    written = export(a, "icalendar").split("\r\n")
    assert ("DUE;VALUE=DATE:20261224" in written, SUNDAYS[1] in written, SUNDAYS[2] in written) == (
        True,
        False,
        True,
    )


def test_without_a_day_the_first_date_that_is_left_is_next() -> None:
    (task,) = parse(*todo(*SUNDAYS, "EXDATE;VALUE=DATE:20261101"), now_ms=None)
    assert task.due == "2026-11-09"


def test_no_rule_is_followed_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them would be followed for minutes, or as often as a file names it."""
    monkeypatch.setattr(series, "_STEPS_MAX", 20_000)
    whole_day = f"BYHOUR={','.join(map(str, range(24)))};BYMINUTE={','.join(map(str, range(60)))}"
    rules = [
        "FREQ=SECONDLY",
        f"FREQ=DAILY;{whole_day}",
        "FREQ=WEEKLY;BYMONTHDAY=31;BYMONTH=4",
        "FREQ=YEARLY;BYEASTER=0",
        f"FREQ=DAILY;BYMONTHDAY={','.join(['30'] * 9_000)};BYMONTH=2",
        f"FREQ=DAILY;{whole_day[:50]};BYMONTH=2,3,4",
    ]
    for count in (1, 9):
        lines = [
            line
            for n in range(len(rules) * count)
            for line in todo("DUE;VALUE=DATE:19000102", f"RRULE:{rules[n % len(rules)]}", uid=str(n))
        ]
        tasks, calls = counted_calls(partial(parse, *lines))
        assert {task.due for task in tasks} == {"1900-01-02"}
        assert calls < 700_000, calls


def counted_calls(work: Callable[[], Found]) -> tuple[Found, int]:
    """Return what some work returns, and how many functions it called."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        return work(), calls
    finally:
        sys.setprofile(None)
