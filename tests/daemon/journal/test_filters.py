"""Filters of lists: what they ask for, in pages, in full and in lines alike.

Never goes around the use cases to read.
"""

import re
from datetime import UTC
from functools import partial
from itertools import product
from typing import Any

import pytest

from daemon.journal import categories, filters, labels, listing, tasks
from daemon.journal.errors import Code, Refused
from daemon.journal.filters import Filter
from daemon.journal.labels import LabelEdit
from daemon.journal.tasks import NewTask
from daemon.journal.typed import Typed
from tests.daemon.agents.fleet import START_MS, Fleet, Home

TODAY = "2026-03-20"


@pytest.fixture
def held(a: Home) -> Home:
    """A device with a task of every combination of a few values."""
    values = product(("OPEN", "DONE"), ("P1", "P2"), ("home", None), ("admin", None), ("2026-03-19", None))
    for status, priority, label, category, due in values:
        new = NewTask(
            title=f"{status} {priority} {label} {category} {due}",
            status=status,
            priority=priority,
            labels=[] if label is None else [label],
            category=category,
            due=due,
        )
        a.write(partial(tasks.add, new=new))
    return a


def titles(
    home: Home, limit: int = 500, *, closed: bool = False, removed: bool = False, **asked
) -> list[str]:
    """Return what a filter lists, over all its pages; in full it must be the same."""
    typed = Typed(lambda: START_MS, UTC, "en")
    with home.store.read() as snapshot:
        page: dict[str, Any] = {"closed": closed, "removed": removed, "limit": limit}
        page["wanted"] = filters.wanted(snapshot, Filter(**asked), typed.due)
        found: list[str] = []
        after = None
        while True:
            lines = listing.lines(snapshot, after=after, **page)
            full = tasks.tasks(snapshot, brief=True, after=after, **page)
            assert [one.title for one in full] == [one.title for one in lines]
            found += [one.title for one in lines]
            if len(lines) < limit:
                return found
            after = lines[-1].id


@pytest.mark.parametrize("limit", [1, 3, 500])
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, ["OPEN"]),
        ({"label": "HOME"}, ["OPEN", "home"]),
        ({"label": "none"}, ["OPEN", "P. None"]),
        ({"category": "admin"}, ["OPEN", "admin"]),
        ({"category": "None"}, ["OPEN", "None None|home None"]),
        ({"status": "done"}, ["DONE"]),
        ({"status": "done, open"}, []),
        ({"priority": "p1"}, ["OPEN", "P1"]),
        ({"priority": "P1,P2", "status": "DONE", "label": "home"}, ["DONE", "home"]),
        ({"due_before": "today"}, ["OPEN", "2026-03-19"]),
        ({"due_before": "2026-03-19"}, ["nothing"]),
        ({"label": "home", "category": "admin", "due_before": TODAY, "priority": "P2"}, None),
    ],
)
def test_a_filter_lists_what_is_all_of_it_page_by_page(held: Home, limit, asked, words):
    found = titles(held, limit, **asked)
    every = titles(held, closed=True)
    if words is None:
        assert found == ["OPEN P2 home admin 2026-03-19"]
        return
    assert found == [one for one in every if all(re.search(word, one) for word in words)]


def test_the_closed_and_the_removed_can_be_filtered_too(held: Home):
    assert len(titles(held, closed=True, label="home")) == 16
    task = held.read(lambda snapshot: tasks.show(snapshot, "OPEN P1 home admin None"))
    held.write(lambda tx: tasks.remove(tx, task.id))
    assert titles(held, removed=True, label="home") == [task.title]
    assert titles(held, removed=True, label="none") == []


def test_a_removed_label_or_category_is_none(held: Home):
    held.write(lambda tx: labels.remove(tx, "home"))
    held.write(lambda tx: categories.remove(tx, "admin"))
    assert len(titles(held, label="none", category="none")) == 16
    with pytest.raises(Refused) as caught:
        titles(held, label="home")
    assert caught.value.code is Code.NOT_FOUND


def test_of_two_labels_with_one_name_both_are_meant(fleet: Fleet, a: Home, b: Home):
    for name in ("one", "two"):
        a.write(partial(tasks.add, new=NewTask(title=name, labels=[name])))
    fleet.sync()
    a.write(lambda tx: labels.edit(tx, "one", LabelEdit(name="same")))
    b.write(lambda tx: labels.edit(tx, "two", LabelEdit(name="same")))
    fleet.sync()
    assert titles(a, label="same") == ["one", "two"]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"label": "hom"}, Code.NOT_FOUND),
        ({"category": "nowhere"}, Code.NOT_FOUND),
        ({"status": "doing"}, Code.USAGE),
        ({"priority": "P1,P9"}, Code.USAGE),
        ({"due_before": "whenever"}, Code.USAGE),
        ({"due_before": "none"}, Code.USAGE),
    ],
)
def test_what_names_nothing_is_refused(held: Home, asked, code):
    with pytest.raises(Refused) as caught:
        titles(held, **asked)
    assert caught.value.code is code


def test_values_of_another_shape_from_elsewhere_are_passed_over(a: Home):
    a.new("task", title="odd", due=7, category_id=b"x", status="SLEEPING")
    assert titles(a, due_before=TODAY) == []
    assert titles(a, category="none", label="none") == ["odd"]


def test_a_task_that_says_neither_is_open_and_of_the_usual_priority(a: Home):
    a.new("task", title="bare")
    assert titles(a, status="open", priority="p2") == ["bare"]
    assert titles(a, status="blocked") == titles(a, priority="p1") == []
