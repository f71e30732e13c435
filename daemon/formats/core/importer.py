"""Brings a plan into the journal: one commit a task, and nothing at all for what is there already.

Never writes any part of a plan that has faults, and never holds the one writer for the whole of a large one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from daemon.formats.core.drafts import FileLabelIds, TaskDraft, TaskDrafter
from daemon.formats.core.import_history import import_origin, imported_task_id
from daemon.formats.core.plan import (
    GONE,
    REMOVED_HERE,
    Faulty,
    Plan,
    PlannedTask,
    Skipped,
    describe_skipped,
)
from daemon.formats.core.task_matching import match_tasks
from daemon.journal.references.name_registry import KnownNames
from daemon.refusal import Detail, RefusalCode, Refused
from store.file.errors import StoreError
from store.fold.entity_state import DELETED
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId

# Well below what a commit may contain, in bytes and operations: a write's cost besides its text is estimated.
_COMMIT_BYTES_MAX = 192 * 1024
_WRITE_BYTES = 300

PART_ELEMENTS = 300
"""The most that one transaction writes, in tasks, lines, notes and links: well below a second."""

PlanPart = Sequence[PlannedTask]


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did, or with `dry_run` would do.

    `tasks`, `entries`, `checklist_items` and `others` count what is new. Of the tasks that were there,
    `updated` counts those that got something new, `removed` those that were removed here and so stay out,
    and `unchanged` the others. (A file of JSON lines names each thing by itself: there all count alike, and
    what was removed counts as unchanged.) `skipped` is what the file says and the journal does not have now;
    `faulty` is left out because it cannot be read, which a person chose to accept. `remarks` say what was
    read otherwise than the file means it. `gone` names what is open here, came from this list, and is in it
    no more, if there is something new beside it: to the file it may be the same.
    """

    tasks: int = 0
    entries: int = 0
    checklist_items: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    others: int = 0
    remarks: tuple[Skipped, ...] = ()
    faulty: tuple[Faulty, ...] = ()
    removed: int = 0
    gone: tuple[Skipped, ...] = ()

    def __add__(self, other: ImportResult) -> ImportResult:
        return ImportResult(
            self.tasks + other.tasks,
            self.entries + other.entries,
            self.checklist_items + other.checklist_items,
            self.updated + other.updated,
            self.unchanged + other.unchanged,
            self.skipped + other.skipped,
            self.others + other.others,
            self.remarks + other.remarks,
            self.faulty + other.faulty,
            self.removed + other.removed,
            self.gone + other.gone,
        )


class PlanImport:
    """A whole plan, cut into parts of whole tasks that are brought in one after the other.

    Each part compares itself with the journal as it is when its turn comes. Ids are derived from the file,
    so a second go after an end half-way takes only what is missing. Raises Refused with every fault of the
    plan if it has any. Slow for a large plan: make it outside of a transaction.
    """

    def __init__(self, plan: Plan, ids: Mapping[str, EntityId] = MappingProxyType({})) -> None:
        if plan.faults:
            raise _unreadable(plan)
        self._plan = plan
        self._format = plan.format
        self._ids = {task.key: imported_task_id(plan.format, task) for task in plan.tasks} | dict(ids)
        self._names = KnownNames()
        self.tasks = len(plan.tasks)
        self.parts = list(_parts(plan.tasks))
        self.empty_result = ImportResult(
            skipped=plan.skipped,
            remarks=plan.remarks,
            faulty=plan.faulty,
            unchanged=plan.unchanged,
            removed=plan.removed,
            gone=plan.gone,
        )

    def with_matched_tasks(self, snapshot: Snapshot) -> PlanImport:
        """Return the work that is left if tasks of the file are known by more than their ids."""
        return PlanImport(*match_tasks(snapshot, self._plan))

    def preview(self, snapshot: Snapshot, part: PlanPart) -> ImportResult:
        """Report what `import_part` would do, assuming that no earlier part changes it."""
        return self._draft_part(snapshot, part)[0]

    def import_part(self, tx: Transaction, part: PlanPart) -> ImportResult:
        """Write what the journal lacks of a part, as the person's own, with its source as origin."""
        result, catalogue, drafts = self._draft_part(tx, part)
        _write(tx, self._format, catalogue.writes, drafts)
        self._names.note_written(catalogue.registries.values(), tx.feed_end())
        return result

    def _draft_part(
        self, snapshot: Snapshot, part: PlanPart
    ) -> tuple[ImportResult, FileLabelIds, list[TaskDraft]]:
        drafter = TaskDrafter(snapshot, self._format, self._ids, self._names)
        drafts = [drafter.draft(task) for task in part]
        left_out = tuple(
            describe_skipped(task.line, task.title, REMOVED_HERE)
            for task, draft in zip(part, drafts, strict=True)
            if draft.is_removed_here and not draft.is_empty
        )
        wanted = [draft for draft in drafts if not draft.is_removed_here]
        removed = sum(
            draft.is_removed_here and draft.is_empty and not task.removed
            for task, draft in zip(part, drafts, strict=True)
        )
        updated = sum(not draft.is_new and _is_seen(snapshot, draft) for draft in wanted)
        gone = tuple(
            describe_skipped(task.line, title, GONE)
            for task, draft in zip(part, drafts, strict=True)
            if not draft.is_removed_here
            for title in draft.gone
        )
        result = replace(_result(drafts, wanted, left_out, removed, updated), gone=gone)
        return result, drafter.catalogue, wanted


class FaultyFile(Refused):
    """A file that is refused for its faults; `has_more` if it has something without any."""

    def __init__(self, details: Sequence[Detail], hint: Sentence, *, has_more: bool) -> None:
        super().__init__(RefusalCode.FAILED, file_has_faults(len(details)), hint, details=details)
        self.has_more = has_more


def _unreadable(plan: Plan) -> FaultyFile:
    details = [Detail(fault.line, fault.words) for fault in plan.faults]
    if not plan.readable:
        return FaultyFile(
            details, sentence("mend-file", "correct the file and import it again"), has_more=False
        )
    return FaultyFile(
        details,
        sentence(
            "mend-file-or-skip",
            "correct the file and import it again, or import what has no fault with --skip-faulty",
        ),
        has_more=True,
    )


def file_has_faults(count: int) -> Sentence:
    """Say that a file was not imported because of its faults, of which there is one at least."""
    if count == 1:
        return sentence("file-has-a-fault", "nothing was imported: the file has a fault")
    return sentence("file-has-faults", "nothing was imported: the file has {count} faults", count=count)


def import_again(fault: StoreError) -> Sentence:
    """Return what to do after an import that stopped half-way because of a fault of the store."""
    return sentence(
        "import-again", "{hint}; import it again: it goes on from there", hint=fault.hint_sentence
    )


def _parts(tasks: Iterable[PlannedTask]) -> Iterator[PlanPart]:
    part: list[PlannedTask] = []
    size = 0
    for task in tasks:
        part.append(task)
        size += (
            1
            + len(task.entries)
            + len(task.links)
            + sum(1 + len(checklist.items) for checklist in task.checklists)
        )
        if size >= PART_ELEMENTS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _result(
    drafts: Sequence[TaskDraft],
    wanted: Sequence[TaskDraft],
    left_out: tuple[Skipped, ...],
    removed: int,
    updated: int,
) -> ImportResult:
    old = [draft for draft in wanted if not draft.is_new]
    return ImportResult(
        tasks=len(wanted) - len(old),
        entries=sum(draft.made.get("entry", 0) for draft in wanted),
        checklist_items=sum(draft.made.get("checklist_item", 0) for draft in wanted),
        updated=updated,
        unchanged=len(drafts) - len(wanted) - len(left_out) - removed + len(old) - updated,
        skipped=left_out,
        removed=removed,
    )


def _is_seen(snapshot: Snapshot, draft: TaskDraft) -> bool:
    """Say whether a draft changes what people see: what is so already is written only to be remembered."""
    writes = filter(None, [draft.task, *draft.children, draft.closing_write])
    return draft.removes_last or any(
        entity is None or any(entity.value(name) != value for name, value in write.fields.items())
        for write in writes
        for entity in (snapshot.entity(write.entity),)
    )


def _write(tx: Transaction, format_: str, names: Iterable[EntityWrite], drafts: Iterable[TaskDraft]) -> None:
    for batch in _batches(names):
        tx.commit(batch)
    for draft in drafts:
        for commit in _commits(draft, format_):
            tx.commit(commit)


def _commits(draft: TaskDraft, format_: str) -> Iterator[list[EntityWrite]]:
    """Yield a task's commits; each has an operation on the task, empty where only children change."""
    task = draft.task
    if task.fields or draft.children:
        for batch in _batches(draft.children) or [[]]:
            yield [task, *batch]
            task = EntityWrite(task.entity, task.kind, {}, origin=task.origin)
    if draft.closing_write:
        yield [draft.closing_write]
    if draft.removes_last:
        yield [
            EntityWrite(
                task.entity, task.kind, {DELETED: True}, origin=import_origin(format_, draft.removed_ms)
            )
        ]


def _batches(writes: Iterable[EntityWrite]) -> list[list[EntityWrite]]:
    batches: list[list[EntityWrite]] = []
    size = 0
    for write in writes:
        added = _bytes(write)
        if not batches or size + added > _COMMIT_BYTES_MAX:
            batches.append([])
            size = 0
        batches[-1].append(write)
        size += added
    return batches


def _bytes(write: EntityWrite) -> int:
    texts = (value for value in write.fields.values() if isinstance(value, str))
    return _WRITE_BYTES + sum(len(value.encode()) for value in texts)
