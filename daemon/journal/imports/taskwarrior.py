"""Reads what `task export` prints, one JSON list or one JSON object a line, into a plan.

Never guesses: a record that is not as Taskwarrior writes it is a fault, named with its line.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, tzinfo

from msgspec import structs

from daemon.journal.imports.plan import (
    ImportFault,
    Plan,
    PlannedEntry,
    PlannedLink,
    PlannedTask,
    Skipped,
    cut_title,
    entries_of,
    failed,
    fits_title,
    on_one_line,
    unreadable,
    utc_text,
)
from daemon.journal.imports.taskwarrior_json import NotAnExport, Record, Source, sources, text_of, timestamp
from daemon.journal.imports.taskwarrior_own import Own
from daemon.journal.tasks import LABELS_MAX
from daemon.journal.values import NAME_CHARS_MAX

FORMAT = "taskwarrior"

PRIORITIES = {"H": "P1", "M": "P2", "L": "P3"}
_STATUSES = {"pending": "OPEN", "waiting": "ON HOLD", "completed": "DONE", "deleted": "OPEN"}
_ENDED = frozenset({"completed", "deleted"})
_RECURRING = "recurring"
_UUID_CHARS_MAX = 1000
_DAY_BEGINS = "00:00:00"
_TEMPLATE = "a template of a recurring task: only its occurrences are imported"


def parse(name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read an export; never raises, what cannot be read is in the plan's faults.

    `zone` is the person's: Taskwarrior writes the day on which a task is due as local midnight, in UTC. Since
    2.6 it writes a task that waits as pending, with a time that is still to come at `now_ms`.
    """
    del name  # tasks have identities of their own, whatever the file is called
    if fault := unreadable(text):
        return failed(FORMAT, fault)
    found: list[Source] = []
    faults: list[ImportFault] = []
    for source in sources(text):
        found.append(source) if isinstance(source, Source) else faults.append(source)
    faults += _repeated(found)
    tasks: list[PlannedTask] = []
    present = {source.key for source in found if source.record.status != _RECURRING}
    for source in found:
        try:
            tasks += _planned(_seen_at(source, now_ms), present, zone)
        except NotAnExport as error:
            faults.append(source.fault(str(error)))
    if faults:
        return failed(FORMAT, *sorted(faults, key=lambda fault: fault.line))
    return Plan(FORMAT, tuple(tasks), tuple(_templates(found)))


def _repeated(found: list[Source]) -> Iterator[ImportFault]:
    first: dict[str, Source] = {}
    for source in found:
        if source.key in first:
            known = first[source.key]
            where = f"in record {known.number}" if known.number else f"on line {known.line}"
            yield source.fault(f"uuid {source.key[:40]!r} is used a second time, first {where}")
        first.setdefault(source.key, source)


def _templates(found: list[Source]) -> Iterator[Skipped]:
    for source in found:
        if source.record.status == _RECURRING:
            yield Skipped(source.line, cut_title(on_one_line(source.record.description)), _TEMPLATE)


def _seen_at(source: Source, now_ms: int | None) -> Source:
    """Return the record with the status that it has at a time, where its `wait` tells."""
    record = source.record
    if record.status != "pending" or not record.wait or now_ms is None:
        return source
    try:
        is_to_come = _ms(timestamp("wait", record.wait)) > now_ms
    except NotAnExport:
        return source
    return replace(source, record=structs.replace(record, status="waiting")) if is_to_come else source


def _planned(source: Source, present: set[str], zone: tzinfo) -> list[PlannedTask]:
    """Make the task of a record, none of a template. Raises NotAnExport with what is wrong in it."""
    record = source.record
    if not source.key:
        raise NotAnExport("uuid is empty")
    if len(source.key) > _UUID_CHARS_MAX:
        raise NotAnExport(f"uuid has {len(source.key)} characters")
    if record.status == _RECURRING:
        return []
    if record.status not in _STATUSES:
        known = ", ".join([*_STATUSES, _RECURRING])
        raise NotAnExport(f"status is {record.status[:40]!r}, not one of {known}")
    title = on_one_line(record.description)
    if not title:
        raise NotAnExport("description is empty")
    made_ms = _optional_ms("entry", record.entry)
    own = Own(source, present)
    ends = record.status in _ENDED and record.end is not None
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
        due=_day("due", record.due, zone)[0] or own.due,
        estimate_minutes=own.estimate,
        language=own.language,
        category=_name(record.project),
        labels=_labels(record),
        checklists=own.checklists,
        links=(*_links(source, present), *own.links),
        removed=record.status == "deleted" and own.status is None,
    )
    leftovers = [*_leftovers(source, task, zone), *own.left]
    return [replace(task, entries=tuple(_entries(source, made_ms, leftovers)))]


# --- attributes that have a place -------------------------------------------------------------------


def _optional_ms(attribute: str, written: str | None) -> int | None:
    return None if written is None else _ms(timestamp(attribute, written))


def _lenient_ms(written: str | None) -> int | None:
    """Read a time that is only remembered as provenance: a broken one is no reason to refuse a file."""
    try:
        return _optional_ms("modified", written)
    except NotAnExport:
        return None


def _ms(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000


def _day(attribute: str, written: str | None, zone: tzinfo) -> tuple[str | None, str | None]:
    """Return the calendar day of a time where the person is, and the time of day unless it means all day."""
    if not written:
        return None, None
    try:
        local = timestamp(attribute, written).astimezone(zone)
    except OverflowError as error:
        raise NotAnExport(f"{attribute} is {written[:40]!r}, beyond the calendar") from error
    clock = local.strftime("%H:%M:%S")
    return local.date().isoformat(), None if clock == _DAY_BEGINS else clock.removesuffix(":00")


def _reason(record: Record, zone: tzinfo) -> str | None:
    if record.status != "waiting":
        return None
    day, clock = _day("wait", record.wait, zone)
    return " ".join(filter(None, ("waiting until" if day else "waiting", day, clock)))


def _name(written: str | None) -> str | None:
    name = on_one_line(written or "")
    return name if 0 < len(name) <= NAME_CHARS_MAX else None


def _labels(record: Record) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_name, record.tags))))[:LABELS_MAX]


def _links(source: Source, present: set[str]) -> Iterator[PlannedLink]:
    for other in source.dependencies:
        if other in present and other != source.key:
            yield PlannedLink(f"{source.key}/depends/{other}", other, source.key, "blocks")


# --- attributes that are kept as text ---------------------------------------------------------------


def _leftovers(source: Source, task: PlannedTask, zone: tzinfo) -> Iterator[tuple[str, str]]:
    """Yield what the task's own fields do not say in full, as attribute and text."""
    record = source.record
    linked = {link.from_key for link in task.links if link.type == "blocks"}
    loose = [other for other in source.dependencies if other not in linked]
    if loose:
        yield "depends", ", ".join(loose)
    if _day("due", record.due, zone)[1]:
        yield "due", text_of(record.due or "")
    if record.end and task.ended_ms is None:
        yield "end", text_of(record.end)
    if record.modified and task.changed_ms is None:
        yield "modified", record.modified
    if record.priority and not task.priority:
        yield "priority", record.priority
    if record.project and not task.category:
        yield "project", record.project
    yield from (("tags", tag) for tag in record.tags if tag.strip() and _name(tag) not in task.labels)
    if record.wait and not task.reason:
        yield "wait", text_of(record.wait)


def _entries(
    source: Source, made_ms: int | None, leftovers: Iterable[tuple[str, str]]
) -> Iterator[PlannedEntry]:
    if not fits_title(on_one_line(source.record.description)):
        yield from entries_of(f"{source.key}/description", source.record.description, made_ms)
    yield from _annotations(source)
    if kept := "\n".join(f"{attribute}: {text}" for attribute, text in leftovers):
        yield from entries_of(f"{source.key}/attributes", kept, made_ms)


def _annotations(source: Source) -> Iterator[PlannedEntry]:
    """Yield the notes. Taskwarrior knows a note by its time, so a reworded one is the same entry."""
    seen: dict[str, int] = {}
    for note in source.record.annotations:
        happened_ms = _ms(timestamp("entry of an annotation", note.entry))
        at = utc_text(happened_ms)
        seen[at] = seen.get(at, 0) + 1
        if note.description.strip():
            yield from entries_of(f"{source.key}/annotation/{at}/{seen[at]}", note.description, happened_ms)
