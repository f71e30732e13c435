"""A day: each task that it shows is in one group, whatever members wrote, and only what is shown is read.

Never goes through the API: the routes' tests do.
"""

from datetime import date, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.journal.fields.validation import STATUSES
from daemon.journal.views import board, day, line_bounds
from daemon.journal.views.day import Day, DayGroup, read_day
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text
from tests.support.fleet import Fleet, Home
from tests.support.sqlite_steps import steps_to_read

TODAY = date(2026, 3, 20)
DAYS = [(TODAY + timedelta(ahead)).isoformat() for ahead in range(-2, 11)]
NO_DAYS: list[Value] = [
    None,
    "",
    7,
    "soon",
    "0",
    "~",
    "2026-02-30",
    "2026-W12-5",
    ["2026-03-20"],
    "2026-03-20 ",
]
ODD: list[Value] = [None, "", 7, ["OPEN"], {"a": 1}, "x" * 5000]

days = st.sampled_from([*DAYS, *NO_DAYS])
drawn_tasks = st.lists(
    st.fixed_dictionaries(
        {
            "due": days,
            "start": days,
            "status": st.sampled_from([*STATUSES, *ODD]),
            "priority": st.sampled_from(["P0", "P1", "P2", "P3", *ODD]),
            "title": st.sampled_from(["a", *ODD]),
            "deleted": st.booleans(),
        }
    ),
    max_size=30,
)


def read(home: Home, shown_day: date = TODAY, limit: int = 500, **waiting: int) -> Day:
    return home.read(partial(read_day, day=shown_day, limit=limit, waiting=waiting))


def shown(group: DayGroup) -> list[str]:
    return [line.id for line in group.tasks]


def expected_group(fields: dict[str, Value]) -> str | None:
    """Say in which group a task is, read plainly; None for one that the day does not show."""
    due = fields["due"] if fields["due"] in DAYS else None
    starts_later = fields["start"] in DAYS and str(fields["start"]) > TODAY.isoformat()
    if fields["deleted"] or fields["status"] in ("DONE", "REJECTED") or starts_later:
        return None
    if due is None:
        return "in_progress" if fields["status"] == "IN PROGRESS" else None
    ahead = (date.fromisoformat(str(due)) - TODAY).days
    if ahead < 0:
        return "overdue"
    return None if ahead > day.DAYS_AHEAD else str(due)


def made(home: Home, all_fields: list[dict[str, Any]]) -> list[EntityId]:
    """Make tasks of any values, each in a commit; every second one is written again afterwards."""
    tasks = []
    for number, fields in enumerate(all_fields):
        values = {name: value for name, value in fields.items() if name != "deleted"}
        first = {} if number % 2 else values
        task = home.new("task", **first)
        if number % 2 or fields["deleted"]:
            home.set(task, **values, **({"deleted": True} if fields["deleted"] else {}))
        tasks.append(task)
    return tasks


@given(drawn_tasks)
@settings(max_examples=40, deadline=None)
def test_each_task_is_in_the_group_of_its_day_and_in_no_other(all_fields: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        home = Fleet(Path(folder)).home("a")
        names = [id_to_text(task) for task in made(home, all_fields)]
        whole, short = read(home), read(home, limit=2)
        home.close()
    expected: dict[str, list[str]] = {}
    for name, fields in zip(names, all_fields, strict=True):
        if group := expected_group(fields):
            expected.setdefault(group, []).append(name)
    groups = {group.day or group.name: group for group in whole.groups}
    assert {name: sorted(shown(group)) for name, group in groups.items() if group.tasks} == {
        name: sorted(tasks) for name, tasks in expected.items()
    }
    for of_all, first in zip(whole.groups, short.groups, strict=True):
        assert of_all.count == len(of_all.tasks) == first.count
        assert first.tasks == of_all.tasks[:2]
        places = [(line.due if of_all.name == "overdue" else "", line.priority[:32]) for line in of_all.tasks]
        assert all(before <= after for before, after in pairwise(places))
    later = [fields for fields in all_fields if fields["start"] in DAYS[3:]]
    assert whole.begin_later == sum(
        not fields["deleted"] and fields["status"] not in ("DONE", "REJECTED") for fields in later
    )


def test_a_day_begins_with_what_is_most_important(a: Home) -> None:
    for title, due, priority in (("c", DAYS[2], "P2"), ("b", DAYS[2], "P1"), ("a", DAYS[1], "P3")):
        a.new("task", title=title, due=due, priority=priority, status="OPEN")
    overdue, today, *_others = read(a).groups
    assert [(line.title, line.waiting) for line in overdue.tasks + today.tasks] == [
        ("a", 0),
        ("b", 0),
        ("c", 0),
    ]
    assert [group.day for group in read(a).groups] == [None, *DAYS[2:10], None]


def test_a_task_shows_from_its_start_on_without_any_write(a: Home) -> None:
    task = id_to_text(a.new("task", title="a", due=DAYS[2], start=DAYS[3], status="OPEN"))
    assert (read(a).begin_later, [group.count for group in read(a).groups]) == (1, [0] * 10)
    tomorrow = read(a, TODAY + timedelta(1))
    assert (tomorrow.begin_later, shown(tomorrow.groups[0])) == (0, [task])


def test_what_waits_on_a_task_is_counted_in_its_line(a: Home) -> None:
    task = id_to_text(a.new("task", title="a", due=DAYS[2], status="OPEN"))
    today = read(a, TODAY, 9, **{task: 3, "0" * 32: 5}).groups[1]
    assert [line.waiting for line in today.tasks] == [3]


def test_the_last_days_of_the_calendar_have_fewer_days_behind_them(a: Home) -> None:
    a.new("task", title="a", due="9999-12-31", status="OPEN")
    assert [group.count for group in read(a, date(9999, 12, 30)).groups] == [0, 0, 1, 0]
    assert [group.count for group in read(a, date.max).groups] == [0, 1, 0]
    assert [group.name for group in read(a, date.min).groups][-1] == "in_progress"


LONG = "\x01" * 120_000


def test_long_tasks_of_one_group_take_nothing_from_the_others_and_show_the_beginning_of_their_titles(
    a: Home,
) -> None:
    label = a.new("label", name="\x01" * 40_000)
    for _number in range(25):
        fields: dict[str, Value] = {"title": LONG, "priority": LONG, f"label_ids/{id_to_text(label)}": True}
        a.set(a.new("task", due=DAYS[2]), **fields)
    a.new("task", title="short", status="IN PROGRESS")
    groups = read(a).groups
    assert [(group.count, len(group.tasks)) for group in groups if group.count] == [(25, 25), (1, 1)]
    assert {len(task.title) for group in groups for task in group.tasks} == {400, 5}


def test_a_board_shows_the_first_of_long_tasks_and_as_much_of_the_others(
    a: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _number in range(25):
        a.new("task", title=LONG, priority=LONG, due=DAYS[2])
    a.new("task", title="short", status="IN PROGRESS")
    columns = a.read(lambda snapshot: board.read_board(snapshot, closed=False, shown_max=40)).columns
    shown = {column.status: column.tasks for column in columns}
    assert {len(task.line.title) for tasks in shown.values() for task in tasks} == {400, 5}
    monkeypatch.setattr(line_bounds, "LINES_BYTES_MAX", 5 * 10_000)
    columns = a.read(lambda snapshot: board.read_board(snapshot, closed=False, shown_max=40)).columns
    assert [(column.count, len(column.tasks)) for column in columns if column.count] == [(25, 1), (1, 1)]


def cost(home: Home, use: Any) -> tuple[int, int, int]:
    """Return what a read asks the database: its statements, the rows they return, and SQLite's steps."""
    statements: list[str] = []
    rows: list[Any] = []

    def note(_cursor: apsw.Cursor, row: Any) -> Any:
        rows.append(row)
        return row

    with home.store.read() as snapshot:
        snapshot.db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        snapshot.db.row_trace = note
        use(snapshot)
        snapshot.db.row_trace = None
        snapshot.db.trace_v2(0, None)
        plans = [step[3] for sql in statements if "count(*)" in sql for step in plan_of(snapshot, sql)]
        assert plans
        assert not [step for step in plans if "USING COVERING INDEX task_by" not in step]
    return len(statements), len(rows), steps_to_read(home.store, use)


def plan_of(snapshot: Snapshot, sql: str) -> list[Any]:
    return snapshot.db.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?")).fetchall()


def overdue_home(fleet: Fleet, name: str, count: int) -> Home:
    home = fleet.home(name)
    fields: dict[str, Value] = {"title": "x", "due": DAYS[0], "status": "IN PROGRESS", "start": DAYS[9]}
    with home.store.write() as tx:
        for number in range(count):
            # What no shown task has costs nothing.
            tx.commit([EntityWrite(tx.new_id(), "label", {"name": f"label {number}"})])
            # Every tenth does not show yet: none of those is read either.
            values = {**fields, "start": None} if number % 10 else fields
            tx.commit([EntityWrite(tx.new_id(), "task", values)])
    return home


def test_ten_thousand_tasks_cost_what_is_shown_and_a_step_in_the_index_each(fleet: Fleet) -> None:
    small, large = overdue_home(fleet, "a", 60), overdue_home(fleet, "b", 1200)
    for use in (
        lambda snapshot: read_day(snapshot, TODAY, limit=50, waiting={}),
        lambda snapshot: board.read_board(snapshot, closed=True, shown_max=40, begun_by=DAYS[2]),
    ):
        (statements, rows, few_steps), (others, other_rows, many_steps) = cost(small, use), cost(large, use)
        assert (statements, rows) == (others, other_rows)
        assert statements <= 40
        assert many_steps - few_steps < 10 * (1200 - 60)
