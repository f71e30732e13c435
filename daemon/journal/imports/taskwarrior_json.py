"""The JSON of a Taskwarrior export: where each record stands in the file, and its attributes, typed.

Never decides what an attribute means to the journal.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from daemon.journal.imports.plan import ImportFault, line_of, utc_text

_TIMESTAMP = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)Z", re.ASCII)
_BYTE = re.compile(r" \(byte (\d+)\)$")
_WHERE = re.compile(r"(.*) - at `\$\.?(.+)`$")
_HALF_OF_A_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
# Numbers that Taskwarrior computes anew for each export: kept, they would make every export differ.
_COMPUTED = frozenset({"id", "urgency"})

Decoded = TypeVar("Decoded")


class NotAnExport(Exception):
    """A record or a file that is not as Taskwarrior writes it; the message says what was seen."""

    def __init__(self, message: str, lines_down: int = 0) -> None:
        super().__init__(message)
        self.lines_down = lines_down


class Annotation(msgspec.Struct, frozen=True):
    """A note of a task."""

    entry: str
    description: str


class Record(msgspec.Struct, frozen=True):
    """The attributes that the journal has a place for."""

    uuid: str
    description: str
    status: str
    entry: str | None = None
    modified: str | None = None
    end: str | None = None
    due: str | None = None
    wait: str | None = None
    project: str | None = None
    priority: str | None = None
    tags: list[str] = []
    annotations: list[Annotation] = []
    depends: list[str] | str = []


@dataclass(frozen=True, slots=True)
class Source:
    """A record, the line of the file on which it begins, and its other attributes as text.

    `number` counts the records of a list from 1 where several share the line, else it is 0.
    """

    line: int
    record: Record
    others: tuple[tuple[str, str], ...]
    number: int = 0

    @property
    def key(self) -> str:
        """Return the task's own identity."""
        return self.record.uuid.strip().lower()

    def fault(self, message: str) -> ImportFault:
        """Make the fault of this record."""
        return _fault(self.line, self.number, message)

    @property
    def dependencies(self) -> list[str]:
        """Return the keys of the tasks that this one waits for; older exports join them by commas."""
        given = self.record.depends
        keys = given.split(",") if isinstance(given, str) else given
        return list(dict.fromkeys(key.strip().lower() for key in keys if key.strip()))


_KNOWN = frozenset(Record.__struct_fields__)
_list = msgspec.json.Decoder(list[msgspec.Raw])
_record = msgspec.json.Decoder(Record)
_attributes = msgspec.json.Decoder(dict[str, msgspec.Raw])
_string = msgspec.json.Decoder(str)


def sources(text: str) -> Iterator[Source | ImportFault]:
    """Yield each record of an export, or the fault that stands in its place."""
    text = text.removeprefix("\ufeff")
    start = text.lstrip()[:1]
    if start == "[":
        yield from _from_list(text.encode())
    elif start == "{":
        yield from _from_lines(text)
    elif start:
        line = line_of(text, text.index(start))
        yield ImportFault(line, "not what `task export` prints: neither a JSON list nor JSON objects")


def timestamp(attribute: str, written: str) -> datetime:
    """Read a time as Taskwarrior writes it (20261201T000000Z), or with dashes and colons."""
    parts = _TIMESTAMP.fullmatch(written.strip())
    try:
        if parts is not None:
            year, month, day, hour, minute, second = map(int, parts.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        pass  # said below, like any other text that is no time
    raise NotAnExport(f"{attribute} is {written[:40]!r}, not a time like 20261201T000000Z")


def text_of(written: str) -> str:
    """Write a value for a person: times in ISO 8601, anything else as it stands."""
    try:
        return utc_text(int(timestamp("value", written).timestamp()) * 1000)
    except NotAnExport:
        return written


def _from_list(whole: bytes) -> Iterator[Source | ImportFault]:
    try:
        records = _decoded(_list, whole)
    except NotAnExport as error:
        yield ImportFault(1 + error.lines_down, str(error))
        return
    placed = list(_placed(whole, map(bytes, records)))
    for number, (raw, line) in enumerate(placed, 1):
        before, after = placed[max(number - 2, 0)], placed[min(number, len(placed) - 1)]
        ends = line + raw.count(b"\n")
        # A line alone would not tell a reader which record is meant.
        is_crowded = (number > 1 and before[1] + before[0].count(b"\n") == line) or (
            number < len(placed) and after[1] == ends
        )
        yield _source(raw, line, number if is_crowded else 0)


def _placed(whole: bytes, records: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield each record with the line on which it begins."""
    at, line = 0, 1
    for raw in records:
        start = whole.index(raw, at)
        line += whole.count(b"\n", at, start)
        yield raw, line
        at, line = start + len(raw), line + raw.count(b"\n")


def _from_lines(text: str) -> Iterator[Source | ImportFault]:
    try:
        _attributes.decode(text)
        records = [text]  # one object, over however many lines
    except (msgspec.DecodeError, RecursionError):
        records = text.split("\n")
    for line, written in enumerate(records, 1):
        if record := written.strip().removesuffix(","):
            yield _source(record.encode(), line)


def _fault(line: int, number: int, message: str) -> ImportFault:
    return ImportFault(line, f"record {number}: {message}" if number else message)


def _source(raw: bytes, line: int, number: int = 0) -> Source | ImportFault:
    try:
        record = _decoded(_record, raw)
        others = _decoded(_attributes, raw)
        names = [name for name in others if name not in _KNOWN and name not in _COMPUTED]
        return Source(line, record, tuple((name, _value_text(bytes(others[name]))) for name in names), number)
    except NotAnExport as error:
        return _fault(line + error.lines_down, number, str(error))


def _value_text(raw: bytes) -> str:
    return text_of(_decoded(_string, raw)) if raw.startswith(b'"') else raw.decode()


def _decoded(decoder: msgspec.json.Decoder[Decoded], raw: bytes) -> Decoded:
    """Decode, or raise NotAnExport in a person's words, with how many lines down the trouble is."""
    try:
        return decoder.decode(raw)
    except RecursionError as error:
        raise NotAnExport("JSON is nested too deeply") from error
    except msgspec.ValidationError as error:
        located = _WHERE.match(str(error))
        raise NotAnExport(f"{located[2]}: {located[1]}" if located else str(error)) from error
    except msgspec.DecodeError as error:
        raise _malformed(str(error), raw) from error


def _malformed(said: str, raw: bytes) -> NotAnExport:
    if byte := _BYTE.search(said):
        return NotAnExport(said[: byte.start()], raw.count(b"\n", 0, int(byte[1])))
    if half := _HALF_OF_A_PAIR.search(raw):
        # The decoder goes on looking for the other half, and finds the end.
        escape = "JSON is malformed: a \\u escape that is half of a pair"
        return NotAnExport(escape, raw.count(b"\n", 0, half.start()))
    return NotAnExport("JSON ends too early: the file is cut off", raw.rstrip().count(b"\n"))
