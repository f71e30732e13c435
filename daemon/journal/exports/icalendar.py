"""Writes the open and finished tasks as to-dos of an iCalendar file (RFC 5545).

Never writes a zone: days are days, and times are in UTC.
"""

from collections.abc import Iterator
from datetime import UTC, tzinfo

from daemon.journal.exports.each import Each, Eachs, Link, Note, apart, moment
from daemon.journal.imports import own
from daemon.journal.imports.icalendar import (
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
    related_key,
)
from daemon.journal.imports.icalendar_lines import NotACalendar, Property, parts_of
from daemon.journal.imports.icalendar_times import Times
from daemon.journal.imports.plan import cut_title
from store.snapshot import Snapshot

__all__ = ["FORMAT", "write"]

_HEAD = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Placet//Placet//EN\r\n"
_FOOT = "END:VCALENDAR\r\n"
_WRITTEN_STATUSES = {status: word for word, status in STATUSES.items()}
_RELATIONS = {type_: word for word, type_ in RELATIONS.items()}
# What a line that was kept as text must not be, as the task says it itself.
_SAID = frozenset(
    {
        *("BEGIN", "END", "UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SUMMARY", "DESCRIPTION", "STATUS"),
        *("COMMENT", X_CATEGORY, "RRULE", "RDATE", "RECURRENCE-ID"),
    }
)

_SHORT_CHARS = 75

Given = tuple[str, dict[str, str], str]
"""A property to write: its name, its parameters, its value as text."""


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield the file."""
    eachs = Eachs(snapshot)
    yield _HEAD
    for each in eachs:
        yield "".join(["BEGIN:VTODO\r\n", *_lines(each, eachs, zone), "END:VTODO\r\n"])
    yield _FOOT


def _lines(each: Each, eachs: Eachs, zone: tzinfo) -> Iterator[str]:
    kept = _kept(each)
    for name, params, value in _properties(each, kept or [], zone):
        yield _line(name, params, value)
    if names := _names(each):
        yield _line("CATEGORIES", {}, names, is_text=False)
    for params, value in _related(each, eachs):
        yield _line("RELATED-TO", params, value)
    for name, params, value in _noted(each, is_kept=kept is not None):
        yield _line(name, params, value)
    for line in kept or []:
        if not _is_overtaken(each, line, zone):
            yield _folded(line.whole)


def _properties(each: Each, kept: list[Property], zone: tzinfo) -> Iterator[Given]:
    uid, *occurrence = each.key(FORMAT).split("\n")
    yield "UID", {}, uid
    if occurrence:
        yield "RECURRENCE-ID", {}, occurrence[0]
    changed = _utc(each.changed_ms)
    yield "DTSTAMP", {}, changed
    if each.is_dated:
        yield "CREATED", {}, _utc(each.made_ms)
    yield "LAST-MODIFIED", {}, changed
    yield "SUMMARY", {"LANGUAGE": each.language} if each.language else {}, _title(each)
    yield from _state(each)
    priority = [line for line in kept if line.name == "PRIORITY"]
    if each.priority in WRITTEN_PRIORITIES and not any(_same_priority(each, line) for line in priority):
        yield "PRIORITY", {}, str(WRITTEN_PRIORITIES[each.priority or ""])
    if each.due and not any(line.name == "DUE" and not _is_overtaken(each, line, zone) for line in kept):
        yield "DUE", {"VALUE": "DATE"}, each.due.replace("-", "")
    if each.estimate_minutes:
        yield X_ESTIMATE, {}, str(each.estimate_minutes)
    if each.category:
        yield X_CATEGORY, {}, each.category
    for one in each.lists:
        if one.title:
            yield X_CHECKLIST, {}, own.checklist_text(one.title, one.lines)


def _state(each: Each) -> Iterator[Given]:
    yield "STATUS", {}, _WRITTEN_STATUSES.get(each.status, "NEEDS-ACTION")
    if each.status not in _WRITTEN_STATUSES:
        yield X_STATUS, {}, each.status
    if each.reason:
        yield X_REASON, {}, each.reason
    if each.status == "DONE" and each.ended_ms is not None and each.is_end_dated:
        yield "COMPLETED", {}, _utc(each.ended_ms)


def _title(each: Each) -> str:
    """Return the title, in full where an import had to cut it and nobody changed it since."""
    whole = each.derived(FORMAT, f"{each.key(FORMAT)}/summary")
    texts = (note.text for note in each.notes if note.id == whole)
    return next((text for text in texts if cut_title(text) == each.title), each.title)


def _names(each: Each) -> str:
    names = [*([each.category] if each.category else []), *each.labels]
    return ",".join(_escaped(name) for name in names)


def _related(each: Each, eachs: Eachs) -> Iterator[tuple[dict[str, str], str]]:
    blocking = (eachs.key(FORMAT, link.other) for link in each.links_to if link.type == "blocks")
    found = [(DEPENDS, key) for key in blocking if key]
    others = ((link, eachs.key(FORMAT, link.other)) for link in each.links_from if link.type in _RELATIONS)
    found += [(_relation(each, link, key), key) for link, key in others if key]
    for relation, key in sorted(set(found)):
        yield {"RELTYPE": relation}, key


def _relation(each: Each, link: Link, key: str) -> str:
    """Return the relation: a plain link is to the parent where an import said so."""
    is_parent = link.id == each.derived(FORMAT, related_key(each.key(FORMAT), key, PARENT))
    return PARENT if is_parent else _RELATIONS[link.type]


# -- notes --------------------------------------------------------------------------------------------


def _noted(each: Each, *, is_kept: bool) -> Iterator[Given]:
    """Yield the notes: one as the description, the others as comments, with their times."""
    key = each.key(FORMAT)
    description = each.derived(FORMAT, f"{key}/description")
    placed = {each.derived(FORMAT, f"{key}/{ATTRIBUTES}")} if is_kept else set()
    if _title(each) != each.title:
        placed.add(each.derived(FORMAT, f"{key}/summary"))
    notes = [note for note in apart(each.notes, 1000) if note.id not in placed and note.text.strip()]
    chosen = next((note for note in notes if note.id == description), notes[0] if notes else None)
    if chosen:
        yield "DESCRIPTION", _when(each, chosen), chosen.text
    for note in notes:
        if note is not chosen:
            yield "COMMENT", {X_AT: _utc(note.at_ms)}, note.text


def _when(each: Each, note: Note) -> dict[str, str]:
    is_first = each.is_dated and _utc(note.at_ms) == _utc(each.made_ms)
    return {} if is_first else {X_AT: _utc(note.at_ms)}


# -- what an import kept as text ----------------------------------------------------------------------


def _kept(each: Each) -> list[Property] | None:
    """Return the lines that an import kept as text, None where there are none or they were reworded."""
    wanted = each.derived(FORMAT, f"{each.key(FORMAT)}/{ATTRIBUTES}")
    text = next((note.text for note in each.notes if note.id == wanted), None)
    if text is None:
        return None
    found: list[Property] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            name, params, value = parts_of(line)
        except ValueError:
            return None
        if name in _SAID or line[:1].isspace():
            return None
        found.append(Property(number, name, params, value, line))
    return found


def _is_overtaken(each: Each, line: Property, zone: tzinfo) -> bool:
    """Say whether what was kept as text must not go out, because the task says otherwise now."""
    if line.name == "PRIORITY":
        return not _same_priority(each, line)
    if line.name == "COMPLETED":
        return each.status == "DONE" and each.is_end_dated
    if line.name == "DUE":
        try:
            return Times(zone, ()).moment(line).day.isoformat() != each.due
        except NotACalendar:
            return True
    return False


def _same_priority(each: Each, line: Property) -> bool:
    return line.value.isdecimal() and PRIORITIES.get(int(line.value)) == each.priority


# -- lines --------------------------------------------------------------------------------------------


def _utc(ms: int) -> str:
    at = moment(ms).astimezone(UTC).isoformat(timespec="seconds")
    return at[:19].replace("-", "").replace(":", "") + "Z"


def _escaped(text: str) -> str:
    from icalendar import vText

    return vText(text).to_ical().decode()


def _line(name: str, params: dict[str, str], value: str, *, is_text: bool = True) -> str:
    from icalendar.parser import Parameters

    start = f"{name};{Parameters(params).to_ical().decode()}" if params else name
    return _folded(f"{start}:{_escaped(value) if is_text else value}")


def _folded(line: str) -> str:
    if len(line) < _SHORT_CHARS and line.isascii():
        return line + "\r\n"  # most lines are, and the library takes its time
    from icalendar.parser import Contentline

    folded: bytes = Contentline(line).to_ical()  # type: ignore[no-untyped-call]
    return folded.decode() + "\r\n"
