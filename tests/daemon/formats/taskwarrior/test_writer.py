"""Writing Taskwarrior's JSON: what comes back here, and what the real `task` makes of it.

Never lets `task` read a person's own tasks or settings: each test has folders of its own.
"""

import json
import os
import shutil
import subprocess
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from daemon.formats.core.importer import ImportResult
from daemon.formats.taskwarrior import reader
from daemon.journal import checklist_items, entries, tasks
from daemon.journal.checklist_items import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask, TaskEdit
from syncproto.ids import id_from_text
from tests.daemon.formats.plans import export as printed
from tests.daemon.formats.plans import record
from tests.daemon.formats.transfers import bring, export, fill, journals, stored_tasks, task_contents
from tests.support.fleet import Fleet, Home
from tests.support.patience import LIMIT_S


class Real:
    """The real Taskwarrior, on a folder of its own."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("task")
        assert program
        self._program = program
        self._folder = folder
        (folder / "rc").write_text("confirmation=off\nverbose=nothing\nhooks=off\njson.array=on\n")

    def run(self, name: str, *words: str, text: str | None = None) -> str:
        environment = {
            "TASKRC": str(self._folder / "rc"),
            "TASKDATA": str(self._folder / name),
            "HOME": str(self._folder),
            "PATH": os.environ["PATH"],
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
        }
        (self._folder / name).mkdir(exist_ok=True)
        result = subprocess.run(
            [self._program, *words],
            env=environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def export(self, name: str) -> str:
        return self.run(name, "export")

    def take(self, name: str, text: str) -> None:
        self.run(name, "import", "-", text=text)


@pytest.fixture
def real(tmp_path: Path) -> Real:
    return Real(tmp_path)


def records(text: str) -> dict[str, dict[str, Any]]:
    """Return an export by uuid, without what Taskwarrior computes and with lists in one order."""
    result = {}
    for element in json.loads(text):
        remaining = {name: value for name, value in element.items() if name not in ("id", "urgency")}
        for name in ("tags", "depends"):
            if name in remaining:
                remaining[name] = sorted(remaining[name])
        result[element["uuid"]] = remaining
    return result


def by_title(text: str) -> dict[str, dict[str, Any]]:
    return {element["description"]: element for element in json.loads(text)}


def add(home: Home, **fields) -> str:
    return home.write(lambda tx: tasks.add(tx, NewTask(**fields))).id


NEW = record(1, modified="20260105T000000Z")


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"priority": "H", "project": "Home.Papers", "tags": ["city", "two words"]},
        {"due": "20261201T000000Z"},
        {"due": "20261201T153000Z"},
        {"due": "20261201T235959Z"},
        {"status": "completed", "end": "20260104T101112Z"},
        {"status": "deleted", "end": "20260104T101112Z"},
        {"status": "waiting", "wait": "20260801T000000Z"},
        {"status": "waiting", "wait": "20260801T173000Z"},
        {"wait": "20200801T173000Z"},
        {"start": "20260104T101112Z", "client": "Ann", "x.y": "z: 1"},
        {
            "annotations": [{"entry": "20260105T101112Z", "description": "one\ntwo"}],
            "modified": "20260105T101112Z",
        },
        {"description": "word " * 200},
        {"depends": ["11111111-0000-4000-8000-000000000000"]},
        {"priority": "urgent"},
        {"description": "a  b   c"},
        {"body": "First line\nSecond line", "number": 12.0, "url": "https://example.org/12"},
        {"body": "key: value\nstart: 20260101T000000Z", "empty": "", "nul": None, "größe": "2", "a: b\nc": 2},
        {
            "nested": {"a": [1, None, "x"]},
            "ratio": 0.1,
            "huge": 12345678901234567890,
            "size": "3",
            "yes": True,
        },
        {"body": "x\x7f\x1b\u2028\x85y", "start": "20260103T000000Z", "when": "2026-12-01T00:00:00Z"},
        {"body": "long " * 60_000},
        {"status": "recurring", "due": "20260131T230000Z", "recur": "monthly", "mask": "+-W", "tags": ["x"]},
        {"status": "recurring", "recur": "odd", "wait": "20260801T000000Z"},
    ],
)
def test_a_record_comes_out_as_it_went_in(a: Home, attributes):
    wanted = NEW | attributes
    bring(a, "taskwarrior", printed(wanted))
    (fields,) = records(export(a, "taskwarrior")).values()
    assert fields == {name: value for name, value in wanted.items() if name not in ("id", "urgency")}


def test_days_begin_where_the_person_is(a: Home):
    zone = timezone(timedelta(hours=-7))
    bring(a, "taskwarrior", printed(NEW | {"due": "20261201T070000Z"}), zone=zone)
    assert stored_tasks(a)[0].due == "2026-12-01"
    assert by_title(export(a, "taskwarrior", zone))["task 1"]["due"] == "20261201T070000Z"


def test_what_a_person_changed_goes_out_changed(a: Home):
    bring(a, "taskwarrior", printed(NEW | {"due": "20261201T153000Z", "wait": "20200101T000000Z"}))
    edit = TaskEdit(title="other", due="2026-12-24", status="DONE", priority="P0", labels=["x,y"])
    a.write(lambda tx: tasks.edit(tx, "task 1", edit))
    other = by_title(export(a, "taskwarrior"))["other"]
    # The hour goes along to the new day.
    assert (other["uuid"], other["due"], other["status"]) == (NEW["uuid"], "20261224T153000Z", "completed")
    assert (other["end"], other["priority"], other["placet_priority"]) == ("20260320T094640Z", "H", "P0")
    assert (other["tags"], other["wait"]) == (["x_y"], "20200101T000000Z")


def test_a_task_has_the_same_uuid_in_every_export(a: Home, b: Home):
    add(a, title="rake")
    first = export(a, "taskwarrior")
    a.write(lambda tx: tasks.edit(tx, "rake", TaskEdit(title="dig")))
    (uuid,) = records(first)
    assert uuid in records(export(a, "taskwarrior"))
    bring(b, "taskwarrior", first)
    assert list(records(export(b, "taskwarrior"))) == [uuid]


def test_tasks_of_this_journal_do_not_come_in_again_as_others(a: Home):
    add(a, title="rake")
    result = bring(a, "taskwarrior", export(a, "taskwarrior"))
    assert result == ImportResult(unchanged=1)
    result = bring(a, "taskwarrior", export(a, "taskwarrior").replace("rake", "dig"))
    assert (result.tasks, result.updated, [skipped.what for skipped in result.skipped]) == (0, 0, ["dig"])
    assert "where the task was made" in result.skipped[0].why


def test_notes_of_one_second_keep_their_order(a: Home, b: Home):
    task = add(a, title="rake")
    for text in ("b", "a", "c"):
        a.write(lambda tx, text=text: entries.add(tx, task, NewEntry(text=text)))  # type: ignore[misc]
    bring(b, "taskwarrior", export(a, "taskwarrior"))
    assert [entry.text for entry in stored_tasks(b)[0].entries] == ["b", "a", "c"]


def test_every_kind_of_link_goes_along(a: Home, b: Home):
    ends = [id_from_text(add(a, title=title)) for title in ("one", "two")]
    for type_ in ("blocks", "basic", "follows_up", "duplicates", "fixes"):
        a.new("link", from_id=ends[0], to_id=ends[1], type=type_)
    text = export(a, "taskwarrior")
    bring(b, "taskwarrior", text)
    assert export(b, "taskwarrior") == text
    links = b.read(lambda snapshot: snapshot.entities("link"))
    assert sorted(link.text("type") for link in links) == [
        "basic",
        "blocks",
        "duplicates",
        "fixes",
        "follows_up",
    ]


def test_what_taskwarrior_changed_since_counts_more_than_our_own_attributes(a: Home):
    changed = NEW | {"placet_status": "BLOCKED", "placet_reason": "x", "placet_priority": "P0"}
    bring(
        a,
        "taskwarrior",
        printed(changed | {"status": "completed", "priority": "L", "end": "20260104T000000Z"}),
    )
    (task,) = stored_tasks(a)
    assert (task.status, task.reason, task.priority) == ("DONE", None, "P3")


def test_our_own_attributes_that_cannot_be_read_are_kept_as_text(a: Home):
    odd = {"placet_estimate": "soon", "placet_checklists": "x\ny", "placet_links": "odd:1", "placet_due": "x"}
    bring(a, "taskwarrior", printed(NEW | odd))
    (entry,) = stored_tasks(a)[0].entries
    assert set(entry.text.split("\n")) == {
        *('placet_estimate: "soon"', 'placet_checklists: "x\\ny"', 'placet_links: "odd:1"', 'placet_due: "x"')
    }


_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
# An export leaves control characters of notes out, as it does in every format.
_NOTES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=12).filter(str.strip)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXTS, inner, max_size=2),
    max_leaves=3,
)
_TIMES = st.sampled_from(["20260131T000000Z", "20260228T153000Z", "20270101T235959Z"])
_RECORDS = st.builds(
    lambda own_fields, known_fields: known_fields | own_fields,
    st.dictionaries(
        _TEXTS.filter(lambda name: name not in record() and "placet" not in name), _VALUES, max_size=4
    ),
    st.fixed_dictionaries(
        {"status": st.sampled_from(["pending", "waiting", "completed", "deleted", "recurring"])},
        optional={
            **dict.fromkeys(("due", "wait", "end", "until", "start", "scheduled", "modified"), _TIMES),
            "description": st.sampled_from(["a  b   c", "(A) x", "word " * 100, "1\n2"]),
            "priority": st.sampled_from(["H", "M", "L", "odd"]),
            "project": st.sampled_from(["Home", "p" * 101]),
            "tags": st.lists(st.sampled_from(["x", "y z", "t" * 101]), max_size=3, unique=True),
            "annotations": st.lists(
                st.fixed_dictionaries({"entry": _TIMES, "description": _NOTES}),
                max_size=2,
            ),
            "recur": st.sampled_from(["weekly", "monthly", "2w", "odd"]),
            "mask": st.text("+-WX", max_size=4),
            "parent": st.just(record(1)["uuid"]),
            "imask": st.sampled_from([0, 1.0, "2"]),
            "depends": st.lists(
                st.sampled_from([record(n)["uuid"] for n in (1, 2, 9)]), max_size=2, unique=True
            ),
        },
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
@given(st.lists(_RECORDS, min_size=1, max_size=3))
def test_an_export_of_any_file_is_the_same_from_the_second_time_on(fleet: Fleet, drawn):
    wanted = [record(n, **fields) for n, fields in enumerate(drawn, 1)]
    home = fleet.home(f"device {len(fleet.homes)}")
    bring(home, "taskwarrior", printed(*wanted))
    first = export(home, "taskwarrior")
    assert bring(home, "taskwarrior", first) == ImportResult(unchanged=len(wanted))
    assert export(home, "taskwarrior") == first
    other = fleet.home(f"device {len(fleet.homes)}")
    bring(other, "taskwarrior", first)
    assert export(other, "taskwarrior") == first
    placed_names = {
        *record(),
        "due",
        "wait",
        "end",
        "tags",
        "annotations",
        "depends",
        "priority",
        "project",
        "modified",
    }
    for fields in wanted:
        own = {name: value for name, value in fields.items() if name not in placed_names}
        back = records(first)[fields["uuid"]]
        assert {name: back.get(name) for name in own} == own


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(journals)
@example([(NewTask(title="x", labels=["0", ",", "_"]), [], [])])
def test_any_journal_exported_imported_and_exported_again_is_the_same_bytes(fleet: Fleet, journal):
    first = fleet.home(f"device {len(fleet.homes)}")
    fill(first, journal)
    text = export(first, "taskwarrior")
    second = fleet.home(f"device {len(fleet.homes)}")
    assert bring(second, "taskwarrior", text).tasks == len(journal)
    assert export(second, "taskwarrior") == text
    assert [contents[:7] for contents in task_contents(second)] == [
        contents[:7] for contents in task_contents(first)
    ]
    assert [contents[-1] for contents in task_contents(second)] == [
        contents[-1] for contents in task_contents(first)
    ]


def exported(home: Home) -> dict[str, Any]:
    """Return the only record of an export."""
    (fields,) = records(export(home, "taskwarrior")).values()
    return dict(fields)


@pytest.mark.parametrize("time", ["20301201T000000Z", "20301201T153000Z"])
def test_what_is_scheduled_is_the_start_and_comes_back_as_it_was(a: Home, time: str):
    bring(a, "taskwarrior", printed(NEW | {"scheduled": time}))
    (task,) = stored_tasks(a)
    assert (task.start, task.status) == ("2030-12-01", "OPEN")
    assert exported(a)["scheduled"] == time
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(start="2031-01-02")))
    assert exported(a)["scheduled"] == "20310102T000000Z"
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(start=None)))
    assert not {"scheduled", "placet_start"} & exported(a).keys()
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(start="1970-01-02")))
    assert (exported(a).get("scheduled"), exported(a)["placet_start"]) == (None, "1970-01-02")


@pytest.mark.parametrize("kept", ["soon", "", 7, ["20301201T000000Z"], None])
def test_what_is_scheduled_for_no_day_is_kept_as_it_is(a: Home, kept: Any):
    bring(a, "taskwarrior", printed(NEW | {"scheduled": kept}))
    (task,) = stored_tasks(a)
    assert (task.start, exported(a)["scheduled"]) == (None, kept)


def test_a_start_that_an_older_version_kept_as_text_goes_out_again(a: Home, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as older:
        older.setattr(reader, "scheduled_day", lambda text, zone: (None, None))
        bring(a, "taskwarrior", printed(NEW | {"scheduled": "20301201T000000Z"}))
    assert stored_tasks(a)[0].start is None
    assert exported(a)["scheduled"] == "20301201T000000Z"


# --- the real one -----------------------------------------------------------------------------------


def a_busy_list(real: Real, name: str) -> str:
    """Use Taskwarrior as a person does, and return its export."""
    commands = [
        ["add", "renew passport", "project:Home.Papers", "+errand", "+city", "priority:H", "due:2030-12-01"],
        ["add", "photo", "priority:M", "due:2030-11-30T15:30"],
        ["add", "call the office", "priority:L", "wait:2031-08-01", "due:2031-09-01T23:59:59"],
        ["add", "wait no more", "wait:2020-08-01"],
        ["add", 'buy "stamps" / é 日本 [x] a:b'],
        ["add", "rake"],
        ["add", "dig"],
        ["add", "never mind"],
        ["add", "water", "due:2030-01-01", "scheduled:2029-12-30", "until:2032-01-01"],
        ["1", "modify", "depends:2,3"],
        ["1", "annotate", "needs two photos"],
        ["1", "annotate", "and a \\ form"],
        ["5", "start"],
        ["6", "done"],
        ["7", "modify", "project:Garden", "+tools"],
        ["8", "delete"],
    ]
    for words in commands:
        real.run(name, *words)
    return real.export(name)


@pytest.mark.external("task")
def test_what_the_real_one_exports_is_the_same_there_after_a_turn_through_a_journal(a: Home, real: Real):
    before = a_busy_list(real, "first")
    assert len(records(before)) == 9
    assert bring(a, "taskwarrior", before).tasks == 9
    real.take("second", export(a, "taskwarrior"))
    assert records(real.export("second")) == records(before)


@pytest.mark.external("task")
def test_a_turn_through_the_real_one_leaves_a_journal_as_it_was(a: Home, b: Home, real: Real):
    element = add(
        a, title="Renew passport", priority="P0", category="Home", labels=["errand"], due="2026-12-01"
    )
    two = add(a, title="Photo", status="BLOCKED", reason="for Ann", estimate_minutes=90, language="de")
    add(a, title="Plan", status="GROOMED", priority="P3", due="1979-05-05")
    add(a, title="Paint", status="REJECTED")
    add(a, title="Rake", status="DONE", priority="P1")
    add(a, title="Later", status="ON HOLD", reason="waiting until 2030-01-02 10:30")
    a.write(lambda tx: entries.add(tx, element, NewEntry(text="two photos\nand a form")))
    for title, is_checked in (("front", True), ("[x] back", False)):
        new = NewItem(title=title, is_checked=is_checked)
        a.write(lambda tx, new=new: checklist_items.add_item(tx, two, new))  # type: ignore[misc]
    a.new("link", from_id=id_from_text(two), to_id=id_from_text(element), type="blocks")
    text = export(a, "taskwarrior")
    real.take("one", text)
    again = real.export("one")
    assert bring(b, "taskwarrior", again).tasks == 6
    assert sorted(task_contents(b), key=str) == sorted(task_contents(a), key=str)
    assert records(export(b, "taskwarrior")) == records(text)


@pytest.mark.external("task")
def test_a_second_turn_updates_what_changed_there(a: Home, real: Real):
    bring(a, "taskwarrior", a_busy_list(real, "first"))
    real.run("first", "renew", "modify", "priority:L", "-errand")
    result = bring(a, "taskwarrior", real.export("first"))
    assert (result.tasks, result.updated, result.unchanged) == (0, 1, 8)


@pytest.mark.external("task")
def test_a_recurring_task_turns_round_with_its_template(a: Home, real: Real):
    real.run("first", "add", "water the plants", "due:2030-01-01", "recur:weekly")
    before = real.export("first")
    assert bring(a, "taskwarrior", before).tasks == 2
    assert sorted(task.due or "" for task in stored_tasks(a)) == ["2030-01-01", "2030-01-08"]
    real.take("second", export(a, "taskwarrior"))
    assert records(real.export("second")) == records(before)


@pytest.mark.external("task")
def test_times_that_the_real_one_refuses_are_left_out_or_moved(a: Home, real: Real):
    landed = {"entry": "19690720T201740Z", "description": "landed"}
    bring(a, "taskwarrior", printed(NEW | {"entry": "19550112T131415Z", "annotations": [landed]}))
    real.take("first", export(a, "taskwarrior"))
    (fields,) = records(real.export("first")).values()
    assert fields["annotations"] == [{"entry": "19800102T000000Z", "description": "landed"}]
    assert fields["entry"] > "2026"


@pytest.mark.external("task")
def test_an_empty_journal_is_an_empty_list(a: Home, real: Real):
    assert json.loads(export(a, "taskwarrior")) == []
    real.take("first", export(a, "taskwarrior"))
    assert bring(a, "taskwarrior", export(a, "taskwarrior")) == ImportResult()
