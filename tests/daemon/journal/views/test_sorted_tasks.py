"""Lists of tasks in an order that a person chooses: nothing comes twice, and nothing is left out.

Never tests what a line shows.
"""

from datetime import UTC
from functools import partial

import pytest

from daemon.journal import search, tasks
from daemon.journal.human_input import HumanInput
from daemon.journal.references.task_filters import TaskFilter, resolve_filter
from daemon.journal.views.sorted_tasks import TaskOrder, sorted_states
from daemon.journal.views.task_lines import task_lines_of
from syncproto.ids import id_to_text
from tests.support.fleet import START_MS, Home

MADE = [
    ("beta", "P1", "2026-03-22", "OPEN"),
    ("Alpha", "P2", None, "OPEN"),
    ("gamma", "P2", "2026-03-20", "OPEN"),
    ("delta", "P0", None, "DONE"),
    ("alpha", "P1", "2026-03-20", "OPEN"),
    ("epsilon", "P3", "2026-03-23", "OPEN"),
]
ORDERS = [
    (TaskOrder.MADE, "beta Alpha gamma alpha epsilon"),
    (TaskOrder.NEWEST, "epsilon alpha gamma Alpha beta"),
    (TaskOrder.DUE, "alpha gamma beta epsilon Alpha"),
    (TaskOrder.PRIORITY, "alpha beta gamma Alpha epsilon"),
    (TaskOrder.TITLE, "Alpha alpha beta epsilon gamma"),
]


@pytest.fixture
def journal_home(a: Home) -> Home:
    for title, priority, due, status in MADE:
        a.new("task", title=title, priority=priority, due=due, status=status)
    return a


def titles(home: Home, order: TaskOrder, after: str | None = None, limit: int = 500, **fields) -> list[str]:
    """Return the titles of one page."""
    typed = HumanInput(lambda: START_MS, UTC, "en")
    with home.store.read() as snapshot:
        wanted = resolve_filter(snapshot, TaskFilter(**fields), typed.due_day)
        states = sorted_states(snapshot, order, closed=False, after=after, limit=limit, wanted=wanted)
        return [line.title for line in task_lines_of(snapshot, states, removed=False)]


def id_of(home: Home, title: str) -> str:
    with home.store.read() as snapshot:
        return next(id_to_text(task.id) for task in snapshot.entities("task") if task.value("title") == title)


@pytest.mark.parametrize(("order", "words"), ORDERS)
@pytest.mark.parametrize("limit", [1, 2, 500])
def test_each_order_page_by_page(journal_home: Home, order: TaskOrder, words: str, limit: int) -> None:
    listed: list[str] = []
    while page := titles(journal_home, order, id_of(journal_home, listed[-1]) if listed else None, limit):
        listed += page
    assert listed == words.split()


@pytest.mark.parametrize(("order", "words"), ORDERS)
def test_a_page_goes_on_behind_a_task_that_has_left_the_list(
    journal_home: Home, order: TaskOrder, words: str
) -> None:
    shown = words.split()
    for number, title in enumerate(shown[:-1]):
        task = id_of(journal_home, title)
        journal_home.write(partial(tasks.edit, ref=task, change=tasks.TaskEdit(status="DONE")))
        assert titles(journal_home, order, task) == shown[number + 1 :]


def test_filters_hold_in_every_order(journal_home: Home) -> None:
    assert titles(journal_home, TaskOrder.TITLE, due="none") == ["Alpha"]
    assert titles(journal_home, TaskOrder.TITLE, due="week") == ["alpha", "beta", "gamma"]
    assert titles(journal_home, TaskOrder.DUE, due="overdue") == []
    assert titles(journal_home, TaskOrder.PRIORITY, status="done,open", priority="P0,P1") == [
        "delta",
        "alpha",
        "beta",
    ]


def test_what_is_found_comes_in_the_order_that_is_asked_for(a: Home) -> None:
    for number, title in enumerate(("write, write to Ana", "Call", "write once", "B write")):
        a.new("task", title=title, status="DONE" if number == 2 else "OPEN", due=f"2026-04-0{9 - number}")
    typed = HumanInput(lambda: START_MS, UTC, "en")
    with a.store.read() as snapshot:

        def found(order: TaskOrder, count: int = 9, **fields) -> list[str]:
            wanted = resolve_filter(snapshot, TaskFilter(**fields), typed.due_day)
            states = search.found_states(snapshot, "write", order, wanted=wanted, count=count)
            return [line.title for line in task_lines_of(snapshot, states, removed=False)]

        assert found(TaskOrder.DUE) == ["B write", "write once", "write, write to Ana"]
        assert found(TaskOrder.DUE, 1) == ["B write"]
        assert found(TaskOrder.TITLE, status="open") == ["B write", "write, write to Ana"]
        best = found(TaskOrder.MADE)
        assert sorted(best) == ["B write", "write once", "write, write to Ana"]
        assert found(TaskOrder.MADE, 2) == best[:2]
        assert found(TaskOrder.MADE, label="none", status="blocked") == []
