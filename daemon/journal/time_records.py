"""Time records: start, stop, edit, remove, restore; at most one runs on a device.

A record is running (it has no end), ended, or removed; what is removed has ended too, so that bringing it
back does not make a second one run. It runs on the device that made it, which is read from its creation: a
restored backup goes on as a new replica of the same device, and keeps its timer. The timer of a device that
is gone runs until it is stopped by its id, on any device. Two devices that stop it while apart leave two
ends: the later one counts, and the other is shown as its conflict. Records of several devices may overlap:
what they cover together is counted once.

Never stops a timer before it began: a clock that was a little off makes it a record of no length, one that
was far off is refused with both times named.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from daemon.journal.fields import validation
from daemon.journal.fields.provenance import is_set_by_person
from daemon.journal.fields.time_spans import kept_moment_ms
from daemon.journal.human_input import HumanInput
from daemon.journal.references import entities
from daemon.journal.references.entities import BaseClock
from daemon.journal.references.names import shown_name
from daemon.journal.tasks import touch_task
from daemon.journal.views.lookup import NameLookup
from daemon.journal.views.presenter import JournalPresenter
from daemon.journal.views.structures import TimeRecord
from daemon.refusal import RefusalCode, Refused, usage_error
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.fold.entity_state import DELETED, load_state
from store.queries import projections
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId

KIND: Final = "time_record"
SKEW_MS: Final = 5 * 60_000
"""How far two clocks may differ before the person is shown the difference. A smaller one is evened out."""

LISTED_MAX: Final = 500
RUNNING_MAX: Final = 1000
"""More running timers than any vault has devices."""

_BOUNDS: Final = ("started_at", "ended_at")


class NewTimer(Struct, frozen=True, forbid_unknown_fields=True):
    """A timer to start, now or at a time that has passed."""

    at: str | None = None
    note: str | None = None


class Stop(Struct, frozen=True, forbid_unknown_fields=True):
    """Which timer to stop: the one whose id begins with `record`, or all that run on this device."""

    record: str | None = None
    at: str | None = None
    note: str | None = None


class TimeEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a record; what is left out stays. A `note` of null removes the note."""

    task: str | UnsetType = UNSET
    started_at: str | UnsetType = UNSET
    ended_at: str | UnsetType = UNSET
    note: str | UnsetType | None = UNSET
    base: BaseClock = None


class Started(TimeRecord, frozen=True, kw_only=True):
    """The timer that runs now, and what was stopped for it; `already`: it was running."""

    stopped: list[TimeRecord]
    already: bool


# -- reading ------------------------------------------------------------------------------------------


def list_running(snapshot: Snapshot) -> list[TimeRecord]:
    """List the timers that run: this device's first, then those of others, the oldest first."""
    return sorted(
        _present(snapshot, _running_records(snapshot)),
        key=lambda time_record: (not time_record.is_here, time_record.started_at),
    )


def list_records(
    snapshot: Snapshot, ref: str | None, *, removed: bool, limit: int, after: str | None = None
) -> list[TimeRecord]:
    """List the newest records, of a task or of all; `removed` lists those out of sight instead.

    `after` is the id of the last one of the page before.
    """
    task = None if ref is None else entities.find_task(snapshot, ref).id
    starts = sorted(_with_beginnings(snapshot, task, removed=removed), reverse=True)
    if after is not None:
        last = entities.find_by_full_id(snapshot, KIND, after)
        starts = [started for started in starts if started < (last.text("started_at"), last.id)]
    records = (snapshot.entity(identifier) for _, identifier in starts[:limit])
    return _present(snapshot, [record for record in records if record is not None])


def _with_beginnings(
    snapshot: Snapshot, task: EntityId | None, *, removed: bool
) -> Iterator[tuple[str, EntityId]]:
    """Yield the records of a task, or all, each after its beginning, which is what they are ordered by."""
    if task is None:
        rows = snapshot.states_in_order(KIND, removed=removed, closed=True, after=None, limit=-1)
        for name, state in rows:
            started = projections.winning_values(state).get("started_at")
            yield (started if isinstance(started, str) else ""), name
        return
    for entity in map(snapshot.entity, snapshot.ids_pointing_at(task, "task_time", removed=removed)):
        if entity is not None and entity.exists and entity.visible is not removed:
            yield entity.text("started_at"), entity.id


def _running_records(snapshot: Snapshot) -> list[Entity]:
    rows = snapshot.states_in_order(KIND, removed=False, closed=False, after=None, limit=RUNNING_MAX)
    return [Entity(name, load_state(state), visible=True) for name, state in rows]


def _runs(record: Entity) -> bool:
    return record.visible and not record.text("ended_at")


def _running_records_here(snapshot: Snapshot) -> list[Entity]:
    """Return the running records of this device: at most one, unless its data folder was copied."""
    devices = NameLookup(snapshot)
    return [
        entity
        for entity in _running_records(snapshot)
        if entity.created is not None
        and devices.device_of_replica(entity.created.head.replica) == snapshot.device
    ]


# -- writing ------------------------------------------------------------------------------------------


def start(tx: Transaction, ref: str, new: NewTimer, typed: HumanInput) -> Started:
    """Start a timer on a task; the one that runs on this device is stopped when this one begins."""
    task = entities.find_task(tx, ref)
    running_records = _running_records_here(tx)
    if new == NewTimer() and len(running_records) == 1 and running_records[0].value("task_id") == task.id:
        return _started_answer(tx, running_records[0].id, [], already=True)
    at_ms = _past(tx, new.at, typed)
    stops = [
        EntityWrite(running.id, KIND, {"ended_at": iso_utc(_end_ms(tx, running, at_ms, new.at))})
        for running in running_records
    ]
    record = tx.new_id()
    fields: dict[str, Value] = {"task_id": task.id, "started_at": iso_utc(at_ms)}
    if (note := validation.checked_remark(new.note)) is not None:
        fields["note"] = note
    tx.commit([*stops, EntityWrite(record, KIND, fields), *_touches(tx, running_records, task)])
    return _started_answer(tx, record, [running.id for running in running_records], already=False)


def stop(tx: Transaction, request: Stop, typed: HumanInput) -> list[TimeRecord]:
    """Stop what runs on this device, or one record by its id; nothing to stop is no fault."""
    if request.record is None:
        running_records = _running_records_here(tx)
    else:
        record = entities.find_entity(tx, [KIND], request.record, noun="time record")
        running_records = [record] if _runs(record) else []
        if not running_records and (request.at is not None or request.note is not None):
            raise Refused(
                RefusalCode.CONFLICT,
                sentence("record-has-ended", "this record has ended already"),
                sentence("use-timer-edit", "change it with `timer edit`"),
            )
        if not running_records:
            return _present(tx, [record])
    at_ms = _past(tx, request.at, typed)
    note = validation.checked_remark(request.note)
    noted: dict[str, Value] = {} if note is None else {"note": note}
    writes = [
        EntityWrite(running.id, KIND, {"ended_at": iso_utc(_end_ms(tx, running, at_ms, request.at)), **noted})
        for running in running_records
    ]
    if writes:
        tx.commit([*writes, *_touches(tx, running_records)])
    return _present_anew(tx, [running.id for running in running_records])


def edit(tx: Transaction, ref: str, change: TimeEdit, typed: HumanInput) -> TimeRecord:
    """Change a record; it may be given an end, but not be made to run again."""
    record = entities.find_entity(tx, [KIND], ref, noun="time record")
    clock = entities.resolve_base_clock(tx, record, change.base)
    fields = _fields(tx, change, typed)
    _require_order(record, fields)
    changed = {name: value for name, value in fields.items() if not is_set_by_person(record, name, value)}
    if changed:
        target = None if change.task is UNSET else entities.find_task(tx, change.task)
        tx.commit([EntityWrite(record.id, KIND, changed, base=clock), *_touches(tx, [record], target)])
    return _present_anew(tx, [record.id])[0]


def remove(tx: Transaction, ref: str) -> TimeRecord:
    """Take a record out of sight; one that runs ends with it."""
    record = entities.find_entity(tx, [KIND], ref, removed=True, noun="time record")
    if record.visible:
        tx.commit([EntityWrite(record.id, KIND, {DELETED: True, **_end_fields(tx, record)})])
    return _present_anew(tx, [record.id])[0]


def restore(tx: Transaction, ref: str) -> TimeRecord:
    """Bring a removed record back."""
    record = entities.find_entity(tx, [KIND], ref, removed=True, noun="time record")
    if not is_set_by_person(record, DELETED, False):
        fields: dict[str, Value] = {DELETED: False, **_end_fields(tx, record)}
        tx.commit([EntityWrite(record.id, KIND, fields), *_touches(tx, [record])])
    return _present_anew(tx, [record.id])[0]


# -- times --------------------------------------------------------------------------------------------


def _past(tx: Transaction, words: str | None, typed: HumanInput) -> int:
    """Return the time that is meant, now if none is given. Refuses a time in the future."""
    now_ms = tx.now_ms()
    if words is None:
        return now_ms
    at_ms = round(typed.moment(words).timestamp() * 1000)
    if at_ms > now_ms + SKEW_MS:
        raise usage_error(
            sentence(
                "time-not-come",
                "{time} is in the future: it is {now} here",
                time=iso_utc(at_ms),
                now=iso_utc(now_ms),
            ),
            sentence("name-past-time", "name a time in the past"),
        )
    return at_ms


def _end_ms(tx: Transaction, record: Entity, at_ms: int, ended_at: str | None) -> int:
    """Return when a timer ends that is stopped at `at_ms`: never before it began."""
    began_ms = kept_moment_ms(record.text("started_at"))
    if began_ms is None or at_ms >= began_ms:
        return at_ms
    if ended_at is None and began_ms - at_ms <= SKEW_MS:
        return began_ms
    title = _title(tx, record)
    short = entities.as_candidate(record).id[:8]
    raise Refused(
        RefusalCode.CONFLICT,
        sentence(
            "timer-began-after",
            "the timer on {title!r} began at {start}, after {end}",
            title=title,
            start=iso_utc(began_ms),
            end=iso_utc(at_ms),
        ),
        sentence(
            "mend-timer",
            ("correct it: `timer edit {ref} --start TIME`, `timer stop {ref} --at TIME`, or remove it"),
            ref=short,
        ),
    )


def _end_fields(tx: Transaction, record: Entity) -> dict[str, Value]:
    """Return the end that a record without one is given when it goes out of sight, or comes back."""
    if record.text("ended_at"):
        return {}
    return {"ended_at": iso_utc(max(tx.now_ms(), kept_moment_ms(record.text("started_at")) or 0))}


def _require_order(record: Entity, fields: dict[str, Value]) -> None:
    if fields.keys().isdisjoint(_BOUNDS):
        return
    began_ms, ended_ms = (kept_moment_ms(fields.get(name, record.text(name))) for name in _BOUNDS)
    if began_ms is not None and ended_ms is not None and ended_ms < began_ms:
        raise usage_error(
            sentence(
                "end-before-start", "{end} is before {start}", end=iso_utc(ended_ms), start=iso_utc(began_ms)
            ),
            sentence("record-order", "a record ends after it begins"),
        )


def _fields(tx: Transaction, change: TimeEdit, typed: HumanInput) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if change.task is not UNSET:
        fields["task_id"] = entities.find_task(tx, change.task).id
    if change.started_at is not UNSET:
        fields["started_at"] = iso_utc(_past(tx, change.started_at, typed))
    if change.ended_at is not UNSET:
        fields["ended_at"] = iso_utc(_past(tx, change.ended_at, typed))
    if change.note is not UNSET:
        fields["note"] = validation.checked_remark(change.note)
    return fields


# -- what belongs to a record -------------------------------------------------------------------------


def _task(snapshot: Snapshot, record: Entity) -> Entity | None:
    target = record.value("task_id")
    return snapshot.entity(EntityId(target)) if isinstance(target, bytes) else None


def _title(snapshot: Snapshot, record: Entity) -> str:
    task = _task(snapshot, record)
    return "" if task is None else shown_name(task)


def _touches(tx: Transaction, records: Iterable[Entity], *others: Entity | None) -> list[EntityWrite]:
    """Return the empty operations on the tasks in sight: a removed one is not brought back by its timer."""
    tasks = [*(_task(tx, record) for record in records), *others]
    return [
        touch_task(entity) for entity in {task.id: task for task in tasks if task and task.visible}.values()
    ]


def _present(snapshot: Snapshot, records: Sequence[Entity]) -> list[TimeRecord]:
    presenter = JournalPresenter(snapshot)
    return [presenter.time_record(entity, _task(snapshot, entity)) for entity in records]


def _present_anew(tx: Transaction, ids: Iterable[EntityId]) -> list[TimeRecord]:
    records = (tx.entity(identifier) for identifier in ids)
    return _present(tx, [record for record in records if record is not None])


def _started_answer(
    tx: Transaction, record: EntityId, stopped: Sequence[EntityId], *, already: bool
) -> Started:
    (time_record,) = _present_anew(tx, [record])
    fields = {name: getattr(time_record, name) for name in time_record.__struct_fields__}
    return Started(**fields, stopped=_present_anew(tx, stopped), already=already)
