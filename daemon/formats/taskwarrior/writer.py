"""Writes all tasks as `task import` reads them, a record a line; removed ones as deleted.

Never leaves a part of a task out that is not archived: what Taskwarrior has no attribute for goes into
attributes of Placet's own, which Taskwarrior keeps as they are.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, tzinfo
from itertools import groupby

from msgspec import Raw

from daemon.due_time import name_of_zone, read_due_time
from daemon.formats.core import extension_fields
from daemon.formats.core.exported_tasks import (
    ExportedNote,
    ExportedTask,
    ExportedTasks,
    bounded_utc,
    with_distinct_times,
)
from daemon.formats.core.plan import cut_title, title_line, utc_iso
from daemon.formats.taskwarrior import custom_attributes, kept_attributes
from daemon.formats.taskwarrior.custom_attributes import SCHEDULED
from daemon.formats.taskwarrior.reader import FORMAT, PRIORITIES, scheduled_day
from daemon.formats.taskwarrior.records import MalformedRecord, parse_timestamp, text_in_json
from store.snapshot import Snapshot
from syncproto.ids import EntityId

RecordJson = dict[str, object]

# Taskwarrior accepts no earlier time: it refuses the whole file.
_FIRST_DAY = date(1980, 1, 2)
_FIRST_MS = 315_619_200_000
_LETTERS = {priority: letter for letter, priority in PRIORITIES.items()} | {custom_attributes.URGENT: "H"}
_WAITS = re.compile(r"waiting until (\d{4}-\d\d-\d\d)(?: (\d\d:\d\d(?::\d\d)?))?", re.ASCII)
_SERIES = "recurring"
_OWN_START = "placet_start"
# What Taskwarrior computes itself, or would read as something other than kept text.
_NEVER = frozenset(
    {"id", "urgency", "uuid", "status", "description", "entry", "modified", "annotations", "due"}
)


def write(snapshot: Snapshot, zone: tzinfo, only: Collection[EntityId] | None = None) -> Iterator[str]:
    """Yield the file, a JSON list, or `only` some of its tasks."""
    tasks = ExportedTasks(snapshot, removed=True, only=only)
    before = "[\n"
    for task in tasks:
        yield before + _json_object(_record(task, tasks, zone))
        before = ",\n"
    yield "[\n]\n" if before == "[\n" else "\n]\n"


def _json_object(record: RecordJson) -> str:
    pairs = (f"{json.dumps(name, ensure_ascii=False)}: {_json(value)}" for name, value in record.items())
    return f"{{{', '.join(pairs)}}}"


def _json(value: object) -> str:
    # A value that an import kept is written as it was: "2" stays a text and 2.0 a number.
    return bytes(value).decode() if isinstance(value, Raw) else json.dumps(value, ensure_ascii=False)


def _record(task: ExportedTask, tasks: ExportedTasks, zone: tzinfo) -> RecordJson:
    key = task.id_in_format(FORMAT)
    kept, placed = _imported_attributes(task, key)
    notes = with_distinct_times(
        _in_file_order(
            task, key, [_with_representable_time(note) for note in task.notes if note.id not in placed]
        ),
        1000,
    )
    record: RecordJson = {
        "uuid": key,
        "description": _description(task, key),
        **_state(task, zone),
        "entry": _compact_time(task.made_ms),
        "modified": _compact_time(task.changed_ms),
        "due": _due(task, kept, zone),
        **_start(task, kept, zone),
        "priority": _LETTERS.get(task.priority or ""),
        "project": task.category,
        "tags": _tags(task),
        "annotations": [{"entry": _compact_time(note.at_ms), "description": note.text} for note in notes],
        "depends": _depends(task, tasks),
        **_own_attributes(task, tasks, zone),
    }
    _put_back(record, kept)
    return {name: value for name, value in record.items() if value not in (None, "", [])}


def _compact_time(ms: int) -> str | None:
    """Write a time as Taskwarrior does, None if the time is too early for it."""
    return None if ms < _FIRST_MS else bounded_utc(ms).strftime("%Y%m%dT%H%M%SZ")


def _with_representable_time(note: ExportedNote) -> ExportedNote:
    return replace(note, at_ms=max(note.at_ms, _FIRST_MS))


def _in_file_order(task: ExportedTask, key: str, notes: list[ExportedNote]) -> list[ExportedNote]:
    """Return notes with those of one second as they stood in the file: their ids alone do not show it."""
    ordered: list[ExportedNote] = []
    for second, group in groupby(notes, key=lambda note: note.at_ms // 1000):
        same = list(group)
        moment = utc_iso(second * 1000)
        places = {
            task.imported_child_id(FORMAT, f"{key}/annotation/{moment}/{nth}"): nth
            for nth in range(1, len(same) + 1 if len(same) > 1 else 1)
        }
        ordered += sorted(same, key=lambda note: places.get(note.id, len(same) + 1))
    return ordered


def _description(task: ExportedTask, key: str) -> str:
    """Return the title, in full if an import had to cut it and nobody changed it since."""
    full_text = "".join(note.text for note in task.imported_notes(FORMAT, f"{key}/description"))
    return full_text if full_text and cut_title(title_line(full_text)) == task.title else task.title


# -- state and days -----------------------------------------------------------------------------------


def _state(task: ExportedTask, zone: tzinfo) -> RecordJson:
    if task.removed_ms is not None:
        return {"status": "deleted", "end": _compact_time(task.removed_ms)}
    if task.ended_ms is not None:
        status = "completed" if task.status == "DONE" else "deleted"
        return {"status": status, "end": _compact_time(task.ended_ms)} | _own_status(task)
    if task.status == "ON HOLD" and (wait := _wait(task, zone)):
        return {"status": "waiting", "wait": wait}
    return {"status": "pending"} | _own_status(task)


def _own_status(task: ExportedTask) -> RecordJson:
    """Return status and reason in our own attributes, if Taskwarrior has none for them."""
    status = None if task.status in ("OPEN", "DONE") else task.status
    return {custom_attributes.STATUS: status, custom_attributes.REASON: task.reason}


def _wait(task: ExportedTask, zone: tzinfo) -> str | None:
    match = _WAITS.fullmatch(task.reason or "")
    return _local(f"{match[1]} {match[2] or '00:00'}", zone) if match else None


def _local(text: str, zone: tzinfo) -> str | None:
    """Write a local time as Taskwarrior does, None if Taskwarrior does not accept it."""
    try:
        local = datetime.fromisoformat(text).replace(tzinfo=zone)
        return _compact_time(int(local.astimezone(UTC).timestamp()) * 1000)
    except (ValueError, OverflowError):
        return None


def _is_of_here(task: ExportedTask, zone: tzinfo) -> bool:
    hour = read_due_time(task.due_time)
    return hour is not None and hour.zone == name_of_zone(zone)


def _due(task: ExportedTask, kept: Mapping[str, str], zone: tzinfo) -> str | None:
    if task.due is None or date.fromisoformat(task.due) < _FIRST_DAY:
        return None
    if exact := text_in_json(kept.get("due", "")):
        try:
            local = parse_timestamp("due", exact).astimezone(zone)
            day = local.date() if _says_hour(task, local, zone) else None
        except (MalformedRecord, OverflowError):
            day = None
        # The due date of a template is that of its first occurrence, whichever comes next.
        if _is_series(kept) or (day is not None and day.isoformat() == task.due):
            return exact
    if hour := read_due_time(task.due_time):
        return _compact_time(int(hour.moment(zone).timestamp()) * 1000)
    return _local(f"{task.due} {time()}", zone)


def _says_hour(task: ExportedTask, local: datetime, zone: tzinfo) -> bool:
    """Report whether a due moment says the hour of a task; one that an older version imported has none."""
    hour = read_due_time(task.due_time)
    if hour is None:
        return not task.is_hour_written or local.time() == time()
    return local.astimezone(UTC).replace(second=0) == hour.moment(zone)


def _start(task: ExportedTask, kept: dict[str, str], zone: tzinfo) -> RecordJson:
    """Return the attribute of the start, and take out of `kept` what it is no more.

    What an import kept and still says it, also if an older version took it for no start, is put back.
    """
    kept_day = scheduled_day(text_in_json(kept.get(SCHEDULED, "")), zone)[0]
    if kept_day and (kept_day == task.start or not task.is_start_written):
        return {}
    if kept_day:
        del kept[SCHEDULED]
    if task.start is None:
        return {}
    is_early = date.fromisoformat(task.start) < _FIRST_DAY
    local = None if is_early else _local(f"{task.start} {time()}", zone)
    return {_OWN_START: task.start} if local is None else {SCHEDULED: local}


def _is_series(kept: Mapping[str, str]) -> bool:
    return text_in_json(kept.get("status", "")) == _SERIES


# -- what else belongs to it --------------------------------------------------------------------------


def _tags(task: ExportedTask) -> list[str]:
    """Return the labels in their order after an import, which knows them without commas."""
    names = {label.replace(",", "_") for label in task.labels}
    return sorted(names, key=lambda name: (name.casefold(), name))


def _depends(task: ExportedTask, tasks: ExportedTasks) -> list[str]:
    keys = (tasks.id_in_format(FORMAT, link.other) for link in task.links_to if link.type == "blocks")
    return sorted({key for key in keys if key})


def _own_attributes(task: ExportedTask, tasks: ExportedTasks, zone: tzinfo) -> RecordJson:
    """Return the attributes of our own, all text: Taskwarrior rewrites numbers that it does not know."""
    too_early = task.due is not None and date.fromisoformat(task.due) < _FIRST_DAY
    lists = [
        extension_fields.write_checklist(exported_checklist.title, exported_checklist.lines)
        for exported_checklist in task.lists
        if exported_checklist.title
    ]
    links = [
        f"{link.type}:{key}"
        for link in task.links_from
        if link.type in extension_fields.NON_BLOCKING_LINK_TYPES
        and (key := tasks.id_in_format(FORMAT, link.other))
    ]
    return {
        custom_attributes.PRIORITY: task.priority if task.priority == custom_attributes.URGENT else None,
        custom_attributes.DUE: task.due if too_early else None,
        **{
            name: str(value) if (value := getattr(task, field.name)) else None
            for name, field in custom_attributes.SPELLED.items()
            # The due moment says an hour on the clocks of here.
            if name != _OWN_START and not (field.type == "due_time" and _is_of_here(task, zone))
        },
        custom_attributes.CHECKLISTS: "\n\n".join(lists),
        custom_attributes.LINKS: " ".join(sorted(set(links))),
    }


# -- what an import kept as text ----------------------------------------------------------------------


def _imported_attributes(task: ExportedTask, key: str) -> tuple[dict[str, str], set[EntityId]]:
    """Return the attributes that an import kept, as JSON, and the notes that are attributes again.

    A note that a person reworded is none, and goes out as an annotation.
    """
    notes = task.imported_notes(FORMAT, f"{key}/{kept_attributes.KEY}")
    kept = kept_attributes.read("".join(note.text for note in notes)) if notes else None
    placed = {note.id for note in notes} if kept is not None else set()
    if _description(task, key) != task.title:
        placed |= {note.id for note in task.imported_notes(FORMAT, f"{key}/description")}
    return kept or {}, placed


def _put_back(record: RecordJson, kept: Mapping[str, str]) -> None:
    for name, raw in kept.items():
        listed = record.get(name)
        if name in ("depends", "tags"):
            record[name] = [
                *_texts(listed),
                *(text for text in _texts(json.loads(raw)) if text not in _texts(listed)),
            ]
        elif name == custom_attributes.LINKS and listed:
            record[name] = f"{listed} {text_in_json(raw) or ''}".rstrip()
        elif name == "status" and record[name] == "pending" and _is_series(kept):
            record[name] = _SERIES
        elif listed in (None, "") and name not in _NEVER:
            record[name] = Raw(raw.encode())


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
