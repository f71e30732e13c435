"""Brings a part of a JSON Lines file into the journal: many entities a commit, none twice in one.

Never writes a part of an entity without the rest of it: a part is one transaction.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from daemon.journal.exports.jsonl import ROSTER
from daemon.journal.imports.apply import ImportResult
from daemon.journal.imports.jsonl import Part, Placed
from daemon.journal.imports.jsonl_entity import Whole, items_of
from daemon.journal.imports.jsonl_held import Held
from daemon.journal.imports.jsonl_steps import Base, Step, making, origin
from daemon.journal.imports.plan import Skipped, cut_title
from store.entity import Entity
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto import codec
from syncproto.heads import EMPTY, Clock, Head

# Well below what a commit may hold; what an operation takes beside its values and origin is estimated.
_COMMIT_BYTES = 192 * 1024
_COMMIT_ITEMS = 16 * 1024
_COMMIT_OPERATIONS = 512
_AROUND_BYTES = 400
_AROUND_ITEMS = 48

_REMOVED_HERE = "changed in the file, but removed in Placet: restore it to import it again"
_MEMBERSHIP = "the roster of another journal: devices join by pairing alone"


def look(snapshot: Snapshot, part: Part) -> ImportResult:
    """Say what `take` would do, as far as no part before it would change that."""
    return _planned(snapshot, part)[0]


def take(tx: Transaction, part: Part) -> ImportResult:
    """Write what the journal lacks of a part, each value with who wrote it, when and where."""
    result, jobs = _planned(tx, part)
    for turn in zip_longest(*(job.steps for job in jobs)):
        for batch in _batches(zip(jobs, turn, strict=True)):
            head = tx.commit([job.write(tx, step) for job, step in batch])
            for job, _ in batch:
                job.born = job.born or head
    return result


class _Job:
    """One entity's steps on their way; `born` is the commit that made it."""

    def __init__(self, whole: Whole, steps: list[Step], held: Entity | None) -> None:
        self.whole = whole
        self.steps = steps
        self.born: Head | None = None if held is None or held.created is None else held.created.head
        self._phase = -1
        self._clock: Clock = EMPTY

    def write(self, tx: Transaction, step: Step) -> Write:
        """Make the operation of a step."""
        is_first = self._phase < 0
        if step.phase != self._phase:
            self._phase = step.phase
            held = tx.entity(self.whole.id)
            self._clock = EMPTY if held is None else held.clock
        base = self._clock
        if step.base is not Base.PHASE:
            base = (self.born,) if step.base is Base.BORN and self.born is not None else EMPTY
        return Write(
            self.whole.id,
            self.whole.kind,
            step.fields,
            base=base,
            effect=step.effect,
            by=step.by,
            origin=origin(step, self.whole.seen if is_first else None),
        )


class _Found(NamedTuple):
    """What is to be done about one entity: a job, or a word on why there is none."""

    job: _Job | None
    is_new: bool
    skipped: str | None


def _planned(snapshot: Snapshot, part: Part) -> tuple[ImportResult, list[_Job]]:
    result, jobs = ImportResult(), []
    for placed in part:
        found = _one(snapshot, placed.whole)
        result += _counted(placed, found)
        if found.job is not None:
            jobs.append(found.job)
    return result, jobs


def _one(snapshot: Snapshot, whole: Whole) -> _Found:
    if whole.kind == ROSTER:
        return _Found(None, False, _MEMBERSHIP)
    entity = snapshot.entity(whole.id)
    if entity is None:
        return _Found(_Job(whole, making(snapshot, whole), None), True, None)
    held = Held(snapshot, entity, whole)
    if held.is_known:
        return _Found(None, False, None)
    if held.is_removed_here:
        return _Found(None, False, _REMOVED_HERE)
    if not entity.exists:
        return _Found(_Job(whole, making(snapshot, whole), entity), True, None)
    return _Found(_Job(whole, held.steps(), entity), False, None)


def _counted(placed: Placed, found: _Found) -> ImportResult:
    if found.skipped is not None:
        title = placed.whole.current.get("title") or placed.whole.current.get("name")
        what = cut_title(str(title[0].value)) if title else placed.whole.kind
        return ImportResult(skipped=(Skipped(placed.number, what, found.skipped),))
    if not found.is_new:
        return ImportResult(updated=int(found.job is not None), unchanged=int(found.job is None))
    kind = placed.whole.kind
    return ImportResult(
        tasks=int(kind == "task"),
        entries=int(kind == "entry"),
        checklist_items=int(kind == "checklist_item"),
        others=int(kind not in ("task", "entry", "checklist_item")),
    )


def _batches(turn: Iterator[tuple[_Job, Step | None]]) -> Iterator[list[tuple[_Job, Step]]]:
    """Yield what fits a commit each."""
    batch: list[tuple[_Job, Step]] = []
    size = items = 0
    for job, step in turn:
        if step is None:
            continue
        added = _AROUND_BYTES + len(codec.encode((step.fields, origin(step, job.whole.seen))))
        more = _AROUND_ITEMS + sum(2 + items_of(one.value) for one in step.told)
        is_full = size + added > _COMMIT_BYTES or items + more > _COMMIT_ITEMS
        if batch and (is_full or len(batch) >= _COMMIT_OPERATIONS):
            yield batch
            batch, size, items = [], 0, 0
        batch.append((job, step))
        size, items = size + added, items + more
    if batch:
        yield batch
