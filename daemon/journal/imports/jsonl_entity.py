"""One line of a JSON Lines export as what it says of an entity, checked: each value with who wrote it.

Never looks at the journal: what a line means is the same wherever it is read.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from daemon.journal.exports.jsonl_form import Line, Other, Wrote, from_json
from daemon.journal.provenance import AUTHORS
from daemon.journal.was import DEVICE_BYTES, Seen, Was, origin_of
from store.fold import DELETED
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import COMMIT_BYTES_MAX, ITEMS_MAX, NAME_CHARS_MAX, By
from syncproto.faults import RemoteProtocolError
from syncproto.heads import HASH8_BYTES, Head
from syncproto.ids import DeviceId, EntityId, ReplicaId, from_text

_BY = {name: by for by, name in AUTHORS.items()}
# What a commit takes beside an operation's fields and origin: its own head, the entity's base, a first key.
_AROUND_BYTES = 2048
_AROUND_ITEMS = 256


class Told(NamedTuple):
    """A value of a field, and its write: whose it is, and what it was."""

    field: str
    value: Value
    by: By
    was: Was


class Whole(NamedTuple):
    """An entity as its line tells it: of each field the values in effect, best first, and those beneath."""

    id: EntityId
    kind: str
    born: Told
    current: Mapping[str, list[Told]]
    beneath: Mapping[str, list[Told]]
    imported: Mapping[str, list[Told]]
    seen: Seen
    touched: bool
    outlived: bool

    @property
    def tombs(self) -> list[Told]:
        """Return the values of the tombstone, best first."""
        return self.current.get(DELETED, [])


class Malformed(Exception):
    """A line that is not as `placet export jsonl` writes it; the message says what was seen."""


def read(line: Line) -> Whole:
    """Check a line and read it. Raises Malformed."""
    try:
        return _Reading(line).whole()
    except (ValueError, RecursionError, RemoteProtocolError) as fault:
        raise Malformed(str(fault) or "nested too deeply") from fault


class _Reading:
    def __init__(self, line: Line) -> None:
        self._line = line
        self._writes = [_wrote(one) for one in line.writes]

    def whole(self) -> Whole:
        line = self._line
        _require(0 < len(line.kind) <= NAME_CHARS_MAX, f"kind has {len(line.kind)} characters")
        current = {name: [one] for name, one in self._winners()}
        _require(current.keys() == line.fields.keys(), "fields and the writes that give them differ")
        for name, others in line.conflicts.items():
            _require(name in current, f"conflicts names {name[:40]!r}, which fields does not")
            current[name] += self._others(name, others)
        by, was = self._write(line.made)
        return Whole(
            id=from_text(line.id),
            kind=line.kind,
            born=Told("", None, by, was),
            current=current,
            beneath={name: self._others(name, others) for name, others in line.beneath.items()},
            imported={name: self._others(name, [other]) for name, other in line.imported.items()},
            seen={ReplicaId(from_text(one)): counter for one, counter in line.seen.items()},
            touched=line.touched,
            outlived=line.outlived,
        )

    def _winners(self) -> Iterator[tuple[str, Told]]:
        given: set[str] = set()
        for place, wrote in enumerate(self._line.writes):
            for name in wrote.fields:
                _require(name not in given, f"two writes give {name[:40]!r}")
                _require(
                    name in self._line.fields, f"a write gives {name[:40]!r}, which fields does not have"
                )
                given.add(name)
                yield name, self._told(name, self._line.fields[name], place)

    def _others(self, name: str, others: list[Other]) -> list[Told]:
        return [self._told(name, one.value, one.write) for one in others]

    def _told(self, name: str, value: object, place: int) -> Told:
        _require(0 < len(name) <= NAME_CHARS_MAX, f"a field's name has {len(name)} characters")
        told = Told(name, from_json(value), *self._write(place))
        codec.check_value(told.value)
        size = bytes_of(told)
        _require(size <= COMMIT_BYTES_MAX - _AROUND_BYTES, f"{name[:40]!r} has {size} bytes")
        items = items_of(told.value)
        _require(items <= ITEMS_MAX - _AROUND_ITEMS, f"{name[:40]!r} has {items} items")
        return told

    def _write(self, place: int) -> tuple[By, Was]:
        _require(0 <= place < len(self._writes), f"write {place} of {len(self._writes)}")
        return self._writes[place]


def bytes_of(told: Told) -> int:
    """Return about how much of a commit a value takes with its origin."""
    return len(told.field) + len(codec.encode(told.value)) + len(codec.encode(origin_of(told.was)))


def items_of(value: Value) -> int:
    """Return how many items of a commit a value is."""
    if isinstance(value, list):
        return 1 + sum(map(items_of, value))
    if isinstance(value, dict):
        return 1 + sum(1 + items_of(one) for one in value.values())
    return 1


def _wrote(wrote: Wrote) -> tuple[By, Was]:
    by = _BY.get(wrote.by)
    if by is None:
        raise ValueError(f"a write by {wrote.by[:40]!r}, not one of {', '.join(_BY)}")
    device, hash8 = bytes.fromhex(wrote.device), bytes.fromhex(wrote.hash)
    _require(len(device) == DEVICE_BYTES, f"device has {len(device)} bytes")
    _require(len(hash8) == HASH8_BYTES, f"hash has {len(hash8)} bytes")
    origin = None if wrote.origin is None else from_json(wrote.origin)
    _require(origin is None or isinstance(origin, dict), "origin is not a map")
    codec.check_value(origin)
    head = Head(ReplicaId(from_text(wrote.replica)), wrote.counter, hash8)
    effect = None if wrote.effect is None else from_text(wrote.effect)
    for number in (wrote.at_ms, wrote.n, wrote.counter):
        codec.check_value(number)
    kept = origin if isinstance(origin, dict) else None
    return by, Was(wrote.at_ms, wrote.n, DeviceId(device), wrote.device_name, head, effect, kept)


def _require(holds: bool, seen: str) -> None:
    if not holds:
        raise ValueError(seen)
