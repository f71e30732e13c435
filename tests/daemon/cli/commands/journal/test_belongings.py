"""What the commands of time, links, labels and categories ask of the daemon, and what they tell people.

Never checks how the daemon decides: answers are scripted.
"""

from typing import Any

import msgspec
import pytest

from daemon.cli.terminal.display import Display
from daemon.cli.views.journal.labels import label_words
from daemon.journal.categories import Category
from daemon.journal.labels import Label
from daemon.journal.views.structures import Link, TimeRecord
from daemon.shapes.answers import TaskJson
from daemon.words.task_parts import length_words
from tests.daemon.cli import examples
from tests.daemon.cli.examples import CATEGORY, LABEL, LINK, RUNNING, TASK, TIME_RECORD
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

SHOW = f"GET /v1/tasks/{TASK}"
START = f"POST /v1/tasks/{TASK}/timer"
STOP = "POST /v1/timers/stop"
TIMERS = "GET /v1/timers"
STARTED = RUNNING | {"stopped": [TIME_RECORD], "already": False}


def _body(control: FakeControl, line: str) -> object:
    return control.asked(line)[-1].body


def test_the_examples_are_what_the_daemon_answers():
    kinds: list[tuple[dict[str, Any], type[msgspec.Struct]]] = [
        (TIME_RECORD, TimeRecord),
        (RUNNING, TimeRecord),
        (LINK, Link),
        (LABEL, Label),
        (CATEGORY, Category),
    ]
    for example, kind in kinds:
        assert msgspec.to_builtins(msgspec.convert(example, kind)) == example


# -- time ---------------------------------------------------------------------------------------------


def test_starting_a_timer_says_what_it_stopped(placet: Placet, control: FakeControl):
    control.answers(START, STARTED, status=201)
    result = placet("timer", "start", TASK, "--at", "20 minutes ago", "--note", "photos")
    assert result.out == (
        "✓ Stopped 71e0  Renew the passport  1 h 10 min\n✓ Started 71e1  Renew the passport  42 min\n"
    )
    assert _body(control, START) == {"at": "20 minutes ago", "note": "photos"}


def test_a_timer_that_runs_already_is_said_to(placet: Placet, control: FakeControl):
    control.answers(START, STARTED | {"stopped": [], "already": True})
    assert placet("timer", "start", TASK).out == "✓ Running already: 71e1  Renew the passport  42 min\n"
    assert _body(control, START) == {}


def test_stopping_says_how_long_it_was(placet: Placet, control: FakeControl):
    control.answers(STOP, [TIME_RECORD])
    assert placet("timer", "stop").out == "✓ Stopped 71e0  Renew the passport  1 h 10 min\n"
    placet("timer", "stop", "71e0", "--at", "now", "--note", "x")
    assert _body(control, STOP) == {"record": "71e0", "at": "now", "note": "x"}


def test_where_nothing_runs_here_the_timers_of_other_devices_are_named(placet: Placet, control: FakeControl):
    control.answers(STOP, [])
    control.answers(TIMERS, [RUNNING | {"is_here": False, "device_name": "phone"}])
    result = placet("timer", "stop")
    assert (result.status, result.out) == (0, "")
    assert result.err == (
        "No timer runs on this device.\n○ 71e1  Renew the passport  42 min, since 11:18, on phone\n"
    )
    assert placet("timer", "stop", "--json").json == []


def test_status_shows_what_runs_here_and_elsewhere(placet: Placet, control: FakeControl):
    elsewhere = RUNNING | {"id": "ab" * 16, "is_here": False, "device_name": "", "task_title": ""}
    yesterday = elsewhere | {"id": "cd" * 16, "started_at": "2026-03-03T23:00:00Z", "note": "left on"}
    control.answers(TIMERS, [RUNNING, elsewhere, yesterday])
    assert placet("timer", "status").out.splitlines() == [
        "● 71e1  Renew the passport  42 min, since 11:18",
        "○ abab  a task that is not here  42 min, since 11:18, on another device",
        "○ cdcd  a task that is not here  13 h, since 2026-03-03 23:00, on another device  left on",
    ]
    assert placet("timer", "status", "--plain").out.splitlines()[0].split("\t") == [
        *(str(RUNNING[key]) for key in ("id", "task_id", "started_at")),
        *("", "", "", "laptop", "Renew the passport"),
    ]


def test_without_a_timer_status_says_how_to_start_one(placet: Placet, control: FakeControl):
    control.answers(TIMERS, [])
    assert "placet timer start" in placet("timer", "status").err


def test_records_are_a_table_that_names_devices_where_there_are_several(placet: Placet, control: FakeControl):
    control.answers("GET /v1/times", [RUNNING, TIME_RECORD])
    lines = placet("timer", "list", "renew", "the", "passport", COLUMNS="80").out.splitlines()
    assert lines[0].split() == ["ID", "DAY", "FROM", "TO", "TIME", "TASK", "NOTE"]
    assert lines[1].split() == ["71e1", "2026-03-04", "11:18", "now", "42", "min", "Renew", "the", "passport"]
    assert control.requests[-1].target == "/v1/times?task=renew%20the%20passport&limit=50"
    control.answers("GET /v1/times", [RUNNING, TIME_RECORD | {"device": "x", "device_name": "phone"}])
    placet("timer", "list")
    lines = placet("timer", "list", "--removed", COLUMNS="80").out.splitlines()
    assert lines[0].split()[-1] == "DEVICE"
    assert max(map(len, lines)) <= 80


def test_a_record_is_corrected_removed_and_restored(placet: Placet, control: FakeControl):
    control.answers("PATCH /v1/times/71e0", TIME_RECORD)
    control.answers("DELETE /v1/times/71e0", TIME_RECORD)
    control.answers("POST /v1/times/71e0/restore", TIME_RECORD)
    texts = ["--start", "9:00", "--end", "10:00", "--note", "none", "--task", "form"]
    assert placet("timer", "edit", "71e0", *texts).status == 0
    assert _body(control, "PATCH /v1/times/71e0") == {
        "started_at": "9:00",
        "ended_at": "10:00",
        "note": None,
        "task": "form",
    }
    assert placet("timer", "remove", "71e0").out == "✓ Removed 71e0  Renew the passport  1 h 10 min\n"
    assert placet("timer", "restore", "71e0").out == "✓ Restored 71e0  Renew the passport  1 h 10 min\n"
    assert placet("timer", "edit", "71e0").status == 2


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"started_at": "2026-03-04T11:00:00Z", "ended_at": "2026-03-04T10:00:00Z"}, "ends before it begins"),
        ({"started_at": "soon", "ended_at": "later", "minutes": 0}, "0 min"),
        ({"started_at": "soon", "is_running": True}, ""),
        ({"started_at": "2199-03-04T11:00:00Z", "is_running": True}, "0 min"),
    ],
)
def test_a_length_that_makes_no_sense_is_told_as_such(record, words):
    assert length_words(record, 1_772_625_600.0) == words


# -- a task's page ------------------------------------------------------------------------------------


def test_a_tasks_page_tells_its_time_against_the_estimate_and_its_links_both_ways(
    placet: Placet, control: FakeControl
):
    blocks = LINK | {"id": "5d" * 16, "direction": "to", "task_removed": True, "circular": True}
    lost = LINK | {"id": "6e" * 16, "type": "basic", "title": None, "status": None}
    odd = LINK | {"id": "7f" * 16, "type": "haunts", "direction": "to"}
    task = examples.task(
        times=[TIME_RECORD, RUNNING], time_spent_minutes=70, agent_id=None, links=[LINK, blocks, lost, odd]
    )
    control.answers(SHOW, task)
    out = placet("show", TASK, COLUMNS="80").out
    assert "· 1 h 10 min of 2 h ·" in out
    assert "  4c1b  blocked by  77ab  Find the photos  open\n" in out
    assert "  5d5d  blocks      77ab  Find the photos  removed  a circle: each waits for the other\n" in out
    assert "  6e6e  relates to  77ab  a task that is not here\n" in out
    assert "  7f7f  haunts to   77ab  Find the photos  open\n" in out
    assert "Time  1 h 10 min\n  71e0  2026-03-04 10:00-11:10  1 h 10 min  photos\n" in out
    assert "  71e1  2026-03-04 11:18-now  42 min\n" in out


def test_many_records_leave_room_for_the_rest_of_the_page(placet: Placet, control: FakeControl):
    records = [TIME_RECORD | {"id": f"{moment:032x}"} for moment in range(9)]
    control.answers(
        SHOW, examples.task(times=records, time_spent_minutes=1, agent_id=None, estimate_minutes=None)
    )
    out = placet("show", TASK).out
    assert out.count("10:00-11:10") == 5
    assert "4 earlier ones: placet timer list TASK" in out
    assert "· 1 min spent ·" in out


# -- links --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "task", "body"),
    [
        (["photos", "blocks", "the", "form"], "photos", {"type": "blocks", "to": "the form"}),
        (["photos", "follows-up", "form"], "photos", {"type": "follows_up", "to": "form"}),
        (["photos", "blocked-by", "form"], "form", {"type": "blocks", "to": "photos"}),
        (["photos", "Fixed by", "form"], "form", {"type": "fixes", "to": "photos"}),
    ],
)
def test_a_link_is_said_either_way_round(words, task, body, placet: Placet, control: FakeControl):
    add, remove = f"POST /v1/tasks/{task}/links", f"POST /v1/tasks/{task}/links/remove"
    control.answers(add, LINK, status=201)
    control.answers(remove, LINK | {"removed": True})
    assert placet("link", "add", *words).out == "✓ Linked 4c1b  blocked by  77ab  Find the photos  open\n"
    assert placet("link", "remove", *words).out == "✓ Removed 4c1b  blocked by  77ab  Find the photos  open\n"
    assert _body(control, add) == _body(control, remove) == body


def test_links_are_listed_and_removed_by_id(placet: Placet, control: FakeControl):
    control.answers("GET /v1/tasks/form/links", [LINK])
    control.answers("DELETE /v1/links/4c1b", LINK)
    assert placet("link", "list", "form").out == "4c1b  blocked by  77ab  Find the photos  open\n"
    row = [LINK["id"], "blocks", "from", LINK["task_id"], "OPEN", "Find the photos"]
    assert placet("link", "list", "form", "--plain").out == "\t".join(row) + "\n"
    assert placet("link", "remove", "4c1b").status == 0
    assert placet("link", "remove", "photos", "blocks").status == 2
    control.answers("GET /v1/tasks/x/links", [])
    assert "placet link add" in placet("link", "list", "x").err


# -- labels and categories ----------------------------------------------------------------------------


def test_a_label_is_added_and_changed_with_what_was_given_alone(placet: Placet, control: FakeControl):
    control.answers("POST /v1/labels", LABEL, status=201)
    control.answers("PATCH /v1/labels/family", LABEL)
    assert placet("label", "add", "the", "family").out == "✓ Added 1abe  family\n"
    assert _body(control, "POST /v1/labels") == {"name": "the family"}
    placet("label", "add", "x", "--color", "red", "--description", "y", "--category", "a", "--category", "b")
    assert _body(control, "POST /v1/labels") == {
        "name": "x",
        "color": "red",
        "description": "y",
        "categories": ["a", "b"],
    }
    texts = ["--name", "kin", "--color", "none", "--category", "a", "--not-category", "b"]
    assert placet("label", "edit", "family", *texts).out == "✓ Changed 1abe  family\n"
    assert _body(control, "PATCH /v1/labels/family") == {
        "name": "kin",
        "color": None,
        "add_categories": ["a"],
        "remove_categories": ["b"],
    }
    placet("label", "edit", "family", "--category", "none")
    assert _body(control, "PATCH /v1/labels/family") == {"categories": [], "add_categories": []}
    assert placet("label", "edit", "family").status == 2


def test_labels_are_a_table_that_names_doubles_and_conflicts(placet: Placet, control: FakeControl):
    double = LABEL | {"id": "2b" * 16, "is_double": True, "categories": [], "color": None}
    disputed = LABEL | {"id": "3c" * 16, "name": "work", "conflicts": [{"field": "color"}]}
    control.answers("GET /v1/labels", [LABEL, double, disputed])
    lines = placet("label", "list", "--task", "form", COLUMNS="80").out.splitlines()
    assert lines[1].split("  ") == ["1abe", "family", "#ff8800", "admin", "All of us"]
    assert lines[2].endswith("same name twice")
    assert lines[3].endswith("two words")
    assert control.requests[-1].target == "/v1/labels?task=form"
    assert placet("label", "list", "--plain").out.splitlines()[0].split("\t") == [
        LABEL["id"],
        "family",
        "#ff8800",
        "admin",
        "All of us",
    ]
    control.answers("GET /v1/labels", [])
    placet("label", "list")
    assert "placet label add" in placet("label", "list").err
    assert placet("label", "list", "--removed").err == "Nothing removed.\n"
    assert placet("label", "list", "--task", "form").err == "No other label is for this task.\n"


def test_labels_are_removed_and_restored_several_at_once(placet: Placet, control: FakeControl):
    for name in ("one", "two"):
        control.answers(f"DELETE /v1/labels/{name}", LABEL | {"name": name})
        control.answers(f"POST /v1/labels/{name}/restore", LABEL | {"name": name})
        control.answers(f"DELETE /v1/categories/{name}", CATEGORY | {"name": name})
        control.answers(f"POST /v1/categories/{name}/restore", CATEGORY | {"name": name})
    for noun in ("label", "category"):
        assert placet(noun, "remove", "one", "two").out.count("✓ Removed") == 2
        assert placet(noun, "restore", "one", "two").out.count("✓ Restored") == 2
        assert placet(noun, "remove", "one", "nowhere").status == 8


def test_a_category_is_added_changed_and_listed(placet: Placet, control: FakeControl):
    control.answers("POST /v1/categories", CATEGORY, status=201)
    control.answers("PATCH /v1/categories/admin", CATEGORY)
    control.answers("GET /v1/categories", [CATEGORY])
    assert placet("category", "add", "admin", "--language", "de").out == "✓ Added ca7e  admin\n"
    assert _body(control, "POST /v1/categories") == {"name": "admin", "default_language": "de"}
    placet("category", "edit", "admin", "--correction", "a", "--correction", "b", "--color", "none")
    assert _body(control, "PATCH /v1/categories/admin") == {"correction_examples": ["a", "b"], "color": None}
    placet("category", "edit", "admin", "--correction", "none")
    assert _body(control, "PATCH /v1/categories/admin") == {"correction_examples": None}
    assert placet("category", "edit", "admin").status == 2
    lines = placet("category", "list").out.splitlines()
    assert lines[1].split() == ["ca7e", "admin", "grey", "de", "ELSTER"]
    assert (
        placet("category", "list", "--plain").out
        == "\t".join([CATEGORY["id"], "admin", "grey", "de", "ELSTER"]) + "\n"
    )
    control.answers("GET /v1/categories", [])
    placet("category", "list")
    assert "placet category add" in placet("category", "list").err
    assert placet("category", "list", "--removed").err == "Nothing removed.\n"


@pytest.mark.parametrize(
    ("color", "painted"),
    [
        ("#ff8800", "\x1b[38;5;214m#x\x1b[0m"),
        ("green", "\x1b[32m#x\x1b[0m"),
        ("grey", "\x1b[38;5;245m#x\x1b[0m"),
        (None, "\x1b[35m#x\x1b[0m"),
        ("#12", "#x"),
        ("#zzzzzz", "#x"),
        ("31m\x1b[2J", "#x"),
    ],
)
def test_a_label_is_painted_in_its_colour_and_with_no_code_from_elsewhere(color, painted):
    task: TaskJson = {"labels": ["x"], "label_colors": {"x": color} if color else {}}
    assert list(label_words(task, Display(coloured=True))) == [painted]
    assert list(label_words(task, Display(coloured=False))) == ["#x"]


def test_a_long_task_says_what_is_not_shown_and_which_command_shows_it(placet: Placet, control: FakeControl):
    left_out = {"entries": 12, "items": 1, "status_history": 3, "provenance": 4, "of_a_newer_version": 1}
    control.answers(SHOW, examples.task(left_out=left_out))
    assert placet("show", TASK).out.splitlines()[-3:] == [
        "12 more are not shown: placet entry list 3f2a",
        "1 more is not shown: placet check list 3f2a",
        "8 more are not shown: placet log 3f2a",
    ]
