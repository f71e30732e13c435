"""Time records: start, stop, edit, remove, restore; at most one runs on a device.

A record is running (it has no end), ended, or removed; what is removed has ended too, so that bringing it
back does not make a second one run. It runs on the device that made it, which is read from its creation: a
restored backup goes on as a new replica of the same device, and keeps its timer. The timer of a device that
is gone runs until it is stopped by its id, on any device; two that stop it while apart leave two ends, of
which the later word counts and the other is shown as its conflict. Records of several devices may overlap:
what they cover together is counted once.

Never stops a timer before it began: a clock that was a little off makes it a record of no length, one that
was far off is refused with both times named.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from daemon.journal import refs, values
from daemon.journal.checklists import touch
from daemon.journal.errors import Code, Refused, usage
from daemon.journal.provenance import iso
from daemon.journal.show import Shown
from daemon.journal.spans import moment_ms
from daemon.journal.tasks import Base, stands
from daemon.journal.typed import Typed
from daemon.journal.views import TimeRecord
from store import glance
from store.entity import Entity
from store.fold import DELETED, load
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import EntityId

KIND: Final = "time_record"
SKEW_MS: Final = 5 * 60_000
"""How far two clocks may differ before the difference is told to the person instead of evened out."""

LISTED_MAX: Final = 500
RUNNING_MAX: Final = 1000
"""More running timers than any vault has devices."""

_BOUNDS: Final = ("started_at", "ended_at")


class NewTimer(Struct, frozen=True, forbid_unknown_fields=True):
    """A timer to start, now or at a time that has passed."""

    at: str | None = None
    note: str | None = None


class Stop(Struct, frozen=True, forbid_unknown_fields=True):
    """Which timer to stop: the one that `record` begins the id of, or what runs on this device."""

    record: str | None = None
    at: str | None = None
    note: str | None = None


class TimeEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a record; what is left out stays, a note of null is taken away."""

    task: str | UnsetType = UNSET
    started_at: str | UnsetType = UNSET
    ended_at: str | UnsetType = UNSET
    note: str | UnsetType | None = UNSET
    base: Base = None


class Started(TimeRecord, frozen=True, kw_only=True):
    """The timer that runs now, and what was stopped for it; `already`: it was running."""

    stopped: list[TimeRecord]
    already: bool


# -- reading ------------------------------------------------------------------------------------------


def running(snapshot: Snapshot) -> list[TimeRecord]:
    """List the timers that run: this device's first, then those of others, the oldest first."""
    return sorted(_shown(snapshot, _running(snapshot)), key=lambda one: (not one.is_here, one.started_at))


def records(
    snapshot: Snapshot, ref: str | None, *, removed: bool, limit: int, after: str | None = None
) -> list[TimeRecord]:
    """List the newest records, of a task or of all; `removed` lists those out of sight instead.

    `after` is the id of the last one of the page before.
    """
    task = None if ref is None else refs.task(snapshot, ref).id
    begun = sorted(_begun(snapshot, task, removed=removed), reverse=True)
    if after is not None:
        last = refs.full(snapshot, KIND, after)
        begun = [one for one in begun if one < (last.text("started_at"), last.id)]
    held = (snapshot.entity(one) for _, one in begun[:limit])
    return _shown(snapshot, [one for one in held if one is not None])


def _begun(snapshot: Snapshot, task: EntityId | None, *, removed: bool) -> Iterator[tuple[str, EntityId]]:
    """Yield the records of a task, or all, each after its beginning, which is what they are ordered by."""
    if task is None:
        rows = snapshot.in_order(KIND, removed=removed, closed=True, after=None, limit=-1)
        for name, state in rows:
            started = glance.values(state).get("started_at")
            yield (started if isinstance(started, str) else ""), name
        return
    for one in map(snapshot.entity, snapshot.referring(task, "task_time", removed=removed)):
        if one is not None and one.exists and one.visible is not removed:
            yield one.text("started_at"), one.id


def _running(snapshot: Snapshot) -> list[Entity]:
    rows = snapshot.in_order(KIND, removed=False, closed=False, after=None, limit=RUNNING_MAX)
    return [Entity(name, load(state), visible=True) for name, state in rows]


def _runs(record: Entity) -> bool:
    return record.visible and not record.text("ended_at")


def _running_here(snapshot: Snapshot) -> list[Entity]:
    """Return what runs on this device: one at most, but where its data folder was copied."""
    devices = Shown(snapshot)
    return [
        one
        for one in _running(snapshot)
        if one.created is not None and devices.device(one.created.head.replica) == snapshot.device
    ]


# -- writing ------------------------------------------------------------------------------------------


def start(tx: Transaction, ref: str, new: NewTimer, typed: Typed) -> Started:
    """Start a timer on a task; the one that runs on this device is stopped when this one begins."""
    task = refs.task(tx, ref)
    here = _running_here(tx)
    if new == NewTimer() and len(here) == 1 and here[0].value("task_id") == task.id:
        return _started(tx, here[0].id, [], already=True)
    at_ms = _past(tx, new.at, typed)
    stops = [Write(one.id, KIND, {"ended_at": iso(_end_ms(tx, one, at_ms, new.at))}) for one in here]
    record = tx.new_id()
    fields: dict[str, Value] = {"task_id": task.id, "started_at": iso(at_ms)}
    if (note := values.remark(new.note)) is not None:
        fields["note"] = note
    tx.commit([*stops, Write(record, KIND, fields), *_touches(tx, here, task)])
    return _started(tx, record, [one.id for one in here], already=False)


def stop(tx: Transaction, asked: Stop, typed: Typed) -> list[TimeRecord]:
    """Stop what runs on this device, or one record by its id; nothing to stop is no fault."""
    if asked.record is None:
        found = _running_here(tx)
    else:
        record = refs.entity(tx, [KIND], asked.record, what="time record")
        found = [record] if _runs(record) else []
        if not found and (asked.at is not None or asked.note is not None):
            raise Refused(Code.CONFLICT, "this record has ended already", "change it with `timer edit`")
        if not found:
            return _shown(tx, [record])
    at_ms = _past(tx, asked.at, typed)
    note = values.remark(asked.note)
    noted: dict[str, Value] = {} if note is None else {"note": note}
    writes = [
        Write(one.id, KIND, {"ended_at": iso(_end_ms(tx, one, at_ms, asked.at)), **noted}) for one in found
    ]
    if writes:
        tx.commit([*writes, *_touches(tx, found)])
    return _again(tx, [one.id for one in found])


def edit(tx: Transaction, ref: str, change: TimeEdit, typed: Typed) -> TimeRecord:
    """Change a record; it may be given an end, but not be made to run again."""
    record = refs.entity(tx, [KIND], ref, what="time record")
    clock = refs.base_shown(tx, record, change.base)
    fields = _fields(tx, change, typed)
    _require_order(record, fields)
    changed = {name: value for name, value in fields.items() if not stands(record, name, value)}
    if changed:
        target = None if change.task is UNSET else refs.task(tx, change.task)
        tx.commit([Write(record.id, KIND, changed, base=clock), *_touches(tx, [record], target)])
    return _again(tx, [record.id])[0]


def remove(tx: Transaction, ref: str) -> TimeRecord:
    """Take a record out of sight; one that runs ends with it."""
    record = refs.entity(tx, [KIND], ref, removed=True, what="time record")
    if record.visible:
        tx.commit([Write(record.id, KIND, {DELETED: True, **_ended_now(tx, record)})])
    return _again(tx, [record.id])[0]


def restore(tx: Transaction, ref: str) -> TimeRecord:
    """Bring a removed record back."""
    record = refs.entity(tx, [KIND], ref, removed=True, what="time record")
    if not stands(record, DELETED, False):
        fields: dict[str, Value] = {DELETED: False, **_ended_now(tx, record)}
        tx.commit([Write(record.id, KIND, fields), *_touches(tx, [record])])
    return _again(tx, [record.id])[0]


# -- times --------------------------------------------------------------------------------------------


def _past(tx: Transaction, words: str | None, typed: Typed) -> int:
    """Return the time that is meant, now where none is given. Refuses one that is to come."""
    now_ms = tx.now_ms()
    if words is None:
        return now_ms
    at_ms = round(typed.moment(words).timestamp() * 1000)
    if at_ms > now_ms + SKEW_MS:
        raise usage(f"{iso(at_ms)} has not come yet: it is {iso(now_ms)} here", "name a time that has passed")
    return at_ms


def _end_ms(tx: Transaction, record: Entity, at_ms: int, given: str | None) -> int:
    """Return when a timer ends that is stopped at `at_ms`: never before it began."""
    began_ms = moment_ms(record.text("started_at"))
    if began_ms is None or at_ms >= began_ms:
        return at_ms
    if given is None and began_ms - at_ms <= SKEW_MS:
        return began_ms
    title = _title(tx, record)
    short = refs.candidate(record).id[:8]
    raise Refused(
        Code.CONFLICT,
        f"the timer on {title!r} began at {iso(began_ms)}, after {iso(at_ms)}",
        f"mend it: `timer edit {short} --start TIME`, `timer stop {short} --at TIME`, or remove it",
    )


def _ended_now(tx: Transaction, record: Entity) -> dict[str, Value]:
    """Return the end that a record without one is given when it goes out of sight, or comes back."""
    if record.text("ended_at"):
        return {}
    return {"ended_at": iso(max(tx.now_ms(), moment_ms(record.text("started_at")) or 0))}


def _require_order(record: Entity, fields: dict[str, Value]) -> None:
    if fields.keys().isdisjoint(_BOUNDS):
        return
    began_ms, ended_ms = (moment_ms(fields.get(name, record.text(name))) for name in _BOUNDS)
    if began_ms is not None and ended_ms is not None and ended_ms < began_ms:
        raise usage(f"{iso(ended_ms)} is before {iso(began_ms)}", "a record ends after it begins")


def _fields(tx: Transaction, change: TimeEdit, typed: Typed) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if change.task is not UNSET:
        fields["task_id"] = refs.task(tx, change.task).id
    if change.started_at is not UNSET:
        fields["started_at"] = iso(_past(tx, change.started_at, typed))
    if change.ended_at is not UNSET:
        fields["ended_at"] = iso(_past(tx, change.ended_at, typed))
    if change.note is not UNSET:
        fields["note"] = values.remark(change.note)
    return fields


# -- what belongs to a record -------------------------------------------------------------------------


def _task(snapshot: Snapshot, record: Entity) -> Entity | None:
    target = record.value("task_id")
    return snapshot.entity(EntityId(target)) if isinstance(target, bytes) else None


def _title(snapshot: Snapshot, record: Entity) -> str:
    task = _task(snapshot, record)
    return "" if task is None else task.text("title")


def _touches(tx: Transaction, records: Iterable[Entity], *others: Entity | None) -> list[Write]:
    """Return the empty operations on the tasks in sight: a removed one is not brought back by its timer."""
    tasks = [*(_task(tx, one) for one in records), *others]
    return [touch(one) for one in {one.id: one for one in tasks if one and one.visible}.values()]


def _shown(snapshot: Snapshot, held: Sequence[Entity]) -> list[TimeRecord]:
    shown = Shown(snapshot)
    return [shown.time_record(one, _task(snapshot, one)) for one in held]


def _again(tx: Transaction, ids: Iterable[EntityId]) -> list[TimeRecord]:
    held = (tx.entity(one) for one in ids)
    return _shown(tx, [one for one in held if one is not None])


def _started(tx: Transaction, record: EntityId, stopped: Sequence[EntityId], *, already: bool) -> Started:
    (told,) = _again(tx, [record])
    fields = {name: getattr(told, name) for name in told.__struct_fields__}
    return Started(**fields, stopped=_again(tx, stopped), already=already)
