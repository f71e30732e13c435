"""Time zones that a calendar file describes: as right as those of the system, and cheap whatever they say.

Never lets what one file says of a zone count for another file.
"""

import tracemalloc
from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from daemon.formats.icalendar import described_zones, reader
from daemon.formats.icalendar.described_zones import DescribedZone, UnusableZone
from tests.support import growth

BERLIN = ZoneInfo("Europe/Berlin")
AUTUMN, SPRING = "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU", "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"
EVERY_DAY = "RRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"


def part(rule: str, start: str = "19700101T030000", before: str = "+0200", after: str = "+0100") -> list[str]:
    lines = [f"DTSTART:{start}", f"TZOFFSETFROM:{before}", f"TZOFFSETTO:{after}", *filter(None, [rule])]
    return ["BEGIN:STANDARD", *lines, "END:STANDARD"]


def described(*parts: list[str], name: str = "Office") -> list[str]:
    return [
        "BEGIN:VTIMEZONE",
        f"TZID:{name}",
        *(line for listed_part in parts for line in listed_part),
        "END:VTIMEZONE",
    ]


def zone(*parts: list[str]) -> DescribedZone:
    return DescribedZone("\r\n".join(described(*parts)))


def hours(described_zone: DescribedZone, *wall: int) -> float:
    offset = described_zone.offset_at(datetime(*wall, tzinfo=UTC)).utcoffset(None)  # type: ignore[arg-type,misc]
    assert offset is not None
    return offset / timedelta(hours=1)


def calendar(lines: list[str], dues: list[str]) -> str:
    todos = [
        line
        for number, due in enumerate(dues)
        for line in ("BEGIN:VTODO", f"UID:{number}", "SUMMARY:x", f"DUE;TZID=Office:{due}", "END:VTODO")
    ]
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", *lines, *todos, "END:VCALENDAR", ""])


def test_a_description_of_a_real_zone_gives_its_offsets() -> None:
    mine = zone(part(AUTUMN), part(SPRING, "16010101T020000", "+0100", "+0200"))
    dice = Random(1)
    for _ in range(2000):
        wall = datetime(1997, 1, 1, tzinfo=UTC) + timedelta(minutes=dice.randrange(40 * 365 * 1440))
        theirs = wall.replace(tzinfo=BERLIN)
        if theirs.astimezone(UTC).astimezone(BERLIN).hour == wall.hour:  # not in the hour that is left out
            assert mine.offset_at(wall).utcoffset(None) == theirs.utcoffset(), wall


@pytest.mark.parametrize(
    ("rule", "start", "before", "on"),
    [
        ("RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU", "20000101T020000", (2026, 10, 31), (2026, 11, 2)),
        (
            "RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10;WKST=SU",
            "20000101T020000",
            (2026, 10, 24),
            (2026, 10, 26),
        ),
        (
            "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=SU;BYMONTHDAY=1,2,3,4,5,6,7",
            "20000101T020000",
            (2025, 11, 1),
            (2025, 11, 3),
        ),
        ("RRULE:FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=9", "20000101T020000", (2025, 4, 9), (2025, 4, 10)),
        ("RRULE:FREQ=YEARLY", "20000615T020000", (2026, 6, 15), (2026, 6, 16)),
        ("RDATE:20200101T000000,20260601T000000", "20000101T000000", (2026, 5, 31), (2026, 6, 2)),
        ("RDATE:20260601T000000Z", "20000101T000000", (2026, 6, 1), (2026, 6, 2)),
    ],
)
def test_each_way_to_name_the_day_of_a_change(rule, start, before, on):
    other = part("RRULE:FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=5", "20000105T000000", "+0100", "+0200")
    mine = zone(part(rule, start), other)
    assert (hours(mine, *before), hours(mine, *on)) == (2, 1)


def test_a_rule_ends_and_times_before_all_changes_have_the_first_offset() -> None:
    ended = part(f"{AUTUMN};UNTIL=20101031T010000Z", "20001029T030000", "+0200", "+0100")
    mine = zone(ended, part("", "20150101T000000", "+0100", "+0300"))
    assert hours(mine, 1999, 1, 1) == 2
    assert hours(mine, 2012, 7, 1) == 1
    assert hours(mine, 2026, 7, 1) == 3


@pytest.mark.parametrize(
    "lines",
    [
        part(EVERY_DAY, "00010101T000000"),
        part("RRULE:FREQ=YEARLY;BYMONTH=1,2,3;BYMONTHDAY=1"),
        part("RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"),
        part("RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"),
        part("RRULE:FREQ=YEARLY;BYDAY=1SU"),
        part("RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=5SU"),
        part("RRULE:FREQ=YEARLY;BYSETPOS=1;BYMONTH=3;BYDAY=SU"),
        part("RRULE:FREQ=YEARLY;COUNT=9999999"),
        part("RRULE:FREQ=MONTHLY"),
        part("RRULE:FREQ"),
        part(AUTUMN, before="+9900"),
        part(AUTUMN, start="20261301T000000"),
        part(AUTUMN)[2:],
        part(AUTUMN) * (described_zones.RULES_MAX + 1),
        [*part("RDATE:" + "20260101T000000," * 3000 + "20260101T000000")],
        [],
    ],
)
def test_what_is_no_zone_or_more_than_one_needs_is_refused(lines):
    with pytest.raises(UnusableZone):
        zone(lines)


def test_what_a_file_says_of_a_zone_counts_for_that_file_alone() -> None:
    for offset, hour in (("+1200", 9), ("-1100", 32), ("+1200", 9)):
        text = calendar(described(part("", "19700101T000000", offset, offset)), ["20260101T210000"])
        task = reader.parse("z.ics", text.replace("DUE", "CREATED"), UTC).tasks[0]
        assert task.made_ms == int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() + hour * 3600) * 1000


def test_the_time_that_a_described_zone_takes_grows_with_the_file_alone() -> None:
    """Each of the rules has begun in the year 1, and each time to be read is in another year."""

    def read(rules: int, todos: int):
        lines = described(part(AUTUMN, "00010101T030000") * rules)
        text = calendar(lines, [f"{1 + number % 9000:04}0601T000000" for number in range(todos)])
        assert len(reader.parse("z.ics", text, UTC).tasks) == todos
        return lambda: reader.parse("z.ics", text, UTC)

    growth.assert_linear(lambda todos: read(1, todos), 60)
    # The greatest number of rules costs some times as much as one, and not what two thousand years cost.
    growth.assert_at_most(8, read(1, 100), read(described_zones.RULES_MAX, 100))


def test_a_described_zone_keeps_nothing_of_the_times_that_it_was_asked_for() -> None:
    mine = zone(part(AUTUMN, "00010101T030000") * described_zones.RULES_MAX)
    tracemalloc.start()
    try:
        for year in range(1, 9000, 7):
            mine.offset_at(datetime(year, 6, 1, tzinfo=UTC))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024
