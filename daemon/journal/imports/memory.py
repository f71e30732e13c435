"""What earlier imports wrote: whether the file has changed a field since, or a person has.

Never takes the current value for the file's word: a person may have written over it.

A field is the file's to write only where the file now says something else than when it was last imported.
That last word is in the log: the newest version that an import wrote, known by its origin. Nothing is kept
beside the log for it, so every device answers alike, also one that never saw the file. The log is read only
where the version in effect is not an import's own.
"""

from daemon.journal.provenance import ORIGIN_AT, written_ms
from daemon.journal.was import foreign
from store.entity import Entity
from store.fold import Source
from store.history import operations
from store.snapshot import Snapshot
from syncproto.codec import Redacted, Value, redacted
from syncproto.heads import Head

_BY = "by"
_IMPORT = "import"
_FORMAT = "format"
_SOURCE = "source"
_CHANGED = "changed_ms"


def origin(
    format_: str, at_ms: int | None, source: str | None = None, changed_ms: int | None = None
) -> dict[str, Value]:
    """Return the provenance of an imported write; `at_ms` is when its source wrote it, if it says.

    A new task also keeps the id that it has in its source, and when that last changed it.
    """
    known: dict[str, Value] = {_BY: _IMPORT, _FORMAT: format_}
    told = {ORIGIN_AT: at_ms, _SOURCE: source, _CHANGED: changed_ms}
    return known | {name: value for name, value in told.items() if value is not None}


def source_of(task: Entity) -> tuple[str, str] | None:
    """Return the format that a task was first imported from and its id there, None where it has none."""
    told = {} if task.created is None else foreign(task.created)
    format_, source = told.get(_FORMAT), told.get(_SOURCE)
    is_known = told.get(_BY) == _IMPORT and isinstance(format_, str) and isinstance(source, str)
    return (str(format_), str(source)) if is_known else None


def changed_ms(source: Source) -> int:
    """Return when the source of an imported write last changed what it wrote, else when it was written."""
    at = foreign(source).get(_CHANGED)
    return at if type(at) is int else written_ms(source)


def is_import(source: Source) -> bool:
    """Say whether an import made this write; one of JSON lines did only if the first to write it was one."""
    return foreign(source).get(_BY) == _IMPORT


def when_told(source: Source) -> tuple[int, int, Head]:
    """Return the key of the order in which imports spoke: the same on every device, as the feed's is not."""
    return (source.ms, source.n, source.head)


class Memory:
    """What imports last wrote to one entity."""

    def __init__(self, snapshot: Snapshot, entity: Entity) -> None:
        self._snapshot = snapshot
        self._entity = entity
        self._log: dict[str, Value] | None = None

    def value(self, field: str) -> Value:
        """Return the value that an import last gave to a field, None where none did."""
        version = self._entity.version(field)
        if version is None:
            return None
        return version.value if is_import(version.source) else self._from_log().get(field)

    def says(self, field: str, value: Value) -> bool:
        """Say whether an import last gave a field this value, also where that has been dropped since."""
        last = self.value(field)
        return last == value or (isinstance(last, Redacted) and last == redacted(value))

    def _from_log(self) -> dict[str, Value]:
        if self._log is None:
            self._log = {}
            imports = [one for one in operations(self._snapshot, self._entity.id) if is_import(one.source)]
            for write in sorted(imports, key=lambda one: when_told(one.source)):
                self._log.update(write.operation.fields)
        return self._log
