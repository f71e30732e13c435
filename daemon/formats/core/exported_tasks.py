"""Each task of the journal with all that other programs' formats may have a place for.

Never decides what a format can say: its writer does.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from itertools import count
from typing import Any
from uuid import UUID

from daemon.due_time import due_time_on, read_due_time
from daemon.formats.core.import_history import source_changed_ms, source_id_of
from daemon.formats.core.plan import VALUE_FIELDS, plain_text, title_line
from daemon.formats.core.task_values import TaskValues
from daemon.journal.fields.imported_provenance import is_from_import
from daemon.journal.fields.placement import position_key
from daemon.journal.fields.provenance import written_ms
from daemon.journal.fields.validation import CLOSED
from daemon.journal.references.names import TASK_LABELS, category_id_of
from daemon.journal.views.lookup import NameLookup
from daemon.task_fields import FieldType
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, EntityId, derived_id, id_from_text


@dataclass(frozen=True, slots=True)
class ExportedNote:
    """An entry: its id, its text, when it happened (Unix time), and whether its text is an import's own."""

    id: EntityId
    text: str
    at_ms: int
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class ExportedLink:
    """A link to another task."""

    id: EntityId
    type: str
    other: EntityId


@dataclass(frozen=True, slots=True)
class ExportedItem:
    """An item of a checklist."""

    id: EntityId
    title: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class ExportedChecklist:
    """A checklist: its title, and its items except for archived ones."""

    title: str
    items: tuple[ExportedItem, ...]

    @property
    def lines(self) -> list[tuple[str, bool]]:
        """Return title and tick of each item."""
        return [(item.title, item.is_checked) for item in self.items]


@dataclass(frozen=True, slots=True)
class ExportedTask(TaskValues):
    """One task. What nobody ever gave a value is None, unlike what was given the usual one."""

    id: EntityId
    title: str
    status: str
    reason: str | None
    category: str | None
    labels: tuple[str, ...]
    made_ms: int
    changed_ms: int
    ended_ms: int | None
    removed_ms: int | None
    source: tuple[str, str] | None
    """The format that it was first imported from, and its id there."""
    is_dated: bool
    """Whether the file that it came from said when it was made; so it is for tasks made here."""
    is_end_dated: bool
    is_due_imported: bool
    is_start_written: bool
    """Whether anybody ever gave it a start, or took one away: an older version kept one as text."""
    is_hour_written: bool
    """Whether anybody ever gave its due day an hour, or took one away."""
    is_status_imported: bool
    notes: tuple[ExportedNote, ...]
    lists: tuple[ExportedChecklist, ...]
    links_from: tuple[ExportedLink, ...]
    links_to: tuple[ExportedLink, ...]

    def id_in_format(self, format_: str) -> str:
        """Return the id that the task has in a format: its source's own, or a UUID that is its id here."""
        if self.source and self.source[0] == format_:
            return self.source[1]
        return str(UUID(bytes=self.id))

    def kept_notes(self, format_: str, key: str) -> list[ExportedNote]:
        """Return the notes that an import of a format made of the text under this key, in its order.

        None are returned if a person changed one: then they are a person's words, no other program's data.
        """
        notes = self.imported_notes(format_, key)
        return notes if all(note.is_kept for note in notes) else []

    def imported_child_id(self, format_: str, key: str) -> EntityId:
        """Return the id that an import gave to what belongs to the task under this key."""
        return derived_id("import", format_, key, time_of=self.id)

    def imported_notes(self, format_: str, key: str) -> list[ExportedNote]:
        """Return what an import made of the text under this key: one note, or the parts of a long one."""
        notes = {note.id: note for note in self.notes}
        if whole := notes.get(self.imported_child_id(format_, key)):
            return [whole]
        parts = (notes.get(self.imported_child_id(format_, f"{key}\n#{nth}")) for nth in count(1))
        return list(_until_none(parts))


def _until_none(notes: Iterable[ExportedNote | None]) -> Iterator[ExportedNote]:
    for note in notes:
        if note is None:
            return
        yield note


class ExportedTasks:
    """The tasks of one snapshot, in the order of their making.

    `removed`: also those out of sight, or these of them; `only`: those of the file of which the tasks are
    yielded.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        removed: bool | Collection[EntityId] = False,
        only: Collection[EntityId] | None = None,
    ) -> None:
        self._snapshot = snapshot
        self._names = NameLookup(snapshot)
        entities = [task for task in snapshot.entities("task") if task.exists]
        if removed:
            entities += [
                task
                for task in snapshot.entities("task", removed=True)
                if task.exists and (removed is True or task.id in removed)
            ]
        self._tasks = sorted(entities, key=_age)
        self._present = {task.id: task for task in self._tasks}
        self._only = only

    def id_in_format(self, format_: str, other: EntityId) -> str | None:
        """Return the id that another task of the same file has in a format, None if it is not in the file."""
        task = self._present.get(other)
        if task is None:
            return None
        source = source_id_of(task)
        return source[1] if source and source[0] == format_ else str(UUID(bytes=other))

    def __iter__(self) -> Iterator[ExportedTask]:
        """Yield the tasks, each with what belongs to it."""
        yield from self.tasks_with_ids(self._present.keys() if self._only is None else self._only)

    def tasks_with_ids(self, ids: Collection[EntityId]) -> Iterator[ExportedTask]:
        """Yield those of the tasks that have one of these ids."""
        for task in self._tasks:
            if task.id in ids:
                yield self._exported_task(task)

    def _exported_task(self, task: Entity) -> ExportedTask:
        assert task.created is not None
        status = task.version("status")
        ended = status.source if status and task.text("status") in CLOSED else None
        deleted = None if task.visible else task.version(DELETED)
        children = self._children["entry", task.id], self._children["checklist", task.id]
        category = category_id_of(task)
        return ExportedTask(
            id=task.id,
            title=title_line(plain_text(task.text("title"))),
            status=_line(task.text("status")) or "OPEN",
            reason=_line(task.text("reason")) or None,
            **_values(task),
            category=_line(self._names.categories.get(category, "")) or None if category else None,
            labels=self._labels(task),
            made_ms=written_ms(task.created),
            changed_ms=max(_changed_ms(task), *(_noted_ms(entity) for entity in children[0]), 0),
            ended_ms=None if ended is None else written_ms(ended),
            removed_ms=None if deleted is None else written_ms(deleted.source),
            source=source_id_of(task),
            is_dated=_is_dated(task.created.origin),
            is_end_dated=ended is not None and _is_dated(ended.origin),
            is_due_imported=_is_imported(task, "due"),
            is_start_written=task.version("start") is not None,
            is_hour_written=task.version("due_time") is not None,
            is_status_imported=_is_imported(task, "status"),
            notes=_notes(children[0]),
            lists=tuple(map(self._items, sorted(children[1], key=position_key))),
            links_from=tuple(self._links["from_id", task.id]),
            links_to=tuple(self._links["to_id", task.id]),
        )

    def _labels(self, task: Entity) -> tuple[str, ...]:
        ids = [id_from_text(member) for member in task.members(TASK_LABELS) if len(member) == 2 * ID_BYTES]
        names = (
            _line(self._names.labels[identifier]) for identifier in ids if identifier in self._names.labels
        )
        return tuple(sorted(dict.fromkeys(filter(None, names)), key=lambda name: (name.casefold(), name)))

    def _items(self, checklist: Entity) -> ExportedChecklist:
        lines = sorted(self._children["checklist_item", checklist.id], key=position_key)
        entities = [line for line in lines if line.value("is_archived") is not True]
        items = (
            ExportedItem(entity.id, _line(entity.text("title")), entity.value("is_checked") is True)
            for entity in entities
        )
        return ExportedChecklist(_line(checklist.text("title")), tuple(item for item in items if item.title))

    @cached_property
    def _children(self) -> defaultdict[tuple[str, EntityId], list[Entity]]:
        entities: defaultdict[tuple[str, EntityId], list[Entity]] = defaultdict(list)
        for kind, field in (
            ("entry", "task_id"),
            ("checklist", "task_id"),
            ("checklist_item", "checklist_id"),
        ):
            for entity in self._snapshot.entities(kind):
                if isinstance(target := entity.value(field), bytes):
                    entities[kind, EntityId(target)].append(entity)
        return entities

    @cached_property
    def _links(self) -> defaultdict[tuple[str, EntityId], list[ExportedLink]]:
        links: defaultdict[tuple[str, EntityId], list[ExportedLink]] = defaultdict(list)
        for link in self._snapshot.entities("link"):
            ends = link.value("from_id"), link.value("to_id")
            if isinstance(ends[0], bytes) and isinstance(ends[1], bytes):
                start, end = EntityId(ends[0]), EntityId(ends[1])
                links["from_id", start].append(ExportedLink(link.id, link.text("type"), end))
                links["to_id", end].append(ExportedLink(link.id, link.text("type"), start))
        return links


def with_distinct_times(notes: Sequence[ExportedNote], step_ms: int) -> list[ExportedNote]:
    """Give notes of one moment moments of their own, `step_ms` apart at least: so they keep their order."""
    exported_notes: list[ExportedNote] = []
    for note in notes:
        at_ms = note.at_ms - note.at_ms % step_ms
        if exported_notes and at_ms <= exported_notes[-1].at_ms:
            at_ms = exported_notes[-1].at_ms + step_ms
        exported_notes.append(replace(note, at_ms=at_ms))
    return exported_notes


def local_day(ms: int, zone: tzinfo) -> date:
    """Return the day of a moment in the person's time zone."""
    return bounded_utc(ms).astimezone(zone).date()


def bounded_utc(ms: int) -> datetime:
    """Return Unix time as a moment, bounded to what every zone can show."""
    bounded = min(max(ms, _MS_MIN), _MS_MAX)
    return datetime.fromtimestamp(bounded // 1000, UTC)


_MS_MIN = -62_135_510_400_000  # a day after the beginning of the year 1
_MS_MAX = 253_402_214_400_000  # a day before the end of the year 9999


def _age(task: Entity) -> tuple[int, int, EntityId]:
    assert task.created is not None
    return task.created.ms, task.created.n, task.id


def _is_dated(origin: dict[str, object] | None) -> bool:
    return origin is None or "at_ms" in origin


def _is_imported(entity: Entity, field: str) -> bool:
    """Report whether an import gave a field the value that is in effect."""
    version = entity.version(field)
    return version is not None and is_from_import(version.source)


def _changed_ms(entity: Entity) -> int:
    changes_ms = (source_changed_ms(source) for source in entity.state.fields.winning_sources())
    return max(changes_ms, default=0)


def _noted_ms(entry: Entity) -> int:
    """Return when a note was last changed here; for an imported note, the task's own time decides."""
    own = entry.state.fields.winning_sources()
    return max((written_ms(source) for source in own if not is_from_import(source)), default=0)


def _notes(entries: Sequence[Entity]) -> tuple[ExportedNote, ...]:
    dated_notes = [
        (_at_ms(entry), entry.text("position"), entry.created.n if entry.created else 0, entry.id, entry)
        for entry in entries
    ]
    return tuple(
        ExportedNote(entity.id, plain_text(entity.text("text")), at_ms, _is_imported(entity, "text"))
        for at_ms, _, _, _, entity in sorted(dated_notes, key=_order)
    )


def _order(dated_note: tuple[int, str, int, EntityId, Entity]) -> tuple[int, str, int, EntityId]:
    return dated_note[:4]


def _at_ms(entry: Entity) -> int:
    try:
        moment = datetime.fromisoformat(entry.text("happened_at"))
        return int(moment.timestamp() * 1000) if moment.tzinfo else 0
    except (ValueError, OverflowError):
        return written_ms(entry.created) if entry.created else 0


def _values(task: Entity) -> dict[str, Any]:
    """Return the values that stand alone; an hour only if it is one of the day on which the task is due."""
    values = {field.name: _written_value(field.type, task.value(field.name)) for field in VALUE_FIELDS}
    hour = due_time_on(values["due"], values["due_time"])
    return values | {"due_time": None if hour is None else hour.text()}


def _written_value(type_: FieldType, value: object) -> Any:
    """Return a value as a file can have it, None for none and for what no file has a place for."""
    if type_ == "minutes":
        return value if type(value) is int else None
    text = value if isinstance(value, str) else ""
    match type_:
        case "day":
            return _day_or_none(text)
        case "due_time":
            return None if (hour := read_due_time(text)) is None else hour.text()
        case "language":
            return _word_or_none(text)
    return _line(text) or None


def _day_or_none(text: str) -> str | None:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return None


def _word_or_none(text: str) -> str | None:
    """Return a text that is one word: a format has no place for more, and more could end its line."""
    word = plain_text(text)
    return word if word and word.split() == [word] else None


def _line(text: str) -> str:
    return " ".join(plain_text(text).split())
