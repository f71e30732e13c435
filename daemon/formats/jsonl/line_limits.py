"""What of an entity a line contains if another program wrote more to it than an import takes.

Never leaves out anything of what Placet writes itself: its values are far shorter than a commit.

One line that no import reads would keep the whole file out. It would also keep a device in its vault, since
leaving takes the journal across as such a file (docs/decisions/0020).
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from daemon.formats.jsonl.entity_record import MalformedEntity, commit_items_of, read_entity
from daemon.formats.jsonl.line_schema import LINE_BYTES_MAX, EntityLine, encoder, value_to_json
from daemon.journal.fields.imported_provenance import KnownCounters, OriginalWrite
from daemon.journal.fields.schema import is_known_field
from daemon.journal.fields.validation import NAME_CHARS_MAX
from store.fold.field_versions import Version
from syncproto import codec

WRITTEN_PER_BYTE = 32
"""What an import may add to a journal for each byte of a file: of an export, some ten times the bytes."""

_SHORT_BYTES = 16 * 1024
"""A line of so many bytes keeps all limits, whatever it contains."""

_ORIGIN_BYTES_MAX = 4096
_COUNTERS_MAX = 1000
_VALUE_BYTES_MAX = 192 * 1024
_VALUE_ITEMS_MAX = 28 * 1024
_LINE_BYTES = LINE_BYTES_MAX * 3 // 4
_AROUND_BYTES = 3 * 1024
_AROUND_IMPORTED_BYTES = _AROUND_BYTES + 6 * _ORIGIN_BYTES_MAX
"""What a write and the name of a field take at most in a line: a control character becomes six others."""

Versions = Mapping[str, list[Version]]


class LineVersions(NamedTuple):
    """The versions that a line shows, by field: those in effect, best first; those beneath; the imported."""

    fields: Versions
    beneath: Versions
    imported: Versions


def is_importable(line: EntityLine, size: int) -> bool:
    """Say whether an import takes a line of so many bytes."""
    if size <= _SHORT_BYTES:
        return True
    if size >= LINE_BYTES_MAX:
        return False
    try:
        return read_entity(line).written_bytes <= WRITTEN_PER_BYTE * size
    except MalformedEntity:
        return False


def within_limits(kind: str, versions: LineVersions) -> LineVersions:
    """Return the versions that a line has room for: values in effect and of known fields come first.

    The best value that an import takes stands in for one in effect that it would not take.
    """
    room = _Room(kind)
    first = {
        name: next(filter(room.has_place_for, standing), None)
        for name, standing in room.in_order(versions.fields)
    }
    winners = {name: version for name, version in first.items() if version is not None}
    others = room.part(
        {name: _versions_after(versions.fields[name], winner) for name, winner in winners.items()}
    )
    fields = {name: [winner, *others.get(name, ())] for name, winner in winners.items()}
    return LineVersions(fields, room.part(versions.beneath), room.part(versions.imported))


def _versions_after(versions: list[Version], winner: Version) -> list[Version]:
    heads = [version.source.head for version in versions]
    return versions[heads.index(winner.source.head) + 1 :]


class _Room:
    """What a line still has room for."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._bytes = _LINE_BYTES

    def in_order(self, versions: Versions) -> Iterator[tuple[str, list[Version]]]:
        """Yield the fields, those first whose meaning is known: people write to no other."""
        for name in sorted(versions, key=self._turn_of):
            yield name, versions[name]

    def _turn_of(self, name: str) -> tuple[bool, bool, str]:
        # A set has as many fields as somebody gave it members.
        return not is_known_field(self._kind, name), "/" in name, name

    def part(self, versions: Versions) -> dict[str, list[Version]]:
        """Return the versions that there is room for."""
        exported = {
            name: [*filter(self.has_place_for, of_field)] for name, of_field in self.in_order(versions)
        }
        return {name: of_field for name, of_field in exported.items() if of_field}

    def has_place_for(self, version: Version) -> bool:
        """Say whether there is room for a version, and take it."""
        if (
            len(codec.encode(version.value)) > _VALUE_BYTES_MAX
            or commit_items_of(version.value) > _VALUE_ITEMS_MAX
        ):
            return False
        size = _AROUND_BYTES if version.source.origin is None else _AROUND_IMPORTED_BYTES
        size += len(encoder.encode(value_to_json(version.value)))
        if size > self._bytes:
            return False
        self._bytes -= size
        return True


def without_long_words(original: OriginalWrite) -> OriginalWrite:
    """Return a write without an origin, or most of a device's name, that is longer than Placet writes."""
    origin = original.origin
    if origin is not None and len(codec.encode(origin)) > _ORIGIN_BYTES_MAX:
        origin = None
    return original._replace(origin=origin, device_name=original.device_name[:NAME_CHARS_MAX])


def bounded_counters(counters: KnownCounters) -> KnownCounters:
    """Return as many counters as a line may have: what is left out counts as not known, and stays beside."""
    return dict(islice(counters.items(), _COUNTERS_MAX))
