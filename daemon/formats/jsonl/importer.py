"""Brings a part of a JSON Lines file into the journal: many entities a commit, none twice in one.

Never writes a part of an entity without the rest of it: a part is one transaction.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import count
from typing import NamedTuple

from daemon.formats.core.importer import ImportResult
from daemon.formats.core.plan import REMOVED_HERE, describe_skipped
from daemon.formats.jsonl.entity_record import EntityRecord, name_of
from daemon.formats.jsonl.line_schema import ROSTER_KIND
from daemon.formats.jsonl.merge import EntityMerge
from daemon.formats.jsonl.reader import EntityPart, LocatedEntity
from daemon.formats.jsonl.write_steps import BaseScope, Confirmations, WriteStep, creation_steps, step_origin
from daemon.journal.fields.imported_provenance import SEEN_ITEMS
from store.fold.entity import Entity
from store.fold.proposal_index import DECISION, PASSKEY
from store.queries.field_changes import operations_touching_each
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.ids import DeviceId, EntityId
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock

# Well below what a commit may contain: the cost of an operation besides its values and origin is estimated.
_COMMIT_BYTES = 192 * 1024
_COMMIT_ITEMS = 16 * 1024
_COMMIT_OPERATIONS = 512
_AROUND_BYTES = 400
_AROUND_ITEMS = 48

_AGENT_KIND, _AGENT_HOME = "agent", "home_device_id"

_PASSKEY = sentence("import-passkey", "a passkey: it is registered on the page, and never by a file")
_VERDICT = sentence(
    "import-verdict", "a verdict on what needs another device or a passkey: no file can give it"
)
_AGENT = sentence(
    "import-agent", "an agent that works on a device of this journal: no file says what it may do"
)
_MEMBERSHIP = sentence("import-other-roster", "the roster of another journal: devices join by pairing alone")


def preview(snapshot: Snapshot, part: EntityPart) -> ImportResult:
    """Report what `import_part` would do, assuming that no earlier part changes it."""
    return _plan_part(snapshot, part)[0]


def import_part(tx: Transaction, part: EntityPart) -> ImportResult:
    """Write what the journal lacks of a part, each value with its author, time and device."""
    result, jobs = _plan_part(tx, part)
    for turn in count():
        jobs = [job for job in jobs if turn < len(job.steps)]
        if not jobs:
            break
        for batch in _batches((job, job.steps[turn]) for job in jobs):
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

    @property
    def _is_first(self) -> bool:
        return self._phase < 0

    def size_of(self, step: WriteStep) -> tuple[int, int]:
        """Return what the next step takes in a commit, in bytes and items."""
        size = _AROUND_BYTES + step.size
        items = _AROUND_ITEMS + sum(2 + recorded_value.items for recorded_value in step.values)
        if self._is_first:
            size, items = size + self.whole.seen_bytes, items + SEEN_ITEMS * len(self.whole.seen)
        return size, items

    def write(self, tx: Transaction, step: WriteStep) -> EntityWrite:
        """Make the operation of a step."""
        is_first = self._is_first
        if step.phase != self._phase:
            self._phase = step.phase
            self._clock = tx.clock_of(self.whole.id)
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
    result, jobs, confirmations = ImportResult(), [], Confirmations(snapshot)
    merges = _merges(snapshot, part, confirmations)
    for placed in part:
        comparison = _compare_with_journal(placed.whole, merges.get(placed.whole.id), confirmations)
        if comparison.is_new and _is_verdict_of_devices(snapshot, placed.whole):
            comparison = _Comparison(None, False, _VERDICT)
        if comparison.job is not None and _is_agent_of_devices(snapshot, placed.whole):
            comparison = _Comparison(None, False, _AGENT)
        result += _count(placed, comparison)
        if comparison.job is not None:
            jobs.append(comparison.job)
    return result, jobs


def _merges(
    snapshot: Snapshot, part: EntityPart, confirmations: Confirmations
) -> dict[EntityId, EntityMerge]:
    """Return the entities of a part that the journal has, compared with what the file says of them."""
    merges: dict[EntityId, EntityMerge] = {}
    for placed in part:
        entity = snapshot.entity(placed.whole.id)
        if entity is not None and placed.whole.kind != ROSTER_KIND:
            merges[entity.id] = EntityMerge(entity, placed.whole, confirmations)
    # One commit of an import wrote many of them: it is read once for all.
    unknown = [identifier for identifier, merge in merges.items() if not merge.is_known]
    for identifier, history in operations_touching_each(snapshot, unknown):
        merges[identifier].read_history(history)
    return merges


def _compare_with_journal(
    entity_record: EntityRecord, merge: EntityMerge | None, confirmations: Confirmations
) -> _Comparison:
    if entity_record.kind == ROSTER_KIND:
        return _Comparison(None, False, _MEMBERSHIP)
    if entity_record.kind == PASSKEY and (merge is None or not merge.is_known):
        return _Comparison(None, False, _PASSKEY)
    if merge is not None and merge.is_known:
        return _Comparison(None, False, None)
    if merge is not None and merge.is_removed_here:
        return _Comparison(None, False, REMOVED_HERE)
    entity = None if merge is None else merge.entity
    if merge is None or not merge.entity.exists:
        return _Comparison(
            _Job(entity_record, creation_steps(confirmations, entity_record), entity), True, None
        )
    return _Comparison(_Job(entity_record, merge.steps(), entity), False, None)


def _is_verdict_of_devices(snapshot: Snapshot, entity_record: EntityRecord) -> bool:
    """Report whether this is a decision on what needs more than a word, for a device of this journal.

    Signed here, it would count as one that a person gave on this device. For a device of another journal it
    is history: what it confirmed has its effect.
    """
    values = entity_record.current.get("item_id", ()) if entity_record.kind == DECISION else ()
    items = (recorded_value.value for recorded_value in values)
    needed = (snapshot.requirement_of(EntityId(item)) for item in items if isinstance(item, bytes))
    return _has_written(snapshot, {requirement.home for requirement in needed if requirement is not None})


def _is_agent_of_devices(snapshot: Snapshot, entity_record: EntityRecord) -> bool:
    """Report whether this is an agent whose home, here or in the file, is a device of this journal.

    Signed here, what it may do would be what a person said on this device, and could be looser than before.
    """
    entity = snapshot.entity(entity_record.id)
    if _AGENT_KIND not in (entity_record.kind, None if entity is None else entity.kind):
        return False
    values = [recorded_value.value for recorded_value in entity_record.current.get(_AGENT_HOME, ())]
    values += [version.value for version in ([] if entity is None else entity.versions(_AGENT_HOME))]
    return _has_written(snapshot, {DeviceId(value) for value in values if isinstance(value, bytes)})


def _has_written(snapshot: Snapshot, devices: Collection[DeviceId]) -> bool:
    """Report whether one of some devices has written to this journal."""
    return bool(devices) and any(snapshot.device_of(head.replica) in devices for head in snapshot.vector())


def _count(placed: LocatedEntity, comparison: _Comparison) -> ImportResult:
    if comparison.skipped is not None:
        skipped = describe_skipped(placed.number, name_of(placed.whole), comparison.skipped)
        return ImportResult(skipped=(skipped,))
    if not comparison.is_new:
        return ImportResult(updated=int(comparison.job is not None), unchanged=int(comparison.job is None))
    kind = placed.whole.kind
    return ImportResult(
        tasks=int(kind == "task"),
        entries=int(kind == "entry"),
        checklist_items=int(kind == "checklist_item"),
        others=int(kind not in ("task", "entry", "checklist_item")),
    )


def _batches(turn: Iterable[tuple[_Job, WriteStep]]) -> Iterator[list[tuple[_Job, WriteStep]]]:
    """Yield what fits a commit each."""
    batch: list[tuple[_Job, WriteStep]] = []
    size = items = 0
    for job, step in turn:
        added, more = job.size_of(step)
        is_full = size + added > _COMMIT_BYTES or items + more > _COMMIT_ITEMS
        if batch and (is_full or len(batch) >= _COMMIT_OPERATIONS):
            yield batch
            batch, size, items = [], 0, 0
        batch.append((job, step))
        size, items = size + added, items + more
    if batch:
        yield batch
