"""Reads a JSON Lines export line by line: first all of it, for its faults, then in parts of whole entities.

Never holds more than a part of it: such a file may be larger than memory.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec

from daemon.formats.core.importer import file_has_faults
from daemon.formats.core.plan import FAULTS_SHOWN_MAX, more_faults, nested_too_deeply_sentence
from daemon.formats.jsonl.entity_record import EntityRecord, MalformedEntity, read_entity
from daemon.formats.jsonl.line_schema import (
    END_TEXT,
    FORMAT_NAME,
    FORMAT_VERSION,
    LINE_BYTES_MAX,
    EndLine,
    decode_header,
    decode_line,
)
from daemon.refusal import Detail, RefusalCode, Refused
from store.fold.proposal_index import CHANGE_SET, DECISION
from store.sentence import Sentence, foreign_text, sentence
from syncproto.ids import EntityId

PART_ENTITIES = 1000
PART_BYTES = 1 << 20

# What was decided comes first: whether a confirmed value counts follows from it.
_FIRST = frozenset({CHANGE_SET, DECISION})


class RewindableFile(Protocol):
    """A file that can be read twice."""

    def rewind(self) -> None:
        """Go back to its start."""

    def line(self, bytes_max: int) -> bytes:
        """Read a line, or so many bytes of it."""


class LocatedEntity(NamedTuple):
    """An entity, the line that it is on, and the bytes of that."""

    number: int
    whole: EntityRecord
    size: int


EntityPart = Sequence[LocatedEntity]


def count_checked(file: RewindableFile) -> int:
    """Read a file whole and return how many entities it has. Raises Refused with what is wrong in it."""
    faults: list[Detail] = []
    entities = more = 0
    for parsed in _lines(file):
        if isinstance(parsed, LocatedEntity):
            entities += 1
        elif len(faults) < FAULTS_SHOWN_MAX:
            faults.append(parsed)
        else:
            more += 1
    if more:
        faults.append(Detail(faults[-1].line, more_faults(more)))
    if faults:
        raise _file_refusal(faults)
    return entities


def read_parts(file: RewindableFile) -> Iterator[EntityPart]:
    """Yield the entities of a file that was checked, in parts: proposals and decisions, then all others."""
    for is_first in (True, False):
        part: list[LocatedEntity] = []
        ids: set[EntityId] = set()
        size = 0
        for parsed in _lines(file):
            if not isinstance(parsed, LocatedEntity) or (parsed.whole.kind in _FIRST) is not is_first:
                continue
            if parsed.whole.id in ids or len(part) >= PART_ENTITIES or size >= PART_BYTES:
                yield part
                part, ids, size = [], set(), 0
            part.append(parsed)
            ids.add(parsed.whole.id)
            size += parsed.size
        if part:
            yield part


def _lines(file: RewindableFile) -> Iterator[LocatedEntity | Detail]:
    """Yield each entity, or a fault in its place."""
    file.rewind()
    first = file.line(LINE_BYTES_MAX)
    if fault := _header_fault(first):
        yield Detail(1, fault)
        return
    number, has_ended = 1, False
    while raw := file.line(LINE_BYTES_MAX):
        number += 1
        if len(raw) >= LINE_BYTES_MAX:
            too_long = sentence(
                "jsonl-line-too-long",
                "a line of more than {most} MiB: no entity is that long",
                most=LINE_BYTES_MAX >> 20,
            )
            yield Detail(number, too_long)
            return
        if not raw.strip():
            continue
        if has_ended:
            yield Detail(
                number,
                sentence("jsonl-goes-on-after-end", "something stands behind the line that ends the file"),
            )
            return
        parsed = _read_line(raw, number)
        has_ended = parsed is None
        if parsed is not None:
            yield parsed
    if not has_ended:
        cut_off = sentence(
            "jsonl-cut-off",
            "the file ends early, without its last line {line}: it was cut off",
            line=END_TEXT,
        )
        yield Detail(number, cut_off)


def _header_fault(raw: bytes) -> Sentence | None:
    try:
        parsed = decode_header(raw.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return sentence(
            "jsonl-no-header",
            "this is not what `placet export jsonl` writes: its first line says the format",
        )
    if parsed.format != FORMAT_NAME:
        return sentence(
            "jsonl-other-format",
            "the format is {seen!r}, not {wanted!r}",
            seen=parsed.format[:40],
            wanted=FORMAT_NAME,
        )
    if parsed.version != FORMAT_VERSION:
        return sentence(
            "jsonl-other-version",
            "the format's version is {seen}; this Placet reads version {known}",
            seen=parsed.version,
            known=FORMAT_VERSION,
        )
    return None


def _read_line(raw: bytes, number: int) -> LocatedEntity | Detail | None:
    """Read a line after the first; None is the end."""
    try:
        line = decode_line(raw)
        if isinstance(line, EndLine):
            not_ended = sentence("jsonl-end-is-false", "the line that ends the file says false")
            return None if line.end else Detail(number, not_ended)
        return LocatedEntity(number, read_entity(line), len(raw))
    except MalformedEntity as fault:
        return Detail(number, fault.words)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        return Detail(number, foreign_text(str(fault)))
    except RecursionError:
        return Detail(number, nested_too_deeply_sentence())


def _file_refusal(faults: list[Detail]) -> Refused:
    return Refused(
        RefusalCode.FAILED,
        file_has_faults(len(faults)),
        sentence("export-again", "export it again, or correct it, and then import it"),
        details=faults,
    )
