"""The writes that a line of a JSON Lines export tells of, each once, in an order that they alone make.

Never in the order in which this store took them: another store takes them in another.
"""

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter

from msgspec.structs import replace

from daemon.journal.exports.jsonl_form import Other, Wrote, to_json
from daemon.journal.provenance import AUTHORS
from daemon.journal.was import Was
from store.fold import Source, Version
from syncproto import codec
from syncproto.heads import Head
from syncproto.ids import text

_Versions = Mapping[str, list[Version]]
_Key = tuple[int, int, Head, str, bytes]


class Writes:
    """The writes behind an entity's creation and the versions that are told of it."""

    def __init__(self, was: Callable[[Source], Was], made: Iterable[Source], *values: _Versions) -> None:
        versions = (one for told in values for versions in told.values() for one in versions)
        sources = {one.head: one for one in [*made, *(version.source for version in versions)]}
        keyed = {head: _keyed(was(source), source) for head, source in sources.items()}
        self._writes = dict(sorted(keyed.values(), key=itemgetter(0)))
        places = {key: place for place, key in enumerate(self._writes)}
        self._places = {head: places[key] for head, (key, _) in keyed.items()}

    def place(self, source: Source) -> int:
        """Return the place of a write among `told`."""
        return self._places[source.head]

    def told(self, fields: _Versions) -> list[Wrote]:
        """Return the writes, each with the fields that have their values in effect of it."""
        names: list[list[str]] = [[] for _ in self._writes]
        for name, versions in fields.items():
            names[self.place(versions[0].source)].append(name)
        return [replace(one, fields=given) for one, given in zip(self._writes.values(), names, strict=True)]

    def others(self, values: _Versions) -> dict[str, list[Other]]:
        """Return values that are not in effect, by field."""
        return {
            name: [Other(to_json(one.value), self.place(one.source)) for one in versions]
            for name, versions in values.items()
            if versions
        }


def _keyed(was: Was, source: Source) -> tuple[_Key, Wrote]:
    wrote = Wrote(
        by=AUTHORS[source.by],
        at_ms=was.ms,
        n=was.n,
        device=was.device.hex(),
        device_name=was.device_name,
        replica=text(was.head.replica),
        counter=was.head.counter,
        hash=was.head.hash8.hex(),
        effect=None if was.effect is None else text(was.effect),
        origin=None if was.origin is None else to_json(was.origin),
    )
    # All that is told of a write is in its key: two that differ in anything are two.
    rest = codec.encode([was.device, was.device_name, was.effect, was.origin])
    return (was.ms, was.n, was.head, wrote.by, rest), wrote
