"""Brings a part of a JSON Lines file into the journal: many entities a commit, none twice in one.

Never writes a part of an entity without the rest of it: a part is one transaction.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from daemon.formats.core.importer import REMOVED_HERE, ImportResult
from daemon.formats.core.plan import cut_title, describe_skipped
from daemon.formats.jsonl.entity_record import EntityRecord, commit_items_of
from daemon.formats.jsonl.line_schema import ROSTER_KIND
from daemon.formats.jsonl.merge import EntityMerge
from daemon.formats.jsonl.reader import EntityPart, LocatedEntity
from daemon.formats.jsonl.write_steps import BaseScope, WriteStep, creation_steps, step_origin
from store.fold.entity import Entity
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto import codec
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock

# Well below what a commit may contain: the cost of an operation besides its values and origin is estimated.
_COMMIT_BYTES = 192 * 1024
_COMMIT_ITEMS = 16 * 1024
_COMMIT_OPERATIONS = 512
_AROUND_BYTES = 400
_AROUND_ITEMS = 48

_MEMBERSHIP = sentence("import-other-roster", "the roster of another journal: devices join by pairing alone")


def preview(snapshot: Snapshot, part: EntityPart) -> ImportResult:
    """Report what `import_part` would do, assuming that no earlier part changes it."""
    return _plan_part(snapshot, part)[0]


def import_part(tx: Transaction, part: EntityPart) -> ImportResult:
    """Write what the journal lacks of a part, each value with its author, time and device."""
    result, jobs = _plan_part(tx, part)
    for turn in zip_longest(*(job.steps for job in jobs)):
        for batch in _batches(zip(jobs, turn, strict=True)):
            head = tx.commit([job.write(tx, step) for job, step in batch])
            for job, _ in batch:
                job.born = job.born or head
    return result


class _Job:
    """One entity's steps on their way; `born` is the commit that made it."""

    def __init__(self, entity_record: EntityRecord, steps: list[WriteStep], entity: Entity | None) -> None:
        self.whole = entity_record
        self.steps = steps
        self.born: Head | None = None if entity is None or entity.created is None else entity.created.head
        self._phase = -1
        self._clock: VectorClock = EMPTY_CLOCK

    def write(self, tx: Transaction, step: WriteStep) -> EntityWrite:
        """Make the operation of a step."""
        is_first = self._phase < 0
        if step.phase != self._phase:
            self._phase = step.phase
            entity = tx.entity(self.whole.id)
            self._clock = EMPTY_CLOCK if entity is None else entity.clock
        base = self._clock
        if step.base is not BaseScope.PHASE:
            base = (self.born,) if step.base is BaseScope.BORN and self.born is not None else EMPTY_CLOCK
        return EntityWrite(
            self.whole.id,
            self.whole.kind,
            step.fields,
            base=base,
            effect=step.effect,
            by=step.by,
            origin=step_origin(step, self.whole.seen if is_first else None),
        )


class _Comparison(NamedTuple):
    """What is to be done about one entity: a job, or a word on why there is none."""

    job: _Job | None
    is_new: bool
    skipped: Sentence | None


def _plan_part(snapshot: Snapshot, part: EntityPart) -> tuple[ImportResult, list[_Job]]:
    result, jobs = ImportResult(), []
    for placed in part:
        comparison = _compare_with_journal(snapshot, placed.whole)
        result += _count(placed, comparison)
        if comparison.job is not None:
            jobs.append(comparison.job)
    return result, jobs


def _compare_with_journal(snapshot: Snapshot, entity_record: EntityRecord) -> _Comparison:
    if entity_record.kind == ROSTER_KIND:
        return _Comparison(None, False, _MEMBERSHIP)
    entity = snapshot.entity(entity_record.id)
    if entity is None:
        return _Comparison(_Job(entity_record, creation_steps(snapshot, entity_record), None), True, None)
    entity_merge = EntityMerge(snapshot, entity, entity_record)
    if entity_merge.is_known:
        return _Comparison(None, False, None)
    if entity_merge.is_removed_here:
        return _Comparison(None, False, REMOVED_HERE)
    if not entity.exists:
        return _Comparison(_Job(entity_record, creation_steps(snapshot, entity_record), entity), True, None)
    return _Comparison(_Job(entity_record, entity_merge.steps(), entity), False, None)


def _count(placed: LocatedEntity, comparison: _Comparison) -> ImportResult:
    if comparison.skipped is not None:
        title = placed.whole.current.get("title") or placed.whole.current.get("name")
        label = cut_title(str(title[0].value)) if title else placed.whole.kind
        return ImportResult(skipped=(describe_skipped(placed.number, label, comparison.skipped),))
    if not comparison.is_new:
        return ImportResult(updated=int(comparison.job is not None), unchanged=int(comparison.job is None))
    kind = placed.whole.kind
    return ImportResult(
        tasks=int(kind == "task"),
        entries=int(kind == "entry"),
        checklist_items=int(kind == "checklist_item"),
        others=int(kind not in ("task", "entry", "checklist_item")),
    )


def _batches(turn: Iterator[tuple[_Job, WriteStep | None]]) -> Iterator[list[tuple[_Job, WriteStep]]]:
    """Yield what fits a commit each."""
    batch: list[tuple[_Job, WriteStep]] = []
    size = items = 0
    for job, step in turn:
        if step is None:
            continue
        added = _AROUND_BYTES + len(codec.encode((step.fields, step_origin(step, job.whole.seen))))
        more = _AROUND_ITEMS + sum(
            2 + commit_items_of(recorded_value.value) for recorded_value in step.values
        )
        is_full = size + added > _COMMIT_BYTES or items + more > _COMMIT_ITEMS
        if batch and (is_full or len(batch) >= _COMMIT_OPERATIONS):
            yield batch
            batch, size, items = [], 0, 0
        batch.append((job, step))
        size, items = size + added, items + more
    if batch:
        yield batch
