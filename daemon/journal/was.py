"""What a write was in the journal that it was exported from: the origin of the write that imported it.

Never believes the form of an origin, which may have come from anywhere: what does not fit is only an origin.
"""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from daemon.journal.provenance import ORIGIN_AT
from store.fold import Source
from syncproto import codec
from syncproto.codec import Value
from syncproto.heads import HASH8_BYTES, Head
from syncproto.ids import ID_BYTES, DeviceId, EntityId, ReplicaId

FORMAT = "jsonl"
DEVICE_BYTES = 32
_WAS = "was"
_SEEN = "seen"

TOUCH: dict[str, Value] = {"by": "import", "format": FORMAT}
"""The origin of a write that has no values."""

Seen = dict[ReplicaId, int]
"""Which commits on an entity a journal knows of: replica to the counter of the last one."""


class Was(NamedTuple):
    """When and where a write was first made, its commit, the proposal behind it, its own origin."""

    ms: int
    n: int
    device: DeviceId
    device_name: str
    head: Head
    effect: EntityId | None
    origin: dict[str, Value] | None

    @property
    def shown_ms(self) -> int:
        """Return when the value was written: for what was an import already, where that came from."""
        at = (self.origin or {}).get(ORIGIN_AT)
        return at if type(at) is int else self.ms


def origin_of(was: Was, seen: Seen | None = None) -> dict[str, Value]:
    """Return the origin of the write that imports what `was`; `seen` goes with an entity's first one."""
    # An origin in an origin is kept as bytes: nesting it would come to the end of what may be nested.
    inner = None if was.origin is None else codec.encode(was.origin)
    parts: list[Value] = [was.ms, was.n, was.device, was.device_name, *was.head, was.effect, inner]
    told: dict[str, Value] = {**TOUCH, ORIGIN_AT: was.shown_ms, _WAS: parts}
    return told if seen is None else told | {_SEEN: [[replica, seen[replica]] for replica in sorted(seen)]}


def is_ours(source: Source) -> bool:
    """Say whether an import of JSON lines made this write, be it a value's or a touch alone."""
    return source.origin == TOUCH or was_of(source) is not None


def was_of(source: Source) -> Was | None:
    """Return what an imported write was before, None for any other write."""
    origin = source.origin
    if not origin or origin.get("format") != FORMAT or origin.get("by") != "import":
        return None
    match origin.get(_WAS):
        case [
            int() as ms,
            int() as n,
            bytes() as device,
            str() as name,
            bytes() as replica,
            int() as counter,
            bytes() as hash8,
            (bytes() | None) as effect,
            (bytes() | None) as inner,
        ]:
            head = Head(ReplicaId(replica), counter, hash8)
            known = None if effect is None else EntityId(effect)
            if _sizes(device, replica, hash8, effect or bytes(ID_BYTES)) == _SIZES:
                return Was(ms, n, DeviceId(device), name, head, known, None if inner is None else _map(inner))
    return None


_SIZES = (DEVICE_BYTES, ID_BYTES, HASH8_BYTES, ID_BYTES)


def _sizes(*parts: bytes) -> tuple[int, ...]:
    return tuple(map(len, parts))


def _map(raw: bytes) -> dict[str, Value] | None:
    try:
        found = codec.plain(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def seen_in(origin: Mapping[str, Value] | None) -> Seen:
    """Return what the file knew of an entity that this origin came with."""
    listed = (origin or {}).get(_SEEN)
    found: Seen = {}
    for pair in listed if isinstance(listed, list) else []:
        match pair:
            case [bytes() as replica, int() as counter]:
                found[ReplicaId(replica)] = counter
    return found


def foreign(source: Source) -> dict[str, Value]:
    """Return the origin of a write as it was before any export of ours, empty where it has none."""
    was = was_of(source)
    if was is None:
        return {} if source.origin is None or source.origin == TOUCH else source.origin
    return was.origin or {}


def written_n(source: Source) -> int:
    """Return the count that orders writes of one millisecond, as it was at first."""
    was = was_of(source)
    return source.n if was is None else was.n
