"""Files as other programs and people write them, odd but sound: what each is here, and what is written back.

Never looks at one format alone: what holds, holds for each of them.
"""

from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from daemon.file_formats import list_formats
from daemon.formats.core.importer import ImportResult
from daemon.journal import tasks
from daemon.journal.tasks import NewTask
from daemon.journal.views.structures import Task
from tests.daemon.formats.icalendar.test_reader import calendar, todo
from tests.daemon.formats.plans import export as printed
from tests.daemon.formats.plans import record
from tests.daemon.formats.transfers import bring, export, stored_tasks, without_ids
from tests.support.fleet import Fleet, Home

BERLIN = ZoneInfo("Europe/Berlin")
NOW_MS = int(datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp() * 1000)


class Case(NamedTuple):
    """A file, what its tasks say in a line each, and what an export has of it."""

    name: str
    format: str
    text: str
    says: list[str]
    written: list[str]


def zoned_calendar(*zone: str) -> str:
    due = "DUE;TZID=Own:20261205T003000"
    return calendar("BEGIN:VTIMEZONE", "TZID:Own", *zone, "END:VTIMEZONE", *todo("SUMMARY:Call", due))


def part(name: str, *lines: str) -> list[str]:
    return [f"BEGIN:{name}", *lines, f"END:{name}"]


FIXED = ["DTSTART:20200329T010000Z", "TZOFFSETFROM:+1100", "TZOFFSETTO:+1100"]
ALIKE = [("2", "blue"), ("2", "white"), ("2", "blue")]
CASES = [
    Case(
        "annotations of one second, two of them alike",
        "taskwarrior",
        printed(
            record(
                description="Order paint",
                annotations=[{"entry": f"2026090{day}T090000Z", "description": text} for day, text in ALIKE],
            )
        ),
        ["Order paint; note: blue; note: white; note: blue"],
        [
            f'{{"entry": "20260902T09000{second}Z", "description": "{text}"}}'
            for second, (_, text) in enumerate(ALIKE)
        ],
    ),
    Case(
        "a start with a length, and no due time",
        "icalendar",
        calendar(*todo("SUMMARY:Paint", "DTSTART;VALUE=DATE:20261201", "DURATION:P4D")),
        ["Paint; due 2026-12-05; note: DTSTART;VALUE=DATE:20261201 DURATION:P4D"],
        ["DTSTART;VALUE=DATE:20261201\r\n", "DURATION:P4D\r\n"],
    ),
    Case(
        "a start with a length, and another due day",
        "icalendar",
        calendar(
            *todo("SUMMARY:Paint", "DTSTART;VALUE=DATE:20261201", "DUE;VALUE=DATE:20261203", "DURATION:P4D")
        ),
        [("Paint; due 2026-12-03; note: DTSTART;VALUE=DATE:20261201 DUE;VALUE=DATE:20261203 DURATION:P4D")],
        ["DTSTART;VALUE=DATE:20261201\r\nDUE;VALUE=DATE:20261203\r\nDURATION:P4D\r\n"],
    ),
    Case(
        "a due time that the clocks skip",
        "icalendar",
        calendar(*todo("SUMMARY:Call", "DUE;TZID=Europe/Berlin:20270328T023000")),
        ["Call; due 2027-03-28; note: DUE;TZID=Europe/Berlin:20270328T023000"],
        ["DUE;TZID=Europe/Berlin:20270328T023000\r\n"],
    ),
    Case(
        "a zone described by one part that begins in UTC",
        "icalendar",
        zoned_calendar(*part("STANDARD", *FIXED)),
        [
            (
                "Call; due 2026-12-05; note: DUE;TZID=Own:20261205T003000 BEGIN:VTIMEZONE TZID:Own "
                f"BEGIN:STANDARD {' '.join(FIXED)} END:STANDARD END:VTIMEZONE"
            )
        ],
        ["DUE;TZID=Own:20261205T003000\r\n", "\r\n".join(["TZID:Own", *part("STANDARD", *FIXED)])],
    ),
    Case(
        "a described zone with a part that says nothing",
        "icalendar",
        calendar(
            "BEGIN:VTIMEZONE",
            "TZID:UTC",
            *part("STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0000", "TZOFFSETTO:+0000"),
            *part("DAYLIGHT", "X-NAME:UTC"),
            "END:VTIMEZONE",
            *todo("SUMMARY:Call", "DUE;TZID=UTC:20261205T233000"),
        ),
        ["Call; due 2026-12-05; note: DUE;TZID=UTC:20261205T233000"],
        ["DUE;TZID=UTC:20261205T233000\r\n"],
    ),
    Case(
        "boxes within boxes, by blanks and by tabs, and signs of boxes elsewhere",
        "markdown",
        "# Move\n\n- [ ] Kitchen\n  - [ ] plates\n\t- [x] cups\n1. [ ] One\n   1. [ ] deeper\n\n"
        "> - [ ] in a quotation\n\n| a |\n|---|\n| - [ ] in a table |\n",
        [
            (
                "Move; [ ] Kitchen; [ ] Kitchen: plates; [x] Kitchen: plates: cups; [ ] One; "
                "[ ] One: deeper; note: > - [ ] in a quotation; note: | a | |---| | - [ ] in a table |"
            )
        ],
        ["- [x] Kitchen: plates: cups\n", "\n> - [ ] in a quotation\n"],
    ),
    Case(
        "headings that are alike, closed, empty, and words that only look like one",
        "markdown",
        "# Same\n- [ ] a\n# Same\n- [ ] b\n#word\n# Closed ##\n- [ ] c\n#\n- [ ] d\n",
        ["Same; [ ] a", "Same; [ ] b #word", "Closed; [ ] c; [ ] d"],
        ["# Same\n\n- [ ] a\n\n# Same\n\n- [ ] b #word\n\n# Closed\n\n- [ ] c\n- [ ] d\n"],
    ),
    Case(
        "control characters, and an empty annotation of the same second",
        "taskwarrior",
        printed(
            record(
                description="\x07bell",
                annotations=[
                    {"entry": "20260902T090000Z", "description": text} for text in ("", "a\x1b b\r\nc\fd")
                ],
            )
        ),
        ["\x07bell; note: a\x1b b c d"],
        ['"description": "bell"', '"description": "a b\\nc d"'],
    ),
    Case(
        "control characters, and a line separator in an alarm",
        "icalendar",
        calendar(
            *todo(
                "SUMMARY:a\x07b",
                "DESCRIPTION:x\x1by",
                "LOCATION:l\x01m",
                *part("VALARM", "ACTION:DISPLAY", "DESCRIPTION:one\u2028END:VALARM"),
            )
        ),
        [
            (
                "a\x07b; note: x\x1by; note: LOCATION:l\x01m BEGIN:VALARM ACTION:DISPLAY "
                "DESCRIPTION:one END:VALARM END:VALARM"
            )
        ],
        ["SUMMARY:ab\r\n", "LOCATION:lm\r\n", "DESCRIPTION:one\u2028END:VALARM\r\n"],
    ),
    Case(
        "a parent that names its child, and one that both name, made on other days",
        "icalendar",
        calendar(
            *todo("SUMMARY:Move", "CREATED:20260101T000000Z", "RELATED-TO;RELTYPE=CHILD:b"),
            *todo("SUMMARY:Pack", "CREATED:20260202T000000Z", "RELATED-TO;RELTYPE=CHILD:c", uid="b"),
            *todo("SUMMARY:Lift", "CREATED:20260303T000000Z", "RELATED-TO:b", uid="c"),
        ),
        ["Move", "Pack", "Lift"],
        [
            "SUMMARY:Move\r\nSTATUS:NEEDS-ACTION\r\nEND",
            "SUMMARY:Pack\r\nSTATUS:NEEDS-ACTION\r\nRELATED-TO;RELTYPE=PARENT:one\r\nEND",
            "SUMMARY:Lift\r\nSTATUS:NEEDS-ACTION\r\nRELATED-TO;RELTYPE=PARENT:b\r\nEND",
        ],
    ),
    Case(
        "a second summary and description, and when something was cancelled",
        "icalendar",
        calendar(
            *todo("SUMMARY:Paint", "SUMMARY:Walls", "DESCRIPTION:blue", "DESCRIPTION:white"),
            *todo("SUMMARY:Sell", "STATUS:CANCELLED", "COMPLETED:20261102T101500Z", uid="b"),
        ),
        ["Paint; note: blue; note: Walls; note: white", "Sell; note: COMPLETED:20261102T101500Z"],
        [":blue\r\n", ":Walls\r\n", ":white\r\n", "STATUS:CANCELLED\r\nCOMPLETED:20261102T101500Z\r\n"],
    ),
    Case(
        "parameters of a second summary and description",
        "icalendar",
        calendar(
            *todo("SUMMARY:Paint", "SUMMARY;X-A=1:Walls", "DESCRIPTION:blue", "DESCRIPTION;LANGUAGE=de:weiß"),
            *todo("SUMMARY;LANGUAGE=en:Sell", "SUMMARY;LANGUAGE=de:Kauf", uid="b"),
        ),
        [
            (
                "Paint; note: blue; note: Walls; note: weiß; "
                "note: SUMMARY;X-A=1:Walls DESCRIPTION;LANGUAGE=de:weiß"
            ),
            "Sell; note: Kauf; note: SUMMARY;LANGUAGE=de:Kauf",
        ],
        [
            "SUMMARY:Paint\r\n",
            "SUMMARY;X-A=1:Walls\r\n",
            "DESCRIPTION;LANGUAGE=de:weiß\r\n",
            "SUMMARY;LANGUAGE=de:Kauf\r\n",
        ],
    ),
    Case(
        "control characters in words and marks",
        "todotxt",
        "a\x07b @c k:\x02v\ntwice x:1 x:1\n",
        ["a\x07b; label c; note: k:\x02v", "twice; note: x:1 x:1"],
        ["ab @c k:v\ntwice x:1 x:1\n"],
    ),
    Case(
        "keys of other programs, one in capitals, and no end of the last line",
        "todotxt",
        "Hide it h:1 id:4 p:3 note:ab12.md\nLook DUE:2026-12-03\nlast @x",
        ["Hide it; note: h:1 id:4 p:3 note:ab12.md", "Look; note: DUE:2026-12-03", "last; label x"],
        ["Hide it h:1 id:4 p:3 note:ab12.md\nLook DUE:2026-12-03\nlast @x\n"],
    ),
]
TITLES = [
    *("package -nvidia driver", "due:2015-01-08 recur:1d in title", "# begins with a hash", "```", "--"),
    *("- [ ] begins like an item", "Ends (P1, due 2026-03-15)", "with <!-- placet:abcdef --> inside"),
    *("back\\slash \\n and \\, comma; semi:colon", "1. numbered", "a  b   c", '"quoted" & <b>', "😀 ½ ß İ"),
]


def task_line(task: Task) -> str:
    due = [f"due {task.due}"] if task.due else []
    items = [
        f"[{'x' if item.is_checked else ' '}] {item.title}"
        for listed in task.checklists
        for item in listed.items
    ]
    notes = [f"note: {' '.join(note.text.split())}" for note in task.entries]
    return "; ".join([task.title, *due, *(f"label {name}" for name in task.labels), *items, *notes])


def take(home: Home, format_: str, text: str) -> ImportResult:
    return bring(home, format_, text, zone=BERLIN, now_ms=NOW_MS)


def test_each_odd_file_is_what_its_author_means_and_comes_back(
    fleet: Fleet, subtests: pytest.Subtests
) -> None:
    for number, case in enumerate(CASES):
        with subtests.test(case.name):
            home, second = (fleet.home(f"{name} {number}") for name in ("first", "second"))
            assert take(home, case.format, case.text).remarks == ()
            assert [task_line(task) for task in stored_tasks(home)] == case.says
            written = export(home, case.format, BERLIN)
            shown = without_ids(written)
            assert [text for text in case.written if text not in shown] == []
            for text in (case.text, written):
                assert take(home, case.format, text) == ImportResult(unchanged=len(case.says))
            take(second, case.format, written)
            assert without_ids(export(second, case.format, BERLIN)) == shown


def test_titles_come_back_from_every_format_as_they_are_whatever_they_look_like(
    fleet: Fleet, subtests: pytest.Subtests
) -> None:
    home = fleet.home("first")
    for title in TITLES:
        home.write(partial(tasks.add, new=NewTask(title=title)))
    for format_ in (row.name for row in list_formats()):
        with subtests.test(format_):
            second = fleet.home(format_)
            bring(second, format_, export(home, format_))
            assert sorted(task.title for task in stored_tasks(second)) == sorted(TITLES)
