"""Lists of tasks in pages: their order, what they leave out, and what a line shows.

Never tests the full view of a task.
"""

import pytest

from daemon.journal import tasks
from daemon.journal.views import task_lines
from daemon.journal.views.task_lines import TaskLine
from daemon.refusal import Refused
from store.transaction import EntityWrite
from syncproto.ids import id_to_text
from tests.support.fleet import Home


def pages(home: Home, limit: int, *, closed: bool = False, removed: bool = False) -> list[list[str]]:
    """Return the titles on each page."""
    created: list[list[str]] = []
    after: str | None = None
    while True:
        with home.store.read() as snapshot:
            page = task_lines.task_lines_page(
                snapshot, closed=closed, removed=removed, after=after, limit=limit
            )
        if not page:
            return created
        created.append([task_line.title for task_line in page])
        after = page[-1].id


def test_pages_follow_each_other_in_order_of_making_whatever_the_time(a: Home):
    for number in range(4):
        a.new("task", title=f"t{number}", status="DONE" if number % 2 else "OPEN")
        a.fleet.now_ms -= 1000 * number
    a.new("checklist", title="none of them")
    assert pages(a, 3, closed=True) == [["t0", "t1", "t2"], ["t3"]]
    assert pages(a, 1) == [["t0"], ["t2"]]


def test_tasks_of_one_commit_are_each_listed_once_across_pages(a: Home):
    with a.store.write() as tx:
        tx.commit([EntityWrite(tx.new_id(), "task", {"title": f"t{number}"}) for number in range(5)])
    listed = [title for page in pages(a, 2) for title in page]
    assert sorted(listed) == [f"t{number}" for number in range(5)]


def test_the_removed_are_listed_instead_closed_ones_too(a: Home):
    identifiers = [a.new("task", title="gone", status=status) for status in ("OPEN", "DONE")]
    a.new("task", title="here")
    for identifier in identifiers:
        a.set(identifier, deleted=True)
    assert pages(a, 9, removed=True) == [["gone", "gone"]]
    assert pages(a, 9, closed=True) == [["here"]]


def test_a_line_shows_what_the_full_view_shows(a: Home):
    label, category = a.new("label", name="Garden", color="green"), a.new("category", name="House")
    task = a.new(
        "task",
        title="Mow",
        priority="P1",
        due="2027-01-02",
        estimate_minutes=30,
        category_id=category,
    )
    a.set(task, **{f"label_ids/{id_to_text(label)}": True})
    checklist = a.new("checklist", task_id=task, title="Steps")
    for checked, archived in ((True, False), (False, False), (True, True)):
        a.new("checklist_item", checklist_id=checklist, title="x", is_checked=checked, is_archived=archived)
    (line,) = a.read(lambda snapshot: task_lines.task_lines_page(snapshot, closed=False, removed=False))
    full_task = a.read(lambda snapshot: tasks.show(snapshot, id_to_text(task)))
    assert line == TaskLine(**{name: getattr(full_task, name) for name in TaskLine.__struct_fields__})
    assert (line.checklist_progress.completed, line.checklist_progress.total) == (1, 2)


def test_pages_of_whole_tasks_hold_what_each_task_shows_alone(a: Home):
    for number in range(3):
        task = a.new("task", title=f"t{number}")
        checklist = a.new("checklist", task_id=task, title="Steps")
        a.new("checklist_item", checklist_id=checklist, title="x")
        a.new("entry", task_id=task, text="note")
    with a.store.read() as snapshot:
        listed = tasks.list_tasks(snapshot, closed=False, removed=False, brief=False)
        assert len(listed) == 3
        assert listed == [tasks.show(snapshot, listed_task.id) for listed_task in listed]


def test_a_page_after_a_task_that_is_not_here_is_refused(a: Home):
    with pytest.raises(Refused):
        a.read(
            lambda snapshot: task_lines.task_lines_page(snapshot, closed=False, removed=False, after="0" * 32)
        )
