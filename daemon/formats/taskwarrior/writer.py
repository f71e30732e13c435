"""Writes all tasks as `task import` reads them, a record a line; removed ones as deleted.

Never leaves a part of a task out that is not archived: what Taskwarrior has no attribute for goes into
attributes of Placet's own, which Taskwarrior keeps as they are.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, tzinfo

from daemon.formats.core import extension_fields
from daemon.formats.core.exported_tasks import (
    ExportedNote,
    ExportedTask,
    ExportedTasks,
    bounded_utc,
    with_distinct_times,
)
from daemon.formats.core.plan import cut_title, joined_line
from daemon.formats.taskwarrior import custom_attributes
from daemon.formats.taskwarrior.reader import FORMAT, PRIORITIES
from store.snapshot import Snapshot
from syncproto.ids import EntityId

__all__ = ["FORMAT", "write"]

RecordJson = dict[str, object]

# Taskwarrior accepts no earlier time: it refuses the whole file.
_FIRST_DAY = date(1980, 1, 2)
_FIRST_MS = 315_619_200_000
_LETTERS = {priority: letter for letter, priority in PRIORITIES.items()} | {custom_attributes.URGENT: "H"}
_WAITS = re.compile(r"waiting until (\d{4}-\d\d-\d\d)(?: (\d\d:\d\d(?::\d\d)?))?", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
# What Taskwarrior computes itself, or would read as something other than kept text.
_NEVER = frozenset({"id", "urgency", "uuid", "status", "description", "entry", "modified", "annotations"})


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield the file: a JSON list."""
    tasks = ExportedTasks(snapshot, removed=True)
    before = "[\n"
    for task in tasks:
        yield before + json.dumps(_record(task, tasks, zone), ensure_ascii=False)
        before = ",\n"
    yield "[\n]\n" if before == "[\n" else "\n]\n"


def _record(task: ExportedTask, tasks: ExportedTasks, zone: tzinfo) -> RecordJson:
    key = task.id_in_format(FORMAT)
    kept_pairs = _imported_attributes(task, key)
    placed = _attribute_note_ids(task, key, kept_pairs)
    notes = with_distinct_times(
        [_with_representable_time(note) for note in task.notes if note.id not in placed], 1000
    )
    record: RecordJson = {
        "uuid": key,
        "description": _description(task, key),
        **_state(task, zone),
        "entry": _compact_time(task.made_ms),
        "modified": _compact_time(task.changed_ms),
        "due": _due(task, kept_pairs or [], zone),
        "priority": _LETTERS.get(task.priority or ""),
        "project": task.category,
        "tags": [label.replace(",", "_") for label in task.labels],
        "annotations": [{"entry": _compact_time(note.at_ms), "description": note.text} for note in notes],
        "depends": _depends(task, tasks),
        **_own_attributes(task, tasks),
    }
    _put_back(record, kept_pairs or [])
    return {name: value for name, value in record.items() if value not in (None, "", [])}


def _compact_time(ms: int) -> str | None:
    """Write a time as Taskwarrior does, None if the time is too early for it."""
    return None if ms < _FIRST_MS else bounded_utc(ms).strftime("%Y%m%dT%H%M%SZ")


def _with_representable_time(note: ExportedNote) -> ExportedNote:
    return replace(note, at_ms=max(note.at_ms, _FIRST_MS))


def _description(task: ExportedTask, key: str) -> str:
    """Return the title, in full if an import had to cut it and nobody changed it since."""
    full_text = task.imported_child_id(FORMAT, f"{key}/description")
    for note in task.notes:
        if note.id == full_text and cut_title(joined_line(note.text)) == task.title:
            return note.text
    return task.title


def _attribute_note_ids(
    task: ExportedTask, key: str, kept_pairs: list[tuple[str, str]] | None
) -> set[EntityId]:
    """Return the notes that are attributes of the record again, and so no annotations."""
    placed: set[EntityId] = (
        set() if kept_pairs is None else {task.imported_child_id(FORMAT, f"{key}/attributes")}
    )
    if _description(task, key) != task.title:
        placed.add(task.imported_child_id(FORMAT, f"{key}/description"))
    return placed


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


def _due(task: ExportedTask, kept_pairs: list[tuple[str, str]], zone: tzinfo) -> str | None:
    if task.due is None or date.fromisoformat(task.due) < _FIRST_DAY:
        return None
    exact = next((value for name, value in kept_pairs if name == "due" and _TIME.fullmatch(value)), None)
    if exact and datetime.fromisoformat(exact).astimezone(zone).date().isoformat() == task.due:
        return _as_written(exact)
    return _local(f"{task.due} {time()}", zone)


# -- what else belongs to it --------------------------------------------------------------------------


def _depends(task: ExportedTask, tasks: ExportedTasks) -> list[str]:
    keys = (tasks.id_in_format(FORMAT, link.other) for link in task.links_to if link.type == "blocks")
    return sorted({key for key in keys if key})


def _own_attributes(task: ExportedTask, tasks: ExportedTasks) -> RecordJson:
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
        custom_attributes.ESTIMATE: str(task.estimate_minutes) if task.estimate_minutes else None,
        custom_attributes.LANGUAGE: task.language,
        custom_attributes.CHECKLISTS: "\n\n".join(lists),
        custom_attributes.LINKS: " ".join(sorted(set(links))),
    }


# -- what an import kept as text ----------------------------------------------------------------------


def _imported_attributes(task: ExportedTask, key: str) -> list[tuple[str, str]] | None:
    """Return the attributes that an import kept as text, None if there are none or they were reworded."""
    wanted = task.imported_child_id(FORMAT, f"{key}/attributes")
    text = next((note.text for note in task.notes if note.id == wanted), None)
    if text is None:
        return None
    pairs = [line.partition(": ") for line in text.split("\n")]
    is_complete = all(_NAME.fullmatch(name) and value for name, _, value in pairs)
    return [(name, value) for name, _, value in pairs] if is_complete else None


def _put_back(record: RecordJson, kept_pairs: list[tuple[str, str]]) -> None:
    for name, value in kept_pairs:
        listed = record.get(name)
        if name in ("depends", "tags") and isinstance(listed, list):
            more = value.split(", ") if name == "depends" else [value]
            listed += [text for text in more if text not in listed]
        elif name == custom_attributes.LINKS and listed:
            record[name] = f"{listed} {value}"
        elif listed in (None, "") and not _is_overtaken(record, name):
            record[name] = _as_written(value)


def _is_overtaken(record: RecordJson, name: str) -> bool:
    """Report whether an attribute kept as text must be left out, because the task itself now decides it."""
    if name == "end":
        return record["status"] in ("pending", "waiting")
    return name in _NEVER or (name == "due" and record[custom_attributes.DUE] is not None)


def _as_written(value: str) -> str:
    return value.replace("-", "").replace(":", "") if _TIME.fullmatch(value) else value
