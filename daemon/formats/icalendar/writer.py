"""Writes the open and finished tasks as to-dos of an iCalendar file (RFC 5545).

Never writes a zone: days are days, and times are in UTC.
"""

from collections.abc import Iterator
from datetime import UTC, tzinfo

from daemon.formats.core import extension_fields
from daemon.formats.core.exported_tasks import (
    ExportedLink,
    ExportedNote,
    ExportedTask,
    ExportedTasks,
    bounded_utc,
    with_distinct_times,
)
from daemon.formats.core.plan import cut_title
from daemon.formats.icalendar.content_lines import MalformedCalendar, Property, split_line
from daemon.formats.icalendar.date_times import CalendarTimes
from daemon.formats.icalendar.reader import (
    ATTRIBUTES,
    DEPENDS,
    FORMAT,
    PARENT,
    PRIORITIES,
    RELATIONS,
    STATUSES,
    WRITTEN_PRIORITIES,
    X_AT,
    X_CATEGORY,
    X_CHECKLIST,
    X_ESTIMATE,
    X_REASON,
    X_STATUS,
    link_key_in_file,
)
from store.snapshot import Snapshot

__all__ = ["FORMAT", "write"]

_HEAD = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Placet//Placet//EN\r\n"
_FOOT = "END:VCALENDAR\r\n"
_WRITTEN_STATUSES = {status: word for word, status in STATUSES.items()}
_RELATIONS = {type_: word for word, type_ in RELATIONS.items()}
# Lines that are never written from kept text, because the task itself has their values.
_SAID = frozenset(
    {
        *("BEGIN", "END", "UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SUMMARY", "DESCRIPTION", "STATUS"),
        *("COMMENT", X_CATEGORY, "RRULE", "RDATE", "RECURRENCE-ID"),
    }
)

_SHORT_CHARS = 75

WrittenProperty = tuple[str, dict[str, str], str]
"""A property to write: its name, its parameters, its value as text."""


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield the file."""
    tasks = ExportedTasks(snapshot)
    yield _HEAD
    for task in tasks:
        yield "".join(["BEGIN:VTODO\r\n", *_lines(task, tasks, zone), "END:VTODO\r\n"])
    yield _FOOT


def _lines(task: ExportedTask, tasks: ExportedTasks, zone: tzinfo) -> Iterator[str]:
    properties = _imported_properties(task)
    for name, params, value in _properties(task, properties or [], zone):
        yield _line(name, params, value)
    if names := _names(task):
        yield _line("CATEGORIES", {}, names, is_text=False)
    for params, value in _relations(task, tasks):
        yield _line("RELATED-TO", params, value)
    for name, params, value in _note_properties(task, is_kept=properties is not None):
        yield _line(name, params, value)
    for line in properties or []:
        if not _is_overtaken(task, line, zone):
            yield _fold_line(line.whole)


def _properties(task: ExportedTask, properties: list[Property], zone: tzinfo) -> Iterator[WrittenProperty]:
    uid, *occurrence = task.id_in_format(FORMAT).split("\n")
    yield "UID", {}, uid
    if occurrence:
        yield "RECURRENCE-ID", {}, occurrence[0]
    changed = _utc(task.changed_ms)
    yield "DTSTAMP", {}, changed
    if task.is_dated:
        yield "CREATED", {}, _utc(task.made_ms)
    yield "LAST-MODIFIED", {}, changed
    yield "SUMMARY", {"LANGUAGE": task.language} if task.language else {}, _title(task)
    yield from _state(task)
    priority = [line for line in properties if line.name == "PRIORITY"]
    if task.priority in WRITTEN_PRIORITIES and not any(_same_priority(task, line) for line in priority):
        yield "PRIORITY", {}, str(WRITTEN_PRIORITIES[task.priority or ""])
    if task.due and not any(
        line.name == "DUE" and not _is_overtaken(task, line, zone) for line in properties
    ):
        yield "DUE", {"VALUE": "DATE"}, task.due.replace("-", "")
    if task.estimate_minutes:
        yield X_ESTIMATE, {}, str(task.estimate_minutes)
    if task.category:
        yield X_CATEGORY, {}, task.category
    for exported_checklist in task.lists:
        if exported_checklist.title:
            yield (
                X_CHECKLIST,
                {},
                extension_fields.write_checklist(exported_checklist.title, exported_checklist.lines),
            )


def _state(task: ExportedTask) -> Iterator[WrittenProperty]:
    yield "STATUS", {}, _WRITTEN_STATUSES.get(task.status, "NEEDS-ACTION")
    if task.status not in _WRITTEN_STATUSES:
        yield X_STATUS, {}, task.status
    if task.reason:
        yield X_REASON, {}, task.reason
    if task.status == "DONE" and task.ended_ms is not None and task.is_end_dated:
        yield "COMPLETED", {}, _utc(task.ended_ms)


def _title(task: ExportedTask) -> str:
    """Return the title, in full if an import had to cut it and nobody changed it since."""
    full_title = task.imported_child_id(FORMAT, f"{task.id_in_format(FORMAT)}/summary")
    texts = (note.text for note in task.notes if note.id == full_title)
    return next((text for text in texts if cut_title(text) == task.title), task.title)


def _names(task: ExportedTask) -> str:
    names = [*([task.category] if task.category else []), *task.labels]
    return ",".join(_escape(name) for name in names)


def _relations(task: ExportedTask, tasks: ExportedTasks) -> Iterator[tuple[dict[str, str], str]]:
    blocking = (tasks.id_in_format(FORMAT, link.other) for link in task.links_to if link.type == "blocks")
    relations = [(DEPENDS, key) for key in blocking if key]
    others = (
        (link, tasks.id_in_format(FORMAT, link.other)) for link in task.links_from if link.type in _RELATIONS
    )
    relations += [(_relation(task, link, key), key) for link, key in others if key]
    for relation, key in sorted(set(relations)):
        yield {"RELTYPE": relation}, key


def _relation(task: ExportedTask, link: ExportedLink, key: str) -> str:
    """Return the relation: a plain link leads to the parent if an import recorded it so."""
    is_parent = link.id == task.imported_child_id(
        FORMAT, link_key_in_file(task.id_in_format(FORMAT), key, PARENT)
    )
    return PARENT if is_parent else _RELATIONS[link.type]


# -- notes --------------------------------------------------------------------------------------------


def _note_properties(task: ExportedTask, *, is_kept: bool) -> Iterator[WrittenProperty]:
    """Yield the notes: one as the description, the others as comments, with their times."""
    key = task.id_in_format(FORMAT)
    description = task.imported_child_id(FORMAT, f"{key}/description")
    placed = {task.imported_child_id(FORMAT, f"{key}/{ATTRIBUTES}")} if is_kept else set()
    if _title(task) != task.title:
        placed.add(task.imported_child_id(FORMAT, f"{key}/summary"))
    notes = [
        note for note in with_distinct_times(task.notes, 1000) if note.id not in placed and note.text.strip()
    ]
    chosen = next((note for note in notes if note.id == description), notes[0] if notes else None)
    if chosen:
        yield "DESCRIPTION", _when(task, chosen), chosen.text
    for note in notes:
        if note is not chosen:
            yield "COMMENT", {X_AT: _utc(note.at_ms)}, note.text


def _when(task: ExportedTask, note: ExportedNote) -> dict[str, str]:
    is_first = task.is_dated and _utc(note.at_ms) == _utc(task.made_ms)
    return {} if is_first else {X_AT: _utc(note.at_ms)}


# -- what an import kept as text ----------------------------------------------------------------------


def _imported_properties(task: ExportedTask) -> list[Property] | None:
    """Return the lines that an import kept as text, None if there are none or they were reworded."""
    wanted = task.imported_child_id(FORMAT, f"{task.id_in_format(FORMAT)}/{ATTRIBUTES}")
    text = next((note.text for note in task.notes if note.id == wanted), None)
    if text is None:
        return None
    properties: list[Property] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            name, params, value = split_line(line)
        except ValueError:
            return None
        if name in _SAID or line[:1].isspace():
            return None
        properties.append(Property(number, name, params, value, line))
    return properties


def _is_overtaken(task: ExportedTask, line: Property, zone: tzinfo) -> bool:
    """Report whether a line kept as text must be left out, because the task itself now decides it."""
    if line.name == "PRIORITY":
        return not _same_priority(task, line)
    if line.name == "COMPLETED":
        return task.status == "DONE" and task.is_end_dated
    if line.name == "DUE":
        try:
            return CalendarTimes(zone, ()).parse(line).day.isoformat() != task.due
        except MalformedCalendar:
            return True
    return False


def _same_priority(task: ExportedTask, line: Property) -> bool:
    return line.value.isdecimal() and PRIORITIES.get(int(line.value)) == task.priority


# -- lines --------------------------------------------------------------------------------------------


def _utc(ms: int) -> str:
    iso_text = bounded_utc(ms).astimezone(UTC).isoformat(timespec="seconds")
    return iso_text[:19].replace("-", "").replace(":", "") + "Z"


def _escape(text: str) -> str:
    from icalendar import vText

    return vText(text).to_ical().decode()


def _line(name: str, params: dict[str, str], value: str, *, is_text: bool = True) -> str:
    from icalendar.parser import Parameters

    start = f"{name};{Parameters(params).to_ical().decode()}" if params else name
    return _fold_line(f"{start}:{_escape(value) if is_text else value}")


def _fold_line(line: str) -> str:
    if len(line) < _SHORT_CHARS and line.isascii():
        return line + "\r\n"  # most lines are, and the library takes its time
    from icalendar.parser import Contentline

    folded: bytes = Contentline(line).to_ical()  # type: ignore[no-untyped-call]
    return folded.decode() + "\r\n"
