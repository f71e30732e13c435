"""Writes the whole journal as JSON lines: an entity a line, with every value in effect and who wrote it.

Never writes the roster, which is membership and not the journal, nor what is not in effect: history is for
backups. What an import of such a file wrote is written as it was before, so that a second journal's export of
the same things is the same bytes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import tzinfo
from functools import partial
from operator import itemgetter

from msgspec.structs import replace

from daemon.formats.core.import_history import import_order_key
from daemon.formats.jsonl.known_counters import known_counters
from daemon.formats.jsonl.line_limits import (
    LineVersions,
    bounded_counters,
    is_importable,
    within_limits,
    without_long_words,
)
from daemon.formats.jsonl.line_schema import (
    FORMAT_NAME,
    FORMAT_VERSION,
    ROSTER_KIND,
    EndLine,
    EntityLine,
    HeaderLine,
    OtherValue,
    WriteRow,
    encode_line,
    value_to_json,
)
from daemon.journal.fields.imported_provenance import (
    KnownCounters,
    OriginalWrite,
    is_from_import,
    original_write,
)
from daemon.journal.fields.provenance import AUTHOR_NAMES
from daemon.journal.views.lookup import NameLookup
from store.fold.entity import Entity
from store.fold.entity_state import DELETED, SourcedOperation
from store.fold.field_versions import RANK_USER, Provenance, Version
from store.queries.all_entities import every_entity
from store.queries.field_changes import CoveredCommits, operations_touching_each
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.codec import Redacted
from syncproto.commit import AuthorKind
from syncproto.ids import id_to_text
from syncproto.vector_clock import Chains, Head, covers

_COMMITS_AT_ONCE = 5_000

_Versions = Mapping[str, list[Version]]
_Key = tuple[int, int, Head, str, bytes]


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield the file's lines."""
    del zone  # times are Unix times
    lines = EntityLines(snapshot)
    yield encode_line(HeaderLine(FORMAT_NAME, FORMAT_VERSION))
    exported = (
        (entity, touched)
        for entity, touched in every_entity(snapshot)
        if entity.exists and entity.kind != ROSTER_KIND
    )
    while batch := _next_batch(exported):
        yield from lines.lines(batch)
    yield encode_line(EndLine(end=True))


def _next_batch(entities: Iterator[tuple[Entity, int]]) -> list[tuple[Entity, int]]:
    """Take entities, each with how many commits touched it, until those are enough to be read together."""
    batch: list[tuple[Entity, int]] = []
    commits = 0
    for entity, touched in entities:
        batch.append((entity, touched))
        commits += touched
        if commits >= _COMMITS_AT_ONCE:
            break
    return batch


class EntityLines:
    """Makes the lines of one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._names = NameLookup(snapshot)

    def lines(self, entities: list[tuple[Entity, int]]) -> Iterator[str]:
        """Write the lines of entities, each with how many commits touched it.

        A commit that touched some of them is read once for all.
        """
        covering = [entity.id for entity, touched in entities if _may_cover(_sources(entity), touched)]
        histories = dict(operations_touching_each(self._snapshot, covering))
        for entity, _ in entities:
            yield self._line(entity, histories.get(entity.id))

    def _line(self, entity: Entity, history: list[SourcedOperation] | None) -> str:
        """Write the line of an entity; without a history, nothing lies beneath its values."""
        beneath = UnderlyingValues(entity, history or [], self._snapshot.log)
        versions = LineVersions(_whole(entity), beneath.values, _last_imported(entity, beneath.imported))
        counters = known_counters(entity, beneath.sources or _sources(entity))
        make_line = partial(self._make_line, entity, is_outlived_beneath=beneath.is_outlived)
        line = make_line(versions, counters, self.original_write_of)
        text = encode_line(line)
        if is_importable(line, len(text.encode())):
            return text
        versions, counters = within_limits(entity.kind, versions), bounded_counters(counters)
        return encode_line(make_line(versions, counters, self._brief_write_of))

    def _make_line(
        self,
        entity: Entity,
        versions: LineVersions,
        counters: KnownCounters,
        original_of: Callable[[Provenance], OriginalWrite],
        *,
        is_outlived_beneath: bool,
    ) -> EntityLine:
        fields, beneath, imported = versions
        born = _sources(entity)[0]
        writes = WriteTable(original_of, [born], fields, beneath, imported)
        return EntityLine(
            id=id_to_text(entity.id),
            kind=entity.kind,
            fields={name: value_to_json(versions[0].value) for name, versions in fields.items()},
            conflicts=writes.values_not_in_effect({name: versions[1:] for name, versions in fields.items()}),
            beneath=writes.values_not_in_effect(beneath),
            imported={
                name: other_value for name, (other_value,) in writes.values_not_in_effect(imported).items()
            },
            made=writes.index_of(born),
            writes=writes.rows(fields),
            seen=_counters_json(counters),
            touched=bool(entity.state.person) and not _is_persons(born, fields, beneath),
            outlived=_is_outlived(entity),
            outlived_beneath=is_outlived_beneath,
        )

    def _brief_write_of(self, source: Provenance) -> OriginalWrite:
        return without_long_words(self.original_write_of(source))

    def original_write_of(self, source: Provenance) -> OriginalWrite:
        """Return the original source of a write."""
        before = original_write(source)
        if before is not None:
            return before
        device = self._names.device_of_replica(source.head.replica)
        name = self._names.given_device_name(device)
        return OriginalWrite(source.ms, source.n, device, name, source.head, source.effect, source.origin)


def _sources(entity: Entity) -> list[Provenance]:
    """Return the source of an entity's creation, and then those of its values."""
    assert entity.created is not None
    return [entity.created, *entity.state.fields.standing_sources()]


def _is_outlived(entity: Entity) -> bool:
    """Report whether a person wrote beside a deletion, so that the entity stays in sight."""
    return entity.visible and any(version.value is True for version in entity.versions(DELETED))


def _last_imported(entity: Entity, imported: Mapping[str, list[Version]]) -> dict[str, list[Version]]:
    """Return what imports last said of fields that others wrote since.

    A deletion that a person outlived is left out: whoever makes the entity anew writes it after the creation,
    and would hide it.
    """
    outlived = _is_outlived(entity)
    return {name: versions for name, versions in imported.items() if not (outlived and name == DELETED)}


def _may_cover(provenances: list[Provenance], touched: int) -> bool:
    """Report whether the log may contain more than the row. Nearly always it does not, and is not read."""
    if touched > len({provenance.head for provenance in provenances}) or any(
        provenance.effect is not None for provenance in provenances
    ):
        return True
    return len({is_from_import(provenance) for provenance in provenances}) > 1


def _counters_json(counters: KnownCounters) -> dict[str, int]:
    return {id_to_text(replica): counters[replica] for replica in counters}


def _whole(entity: Entity) -> dict[str, list[Version]]:
    """Return the versions in effect by field; those that were dropped from the history are left out."""
    found_versions = {
        name: [version for version in versions if not isinstance(version.value, Redacted)]
        for name, versions in sorted(entity.state.fields.items())
    }
    return {name: versions for name, versions in found_versions.items() if versions}


def _is_persons(born: Provenance, *values: _Versions) -> bool:
    """Report whether the line includes a person's own write other than a deletion."""
    provenances = [
        version.source
        for versions in values
        for name in versions
        if name != DELETED
        for version in versions[name]
    ]
    return any(provenance.rank == RANK_USER for provenance in [born, *provenances])


class WriteTable:
    """The writes behind an entity's creation and its exported versions."""

    def __init__(
        self,
        original_of: Callable[[Provenance], OriginalWrite],
        provenances: Iterable[Provenance],
        *values: _Versions,
    ) -> None:
        versions = (
            version
            for reported_versions in values
            for versions in reported_versions.values()
            for version in versions
        )
        sources = {
            provenance.head: provenance
            for provenance in [*provenances, *(version.source for version in versions)]
        }
        keyed = {head: _keyed_row(original_of(source), source) for head, source in sources.items()}
        self._writes = dict(sorted(keyed.values(), key=itemgetter(0)))
        places = {key: place for place, key in enumerate(self._writes)}
        self._places = {head: places[key] for head, (key, _) in keyed.items()}

    def index_of(self, source: Provenance) -> int:
        """Return the place of a write in the list of writes."""
        return self._places[source.head]

    def rows(self, fields: _Versions) -> list[WriteRow]:
        """Return the writes, each with the fields that have their values in effect of it."""
        names: list[list[str]] = [[] for _ in self._writes]
        for name, versions in fields.items():
            names[self.index_of(versions[0].source)].append(name)
        return [
            replace(write_row, fields=given_name)
            for write_row, given_name in zip(self._writes.values(), names, strict=True)
        ]

    def values_not_in_effect(self, values: _Versions) -> dict[str, list[OtherValue]]:
        """Return values that are not in effect, by field."""
        return {
            name: [
                OtherValue(value_to_json(version.value), self.index_of(version.source))
                for version in versions
            ]
            for name, versions in values.items()
            if versions
        }


def _keyed_row(original: OriginalWrite, source: Provenance) -> tuple[_Key, WriteRow]:
    wrote = WriteRow(
        by=AUTHOR_NAMES[source.by],
        at_ms=original.ms,
        n=original.n,
        device=original.device.hex(),
        device_name=original.device_name,
        replica=id_to_text(original.head.replica),
        counter=original.head.counter,
        hash=original.head.hash.hex(),
        effect=None if original.effect is None else id_to_text(original.effect),
        origin=None if original.origin is None else value_to_json(original.origin),
    )
    # The key contains everything exported of a write: two writes that differ in anything stay two.
    rest = codec.encode([original.device, original.device_name, original.effect, original.origin])
    return (original.ms, original.n, original.head, wrote.by, rest), wrote


class UnderlyingValues:
    """Of each field, by its name: `values` in effect but for confirmations, best first; the one `imported`.

    `sources` are those of all writes, dead ones too. `is_outlived`: without confirmations, a person's word
    beside a deletion would keep the entity in sight. Empty without a history.
    """

    def __init__(self, entity: Entity, history: list[SourcedOperation], chains: Chains) -> None:
        self.values: dict[str, list[Version]] = {}
        self.imported: dict[str, list[Version]] = {}
        self.sources = [sourced_operation.source for sourced_operation in history]
        writes_by_field: dict[str, list[SourcedOperation]] = {}
        for sourced_operation in history:
            for name in sourced_operation.operation.fields:
                writes_by_field.setdefault(name, []).append(sourced_operation)
        for name, current in sorted(entity.state.fields.items()):
            writes = writes_by_field.get(name, [])
            if len(writes) > len(current):
                self._look(name, current, writes, chains)
        self.is_outlived = self._find_outliving(history, chains)

    def _find_outliving(self, history: list[SourcedOperation], chains: Chains) -> bool:
        deletions = {version.source.head for version in self.values.get(DELETED, ()) if version.value is True}
        bases = [write.operation.base for write in history if write.head in deletions]
        return bool(deletions) and any(
            not any(covers(base, write.head, chains) for base in bases)
            for write in history
            if write.source.by is AuthorKind.USER
            and write.source.effect is None
            and not write.operation.deletes
        )

    def _look(
        self, name: str, current: list[Version], writes: list[SourcedOperation], chains: Chains
    ) -> None:
        heads = {version.source.head for version in current}
        if any(version.source.effect is not None for version in current):
            below = [
                sourced_operation
                for sourced_operation in _uncovered_writes(writes, chains)
                if sourced_operation.source.head not in heads
            ]
            self.values.update(
                _versions(
                    name,
                    sorted(below, key=lambda sourced_operation: sourced_operation.source.order, reverse=True),
                )
            )
        imports = [
            sourced_operation
            for sourced_operation in writes
            if is_from_import(sourced_operation.source) and sourced_operation.source.effect is None
        ]
        last = sorted(imports, key=lambda sourced_operation: import_order_key(sourced_operation.source))[-1:]
        known_heads = heads | {version.source.head for version in self.values.get(name, ())}
        self.imported.update(
            _versions(
                name,
                [
                    sourced_operation
                    for sourced_operation in last
                    if sourced_operation.source.head not in known_heads
                ],
            )
        )


def _uncovered_writes(writes: list[SourcedOperation], chains: Chains) -> list[SourcedOperation]:
    """Return the writes that no confirmation caused and no other such has seen."""
    free = [sourced_operation for sourced_operation in writes if sourced_operation.source.effect is None]
    overwritten = CoveredCommits((sourced_operation.operation.base for sourced_operation in free), chains)
    return [sourced_operation for sourced_operation in free if sourced_operation.head not in overwritten]


def _versions(name: str, writes: list[SourcedOperation]) -> dict[str, list[Version]]:
    versions = [
        Version(sourced_operation.source, sourced_operation.operation.fields[name])
        for sourced_operation in writes
    ]
    matching_versions = [version for version in versions if not isinstance(version.value, Redacted)]
    return {name: matching_versions} if matching_versions else {}
