"""The lines of an iCalendar file (RFC 5545): unfolded, nested, each with the line of the file it begins on.

Never decides what a property means to the journal.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from daemon.journal.imports.plan import ImportFault

_DEPTH_MAX = 8
_CALENDAR = "VCALENDAR"
_TODO = "VTODO"
_ZONE = "VTIMEZONE"
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_UNESCAPED_COMMA = re.compile(r"(?<!\\)((?:\\\\)*),")
_START = re.compile(r'[^":]*+(?:"[^"]*+"[^":]*+)*+:')
_SHOWN_CHARS = 60


class NotACalendar(Exception):
    """Something that no iCalendar file has; the message says what was seen."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.fault = ImportFault(line, message)


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
        return unescaped(self.value)


@dataclass(slots=True)
class Todo:
    """A to-do: the line on which it begins, and its properties in order."""

    line: int
    properties: list[Property] = field(default_factory=list)


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
        for number, line in _unfolded(text):
            reader.take(number, line)
        reader.end()
    except NotACalendar as error:
        reader.found.faults.append(error.fault)
    return reader.found


def unescaped(value: str) -> str:
    """Return the text that a value means."""
    return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], value)


def listed(value: str) -> list[str]:
    """Return the texts of a value that has several, with commas between them."""
    return [unescaped(part) for part in _UNESCAPED_COMMA.sub(r"\1\0", value).split("\0")]


def parts_of(line: str) -> tuple[str, Mapping[str, str], str]:
    """Return name, parameters and value of a line. Raises ValueError where it has none."""
    # The library takes a while to import, and most daemons never read a calendar.
    from icalendar.parser import Contentline

    start = _START.match(line)
    if start is None:
        raise ValueError("no colon outside of quotes")
    # Without its value: the library would take escapes out of it, also those before commas.
    name, params, _ = Contentline(start[0]).parts()  # type: ignore[no-untyped-call]
    given = {key: ",".join(one) if isinstance(one, list) else str(one) for key, one in params.items()}
    return name.upper(), given, line[start.end() :]


def _unfolded(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line that goes on over several, with the number of the first of them."""
    held: list[str] = []
    begun = 0
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if line[:1] in (" ", "\t") and held:
            held.append(line[1:])
        elif line.strip():
            if held:
                yield begun, "".join(held)
            held, begun = [line], number
    if held:
        yield begun, "".join(held)


class _Reader:
    def __init__(self) -> None:
        self.found = Calendar()
        self._open: list[tuple[str, int]] = []
        self._zone: list[str] = []

    def take(self, number: int, line: str) -> None:
        head = line[:6].upper()
        if head == "BEGIN:":
            self._begin(number, line[6:].strip().upper())
        elif not self._open:
            raise NotACalendar(number, f"{line[:_SHOWN_CHARS]!r} outside of any BEGIN:VCALENDAR")
        if self._within(_ZONE):
            self._zone.append(line)
        if line[:4].upper() == "END:":
            self._finish(number, line[4:].strip().upper())
        elif head != "BEGIN:" and self._open[-1][0] == _TODO:
            self._property(number, line)

    def end(self) -> None:
        if self._open:
            name, number = self._open[-1]
            raise NotACalendar(number, f"BEGIN:{name[:_SHOWN_CHARS]} has no end: the file is cut off")

    def _within(self, name: str) -> bool:
        return any(one == name for one, _ in self._open)

    def _begin(self, number: int, name: str) -> None:
        if not self._open and name != _CALENDAR:
            raise NotACalendar(number, f"BEGIN:{name[:_SHOWN_CHARS]} outside of any BEGIN:VCALENDAR")
        if len(self._open) >= _DEPTH_MAX:
            raise NotACalendar(number, f"more than {_DEPTH_MAX} components within each other")
        self._open.append((name, number))
        if name == _TODO:
            self.found.todos.append(Todo(number))
        elif name != _CALENDAR and not self._within(_ZONE):
            self.found.others[name] += 1
            self.found.first.setdefault(name, number)

    def _finish(self, number: int, name: str) -> None:
        opened = self._open.pop()
        if opened[0] != name:
            seen = f"END:{name[:_SHOWN_CHARS]} where END:{opened[0][:_SHOWN_CHARS]} belongs"
            raise NotACalendar(number, f"{seen}, begun on line {opened[1]}")
        if name == _ZONE:
            self.found.zones.append("\r\n".join(self._zone))
            self._zone = []

    def _property(self, number: int, line: str) -> None:
        try:
            name, params, value = parts_of(line)
        except ValueError:
            seen = f"{line[:_SHOWN_CHARS]!r} is no property: it lacks a name, a colon or a closing quote"
            self.found.faults.append(ImportFault(number, seen))
            return
        self.found.todos[-1].properties.append(Property(number, name, params, value, line))
