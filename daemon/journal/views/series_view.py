"""A series as it is shown: its rule, its next days, and what each of its tasks begins with.

Never writes, and never makes a task.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Final

from msgspec import Struct

from daemon.dates.recurrence import Rule
from daemon.due_time import is_hour
from daemon.journal.fields import validation
from daemon.journal.fields.provenance import written_at_iso
from daemon.journal.recurring.occurrences import next_days, occurrence_id, occurrences_of
from daemon.journal.recurring.series_record import SeriesRecord, series_id_text
from daemon.journal.references import names
from daemon.journal.views.lookup import clock_json
from daemon.journal.views.structures import ClockJson
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text

NEXT_SHOWN: Final = 3


class Series(Struct, frozen=True, kw_only=True):
    """A series. `next` are the next days of its tasks that nobody has touched, three at most.

    `next_task` is the id of the first of those tasks; it can be used like any other.

    `rule` is that of RFC 5545, or AFTER=n for n days after the last one was done. `is_understood` is false
    if a newer version wrote it: such a series shows no tasks here. `follows` is the series that it was split
    from.
    """

    id: str
    title: str
    rule: str
    is_understood: bool
    first: str
    until: str | None
    zone: str
    due_time: str | None
    """The hour of the day on which each task is due, such as 09:00[Europe/Berlin], if it has one."""
    priority: str
    estimate_minutes: int | None
    language: str | None
    labels: list[str]
    category: str | None
    steps: list[str]
    skipped: list[str]
    next: list[str]
    next_task: str | None
    follows: str | None
    created_at: str | None
    vector_clock: ClockJson
    removed: bool = False


def present_all(snapshot: Snapshot, records: Sequence[SeriesRecord], today: date) -> list[Series]:
    """Show series as they are on a day."""
    days = next_days(snapshot, records, today, NEXT_SHOWN)
    return [_present(snapshot, record, days[record.id]) for record in records]


def present_series(snapshot: Snapshot, record: SeriesRecord, today: date) -> Series:
    """Show a series as it is on a day."""
    return present_all(snapshot, [record], today)[0]


def _present(snapshot: Snapshot, record: SeriesRecord, days: list[str]) -> Series:
    entity, begins = record.entity, record.begins
    category = begins.get("category_id")
    category_entity = snapshot.entity(EntityId(category)) if isinstance(category, bytes) else None
    priority, minutes, language = (begins.get(name) for name in ("priority", "estimate_minutes", "language"))
    labels = (snapshot.entity(label) for label in names.member_ids(entity, names.TASK_LABELS))
    return Series(
        id=id_to_text(record.id),
        title=names.shown_name(entity),
        rule=record.text,
        is_understood=record.rule is not None,
        first="" if record.first == date.max else record.first.isoformat(),
        until=None if record.until == date.max else record.until.isoformat(),
        zone=entity.text("zone"),
        due_time=hour if isinstance(hour := begins.get("due_time"), str) and is_hour(hour) else None,
        priority=priority if isinstance(priority, str) else validation.PRIORITY_DEFAULT,
        estimate_minutes=minutes if isinstance(minutes, int) else None,
        language=language if isinstance(language, str) else None,
        labels=_shown_names(label for label in labels if label is not None and label.visible),
        category=None if category_entity is None else names.shown_name(category_entity),
        steps=list(record.steps),
        skipped=sorted(record.skipped),
        next=days if entity.visible else [],
        next_task=_next_task(snapshot, record, days) if entity.visible and days else None,
        follows=series_id_text(entity.value("follows_id")),
        created_at=written_at_iso(snapshot, entity.created),
        vector_clock=clock_json(entity.clock),
        removed=not entity.visible,
    )


def _next_task(snapshot: Snapshot, record: SeriesRecord, days: list[str]) -> str | None:
    if isinstance(record.rule, Rule):
        return id_to_text(occurrence_id(record.root, days[0]))
    later = occurrences_of(snapshot, record, date.fromisoformat(days[0]))
    return id_to_text(later[0].id) if later else None


def _shown_names(labels: Iterable[Entity]) -> list[str]:
    return sorted({names.shown_name(label) for label in labels}, key=str.casefold)
