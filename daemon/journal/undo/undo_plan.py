"""What the undo of one commit writes, and what of it stays as it is, and why.

Never writes, and never puts a value back over one that somebody wrote since, here or on another device.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from daemon.journal import named_entities
from daemon.journal.conflicts import ancestors
from daemon.journal.fields.schema import FIELDS_BY_KIND
from daemon.journal.fields.time_spans import kept_moment_ms
from daemon.journal.references.entities import as_candidate
from daemon.journal.references.names import LABEL_CATEGORIES, TASK_LABELS
from daemon.journal.references.undo_marks import UNDO, mark_of
from daemon.journal.tasks import touch_task
from daemon.journal.undo.writes_since import Placed, WritesSince
from daemon.journal.views import task_graph
from daemon.journal.views.lookup import NameLookup
from daemon.refusal import Refused
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.queries.field_changes import PreviousValues
from store.queries.tagged_tasks import tasks_tagged
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.codec import Redacted, Value
from syncproto.commit import AuthorKind, Commit, Operation
from syncproto.ids import EntityId, id_from_text
from syncproto.vector_clock import Head, VectorClock, merge_clocks

_POINTERS: Final = ("checklist_id", "task_id", "from_id", "to_id")
_CATEGORY: Final = "category_id"
_SETS: Final = (TASK_LABELS, LABEL_CATEGORIES)
_BOUNDS: Final = ("started_at", "ended_at")
_ONE_WORD: Final = (("status", "reason"), _BOUNDS)
"""What comes back together or not at all, if a change wrote both: half of it would say what nobody did."""
_SIDE_KINDS: Final = ("checklist", "label", "category")
"""What is made on the way to something else: it stays without a word if others use it by now."""
_NAMED: Final = ("label", "category")
_TURNS: Final = {"task": 0, "checklist": 1, "label": 3, "category": 3}
_END: Final = _BOUNDS[1]


class LeftValue(NamedTuple):
    """A value that stays as it is, and why; a whole entity under the name of its deletion."""

    entity: EntityId
    kind: str
    field: str
    why: Sentence


class CommitPlan(NamedTuple):
    """What the undo of a commit writes, at most one write an entity, and what stays as it is."""

    writes: list[EntityWrite]
    left: list[LeftValue]


def is_undoable(commit: Commit, operation: Operation) -> bool:
    """Say whether an operation is a person's edit of something in the journal, and says more than a touch.

    An import is the person's, whoever wrote its values at their origin. A confirmation is no edit.
    """
    is_own = commit.author.by is AuthorKind.USER and operation.effect is None
    return is_own and operation.kind in FIELDS_BY_KIND and bool(operation.fields)


def _turn(operation: Operation) -> tuple[bool, bool, bool, int]:
    """Return the key by which operations take their turn.

    What others rest on comes back first; then what others rest on is unmade, and names last.
    """
    turn = _TURNS.get(operation.kind, 2)
    if operation.deletes:
        return False, False, False, -1 if operation.kind in _NAMED else turn
    return True, operation.kind in _NAMED, not operation.creates, turn


def _tag_of(field: str, value: Value) -> EntityId | None:
    """Return the label or the category that a field with a value gives something, None if it gives none."""
    if field == _CATEGORY:
        return EntityId(value) if isinstance(value, bytes) else None
    name, _, member = field.partition("/")
    if name in _SETS and value is True:
        with suppress(ValueError):
            return id_from_text(member)
    return None


def _tags_written(operation: Operation) -> set[EntityId]:
    """Return the labels and categories that an operation gave something."""
    tags = (_tag_of(field, value) for field, value in operation.fields.items())
    return {tag for tag in tags if tag is not None}


def _stands_alone(entity: Entity, field: str, value: Value) -> bool:
    """Say whether a value is all that stands in a field."""
    versions = entity.versions(field)
    return bool(versions) and all(version.value == value for version in versions)


def _removal_reason(above: Entity) -> Sentence:
    return sentence(
        "above-was-removed",
        "the {kind} {title!r} was removed since; bring it back first",
        kind=above.kind.replace("_", " "),
        title=as_candidate(above).title,
    )


def _leave_halves(fields: dict[str, Value], reasons: dict[str, Sentence]) -> None:
    """Leave what would come back without its other half."""
    for halves in _ONE_WORD:
        whys = [reasons[field] for field in halves if field in reasons]
        for field in fields.keys() & set(halves) if whys else ():
            del fields[field]
            reasons[field] = whys[0]


class UndoPlanner:
    """Works out the undo of commits, one after another, as a snapshot sees the journal.

    `brought_back` is what the whole undo brings back: what belongs to that may come back before it. `undone`
    are the feed positions of what it has dealt with. Both go on growing and shrinking as it works.
    """

    def __init__(
        self, snapshot: Snapshot, brought_back: set[EntityId] | None = None, undone: set[int] | None = None
    ) -> None:
        self._snapshot = snapshot
        self._pasts = PreviousValues(snapshot)
        self._names = NameLookup(snapshot)
        self._since = WritesSince(snapshot, set() if undone is None else undone)
        self._unmade: set[EntityId] = set()
        self._brought_back = set() if brought_back is None else brought_back
        self._freed: set[tuple[EntityId, EntityId]] = set()

    def note_undone(self, seq: int) -> None:
        """Note that a commit was undone as a whole: what it wrote stands in the way of no earlier one."""
        self._since.undone.add(seq)

    def plan(self, change: Placed) -> CommitPlan:
        """Work out the undo of a commit."""
        received = change.received
        own = [
            operation for operation in received.commit.operations if is_undoable(received.commit, operation)
        ]
        own.sort(key=_turn)
        writes, left = dict[EntityId, EntityWrite](), list[LeftValue]()
        for operation in own:
            entity = self._snapshot.entity(operation.entity)
            assert entity is not None
            if operation.creates:
                fields, reasons = self._unmake(change, operation, entity, is_alone=len(own) == 1)
            else:
                fields, reasons = self._put_back(change, operation, entity)
            # A deletion hides only what it has seen, so it rests on all that is held here.
            is_deletion = fields.get(DELETED) is True
            base = None if is_deletion else self._base(received.head, operation, entity, fields)
            left += [LeftValue(entity.id, operation.kind, field, why) for field, why in reasons.items()]
            self._freed |= {(entity.id, value) for value in _tags_written(operation) if fields}
            if operation.deletes and DELETED not in fields:
                self._brought_back.discard(entity.id)
            if fields:
                writes[entity.id] = EntityWrite(entity.id, operation.kind, fields, base=base)
        for touch in self._touch_writes(writes.values()):
            writes.setdefault(touch.entity, touch)
        marks = list(self._marks_turned(change)) if writes or not left else []
        return CommitPlan([*writes.values(), *marks], left)

    def _marks_turned(self, change: Placed) -> Iterator[EntityWrite]:
        """Yield the writes that turn the marks which a commit has set or taken back."""
        for operation in change.received.commit.operations:
            put_back = self._since.put_back(change, operation.entity)
            if operation.kind == UNDO and not put_back:
                yield EntityWrite(operation.entity, UNDO, self._mark_turned(change, operation))

    def _mark_turned(self, change: Placed, operation: Operation) -> dict[str, Value]:
        """Return what turns a mark: out of sight, back, or to what was left before the rest was undone."""
        if not operation.creates and DELETED not in operation.fields:
            changes = self._pasts.changes_of(change.seq, change.received, operation, "left".__eq__)
            left = next((value.before for value in changes), None)
            if type(left) is int:
                return {"left": left}
        return {DELETED: not operation.deletes}

    def _base(
        self, head: Head, operation: Operation, entity: Entity, fields: Mapping[str, Value]
    ) -> VectorClock:
        """Return what covers the change and what it had seen, and of what came since only what is void.

        So a value of a device that was away stands beside what is put back, and is not overwritten unseen.
        """
        void = [version.source.head for field in fields for version in entity.versions(field)]
        return merge_clocks(operation.base, tuple(sorted({head, *void})), self._snapshot.log)

    # -- what a commit made ---------------------------------------------------------------------------

    def _unmake(
        self, change: Placed, operation: Operation, entity: Entity, *, is_alone: bool
    ) -> tuple[dict[str, Value], dict[str, Sentence]]:
        """Return the deletion of what a commit made, or why it stays; nothing if nobody sees it."""
        above = (operation.fields.get(field) for field in _POINTERS)
        if any(value in self._unmade for value in above):
            # It goes out of sight with what it belongs to, and comes back with that.
            self._unmade.add(entity.id)
            return {}, {}
        if not entity.visible:
            return {}, {}
        why = self._why_it_stays(change, entity)
        if why is None:
            self._unmade.add(entity.id)
            return self._deletion(change, entity), {}
        is_side = not is_alone and operation.kind in _SIDE_KINDS
        return {}, {} if is_side else {DELETED: why}

    def _why_it_stays(self, change: Placed, entity: Entity) -> Sentence | None:
        born = entity.created
        if entity.state.creations > 1 or born is None or born.head != change.head:
            return sentence("made-there-too", "another device made it too")
        if entity.kind in _NAMED:
            freed = self._unmade | {task for task, tag in self._freed if tag == entity.id}
            # One more than this undo frees: if there are others, one is among them.
            if not freed.issuperset(tasks_tagged(self._snapshot, entity.id, len(freed) + 1)):
                return sentence("tasks-have-it", "other tasks have it by now")
        return self._why_not_deleted(change, entity)

    def _why_not_deleted(self, change: Placed, entity: Entity) -> Sentence | None:
        write = self._since.on_entity(change, entity.id)
        if write is None:
            return None
        return sentence(
            "added-to-since",
            "something was changed in it or added to it since, on {device}; remove it if you do not want it",
            device=self._device(write.head),
        )

    def _deletion(self, change: Placed, entity: Entity) -> dict[str, Value]:
        fields: dict[str, Value] = {DELETED: True}
        # A record that comes back must not make a second one run. Its end follows from the change: two
        # devices that undo it while apart write the same.
        if entity.kind == "time_record" and not entity.text(_END):
            started_ms = kept_moment_ms(entity.text("started_at")) or 0
            fields[_END] = iso_utc(max(change.received.commit.stamp.ms, started_ms))
        return fields

    # -- what a commit changed ------------------------------------------------------------------------

    def _put_back(
        self, change: Placed, operation: Operation, entity: Entity
    ) -> tuple[dict[str, Value], dict[str, Sentence]]:
        """Return what stood before, without what stands anyway, and why some of it does not come back."""
        fields, reasons = dict[str, Value](), dict[str, Sentence]()
        is_rest = mark_of(self._snapshot, change.head) is not None
        put_back = self._since.put_back(change, entity.id) if is_rest else frozenset[str]()
        for value in self._pasts.changes_of(change.seq, change.received, operation):
            field, before = value.field, value.before
            if before is None and type(value.after) is bool:
                before = False
            if before == value.after and type(before) is type(value.after):
                continue
            if is_rest and (field in put_back or _stands_alone(entity, field, before)):
                continue
            why = self._why_left(change, operation.base, entity, field, before)
            if why is None:
                fields[field] = before
            else:
                reasons[field] = why
        _leave_halves(fields, reasons)
        if not fields:
            return {}, reasons
        if fields.get(DELETED) is True:
            self._unmade.add(entity.id)
            return self._deletion(change, entity), reasons
        if operation.deletes:
            # The end that a running record was given when it was removed stays: it does not run again.
            fields.pop(_END, None)
        reasons |= self._reasons_of_fields(entity, fields)
        fields = {field: value for field, value in fields.items() if field not in reasons}
        why = self._why_not_here(entity, fields) if fields else None
        return (fields, reasons) if why is None else ({}, reasons | dict.fromkeys(fields, why))

    def _reasons_of_fields(self, entity: Entity, fields: Mapping[str, Value]) -> dict[str, Sentence]:
        """Return why some of what stood before cannot stand again, although the rest can."""
        reasons = dict[str, Sentence]()
        for field, value in fields.items():
            tag = _tag_of(field, value)
            target = None if tag is None or tag in self._brought_back else self._snapshot.entity(tag)
            if target is not None and not target.visible:
                reasons[field] = _removal_reason(target)
        if not fields.keys().isdisjoint(_BOUNDS):
            began_ms, ended_ms = (kept_moment_ms(fields.get(name, entity.text(name))) for name in _BOUNDS)
            if began_ms is not None and ended_ms is not None and ended_ms < began_ms:
                why = sentence("would-end-before-start", "it would end before it begins")
                reasons |= {field: why for field in _BOUNDS if field in fields}
        return reasons

    def _why_left(
        self, change: Placed, base: VectorClock, entity: Entity, field: str, before: Value
    ) -> Sentence | None:
        if isinstance(before, Redacted):
            return sentence(
                "earlier-value-dropped", "what stood there before was dropped by a compaction; write it anew"
            )
        write = self._since.on_field(change, base, entity, field)
        if write is not None:
            return sentence(
                "changed-since", "it was changed since, on {device}", device=self._device(write.head)
            )
        if field == DELETED and before is True:
            return self._why_not_deleted(change, entity)
        return None

    def _why_not_here(self, entity: Entity, fields: Mapping[str, Value]) -> Sentence | None:
        """Return why what stood before cannot stand again as things are now, None if it can."""
        for above in self._parents_of(entity, fields):
            if not above.visible and above.id not in self._brought_back:
                return _removal_reason(above)
        if entity.kind in _NAMED and ("name" in fields or DELETED in fields):
            name = fields.get("name", entity.text("name"))
            try:
                named_entities.require_free_name(
                    self._snapshot, entity, name if isinstance(name, str) else ""
                )
            except Refused as refused:
                return refused.sentence
        if entity.kind == "link" and fields.get(DELETED) is False:
            key = task_graph.link_key_of(entity)
            is_blocking = key is not None and key.type == task_graph.BLOCKS
            if (
                key is not None
                and is_blocking
                and task_graph.blocking_path(self._snapshot, key.ends, key.begins)
            ):
                return sentence(
                    "would-close-circle", "it would close a circle of tasks that block each other"
                )
        runs_again = entity.kind == "time_record" and fields.get(_END, "") is None
        if runs_again and not self._may_run(entity):
            return sentence("record-stays-ended", "it cannot run again; start a new timer")
        return None

    def _may_run(self, record: Entity) -> bool:
        """Say whether a record may run again: on the device that made it, if no other one runs there."""
        born = record.created
        if born is None or self._names.device_of_replica(born.head.replica) != self._snapshot.device:
            return False
        rows = self._snapshot.states_in_order(
            "time_record", removed=False, closed=False, after=None, limit=1000
        )
        running = (self._snapshot.entity(name) for name, _ in rows if name not in self._unmade)
        return not any(
            other is not None
            and other.created is not None
            and self._names.device_of_replica(other.created.head.replica) == self._snapshot.device
            for other in running
        )

    # -- what a write rests on ------------------------------------------------------------------------

    def _parents_of(self, entity: Entity, fields: Mapping[str, Value]) -> list[Entity]:
        """Return what an entity belongs to with these values, as far as it is held."""
        above: dict[EntityId, Entity] = {}
        for field in _POINTERS:
            value = fields.get(field, entity.value(field))
            target = self._snapshot.entity(EntityId(value)) if isinstance(value, bytes) else None
            if target is not None:
                above |= {member.id: member for member in (target, *ancestors(self._snapshot, target))}
        return list(above.values())

    def _touch_writes(self, writes: Iterable[EntityWrite]) -> list[EntityWrite]:
        """Return the empty operations on what the values that come back belong to."""
        above: dict[EntityId, Entity] = {}
        for write in writes:
            entity = None if write.fields.get(DELETED) is True else self._snapshot.entity(write.entity)
            if entity is not None:
                above |= {member.id: member for member in self._parents_of(entity, write.fields)}
        return [touch_task(member) for member in above.values() if member.visible]

    def _device(self, head: Head) -> str:
        device = self._names.device_of_replica(head.replica)
        return self._names.device_name(device) or device.hex()[:8]
