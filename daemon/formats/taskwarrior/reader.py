"""Reads what `task export` prints, one JSON list or one JSON object a line, into a plan.

Never guesses: a record that is not as Taskwarrior writes it is a fault, named with its line.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo
from typing import Any

from msgspec import structs

from daemon.due_time import due_time_on, hour_of_moment
from daemon.formats.core.plan import (
    ImportFault,
    Plan,
    PlannedEntry,
    PlannedLink,
    PlannedTask,
    cut_title,
    fits_title,
    joined_line,
    split_entry,
    text_fault,
    title_line,
    unreadable_plan,
    utc_iso,
    with_faults,
)
from daemon.formats.taskwarrior import kept_attributes, series
from daemon.formats.taskwarrior.custom_attributes import SCHEDULED, CustomAttributes
from daemon.formats.taskwarrior.records import (
    LocatedRecord,
    MalformedRecord,
    TaskwarriorRecord,
    as_json,
    parse_timestamp,
    read_records,
)
from daemon.journal.fields.validation import NAME_CHARS_MAX
from daemon.journal.tasks import LABELS_MAX
from store.sentence import Sentence, sentence

FORMAT = "taskwarrior"

PRIORITIES = {"H": "P1", "M": "P2", "L": "P3"}
_STATUSES = {
    "pending": "OPEN",
    "waiting": "ON HOLD",
    "completed": "DONE",
    "deleted": "OPEN",
    "recurring": "OPEN",
}
_ENDED = frozenset({"completed", "deleted"})
_RECURRING = "recurring"
_UUID_CHARS_MAX = 1000
_DAY_ENDS = "23:59:59"
"""What Taskwarrior writes for the end of a day: that is the day, and no hour."""
_DAY_BEGINS = "00:00:00"


def parse(name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read an export; never raises, what cannot be read is in the plan's faults.

    `zone` is the person's: Taskwarrior writes the day on which a task is due as local midnight, in UTC. Since
    2.6 it writes a task that waits as pending, with a time that is still to come at `now_ms`.
    """
    del name  # tasks have identities of their own, whatever the file is called
    if fault := text_fault(text):
        return unreadable_plan(FORMAT, fault)
    located_records: list[LocatedRecord] = []
    faults: list[ImportFault] = []
    for source in read_records(text):
        located_records.append(source) if isinstance(source, LocatedRecord) else faults.append(source)
    faults += _repeated_uuids(located_records)
    located_records = list({source.key: source for source in reversed(located_records)}.values())[::-1]
    tasks: list[PlannedTask] = []
    present = {source.key for source in located_records}
    occurrences = series.occurrences(located_records)
    for source in located_records:
        try:
            tasks.append(_plan_task(_with_status_at(source, now_ms), present, occurrences, zone))
        except MalformedRecord as error:
            faults.append(source.fault(error.words))
    return with_faults(Plan(FORMAT, tuple(tasks)), faults)


def _repeated_uuids(located_records: list[LocatedRecord]) -> Iterator[ImportFault]:
    first: dict[str, LocatedRecord] = {}
    for source in located_records:
        if source.key in first:
            yield source.fault(_used_twice_sentence(source.key, first[source.key]))
        first.setdefault(source.key, source)


def _used_twice_sentence(key: str, first: LocatedRecord) -> Sentence:
    if first.number:
        return sentence(
            "taskwarrior-uuid-repeated-in-record",
            "uuid {uuid!r} is used a second time, first in record {number}",
            uuid=key[:40],
            number=first.number,
        )
    return sentence(
        "taskwarrior-uuid-repeated",
        "uuid {uuid!r} is used a second time, first on line {line}",
        uuid=key[:40],
        line=first.line,
    )


def _with_status_at(source: LocatedRecord, now_ms: int | None) -> LocatedRecord:
    """Return the record with the status that it has at a time, which its `wait` may change."""
    record = source.record
    if record.status != "pending" or not record.wait or now_ms is None:
        return source
    try:
        is_to_come = _ms(parse_timestamp("wait", record.wait)) > now_ms
    except MalformedRecord:
        return source
    return replace(source, record=structs.replace(record, status="waiting")) if is_to_come else source


def _plan_task(
    source: LocatedRecord, present: set[str], occurrences: Mapping[str, set[int]], zone: tzinfo
) -> PlannedTask:
    """Make the task of a record. Raises MalformedRecord with what is wrong in it."""
    record = source.record
    if not source.key:
        raise MalformedRecord(sentence("taskwarrior-no-uuid", "uuid is empty"))
    if len(source.key) > _UUID_CHARS_MAX:
        raise MalformedRecord(
            sentence("taskwarrior-long-uuid", "uuid has {count} characters", count=len(source.key))
        )
    if record.status not in _STATUSES:
        raise MalformedRecord(
            sentence(
                "taskwarrior-unknown-status",
                "status is {seen!r}, not one of {choices}",
                seen=record.status[:40],
                choices=", ".join(_STATUSES),
            )
        )
    title = title_line(record.description)
    if not title:
        raise MalformedRecord(sentence("taskwarrior-no-description", "description is empty"))
    made_ms = _optional_ms("entry", record.entry)
    own = CustomAttributes(source, present)
    ends = record.status in _ENDED and record.end is not None
    day, clock = scheduled_day(own.scheduled, zone)
    start = {} if day is None else {"start": day}
    if day is not None and clock is None:
        own.left = [pair for pair in own.left if pair[0] != SCHEDULED]
    due = _due(source, occurrences, zone) or own.due
    task = PlannedTask(
        key=source.key,
        line=source.line,
        title=cut_title(title),
        made_ms=made_ms,
        changed_ms=_lenient_ms(record.modified),
        ended_ms=_optional_ms("end", record.end) if ends else None,
        source=source.key,
        status=own.status or _STATUSES[record.status],
        reason=own.reason or _reason(record, zone),
        priority=own.priority(PRIORITIES.get(record.priority or "")),
        due=due,
        **_with_hour(own.values, source.record, due, zone) | start,
        category=_name(record.project),
        labels=_labels(record),
        checklists=own.checklists,
        links=(*_links(source, present), *own.links),
        removed=record.status == "deleted" and own.status is None,
    )
    leftovers = [*_leftovers(source, task, zone), *own.left]
    return replace(task, entries=tuple(_entries(source, made_ms, leftovers)))


# --- attributes that have a place -------------------------------------------------------------------


def _optional_ms(attribute: str, text: str | None) -> int | None:
    return None if text is None else _ms(parse_timestamp(attribute, text))


def _lenient_ms(text: str | None) -> int | None:
    """Read a time that is only remembered as provenance: a broken one is no reason to refuse a file."""
    try:
        return _optional_ms("modified", text)
    except MalformedRecord:
        return None


def _ms(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000


def _day(attribute: str, text: str | None, zone: tzinfo) -> tuple[str | None, str | None]:
    """Return a time's calendar day in the person's zone, and the time of day unless it means all day."""
    if not text:
        return None, None
    try:
        local = parse_timestamp(attribute, text).astimezone(zone)
    except OverflowError as error:
        raise MalformedRecord(
            sentence(
                "taskwarrior-beyond-calendar",
                "{attribute} is {seen!r}, beyond the calendar",
                attribute=attribute,
                seen=text[:40],
            )
        ) from error
    clock = local.strftime("%H:%M:%S")
    return local.date().isoformat(), None if clock == _DAY_BEGINS else clock.removesuffix(":00")


def scheduled_day(text: str | None, zone: tzinfo) -> tuple[str | None, str | None]:
    """Return the day and the time of day before which a task is not begun; None of what is no time."""
    try:
        return _day(SCHEDULED, text, zone)
    except MalformedRecord:
        return None, None


def _due(source: LocatedRecord, occurrences: Mapping[str, set[int]], zone: tzinfo) -> str | None:
    """Return the day on which a task is due; a template, on the first day that no occurrence has yet."""
    day = _day("due", source.record.due, zone)[0]
    if day is None or source.record.status != _RECURRING:
        return day
    return series.next_day(source, date.fromisoformat(day), occurrences.get(source.key, set())).isoformat()


def _with_hour(
    values: dict[str, Any], record: TaskwarriorRecord, due: str | None, zone: tzinfo
) -> dict[str, Any]:
    """Return values with the hour of the due day; our own attribute says its zone if both agree."""
    own = due_time_on(due, values.get("due_time"))
    clock = _day("due", record.due, zone)[1]
    if record.due and record.status != _RECURRING and clock not in (None, _DAY_ENDS):
        moment = parse_timestamp("due", record.due)
        if due is not None and (own is None or own.moment(zone) != moment.astimezone(UTC).replace(second=0)):
            own = hour_of_moment(date.fromisoformat(due), moment, zone)
    return values | {"due_time": None if own is None else own.text()}


def _reason(record: TaskwarriorRecord, zone: tzinfo) -> str | None:
    if record.status != "waiting":
        return None
    day, clock = _day("wait", record.wait, zone)
    return " ".join(filter(None, ("waiting until" if day else "waiting", day, clock)))


def _name(text: str | None) -> str | None:
    name = joined_line(text or "")
    return name if 0 < len(name) <= NAME_CHARS_MAX else None


def _labels(record: TaskwarriorRecord) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_name, record.tags))))[:LABELS_MAX]


def _links(source: LocatedRecord, present: set[str]) -> Iterator[PlannedLink]:
    for other in source.dependencies:
        if other in present and other != source.key:
            yield PlannedLink(f"{source.key}/depends/{other}", other, source.key, "blocks")


# --- attributes that are kept as text ---------------------------------------------------------------


def _leftovers(source: LocatedRecord, task: PlannedTask, zone: tzinfo) -> Iterator[tuple[str, str]]:
    """Yield what the task's own fields do not express in full, as attribute and JSON."""
    record = source.record
    linked = {link.from_key for link in task.links if link.type == "blocks"}
    loose = [other for other in source.dependencies if other not in linked]
    if loose:
        yield "depends", as_json(loose)
    clock = _day("due", record.due, zone)[1]
    has_no_place = clock is not None and (task.due_time is None or len(clock) > len("09:30"))
    if record.due and (record.status == _RECURRING or has_no_place):
        yield "due", as_json(record.due)
    if record.end and task.ended_ms is None:
        yield "end", as_json(record.end)
    if record.modified and task.changed_ms is None:
        yield "modified", as_json(record.modified)
    if record.priority and not task.priority:
        yield "priority", as_json(record.priority)
    if record.project and not task.category:
        yield "project", as_json(record.project)
    if tags := [tag for tag in record.tags if tag.strip() and _name(tag) not in task.labels]:
        yield "tags", as_json(tags)
    if record.status == _RECURRING:
        yield "status", as_json(_RECURRING)
    if record.wait and not task.reason:
        yield "wait", as_json(record.wait)


def _entries(
    source: LocatedRecord, made_ms: int | None, leftovers: Iterable[tuple[str, str]]
) -> Iterator[PlannedEntry]:
    if not fits_title(title_line(source.record.description)):
        yield from split_entry(f"{source.key}/description", source.record.description, made_ms)
    yield from _annotations(source)
    if lost_attributes := kept_attributes.write(leftovers):
        yield from split_entry(f"{source.key}/{kept_attributes.KEY}", lost_attributes, made_ms)


def _annotations(source: LocatedRecord) -> Iterator[PlannedEntry]:
    """Yield the notes. Taskwarrior knows a note by its time, so a reworded one is the same entry."""
    key_counts: dict[str, int] = {}
    for note in source.record.annotations:
        happened_ms = _ms(parse_timestamp("entry of an annotation", note.entry))
        happened_at = utc_iso(happened_ms)
        key_counts[happened_at] = key_counts.get(happened_at, 0) + 1
        if note.description.strip():
            yield from split_entry(
                f"{source.key}/annotation/{happened_at}/{key_counts[happened_at]}",
                note.description,
                happened_ms,
            )
