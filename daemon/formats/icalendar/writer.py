"""Writes the open and finished tasks as to-dos of an iCalendar file (RFC 5545).

Never writes a time in a zone without the zone: its own times are in UTC.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, tzinfo

from daemon.due_time import name_of_zone, read_due_time
from daemon.formats.core import extension_fields
from daemon.formats.core.exported_tasks import (
    ExportedLink,
    ExportedNote,
    ExportedTask,
    ExportedTasks,
    bounded_utc,
    with_distinct_times,
)
from daemon.formats.core.plan import cut_title, joined_line, utc_iso
from daemon.formats.icalendar.content_lines import Property, split_texts
from daemon.formats.icalendar.kept_lines import KeptLines, ZoneWriter
from daemon.formats.icalendar.reader import (
    ATTRIBUTES,
    FORMAT,
    PRIORITIES,
    SPELLED,
    STATUSES,
    WRITTEN_PRIORITIES,
    X_AT,
    X_CATEGORY,
    X_CHECKLIST,
    X_REASON,
    X_STATUS,
    comment_key,
)
from daemon.formats.icalendar.relations import DEPENDS, PARENT, RELATIONS, link_key_in_file
from daemon.journal.fields.validation import NAME_CHARS_MAX
from daemon.journal.tasks import LABELS_MAX
from store.snapshot import Snapshot
from syncproto.ids import EntityId

_HEAD = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Placet//Placet//EN\r\n"
_FOOT = "END:VCALENDAR\r\n"
_WRITTEN_STATUSES = {status: word for word, status in STATUSES.items()}
_RELATIONS = {type_: word for word, type_ in RELATIONS.items()}
# Kept lines of these names are written only in place of what the task says, if that is the same.
_SAID = frozenset(
    {
        *("UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SUMMARY", "DESCRIPTION", "STATUS", "COMMENT"),
        *(X_CATEGORY, X_STATUS, X_REASON),
    }
)

# A second summary or description is a comment here.
_NOTE_NAMES = ("COMMENT", "SUMMARY", "DESCRIPTION")
_SHORT_CHARS = 75
_DAY = re.compile(r"\d{8}", re.ASCII)

WrittenProperty = tuple[str, dict[str, str], str]
"""A property to write: its name, its parameters, its value as text."""


def write(snapshot: Snapshot, zone: tzinfo, only: Collection[EntityId] | None = None) -> Iterator[str]:
    """Yield the file, or `only` some tasks, removed ones too: an earlier file may have them."""
    tasks = ExportedTasks(snapshot, removed=only or (), only=only)
    zones = ZoneWriter()
    yield _HEAD
    for task in tasks:
        kept = KeptLines.of_task(task, zone)
        yield from (_block(text) for text in zones.new_zones(kept))
        yield "".join(["BEGIN:VTODO\r\n", *_lines(task, tasks, kept, zone), "END:VTODO\r\n"])
    yield _FOOT


def _lines(task: ExportedTask, tasks: ExportedTasks, kept: KeptLines, zone: tzinfo) -> Iterator[str]:
    left = [line for line in kept.properties if not _is_overtaken(task, line, kept)]
    written = set()
    for name, params, value in (*_properties(task, kept, zone), *_notes_and_relations(task, tasks)):
        alike = _NOTE_NAMES if name == "COMMENT" else (name,)
        same = next((line for line in left if line.name in alike and _says(line, name, params, value)), None)
        if same is None:
            written.add(name)
            yield _line(name, params, value)
            continue
        if same.name not in (name, *written):
            yield _line(same.name, {}, "")  # a first one, as before: beyond it, others are comments
        # It says the same, with parameters that only its own program knows.
        left.remove(same)
        written.add(same.name)
        yield _fold_line(same.whole)
    names = [*([task.category] if task.category else []), *task.labels]
    marked = [line for line in left if line.name == "CATEGORIES" and _are_labels(line)]
    if {name for line in marked for name in _label_names(line)} != set(names):
        left = [line for line in left if line not in marked]
        if names:
            yield _line("CATEGORIES", {}, ",".join(map(_escape, names)), is_text=False)
    yield from (_fold_line(line.whole) for line in left if line.name not in _SAID)
    yield from map(_block, kept.alarms)


def _says(line: Property, name: str, params: dict[str, str], value: str) -> bool:
    relation = "RELTYPE"
    is_related = line.params.get(relation, PARENT).upper() == params.get(relation, PARENT)
    is_in_language = name != "SUMMARY" or extension_fields.read_language(
        line.params.get("LANGUAGE", "")
    ) == params.get("LANGUAGE")
    return is_related and is_in_language and joined_line(line.text) == joined_line(value)


def _label_names(line: Property) -> list[str]:
    return [name for text in split_texts(line.value) if (name := joined_line(text))]


def _are_labels(line: Property) -> bool:
    """Report whether the names of a line are labels here; a task has no place for others."""
    names = _label_names(line)
    return len(names) <= LABELS_MAX and all(len(name) <= NAME_CHARS_MAX for name in names)


def _notes_and_relations(task: ExportedTask, tasks: ExportedTasks) -> Iterator[WrittenProperty]:
    yield from (("RELATED-TO", params, value) for params, value in _relations(task, tasks))
    yield from _note_properties(task)


def _properties(task: ExportedTask, kept: KeptLines, zone: tzinfo) -> Iterator[WrittenProperty]:
    uid, *occurrence = task.id_in_format(FORMAT).split("\n")
    yield "UID", {}, uid
    if occurrence and not kept.has("RECURRENCE-ID"):
        yield "RECURRENCE-ID", {"VALUE": "DATE"} if _DAY.fullmatch(occurrence[0]) else {}, occurrence[0]
    changed = _utc(task.changed_ms)
    yield "DTSTAMP", {}, changed
    if task.is_dated:
        yield "CREATED", {}, _utc(task.made_ms)
    yield "LAST-MODIFIED", {}, changed
    yield "SUMMARY", {"LANGUAGE": task.language} if task.language else {}, _title(task)
    yield from _state(task)
    priority = [line for line in kept.properties if line.name == "PRIORITY"]
    if task.priority in WRITTEN_PRIORITIES and not any(_same_priority(task, line) for line in priority):
        yield "PRIORITY", {}, str(WRITTEN_PRIORITIES[task.priority or ""])
    hour = read_due_time(task.due_time)
    if hour is not None and not kept.says_due:
        yield "DUE", {}, f"{hour.moment(UTC):%Y%m%dT%H%M%SZ}"
    elif task.due and not kept.says_due:
        yield "DUE", {"VALUE": "DATE"}, task.due.replace("-", "")
    yield from _start_and_own_values(task, kept, zone)
    if task.category:
        yield X_CATEGORY, {}, task.category
    for exported_checklist in task.lists:
        if exported_checklist.title:
            yield (
                X_CHECKLIST,
                {},
                extension_fields.write_checklist(exported_checklist.title, exported_checklist.lines),
            )


def _start_and_own_values(task: ExportedTask, kept: KeptLines, zone: tzinfo) -> Iterator[WrittenProperty]:
    """Yield the start, unless a kept line says it, and the fields that only properties of our own say."""
    says_start = task.start == kept.start
    # DTSTART and DUE are both days, or both times.
    if task.start and not says_start and kept.takes_start and task.due_time is None:
        says_start = True
        yield "DTSTART", {"VALUE": "DATE"}, task.start.replace("-", "")
    # DUE says the moment, and whoever reads it here sees it on the clocks of this zone.
    hour = read_due_time(task.due_time)
    is_of_here = hour is not None and hour.zone == name_of_zone(zone)
    is_said = {"start": says_start, "due_time": is_of_here or (kept.says_due and kept.has("DUE"))}
    for name, field in SPELLED.items():
        if (value := getattr(task, field.name)) and not is_said.get(field.name, False):
            yield name, {}, str(value)


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


def _note_properties(task: ExportedTask) -> Iterator[WrittenProperty]:
    """Yield the notes: one as the description, the others as comments, with their times."""
    key = task.id_in_format(FORMAT)
    description = task.kept_notes(FORMAT, f"{key}/description")
    placed = {note.id for note in (*task.kept_notes(FORMAT, f"{key}/{ATTRIBUTES}"), *description[1:])}
    if _title(task) != task.title:
        placed.add(task.imported_child_id(FORMAT, f"{key}/summary"))
    shown = [note for note in task.notes if note.id not in placed and note.text.strip()]
    notes = with_distinct_times(shown, 1000)
    wanted = description[0].id if description else task.imported_child_id(FORMAT, f"{key}/description")
    comments = set() if description else _comment_ids(task, shown)
    chosen = next((note for note in notes if note.id == wanted), None)
    chosen = chosen or next((note for note in notes if note.id not in comments), None)
    if chosen:
        is_whole = bool(description) and chosen.id == description[0].id
        text = "".join(part.text for part in description) if is_whole else chosen.text
        yield "DESCRIPTION", _when(task, chosen), text
    for note in notes:
        if note is not chosen:
            yield "COMMENT", {X_AT: _utc(note.at_ms)}, note.text


def _comment_ids(task: ExportedTask, notes: Sequence[ExportedNote]) -> set[EntityId]:
    """Return the ids that notes have if an import read them as comments: those stay comments."""
    moments = (int(bounded_utc(note.at_ms).timestamp()) * 1000 for note in notes)
    counts = Counter(map(utc_iso, moments)) | Counter({"": len(notes)})
    key = task.id_in_format(FORMAT)
    return {
        task.imported_child_id(FORMAT, comment_key(key, moment, nth))
        for moment, count in counts.items()
        for nth in range(1, count + 1)
    }


def _when(task: ExportedTask, note: ExportedNote) -> dict[str, str]:
    is_first = task.is_dated and _utc(note.at_ms) == _utc(task.made_ms)
    return {} if is_first else {X_AT: _utc(note.at_ms)}


# -- what an import kept as text ----------------------------------------------------------------------


def _is_overtaken(task: ExportedTask, line: Property, kept: KeptLines) -> bool:
    """Report whether a line kept as text must be left out, because the task itself now decides it."""
    if line.name == "PRIORITY":
        return not _same_priority(task, line)
    if line.name == "COMPLETED":
        return not task.is_status_imported or (task.status == "DONE" and task.is_end_dated)
    if line.name in kept.overtaken:
        return True
    # Beside a DUE of its own, a length without a start says nothing of the day.
    says_day = line.name == "DUE" or (line.name == "DURATION" and kept.has("DTSTART"))
    return says_day and task.due is not None and not kept.says_due


def _same_priority(task: ExportedTask, line: Property) -> bool:
    return line.value.isdecimal() and PRIORITIES.get(int(line.value)) == task.priority


# -- lines --------------------------------------------------------------------------------------------


def _utc(ms: int) -> str:
    iso_text = bounded_utc(ms).astimezone(UTC).isoformat(timespec="seconds")
    return iso_text[:19].replace("-", "").replace(":", "") + "Z"


def _escape(text: str) -> str:
    from icalendar import vText

    return vText(text).to_ical().decode()


def _block(text: str) -> str:
    """Write a component that is kept as it was written."""
    return "".join(map(_fold_line, filter(None, text.replace("\r\n", "\n").split("\n"))))


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
