"""A series as it is read from its entity: its rule, its days, and what each of its tasks begins with.

Never refuses what a member wrote: a rule that is not understood has no days.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from daemon.dates.recurrence import AfterDone, Rule, UnreadRule, read_rule
from daemon.journal.fields.validation import TITLE_CHARS_MAX
from store.fold.entity import Entity
from store.fold.list_columns import day_text
from syncproto.codec import Value
from syncproto.ids import ID_BYTES, EntityId, id_to_text

KIND: Final = "series"
SKIPPED: Final = "skipped"
"""The set of days that are left out: one field per member, `skipped/<day>`."""
TASK_SERIES: Final = "series_id"
TASK_OCCURRENCE: Final = "occurrence"
STEPS_MAX: Final = 50
BEGIN_FIELDS: Final = ("title", "priority", "estimate_minutes", "language", "category_id", "due_time")
"""The plain fields that each task of a series begins with; labels and steps come beside them.

The hour of a series names no day: 09:00[Europe/Berlin].
"""
_TYPES: Final[dict[str, type]] = {"estimate_minutes": int, "category_id": bytes}
_ZONE_CHARS_MAX: Final = 64
_LABELS_MAX: Final = 100


class SeriesRecord(NamedTuple):
    """A series. The ids of its tasks follow from that of `root`; `rule` is None if it cannot be read.

    `begins` are the fields that each of its tasks begins with. `follows` is the series that it was split from
    on the day `split_on`.
    """

    entity: Entity
    root: EntityId
    rule: Rule | AfterDone | None
    text: str
    first: date
    until: date
    begins: Mapping[str, Value]
    follows: EntityId | None
    split_on: date
    skipped: frozenset[str]

    @property
    def id(self) -> EntityId:
        """Return the id of the series itself."""
        return self.entity.id

    def is_skipped(self, day: str) -> bool:
        """Report whether a day is left out."""
        return day in self.skipped

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the titles of the checklist that each task begins with."""
        value = self.entity.value("steps")
        texts = value if isinstance(value, list | tuple) else ()
        fitting = (text for text in texts if isinstance(text, str) and 0 < len(text) <= TITLE_CHARS_MAX)
        return tuple(fitting)[:STEPS_MAX]

    @property
    def zone(self) -> tzinfo:
        """Return the zone in which a task of this series is done on a day; UTC if it is not known here."""
        name = self.entity.text("zone")
        try:
            return ZoneInfo(name) if name and len(name) <= _ZONE_CHARS_MAX else UTC
        except (ValueError, OSError, LookupError):
            return UTC


def _begin_fields(entity: Entity) -> Iterator[tuple[str, Value]]:
    """Yield what each task of a series begins with, no more of it than a person could write.

    A long text of a peer would be there once for each day.
    """
    for field in BEGIN_FIELDS:
        value = entity.value(field)
        if isinstance(value, str) and field not in _TYPES:
            yield field, value[:TITLE_CHARS_MAX]
        elif (type(value) is int and _TYPES.get(field) is int) or (
            isinstance(value, bytes) and _TYPES.get(field) is bytes and len(value) == ID_BYTES
        ):
            yield field, value
    for label in entity.members("label_ids")[:_LABELS_MAX]:
        yield f"label_ids/{label}", True


def read_series(entity: Entity) -> SeriesRecord:
    """Read a series by itself; one without a first day has no rule that can be read."""
    text, first = entity.text("rule"), day_text(entity.value("first"))
    until, split_on = day_text(entity.value("until")), day_text(entity.value("split_on")) or first
    try:
        rule = read_rule(text) if first else None
    except UnreadRule:
        rule = None
    return SeriesRecord(
        entity,
        _named_id(entity, "root_id") or entity.id,
        rule,
        text,
        date.fromisoformat(first) if first else date.max,
        date.fromisoformat(until) if until else date.max,
        dict(_begin_fields(entity)),
        _named_id(entity, "follows_id"),
        date.fromisoformat(split_on) if split_on else date.max,
        frozenset(entity.members(SKIPPED)),
    )


def _named_id(entity: Entity, field: str) -> EntityId | None:
    value = entity.value(field)
    return EntityId(value) if isinstance(value, bytes) and len(value) == ID_BYTES else None


def series_id_text(value: object) -> str | None:
    """Return the id of the series of a task as text, given what the task has as such; None if it has none."""
    return id_to_text(value) if isinstance(value, bytes) and len(value) == ID_BYTES else None
