"""One checked line of a JSON Lines export: the values of an entity, each with its author.

Never looks at the journal: what a line means is the same wherever it is read.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from daemon.formats.core.plan import cut_title, nested_too_deeply_sentence
from daemon.formats.jsonl.line_schema import (
    EntityLine,
    OtherValue,
    UnknownMark,
    WriteRow,
    value_from_json,
)
from daemon.journal.fields.imported_provenance import (
    DEVICE_BYTES,
    HASH_SIZES,
    SEEN_ITEMS,
    KnownCounters,
    OriginalWrite,
    encode_origin,
    encode_seen,
)
from daemon.journal.fields.provenance import AUTHOR_NAMES
from store.fold.entity_state import DELETED
from store.sentence import Sentence, foreign_text, sentence
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import COMMIT_BYTES_MAX, COMMIT_ITEMS_MAX, NAME_CHARS_MAX, AuthorKind
from syncproto.errors import RemoteProtocolError
from syncproto.ids import DeviceId, EntityId, ReplicaId, id_from_text
from syncproto.vector_clock import Head

_BY = {name: by for by, name in AUTHOR_NAMES.items()}
# What a commit needs besides an operation's fields and origin: its head, the entity's base, a first key.
_AROUND_BYTES = 2048
_AROUND_ITEMS = 256
# What is known of the entity goes into one commit, beside values: some thousand replicas.
_SEEN_BYTES_MAX = 32 * 1024
_OPERATION_BYTES = 400  # what an operation takes in a journal besides its values and origin, about


class RecordedWrite(NamedTuple):
    """A write: whose it is, what it was, and the bytes of its origin in a commit; a record has each once."""

    by: AuthorKind
    original: OriginalWrite
    size: int


class RecordedValue(NamedTuple):
    """A value of a field, its write, and what it takes in a commit without that, in bytes and items."""

    field: str
    value: Value
    write: RecordedWrite
    size: int
    items: int


class EntityRecord(NamedTuple):
    """An entity as its line describes it: per field the values in effect, best first, and those beneath.

    `seen_bytes` is what `seen` takes in a commit, and `written_bytes` about what making the entity adds to a
    journal.
    """

    id: EntityId
    kind: str
    creation: RecordedWrite
    current: Mapping[str, list[RecordedValue]]
    beneath: Mapping[str, list[RecordedValue]]
    imported: Mapping[str, list[RecordedValue]]
    seen: KnownCounters
    touched: bool
    outlived: bool
    outlived_beneath: bool
    seen_bytes: int
    written_bytes: int

    @property
    def tombstones(self) -> list[RecordedValue]:
        """Return the values of the tombstone, best first."""
        return self.current.get(DELETED, [])


class MalformedEntity(Exception):
    """A line that is not as `placet export jsonl` writes it; `words` report what was seen."""

    def __init__(self, words: Sentence) -> None:
        self.words = words
        super().__init__(words.text)


def name_of(whole: EntityRecord) -> str:
    """Return what a person calls an entity: its title or name, else its kind."""
    title = whole.current.get("title") or whole.current.get("name")
    return cut_title(str(title[0].value)) if title else whole.kind


def read_entity(line: EntityLine) -> EntityRecord:
    """Check a line and read it. Raises MalformedEntity."""
    try:
        return _Reading(line).whole()
    except UnknownMark as fault:
        raise MalformedEntity(
            sentence(
                "jsonl-unknown-mark", "a value that is marked {mark!r}, which nothing is", mark=fault.mark
            )
        ) from fault
    except RecursionError as fault:
        raise MalformedEntity(nested_too_deeply_sentence()) from fault
    except (ValueError, RemoteProtocolError) as fault:
        raise MalformedEntity(foreign_text(str(fault))) from fault


class _Reading:
    def __init__(self, line: EntityLine) -> None:
        self._line = line
        self._writes = list(_distinct_writes(line.writes))
        self._seen = {ReplicaId(id_from_text(text)): counter for text, counter in line.seen.items()}
        self._seen_bytes = len(codec.encode(encode_seen(self._seen)))
        _require(
            self._seen_bytes <= _SEEN_BYTES_MAX,
            sentence("jsonl-seen-bytes", "what is seen has {size} bytes", size=self._seen_bytes),
        )

    def whole(self) -> EntityRecord:
        line = self._line
        _require(
            0 < len(line.kind) <= NAME_CHARS_MAX,
            sentence("jsonl-kind-length", "kind has {count} characters", count=len(line.kind)),
        )
        current = {name: [recorded_value] for name, recorded_value in self._winners()}
        _require(
            current.keys() == line.fields.keys(),
            sentence("jsonl-fields-differ", "fields and the writes that give them differ"),
        )
        for name, others in line.conflicts.items():
            _require(
                name in current,
                sentence(
                    "jsonl-conflict-of-no-field",
                    "conflicts names {field!r}, which fields does not",
                    field=name[:40],
                ),
            )
            current[name] += self._other_values(name, others)
        beneath = {name: self._other_values(name, others) for name, others in line.beneath.items()}
        imported = {name: self._other_values(name, [other]) for name, other in line.imported.items()}
        return EntityRecord(
            id=id_from_text(line.id),
            kind=line.kind,
            creation=self._write(line.made),
            current=current,
            beneath=beneath,
            imported=imported,
            seen=self._seen,
            touched=line.touched,
            outlived=line.outlived,
            outlived_beneath=line.outlived_beneath,
            seen_bytes=self._seen_bytes,
            written_bytes=self._seen_bytes
            + _written_bytes([*current.values()], [*beneath.values()], imported),
        )

    def _winners(self) -> Iterator[tuple[str, RecordedValue]]:
        names: set[str] = set()
        for place, wrote in enumerate(self._line.writes):
            for name in wrote.fields:
                _require(
                    name not in names,
                    sentence("jsonl-two-writes", "two writes give {field!r}", field=name[:40]),
                )
                _require(
                    name in self._line.fields,
                    sentence(
                        "jsonl-write-of-no-field",
                        "a write gives {field!r}, which fields does not have",
                        field=name[:40],
                    ),
                )
                names.add(name)
                yield name, self._recorded_value(name, self._line.fields[name], place)

    def _other_values(self, name: str, others: list[OtherValue]) -> list[RecordedValue]:
        return [self._recorded_value(name, other_value.value, other_value.write) for other_value in others]

    def _recorded_value(self, name: str, value: object, place: int) -> RecordedValue:
        _require(
            0 < len(name) <= NAME_CHARS_MAX,
            sentence("jsonl-field-name-length", "a field's name has {count} characters", count=len(name)),
        )
        read_value, write = value_from_json(value), self._write(place)
        codec.check_value(read_value)
        # A value that fits into no commit would stop the import half-way. So it is refused while the file is
        # read.
        size = len(name) + len(codec.encode(read_value))
        _require(
            size + write.size <= COMMIT_BYTES_MAX - _AROUND_BYTES - self._seen_bytes,
            sentence(
                "jsonl-field-bytes", "{field!r} has {size} bytes", field=name[:40], size=size + write.size
            ),
        )
        items = commit_items_of(read_value)
        _require(
            items <= COMMIT_ITEMS_MAX - _AROUND_ITEMS - SEEN_ITEMS * len(self._seen),
            sentence("jsonl-field-items", "{field!r} has {count} items", field=name[:40], count=items),
        )
        return RecordedValue(name, read_value, write, size, items)

    def _write(self, place: int) -> RecordedWrite:
        _require(
            0 <= place < len(self._writes),
            sentence(
                "jsonl-no-such-write", "write {number} of {count}", number=place, count=len(self._writes)
            ),
        )
        return self._writes[place]


def commit_items_of(value: Value) -> int:
    """Return how many items of a commit a value is."""
    if isinstance(value, list):
        return 1 + sum(map(commit_items_of, value))
    if isinstance(value, dict):
        return 1 + sum(1 + commit_items_of(element) for element in value.values())
    return 1


def _written_bytes(
    current: list[list[RecordedValue]],
    beneath: list[list[RecordedValue]],
    imported: Mapping[str, list[RecordedValue]],
) -> int:
    """Return about what an entity takes: each write once, and again for each value beside others."""
    plain = [values[0] for values in current if len(values) == 1]
    plain += [value for values in imported.values() for value in values]
    single = [value for values in (*current, *beneath) if len(values) > 1 for value in values]
    single += [values[0] for values in beneath if len(values) == 1]
    shared = {id(value.write): value.write for value in plain}.values()
    writes = [*shared, *(value.write for value in single)]
    return sum(value.size for value in (*plain, *single)) + sum(
        _OPERATION_BYTES + write.size for write in writes
    )


def _distinct_writes(rows: list[WriteRow]) -> Iterator[RecordedWrite]:
    """Yield the write of each row; equal rows have the same one, so that identity compares them."""
    originals: dict[bytes, OriginalWrite] = {}
    writes: dict[tuple[AuthorKind, bytes], RecordedWrite] = {}
    for row in rows:
        by, original = _wrote(row)
        encoded = codec.encode(encode_origin(original))
        original = originals.setdefault(encoded, original)
        yield writes.setdefault((by, encoded), RecordedWrite(by, original, len(encoded)))


def _wrote(wrote: WriteRow) -> tuple[AuthorKind, OriginalWrite]:
    by = _BY.get(wrote.by)
    if by is None:
        raise MalformedEntity(
            sentence(
                "jsonl-unknown-author",
                "a write by {seen!r}, not one of {choices}",
                seen=wrote.by[:40],
                choices=", ".join(_BY),
            )
        )
    device, digest = bytes.fromhex(wrote.device), bytes.fromhex(wrote.hash)
    _require(
        len(device) == DEVICE_BYTES,
        sentence("jsonl-device-length", "device has {size} bytes", size=len(device)),
    )
    _require(
        len(digest) in HASH_SIZES, sentence("jsonl-hash-length", "hash has {size} bytes", size=len(digest))
    )
    origin = None if wrote.origin is None else value_from_json(wrote.origin)
    _require(
        origin is None or isinstance(origin, dict), sentence("jsonl-origin-no-map", "origin is not a map")
    )
    codec.check_value(origin)
    head = Head(ReplicaId(id_from_text(wrote.replica)), wrote.counter, digest)
    effect = None if wrote.effect is None else id_from_text(wrote.effect)
    for number in (wrote.at_ms, wrote.n, wrote.counter):
        codec.check_value(number)
    kept_origin = origin if isinstance(origin, dict) else None
    return by, OriginalWrite(
        wrote.at_ms, wrote.n, DeviceId(device), wrote.device_name, head, effect, kept_origin
    )


def _require(holds: bool, text: Sentence) -> None:
    if not holds:
        raise MalformedEntity(text)
