"""Reading a Taskwarrior export.

Never opens a store: a plan is plain structure.
"""

import json
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.formats.core.plan import FAULTS_SHOWN_MAX, FILE_CHARS_MAX, Plan, PlannedTask
from daemon.formats.taskwarrior import reader
from tests.daemon.formats.plans import everything, export, keys, record


def parse(text: str) -> Plan:
    return reader.parse("export.json", text)


def only(**attributes) -> PlannedTask:
    plan = parse(export(record(**attributes)))
    assert plan.faults == ()
    (task,) = plan.tasks
    return task


def fault(text: str) -> tuple[int, str]:
    plan = parse(text)
    assert plan.tasks == ()
    (import_fault,) = plan.faults
    return import_fault.line, import_fault.message


def test_each_attribute_goes_where_the_import_map_says():
    task = only(
        description="renew the passport",
        project="Home.Papers",
        tags=["errand", "city"],
        priority="H",
        due="20261201T000000Z",
        annotations=[{"entry": "20260105T101112Z", "description": "photo is ready"}],
    )
    assert (task.title, task.status, task.priority) == ("renew the passport", "OPEN", "P1")
    assert (task.category, task.labels, task.due) == ("Home.Papers", ("errand", "city"), "2026-12-01")
    assert [(entry.text, entry.happened_ms) for entry in task.entries] == [
        ("photo is ready", 1_767_607_872_000)
    ]
    assert task.made_ms == 1_767_323_045_000


@pytest.mark.parametrize(("document", "expected"), [("H", "P1"), ("M", "P2"), ("L", "P3"), (None, None)])
def test_priorities_are_mapped(document, expected):
    assert only(priority=document).priority == expected


def test_an_unknown_priority_is_kept_as_text():
    task = only(priority="urgent")
    assert task.priority is None
    assert task.entries[0].text == 'priority: "urgent"'


@pytest.mark.parametrize(
    ("attributes", "status", "reason", "removed"),
    [
        ({"status": "pending"}, "OPEN", None, False),
        ({"status": "completed"}, "DONE", None, False),
        ({"status": "deleted"}, "OPEN", None, True),
        ({"status": "waiting"}, "ON HOLD", "waiting", False),
        ({"status": "waiting", "wait": "20260801T000000Z"}, "ON HOLD", "waiting until 2026-08-01", False),
        (
            {"status": "waiting", "wait": "20260801T173000Z"},
            "ON HOLD",
            "waiting until 2026-08-01 17:30",
            False,
        ),
    ],
)
def test_statuses_are_mapped(attributes, status, reason, removed):
    task = only(**attributes)
    assert (task.status, task.reason, task.removed) == (status, reason, removed)


def test_a_due_day_is_the_day_where_the_person_is():
    text = export(record(due="20261130T230000Z"))
    (task,) = reader.parse("x", text, timezone(timedelta(hours=1))).tasks
    assert task.due == "2026-12-01"
    assert task.entries == ()


@pytest.mark.parametrize(
    ("due", "hour", "kept"),
    [
        ("20261201T153000Z", "2026-12-01T15:30[UTC]", []),
        ("20261201T153007Z", "2026-12-01T15:30[UTC]", ['due: "20261201T153007Z"']),
        ("20261201T235959Z", None, ['due: "20261201T235959Z"']),
        ("20261201T000000Z", None, []),
    ],
)
def test_a_due_time_within_the_day_is_its_hour(due: str, hour: str | None, kept: list[str]):
    task = only(due=due)
    assert (task.due, task.due_time) == ("2026-12-01", hour)
    assert [entry.text for entry in task.entries] == kept


def test_dependencies_become_links_from_what_blocks():
    plan = parse(export(record(1), record(2, depends=[record(1)["uuid"]])))
    (link,) = plan.tasks[1].links
    assert (link.from_key, link.to_key, link.type) == (plan.tasks[0].key, plan.tasks[1].key, "blocks")


def test_older_exports_join_dependencies_by_commas():
    depends = f"{record(1)['uuid'].upper()},{record(2)['uuid']}"
    plan = parse(export(record(1), record(2), record(3, depends=depends)))
    assert [link.from_key for link in plan.tasks[2].links] == [plan.tasks[0].key, plan.tasks[1].key]


def test_a_dependency_that_is_not_in_the_file_is_kept_as_text():
    task = only(depends=["11111111-0000-4000-8000-000000000000"])
    assert task.links == ()
    assert task.entries[0].text == 'depends: ["11111111-0000-4000-8000-000000000000"]'


def test_a_dependency_on_itself_is_kept_as_text():
    task = only(depends=[record(1)["uuid"]])
    assert task.links == ()
    assert task.entries[0].text == f'depends: ["{record(1)["uuid"]}"]'


@pytest.mark.parametrize(
    ("attributes", "places", "due"),
    [
        ({"recur": "monthly", "mask": "+-W"}, (0, 1, 2.0), "2026-04-30"),
        ({"recur": "monthly", "mask": "+X-"}, (), "2026-03-31"),
        ({"recur": "weekly"}, (), "2026-01-31"),
        ({"recur": "2w", "mask": "++"}, (), "2026-02-28"),
        ({"recur": "P1Y", "mask": "+"}, (), "2027-01-31"),
        ({"recur": "3mo", "mask": "+"}, ("1",), "2026-07-31"),
        ({"recur": "when it rains", "mask": "+"}, (), "2026-01-31"),
    ],
)
def test_a_template_is_an_open_task_on_the_first_day_that_no_occurrence_has(attributes, places, due):
    template = record(1, status="recurring", due="20260131T000000Z", **attributes)
    children = [record(n, parent=template["uuid"], imask=place) for n, place in enumerate(places, 2)]
    plan = parse(export(template, *children))
    assert (len(plan.tasks), plan.tasks[0].status, plan.tasks[0].due) == (1 + len(places), "OPEN", due)
    assert plan.skipped == ()


def test_anything_else_is_kept_as_an_entry():
    task = only(start="20260103T000000Z", end="20260104T000000Z", size=3, client={"name": "Ann"}, note="x: y")
    assert task.entries[0].text.split("\n") == [
        'end: "20260104T000000Z"',
        'start: "20260103T000000Z"',
        "size: 3",
        'client: {"name": "Ann"}',
        'note: "x: y"',
    ]


def test_what_a_field_cannot_hold_is_kept_as_text():
    task = only(project="p" * 101, wait="20260801T000000Z", modified="once")
    assert (task.category, task.status, task.changed_ms) == (None, "OPEN", None)
    assert task.entries[0].text.split("\n") == [
        'modified: "once"',
        f'project: "{"p" * 101}"',
        'wait: "20260801T000000Z"',
    ]


def test_a_blank_note_is_none():
    assert only(annotations=[{"entry": "20260105T101112Z", "description": " "}]).entries == ()


def test_what_taskwarrior_computes_anew_does_not_make_an_export_differ():
    assert only(id=1, urgency=2.5).entries == only(id=7, urgency=9).entries == ()


def test_a_title_that_is_too_long_is_cut_and_kept_in_full():
    description = "word " * 200
    task = only(description=description)
    assert len(task.title) == 400
    assert task.title.endswith("…")
    assert task.entries[0].text == description


def test_a_text_that_is_too_long_for_an_entry_goes_on_in_further_ones():
    note = "".join(f"line {n} é\n" for n in range(30_000))
    task = only(annotations=[{"entry": "20260105T101112Z", "description": note}])
    assert "".join(entry.text for entry in task.entries) == note
    assert max(len(entry.text.encode()) for entry in task.entries) <= 128 * 1024
    assert len({entry.key for entry in task.entries}) == len(task.entries) == 4


def test_labels_that_a_task_has_no_room_for_are_kept_as_text():
    task = only(tags=[f"t{n}" for n in range(102)] + ["x" * 101])
    assert len(task.labels) == 100
    assert task.entries[0].text == f'tags: ["t100", "t101", "{"x" * 101}"]'


def test_two_notes_of_one_moment_are_two_entries():
    notes = [{"entry": "20260105T101112Z", "description": text} for text in ("one", "two")]
    task = only(annotations=notes)
    assert [entry.text for entry in task.entries] == ["one", "two"]
    assert task.entries[0].key != task.entries[1].key


def test_one_record_a_line_reads_like_a_list():
    records = [record(1), record(2)]
    lines = "\n".join(json.dumps(fields) + "," for fields in records)
    assert [task.title for task in parse(lines).tasks] == ["task 1", "task 2"]
    assert [task.title for task in parse(json.dumps(record(3), indent=2)).tasks] == ["task 3"]
    assert [task.title for task in parse("\ufeff" + json.dumps(records)).tasks] == ["task 1", "task 2"]


def test_an_empty_file_asks_for_nothing():
    assert parse("") == parse(" \n") == parse("[]") == Plan("taskwarrior")


LINE = json.dumps(record(1))


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("hello", 1, "neither a JSON list nor JSON objects"),
        ("\n\n<xml>", 3, "neither a JSON list nor JSON objects"),
        ("[\n" + LINE + ",\n", 2, "cut off"),
        ("[\n" + LINE[:-1], 2, "cut off"),
        ("[\n" + LINE + "\n" + LINE + "\n]", 3, "expected ','"),
        (LINE + "\n\n" + LINE[:40], 3, "cut off"),
        ("[" * 100_000, 1, "nested too deeply"),
        ('{"a":' * 100_000, 1, "nested too deeply"),
        ("[\n\n3]", 3, "Expected `object`"),
        ("a\nb\0c", 2, "NUL"),
        ("[\n\ud800]", 2, "broken Unicode"),
        (export(record(1), record(1)), 3, "first on line 2"),
        (json.dumps([record(1), record(1)]), 1, "a second time"),
        (export(record(1), record(2, uuid=" ")), 3, "uuid is empty"),
        (export(record(description=" \n")), 2, "description is empty"),
        (export(record(description=7)), 2, "description: Expected `str`"),
        (export(record(tags="a")), 2, "tags: Expected `array`"),
        (
            export(record(annotations=[{"entry": "20260105T101112Z"}])),
            2,
            "missing required field `description`",
        ),
        (export(record(status="odd")), 2, "status is 'odd'"),
        (export(record(due="20261301T000000Z")), 2, "due is '20261301T000000Z'"),
        (export(record(due="tomorrow")), 2, "due is 'tomorrow'"),
        (export(record(entry="20260230T000000Z")), 2, "entry is"),
        (export(record(status="waiting", wait="x")), 2, "wait is 'x'"),
        (
            export(record(annotations=[{"entry": "x", "description": "y"}])),
            2,
            "entry of an annotation is 'x'",
        ),
        (export(record()).replace("task 1", "\\ud800"), 2, "JSON is malformed"),
        ('[\n{"uuid":"\\ud800"}]', 2, "half of a pair"),
        ("{}", 1, "missing required field `uuid`"),
    ],
)
def test_bad_input_is_one_fault_that_names_the_line(text, line, sentence):
    index, message = fault(text)
    assert index == line
    assert sentence in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (json.dumps([record(1), record(2, status="odd")]), [(1, "record 2: status is 'odd'")]),
        (json.dumps([record(1, description=7), record(2)]), [(1, "record 1: description: Expected `str`")]),
        (json.dumps([record(1), record(1)]), [(1, "record 2: uuid"), (1, "first in record 1")]),
        ("[\n" + LINE + ",\n" + json.dumps([record(2), 3])[1:], [(3, "record 3: Expected `object`")]),
        (export(record(1), record(2, status="odd")), [(3, "status is")]),
        (json.dumps([record(2, status="odd")]), [(1, "status is")]),
        (json.dumps([record(2, status="odd"), record()], indent=1), [(2, "status is")]),
    ],
)
def test_a_record_is_named_by_its_number_where_its_line_does_not_name_it(text, answer):
    index, message = fault(text)
    for line, words in answer:
        assert index == line
        assert message.startswith(words) if not words.startswith("first") else words in message


def test_a_due_day_beyond_the_calendar_is_a_fault():
    text = export(record(due="00010101T000000Z"))
    plan = reader.parse("x", text, timezone(timedelta(hours=-5)))
    assert "beyond the calendar" in plan.faults[0].message


def test_all_bad_records_are_named_and_none_of_the_good_ones_planned():
    plan = parse(export(record(1), record(2, status="odd"), record(3, due="x"), record(4, description=1)))
    assert plan.tasks == ()
    assert [import_fault.line for import_fault in plan.faults] == [3, 4, 5]


def test_of_very_many_faults_the_first_are_told():
    plan = parse("\n".join(["{}"] * 500))
    assert len(plan.faults) == FAULTS_SHOWN_MAX + 1
    assert plan.faults[-1].message == "and 400 more faults from here on"


def test_a_file_that_is_too_large_is_refused():
    assert "split it" in fault(" " * (FILE_CHARS_MAX + 1))[1]


# No NUL and no half of a surrogate pair: those are faults of the file as a whole.
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=60)
words = texts.filter(str.strip)
times = st.datetimes().map(lambda moment: moment.strftime("%Y%m%dT%H%M%SZ").rjust(16, "0"))


@given(st.lists(words, min_size=1, max_size=5), words, words, times)
def test_no_word_of_an_export_is_lost(descriptions, note, extra, entry):
    records = [
        record(n, description=text, annotations=[{"entry": entry, "description": note}], extra=extra)
        for n, text in enumerate(descriptions)
    ]
    plan = parse(export(*records))
    assert plan.faults == ()
    parts = everything(plan).split()
    for text in (*descriptions, note):
        assert set(text.split()) <= set(parts)
    assert all(json.loads(task.entries[-1].text.removeprefix("extra: ")) == extra for task in plan.tasks)
    assert len(set(keys(plan))) == len(keys(plan))


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | texts | times,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
attributes = st.sampled_from(
    [
        *(*record(), "due", "wait", "end", "tags", "annotations", "depends", "priority", "project"),
        *("placet_status", "placet_reason", "placet_due", "placet_estimate", "placet_language"),
        *("placet_checklists", "placet_links", "placet_priority"),
    ]
)


@given(st.lists(st.dictionaries(attributes | texts, json_values, max_size=8), max_size=4), st.booleans())
def test_whatever_json_comes_it_is_a_plan_or_faults(records, complete):
    full_records = (
        [record(n) | listed_record for n, listed_record in enumerate(records)] if complete else records
    )
    plan = parse(json.dumps(full_records))
    assert not (plan.faults and plan.tasks)
    assert all("\n" not in import_fault.message for import_fault in plan.faults)


@given(st.text(st.sampled_from('[]{}",:\\u \n0aé\ud800\0'), max_size=40))
def test_whatever_text_comes_it_is_a_plan_or_faults(text):
    plan = parse(text)
    assert not (plan.faults and plan.tasks)
