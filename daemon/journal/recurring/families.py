"""Series that were split from one another, read together: what one of them says holds for the others.

Never writes. Devices that were apart may each have split or ended a series: here that becomes one order.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from daemon.journal.recurring.series_record import KIND, SKIPPED, SeriesRecord, read_series
from store.fold.entity import Entity
from store.fold.list_columns import day_text
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def related_series(snapshot: Snapshot) -> dict[EntityId, SeriesRecord]:
    """Return all series by their ids, removed ones too, each with what those of its root say.

    A day that one of a root leaves out is left out of all. Of those split from one series, each lasts until
    the next one begins; and an end that somebody wrote beside a split ends what was split off too.
    """
    entities = [*snapshot.entities(KIND), *snapshot.entities(KIND, removed=True)]
    records = {entity.id: read_series(entity) for entity in entities}
    skipped: dict[EntityId, set[str]] = {}
    for record in records.values():
        skipped.setdefault(record.root, set()).update(record.entity.members(SKIPPED))
    bounds = _last_days(records)
    return {
        name: record._replace(
            skipped=frozenset(skipped[record.root]),
            until=min(record.until, bounds.get(name, date.max)),
        )
        for name, record in records.items()
    }


def visible_series(snapshot: Snapshot) -> list[SeriesRecord]:
    """Return all series in sight, by their ids."""
    return [record for record in related_series(snapshot).values() if record.entity.visible]


def shown_series(snapshot: Snapshot, entity: Entity) -> SeriesRecord:
    """Return one series with what those of its root say."""
    return related_series(snapshot).get(entity.id) or read_series(entity)


def later_series(snapshot: Snapshot, record: SeriesRecord) -> list[SeriesRecord]:
    """Return what is in sight of all that was split off from a series, and from that, and so on."""
    records = related_series(snapshot)
    after, names = _split_off(records), [record.id]
    for name in names:
        # Each follows one at most, so that a circle ends where it began.
        names += [split.id for split in after.pop(name, ())]
    return [records[name] for name in names[1:] if records[name].entity.visible]


def _split_off(records: Mapping[EntityId, SeriesRecord]) -> dict[EntityId, list[SeriesRecord]]:
    after: dict[EntityId, list[SeriesRecord]] = {}
    for record in records.values():
        if record.follows in records:
            assert record.follows is not None
            after.setdefault(record.follows, []).append(record)
    return after


def _last_days(records: Mapping[EntityId, SeriesRecord]) -> dict[EntityId, date]:
    """Return how far each series may go beside the others; none of those that follow in a circle."""
    after = _split_off(records)
    if not after:
        return {}
    bounds: dict[EntityId, date] = {}
    names = [name for name, record in records.items() if record.follows not in records]
    for name in names:
        splits = after.get(name, [])
        bound = bounds.get(name, date.max)
        days = sorted({split.split_on for split in splits if split.entity.visible})
        ended = min([bound, *_ends_beside(records[name], splits)])
        bounds[name] = min(ended, _day_before(days[0])) if days else ended
        for split in splits:
            later = days[bisect_right(days, split.split_on) :]
            bounds[split.id] = min(ended, _day_before(later[0]) if later else date.max)
            names.append(split.id)
    return bounds


def _ends_beside(record: SeriesRecord, splits: list[SeriesRecord]) -> Iterator[date]:
    """Yield the last days that somebody wrote while another device split a series."""
    versions = record.entity.versions("until")
    of_splits = {_day_before(split.split_on) for split in splits}
    for version in versions if splits and len(versions) > 1 else ():
        day = day_text(version.value)
        if day and date.fromisoformat(day) not in of_splits:
            yield date.fromisoformat(day)


def _day_before(day: date) -> date:
    return day if day == date.min else day - timedelta(1)
