"""Reads a JSON Lines export line by line: first all of it, for its faults, then in parts of whole entities.

Never holds more than a part of it: such a file may be larger than memory.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec

from daemon.journal.errors import Code, Detail, Refused
from daemon.journal.exports.jsonl_form import LINE_BYTES_MAX, NAME, VERSION, End, header, line
from daemon.journal.imports.jsonl_entity import Malformed, Whole, read
from daemon.journal.imports.plan import FAULTS_SHOWN_MAX
from store.proposals import CHANGE_SET, DECISION
from syncproto.ids import EntityId

PART_ENTITIES = 1000
PART_BYTES = 1 << 20

# What was decided comes first: whether a confirmed value counts follows from it.
_FIRST = frozenset({CHANGE_SET, DECISION})


class File(Protocol):
    """A file that can be read twice."""

    def rewind(self) -> None:
        """Go back to its start."""

    def line(self, bytes_max: int) -> bytes:
        """Read a line, or so many bytes of it."""


class Placed(NamedTuple):
    """An entity, the line that it is on, and the bytes of that."""

    number: int
    whole: Whole
    size: int


Part = Sequence[Placed]


def check(file: File) -> int:
    """Read a file whole and return how many entities it has. Raises Refused with what is wrong in it."""
    faults: list[Detail] = []
    entities = more = 0
    for found in _lines(file):
        if isinstance(found, Placed):
            entities += 1
        elif len(faults) < FAULTS_SHOWN_MAX:
            faults.append(found)
        else:
            more += 1
    if more:
        faults.append(Detail(faults[-1].line, f"and {more} more faults from here on"))
    if faults:
        raise _refused(faults)
    return entities


def parts(file: File) -> Iterator[Part]:
    """Yield the entities of a file that was checked, in parts: proposals and decisions, then all others."""
    for is_first in (True, False):
        part: list[Placed] = []
        ids: set[EntityId] = set()
        size = 0
        for found in _lines(file):
            if not isinstance(found, Placed) or (found.whole.kind in _FIRST) is not is_first:
                continue
            if found.whole.id in ids or len(part) >= PART_ENTITIES or size >= PART_BYTES:
                yield part
                part, ids, size = [], set(), 0
            part.append(found)
            ids.add(found.whole.id)
            size += found.size
        if part:
            yield part


def _lines(file: File) -> Iterator[Placed | Detail]:
    """Yield each entity, or the fault that stands in its place."""
    file.rewind()
    first = file.line(LINE_BYTES_MAX)
    if fault := _header_fault(first):
        yield Detail(1, fault)
        return
    number, has_ended = 1, False
    while raw := file.line(LINE_BYTES_MAX):
        number += 1
        if len(raw) >= LINE_BYTES_MAX:
            yield Detail(number, f"a line of more than {LINE_BYTES_MAX >> 20} MiB: no entity is that long")
            return
        if not raw.strip():
            continue
        if has_ended:
            yield Detail(number, "something stands behind the line that ends the file")
            return
        found = _found(raw, number)
        has_ended = found is None
        if found is not None:
            yield found
    if not has_ended:
        yield Detail(number, 'the file ends early, without its last line {"end":true}: it was cut off')


def _header_fault(raw: bytes) -> str | None:
    try:
        found = header(raw.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return "this is not what `placet export jsonl` writes: its first line says the format"
    if found.format != NAME:
        return f"the format is {found.format[:40]!r}, not {NAME!r}"
    if found.version != VERSION:
        return f"the format's version is {found.version}; this Placet reads version {VERSION}"
    return None


def _found(raw: bytes, number: int) -> Placed | Detail | None:
    """Read a line after the first; None is the end."""
    try:
        told = line(raw)
        if isinstance(told, End):
            return None if told.end else Detail(number, "the line that ends the file says false")
        return Placed(number, read(told), len(raw))
    except (msgspec.MsgspecError, UnicodeDecodeError, Malformed) as fault:
        return Detail(number, str(fault))
    except RecursionError:
        return Detail(number, "JSON is nested too deeply")


def _refused(faults: list[Detail]) -> Refused:
    seen = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
    return Refused(
        Code.FAILED,
        f"nothing was imported: the file has {seen}",
        "export it again, or mend it, and import it again",
        details=faults,
    )
