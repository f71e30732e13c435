"""Reading the to-dos of an iCalendar file.

Never opens a store: a plan is plain structure.
"""

from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.formats.core.plan import Plan, PlannedTask
from daemon.formats.icalendar import reader
from tests.daemon.formats.plans import everything, items, keys
from tests.daemon.formats.transfers import at_ms
from tests.support.growth import assert_linear

BERLIN = ZoneInfo("Europe/Berlin")
QUOTED = '"Europe/Berlin"'


def calendar(*lines: str, end: str = "\r\n") -> str:
    return end.join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//y//EN", *lines, "END:VCALENDAR", ""])


def todo(*lines: str, uid: str = "one") -> list[str]:
    return ["BEGIN:VTODO", f"UID:{uid}", "DTSTAMP:20260101T000000Z", *lines, "END:VTODO"]


def parse(text: str, zone=BERLIN) -> Plan:
    return reader.parse("tasks.ics", text, zone)


def only(*lines: str) -> PlannedTask:
    plan = parse(calendar(*todo(*lines)))
    assert plan.faults == ()
    (task,) = plan.tasks
    return task


def attribute_lines(task: PlannedTask) -> list[str]:
    return [
        line for entry in task.entries if entry.key.endswith("attributes") for line in entry.text.split("\n")
    ]


def test_each_property_goes_where_the_import_map_says():
    task = only(
        "SUMMARY;LANGUAGE=de:Pass erneuern",
        "DESCRIPTION:zwei Fotos\\nund ein Formular\\, ausgefüllt",
        "PRIORITY:1",
        "DUE;VALUE=DATE:20261201",
        "CATEGORIES:errand,city hall",
        "CATEGORIES:a\\,b",
        "CREATED:20260102T030405Z",
        "LAST-MODIFIED:20260202T030405Z",
    )
    assert (task.title, task.language, task.priority) == ("Pass erneuern", "de", "P0")
    assert (task.due, task.labels, task.category) == ("2026-12-01", ("errand", "city hall", "a,b"), None)
    assert [entry.text for entry in task.entries] == ["zwei Fotos\nund ein Formular, ausgefüllt"]
    assert (task.made_ms, task.changed_ms) == (at_ms("2026-01-02T03:04:05Z"), at_ms("2026-02-02T03:04:05Z"))
    assert (task.source, attribute_lines(task)) == ("one", [])


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ([], "OPEN"),
        (["STATUS:NEEDS-ACTION"], "OPEN"),
        (["STATUS:in-process"], "IN PROGRESS"),
        (["STATUS:COMPLETED", "COMPLETED:20260303T000000Z"], "DONE"),
        (["COMPLETED:20260303T000000Z"], "DONE"),
        (["STATUS:CANCELLED"], "REJECTED"),
        (["X-PLACET-STATUS:GROOMED", "STATUS:NEEDS-ACTION"], "GROOMED"),
        (["X-PLACET-STATUS:BLOCKED", "STATUS:NEEDS-ACTION"], "OPEN"),
        (["X-PLACET-STATUS:BLOCKED", "X-PLACET-REASON:x", "STATUS:COMPLETED"], "DONE"),
    ],
)
def test_statuses_are_mapped(lines, status):
    assert only("SUMMARY:x", *lines).status == status


def test_the_time_of_completion_is_kept_where_the_to_do_is_complete():
    assert only("STATUS:COMPLETED", "COMPLETED:20260303T101112Z").ended_ms == at_ms("2026-03-03T10:11:12Z")
    assert attribute_lines(only("STATUS:NEEDS-ACTION", "COMPLETED:20260303T101112Z")) == [
        "COMPLETED:20260303T101112Z"
    ]


@pytest.mark.parametrize(
    ("number", "priority", "left"),
    [
        *((0, None, []), (1, "P0", []), (2, "P1", ["PRIORITY:2"]), (3, "P1", []), (4, "P1", ["PRIORITY:4"])),
        *((5, "P2", []), (6, "P3", ["PRIORITY:6"]), (8, "P3", ["PRIORITY:8"]), (9, "P3", [])),
    ],
)
def test_priorities_are_mapped_and_the_number_kept_where_it_says_more(number, priority, left):
    task = only(f"PRIORITY:{number}")
    assert (task.priority, attribute_lines(task)) == (priority, left)


@pytest.mark.parametrize(
    ("due", "day", "left"),
    [
        ("DUE;VALUE=DATE:20261201", "2026-12-01", []),
        ("DUE:20261201", "2026-12-01", []),
        ("DUE:20261130T233000Z", "2026-12-01", []),
        ("DUE:20261201T233000", "2026-12-01", ["DUE:20261201T233000"]),
        *(
            (f"DUE;TZID={zone}:20261130T200000", "2026-11-30", [f"DUE;TZID={zone}:20261130T200000"])
            for zone in (
                "America/New_York",
                "Eastern Standard Time",
                "/mozilla.org/20050126_1/America/New_York",
            )
        ),
        (f"DUE;TZID={QUOTED}:20261201T103060", "2026-12-01", [f"DUE;TZID={QUOTED}:20261201T103060"]),
    ],
)
def test_a_due_time_is_the_day_that_its_author_saw(due, day, left):
    task = only(due)
    assert (task.due, attribute_lines(task)) == (day, left)


ZONE = [
    "BEGIN:VTIMEZONE",
    "TZID:Customized Time Zone",
    "BEGIN:STANDARD",
    "DTSTART:16010101T030000",
    "TZOFFSETFROM:-0400",
    "TZOFFSETTO:-0500",
    "RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11",
    "END:STANDARD",
    "BEGIN:DAYLIGHT",
    "DTSTART:16010101T020000",
    "TZOFFSETFROM:-0500",
    "TZOFFSETTO:-0400",
    "RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3",
    "END:DAYLIGHT",
    "END:VTIMEZONE",
]


def test_a_zone_that_the_file_describes_is_understood():
    due = "DUE;TZID=Customized Time Zone:20261130T200000"
    plan = parse(calendar(*ZONE, *todo(due)))
    assert plan.faults == ()
    assert (plan.tasks[0].due, plan.skipped) == ("2026-11-30", ())
    assert attribute_lines(plan.tasks[0]) == [due, *ZONE]
    for name in ("Customized Time Zone", "../../etc/passwd"):
        unknown = due.replace("Customized Time Zone", name)
        plan = parse(calendar(*todo(unknown)))
        assert (plan.faults, plan.tasks[0].due, attribute_lines(plan.tasks[0])) == (
            (),
            "2026-11-30",
            [unknown],
        )
        assert [(remark.line, remark.what) for remark in plan.remarks] == [(7, name)]


@pytest.mark.parametrize("rule", ["FREQ=SECONDLY", "FREQ=YEARLY;BYSECOND=1,2,3", "FREQ=DAILY;COUNT=9999999"])
def test_a_zone_whose_rules_would_run_for_ever_is_not_known(rule):
    zone = [rule if line.startswith("RRULE") else line for line in ZONE]
    zone = [f"RRULE:{line}" if line == rule else line for line in zone]
    plan = parse(calendar(*zone, *todo("DUE;TZID=Customized Time Zone:20261130T200000")))
    assert ([task.due for task in plan.tasks], len(plan.remarks)) == (["2026-11-30"], 1)


def test_relations_become_links():
    plan = parse(
        calendar(
            *todo("SUMMARY:parent", "RELATED-TO;RELTYPE=CHILD:b"),
            *todo("SUMMARY:child", "RELATED-TO:one", "RELATED-TO;RELTYPE=DEPENDS-ON:c", uid="b"),
            *todo(
                "RELATED-TO;RELTYPE=X-PLACET-FIXES:b",
                "RELATED-TO;RELTYPE=X-ODD:b",
                "RELATED-TO:gone",
                uid="c",
            ),
        )
    )
    links = [(link.from_key, link.to_key, link.type) for task in plan.tasks for link in task.links]
    assert links == [("b", "one", "basic"), ("c", "b", "blocks"), ("c", "b", "fixes")]
    assert len({link.key for task in plan.tasks for link in task.links}) == 3
    assert attribute_lines(plan.tasks[2]) == ["RELATED-TO;RELTYPE=X-ODD:b", "RELATED-TO:gone"]


def test_anything_else_is_kept_as_it_is_written():
    lines = [
        "LOCATION:Office\\, 2nd floor",
        "URL:https://example.com/a?b=c;d",
        'ATTENDEE;CN="A, B":mailto:a@b.c',
    ]
    task = only(
        "SUMMARY:x", *lines, "PERCENT-COMPLETE:40", "DTSTART;TZID=Europe/Berlin:20260101T100000", "SEQUENCE:3"
    )
    more = ["PERCENT-COMPLETE:40", "DTSTART;TZID=Europe/Berlin:20260101T100000", "SEQUENCE:3"]
    assert attribute_lines(task) == [*lines, *more]


def test_comments_are_notes():
    task = only("DESCRIPTION:one", "COMMENT:two", "COMMENT;X-PLACET-AT=20260303T000000Z:three", "COMMENT: ")
    assert [(note.text, note.happened_ms) for note in task.entries] == [
        ("one", None),
        ("two", None),
        ("three", at_ms("2026-03-03T00:00:00Z")),
    ]


def test_checklists_and_estimates_of_ours_come_back():
    task = only(
        "X-PLACET-CHECKLIST:Todos\\n[ ] dig\\n[x] rake", "X-PLACET-ESTIMATE:90", "X-PLACET-CATEGORY:Home"
    )
    assert items(task) == [(False, "dig"), (True, "rake")]
    assert (task.estimate_minutes, task.category, attribute_lines(task)) == (90, "Home", [])
    odd = only("X-PLACET-CHECKLIST:Todos\\ndig", "X-PLACET-ESTIMATE:soon")
    assert attribute_lines(odd) == ["X-PLACET-CHECKLIST:Todos\\ndig", "X-PLACET-ESTIMATE:soon"]


def test_a_category_of_ours_is_not_also_a_label():
    assert only("CATEGORIES:Home,a", "X-PLACET-CATEGORY:Home").labels == ("a",)
    assert only("CATEGORIES:Home,Home", "X-PLACET-CATEGORY:Home").labels == ("Home",)


def test_a_to_do_without_a_summary_is_called_by_its_description():
    assert only("DESCRIPTION:first\\nsecond").title == "first"
    assert only().title == "(no summary)"


def test_what_is_no_to_do_is_counted():
    alarm = ["BEGIN:VALARM", "ACTION:DISPLAY", "not even a property", "END:VALARM"]
    event = ["BEGIN:VEVENT", "UID:e", "SUMMARY:party", *alarm, "END:VEVENT"]
    plan = parse(calendar(*event, *event, *todo("SUMMARY:x", *alarm), "BEGIN:X-ODD", "END:X-ODD"))
    assert [task.title for task in plan.tasks] == ["x"]
    assert [(skipped.line, skipped.what) for skipped in plan.skipped] == [
        (4, "2 VEVENT"),
        (7, "3 VALARM"),
        (29, "1 X-ODD"),
    ]


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_folded_lines_line_ends_and_a_byte_order_mark(end):
    long = ["SUMMARY:a long", "  summary fol", " ded in the m", "\tiddle", "", "PRIORITY:x"]
    plan = parse("\ufeff" + calendar(*todo(*long), end=end))
    assert [(fault.line, fault.message) for fault in plan.faults] == [
        (12, "PRIORITY is 'x', not one of 0 to 9")
    ]
    assert only(*long[:-1]).title == "a long summary folded in the middle"


def test_a_summary_that_is_too_long_is_cut_and_kept_in_full():
    task = only("SUMMARY:" + "word " * 200)
    assert (len(task.title), task.entries[0].text) == (400, ("word " * 200).strip())


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("hello", 1, "outside of any BEGIN:VCALENDAR"),
        ("\n\nBEGIN:VTODO\n", 3, "BEGIN:VTODO outside"),
        ("BEGIN:VCALENDAR\n", 1, "cut off"),
        ("BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:1\n", 2, "cut off"),
        (
            "BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:1\nEND:VEVENT\n",
            4,
            "END:VEVENT where END:VTODO belongs, begun on line 2",
        ),
        ("BEGIN:VCALENDAR\nEND:VCALENDAR\nEND:VCALENDAR\n", 3, "outside"),
        ("BEGIN:VCALENDAR\n" + "BEGIN:X\n" * 100_000, 9, "within each other"),
        (calendar("BEGIN:VTODO", "END:VTODO"), 4, "no UID"),
        (calendar(*todo(uid="u" * 1001)), 4, "1001 characters"),
        (calendar(*todo(), *todo("SUMMARY:again")), 8, "first on line 4"),
        (calendar(*todo("SUMMARY")), 7, "'SUMMARY' is no property"),
        (calendar(*todo('X;Y="a:b')), 7, "is no property"),
        (calendar(*todo("STATUS:ODD")), 7, "STATUS is 'ODD', not one of NEEDS-ACTION"),
        (calendar(*todo("PRIORITY:10")), 7, "PRIORITY is '10'"),
        (calendar(*todo("DUE:20261301")), 7, "DUE is '20261301', not a date or time"),
        (calendar(*todo("DUE:tomorrow")), 7, "DUE is 'tomorrow'"),
        (calendar(*todo("CREATED:x")), 7, "CREATED is 'x'"),
        (calendar(*todo("COMMENT;X-PLACET-AT=x:y")), 7, "X-PLACET-AT is 'x'"),
        (calendar(*todo("SUMMARY:a\0")), 7, "NUL"),
        ("BEGIN:VCALENDAR\n\ud800", 2, "broken Unicode"),
    ],
)
def test_bad_input_is_one_fault_that_names_the_line(text, line, words):
    plan = parse(text)
    assert plan.tasks == ()
    (fault,) = plan.faults
    assert fault.line == line
    assert words in fault.message
    assert "\n" not in fault.message


def test_all_faults_are_named_in_order_and_nothing_is_planned():
    plan = parse(
        calendar(*todo("STATUS:x"), *todo("SUMMARY", uid="b"), *todo("DUE:x", uid="c"), *todo(uid="d"))
    )
    assert plan.tasks == ()
    assert [task.key for task in plan.readable] == ["d"]
    assert [fault.line for fault in plan.faults] == [7, 12, 17]


# --- whatever comes ---------------------------------------------------------------------------------

FULL = calendar(
    *ZONE,
    *todo(
        "SUMMARY;LANGUAGE=de:a\\, b",
        "DUE;TZID=Customized Time Zone:20261130T200000",
        "CATEGORIES:a,b",
        "PRIORITY:5",
    ),
    *todo(
        "RELATED-TO:one",
        "STATUS:COMPLETED",
        "COMPLETED:20260303T000000Z",
        "X-PLACET-CHECKLIST:a\\n[ ] b",
        uid="b",
    ),
)
odd = st.sampled_from(
    ["BEGIN:", "END:", "VTODO", "\r\n", "\n ", ";", ":", '"', "\\", "=", ",", "\ud800", "9", "T", "Z", ""]
)


@given(
    st.lists(st.tuples(st.integers(0, len(FULL)), st.integers(0, 12), odd | st.text(max_size=4)), max_size=5)
)
def test_a_file_with_anything_changed_is_a_plan_or_faults_that_name_lines(changes):
    text = FULL
    for offset, length, put in changes:
        text = text[:offset] + put + text[offset + length :]
    plan = parse(text)
    assert not (plan.faults and plan.tasks)
    assert all(
        "\n" not in fault.message and 1 <= fault.line <= text.count("\n") + text.count("\r") + 1
        for fault in plan.faults
    )
    assert len(set(keys(plan))) == len(keys(plan))


plain = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=9
)


@given(st.lists(plain, min_size=1, max_size=5), plain, plain)
def test_no_word_of_a_to_do_is_lost(words, note, extra):
    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")

    lines = [f"SUMMARY:{escaped(' '.join(words))}", f"DESCRIPTION:{escaped(note)}", f"X-EXTRA:{extra}"]
    plan = parse(calendar(*todo(*lines)))
    assert plan.faults == ()
    assert {*words, note} <= set(everything(plan).split())
    assert f"X-EXTRA:{extra}" in everything(plan)


LARGE: dict[str, Callable[[int], str]] = {
    "long": lambda size: calendar(*todo("SUMMARY:" + "a" * size)),
    "folded": lambda size: calendar(*todo("SUMMARY:a\r\n" + " b\r\n" * (size // 4))),
    "many names": lambda size: calendar(*todo("CATEGORIES:" + "a," * (size // 2))),
    "backslashes": lambda size: calendar(*todo("CATEGORIES:" + "\\" * (size + 1))),
    "parameter": lambda size: calendar(*todo("X;A=" + "b" * size)),
    "lists": lambda size: calendar(*todo("X-PLACET-CHECKLIST:" + "a\\n\\n" * (size // 5))),
    "events": lambda size: "BEGIN:VCALENDAR\r\n" + "BEGIN:VEVENT\r\nEND:VEVENT\r\n" * (size // 30),
    "to-dos": lambda size: calendar(
        *(line for n in range(size // 500) for line in todo(f"SUMMARY:{n}", uid=str(n)))
    ),
    "to-dos in one": lambda size: calendar(
        *todo(*["BEGIN:VTODO", "END:VTODO"] * (size // 50), *["X-A:1"] * (size // 20))
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LARGE)
def test_eight_times_the_letters_take_about_eight_times_as_long(kind):
    def reading(size: int) -> Callable[[], object]:
        text = LARGE[kind](size)
        return lambda: parse(text)

    assert_linear(reading, 50_000)


@pytest.mark.parametrize("kind", LARGE)
def test_of_many_letters_none_is_lost_unsaid(kind):
    text = LARGE[kind](200_000)
    plan = parse(text)
    assert not (plan.faults and plan.tasks)
