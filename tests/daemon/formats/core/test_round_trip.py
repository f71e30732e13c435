"""What is added here to a task of another program's goes out with an export and comes back as what it is."""

import json
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from daemon.formats.core.exported_tasks import ExportedTask
from daemon.formats.core.importer import ImportResult
from daemon.journal import checklist_items, entries, tasks
from daemon.journal.checklist_items import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import TaskEdit
from daemon.journal.views.structures import Task
from store.fold.entity import Entity
from syncproto.codec import Value
from syncproto.ids import EntityId, id_from_text
from tests.daemon.formats.icalendar.test_reader import calendar, todo
from tests.daemon.formats.plans import export as printed
from tests.daemon.formats.plans import record
from tests.daemon.formats.transfers import bring, commits, export, stored_tasks, task_contents, without_ids
from tests.support.fleet import Fleet, Home

TODOS = "BEGIN:VTODO\r\nUID:{0}@x\r\nDTSTAMP:20260105T000000Z\r\nSUMMARY:{0}\r\nEND:VTODO\r\n"
FILES = {
    "taskwarrior": printed(record(1, description="First"), record(2, description="Second")),
    "icalendar": "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n"
    f"{TODOS.format('First')}{TODOS.format('Second')}END:VCALENDAR\r\n",
}

both = pytest.mark.parametrize("format_", FILES)


def brought(home: Home, format_: str) -> tuple[Task, Task]:
    """Import two tasks."""
    bring(home, format_, FILES[format_])
    first, second = sorted(stored_tasks(home), key=lambda task: task.title)
    return first, second


def note(home: Home, task: Task, text: str) -> str:
    return home.write(lambda tx: entries.add(tx, task.id, NewEntry(text=text))).id


def item(home: Home, task: Task, title: str, checklist: str | None = None) -> str:
    new = NewItem(title=title, checklist=checklist)
    return home.write(lambda tx: checklist_items.add_item(tx, task.id, new)).id


def again(home: Home, format_: str) -> ImportResult:
    """Export everything and import it."""
    return bring(home, format_, export(home, format_))


@both
def test_what_was_added_here_does_not_come_in_a_second_time(a: Home, format_: str):
    first, second = brought(a, format_)
    for text in ("called", "called", "two\nlines"):
        note(a, first, text)
    for title, checklist in (("milk", None), ("milk", None), ("books", "Boxes")):
        item(a, first, title, checklist)
    for type_ in ("blocks", "basic"):
        a.new("link", from_id=id_from_text(first.id), to_id=id_from_text(second.id), type=type_)
    before, count = task_contents(a), commits(a)
    for _ in range(3):
        assert again(a, format_) == ImportResult(unchanged=2)
    assert (task_contents(a), commits(a)) == (before, count)


@both
def test_what_was_removed_here_after_an_export_stays_removed(a: Home, format_: str):
    first, _ = brought(a, format_)
    text, line = note(a, first, "called"), item(a, first, "milk")
    document = export(a, format_)
    a.write(lambda tx: entries.remove(tx, text))
    a.write(lambda tx: checklist_items.remove_item(tx, line))
    assert bring(a, format_, document).entries == 0
    (task, _) = sorted(stored_tasks(a), key=lambda task: task.title)
    assert (task.entries, [checklist.items for checklist in task.checklists]) == ([], [[]])


@both
def test_what_the_other_program_added_or_reworded_comes_in(a: Home, format_: str):
    first, _ = brought(a, format_)
    note(a, first, "called")
    text = export(a, format_).replace("called", "called twice")
    assert bring(a, format_, text).entries == 1
    (task, _) = sorted(stored_tasks(a), key=lambda task: task.title)
    assert sorted(entry.text for entry in task.entries) == ["called", "called twice"]


def test_the_same_words_at_another_time_are_another_note(a: Home):
    first, _ = brought(a, "taskwarrior")
    note(a, first, "called")
    records = json.loads(export(a, "taskwarrior"))
    (task,) = [listed_record for listed_record in records if listed_record["description"] == "First"]
    annotations = task["annotations"]
    annotations.append({"entry": "20260101T000000Z", "description": "called"})
    assert bring(a, "taskwarrior", json.dumps(records)).entries == 1
    a.fleet.now_ms += int(timedelta(days=1).total_seconds()) * 1000
    assert bring(a, "taskwarrior", json.dumps(records)) == ImportResult(unchanged=2)


@pytest.mark.parametrize("words", ["the same", "note {}"])
def test_many_notes_on_one_task_are_exported_and_read_again_in_proportion(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, words: str
):
    """Each note was compared with each other one: a MiB of annotations took minutes."""
    steps: Counter[str] = Counter()
    value, child_id = Entity.value, ExportedTask.imported_child_id

    def counted_value(entity: Entity, name: str) -> Value:
        steps["value"] += 1
        return value(entity, name)

    def counted_id(task: ExportedTask, format_: str, key: str) -> EntityId:
        steps["id"] += 1
        return child_id(task, format_, key)

    monkeypatch.setattr(Entity, "value", counted_value)
    monkeypatch.setattr(ExportedTask, "imported_child_id", counted_id)
    counts = []
    for number in (40, 320):
        home = fleet.home(f"home {number}")
        first, _ = brought(home, "taskwarrior")
        for place in range(number):
            fleet.now_ms += 2000
            note(home, first, words.format(place))
        steps.clear()
        assert again(home, "taskwarrior").entries == 0
        reworded = export(home, "taskwarrior").replace("the same", "another").replace("note ", "other ")
        assert bring(home, "taskwarrior", reworded).entries == number
        counts.append(steps.copy())
    less, more = counts
    assert more["value"] < 16 * less["value"]
    assert more["id"] == less["id"]


TAKEN_AWAY: list[tuple[str, Any, dict[str, Any]]] = [
    ("icalendar", ["DUE:20260105T100000Z"], {"due": None}),
    ("icalendar", ["DTSTART;VALUE=DATE:20260105", "DURATION:P2D"], {"due": None}),
    ("icalendar", ["DTSTART:20260105T100000Z", "DUE:20260106T100000Z", "DURATION:P2D"], {"due": None}),
    ("icalendar", ["DTSTART;VALUE=DATE:20260105", "RRULE:FREQ=DAILY"], {"due": None}),
    ("icalendar", ["DUE;VALUE=DATE:20260105", "RDATE;VALUE=DATE:20260301"], {"due": None}),
    ("icalendar", ["DUE:20260105T100000Z"], {"due": "2026-02-01"}),
    ("icalendar", ["PRIORITY:7"], {"priority": None}),
    ("icalendar", ["X-PLACET-ESTIMATE:30", "X-PLACET-ESTIMATE:60"], {"estimate_minutes": None}),
    ("icalendar", ["SUMMARY;LANGUAGE=de;X-A=1:rake"], {"language": None}),
    ("icalendar", ["STATUS:CANCELLED", "COMPLETED:20260105T100000Z"], {"status": "OPEN"}),
    ("icalendar", ["STATUS:CANCELLED", "COMPLETED:20260105T100000Z"], {"status": "DONE"}),
    ("icalendar", ["STATUS:NEEDS-ACTION", "COMPLETED:20260105T100000Z"], {"status": "IN PROGRESS"}),
    ("todotxt", ["due:2026-12-01 due:2026-12-01"], {"due": None}),
    ("todotxt", ["due:2026-12-01 due:soon due:2026-12-09T09:00"], {"due": None}),
    ("todotxt", ["pri:A pri:B"], {"priority": None}),
    ("todotxt", ["status:blocked status:on-hold"], {"status": "OPEN"}),
    (
        "todotxt",
        ["estimate:30min estimate:60min lang:de lang:fr"],
        {"estimate_minutes": None, "language": None},
    ),
    ("taskwarrior", {"due": "20261201T093000Z", "priority": "H"}, {"due": None, "priority": None}),
    ("taskwarrior", {"due": "20261201T093000Z", "recur": "daily", "status": "recurring"}, {"due": None}),
    ("markdown", ["# rake (P1, due 2026-12-01)"], {"due": None, "priority": None}),
]


def _file(format_: str, marks: Any) -> str:
    match format_:
        case "icalendar":
            summary = [] if marks[0].startswith("SUMMARY") else ["SUMMARY:rake"]
            return calendar(*todo(*summary, *marks, "CREATED:20260101T000000Z"))
        case "taskwarrior":
            return printed(record(description="rake", **marks))
    return f"{marks[0]}\n" if format_ == "markdown" else f"rake {marks[0]}\n"


def test_what_a_person_took_away_here_is_not_in_an_export(fleet: Fleet):
    wrong = []
    for number, (format_, marks, edit) in enumerate(TAKEN_AWAY):
        first, second = (fleet.home(f"{name} {number}") for name in ("first", "second"))
        bring(first, format_, _file(format_, marks))
        first.write(lambda tx, edit=edit: tasks.edit(tx, "rake", TaskEdit(**edit)))  # type: ignore[misc]
        before = task_contents(first)
        written = export(first, format_)
        bring(second, format_, written)
        bring(first, format_, written)
        bare = [[entry.text for entry in task.entries if not entry.text] for task in stored_tasks(first)]
        if (
            [row[:7] for row in task_contents(second)] != [row[:7] for row in before]
            or [row[:7] for row in task_contents(first)] != [row[:7] for row in before]
            or without_ids(export(second, format_)) != without_ids(written)
            or any(bare)
            or ("COMPLETED:" in written and edit["status"] != "DONE")
        ):
            wrong.append((marks, edit, written, task_contents(second), task_contents(first)))
    assert wrong == []
