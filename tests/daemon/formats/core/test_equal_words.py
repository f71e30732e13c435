"""An import whose file says for the first time what the journal says already: it is remembered and not shown.

Never looks at the commits themselves.
"""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.formats.core.importer import ImportResult
from daemon.journal import change_log, checklist_items, tasks
from daemon.journal.checklist_items import ItemEdit
from daemon.journal.task_timeline import task_timeline
from daemon.journal.tasks import TaskEdit
from daemon.journal.views.structures import Task
from store.snapshot import Snapshot
from tests.daemon.formats.transfers import bring, commits, stored_tasks, task_contents
from tests.support.fleet import Fleet, Home

BEFORE = "# Shed (P2)\n\n- [ ] Buy nails\n- [x] Paint\n\n# Beds\n"
EDITS: dict[tuple[str, str], TaskEdit | ItemEdit] = {
    ("# Shed (P2)", "# Shed (P0, due 2026-12-01)"): TaskEdit(priority="P0", due="2026-12-01"),
    ("# Beds\n", "# Beds (BLOCKED: for Ann)\n"): TaskEdit(status="BLOCKED", reason="for Ann"),
    ("# Beds\n", "# Beds (IN PROGRESS)\n"): TaskEdit(status="IN PROGRESS"),
    ("[ ] Buy nails", "[x] Buy nails"): ItemEdit(is_checked=True),
    ("[ ] Buy nails", "[ ] Buy long nails"): ItemEdit(title="Buy long nails"),
}


def _all(snapshot: Snapshot) -> list[Task]:
    return tasks.list_tasks(snapshot, closed=True, removed=False, brief=True)


def shown(home: Home) -> tuple[object, ...]:
    """Return all that people see of the history."""
    return home.read(
        lambda snapshot: (
            change_log.list_changes(snapshot, None, limit=500),
            [task_timeline(snapshot, task.id).moments for task in _all(snapshot)],
        )
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(list(EDITS)), min_size=1, unique=True))
def test_a_file_that_says_what_is_so_here_shows_nothing_and_is_remembered(fleet: Fleet, edits):
    home, text = fleet.home(f"device {len(fleet.homes)}"), BEFORE
    bring(home, "markdown", BEFORE)
    for old, new in edits:
        if old in text:
            text = text.replace(old, new)
            edit_here(home, old, EDITS[old, new])
    before, contents, count = shown(home), task_contents(home), commits(home)
    assert bring(home, "markdown", text) == ImportResult(unchanged=2)
    assert (shown(home), task_contents(home)) == (before, contents)
    assert commits(home) > count
    # The file's word is known now: a person can take it back, and the same file leaves that alone.
    edit_here(home, "# Shed", TaskEdit(priority="P3"))
    count = commits(home)
    assert bring(home, "markdown", text) == ImportResult(unchanged=2)
    assert commits(home) == count


def edit_here(home: Home, line: str, edit: TaskEdit | ItemEdit) -> None:
    if isinstance(edit, ItemEdit):
        (item,) = [
            item
            for task in stored_tasks(home)
            for checklist in task.checklists
            for item in checklist.items
            if item.title.endswith("nails")
        ]
        home.write(lambda tx: checklist_items.edit_item(tx, item.id, edit))
    else:
        title = "Shed" if "Shed" in line else "Beds"
        home.write(lambda tx: tasks.edit(tx, title, edit))


def test_a_conflict_that_an_import_ends_is_shown(fleet: Fleet, a: Home, b: Home):
    bring(a, "markdown", BEFORE)
    fleet.sync()
    for home, priority in ((a, "P1"), (b, "P0")):
        home.write(lambda tx, priority=priority: tasks.edit(tx, "Shed", TaskEdit(priority=priority)))  # type: ignore[misc]
    fleet.sync()
    (now,) = [task.priority for task in stored_tasks(a) if task.title == "Shed"]
    before = shown(a)
    bring(a, "markdown", BEFORE.replace("(P2)", f"({now})"))
    assert shown(a) != before
