"""How much time was spent within some days: together, and by task, label or category.

Never counts a minute twice within one total: what overlaps counts once, so the parts may exceed the whole.
Time on a task that was removed was spent all the same.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final, Literal

from msgspec import Struct

from daemon.journal.fields.time_spans import MINUTE_MS, covered_ms, kept_moment_ms
from daemon.journal.human_input import HumanInput
from daemon.journal.references import names
from daemon.journal.time_records import KIND
from daemon.journal.views.lookup import NameLookup
from daemon.refusal import usage_error
from store.queries import projections
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text

By = Literal["task", "label", "category"]
DAYS_MAX: Final = 3660

_Stretch = tuple[int, int]


class TimeTotal(Struct, frozen=True):
    """The time of a task, a label or a category; an empty `name` is time without one of them."""

    name: str
    task_id: str | None
    minutes: int
    records: int


class TimeTotals(Struct, frozen=True):
    """The time of some days, both included, as they are in a zone; the longest total first."""

    from_day: str
    to_day: str
    zone: str
    by: By
    minutes: int
    records: int
    totals: list[TimeTotal]


class TotalsQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"begin": "from", "end": "to"}):
    """Which days, as people type them; without any the week of today. A week begins as the language says."""

    begin: str = ""
    end: str = ""
    by: By = "task"


def sum_time(snapshot: Snapshot, query: TotalsQuery, typed: HumanInput) -> TimeTotals:
    """Add up the records that are in sight; one that runs counts as far as now. Raises Refused."""
    first, last = _days(query, typed)
    begin_ms, end_ms = typed.beginning_ms(first), typed.beginning_ms(last + timedelta(days=1))
    now_ms = typed.now_ms()
    groups, everything = defaultdict[tuple[str, str], list[_Stretch]](list), list[_Stretch]()
    lookup = _Groups(snapshot, query.by)
    rows = snapshot.states_in_order(KIND, removed=False, closed=True, after=None, limit=-1)
    for _, state in rows:
        values = projections.winning_values(state)
        started, ended = kept_moment_ms(values.get("started_at")), kept_moment_ms(values.get("ended_at"))
        if started is None:
            continue
        stretch = max(started, begin_ms), min(now_ms if ended is None else ended, end_ms)
        if stretch[0] < stretch[1]:
            everything.append(stretch)
            for group in lookup.groups(values.get("task_id")):
                groups[group].append(stretch)
    totals = [
        TimeTotal(name, task_id or None, covered_ms(stretches) // MINUTE_MS, len(stretches))
        for (name, task_id), stretches in groups.items()
    ]
    return TimeTotals(
        first.isoformat(),
        last.isoformat(),
        typed.zone_name(),
        query.by,
        covered_ms(everything) // MINUTE_MS,
        len(everything),
        sorted(totals, key=lambda total: (-total.minutes, total.name.casefold(), total.task_id or "")),
    )


def _days(query: TotalsQuery, typed: HumanInput) -> tuple[date, date]:
    """Return the first and the last day."""
    if not query.begin and not query.end:
        first = typed.week_of(typed.today())
        return first, first + timedelta(days=6)
    if not query.begin:
        raise usage_error(
            sentence("totals-without-first-day", "a last day is given, and no first one"),
            sentence("give-from-too", "give --from too"),
        )
    first, last = typed.past_day(query.begin), typed.past_day(query.end)
    if not first <= last <= first + timedelta(days=DAYS_MAX):
        raise usage_error(
            sentence(
                "totals-of-no-days",
                "from {first} to {last} are not between one day and {most} days",
                first=first.isoformat(),
                last=last.isoformat(),
                most=DAYS_MAX,
            ),
            sentence("name-other-days", "name other days"),
        )
    return first, last


class _Groups:
    """To which totals a record counts, by its task."""

    def __init__(self, snapshot: Snapshot, by: By) -> None:
        self._snapshot = snapshot
        self._by = by
        self._names = NameLookup(snapshot)
        self._of_task: dict[EntityId, tuple[tuple[str, str], ...]] = {}

    def groups(self, task_id: object) -> tuple[tuple[str, str], ...]:
        """Return the name of each, and the id of a task."""
        if not isinstance(task_id, bytes):
            return (("", ""),)
        identifier = EntityId(task_id)
        if identifier not in self._of_task:
            self._of_task[identifier] = tuple(dict.fromkeys(self._look_up(identifier))) or (("", ""),)
        return self._of_task[identifier]

    def _look_up(self, identifier: EntityId) -> Iterator[tuple[str, str]]:
        task = self._snapshot.entity(identifier)
        if self._by == "task":
            yield ("" if task is None else names.shown_name(task)), id_to_text(identifier)
        elif task is not None and self._by == "category":
            category = names.category_id_of(task)
            yield self._names.categories.get(category or EntityId(b""), ""), ""
        elif task is not None:
            for label in names.member_ids(task, names.TASK_LABELS):
                if (entity := self._names.label_entities.get(label)) is not None:
                    yield names.shown_name(entity), ""
