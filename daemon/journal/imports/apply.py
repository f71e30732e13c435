"""Brings a plan into the journal: one commit a task, and nothing at all for what is there already.

Never writes any part of a plan that has faults, and never holds the one writer for the whole of a large one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from daemon.journal.errors import Code, Detail, Refused
from daemon.journal.imports.drafts import Draft, Drafter, task_id
from daemon.journal.imports.memory import origin
from daemon.journal.imports.plan import Plan, PlannedTask, Skipped
from daemon.journal.imports.recognise import recognised
from store.fold import DELETED
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.ids import EntityId

# Well below what a commit may hold, in bytes and operations: what a write takes beside its text is estimated.
_COMMIT_BYTES_MAX = 192 * 1024
_WRITE_BYTES = 300

_REMOVED_HERE = "changed in the file, but removed in Placet: restore it to import it again"


PART_ELEMENTS = 300
"""How much one transaction takes, in tasks, lines, notes and links: well below a second of writing."""

Part = Sequence[PlannedTask]


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did, or with `dry_run` would do.

    `tasks`, `entries`, `checklist_items` and `others` count what is new. Of the tasks that were there,
    `updated` counts those that got something new and `unchanged` the others. (A file of JSON lines names each
    thing by itself: there all count alike.)
    """

    tasks: int = 0
    entries: int = 0
    checklist_items: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: tuple[Skipped, ...] = ()
    others: int = 0

    def __add__(self, other: ImportResult) -> ImportResult:
        return ImportResult(
            self.tasks + other.tasks,
            self.entries + other.entries,
            self.checklist_items + other.checklist_items,
            self.updated + other.updated,
            self.unchanged + other.unchanged,
            self.skipped + other.skipped,
            self.others + other.others,
        )


class Work:
    """A whole plan, cut into parts of whole tasks that are brought in one after the other.

    Each part compares itself with the journal as it is when its turn comes. Ids are derived from the file,
    so a second go after an end half-way takes only what is missing. Raises Refused with every fault of the
    plan where it has any. Slow for a large plan: make it outside of a transaction.
    """

    def __init__(self, plan: Plan, ids: Mapping[str, EntityId] = MappingProxyType({})) -> None:
        if plan.faults:
            raise _unreadable(plan)
        self._plan = plan
        self._format = plan.format
        self._ids = {task.key: task_id(plan.format, task) for task in plan.tasks} | dict(ids)
        self.tasks = len(plan.tasks)
        self.parts = list(_parts(plan.tasks))
        self.nothing_yet = ImportResult(skipped=plan.skipped)

    def known(self, snapshot: Snapshot) -> Work:
        """Return the work that is left where tasks of the file are known by more than their ids."""
        return Work(*recognised(snapshot, self._plan))

    def look(self, snapshot: Snapshot, part: Part) -> ImportResult:
        """Say what `take` would do, as far as no part before it would change that."""
        return self._drafted(snapshot, part)[0]

    def take(self, tx: Transaction, part: Part) -> ImportResult:
        """Write what the journal lacks of a part, as the person's own, with where it came from as origin."""
        result, names, drafts = self._drafted(tx, part)
        _write(tx, self._format, names, drafts)
        return result

    def _drafted(self, snapshot: Snapshot, part: Part) -> tuple[ImportResult, list[Write], list[Draft]]:
        drafter = Drafter(snapshot, self._format, self._ids)
        drafts = [drafter.draft(task) for task in part]
        skipped = tuple(
            Skipped(task.line, task.title, _REMOVED_HERE)
            for task, draft in zip(part, drafts, strict=True)
            if draft.is_removed_here and not draft.is_empty
        )
        wanted = [draft for draft in drafts if not draft.is_removed_here]
        return _result(drafts, wanted, skipped), drafter.catalogue.writes, wanted


def _unreadable(plan: Plan) -> Refused:
    seen = "a fault" if len(plan.faults) == 1 else f"{len(plan.faults)} faults"
    return Refused(
        Code.FAILED,
        f"nothing was imported: the file has {seen}",
        "mend the file and import it again",
        details=[Detail(fault.line, fault.message) for fault in plan.faults],
    )


def _parts(tasks: Iterable[PlannedTask]) -> Iterator[Part]:
    part: list[PlannedTask] = []
    size = 0
    for task in tasks:
        part.append(task)
        size += 1 + len(task.entries) + len(task.links) + sum(1 + len(one.items) for one in task.checklists)
        if size >= PART_ELEMENTS:
            yield part
            part, size = [], 0
    if part:
        yield part


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
    if draft.ends:
        yield [draft.ends]
    if draft.buries:
        yield [Write(task.entity, task.kind, {DELETED: True}, origin=origin(format_, draft.buried_ms))]


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
