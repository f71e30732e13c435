"""Writing iCalendar: what the icalendar library makes of it, and what comes back.

Never trusts the importer alone: the library is the second reader.
"""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from icalendar import Calendar

from daemon.formats.core.importer import ImportResult
from daemon.formats.icalendar import reader
from daemon.journal import checklist_items, entries, tasks
from daemon.journal.checklist_items import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask, TaskEdit
from syncproto.ids import id_from_text
from tests.daemon.formats.icalendar.test_reader import BERLIN, calendar, todo
from tests.daemon.formats.transfers import bring, commits, export, fill, journals, stored_tasks, task_contents
from tests.support.fleet import DAY_MS, Fleet, Home


def add(home: Home, **fields) -> str:
    return home.write(lambda tx: tasks.add(tx, NewTask(**fields))).id


def seconds(text: str) -> list[Any]:
    """Return the to-dos as the library reads them."""
    read: Any = Calendar.from_ical(text)
    assert not read.errors
    todos = read.walk("VTODO")
    assert not [error for listed_todo in todos for error in listed_todo.errors]
    return list(todos)


def test_a_second_reader_finds_what_the_task_has(a: Home):
    text = add(
        a,
        title="Renew; the passport, now",
        priority="P0",
        category="Home",
        labels=["a,b", "errand"],
        due="2026-12-01",
        language="de",
    )
    a.write(lambda tx: entries.add(tx, text, NewEntry(text="two photos,\nand a \\ form; " + "é" * 200)))
    a.fleet.now_ms += DAY_MS
    two = add(a, title="rake", status="DONE", priority="P3")
    a.new("link", from_id=id_from_text(text), to_id=id_from_text(two), type="blocks")
    first, second = seconds(export(a, "icalendar"))
    assert (str(first["SUMMARY"]), first["SUMMARY"].params["LANGUAGE"]) == ("Renew; the passport, now", "de")
    assert str(first["DESCRIPTION"]) == "two photos,\nand a \\ form; " + "é" * 200
    assert (first["PRIORITY"], first["DUE"].dt, first["STATUS"]) == (1, date(2026, 12, 1), "NEEDS-ACTION")
    assert [str(name) for name in first["CATEGORIES"].cats] == ["Home", "a,b", "errand"]
    assert first["CREATED"].dt == first["DTSTAMP"].dt == datetime(2026, 3, 20, 9, 46, 40, tzinfo=UTC)
    assert (second["STATUS"], second["COMPLETED"].dt) == (
        "COMPLETED",
        datetime(2026, 3, 21, 9, 46, 40, tzinfo=UTC),
    )
    related = second["RELATED-TO"]
    assert (str(related), related.params["RELTYPE"]) == (str(first["UID"]), "DEPENDS-ON")


def test_no_line_is_longer_than_75_bytes_and_each_ends_as_the_standard_says(a: Home):
    add(a, title="ü" * 400, category="x" * 100)
    lines = export(a, "icalendar").split("\r\n")
    assert max(len(line.encode()) for line in lines) <= 75
    assert not any("\n" in line or "\r" in line for line in lines)


DONE = ["STATUS:COMPLETED", "COMPLETED:20260303T101112Z", "DUE;VALUE=DATE:20261201", "PERCENT-COMPLETE:100"]
FILES = [
    ["SUMMARY:x", "PRIORITY:7", "STATUS:NEEDS-ACTION", "DUE:20261201T010000Z", "LOCATION:Office\\, back"],
    ["SUMMARY:x", *DONE],
    ["SUMMARY;LANGUAGE=de:x", "DESCRIPTION:one\\ntwo", "CATEGORIES:a\\,b,c", "STATUS:IN-PROCESS"],
    [
        "SUMMARY:" + "long " * 99 + "end",
        "STATUS:CANCELLED",
        'ATTENDEE;CN="A, B":mailto:a@b.c',
        "RELATED-TO:gone",
    ],
]


def compared_properties(text: str) -> list[dict[str, str]]:
    """Return each to-do's properties as text, but for those that every program writes anew."""
    anew = {"DTSTAMP", "LAST-MODIFIED"}
    return [
        {name: value.to_ical().decode() for name, value in element.items() if name not in anew}
        for element in seconds(text)
    ]


@pytest.mark.parametrize("lines", FILES)
def test_a_to_do_comes_out_as_it_went_in(a: Home, lines):
    text = calendar(*todo(*lines, "CREATED:20260102T030405Z"))
    bring(a, "icalendar", text, zone=BERLIN)
    assert compared_properties(export(a, "icalendar", BERLIN)) == compared_properties(text)


def test_relations_come_out_as_they_went_in(a: Home):
    more = [f"RELATED-TO;RELTYPE={relation}:one" for relation in ("DEPENDS-ON", "PARENT", "SIBLING")]
    bring(a, "icalendar", calendar(*todo("SUMMARY:x"), *todo("SUMMARY:y", *more, uid="b")))
    _, second = seconds(export(a, "icalendar"))
    assert [element.params["RELTYPE"] for element in second["RELATED-TO"]] == [
        "DEPENDS-ON",
        "PARENT",
        "SIBLING",
    ]


def test_what_a_person_changed_goes_out_changed(a: Home):
    bring(a, "icalendar", calendar(*todo("SUMMARY:x", "PRIORITY:7", "DUE:20261201T010000Z", "X-OTHER:y")))
    edit = TaskEdit(title="z", due="2026-12-24", priority="P2", status="BLOCKED", reason="for Ann")
    a.write(lambda tx: tasks.edit(tx, "x", edit))
    (result,) = seconds(export(a, "icalendar"))
    # The hour goes along to the new day.
    assert (str(result["SUMMARY"]), result["PRIORITY"]) == ("z", 5)
    assert result["DUE"].dt == datetime(2026, 12, 24, 1, tzinfo=UTC)
    assert (str(result["X-PLACET-STATUS"]), str(result["X-PLACET-REASON"])) == ("BLOCKED", "for Ann")
    assert (str(result["UID"]), str(result["X-OTHER"])) == ("one", "y")


@pytest.mark.parametrize("put", ["BEGIN:VEVENT", "END:VTODO", "UID:other", "nothing", " folded:x", "A;B:c"])
def test_a_text_that_a_person_reworded_is_a_note_and_never_a_line_of_the_file(a: Home, put):
    bring(a, "icalendar", calendar(*todo("SUMMARY:x", "X-OTHER:y")))
    note = stored_tasks(a)[0].entries[0].id
    a.set(id_from_text(note), text=f"X-OTHER:y\n{put}")
    (result,) = seconds(export(a, "icalendar"))
    assert (str(result["UID"]), str(result["DESCRIPTION"])) == ("one", f"X-OTHER:y\n{put}")
    assert "X-OTHER" not in result


def test_the_same_file_twice_imports_nothing_twice(a: Home):
    text = calendar(*todo(*FILES[1]), *todo(*FILES[3], "RELATED-TO:one", uid="b"))
    assert bring(a, "icalendar", text) == ImportResult(tasks=2, entries=3)
    before = commits(a)
    assert bring(a, "icalendar", text) == ImportResult(unchanged=2)
    assert commits(a) == before
    assert bring(a, "icalendar", text.replace("PERCENT-COMPLETE:100", "PERCENT-COMPLETE:99")).updated == 1


def test_times_of_making_and_completing_are_those_of_the_source(a: Home):
    text = calendar(*todo("CREATED:20260102T030405Z", "STATUS:COMPLETED", "COMPLETED:20260303T101112Z"))
    bring(a, "icalendar", text)
    (task,) = stored_tasks(a)
    assert (task.created_at, task.updated_at) == ("2026-01-02T03:04:05.000Z", "2026-03-03T10:11:12.000Z")


def test_removed_tasks_stay_out(a: Home):
    add(a, title="rake")
    a.write(lambda tx: tasks.remove(tx, "rake"))
    assert seconds(export(a, "icalendar")) == []


def test_tasks_of_this_journal_do_not_come_in_again_as_others(a: Home):
    add(a, title="rake")
    result = bring(a, "icalendar", export(a, "icalendar"))
    assert result == ImportResult(unchanged=1)


def test_a_journal_that_goes_on_to_a_second_one_is_the_same_there(a: Home, b: Home):
    element = add(
        a, title="Renew passport", priority="P0", category="Home", labels=["errand"], due="2026-12-01"
    )
    two = add(a, title="Photo", status="BLOCKED", reason="for Ann", estimate_minutes=90, language="de")
    for text in ("b", "a", "c"):
        a.write(lambda tx, text=text: entries.add(tx, element, NewEntry(text=text)))  # type: ignore[misc]
    for title, is_checked in (("front", True), ("[x] back", False)):
        new = NewItem(title=title, is_checked=is_checked)
        a.write(lambda tx, new=new: checklist_items.add_item(tx, two, new))  # type: ignore[misc]
    for type_ in ("blocks", "basic", "follows_up", "duplicates", "fixes"):
        a.new("link", from_id=id_from_text(element), to_id=id_from_text(two), type=type_)
    text = export(a, "icalendar")
    bring(b, "icalendar", text)
    assert task_contents(b) == task_contents(a)
    assert export(b, "icalendar") == text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(journals)
def test_any_journal_exported_imported_and_exported_again_is_the_same_bytes(fleet: Fleet, journal):
    first = fleet.home(f"device {len(fleet.homes)}")
    fill(first, journal)
    text = export(first, "icalendar")
    assert len(seconds(text)) == len(journal)
    second = fleet.home(f"device {len(fleet.homes)}")
    assert bring(second, "icalendar", text).tasks == len(journal)
    assert export(second, "icalendar") == text
    assert task_contents(second) == task_contents(first)


def dated_lines(home: Home) -> list[str]:
    """Return the lines of an export that name days."""
    names = ("DTSTART", "DUE", "DURATION", "RRULE", "X-PLACET-START")
    return sorted(line for line in export(home, "icalendar").split("\r\n") if line.startswith(names))


DAY, CLOCK, OTHER_DAY = (
    "DTSTART;VALUE=DATE:20301201",
    "DTSTART:20301201T153000Z",
    "DTSTART;VALUE=DATE:20310102",
)


@pytest.mark.parametrize(
    ("lines", "start", "moved"),
    [
        ([DAY], "2030-12-01", [OTHER_DAY]),
        ([CLOCK], "2030-12-01", [OTHER_DAY]),
        ([DAY, "DUE;VALUE=DATE:20301205"], "2030-12-01", ["DUE;VALUE=DATE:20301205", OTHER_DAY]),
        ([DAY, "DUE:20301205T100000Z"], "2030-12-01", ["DUE:20301205T100000Z", "X-PLACET-START:2031-01-02"]),
        (
            [CLOCK, "DUE:20301205T100000Z"],
            "2030-12-01",
            ["DUE:20301205T100000Z", "X-PLACET-START:2031-01-02"],
        ),
        ([DAY, "DURATION:P2D"], None, [DAY, "DURATION:P2D", "X-PLACET-START:2031-01-02"]),
        ([DAY, "RRULE:FREQ=YEARLY"], None, [DAY, "RRULE:FREQ=YEARLY", "X-PLACET-START:2031-01-02"]),
        (["DTSTART:soon"], None, ["DTSTART:soon", "X-PLACET-START:2031-01-02"]),
        ([DAY, "DTSTART;VALUE=DATE:20301202"], None, None),
    ],
)
def test_a_start_comes_back_as_it_was_and_goes_out_as_it_is_now(
    a: Home, b: Home, lines: list[str], start: str | None, moved: list[str] | None
):
    bring(a, "icalendar", calendar(*todo(*lines)))
    (task,) = stored_tasks(a)
    assert (task.start, dated_lines(a)) == (start, sorted(lines))
    if moved is None:
        return
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(start="2031-01-02")))
    assert dated_lines(a) == sorted(moved)
    text = export(a, "icalendar")
    bring(b, "icalendar", text)
    assert (stored_tasks(b)[0].start, export(b, "icalendar")) == ("2031-01-02", text)
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(start=None)))
    assert dated_lines(a) == sorted(set(lines) - ({DAY, CLOCK} if start else set()))


def test_a_start_that_an_older_version_kept_as_text_goes_out_again(a: Home, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as older:
        older.setattr(reader, "start_moment", lambda properties, times: None)
        bring(a, "icalendar", calendar(*todo(DAY)))
    assert (stored_tasks(a)[0].start, dated_lines(a)) == (None, [DAY])
