"""Exports and imports of whole files on a device of the tests, and journals drawn at random.

Never goes below the use cases but for what no use case makes.
"""

import re
from datetime import UTC, datetime, tzinfo

from hypothesis import strategies as st

from daemon.formats.core.importer import ImportResult, PlanImport
from daemon.formats.core.plan import without_faulty
from daemon.formats.readers import read_plan
from daemon.formats.writers import writer_for
from daemon.journal import checklist_items, entries, tasks
from daemon.journal.checklist_items import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask
from daemon.journal.views.structures import Task
from syncproto.ids import id_from_text
from tests.support.fleet import START_MS, Home


def bring(
    home: Home,
    format_: str,
    text: str,
    *,
    name: str = "list",
    zone: tzinfo = UTC,
    now_ms: int = START_MS,
    skip_faulty: bool = False,
) -> ImportResult:
    """Import a file as the daemon does: compared with the journal first, then part after part."""
    plan = read_plan(format_, name, text, zone, now_ms)
    work = home.read(PlanImport(without_faulty(plan) if skip_faulty else plan).with_matched_tasks)
    result = work.empty_result
    for part in work.parts:
        result += home.write(lambda tx, part=part: work.import_part(tx, part))  # type: ignore[misc]
    return result


def export(home: Home, format_: str, zone: tzinfo = UTC) -> str:
    """Return a whole file."""
    return home.read(lambda snapshot: "".join(writer_for(format_)(snapshot, zone)))


def without_ids(text: str) -> str:
    """Return an export of Markdown or todo.txt as it was written before exports named ids."""
    return re.sub(r" <!-- placet:[0-9a-f]{32} -->| placet:[0-9a-f]{32}", "", text)


def stored_tasks(home: Home, *, removed: bool = False) -> list[Task]:
    """Return all tasks with all that belongs to them, in order of their making."""
    return home.read(lambda snapshot: tasks.list_tasks(snapshot, closed=True, removed=removed, brief=False))


def task_contents(home: Home) -> list[tuple[object, ...]]:
    """Return what a person would say of each task: all but ids and times."""
    return [
        (
            *(
                task.title,
                task.status,
                task.reason,
                task.priority,
                task.due,
                task.start,
                task.estimate_minutes,
                task.language,
            ),
            *(task.category, tuple(task.labels), tuple(note.text for note in task.entries)),
            [
                (list_.title, [(item.title, item.is_checked) for item in list_.items])
                for list_ in task.checklists
            ],
        )
        for task in stored_tasks(home)
    ]


def commits(home: Home) -> int:
    """Return how many commits a device holds."""
    return home.read(lambda snapshot: snapshot.counts().commits)


def at_ms(text: str) -> int:
    """Return the Unix time of an ISO 8601 time."""
    return int(datetime.fromisoformat(text).timestamp() * 1000)


# Any letter but control characters, blanks and halves of pairs; with much of what formats give a meaning to.
letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp"))
odd = st.sampled_from(["+p", "@c", "due:2026-01-01", "k:v", "x", "(A)", "2026-01-02", *'\\;,:"é'])
words = odd | st.text(letters, min_size=1, max_size=12)
titles = st.lists(words, min_size=1, max_size=6).map(" ".join).filter(lambda text: bool(text.strip()))
names = st.text(letters, min_size=1, max_size=20).filter(lambda text: bool(text.strip()))
texts = st.lists(titles, min_size=1, max_size=4).map("\n".join)
days = st.dates().map(lambda day: day.isoformat())

new_tasks = st.builds(
    NewTask,
    title=titles,
    status=st.sampled_from(["OPEN", "GROOMED", "IN PROGRESS", "DONE", "REJECTED"]),
    priority=st.sampled_from(["P0", "P1", "P2", "P3"]),
    due=st.none() | days,
    start=st.none() | days,
    estimate_minutes=st.none() | st.integers(1, 5000),
    language=st.none() | st.sampled_from(["de", "pt-BR"]),
    labels=st.lists(names, max_size=3),
    category=st.none() | names,
) | st.builds(
    NewTask, title=titles, status=st.sampled_from(["BLOCKED", "ON HOLD"]), reason=st.just("for Ann: soon")
)
journals = st.lists(
    st.tuples(new_tasks, st.lists(texts, max_size=3), st.lists(st.tuples(titles, st.booleans()), max_size=3)),
    max_size=4,
)


def fill(home: Home, journal: list[tuple[NewTask, list[str], list[tuple[str, bool]]]]) -> list[str]:
    """Make the tasks of a drawn journal, the first blocking the second; return their ids."""
    created: list[str] = []
    for new, notes, items in journal:
        task = home.write(lambda tx, new=new: tasks.add(tx, new)).id  # type: ignore[misc]
        for note in notes:
            home.write(lambda tx, note=note, task=task: entries.add(tx, task, NewEntry(text=note)))  # type: ignore[misc]
        for title, is_checked in items:
            item = NewItem(title=title, is_checked=is_checked)
            home.write(lambda tx, item=item, task=task: checklist_items.add_item(tx, task, item))  # type: ignore[misc]
        created.append(task)
        home.fleet.now_ms += 7_654_321
    if len(created) > 1:
        home.new("link", from_id=id_from_text(created[0]), to_id=id_from_text(created[1]), type="blocks")
    return created
