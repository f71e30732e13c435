"""Each task of the journal with all that other programs' formats may have a place for.

Never decides what a format can say: its writer does.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from uuid import UUID

from daemon.journal.imports.memory import changed_ms, is_import, source_of
from daemon.journal.names import SET, category_of
from daemon.journal.provenance import written_ms
from daemon.journal.show import Shown, place
from daemon.journal.values import CLOSED
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, EntityId, derived_id, from_text


@dataclass(frozen=True, slots=True)
class Note:
    """An entry: its id, its text, and when it happened (Unix time)."""

    id: EntityId
    text: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another task."""

    id: EntityId
    type: str
    other: EntityId


@dataclass(frozen=True, slots=True)
class Items:
    """A checklist: its title and its lines, archived ones aside."""

    title: str
    lines: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Each:
    """One task. What nobody ever gave a value is None, unlike what was given the usual one."""

    id: EntityId
    title: str
    status: str
    reason: str | None
    priority: str | None
    due: str | None
    estimate_minutes: int | None
    language: str | None
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
    notes: tuple[Note, ...]
    lists: tuple[Items, ...]
    links_from: tuple[Link, ...]
    links_to: tuple[Link, ...]

    def key(self, format_: str) -> str:
        """Return the id that the task has in a format: its source's own, or a UUID that is its id here."""
        if self.source and self.source[0] == format_:
            return self.source[1]
        return str(UUID(bytes=self.id))

    def derived(self, format_: str, key: str) -> EntityId:
        """Return the id that an import gave to what belongs to the task under this key."""
        return derived_id("import", format_, key, time_of=self.id)


class Eachs:
    """The tasks of one snapshot, in the order of their making; `removed`: also those out of sight."""

    def __init__(self, snapshot: Snapshot, *, removed: bool = False) -> None:
        self._snapshot = snapshot
        self._shown = Shown(snapshot)
        held = [one for one in snapshot.entities("task") if one.exists]
        gone = [one for one in snapshot.entities("task", removed=True) if one.exists] if removed else []
        self._tasks = sorted([*held, *gone], key=_age)
        self._present = {one.id: one for one in self._tasks}

    def key(self, format_: str, other: EntityId) -> str | None:
        """Return the id that another task of the same file has in a format, None where it is not in it."""
        task = self._present.get(other)
        if task is None:
            return None
        source = source_of(task)
        return source[1] if source and source[0] == format_ else str(UUID(bytes=other))

    def __iter__(self) -> Iterator[Each]:
        """Yield the tasks, each with what belongs to it."""
        for task in self._tasks:
            yield self._each(task)

    def _each(self, task: Entity) -> Each:
        assert task.created is not None
        status = task.version("status")
        ended = status.source if status and task.text("status") in CLOSED else None
        deleted = None if task.visible else task.version(DELETED)
        children = self._children["entry", task.id], self._children["checklist", task.id]
        category = category_of(task)
        return Each(
            id=task.id,
            title=_line(task.text("title")),
            status=task.text("status") or "OPEN",
            reason=_line(task.text("reason")) or None,
            priority=task.text("priority") or None,
            due=_day_or_none(task.text("due")),
            estimate_minutes=_number(task.value("estimate_minutes")),
            language=task.text("language") or None,
            category=_line(self._shown.categories.get(category, "")) or None if category else None,
            labels=self._labels(task),
            made_ms=written_ms(task.created),
            changed_ms=max(_changed_ms(task), *(_noted_ms(one) for one in children[0]), 0),
            ended_ms=None if ended is None else written_ms(ended),
            removed_ms=None if deleted is None else written_ms(deleted.source),
            source=source_of(task),
            is_dated=_is_dated(task.created.origin),
            is_end_dated=ended is not None and _is_dated(ended.origin),
            notes=_notes(children[0]),
            lists=tuple(map(self._items, sorted(children[1], key=place))),
            links_from=tuple(self._links["from_id", task.id]),
            links_to=tuple(self._links["to_id", task.id]),
        )

    def _labels(self, task: Entity) -> tuple[str, ...]:
        ids = [from_text(member) for member in task.members(SET) if len(member) == 2 * ID_BYTES]
        names = (_line(self._shown.labels[one]) for one in ids if one in self._shown.labels)
        return tuple(sorted(dict.fromkeys(filter(None, names)), key=lambda name: (name.casefold(), name)))

    def _items(self, checklist: Entity) -> Items:
        lines = sorted(self._children["checklist_item", checklist.id], key=place)
        kept = [one for one in lines if one.value("is_archived") is not True]
        titles = ((_line(one.text("title")), one.value("is_checked") is True) for one in kept)
        return Items(_line(checklist.text("title")), tuple(one for one in titles if one[0]))

    @cached_property
    def _children(self) -> defaultdict[tuple[str, EntityId], list[Entity]]:
        found: defaultdict[tuple[str, EntityId], list[Entity]] = defaultdict(list)
        for kind, field in (
            ("entry", "task_id"),
            ("checklist", "task_id"),
            ("checklist_item", "checklist_id"),
        ):
            for one in self._snapshot.entities(kind):
                if isinstance(target := one.value(field), bytes):
                    found[kind, EntityId(target)].append(one)
        return found

    @cached_property
    def _links(self) -> defaultdict[tuple[str, EntityId], list[Link]]:
        found: defaultdict[tuple[str, EntityId], list[Link]] = defaultdict(list)
        for link in self._snapshot.entities("link"):
            ends = link.value("from_id"), link.value("to_id")
            if isinstance(ends[0], bytes) and isinstance(ends[1], bytes):
                start, end = EntityId(ends[0]), EntityId(ends[1])
                found["from_id", start].append(Link(link.id, link.text("type"), end))
                found["to_id", end].append(Link(link.id, link.text("type"), start))
        return found


def apart(notes: Sequence[Note], step_ms: int) -> list[Note]:
    """Give notes of one moment moments of their own, `step_ms` apart at least: so they keep their order."""
    found: list[Note] = []
    for note in notes:
        at_ms = note.at_ms - note.at_ms % step_ms
        if found and at_ms <= found[-1].at_ms:
            at_ms = found[-1].at_ms + step_ms
        found.append(replace(note, at_ms=at_ms))
    return found


def local_day(ms: int, zone: tzinfo) -> date:
    """Return the day of a moment where the person is."""
    return moment(ms).astimezone(zone).date()


def moment(ms: int) -> datetime:
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


def _changed_ms(entity: Entity) -> int:
    told = (changed_ms(versions[0].source) for versions in entity.row.fields.values())
    return max(told, default=0)


def _noted_ms(entry: Entity) -> int:
    """Return when a note was last changed here: of what an import brought, the task's own time tells."""
    own = (versions[0].source for versions in entry.row.fields.values())
    return max((written_ms(source) for source in own if not is_import(source)), default=0)


def _notes(entries: Sequence[Entity]) -> tuple[Note, ...]:
    told = [
        (_at_ms(one), one.text("position"), one.created.n if one.created else 0, one.id, one)
        for one in entries
    ]
    return tuple(
        Note(one.id, _clean(one.text("text")), at_ms) for at_ms, _, _, _, one in sorted(told, key=_order)
    )


def _order(told: tuple[int, str, int, EntityId, Entity]) -> tuple[int, str, int, EntityId]:
    return told[:4]


def _at_ms(entry: Entity) -> int:
    try:
        at = datetime.fromisoformat(entry.text("happened_at"))
        return int(at.timestamp() * 1000) if at.tzinfo else 0
    except (ValueError, OverflowError):
        return written_ms(entry.created) if entry.created else 0


def _day_or_none(written: str) -> str | None:
    try:
        return date.fromisoformat(written).isoformat()
    except ValueError:
        return None


def _number(value: object) -> int | None:
    return value if type(value) is int else None


_BREAKS = "\n\t\x85"


def _line(written: str) -> str:
    return " ".join(_clean(written).split())


def _clean(written: str) -> str:
    """Take out what no text file may hold: control characters, line breaks and tabs aside."""
    if written.isprintable():
        return written
    return "".join(one for one in written if one in _BREAKS or not (one < " " or "\x7f" <= one <= "\x9f"))
