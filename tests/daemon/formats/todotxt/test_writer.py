"""Writing todo.txt: what a second reader makes of it, and what comes back.

Never trusts the importer alone: a reader of its own, from the format's rules, reads what was written.
"""

import re
from datetime import timedelta, timezone

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from daemon.formats.core.importer import ImportResult
from daemon.formats.todotxt import lines
from daemon.journal import tasks
from daemon.journal.tasks import NewTask, TaskEdit
from tests.daemon.formats.transfers import (
    bring,
    export,
    fill,
    journals,
    stored_tasks,
    task_contents,
    without_ids,
)
from tests.support.fleet import Fleet, Home

RULE = re.compile(
    r"(?:x (?P<done>\d{4}-\d\d-\d\d) |x |\((?P<priority>[A-Z])\) )?"
    r"(?:(?P<made>\d{4}-\d\d-\d\d) )?(?P<text>.+)"
)

JOINER = "\u2060"


def by_the_rules(line: str) -> dict[str, object]:
    """Read a line as the format's description says, with nothing of ours."""
    match = RULE.fullmatch(line)
    assert match
    words = match["text"].split(" ")
    pairs = (word.split(":", 1) for word in words if re.fullmatch(r"[a-z]+:[^\s/]\S*", word))
    return {
        **match.groupdict(),
        "is_done": line.startswith("x "),
        "projects": [word[1:] for word in words if re.fullmatch(r"\+\S+", word)],
        "contexts": [word[1:] for word in words if re.fullmatch(r"@\S+", word)],
        "pairs": dict(pairs),
    }


def add(home: Home, **fields) -> None:
    home.write(lambda tx: tasks.add(tx, NewTask(**fields)))


def test_a_second_reader_finds_what_the_task_has(a: Home):
    add(a, title="Call Mom", priority="P0", category="Family", labels=["phone", "Home"], due="2026-12-01")
    add(a, title="rake", status="DONE", priority="P1", estimate_minutes=90, language="de")
    first, second = map(by_the_rules, export(a, "todotxt").splitlines())
    assert (first["priority"], first["made"], first["is_done"]) == ("A", "2026-03-20", False)
    assert (first["projects"], first["contexts"]) == (["Family"], ["Home", "phone"])
    assert first["pairs"] == {"due": "2026-12-01", "placet": stored_tasks(a)[0].id}
    assert (second["is_done"], second["done"], second["made"]) == (True, "2026-03-20", "2026-03-20")
    assert second["pairs"] == {"pri": "B", "estimate": "90min", "lang": "de", "placet": stored_tasks(a)[1].id}


def test_days_are_those_where_the_person_is(a: Home):
    add(a, title="rake")
    assert "2026-03-20" in export(a, "todotxt")
    assert "2026-03-19" in export(a, "todotxt", timezone(timedelta(hours=-12)))


FILES = [
    "(A) 2026-01-02 Call Mom +Family @home @phone due:2026-12-01\n",
    "x 2026-02-03 2026-01-01 rake the beds @garden pri:B\nx 2026-02-03 dig\nx done once\nno day at all\n",
    "(F) 2026-01-02 water +a +b rec:+1w z:2026-08-01\n",
    "2026-01-02 Talk to @alice about +garden plans z:2026-08-01 by 10:30 on http://example.com/a:b +zed\n",
    "+garage @home\n2026-01-02 2026-01-03 a day in the words\n2026-01-02 x marks the spot\n",
    "2026-01-02 " + "word " * 200 + "+p\n",
]


@pytest.mark.parametrize("text", FILES)
def test_a_file_comes_out_as_it_went_in(a: Home, text):
    bring(a, "todotxt", text)
    assert without_ids(export(a, "todotxt")) == text


@pytest.mark.parametrize("text", FILES)
def test_a_file_that_goes_on_to_a_second_journal_is_the_same_there(a: Home, b: Home, text):
    bring(a, "todotxt", text)
    bring(b, "todotxt", export(a, "todotxt"))
    assert task_contents(b) == task_contents(a)


def test_a_letter_follows_the_priority_once_a_person_changes_it(a: Home):
    bring(a, "todotxt", "(F) 2026-01-02 water\n")
    a.write(lambda tx: tasks.edit(tx, "water", TaskEdit(priority="P1")))
    assert without_ids(export(a, "todotxt")) == "(B) 2026-01-02 water\n"


def test_removed_tasks_stay_out(a: Home):
    add(a, title="rake")
    a.write(lambda tx: tasks.remove(tx, "rake"))
    assert export(a, "todotxt") == ""


@pytest.mark.parametrize("letter", ["", "DONE"])
def test_a_title_comes_back_as_it_is_whatever_it_looks_like(a: Home, b: Home, letter):
    titles = [
        *("due:2026-02-30 is wrong pri:A", "fix project:x", "fix priority:E context:y", "due:2026-12-01"),
        *("Call @bob", "+garage @home", "mail @home +project due:2026-12-05 placet:abc", "a  b   c", "x"),
        *("x marks the spot", "(A) looks like a priority", "2026-12-01 begins with a date", "a\u00a0b @c"),
        *(
            "\u2060+odd \u2060 \u2060x \u2060\u2060",
            "status:blocked reason:x",
            "rec:1w t:2026-12-05 h:1",
            "mailto:kim@example.org",
        ),
        *("placet:" + "0" * 32, "see http://x.y/a:b @d", "Talk to @amy about +garden plans", "C:\\x"),
    ]
    for title in titles:
        add(a, title=title, labels=["amy", "zed"], status=letter or "OPEN", reason="//x")
    bring(b, "todotxt", export(a, "todotxt"))
    assert task_contents(b) == task_contents(a)
    assert [task.title for task in stored_tasks(b)] == titles
    assert without_ids(export(b, "todotxt")) == without_ids(export(a, "todotxt"))


CASES: list[tuple[str, dict[str, object]]] = [
    ("Read https://example.org/a:b?x=1&y=2#frag before noon", {}),
    ("Meet Kim 12:30 at platform 3:4 due:2026-12-01", {"due": "2026-12-01"}),
    ("Send url:https://example.org/path to @sam", {"labels": ["sam"]}),
    ("foo@example.org asks for a+b=c and C++ notes", {}),
    ("Write to mailto:kim@example.org tel:+4930123456", {"category": None}),
    ("Review due:2026-12-01T09:00", {"title": "Review", "due": "2026-12-01"}),
    ("Review due:2026-12-01T23:59:00+02:00 @a", {"title": "Review", "due": "2026-12-01", "labels": ["a"]}),
    ("Two due:2026-12-01 due:2026-12-09T10:00", {"title": "Two", "due": "2026-12-01"}),
    ("Bad due:tomorrow due:2026-12-09", {"title": "Bad", "due": "2026-12-09"}),
    ("Water  the   plants rec:1w t:2026-12-05", {"title": "Water  the   plants"}),
    (
        "fix project:x priority:E context:y",
        {"title": "fix", "category": None, "priority": "P2", "labels": []},
    ),
    ("x 2026-02-03 (A) 2026-01-01 done", {"title": "done", "priority": "P0", "status": "DONE"}),
    ("x 2026-02-03 (F) done", {"title": "done", "priority": "P3", "status": "DONE"}),
    ("x (B) done", {"title": "done", "priority": "P1", "status": "DONE"}),
    ("x 2026-02-03 2026-01-01 (B) done", {"title": "(B) done", "priority": "P2"}),
    (" (A) no priority", {"title": "(A) no priority", "priority": "P2"}),
    ("\tx not done", {"title": "x not done", "status": "OPEN"}),
    ("(A)  two blanks", {"title": "two blanks", "priority": "P0"}),
    ("line with tab\there", {"title": "line with tab here"}),
    ("\ufeff(A) first @a\r", {"title": "first", "priority": "P0", "labels": ["a"]}),
]


def test_each_mark_of_other_programs_is_read_for_what_it_is_and_written_back(fleet: Fleet):
    wrong = []
    for line, wanted in CASES:
        home = fleet.home(f"device {len(fleet.homes)}")
        bring(home, "todotxt", line + "\n")
        (task,) = stored_tasks(home)
        came = {name: getattr(task, name) for name in wanted}
        text = without_ids(export(home, "todotxt"))
        lost = [word for word in line.split() if word not in text and not word.startswith(("(", "\ufeff"))]
        again = bring(home, "todotxt", export(home, "todotxt"))
        if came != wanted or lost or again.updated or without_ids(export(home, "todotxt")) != text:
            wrong.append((line, came, lost, again, text))
    assert wrong == []


def test_a_task_that_is_done_in_a_program_that_drops_its_letter_keeps_its_priority(a: Home, b: Home):
    add(a, title="rake", priority="P0")
    line = export(a, "todotxt").removeprefix("(A) ")
    for done in (f"x 2026-03-21 {line}", f"x {line}", f"x 2026-03-21 (A) {line}", f"x {line.strip()} pri:A"):
        bring(a, "todotxt", done)
        assert [(task.status, task.priority) for task in stored_tasks(a)] == [("DONE", "P0")]
        assert " pri:A " in export(a, "todotxt")
    bring(a, "todotxt", line.strip() + " pri:A")
    assert [(task.status, task.priority) for task in stored_tasks(a)] == [("OPEN", "P0")]
    bring(a, "todotxt", line)
    assert stored_tasks(a)[0].priority == "P2"
    bring(b, "todotxt", "(A) rake\n")
    for _ in range(2):
        bring(b, "todotxt", "x 2026-03-21 rake\n")
        assert [(task.status, task.priority) for task in stored_tasks(b)] == [("DONE", "P0")]


def test_a_due_date_keeps_its_time_until_it_is_another_day(a: Home):
    bring(a, "todotxt", "Review due:2026-12-01T09:00 due:soon\n")
    assert without_ids(export(a, "todotxt")) == "Review due:2026-12-01T09:00 due:soon\n"
    a.write(lambda tx: tasks.edit(tx, "Review", TaskEdit(due="2026-12-24")))
    assert without_ids(export(a, "todotxt")) == "Review due:2026-12-24 due:soon\n"
    a.write(lambda tx: tasks.edit(tx, "Review", TaskEdit(due=None)))
    assert without_ids(export(a, "todotxt")) == "Review due:soon\n"


def contents(home: Home) -> list[object]:
    """Return what a person would say of each task, its notes in any order."""
    return [
        (before[:9], sorted(note.text for note in task.entries))
        for before, task in zip(task_contents(home), stored_tasks(home), strict=True)
    ]


_WORDS = st.sampled_from(
    [
        *("rake", "a\u00a0b", "+p", "+q", "@c", "@d", "due:2026-12-01", "due:2026-12-09T09:00", "due:soon"),
        *("pri:A", "pri:zz", "priority:X", "project:x", "context:y", "rec:+1w", "t:2026-12-05", "h:1", "C++"),
        *("status:blocked", "status:odd", "reason:for_Ann", "estimate:90min", "estimate:soon", "lang:de"),
        *("placet:abc", "http://x.y/a:b", "12:30", "(A)", "x", "2026-01-01", "\u2060+p", "mailto:a@b.c"),
    ]
)
_HEADS = st.sampled_from(
    [
        *("", "", "(A) ", "(F)  ", "2026-01-02 ", "(B) 2026-01-02 ", "x ", "x 2026-02-03 ", " (A) ", "  x "),
        *("x 2026-02-03 2026-01-01 ", "x (C) ", "x 2026-02-03 (A) 2026-01-01 ", "x 2026-02-03 (Z) "),
    ]
)
_BLANKS = st.sampled_from([" ", " ", "  ", "\t"])
_LINES = st.builds(
    lambda head, parts, end: head + "".join(f"{word}{blanks}" for word, blanks in parts) + end,
    _HEADS,
    st.lists(st.tuples(_WORDS, _BLANKS), max_size=7),
    st.sampled_from(["rake", "rake", "rake +p", "rake @c due:2026-12-01", "word " * 100 + "@d"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
@given(st.lists(_LINES, min_size=1, max_size=4))
@example(["x 2026-02-03 (Z) due:2026-12-09T09:00 status:odd rec:+1w +p +q rake pri:A"])
def test_an_export_of_any_file_is_the_same_from_the_second_time_on(fleet: Fleet, lines):
    text = "".join(f"{line}\n" for line in lines)
    home = fleet.home(f"device {len(fleet.homes)}")
    bring(home, "todotxt", text)
    first = export(home, "todotxt")
    assert bring(home, "todotxt", text) == ImportResult(unchanged=len(lines))
    assert bring(home, "todotxt", first) == ImportResult(unchanged=len(lines))
    assert export(home, "todotxt") == first
    other = fleet.home(f"device {len(fleet.homes)}")
    bring(other, "todotxt", first)
    assert without_ids(export(other, "todotxt")) == without_ids(first)
    assert contents(other) == contents(home)
    words = set(text.replace(JOINER, "").split()) - set(first.replace(JOINER, "").split())
    assert {word for word in words if ":" in word or word[0] in "+@"} <= {"pri:A"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(journals)
def test_any_journal_exported_imported_and_exported_again_is_the_same_bytes(fleet: Fleet, journal):
    first = fleet.home(f"device {len(fleet.homes)}")
    fill(first, journal)
    text = export(first, "todotxt")
    assert len(text.splitlines()) == len(journal)
    for line in text.splitlines():
        by_the_rules(line)
    second = fleet.home(f"device {len(fleet.homes)}")
    assert bring(second, "todotxt", text).tasks == len(journal)
    assert without_ids(export(second, "todotxt")) == without_ids(text)
    for before, after in zip(stored_tasks(first), stored_tasks(second), strict=True):
        assert before.title == after.title
        assert (before.status, before.priority, before.due, before.estimate_minutes, before.language) == (
            *(after.status, after.priority, after.due, after.estimate_minutes, after.language),
        )


def test_the_start_of_a_line_is_the_start_of_its_task_and_what_is_no_day_is_kept(a: Home):
    file = "Pay t:2026-08-01 +bank\nCall t:soon\nWrite t:2026-08-01 t:2026-09-01\n"
    bring(a, "todotxt", file)
    starts = {task.title: task.start for task in stored_tasks(a)}
    assert starts == {"Pay": "2026-08-01", "Call": None, "Write": "2026-08-01"}
    exported = re.sub(" placet:[0-9a-f]+", "", export(a, "todotxt"))
    assert [sorted(line.split()) for line in exported.splitlines()] == [
        sorted(line.split()) for line in file.splitlines()
    ]
    again = export(a, "todotxt").replace("Pay +bank t:2026-08-01", "Pay +bank t:2027-01-01")
    bring(a, "todotxt", again)
    assert {task.title: task.start for task in stored_tasks(a)} == starts | {"Pay": "2027-01-01"}


def test_a_start_that_an_older_version_kept_as_text_goes_out_again(a: Home, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as older:
        older.delitem(lines.SPELLED, "t")
        older.setattr(lines, "KNOWN_KEYS", lines.KNOWN_KEYS - {"t"})
        bring(a, "todotxt", "Pay t:2026-08-01\n")
    (task,) = stored_tasks(a)
    assert task.start is None
    assert "t:2026-08-01" in export(a, "todotxt")
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(start="2026-09-01")))
    assert "t:2026-09-01" in export(a, "todotxt")
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(start=None)))
    assert " t:" not in export(a, "todotxt")
