"""Writing todo.txt: what a second reader makes of it, and what comes back.

Never trusts the importer alone: a reader of its own, from the format's rules, reads what was written.
"""

import re
from datetime import timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings

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
    "(F) 2026-01-02 water +a +b rec:+1w t:2026-08-01\n",
    "2026-01-02 Talk to @alice about +garden plans t:2026-08-01 by 10:30 on http://example.com/a:b +zed\n",
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


def test_marks_at_the_end_of_a_title_keep_their_order(a: Home, b: Home):
    add(a, title="Call @bob", labels=["amy", "zed"])
    text = without_ids(export(a, "todotxt"))
    assert text.endswith("Call @amy @bob @zed\n")
    bring(b, "todotxt", text)
    assert without_ids(export(b, "todotxt")) == text


def test_removed_tasks_stay_out(a: Home):
    add(a, title="rake")
    a.write(lambda tx: tasks.remove(tx, "rake"))
    assert export(a, "todotxt") == ""


def test_a_title_is_not_taken_for_a_mark_of_the_journals(a: Home, b: Home):
    add(a, title="due:2026-02-30 is wrong pri:A")
    bring(b, "todotxt", export(a, "todotxt"))
    (task,) = stored_tasks(b)
    assert (task.due, task.priority) == (None, "P2")


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
        assert (before.status, before.priority, before.due, before.estimate_minutes, before.language) == (
            *(after.status, after.priority, after.due, after.estimate_minutes, after.language),
        )
