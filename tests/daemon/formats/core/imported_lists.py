"""Lists that are imported, and what the journal shows of them.

Never checks anything.
"""

from daemon.formats.core.importer import ImportResult, PlanImport, PlanPart
from daemon.formats.readers import read_plan
from daemon.journal import tasks
from daemon.journal.tasks import TaskEdit
from daemon.journal.views.structures import Task
from tests.daemon.formats.plans import record
from tests.support.fleet import Home


def bring(home: Home, text: str, *, name: str = "garden.md", dry_run: bool = False) -> ImportResult:
    work = home.read(work_of(text, name).with_matched_tasks)
    result = work.empty_result
    for part in work.parts:
        result += bring_part(home, work, part, dry_run)
    return result


def work_of(text: str, name: str = "garden.md") -> PlanImport:
    return PlanImport(read_plan("taskwarrior" if text.startswith(("[\n", "{")) else "markdown", name, text))


def bring_part(home: Home, work: PlanImport, part: PlanPart, dry_run: bool = False) -> ImportResult:
    if dry_run:
        return home.read(lambda snapshot: work.preview(snapshot, part))
    return home.write(lambda tx: work.import_part(tx, part))


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


def show(home: Home, ref: str) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, ref))


def titles(home: Home, *, removed: bool = False) -> list[str]:
    shown_tasks = home.read(
        lambda snapshot: tasks.list_tasks(snapshot, closed=True, removed=removed, brief=True)
    )
    return sorted(shown_task.title for shown_task in shown_tasks)


def edit(home: Home, ref: str, **fields) -> None:
    home.write(lambda tx: tasks.edit(tx, ref, TaskEdit(**fields)))


def lines(task: Task) -> list[tuple[bool, str]]:
    return [(item.is_checked, item.title) for checklist in task.checklists for item in checklist.items]


GARDEN = "# Beds\n\nFor spring.\n\n- [ ] dig\n- [x] rake\n\nAnd autumn.\n\n# Shed\n\nRoof leaks.\n"


PAPERS = record(
    description="renew passport",
    project="Home",
    tags=["errand"],
    priority="H",
    due="20261201T000000Z",
    annotations=[{"entry": "20260105T101112Z", "description": "photo is ready"}],
)
