"""What is added here to a task of another program's goes out with an export and comes back as what it is."""

import json
from datetime import timedelta

import pytest

from daemon.journal import checklists, entries
from daemon.journal.checklists import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.imports.apply import ImportResult
from daemon.journal.views import Task
from syncproto.ids import from_text
from tests.daemon.agents.fleet import Home
from tests.daemon.journal.exports.taking import bring, commits, export, held, told
from tests.daemon.journal.imports.reading import export as printed
from tests.daemon.journal.imports.reading import record

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
    first, second = sorted(held(home), key=lambda task: task.title)
    return first, second


def note(home: Home, task: Task, text: str) -> str:
    return home.write(lambda tx: entries.add(tx, task.id, NewEntry(text=text))).id


def item(home: Home, task: Task, title: str, checklist: str | None = None) -> str:
    new = NewItem(title=title, checklist=checklist)
    return home.write(lambda tx: checklists.add_item(tx, task.id, new)).id


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
        a.new("link", from_id=from_text(first.id), to_id=from_text(second.id), type=type_)
    before, count = told(a), commits(a)
    for _ in range(3):
        assert again(a, format_) == ImportResult(unchanged=2)
    assert (told(a), commits(a)) == (before, count)


@both
def test_what_was_removed_here_after_an_export_stays_removed(a: Home, format_: str):
    first, _ = brought(a, format_)
    one, line = note(a, first, "called"), item(a, first, "milk")
    written = export(a, format_)
    a.write(lambda tx: entries.remove(tx, one))
    a.write(lambda tx: checklists.remove_item(tx, line))
    assert bring(a, format_, written).entries == 0
    (task, _) = sorted(held(a), key=lambda task: task.title)
    assert (task.entries, [one.items for one in task.checklists]) == ([], [[]])


@both
def test_what_the_other_program_added_or_reworded_comes_in(a: Home, format_: str):
    first, _ = brought(a, format_)
    note(a, first, "called")
    written = export(a, format_).replace("called", "called twice")
    assert bring(a, format_, written).entries == 1
    (task, _) = sorted(held(a), key=lambda task: task.title)
    assert sorted(one.text for one in task.entries) == ["called", "called twice"]


def test_the_same_words_at_another_time_are_another_note(a: Home):
    first, _ = brought(a, "taskwarrior")
    note(a, first, "called")
    records = json.loads(export(a, "taskwarrior"))
    (task,) = [one for one in records if one["description"] == "First"]
    said = task["annotations"]
    said.append({"entry": "20260101T000000Z", "description": "called"})
    assert bring(a, "taskwarrior", json.dumps(records)).entries == 1
    a.fleet.now_ms += int(timedelta(days=1).total_seconds()) * 1000
    assert bring(a, "taskwarrior", json.dumps(records)) == ImportResult(unchanged=2)
