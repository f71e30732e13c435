"""Series: what comes again by a rule. Add, edit, skip a day, end, split, remove, restore.

Never makes a task: the tasks of a series follow from it, and are written when somebody touches one.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from daemon.dates.recurrence import AfterDone, Rule, UnreadRule, read_rule, rule_days
from daemon.due_time import hour_without_day
from daemon.journal.fields import validation
from daemon.journal.fields.described_texts import LanguageText, NameText, PriorityText, TitleText
from daemon.journal.fields.provenance import is_set_by_person
from daemon.journal.recurring.families import (
    later_series,
    related_series,
    shown_series,
    visible_series,
)
from daemon.journal.recurring.occurrences import (
    occurrence_id,
    occurrence_on,
    occurrences_of,
    open_touched_tasks,
    split_series_id,
)
from daemon.journal.recurring.series_record import (
    BEGIN_FIELDS,
    KIND,
    SKIPPED,
    STEPS_MAX,
    SeriesRecord,
)
from daemon.journal.recurring.touching import touch_occurrence
from daemon.journal.references import entities, names
from daemon.journal.references.entities import BaseClock
from daemon.journal.references.name_registry import NameRegistry
from daemon.journal.tasks import LABELS_MAX, TypedDay, TypedHour, TypedMinutes, moved_hour
from daemon.journal.views.series_view import Series, present_all, present_series
from daemon.refusal import not_found_refusal, usage_error
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.queries.projections import existing_entities
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text

_ZONE_CHARS_MAX: Final = 64
PAGE_MAX: Final = 500

RuleText = Annotated[
    str,
    Meta(
        max_length=400,
        description="Words such as 'every friday', or a rule of RFC 5545 with FREQ=DAILY to YEARLY;"
        " '3 days after done' counts from the day on which the last one was done.",
    ),
]
LabelNames = Annotated[list[NameText], Meta(max_length=LABELS_MAX)]
Steps = Annotated[list[TitleText], Meta(max_length=STEPS_MAX)]


class NewSeries(Struct, frozen=True, forbid_unknown_fields=True):
    """A series to add: how often it comes, from which day on, and what each of its tasks begins with."""

    title: TitleText
    every: RuleText
    first: TypedDay | None = None
    until: TypedDay | None = None
    due_time: TypedHour | None = None
    priority: PriorityText | None = None
    estimate_minutes: TypedMinutes | None = None
    language: LanguageText | None = None
    labels: LabelNames = []
    category: NameText | None = None
    steps: Steps = []


class SeriesEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a series; what is left out stays, null empties. Tasks that were touched stay."""

    title: TitleText | UnsetType = UNSET
    every: RuleText | UnsetType = UNSET
    first: TypedDay | UnsetType = UNSET
    until: TypedDay | UnsetType | None = UNSET
    due_time: TypedHour | UnsetType | None = UNSET
    priority: PriorityText | UnsetType | None = UNSET
    estimate_minutes: TypedMinutes | UnsetType | None = UNSET
    language: LanguageText | UnsetType | None = UNSET
    labels: LabelNames | UnsetType = UNSET
    category: NameText | UnsetType | None = UNSET
    steps: Steps | UnsetType = UNSET
    base: BaseClock = None


class SeriesSplit(SeriesEdit, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """From which day on a series is another one, and what is changed in that."""

    on: TypedDay


class SeriesDay(Struct, frozen=True, forbid_unknown_fields=True):
    """A day of a series; without one, that of its earliest open task.

    With `through`, it is instead each day up to that one whose task nobody has touched.
    """

    day: TypedDay | None = None
    through: TypedDay | None = None


class SeriesMove(Struct, frozen=True, forbid_unknown_fields=True):
    """The day of a task of a series, and the day on which it is due instead."""

    to: TypedDay
    day: TypedDay | None = None


class SeriesEnd(Struct, frozen=True, forbid_unknown_fields=True):
    """The last day that a series may have; today if none is given."""

    on: TypedDay | None = None


# -- reading ------------------------------------------------------------------------------------------


def list_series(
    snapshot: Snapshot, today: date, *, removed: bool = False, after: str | None = None, limit: int = PAGE_MAX
) -> list[Series]:
    """List a page of the series in sight, or of the removed ones, the oldest first.

    `after` is the id of the last one of the page before.
    """
    begin = None if after is None else entities.find_by_full_id(snapshot, KIND, after).id
    rows = snapshot.states_in_order(KIND, removed=removed, closed=True, after=begin, limit=limit)
    records = related_series(snapshot) if rows else {}
    return present_all(snapshot, [records[name] for name, _state in rows], today)


def show(snapshot: Snapshot, ref: str, today: date) -> Series:
    """Show the series that `ref` names."""
    return present_series(snapshot, find_series(snapshot, ref, removed=True), today)


def find_series(snapshot: Snapshot, ref: str, *, removed: bool = False) -> SeriesRecord:
    """Find a series by the beginning of its id, by its title or a part of that. Raises Refused."""
    full = entities.entity_by_full_id(snapshot, ref)
    if full is not None and full.kind == KIND:
        return shown_series(snapshot, entities.find_entity(snapshot, [KIND], ref, removed=removed))
    key = comparison_key(validation.as_line(ref))
    titled = [(comparison_key(record.entity.text("title")), record) for record in visible_series(snapshot)]
    for matching in (
        [record for title, record in titled if key and title == key],
        [record for title, record in titled if key and key in title],
    ):
        if matching:
            meant = _lasting_ones(snapshot, matching)
            break
    else:
        if entities.is_id_prefix(ref):
            return shown_series(snapshot, entities.find_entity(snapshot, [KIND], ref, removed=removed))
        hint = sentence("series-listed", "`placet series list` shows them all")
        raise not_found_refusal(KIND, ref, hint)
    return shown_series(snapshot, entities.only_of([record.entity for record in meant], KIND, ref))


def _lasting_ones(snapshot: Snapshot, matching: list[SeriesRecord]) -> list[SeriesRecord]:
    """Return of series that were split from one another those that have not ended, else all."""
    now_ms = snapshot.clock_ms()
    if now_ms is None or len({record.root for record in matching}) > 1:
        return matching
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
    return [record for record in matching if record.until >= today] or matching


# -- writing ------------------------------------------------------------------------------------------


def add(tx: Transaction, new: NewSeries, today: date, zone: str) -> Series:
    """Make a series. `every` is the rule as the journal keeps it; `zone` is the name of the person's zone."""
    first = new.first or today.isoformat()
    change = SeriesEdit(
        title=new.title,
        every=new.every,
        first=first,
        until=UNSET if new.until is None else new.until,
        due_time=UNSET if new.due_time is None else new.due_time,
        priority=UNSET if new.priority is None else new.priority,
        estimate_minutes=UNSET if new.estimate_minutes is None else new.estimate_minutes,
        language=UNSET if new.language is None else new.language,
        category=UNSET if new.category is None else new.category,
        steps=new.steps or UNSET,
    )
    labels, categories = NameRegistry(tx, "label"), NameRegistry(tx, "category")
    fields = _fields(change, categories) | {"zone": zone[:_ZONE_CHARS_MAX]}
    fields |= {f"label_ids/{id_to_text(label)}": True for label in labels.ids_to_use(new.labels)}
    _require_order(fields)
    fields["first"] = _aligned_first_day(new.every, date.fromisoformat(str(fields["first"])))
    identifier = tx.new_id()
    tx.commit([*labels.writes, *categories.writes, EntityWrite(identifier, KIND, fields)])
    return _again(tx, identifier, today)


def edit(tx: Transaction, ref: str, change: SeriesEdit, today: date) -> Series:
    """Change a series; tasks that somebody touched stay as they are."""
    record = find_series(tx, ref)
    clock = entities.resolve_base_clock(tx, record.entity, change.base)
    labels, categories = NameRegistry(tx, "label"), NameRegistry(tx, "category")
    fields = _fields(change, categories) | _label_fields(change, record, labels)
    fields |= _first_of_new_rule(record, fields, today)
    if fields.keys() & {"first", "until"}:
        _require_order({name: record.entity.value(name) for name in ("first", "until")} | fields)
    changed = _changed_fields(record.entity, fields)
    writes = [*labels.writes, *categories.writes]
    if changed:
        writes.append(EntityWrite(record.id, KIND, changed, base=clock))
    if writes:
        tx.commit(writes)
    return _again(tx, record.id, today)


def skip(tx: Transaction, ref: str, wanted: SeriesDay, today: date) -> Series:
    """Leave a day of a series out; a task of it that somebody touched is taken out of sight."""
    record = find_series(tx, ref)
    if wanted.through is not None and isinstance(record.rule, Rule):
        last = validation.checked_due_day(wanted.through)
        days = [task.token for task in occurrences_of(tx, record, today) if task.due <= last]
        if days:
            tx.commit([EntityWrite(record.id, KIND, {f"{SKIPPED}/{day}": True for day in days})])
        return _again(tx, record.id, today)
    task = _task_of(tx, record, wanted.day, today)
    if task is not None:
        tx.commit([EntityWrite(task.id, "task", {DELETED: True})])
    elif isinstance(record.rule, AfterDone):
        _skip_after_done(tx, record, today)
    else:
        day = wanted.day or _earliest_day(tx, record, today)
        _require_day(record, day)
        tx.commit([EntityWrite(record.id, KIND, {f"{SKIPPED}/{day}": True})])
    return _again(tx, record.id, today)


def move(tx: Transaction, ref: str, wanted: SeriesMove, today: date) -> Series:
    """Let one task of a series be due on another day; the others stay."""
    record = find_series(tx, ref)
    to = validation.checked_due_day(wanted.to)
    task = _task_of(tx, record, wanted.day, today)
    if task is None:
        occurrence = None
        if isinstance(record.rule, AfterDone):
            occurrence = next(iter(occurrences_of(tx, record, today)), None)
        else:
            day = wanted.day or _earliest_day(tx, record, today)
            _require_day(record, day)
            occurrence = occurrence_on(record, day)
        if occurrence is None:
            raise _nothing_open(record)
        if existing_entities(tx, [occurrence.id], "task"):
            # It was removed: nothing brings it back unasked, and this says how.
            entities.find_task(tx, id_to_text(occurrence.id))
            raise _nothing_open(record)
        touch_occurrence(tx, occurrence)
        task = tx.entity(occurrence.id)
    assert task is not None
    tx.commit([EntityWrite(task.id, "task", {"due": to, **moved_hour(task, to)})])
    return _again(tx, record.id, today)


def end(tx: Transaction, ref: str, wanted: SeriesEnd, today: date) -> Series:
    """End a series, and what was split off from it: no task of them comes after a day."""
    record = find_series(tx, ref)
    last = today.isoformat() if wanted.on is None else validation.checked_due_day(wanted.on)
    later = later_series(tx, record)
    ended = [kin for kin in (record, *later) if not later or date.fromisoformat(last) < kin.until]
    changed = {kin.id: _changed_fields(kin.entity, {"until": last}) for kin in ended}
    if writes := [EntityWrite(name, KIND, fields) for name, fields in changed.items() if fields]:
        tx.commit(writes)
    return _again(tx, record.id, today)


def split(tx: Transaction, ref: str, wanted: SeriesSplit, today: date) -> Series:
    """Make another series of what comes from a day on; two devices that do so while apart make one.

    The ids of its tasks follow from the first series, so no day has two.
    """
    record = find_series(tx, ref)
    day = validation.checked_due_day(wanted.on)
    if date.fromisoformat(day) <= record.first:
        raise usage_error(
            sentence("split-too-early", "the series begins on {day}", day=record.first.isoformat()),
            sentence("edit-instead", "change the whole of it: `placet series edit`"),
        )
    labels, categories = NameRegistry(tx, "label"), NameRegistry(tx, "category")
    identifier = split_series_id(record.id, day)
    fields = _copied_fields(record) | _days_from(record, date.fromisoformat(day), wanted)
    fields |= _fields(wanted, categories) | _label_fields(wanted, record, labels)
    fields |= {"root_id": record.root, "follows_id": record.id, "split_on": day}
    fields |= {DELETED: False} if tx.entity(identifier) is not None else {}
    _require_order(fields)
    last = (date.fromisoformat(day) - timedelta(1)).isoformat()
    given: dict[str, Value] = {name: value for name, value in fields.items() if value is not None}
    tx.commit(
        [
            *labels.writes,
            *categories.writes,
            EntityWrite(record.id, KIND, {"until": last}),
            EntityWrite(identifier, KIND, given),
        ]
    )
    return _again(tx, identifier, today)


def remove(tx: Transaction, ref: str) -> str:
    """Take a series out of sight, and return its id.

    What was touched of it stays, and what was only computed shows no more.
    """
    record = find_series(tx, ref, removed=True)
    if record.entity.visible:
        tx.commit([EntityWrite(record.id, KIND, {DELETED: True})])
    return id_to_text(record.id)


def restore(tx: Transaction, ref: str) -> str:
    """Bring a removed series back, and return its id."""
    record = find_series(tx, ref, removed=True)
    if not is_set_by_person(record.entity, DELETED, False):
        tx.commit([EntityWrite(record.id, KIND, {DELETED: False})])
    return id_to_text(record.id)


# -- days ---------------------------------------------------------------------------------------------


def _task_of(tx: Transaction, record: SeriesRecord, day: str | None, today: date) -> Entity | None:
    """Return the touched task that is meant: that of a day, or the earliest open one if that comes first."""
    if day is not None:
        entity = tx.entity(occurrence_id(record.root, validation.checked_due_day(day)))
        return entity if entity is not None and entity.visible else None
    if isinstance(record.rule, AfterDone) and not occurrences_of(tx, record, today):
        number = 1
        while (later := tx.entity(occurrence_id(record.root, str(number + 1)))) is not None and later.exists:
            number += 1
        entity = tx.entity(occurrence_id(record.root, str(number)))
        is_open = entity is not None and entity.visible and entity.text("status") not in validation.CLOSED
        return entity if is_open else None
    if isinstance(record.rule, Rule):
        family = [
            kin for kin in related_series(tx).values() if kin.root == record.root and kin.entity.visible
        ]
        touched = next(iter(open_touched_tasks(tx, family, today)), None)
        untouched = next(iter(occurrences_of(tx, record, today)), None)
        if touched is not None and (untouched is None or touched.text("due") < untouched.due):
            return touched
    return None


def _skip_after_done(tx: Transaction, record: SeriesRecord, today: date) -> None:
    for occurrence in occurrences_of(tx, record, today):
        touch_occurrence(tx, occurrence)
        tx.commit([EntityWrite(occurrence.id, "task", {DELETED: True})])
        return
    raise _nothing_open(record)


def _earliest_day(tx: Transaction, record: SeriesRecord, today: date) -> str:
    for occurrence in occurrences_of(tx, record, today):
        return occurrence.token
    raise _nothing_open(record)


def _nothing_open(record: SeriesRecord) -> Exception:
    return usage_error(
        sentence("series-has-none", "no task of {title!r} is to come", title=names.shown_name(record.entity)),
        sentence("series-shown", "`placet series show` shows its days"),
    )


def _require_day(record: SeriesRecord, text: str) -> None:
    day = date.fromisoformat(validation.checked_due_day(text))
    is_day = isinstance(record.rule, Rule) and any(rule_days(record.rule, record.first, day, day))
    if not is_day or day > record.until:
        raise usage_error(
            sentence("no-day-of-series", "{day} is no day of this series", day=text),
            sentence("series-shown", "`placet series show` shows its days"),
        )


def _first_of_new_rule(record: SeriesRecord, fields: dict[str, Value], today: date) -> dict[str, Value]:
    """Return the first day from today on of a rule that is another now: no past day of it is to be done."""
    rule = read_rule(str(fields["rule"])) if fields.get("rule", record.text) != record.text else None
    is_past = record.first < today <= record.until
    if not isinstance(rule, Rule) or "first" in fields or not is_past:
        return {}
    steady = rule._replace(interval=1, times=0)
    return {"first": next(rule_days(steady, record.first, today, date.max), today).isoformat()}


def _days_from(record: SeriesRecord, day: date, wanted: SeriesSplit) -> dict[str, Value]:
    """Return the first day and the rule of what comes from a day on: in step with what came before."""
    if wanted.every is not UNSET:
        return {"first": _aligned_first_day(wanted.every, day)}
    if not isinstance(record.rule, Rule):
        return {"first": day.isoformat()}
    first = next(rule_days(record.rule, record.first, day, record.until), day)
    if not record.rule.times:
        return {"first": first.isoformat()}
    before = sum(1 for _day in rule_days(record.rule, record.first, record.first, day - timedelta(1)))
    if before >= record.rule.times:
        raise _nothing_open(record)
    left = record.rule._replace(times=record.rule.times - before)
    return {"first": first.isoformat(), "rule": left.text()}


def _aligned_first_day(text: str, day: date) -> str:
    """Return the day from which a rule counts: "every 2 weeks on friday" begins with the next Friday."""
    rule = read_rule(text)
    if isinstance(rule, Rule) and rule.interval > 1:
        day = next(rule_days(rule._replace(interval=1, times=0), day, day, date.max), day)
    return day.isoformat()


# -- fields -------------------------------------------------------------------------------------------


def _copied_fields(record: SeriesRecord) -> dict[str, Value]:
    entity = record.entity
    copied = ("rule", "first", "until", "zone", *BEGIN_FIELDS)
    fields: dict[str, Value] = {name: entity.value(name) for name in copied if entity.value(name) is not None}
    if record.steps:
        fields["steps"] = list(record.steps)
    return fields | {f"label_ids/{label}": True for label in entity.members("label_ids")}


def _fields(change: SeriesEdit, categories: NameRegistry) -> dict[str, Value]:
    checks: dict[str, Callable[[Any], Value]] = {
        "title": validation.checked_title,
        "first": validation.checked_due_day,
        "until": validation.checked_due_day,
        "due_time": lambda text: hour_without_day(validation.checked_due_time(text)),
        "priority": validation.checked_priority,
        "estimate_minutes": validation.checked_estimate,
        "language": validation.checked_language,
    }
    fields: dict[str, Value] = {}
    for name, check in checks.items():
        value = getattr(change, name)
        if value is not UNSET:
            fields[name] = None if value is None else check(value)
    if change.every is not UNSET:
        fields["rule"] = _checked_rule(change.every)
    if change.category is not UNSET:
        fields["category_id"] = None if change.category is None else categories.id_to_use(change.category)
    if change.steps is not UNSET:
        fields["steps"] = [validation.checked_title(step) for step in change.steps]
    return fields


def _checked_rule(text: str) -> str:
    try:
        return read_rule(text).text()
    except UnreadRule:
        raise usage_error(sentence("not-a-rule", "{text!r} is no rule of days", text=text[:80])) from None


def _label_fields(change: SeriesEdit, record: SeriesRecord, labels: NameRegistry) -> dict[str, Value]:
    if change.labels is UNSET:
        return {}
    now = set(record.entity.members("label_ids"))
    wanted = {id_to_text(label) for label in labels.ids_to_use(change.labels)}
    return {f"label_ids/{label}": label in wanted for label in sorted(now ^ wanted)}


def _require_order(fields: dict[str, Value]) -> None:
    first, until = fields.get("first"), fields.get("until")
    if isinstance(first, str) and isinstance(until, str) and until < first:
        raise usage_error(
            sentence("series-ends-first", "it would end on {until}, before its first day", until=until),
            sentence("series-first-day", "its first day is {first}", first=first),
        )


def _changed_fields(entity: Entity, fields: dict[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in fields.items() if not is_set_by_person(entity, name, value)}


def _again(tx: Transaction, identifier: EntityId, today: date) -> Series:
    entity = tx.entity(identifier)
    assert entity is not None
    return present_series(tx, shown_series(tx, entity), today)
