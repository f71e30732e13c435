"""Writes the whole journal as JSON lines: an entity a line, with every value in effect and who wrote it.

Never writes the roster, which is membership and not the journal, nor what is not in effect: history is for
backups. What an import of such a file wrote is written as it was before, so that a second journal's export of
the same things is the same bytes.
"""

from collections.abc import Iterator, Mapping
from datetime import tzinfo

from daemon.journal.exports.jsonl_beneath import Beneath
from daemon.journal.exports.jsonl_form import NAME, VERSION, End, Header, Line, to_json, written
from daemon.journal.exports.jsonl_writes import Writes
from daemon.journal.imports.memory import is_import
from daemon.journal.show import Shown
from daemon.journal.was import Seen, Was, is_ours, seen_in, was_of
from store.entity import Entity
from store.fold import DELETED, RANK_USER, Source, Version
from store.history import operations
from store.shown import counters
from store.snapshot import Snapshot
from store.whole import whole
from syncproto.codec import Redacted
from syncproto.ids import text

FORMAT = "jsonl"
ROSTER = "device"

_Versions = Mapping[str, list[Version]]


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield the file's lines."""
    del zone  # times are Unix times
    lines = Lines(snapshot)
    yield written(Header(NAME, VERSION))
    for entity, touched in whole(snapshot):
        if entity.exists and entity.kind != ROSTER:
            yield written(lines.line(entity, touched))
    yield written(End(end=True))


class Lines:
    """Makes the lines of one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._shown = Shown(snapshot)

    def line(self, entity: Entity, touched: int) -> Line:
        """Make the line of an entity that `touched` commits touched."""
        fields = _whole(entity)
        born = entity.created
        assert born is not None
        known = [born, *(one.source for versions in entity.row.fields.values() for one in versions)]
        beneath = Beneath(self._snapshot, entity) if _may_cover(known, touched) else Beneath()
        writes = Writes(self.was, [born], fields, beneath.values, beneath.imported)
        return Line(
            id=text(entity.id),
            kind=entity.kind,
            fields={name: to_json(versions[0].value) for name, versions in fields.items()},
            conflicts=writes.others({name: versions[1:] for name, versions in fields.items()}),
            beneath=writes.others(beneath.values),
            imported={name: one for name, (one,) in writes.others(beneath.imported).items()},
            made=writes.place(born),
            writes=writes.told(fields),
            seen=_told(seen(entity, beneath.sources or known)),
            touched=bool(entity.row.person) and not _is_persons(born, fields, beneath.values),
            outlived=entity.visible and any(one.value is True for one in fields.get(DELETED, ())),
        )

    def was(self, source: Source) -> Was:
        """Return where a write was first made."""
        before = was_of(source)
        if before is not None:
            return before
        device = self._shown.device(source.head.replica)
        name = self._shown.device_names.get(device, "")
        return Was(source.ms, source.n, device, name, source.head, source.effect, source.origin)


def seen(entity: Entity, sources: list[Source]) -> Seen:
    """Return up to which commits a journal knows an entity, those of an import as they were before.

    `sources` are those of its writes; where none of them is an import of ours, its clock alone tells.
    """
    if not any(map(is_ours, sources)):
        return counters(entity.clock)
    found: Seen = {}
    for source in sources:
        told = seen_in(source.origin) if is_ours(source) else counters((source.head,))
        for replica, counter in told.items():
            found[replica] = max(counter, found.get(replica, counter))
    return found


def seen_here(snapshot: Snapshot, entity: Entity) -> Seen:
    """Return `seen` of an entity from its whole history."""
    return seen(entity, [one.source for one in operations(snapshot, entity.id)])


def _may_cover(known: list[Source], touched: int) -> bool:
    """Say whether the log may tell more than the row: nearly always it does not, and need not be read."""
    if touched > len({one.head for one in known}) or any(one.effect is not None for one in known):
        return True
    return len({is_import(one) for one in known}) > 1


def _told(known: Seen) -> dict[str, int]:
    return {text(replica): known[replica] for replica in known}


def _whole(entity: Entity) -> dict[str, list[Version]]:
    """Return the versions in effect by field; those that were dropped from the history are left out."""
    found = {
        name: [one for one in versions if not isinstance(one.value, Redacted)]
        for name, versions in sorted(entity.row.fields.items())
    }
    return {name: versions for name, versions in found.items() if versions}


def _is_persons(born: Source, *values: _Versions) -> bool:
    """Say whether a person's own write other than a deletion is among those that the line tells."""
    found = [one.source for told in values for name in told if name != DELETED for one in told[name]]
    return any(one.rank == RANK_USER for one in [born, *found])
