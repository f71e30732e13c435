"""The JSON of a Taskwarrior export: the position of each record in the file, and its typed attributes.

Never decides what an attribute means to the journal.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from daemon.formats.core.plan import ImportFault, line_number_at, nested_too_deeply_sentence
from store.sentence import Sentence, foreign_text, sentence

_TIMESTAMP = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d):?(\d\d)Z", re.ASCII)
_CONTROL = re.compile("[\x7f-\x9f]")
_BYTE = re.compile(r" \(byte (\d+)\)$")
_WHERE = re.compile(r"(.*) - at `\$\.?(.+)`$")
_HALF_OF_A_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
# Numbers that Taskwarrior computes anew for each export: kept, they would make every export differ.
_COMPUTED = frozenset({"id", "urgency"})

Decoded = TypeVar("Decoded")


class MalformedRecord(Exception):
    """A record or a file that is not as Taskwarrior writes it; `words` report what was seen."""

    def __init__(self, words: Sentence, lines_down: int = 0) -> None:
        super().__init__(words.text)
        self.words = words
        self.lines_down = lines_down


class Annotation(msgspec.Struct, frozen=True):
    """A note of a task."""

    entry: str
    description: str


class TaskwarriorRecord(msgspec.Struct, frozen=True):
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
class LocatedRecord:
    """A record, the line of the file on which it begins, and its other attributes as JSON.

    `number` counts the records of a list from 1 if several share the line, else it is 0.
    """

    line: int
    record: TaskwarriorRecord
    others: tuple[tuple[str, str], ...]
    number: int = 0

    @property
    def key(self) -> str:
        """Return the task's own identity."""
        return self.record.uuid.strip().lower()

    def fault(self, words: Sentence) -> ImportFault:
        """Make the fault of this record."""
        return _fault(self.line, self.number, words)

    @property
    def dependencies(self) -> list[str]:
        """Return the keys of the tasks that this one waits for; older exports join them by commas."""
        depends = self.record.depends
        keys = depends.split(",") if isinstance(depends, str) else depends
        return list(dict.fromkeys(key.strip().lower() for key in keys if key.strip()))


_KNOWN = frozenset(TaskwarriorRecord.__struct_fields__)
_list = msgspec.json.Decoder(list[msgspec.Raw])
_record = msgspec.json.Decoder(TaskwarriorRecord)
_attributes = msgspec.json.Decoder(dict[str, msgspec.Raw])
_string = msgspec.json.Decoder(str)


def read_records(text: str) -> Iterator[LocatedRecord | ImportFault]:
    """Yield each record of an export, or a fault in its place."""
    text = text.removeprefix("\ufeff")
    start = text.lstrip()[:1]
    if start == "[":
        yield from _from_list(text.encode())
    elif start == "{":
        yield from _from_lines(text)
    elif start:
        line = line_number_at(text, text.index(start))
        no_export = sentence(
            "taskwarrior-no-export",
            "not what `task export` prints: neither a JSON list nor JSON objects",
        )
        yield ImportFault(line, no_export)


def parse_timestamp(attribute: str, text: str) -> datetime:
    """Read a time as Taskwarrior writes it (20261201T000000Z), or with dashes and colons."""
    parts = _TIMESTAMP.fullmatch(text.strip())
    try:
        if parts is not None:
            year, month, day, hour, minute, second = map(int, parts.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        pass  # said below, like any other text that is no time
    raise MalformedRecord(
        sentence(
            "taskwarrior-not-a-time",
            "{attribute} is {seen!r}, not a time like 20261201T000000Z",
            attribute=attribute,
            seen=text[:40],
        )
    )


def as_json(value: object) -> str:
    """Write a value as JSON on one line."""
    return kept_json(msgspec.json.encode(value))


def kept_json(raw: bytes) -> str:
    """Return JSON on one line, numbers and texts as written, control characters escaped: notes keep none."""
    line = msgspec.json.format(raw, indent=0).decode()
    return _CONTROL.sub(lambda sign: f"\\u{ord(sign[0]):04x}", line)


def text_in_json(raw: str) -> str | None:
    """Return the text that JSON says, None if it says something else."""
    return _string.decode(raw) if raw.startswith('"') else None


def _from_list(document: bytes) -> Iterator[LocatedRecord | ImportFault]:
    try:
        records = _decode(_list, document)
    except MalformedRecord as error:
        yield ImportFault(1 + error.lines_down, error.words)
        return
    placed = list(_with_lines(document, map(bytes, records)))
    for number, (raw, line) in enumerate(placed, 1):
        before, after = placed[max(number - 2, 0)], placed[min(number, len(placed) - 1)]
        ends = line + raw.count(b"\n")
        # A line number alone would not show a reader which record is meant.
        is_crowded = (number > 1 and before[1] + before[0].count(b"\n") == line) or (
            number < len(placed) and after[1] == ends
        )
        yield _source(raw, line, number if is_crowded else 0)


def _with_lines(document: bytes, records: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield each record with the line on which it begins."""
    offset, line = 0, 1
    for raw in records:
        start = document.index(raw, offset)
        line += document.count(b"\n", offset, start)
        yield raw, line
        offset, line = start + len(raw), line + raw.count(b"\n")


def _from_lines(text: str) -> Iterator[LocatedRecord | ImportFault]:
    try:
        _attributes.decode(text)
        records = [text]  # one object, over however many lines
    except (msgspec.DecodeError, RecursionError):
        records = text.split("\n")
    for line, written_record in enumerate(records, 1):
        if record := written_record.strip().removesuffix(","):
            yield _source(record.encode(), line)


def _fault(line: int, number: int, words: Sentence) -> ImportFault:
    if not number:
        return ImportFault(line, words)
    return ImportFault(
        line, sentence("taskwarrior-in-record", "record {number}: {fault}", number=number, fault=words)
    )


def _source(raw: bytes, line: int, number: int = 0) -> LocatedRecord | ImportFault:
    try:
        record = _decode(_record, raw)
        others = _decode(_attributes, raw)
        names = [name for name in others if name not in _KNOWN and name not in _COMPUTED]
        return LocatedRecord(
            line, record, tuple((name, kept_json(bytes(others[name]))) for name in names), number
        )
    except MalformedRecord as error:
        return _fault(line + error.lines_down, number, error.words)


def _decode(decoder: msgspec.json.Decoder[Decoded], raw: bytes) -> Decoded:
    """Decode, or raise MalformedRecord in a person's words, with how many lines down the trouble is."""
    try:
        return decoder.decode(raw)
    except RecursionError as error:
        raise MalformedRecord(nested_too_deeply_sentence()) from error
    except msgspec.ValidationError as error:
        located = _WHERE.match(str(error))
        words = f"{located[2]}: {located[1]}" if located else str(error)
        raise MalformedRecord(foreign_text(words)) from error
    except msgspec.DecodeError as error:
        raise _malformed_record(str(error), raw) from error


def _malformed_record(text: str, raw: bytes) -> MalformedRecord:
    if byte := _BYTE.search(text):
        return MalformedRecord(foreign_text(text[: byte.start()]), raw.count(b"\n", 0, int(byte[1])))
    if half := _HALF_OF_A_PAIR.search(raw):
        # The decoder goes on looking for the other half, and finds the end.
        escape = sentence("json-half-escape", "JSON is malformed: a \\u escape that is half of a pair")
        return MalformedRecord(escape, raw.count(b"\n", 0, half.start()))
    cut_off = sentence("json-cut-off", "JSON ends too early: the file is cut off")
    return MalformedRecord(cut_off, raw.rstrip().count(b"\n"))
