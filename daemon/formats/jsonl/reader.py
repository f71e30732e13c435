"""Reads a JSON Lines export line by line: first all of it, for its faults, then in parts of whole entities.

Never holds more than a part of it: such a file may be larger than memory.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec

from daemon.formats.core.importer import FaultyFile
from daemon.formats.core.plan import FAULTS_SHOWN_MAX, more_faults, nested_too_deeply_sentence
from daemon.formats.jsonl.entity_record import EntityRecord, MalformedEntity, read_entity
from daemon.formats.jsonl.line_limits import WRITTEN_PER_BYTE
from daemon.formats.jsonl.line_schema import (
    END_TEXT,
    FORMAT_NAME,
    FORMAT_VERSION,
    LINE_BYTES_MAX,
    EndLine,
    decode_header,
    decode_line,
)
from daemon.refusal import Detail
from store.fold.proposal_index import CHANGE_SET, DECISION
from store.sentence import Sentence, foreign_text, sentence
from syncproto.ids import EntityId, id_from_text

PART_ENTITIES = 1000
PART_BYTES = 4 << 20
"""What a part may add to the journal before the next one begins."""

# An origin is written anew with each value that stands beside others. Of an export of ours, some ten times
# the bytes of the file become bytes of a journal; a file that names one long origin again and again could
# make more than a disk holds.
_WRITTEN_FREE_BYTES = 64 << 20

_ID = re.compile(rb'\s*\{"id":\s*"([0-9a-f]{32})"')
_OUT_OF_ORDER = sentence(
    "jsonl-out-of-order", "an entity again, or out of order: an export has each once, in the order of ids"
)

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


class FaultyLine(NamedTuple):
    """A line that cannot be read: its number, why, and the id that it names, None if it names none."""

    number: int
    words: Sentence
    id: EntityId | None = None


class CheckedFile(NamedTuple):
    """How many entities of a file can be read, what is wrong with the others, and the ids that those name."""

    entities: int
    faults: tuple[Detail, ...]
    faulty_ids: frozenset[EntityId]


def count_checked(file: RewindableFile, *, is_own: bool = False) -> int:
    """Read a file whole and return how many entities it has. Raises FaultyFile with what is wrong in it.

    A file that `is_own` was exported just now: what it takes is in a journal of this device already.
    """
    return check(file, is_own=is_own).entities


def check(file: RewindableFile, *, is_own: bool = False, skip_faulty: bool = False) -> CheckedFile:
    """Read a file whole. Raises FaultyFile unless it is to be imported without what is faulty in it."""
    faults: list[Detail] = []
    faulty_ids: set[EntityId] = set()
    entities = more = 0
    costs = _Costs()
    for parsed in _lines(file):
        if isinstance(parsed, LocatedEntity):
            entities += 1
            costs.add(parsed)
            continue
        if parsed.id is not None:
            faulty_ids.add(parsed.id)
        if len(faults) < FAULTS_SHOWN_MAX:
            faults.append(Detail(parsed.number, parsed.words))
        else:
            more += 1
    if more:
        faults.append(Detail(faults[-1].line, more_faults(more)))
    if beyond := [] if is_own else costs.faults():
        raise _file_refusal([*faults, *beyond], has_more=False)
    if faults and not (skip_faulty and entities):
        raise _file_refusal(faults, has_more=entities > 0)
    return CheckedFile(entities, tuple(faults), frozenset(faulty_ids))


class _Costs:
    """What the entities of a file would take in a journal, and the one that would take the most."""

    def __init__(self) -> None:
        self._allowed = _WRITTEN_FREE_BYTES
        self._written = 0
        self._most = (0, 0)

    def add(self, located: LocatedEntity) -> None:
        """Add an entity."""
        self._allowed += WRITTEN_PER_BYTE * located.size
        self._written += located.whole.written_bytes
        self._most = max(self._most, (located.whole.written_bytes, located.number))

    def faults(self) -> list[Detail]:
        """Return the fault of the file if it would take far more than its own bytes."""
        size, line = self._most
        repeats = sentence(
            "jsonl-repeats-origins",
            "the file would take {total} MiB of the journal, {size} of them for this entity: long origins are"
            " named again and again",
            total=self._written >> 20,
            size=size >> 20,
        )
        return [Detail(line, repeats)] if self._written > self._allowed else []


def read_entities(file: RewindableFile) -> Iterator[LocatedEntity]:
    """Yield each entity of a file that can be read."""
    return (parsed for parsed in _lines(file) if isinstance(parsed, LocatedEntity))


def read_parts(file: RewindableFile, left_out: Collection[EntityId] = frozenset()) -> Iterator[EntityPart]:
    """Yield the entities of a file that was checked, in parts: proposals and decisions, then all others."""
    for is_first in (True, False):
        part: list[LocatedEntity] = []
        size = 0
        for parsed in read_entities(file):
            if (parsed.whole.kind in _FIRST) is not is_first or parsed.whole.id in left_out:
                continue
            if len(part) >= PART_ENTITIES or size >= PART_BYTES:
                yield part
                part, size = [], 0
            part.append(parsed)
            size += parsed.whole.written_bytes
        if part:
            yield part


def _lines(file: RewindableFile) -> Iterator[LocatedEntity | FaultyLine]:
    """Yield each entity, or a fault in its place."""
    file.rewind()
    first = file.line(LINE_BYTES_MAX)
    if fault := _header_fault(first):
        yield FaultyLine(1, fault)
        return
    number, has_ended, before = 1, False, b""
    while raw := file.line(LINE_BYTES_MAX):
        number += 1
        if len(raw) >= LINE_BYTES_MAX:
            too_long = sentence(
                "jsonl-line-too-long",
                "a line of more than {most} MiB: no entity is that long",
                most=LINE_BYTES_MAX >> 20,
            )
            yield FaultyLine(number, too_long)
            return
        if not raw.strip():
            continue
        if has_ended:
            yield FaultyLine(
                number,
                sentence("jsonl-goes-on-after-end", "there is something after the line that ends the file"),
            )
            return
        parsed = _read_line(raw, number)
        has_ended = parsed is None
        if isinstance(parsed, LocatedEntity):
            # An entity on many lines would be compared with all that the lines before wrote of it.
            if parsed.whole.id <= before:
                parsed = FaultyLine(number, _OUT_OF_ORDER, parsed.whole.id)
            else:
                before = parsed.whole.id
        if parsed is not None:
            yield parsed
    if not has_ended:
        cut_off = sentence(
            "jsonl-cut-off",
            "the file ends early, without its last line {line}: it was cut off",
            line=END_TEXT,
        )
        yield FaultyLine(number, cut_off)


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


def _read_line(raw: bytes, number: int) -> LocatedEntity | FaultyLine | None:
    """Read a line after the first; None is the end."""
    try:
        line = decode_line(raw)
        if isinstance(line, EndLine):
            not_ended = sentence("jsonl-end-is-false", "the line that ends the file says false")
            return None if line.end else FaultyLine(number, not_ended)
        return LocatedEntity(number, read_entity(line), len(raw))
    except MalformedEntity as fault:
        return FaultyLine(number, fault.words, _named_id(raw))
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        return FaultyLine(number, foreign_text(str(fault)), _named_id(raw))
    except RecursionError:
        return FaultyLine(number, nested_too_deeply_sentence())


def _named_id(raw: bytes) -> EntityId | None:
    """Return the id that a faulty line begins with, as an export writes it."""
    match = _ID.match(raw)
    return EntityId(id_from_text(match[1].decode())) if match else None


def _file_refusal(faults: list[Detail], *, has_more: bool) -> FaultyFile:
    hint = sentence("export-again", "export it again, or correct it, and then import it")
    if has_more:
        hint = sentence(
            "export-again-or-skip",
            "export it again, or correct it, and then import it; or import what has no fault with"
            " --skip-faulty",
        )
    return FaultyFile(faults, hint, has_more=has_more)
