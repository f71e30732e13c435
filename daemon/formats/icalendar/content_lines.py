"""The lines of an iCalendar file (RFC 5545): unfolded, nested, each with the line of the file it begins on.

Never decides what a property means to the journal.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from daemon.formats.core.plan import ImportFault
from store.sentence import Sentence, sentence

_DEPTH_MAX = 8
_CALENDAR = "VCALENDAR"
_TODO = "VTODO"
ZONE = "VTIMEZONE"
ALARM = "VALARM"
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_UNESCAPED_COMMA = re.compile(r"(?<!\\)((?:\\\\)*),")
_START = re.compile(r'[^":]*+(?:"[^"]*+"[^":]*+)*+:')
_SHOWN_CHARS = 60


class MalformedCalendar(Exception):
    """Something that no iCalendar file has; the words report what was seen."""

    def __init__(self, line: int, words: Sentence) -> None:
        super().__init__(words.text)
        self.fault = ImportFault(line, words)


@dataclass(frozen=True, slots=True)
class Property:
    """A property: its name in capitals, its parameters, its value as it is written, and the whole line."""

    line: int
    name: str
    params: Mapping[str, str]
    value: str
    whole: str

    @property
    def text(self) -> str:
        """Return the value as text."""
        return unescape_text(self.value)


@dataclass(slots=True)
class Todo:
    """A to-do: the line on which it begins, its properties in order, and its alarms as they are written.

    It `is_whole` if it has an end, and each of its lines is a property.
    """

    line: int
    is_whole: bool = False
    properties: list[Property] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Calendar:
    """What a file has: its to-dos, its time zones as they are written, and how often what else."""

    todos: list[Todo] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)
    faults: list[ImportFault] = field(default_factory=list)


def read_calendar(text: str) -> Calendar:
    """Read a file; what is wrong in a property is among the faults, a broken frame is the last of them."""
    reader = _Reader()
    try:
        for number, line in _unfold_lines(text):
            reader.take(number, line)
        reader.end()
    except MalformedCalendar as error:
        reader.found.faults.append(error.fault)
    return reader.found


def unescape_text(value: str) -> str:
    """Return the text that a value means."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


def split_texts(value: str) -> list[str]:
    """Return the texts of a value that has several, with commas between them."""
    return [unescape_text(part) for part in _UNESCAPED_COMMA.sub(r"\1\0", value).split("\0")]


def split_line(line: str) -> tuple[str, Mapping[str, str], str]:
    """Return name, parameters and value of a line. Raises ValueError if it has none."""
    # The library is slow to import, and most daemons never read a calendar.
    from icalendar.parser import Contentline

    start = _START.match(line)
    if start is None:
        raise ValueError("no colon outside of quotes")
    # Parse without the value: the library would remove its escapes, also those before commas.
    name, params, _ = Contentline(start[0]).parts()  # type: ignore[no-untyped-call]
    parameters = {
        key: ",".join(parameter) if isinstance(parameter, list) else str(parameter)
        for key, parameter in params.items()
    }
    return name.upper(), parameters, line[start.end() :]


def _is_property(line: str) -> bool:
    try:
        split_line(line)
    except ValueError:
        return False
    return True


def _unfold_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line that goes on over several, with the number of the first of them."""
    texts: list[str] = []
    start = 0
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if line[:1] in (" ", "\t") and texts:
            texts.append(line[1:])
        elif line.strip():
            if texts:
                yield start, "".join(texts)
            texts, start = [line], number
    if texts:
        yield start, "".join(texts)


class _Reader:
    def __init__(self) -> None:
        self.found = Calendar()
        self._open: list[tuple[str, int]] = []
        self._open_todos: list[Todo] = []
        self._block: list[str] = []
        self._faulty: set[int] = set()

    def take(self, number: int, line: str) -> None:
        head = line[:6].upper()
        if head == "BEGIN:":
            self._begin(number, line[6:].strip().upper())
        elif not self._open:
            outside = sentence(
                "ical-line-outside",
                "{line!r} outside of any BEGIN:VCALENDAR",
                line=line[:_SHOWN_CHARS],
            )
            raise MalformedCalendar(number, outside)
        if self._is_within(ZONE) or self._is_in_alarm():
            self._block.append(line)
        if line[:4].upper() == "END:":
            self._finish(number, line[4:].strip().upper())
        elif head != "BEGIN:" and self._open[-1][0] == _TODO:
            self._property(number, line)

    def end(self) -> None:
        if self._open:
            name, number = self._open[-1]
            endless = sentence(
                "ical-no-end", "BEGIN:{name} has no end: the file is cut off", name=name[:_SHOWN_CHARS]
            )
            raise MalformedCalendar(number, endless)

    def _is_within(self, name: str) -> bool:
        return any(text == name for text, _ in self._open)

    def _is_in_alarm(self) -> bool:
        """Report whether a to-do's own alarm is open, and nothing within it."""
        return [name for name, _ in self._open[-2:]] == [_TODO, ALARM]

    def _begin(self, number: int, name: str) -> None:
        if not self._open and name != _CALENDAR:
            outside = sentence(
                "ical-begin-outside",
                "BEGIN:{name} outside of any BEGIN:VCALENDAR",
                name=name[:_SHOWN_CHARS],
            )
            raise MalformedCalendar(number, outside)
        if len(self._open) >= _DEPTH_MAX:
            too_deep = sentence(
                "ical-too-deep", "more than {most} components within each other", most=_DEPTH_MAX
            )
            raise MalformedCalendar(number, too_deep)
        self._open.append((name, number))
        if name == _TODO:
            self._open_todos.append(Todo(number))
            self.found.todos.append(self._open_todos[-1])
        elif name != _CALENDAR and not self._is_within(ZONE) and not self._is_in_alarm():
            self._count(name, number)

    def _finish(self, number: int, name: str) -> None:
        opened = self._open.pop()
        if opened[0] != name:
            other_end = sentence(
                "ical-other-end",
                "END:{name} where END:{wanted} belongs, begun on line {line}",
                name=name[:_SHOWN_CHARS],
                wanted=opened[0][:_SHOWN_CHARS],
                line=opened[1],
            )
            raise MalformedCalendar(number, other_end)
        if name == ZONE:
            self.found.zones.append("\r\n".join(self._block))
            self._block = []
        elif name == ALARM and self._open and self._open[-1][0] == _TODO:
            self._finish_alarm(opened[1])
        elif name == _TODO:
            self._open_todos.pop().is_whole = opened[1] not in self._faulty

    def _finish_alarm(self, number: int) -> None:
        """Keep an alarm whose lines are all properties; others are counted as left out."""
        if all(map(_is_property, self._block)):
            self._open_todos[-1].alarms.append("\n".join(self._block))
        else:
            self._count(ALARM, number)
        self._block = []

    def _count(self, name: str, number: int) -> None:
        self.found.others[name] += 1
        self.found.first.setdefault(name, number)

    def _property(self, number: int, line: str) -> None:
        try:
            name, params, value = split_line(line)
        except ValueError:
            no_property = sentence(
                "ical-no-property",
                "{line!r} is no property: it lacks a name, a colon or a closing quote",
                line=line[:_SHOWN_CHARS],
            )
            self.found.faults.append(ImportFault(number, no_property))
            self._faulty.add(self._open[-1][1])
            return
        self._open_todos[-1].properties.append(Property(number, name, params, value, line))
