"""What earlier imports wrote: whether the file has changed a field since, or a person has.

Never takes the current value for the file's word: a person may have written over it.

An import writes a field only if the file's value differs from that of its last import.
That last word is in the log: the newest version that an import wrote, known by its origin. Nothing is kept
beside the log for it, so every device answers alike, also one that never saw the file. The log is read only
if the version in effect is not an import's own.
"""

from daemon.formats.core.plan import PlannedTask, plain_text
from daemon.journal.fields.imported_provenance import is_from_import, origin_before_export
from daemon.journal.fields.provenance import ORIGIN_AT_KEY, written_ms
from store.fold.entity import Entity
from store.fold.field_versions import Provenance
from store.queries.field_changes import operations_touching
from store.snapshot import Snapshot
from syncproto.codec import Redacted, Value, redaction_of
from syncproto.ids import ZERO_ID, EntityId, derived_id, uuid7
from syncproto.vector_clock import Head

_BY = "by"
_IMPORT = "import"
_FORMAT = "format"
_SOURCE = "source"
_CHANGED = "changed_ms"
_NO_RANDOMNESS = bytes(10)
_SOURCE_CHARS_MAX = 2000  # no importer takes an id that is longer


def imported_task_id(format_: str, task: PlannedTask) -> EntityId:
    """Return the id of an imported task, derived from the source's own, its time that of the source."""
    time_of = ZERO_ID if task.made_ms is None else uuid7(task.made_ms, _NO_RANDOMNESS)
    return derived_id("import", format_, task.key, time_of=time_of)


def import_origin(
    format_: str, at_ms: int | None, source: str | None = None, changed_ms: int | None = None
) -> dict[str, Value]:
    """Return the provenance of an imported write; `at_ms` is when its source wrote it, if known.

    A new task also keeps the id that it has in its source, and when that last changed it.
    """
    origin: dict[str, Value] = {_BY: _IMPORT, _FORMAT: format_}
    optional_values = {ORIGIN_AT_KEY: at_ms, _SOURCE: source, _CHANGED: changed_ms}
    return origin | {name: value for name, value in optional_values.items() if value is not None}


def source_id_of(task: Entity) -> tuple[str, str] | None:
    """Return the format that a task was first imported from and its id there, None if it has none."""
    origin = {} if task.created is None else origin_before_export(task.created)
    format_, source = origin.get(_FORMAT), origin.get(_SOURCE)
    if origin.get(_BY) != _IMPORT or not isinstance(format_, str) or not isinstance(source, str):
        return None
    # A calendar and a list of Taskwarrior name it with each link to the task.
    return (format_, source) if len(source) <= _SOURCE_CHARS_MAX else None


def source_changed_ms(source: Provenance) -> int:
    """Return when the source of an imported write last changed what it wrote, else when it was written."""
    changed_ms = origin_before_export(source).get(_CHANGED)
    return changed_ms if type(changed_ms) is int else written_ms(source)


def import_order_key(source: Provenance) -> tuple[int, int, Head]:
    """Return the key of the order in which imports spoke: the same on every device, as the feed's is not."""
    return (source.ms, source.n, source.head)


class ImportHistory:
    """What imports last wrote to one entity."""

    def __init__(self, snapshot: Snapshot, entity: Entity) -> None:
        self._snapshot = snapshot
        self._entity = entity
        self._log: dict[str, Value] | None = None

    def last_value(self, field: str) -> Value:
        """Return the value that an import last gave to a field, None if no import did."""
        version = self._entity.version(field)
        if version is None:
            return None
        return version.value if is_from_import(version.source) else self._from_log().get(field)

    def last_value_is(self, field: str, value: Value) -> bool:
        """Report whether an import last gave a field this value, even if the value was dropped since."""
        last = self.last_value(field)
        if isinstance(last, str) and last != value:
            return plain_text(last) == value  # as exports write it
        return last == value or (isinstance(last, Redacted) and last == redaction_of(value))

    def was_last_said(self, field: str, value: Value) -> bool:
        """Say whether an import wrote the field, and the last one gave it this value."""
        version = self._entity.version(field)
        is_imported = version is not None and is_from_import(version.source)
        return (is_imported or field in self._from_log()) and self.last_value_is(field, value)

    def _from_log(self) -> dict[str, Value]:
        if self._log is None:
            self._log = {}
            imports = [
                sourced_operation
                for sourced_operation in operations_touching(self._snapshot, self._entity.id)
                if is_from_import(sourced_operation.source)
            ]
            for write in sorted(
                imports, key=lambda sourced_operation: import_order_key(sourced_operation.source)
            ):
                self._log.update(write.operation.fields)
        return self._log
