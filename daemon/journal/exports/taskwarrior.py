"""Writes all tasks as `task import` reads them, a record a line; removed ones as deleted.

Never leaves a part of a task out that is not archived: what Taskwarrior has no attribute for goes into
attributes of Placet's own, which Taskwarrior keeps as they are.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, tzinfo

from daemon.journal.exports.each import Each, Eachs, Note, apart, moment
from daemon.journal.imports import own, taskwarrior_own
from daemon.journal.imports.plan import cut_title, on_one_line
from daemon.journal.imports.taskwarrior import FORMAT, PRIORITIES
from store.snapshot import Snapshot
from syncproto.ids import EntityId

__all__ = ["FORMAT", "write"]

Record = dict[str, object]

# Taskwarrior takes no earlier time: it refuses the whole file.
_FIRST_DAY = date(1980, 1, 2)
_FIRST_MS = 315_619_200_000
_LETTERS = {priority: letter for letter, priority in PRIORITIES.items()} | {taskwarrior_own.URGENT: "H"}
_WAITS = re.compile(r"waiting until (\d{4}-\d\d-\d\d)(?: (\d\d:\d\d(?::\d\d)?))?", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
# What Taskwarrior computes itself, or would take for something else than what is kept as text.
_NEVER = frozenset({"id", "urgency", "uuid", "status", "description", "entry", "modified", "annotations"})


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield the file: a JSON list."""
    eachs = Eachs(snapshot, removed=True)
    before = "[\n"
    for each in eachs:
        yield before + json.dumps(_record(each, eachs, zone), ensure_ascii=False)
        before = ",\n"
    yield "[\n]\n" if before == "[\n" else "\n]\n"


def _record(each: Each, eachs: Eachs, zone: tzinfo) -> Record:
    key = each.key(FORMAT)
    kept = _kept(each, key)
    notes = apart([_late(note) for note in each.notes if note.id not in _placed(each, key, kept)], 1000)
    record: Record = {
        "uuid": key,
        "description": _description(each, key),
        **_state(each, zone),
        "entry": _compact(each.made_ms),
        "modified": _compact(each.changed_ms),
        "due": _due(each, kept or [], zone),
        "priority": _LETTERS.get(each.priority or ""),
        "project": each.category,
        "tags": [label.replace(",", "_") for label in each.labels],
        "annotations": [{"entry": _compact(note.at_ms), "description": note.text} for note in notes],
        "depends": _depends(each, eachs),
        **_own(each, eachs),
    }
    _put_back(record, kept or [])
    return {name: value for name, value in record.items() if value not in (None, "", [])}


def _compact(ms: int) -> str | None:
    """Write a time as Taskwarrior does, None where it takes none so early."""
    return None if ms < _FIRST_MS else moment(ms).strftime("%Y%m%dT%H%M%SZ")


def _late(note: Note) -> Note:
    return replace(note, at_ms=max(note.at_ms, _FIRST_MS))


def _description(each: Each, key: str) -> str:
    """Return the title, in full where an import had to cut it and nobody changed it since."""
    whole = each.derived(FORMAT, f"{key}/description")
    for note in each.notes:
        if note.id == whole and cut_title(on_one_line(note.text)) == each.title:
            return note.text
    return each.title


def _placed(each: Each, key: str, kept: list[tuple[str, str]] | None) -> set[EntityId]:
    """Return the notes that are attributes of the record again, and so no annotations."""
    placed: set[EntityId] = set() if kept is None else {each.derived(FORMAT, f"{key}/attributes")}
    if _description(each, key) != each.title:
        placed.add(each.derived(FORMAT, f"{key}/description"))
    return placed


# -- state and days -----------------------------------------------------------------------------------


def _state(each: Each, zone: tzinfo) -> Record:
    if each.removed_ms is not None:
        return {"status": "deleted", "end": _compact(each.removed_ms)}
    if each.ended_ms is not None:
        status = "completed" if each.status == "DONE" else "deleted"
        return {"status": status, "end": _compact(each.ended_ms)} | _said(each)
    if each.status == "ON HOLD" and (wait := _wait(each, zone)):
        return {"status": "waiting", "wait": wait}
    return {"status": "pending"} | _said(each)


def _said(each: Each) -> Record:
    """Return status and reason in our own words, where Taskwarrior has none."""
    status = None if each.status in ("OPEN", "DONE") else each.status
    return {taskwarrior_own.STATUS: status, taskwarrior_own.REASON: each.reason}


def _wait(each: Each, zone: tzinfo) -> str | None:
    found = _WAITS.fullmatch(each.reason or "")
    return _local(f"{found[1]} {found[2] or '00:00'}", zone) if found else None


def _local(written: str, zone: tzinfo) -> str | None:
    """Write a local time as Taskwarrior does, None where it is no time that it takes."""
    try:
        local = datetime.fromisoformat(written).replace(tzinfo=zone)
        return _compact(int(local.astimezone(UTC).timestamp()) * 1000)
    except (ValueError, OverflowError):
        return None


def _due(each: Each, kept: list[tuple[str, str]], zone: tzinfo) -> str | None:
    if each.due is None or date.fromisoformat(each.due) < _FIRST_DAY:
        return None
    exact = next((value for name, value in kept if name == "due" and _TIME.fullmatch(value)), None)
    if exact and datetime.fromisoformat(exact).astimezone(zone).date().isoformat() == each.due:
        return _as_written(exact)
    return _local(f"{each.due} {time()}", zone)


# -- what else belongs to it --------------------------------------------------------------------------


def _depends(each: Each, eachs: Eachs) -> list[str]:
    keys = (eachs.key(FORMAT, link.other) for link in each.links_to if link.type == "blocks")
    return sorted({key for key in keys if key})


def _own(each: Each, eachs: Eachs) -> Record:
    """Return the attributes of our own, all text: Taskwarrior rewrites numbers that it does not know."""
    too_early = each.due is not None and date.fromisoformat(each.due) < _FIRST_DAY
    lists = [own.checklist_text(one.title, one.lines) for one in each.lists if one.title]
    links = [
        f"{link.type}:{key}"
        for link in each.links_from
        if link.type in own.LINK_TYPES and (key := eachs.key(FORMAT, link.other))
    ]
    return {
        taskwarrior_own.PRIORITY: each.priority if each.priority == taskwarrior_own.URGENT else None,
        taskwarrior_own.DUE: each.due if too_early else None,
        taskwarrior_own.ESTIMATE: str(each.estimate_minutes) if each.estimate_minutes else None,
        taskwarrior_own.LANGUAGE: each.language,
        taskwarrior_own.CHECKLISTS: "\n\n".join(lists),
        taskwarrior_own.LINKS: " ".join(sorted(set(links))),
    }


# -- what an import kept as text ----------------------------------------------------------------------


def _kept(each: Each, key: str) -> list[tuple[str, str]] | None:
    """Return the attributes that an import kept as text, None where there are none or they were reworded."""
    wanted = each.derived(FORMAT, f"{key}/attributes")
    text = next((note.text for note in each.notes if note.id == wanted), None)
    if text is None:
        return None
    pairs = [line.partition(": ") for line in text.split("\n")]
    whole = all(_NAME.fullmatch(name) and value for name, _, value in pairs)
    return [(name, value) for name, _, value in pairs] if whole else None


def _put_back(record: Record, kept: list[tuple[str, str]]) -> None:
    for name, value in kept:
        listed = record.get(name)
        if name in ("depends", "tags") and isinstance(listed, list):
            more = value.split(", ") if name == "depends" else [value]
            listed += [one for one in more if one not in listed]
        elif name == taskwarrior_own.LINKS and listed:
            record[name] = f"{listed} {value}"
        elif listed in (None, "") and not _is_overtaken(record, name):
            record[name] = _as_written(value)


def _is_overtaken(record: Record, name: str) -> bool:
    """Say whether what was kept as text must not come back, because the task says otherwise now."""
    if name == "end":
        return record["status"] in ("pending", "waiting")
    return name in _NEVER or (name == "due" and record[taskwarrior_own.DUE] is not None)


def _as_written(value: str) -> str:
    return value.replace("-", "").replace(":", "") if _TIME.fullmatch(value) else value
