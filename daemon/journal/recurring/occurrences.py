"""The tasks that follow from series and that nobody has touched: they are computed, and never made.

The id of such a task follows from its series and its day, so that devices that were apart have the same one.
Never looks further ahead than the next one, nor further back than the newest `PAST_MAX` of ten years.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import Any, Final, NamedTuple

from daemon.dates.recurrence import AfterDone, Budget, BudgetSpent, Rule, rule_days
from daemon.due_time import DueTime, hour_on_day
from daemon.journal.fields.provenance import written_ms
from daemon.journal.fields.validation import CLOSED, PRIORITY_DEFAULT
from daemon.journal.recurring.families import visible_series
from daemon.journal.recurring.series_record import (
    KIND,
    TASK_OCCURRENCE,
    TASK_SERIES,
    SeriesRecord,
)
from store.fold.entity import Entity
from store.fold.entity_state import DELETED, load_state
from store.fold.list_columns import ListOrder, day_text
from store.queries.projections import existing_entities
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from syncproto.vector_clock import EMPTY_CLOCK

PAST_MAX: Final = 366
AHEAD_MAX: Final = 64
"""So many days ahead that were done or skipped already are passed over; then a series shows nothing ahead."""
ORDINALS_MAX: Final = 10_000
_LOOKED_AT_MAX: Final = 128
_ORDINALS_AT_ONCE: Final = 64
_ALL_PAST_MAX: Final = 20_000
"""So many days up to today are shown of all series together: of very many series, fewer of each."""
_SPANS_BACK: Final = (31, 366, 3660)
"""So many days back the days of a rule are looked for, as far as it takes."""
_ZONE_AHEAD_MS: Final = 14 * 3_600_000
"""The zone that is furthest ahead of UTC."""
_MEMORY: Final = "occurrences"
_DAYS_REMEMBERED: Final = 4
_STEPS_MAX: Final = 1_500_000
"""So many days are looked at for all series together: half a second. What is beyond is not shown."""


class Occurrence(NamedTuple):
    """A task of a series that is computed.

    `token` is its day by the rule, or its number if it counts from what is done.
    """

    id: EntityId
    series: SeriesRecord
    token: str
    due: str

    def fields(self) -> dict[str, Value]:
        """Return the fields of the task. It has no status: one that names none is open."""
        hour = self.hour()
        return {
            **{name: value for name, value in self.series.begins.items() if name != "due_time"},
            **({} if hour is None else {"due_time": hour.text()}),
            "due": self.due,
            TASK_SERIES: self.series.id,
            TASK_OCCURRENCE: self.token,
        }

    def hour(self) -> DueTime | None:
        """Return the hour at which the task is due, if its series has one."""
        hour = self.series.begins.get("due_time")
        return None if hour is None else hour_on_day(self.due, hour)

    def state(self) -> bytes:
        """Return the row that a task with these fields would have, dated by its series."""
        born = self.series.entity.created
        assert born is not None
        fields = {name: [0, value] for name, value in self.fields().items()}
        source = (born.head, born.ms, born.n, AuthorKind.SYSTEM, None, None, None)
        return codec.encode(("task", EMPTY_CLOCK, EMPTY_CLOCK, 1, False, 0, (source,), fields))

    def place(self, order: ListOrder) -> tuple[Any, ...]:
        """Return by what the task is sorted in an order, as `place_in_order` does."""
        born = self.series.entity.created
        assert born is not None
        hour = self.hour()
        columns = {
            "priority": self.series.begins.get("priority") or PRIORITY_DEFAULT,
            "due": self.due if hour is None else hour.text()[: len("2030-05-01T09:00")],
            "made_ms": born.ms,
            "made_n": born.n,
        }
        return *(columns[column] for column in order.columns), self.id

    def entity(self) -> Entity:
        """Return the task as an entity."""
        return Entity(self.id, load_state(self.state()), visible=True)


@lru_cache(8192)
def occurrence_id(root: EntityId, token: str) -> EntityId:
    """Return the id of a task of a series, the same on every device."""
    return derived_id("occurrence", id_to_text(root), token, time_of=root)


def split_series_id(series: EntityId, day: str) -> EntityId:
    """Return the id of what a series becomes from a day on, the same on every device."""
    return derived_id("series split", id_to_text(series), day, time_of=series)


def shown_occurrences(snapshot: Snapshot, today: date) -> tuple[Occurrence, ...]:
    """Return the tasks of all series that nobody has touched: those up to a day, and the next one of each.

    They are ordered by their days, then by their ids; each id is there once.
    """
    if not snapshot.has_visible(KIND):
        return ()
    remembered = snapshot.recall(_MEMORY)
    # A list asks for the day of its reader, a name for that of the zone furthest ahead: they take turns.
    by_day: dict[date, tuple[Occurrence, ...]] = {}
    if remembered is not None and remembered[0] == snapshot.feed_end() and isinstance(remembered[1], dict):
        by_day = dict(list(remembered[1].items())[1 - _DAYS_REMEMBERED :])
        if today in by_day:
            return by_day[today]
    by_id: dict[EntityId, Occurrence] = {}
    for occurrence in _untouched_occurrences(snapshot, visible_series(snapshot), today):
        other = by_id.get(occurrence.id)
        # Of a series and what was split from it, the later one says what its task is on one day.
        if other is None or (other.due, _turn(occurrence)) > (occurrence.due, _turn(other)):
            by_id[occurrence.id] = occurrence
    occurrences = tuple(sorted(by_id.values(), key=lambda occurrence: (occurrence.due, occurrence.id)))
    snapshot.remember(_MEMORY, by_day | {today: occurrences})
    return occurrences


def _turn(occurrence: Occurrence) -> tuple[date, EntityId]:
    return occurrence.series.first, occurrence.series.id


def occurrences_of(snapshot: Snapshot, series: SeriesRecord, today: date) -> list[Occurrence]:
    """Return the same of one series, by their days."""
    return sorted(_untouched_occurrences(snapshot, [series], today), key=lambda occurrence: occurrence.due)


def nameable_occurrences(snapshot: Snapshot) -> tuple[Occurrence, ...]:
    """Return what any device may show now, in whatever zone it is; nothing without a clock."""
    now_ms = snapshot.clock_ms()
    if now_ms is None:
        return ()
    return shown_occurrences(snapshot, datetime.fromtimestamp((now_ms + _ZONE_AHEAD_MS) / 1000, UTC).date())


def occurrence_on(series: SeriesRecord, token: str) -> Occurrence | None:
    """Return the task of a series on a day, if its rule names the day and nobody ended or skipped it."""
    if not isinstance(series.rule, Rule) or series.is_skipped(token):
        return None
    day = date.fromisoformat(token)
    if day > series.until or not any(rule_days(series.rule, series.first, day, day)):
        return None
    return Occurrence(occurrence_id(series.root, token), series, token, token)


def next_days(
    snapshot: Snapshot, all_series: Iterable[SeriesRecord], today: date, count: int
) -> dict[EntityId, list[str]]:
    """Return the next days of some series from a day on, of those not touched, by the ids of the series."""
    days: dict[EntityId, list[str]] = {}
    budget = Budget(_STEPS_MAX)
    for most in (count, AHEAD_MAX):
        wanted = [series for series in all_series if isinstance(series.rule, Rule) and series.id not in days]
        ahead = {series.id: _days_ahead_within(budget, series, today, most) for series in wanted}
        ids = {series.id: [occurrence_id(series.root, day) for day in ahead[series.id]] for series in wanted}
        touched = existing_entities(snapshot, [name for names in ids.values() for name in names], "task")
        for series in wanted:
            pairs = zip(ids[series.id], ahead[series.id], strict=True)
            left = [day for name, day in pairs if name not in touched]
            if len(left) >= count or len(ahead[series.id]) < most or most == AHEAD_MAX:
                days[series.id] = left[:count]
    others = [series for series in all_series if series.id not in days]
    return days | {
        series.id: [occurrence.due for occurrence in occurrences_of(snapshot, series, today)]
        for series in others
    }


def _untouched_occurrences(
    snapshot: Snapshot, all_series: Iterable[SeriesRecord], today: date
) -> Iterator[Occurrence]:
    all_series = list(all_series)
    by_rule = [series for series in all_series if isinstance(series.rule, Rule)]
    most = min(PAST_MAX, max(1, _ALL_PAST_MAX // max(1, len(by_rule))))
    computed = _computed_within_budget(by_rule, today, most)
    touched = existing_entities(snapshot, [occurrence.id for occurrence in computed], "task")
    for occurrence in computed:
        if occurrence.id not in touched:
            yield occurrence
        elif occurrence.due > today.isoformat():
            # What was done ahead of its day brings the one behind it.
            series = occurrence.series
            days = next_days(snapshot, [series], today + timedelta(1), 1)[series.id]
            behind = (occurrence_on(series, day) for day in days)
            yield from (next_occurrence for next_occurrence in behind if next_occurrence is not None)
    for series in all_series:
        if isinstance(series.rule, AfterDone):
            yield from _after_done(snapshot, series, series.rule, today)


def _computed_within_budget(all_series: Sequence[SeriesRecord], today: date, most: int) -> list[Occurrence]:
    """Return the tasks of series by rules; those that cost more than their share come after the others."""
    computed, costly, left = list[Occurrence](), list[SeriesRecord](), _STEPS_MAX
    share = _STEPS_MAX // max(1, len(all_series))
    for series in all_series:
        budget = Budget(min(share, left))
        try:
            computed += _computed_occurrences(series, today, most, budget)
        except BudgetSpent:
            costly.append(series)
        left -= min(share, left) - max(0, budget.left)
    for series in costly:
        budget = Budget(left)
        try:
            computed += _computed_occurrences(series, today, most, budget)
        except BudgetSpent:
            break
        left = budget.left
    return computed


def _computed_occurrences(series: SeriesRecord, today: date, most: int, budget: Budget) -> list[Occurrence]:
    """Return the newest tasks of a series up to a day, and the next one, touched or not."""
    assert isinstance(series.rule, Rule)
    past, cost = _newest_days(series.rule, series.first, min(today, series.until), most, budget.left)
    budget.spend(cost)
    ahead = _days_ahead(series, today + timedelta(1), 1, budget) if today < date.max else []
    days = [*[day for day in past if not series.is_skipped(day)], *ahead]
    return [Occurrence(occurrence_id(series.root, day), series, day, day) for day in days]


@lru_cache(1024)
def _newest_days(
    rule: Rule, first: date, end: date, most: int, steps_max: int
) -> tuple[tuple[str, ...], int]:
    """Return the newest days of a rule up to a day, at most so many of ten years, and what that cost.

    The cost is beyond `steps_max` if they would cost more than that.
    """
    days, budget = list[date](), Budget(steps_max)
    try:
        for span in _SPANS_BACK:
            begin = date.fromordinal(max(end.toordinal() - span, 1))
            days = list(rule_days(rule, first, begin, end, budget=budget))
            if len(days) >= most or begin <= first:
                break
    except BudgetSpent:
        return (), steps_max + 1
    return tuple(day.isoformat() for day in days[-most:]), steps_max - budget.left


def _days_ahead_within(budget: Budget, series: SeriesRecord, start: date, count: int) -> list[str]:
    try:
        return _days_ahead(series, start, count, budget)
    except BudgetSpent:
        return []


def _days_ahead(
    series: SeriesRecord, start: date, count: int = AHEAD_MAX, budget: Budget | None = None
) -> list[str]:
    """Return the next days of a rule from a day on that are not skipped. Raises BudgetSpent."""
    assert isinstance(series.rule, Rule)
    days: list[str] = []
    looked_at = rule_days(series.rule, series.first, max(start, series.first), series.until, budget=budget)
    for day in islice(looked_at, _LOOKED_AT_MAX):
        if not series.is_skipped(day.isoformat()):
            days.append(day.isoformat())
            if len(days) >= count:
                break
    return days


def open_touched_tasks(snapshot: Snapshot, all_series: Iterable[SeriesRecord], today: date) -> list[Entity]:
    """Return the open tasks of series by rules that somebody has touched, by the days on which they are due.

    They are looked for as far as days are shown, and `AHEAD_MAX` days of each series ahead.
    """
    names: set[EntityId] = set()
    for series in all_series:
        if isinstance(series.rule, Rule):
            past, _cost = _newest_days(
                series.rule, series.first, min(today, series.until), PAST_MAX, _STEPS_MAX
            )
            ahead = _days_ahead(series, today + timedelta(1)) if today < date.max else []
            names |= {occurrence_id(series.root, day) for day in (*past, *ahead)}
    touched = map(snapshot.entity, existing_entities(snapshot, sorted(names), "task"))
    still_open = [
        task
        for task in touched
        if task is not None and task.visible and task.text("status") not in CLOSED and task.text("due")
    ]
    return sorted(still_open, key=lambda task: (task.text("due"), task.id))


def _after_done(
    snapshot: Snapshot, series: SeriesRecord, rule: AfterDone, today: date
) -> Iterator[Occurrence]:
    """Yield the one task of a series that counts from what is done, if nobody has touched it."""
    number, last = 0, None
    while number < ORDINALS_MAX:
        tokens = [str(number + step + 1) for step in range(_ORDINALS_AT_ONCE)]
        ids = [occurrence_id(series.root, token) for token in tokens]
        touched = existing_entities(snapshot, ids, "task")
        places = [place for place, identifier in enumerate(ids) if identifier in touched]
        if not places:
            break
        number += places[-1] + 1
        last = ids[places[-1]]
    before = None if last is None else snapshot.entity(last)
    due = series.first if before is None else _due_after(series, rule, before, today)
    if due is not None and series.follows is not None:
        due = max(due, series.first)
    if due is not None and due <= series.until:
        token = str(number + 1)
        yield Occurrence(occurrence_id(series.root, token), series, token, due.isoformat())


def _due_after(series: SeriesRecord, rule: AfterDone, before: Entity, today: date) -> date | None:
    """Return when the task behind another one is due; None while that is open.

    The day on which it was done is that of the series' zone, so all devices come to the same. If a clock was
    ahead, the day on which it was due counts instead; in some zone, tomorrow is today already.
    """
    field = "status" if before.visible else DELETED
    version = before.version(field)
    if version is None or (before.visible and before.text("status") not in CLOSED):
        return None
    try:
        done = datetime.fromtimestamp(written_ms(version.source) / 1000, series.zone).date()
        if done.toordinal() > today.toordinal() + 1:
            due = day_text(before.value("due"))
            done = date.fromisoformat(due) if due else series.first
        return done + timedelta(rule.days)
    except (OverflowError, ValueError, OSError):
        return None


def due_within(occurrences: Sequence[Occurrence], due_from: str, due_before: str) -> Sequence[Occurrence]:
    """Return those that are due from one day on, before another, given by their days."""
    low = bisect_left(occurrences, due_from, key=attrgetter("due"))
    return occurrences[low : bisect_left(occurrences, due_before, low, key=attrgetter("due"))]


def first_states(occurrences: Sequence[Occurrence], limit: int) -> list[tuple[EntityId, bytes]]:
    """Return the states of the tasks whose days come first, given by their days, with all of the last day."""
    if len(occurrences) > limit:
        occurrences = [
            occurrence for occurrence in occurrences if occurrence.due <= occurrences[limit - 1].due
        ]
    return [(occurrence.id, occurrence.state()) for occurrence in occurrences]
