"""What a write was in the journal that it was exported from: the origin of the write that imported it.

Never believes the form of an origin, which may have come from anywhere: what does not fit is only an origin.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from daemon.file_formats import JSON_LINES
from daemon.journal.fields.provenance import ORIGIN_AT_KEY
from store.fold.field_versions import Provenance
from store.queries.field_changes import FieldChange
from syncproto import codec
from syncproto.codec import Value
from syncproto.errors import RemoteProtocolError
from syncproto.ids import ID_BYTES, DeviceId, EntityId, ReplicaId
from syncproto.vector_clock import COMMIT_HASH_BYTES, Head

DEVICE_BYTES = 32
HASH_SIZES = (8, COMMIT_HASH_BYTES)
"""The sizes of the hash in what was exported, in bytes: journals of format 1 kept its first eight."""
_WAS = "was"
_SEEN = "seen"

TOUCH_ORIGIN: dict[str, Value] = {"by": "import", "format": JSON_LINES}
"""The origin of a write that has no values."""

SEEN_ITEMS = 3

_ORIGIN_ITEMS_MAX = 256
"""The items of an origin that another one contains: an import writes some five names with their values."""

_origin_decoder = msgspec.msgpack.Decoder(dict[str, Any])

KnownCounters = dict[ReplicaId, int]
"""Which commits on an entity a journal knows of: replica to the counter of the last one."""


class OriginalWrite(NamedTuple):
    """When and where a write was first made, its commit, the proposal behind it, its own origin."""

    ms: int
    n: int
    device: DeviceId
    device_name: str
    head: Head
    effect: EntityId | None
    origin: dict[str, Value] | None

    @property
    def source_ms(self) -> int:
        """Return when the value was written: for an earlier import, the time at its original source."""
        origin_ms = (self.origin or {}).get(ORIGIN_AT_KEY)
        return origin_ms if type(origin_ms) is int else self.ms


def encode_origin(original: OriginalWrite, known_counters: KnownCounters | None = None) -> dict[str, Value]:
    """Return the origin of the write that imports what `was`; `seen` goes with an entity's first one."""
    # An origin in an origin is kept as bytes: nesting it would come to the end of what may be nested.
    inner = None if original.origin is None else codec.encode(original.origin)
    parts: list[Value] = [
        original.ms,
        original.n,
        original.device,
        original.device_name,
        *original.head,
        original.effect,
        inner,
    ]
    origin: dict[str, Value] = {**TOUCH_ORIGIN, ORIGIN_AT_KEY: original.source_ms, _WAS: parts}
    return origin if known_counters is None else origin | {_SEEN: encode_seen(known_counters)}


def encode_seen(known_counters: KnownCounters) -> list[Value]:
    """Return counters as an origin contains them, each as `SEEN_ITEMS` items of a commit."""
    return [[replica, known_counters[replica]] for replica in sorted(known_counters)]


def is_jsonl_import(source: Provenance) -> bool:
    """Say whether an import of JSON lines made this write, be it a value's or a touch alone."""
    return source.origin == TOUCH_ORIGIN or original_write(source) is not None


def original_write(source: Provenance) -> OriginalWrite | None:
    """Return what an imported write was before, None for any other write."""
    origin = source.origin
    if not origin or origin.get("format") != JSON_LINES or origin.get("by") != "import":
        return None
    match origin.get(_WAS):
        case [
            int() as ms,
            int() as n,
            bytes() as device,
            str() as name,
            bytes() as replica,
            int() as counter,
            bytes() as digest,
            (bytes() | None) as effect,
            (bytes() | None) as inner,
        ] if bool not in {type(ms), type(n), type(counter)}:
            head = Head(ReplicaId(replica), counter, digest)
            identifier = None if effect is None else EntityId(effect)
            before = None if inner is None else _decode_origin(inner)
            is_of_size = _sizes(device, replica, effect or bytes(ID_BYTES)) == _SIZES
            if is_of_size and len(digest) in HASH_SIZES and (inner is None or before is not None):
                return OriginalWrite(ms, n, DeviceId(device), name, head, identifier, before)
    return None


_SIZES = (DEVICE_BYTES, ID_BYTES, ID_BYTES)


def _sizes(*parts: bytes) -> tuple[int, ...]:
    return tuple(map(len, parts))


def _decode_origin(raw: bytes) -> dict[str, Value] | None:
    """Return the origin that `encode_origin` encoded, None for bytes that are no such origin."""
    try:
        # A value of a commit is checked when it comes, but not what bytes in it contain. To read more items
        # than an import writes, again for each field, would cost the square of what a peer sent.
        origin: dict[str, Value] = codec.decode(raw, _origin_decoder, _ORIGIN_ITEMS_MAX)
        codec.check_value(origin)
    except RemoteProtocolError:
        return None
    return origin


def known_counters_in(origin: Mapping[str, Value] | None) -> KnownCounters:
    """Return what the file knew of an entity that this origin came with."""
    listed = (origin or {}).get(_SEEN)
    known_counters: KnownCounters = {}
    for pair in listed if isinstance(listed, list) else []:
        match pair:
            case [bytes() as replica, int() as counter] if len(replica) == ID_BYTES and type(counter) is int:
                known_counters[ReplicaId(replica)] = counter
    return known_counters


def origin_before_export(source: Provenance) -> dict[str, Value]:
    """Return the origin of a write as it was before any export of ours, empty if it has none."""
    original = original_write(source)
    if original is None:
        return {} if source.origin is None or source.origin == TOUCH_ORIGIN else source.origin
    return original.origin or {}


def is_from_import(source: Provenance) -> bool:
    """Say whether an import made this write; one of JSON lines did only if the first to write it was one."""
    return origin_before_export(source).get("by") == "import"


def says_something(change: FieldChange) -> bool:
    """Say whether a change belongs to the history that people read.

    An import writes a value that the journal already has if its file says it for the first time, so that the
    next import knows that. To people this changed nothing.
    """
    return not (change.is_repeated and is_from_import(change.source))


def original_n(source: Provenance) -> int:
    """Return the count that orders writes of one millisecond, as it was at first."""
    original = original_write(source)
    return source.n if original is None else original.n
