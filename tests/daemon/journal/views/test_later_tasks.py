"""Tasks that have not begun: lists, the board and search leave them out if they are asked to, and count them.

Never waits for a day to come: which day it is, is said.
"""

from datetime import UTC
from functools import partial

import pytest

from daemon.journal import search, tasks
from daemon.journal.human_input import HumanInput
from daemon.journal.references.task_filters import TaskFilter, resolve_filter
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.views.board import read_board
from daemon.journal.views.sorted_tasks import TaskOrder, count_later, sorted_states
from daemon.journal.views.task_lines import task_lines_of, task_lines_page
from store.fold.list_columns import ListOrder
from syncproto.codec import Value
from syncproto.ids import id_from_text
from tests.support.fleet import START_MS, Home

TODAY, TOMORROW = "2026-03-20", "2026-03-21"
STARTS: list[Value] = [
    None,
    "2026-03-19",
    TODAY,
    TOMORROW,
    "2999-12-31",
    "soon",
    "2026-02-30",
    7,
    ["2026-04-01"],
    "~",
]
"""Of these, the fourth and the fifth are days behind today."""
BEGUN = [number for number in range(len(STARTS)) if number not in (3, 4)]


@pytest.fixture
def journal_home(a: Home) -> Home:
    """A device with a task for each start, half of them of one priority."""
    for number, start in enumerate(STARTS):
        a.new("task", title=f"write {number}", start=start, status="OPEN", priority=f"P{number % 2}")
    return a


def listed(home: Home, begun_by: str | None, order: TaskOrder, limit: int = 500, **fields: str) -> list[int]:
    """Return the numbers that a list shows over all its pages."""
    typed = HumanInput(lambda: START_MS, UTC, "en")
    numbers: list[int] = []
    after = None
    with home.store.read() as snapshot:
        wanted = resolve_filter(snapshot, TaskFilter(**fields), typed.due_day)
        while True:
            states = sorted_states(
                snapshot, order, closed=False, after=after, limit=limit, wanted=wanted, begun_by=begun_by
            )
            lines = task_lines_of(snapshot, states, removed=False)
            if not lines:
                return numbers
            numbers += [int(line.title.split()[1]) for line in lines]
            after = lines[-1].id


@pytest.mark.parametrize("order", TaskOrder)
@pytest.mark.parametrize("limit", [1, 3, 500])
def test_a_list_leaves_out_what_has_not_begun_in_every_order(
    journal_home: Home, order: TaskOrder, limit: int
) -> None:
    assert sorted(listed(journal_home, TODAY, order, limit)) == BEGUN
    assert sorted(listed(journal_home, None, order, limit)) == list(range(len(STARTS)))
    assert sorted(listed(journal_home, TODAY, order, limit, priority="P1")) == [1, 5, 7, 9]


def test_a_task_appears_on_its_day_without_any_write(journal_home: Home) -> None:
    commits = journal_home.read(lambda snapshot: snapshot.counts().commits)
    assert listed(journal_home, TOMORROW, TaskOrder.MADE) == sorted([*BEGUN, 3])
    assert journal_home.read(lambda snapshot: snapshot.counts().commits) == commits


def test_what_is_left_out_is_counted_also_of_a_filter(journal_home: Home) -> None:
    def count(**fields: str) -> int:
        with journal_home.store.read() as snapshot:
            wanted = resolve_filter(snapshot, TaskFilter(**fields), lambda words: words)
            return count_later(snapshot, TODAY, wanted)

    assert (count(), count(priority="P1"), count(priority="P2")) == (2, 1, 0)


def test_what_is_over_or_removed_never_begins_later(a: Home) -> None:
    new = NewTask(title="write", start=TOMORROW)
    done, removed = (a.write(partial(tasks.add, new=new)).id for _number in range(2))
    a.write(lambda tx: tasks.edit(tx, done, TaskEdit(status="DONE")))
    a.write(lambda tx: tasks.remove(tx, removed))
    with a.store.read() as snapshot:
        page = partial(task_lines_page, snapshot, begun_by=TODAY, order=ListOrder.DUE)
        assert [line.id for line in page(closed=True, removed=False)] == [done]
        assert [line.id for line in page(closed=False, removed=True)] == [removed]
        columns, later_count = read_board(snapshot, closed=True, shown_max=9, begun_by=TODAY)
        assert ([(column.status, column.count) for column in columns if column.count], later_count) == (
            [("DONE", 1)],
            0,
        )
        matches = search.search_tasks(snapshot, "write", removed=True, after=0, limit=9, begun_by=TODAY)
        assert (sorted(task.id for task in matches.tasks), matches.begin_later) == (
            sorted([done, removed]),
            0,
        )


def test_the_board_leaves_it_out_of_its_columns_and_their_counts(journal_home: Home) -> None:
    with journal_home.store.read() as snapshot:
        (column, *_others), later_count = read_board(snapshot, closed=False, shown_max=3, begun_by=TODAY)
        assert (column.count, len(column.tasks), later_count) == (len(BEGUN), 3, 2)
        (column, *_others), later_count = read_board(snapshot, closed=False, shown_max=99)
        assert (column.count, len(column.tasks), later_count) == (len(STARTS), len(STARTS), 0)


def test_a_search_leaves_it_out_and_counts_it(journal_home: Home) -> None:
    with journal_home.store.read() as snapshot:
        find = partial(search.search_tasks, snapshot, "write", removed=False, after=0, limit=99)
        assert (len(find().tasks), find().begin_later) == (len(STARTS), 0)
        narrowed = find(begun_by=TODAY)
        assert sorted(int(task.title.split()[1]) for task in narrowed.tasks) == BEGUN
        assert narrowed.begin_later == 2
        states = search.found_states(snapshot, "write", TaskOrder.MADE, wanted=None, count=99, begun_by=TODAY)
        assert len(states) == len(BEGUN)
        for day, count in ((TODAY, 2), (TOMORROW, 1), ("2999-12-31", 0)):
            assert search.count_found_later(snapshot, "write", wanted=None, begun_by=day) == count


def test_a_start_is_typed_as_any_day_and_taken_away_again(a: Home) -> None:
    typed = HumanInput(lambda: START_MS, UTC, "en")
    task = a.write(partial(tasks.add, new=typed.read_new_task(NewTask(title="x", start="in 2 weeks"))))
    assert task.start == "2026-04-03"
    change = typed.read_task_edit(TaskEdit(start="none"))
    assert a.write(lambda tx: tasks.edit(tx, task.id, change)).start is None
    assert a.value(id_from_text(task.id), "start") is None
