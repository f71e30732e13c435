"""Filters of lists: what they ask for, in pages, in full and in lines alike.

Never goes around the use cases to read.
"""

import re
from datetime import UTC
from functools import partial
from itertools import product
from typing import Any

import pytest

from daemon.journal import categories, labels, tasks
from daemon.journal.human_input import HumanInput
from daemon.journal.labels import LabelEdit
from daemon.journal.references import task_filters
from daemon.journal.references.task_filters import TaskFilter
from daemon.journal.tasks import NewTask
from daemon.journal.views import task_lines
from daemon.refusal import RefusalCode, Refused
from store.fold.list_columns import ListOrder
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.ids import id_from_text
from tests.support.fleet import START_MS, Fleet, Home
from tests.support.sqlite_steps import steps_to_read

TODAY = "2026-03-20"


@pytest.fixture(params=[0, 2000], ids=["walked", "by an index"])
def journal_home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, a: Home) -> Home:
    """A device with a task of every combination of a few values; an index names what may fit, or does not."""
    monkeypatch.setattr(task_filters, "CANDIDATES_MAX", request.param)
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
    home: Home, limit: int = 500, *, closed: bool = False, removed: bool = False, **fields
) -> list[str]:
    """Return what a filter lists, over all its pages; in full it must be the same."""
    typed = HumanInput(lambda: START_MS, UTC, "en")
    with home.store.read() as snapshot:
        page: dict[str, Any] = {"closed": closed, "removed": removed, "limit": limit}
        page["wanted"] = task_filters.resolve_filter(snapshot, TaskFilter(**fields), typed.due_day)
        texts: list[str] = []
        after = None
        while True:
            lines = task_lines.task_lines_page(snapshot, after=after, **page)
            full = tasks.list_tasks(snapshot, brief=True, after=after, **page)
            assert [task.title for task in full] == [line.title for line in lines]
            texts += [line.title for line in lines]
            if len(lines) < limit:
                return texts
            after = lines[-1].id


@pytest.mark.parametrize("limit", [1, 3, 500])
@pytest.mark.parametrize(
    ("filters", "words"),
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
        ({"due": "overdue"}, ["OPEN", "2026-03-19"]),
        ({"due": "overdue", "due_before": "2026-03-19"}, ["nothing"]),
        ({"due": "none"}, ["OPEN", "None$"]),
        ({"due": "today"}, ["nothing"]),
        ({"label": "home", "category": "admin", "due_before": TODAY, "priority": "P2"}, None),
    ],
)
def test_a_filter_lists_what_is_all_of_it_page_by_page(journal_home: Home, limit, filters, words):
    texts = titles(journal_home, limit, **filters)
    everything = titles(journal_home, closed=True)
    if words is None:
        assert texts == ["OPEN P2 home admin 2026-03-19"]
        return
    assert texts == [text for text in everything if all(re.search(word, text) for word in words)]


FEW = [
    {"status": "blocked"},
    {"priority": "P0"},
    {"priority": "P0", "status": "done,open"},
    {"due": "overdue"},
    {"due_before": "2026-03-19"},
    {"due": "overdue", "priority": "P2"},
    {"label": "rare"},
    {"category": "seldom"},
    {"category": "seldom", "label": "none"},
]


@pytest.mark.parametrize("order", ListOrder)
@pytest.mark.parametrize("filters", FEW, ids=str)
def test_a_filter_that_fits_few_costs_these_however_many_tasks_there_are(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, filters, order
):
    monkeypatch.setattr(task_filters, "CANDIDATES_MAX", 20)
    typed = HumanInput(lambda: START_MS, UTC, "en")
    costs = []
    for name, count in (("c", 40), ("d", 1000)):
        home = fleet.home(name)
        odd = NewTask(title="odd", priority="P0", due="2026-03-01", labels=["rare"], category="seldom")
        home.write(partial(tasks.add, new=odd))
        with home.store.write() as tx:
            tx.commit([EntityWrite(tx.new_id(), "task", {"title": "plain"}) for _ in range(count)])
            tx.commit([EntityWrite(tx.new_id(), "task", {"title": "waits", "status": "BLOCKED"})])

        def read(snapshot: Snapshot) -> None:
            wanted = task_filters.resolve_filter(snapshot, TaskFilter(**filters), typed.due_day)
            page = task_lines.task_lines_page(
                snapshot, closed=False, removed=False, limit=20, wanted=wanted, order=order
            )
            assert len(page) <= 1

        costs.append(steps_to_read(home.store, read))
    assert costs[1] - costs[0] <= 40, costs


@pytest.mark.parametrize("value", [["OPEN"], {"P1": 1}, 7, b"", False])
def test_a_value_of_another_type_that_a_member_wrote_ends_no_list(journal_home: Home, value):
    """What a member signs is a value of any type; a list that stops at it would show nobody anything."""
    task = journal_home.read(lambda snapshot: tasks.show(snapshot, "OPEN P1 home admin None"))
    fields = dict.fromkeys(("status", "priority", "category_id", "due"), value)
    journal_home.write(lambda tx: tx.commit([EntityWrite(id_from_text(task.id), "task", fields)]))
    for name, wanted in (("status", "OPEN"), ("priority", "P1"), ("category", "none")):
        filters: dict[str, Any] = {name: wanted}
        assert "OPEN P1 home None None" in titles(journal_home, **filters)
    assert task.title not in titles(journal_home, category="admin")
    assert task.title in titles(journal_home, category="none", status="OPEN")


def test_the_closed_and_the_removed_can_be_filtered_too(journal_home: Home):
    assert len(titles(journal_home, closed=True, label="home")) == 16
    task = journal_home.read(lambda snapshot: tasks.show(snapshot, "OPEN P1 home admin None"))
    journal_home.write(lambda tx: tasks.remove(tx, task.id))
    assert titles(journal_home, removed=True, label="home") == [task.title]
    assert titles(journal_home, removed=True, label="none") == []


def test_a_removed_label_or_category_is_none(journal_home: Home):
    journal_home.write(lambda tx: labels.remove(tx, "home"))
    journal_home.write(lambda tx: categories.remove(tx, "admin"))
    assert len(titles(journal_home, label="none", category="none")) == 16
    with pytest.raises(Refused) as refusal:
        titles(journal_home, label="home")
    assert refusal.value.code is RefusalCode.NOT_FOUND


def test_of_two_labels_with_one_name_both_are_meant(fleet: Fleet, a: Home, b: Home):
    for name in ("one", "two"):
        a.write(partial(tasks.add, new=NewTask(title=name, labels=[name])))
    fleet.sync()
    a.write(lambda tx: labels.edit(tx, "one", LabelEdit(name="same")))
    b.write(lambda tx: labels.edit(tx, "two", LabelEdit(name="same")))
    fleet.sync()
    assert titles(a, label="same") == ["one", "two"]


@pytest.mark.parametrize(
    ("filters", "code"),
    [
        ({"label": "hom"}, RefusalCode.NOT_FOUND),
        ({"category": "nowhere"}, RefusalCode.NOT_FOUND),
        ({"status": "doing"}, RefusalCode.USAGE),
        ({"priority": "P1,P9"}, RefusalCode.USAGE),
        ({"due_before": "whenever"}, RefusalCode.USAGE),
        ({"due": "whenever"}, RefusalCode.USAGE),
        ({"due_before": "none"}, RefusalCode.USAGE),
    ],
)
def test_what_names_nothing_is_refused(journal_home: Home, filters, code):
    with pytest.raises(Refused) as refusal:
        titles(journal_home, **filters)
    assert refusal.value.code is code


def test_values_of_another_shape_from_elsewhere_are_passed_over(a: Home):
    a.new("task", title="odd", due=7, category_id=b"x", status="SLEEPING")
    assert titles(a, due_before=TODAY) == []
    assert titles(a, category="none", label="none") == ["odd"]


def test_a_task_that_says_neither_is_open_and_of_the_usual_priority(a: Home):
    a.new("task", title="bare")
    assert titles(a, status="open", priority="p2") == ["bare"]
    assert titles(a, status="blocked") == titles(a, priority="p1") == []
