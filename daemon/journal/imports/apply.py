"""Brings a plan into the journal: one commit a task, and nothing at all for what is there already.

Never writes any part of a plan that has faults.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from daemon.journal.imports.drafts import Draft, Drafter, task_id
from daemon.journal.imports.memory import origin
from daemon.journal.imports.plan import ImportFault, Plan, Skipped
from store.fold import DELETED
from store.transaction import Transaction, Write

# Well below what a commit may hold, in bytes and operations: what a write takes beside its text is estimated.
_COMMIT_BYTES_MAX = 192 * 1024
_WRITE_BYTES = 300

_REMOVED_HERE = "changed in the file, but removed in Placet: restore it to import it again"


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did, or with `dry_run` would do.

    `tasks`, `entries` and `checklist_items` count what is new. Of the tasks that were there, `updated`
    counts those that got something new and `unchanged` the others.
    """

    tasks: int = 0
    entries: int = 0
    checklist_items: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    errors: tuple[ImportFault, ...] = ()


def apply_plan(tx: Transaction, plan: Plan, *, dry_run: bool = False) -> ImportResult:
    """Write what the journal lacks of a plan, as the person's own, with where it came from as its origin.

    A plan with faults is refused as a whole: they come back as `errors`, and nothing is written.
    """
    if plan.faults:
        return ImportResult(errors=plan.faults)
    drafter = Drafter(tx, plan.format, {task.key: task_id(plan.format, task) for task in plan.tasks})
    drafts = [drafter.draft(task) for task in plan.tasks]
    skipped = [
        Skipped(task.line, task.title, _REMOVED_HERE)
        for task, draft in zip(plan.tasks, drafts, strict=True)
        if draft.is_removed_here and not draft.is_empty
    ]
    wanted = [draft for draft in drafts if not draft.is_removed_here]
    if not dry_run:
        _write(tx, plan.format, drafter.catalogue.writes, wanted)
    return _result(drafts, wanted, (*plan.skipped, *skipped))


def _result(drafts: Sequence[Draft], wanted: Sequence[Draft], skipped: tuple[Skipped, ...]) -> ImportResult:
    old = [draft for draft in wanted if not draft.is_new]
    updated = sum(not draft.is_empty for draft in old)
    return ImportResult(
        tasks=len(wanted) - len(old),
        entries=sum(draft.made.get("entry", 0) for draft in wanted),
        checklist_items=sum(draft.made.get("checklist_item", 0) for draft in wanted),
        updated=updated,
        unchanged=len(old) - updated + sum(draft.is_removed_here and draft.is_empty for draft in drafts),
        skipped=skipped,
    )


def _write(tx: Transaction, format_: str, names: Iterable[Write], drafts: Iterable[Draft]) -> None:
    for batch in _batches(names):
        tx.commit(batch)
    for draft in drafts:
        for commit in _commits(draft, format_):
            tx.commit(commit)


def _commits(draft: Draft, format_: str) -> Iterator[list[Write]]:
    """Yield a task's commits; each has an operation on the task, empty where only children change."""
    task = draft.task
    if task.fields or draft.children:
        for batch in _batches(draft.children) or [[]]:
            yield [task, *batch]
            task = Write(task.entity, task.kind, {}, origin=task.origin)
    if draft.buries:
        yield [Write(task.entity, task.kind, {DELETED: True}, origin=origin(format_, None))]


def _batches(writes: Iterable[Write]) -> list[list[Write]]:
    batches: list[list[Write]] = []
    size = 0
    for write in writes:
        added = _bytes(write)
        if not batches or size + added > _COMMIT_BYTES_MAX:
            batches.append([])
            size = 0
        batches[-1].append(write)
        size += added
    return batches


def _bytes(write: Write) -> int:
    texts = (value for value in write.fields.values() if isinstance(value, str))
    return _WRITE_BYTES + sum(len(value.encode()) for value in texts)
