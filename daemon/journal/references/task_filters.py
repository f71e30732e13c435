"""Which tasks a list is asked for: by label, category, status, priority, and by when they are due.

Never takes a name that nothing has for a list that is empty: what was mistyped is refused.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from daemon.journal.fields import validation
from daemon.journal.references import names
from daemon.journal.references.names import TASK_LABELS, NamedKind
from daemon.refusal import one_of, usage_error
from daemon.text_comparison import comparison_key
from store.fold.list_columns import WITHOUT_DAY, day_text
from store.fold.word_index import LABEL_FIELD_PREFIX
from store.queries.task_candidates import (
    DUE,
    PRIORITY,
    STATUS,
    ColumnCondition,
    RowNumbers,
    rows_fitting,
    rows_tagged,
)
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text, id_to_text

WITHOUT_ANY: Final = "none"
CANDIDATES_MAX: Final = 2000
"""Of so many tasks at most, all are read: as many as the largest answer has."""
_FIRST_DAY: Final = "0"
"""A text before that of any day, and after that of none."""


class TaskFilter(Struct, frozen=True, forbid_unknown_fields=True):
    """Which tasks to list: those that fulfil every condition. An empty condition admits every task."""

    label: Annotated[str, Meta(description="A label by name or id, or none for tasks without.")] = ""
    category: Annotated[str, Meta(description="A category by name or id, or none for tasks without.")] = ""
    status: Annotated[str, Meta(description="One, or several with commas; closed ones are listed too.")] = ""
    priority: Annotated[str, Meta(description="One, or several with commas.")] = ""
    due_before: Annotated[str, Meta(description="Due before this day: YYYY-MM-DD, or words.")] = ""
    due: Annotated[str, Meta(description="overdue, today, week (what is left of it), or none.")] = ""


@dataclass(frozen=True, slots=True)
class ResolvedFilter:
    """The parsed filter. A part is None if it was left empty; its ids are empty if it asks for none.

    `labels` are fields of a task, `categories` ids; `known` holds those in sight. `due` are the first day and
    the one after the last, compared as texts: a task without a day has the text "".
    """

    labels: frozenset[str] | None
    categories: frozenset[EntityId] | None
    statuses: frozenset[str] | None
    priorities: frozenset[str] | None
    due: tuple[str, str] | None
    known: frozenset[object]

    @property
    def includes_closed(self) -> bool:
        """Say whether closed tasks are among those that are asked for."""
        return self.statuses is not None and not self.statuses.isdisjoint(validation.CLOSED)

    def candidates(self, snapshot: Snapshot, *, removed: bool) -> RowNumbers | None:
        """Return the row numbers of the tasks that may be asked for, by the condition that has the fewest.

        None if each has many.
        """
        fewest, limit = None, CANDIDATES_MAX
        probes = [
            partial(rows_fitting, condition=condition, removed=removed) for condition in self._conditions()
        ]
        probes += [partial(rows_tagged, tags=tags) for tags in self._tags()]
        for probe in probes:
            rows = probe(snapshot, limit=limit)
            if rows is not None:
                fewest, limit = rows, len(rows)
        return fewest

    def _tags(self) -> Iterator[Collection[EntityId]]:
        if self.labels:
            yield [id_from_text(field.removeprefix(LABEL_FIELD_PREFIX)) for field in self.labels]
        if self.categories:
            yield self.categories

    def _conditions(self) -> Iterator[ColumnCondition]:
        if self.statuses is not None:
            yield ColumnCondition(STATUS, self.statuses)
        if self.priorities is not None:
            yield ColumnCondition(PRIORITY, self.priorities)
        if self.due is not None:
            has_days = self.due[0] != ""
            yield ColumnCondition(DUE, between=self.due) if has_days else ColumnCondition(DUE, [WITHOUT_DAY])

    def matches(self, task: Mapping[str, Any]) -> bool:
        """Say whether a task with these winning values is asked for."""
        return (
            (self.statuses is None or (_text(task, "status") or validation.PLAIN_STATUS) in self.statuses)
            and (
                self.priorities is None
                or (_text(task, "priority") or validation.PRIORITY_DEFAULT) in self.priorities
            )
            and self._is_due(day_text(task.get("due")))
            and self._has_category(task)
            and self._has_label(task)
        )

    def _is_due(self, due: str) -> bool:
        return self.due is None or self.due[0] <= due < self.due[1]

    def _has_category(self, task: Mapping[str, Any]) -> bool:
        category = task.get("category_id")
        if not isinstance(category, bytes):
            category = None
        if self.categories:
            return category in self.categories
        return self.categories is None or category not in self.known

    def _has_label(self, task: Mapping[str, Any]) -> bool:
        if self.labels:
            return any(task.get(field) is True for field in self.labels)
        if self.labels is None:
            return True
        return not any(value is True and field in self.known for field, value in task.items())


def begins_after(value_of: Callable[[str], object], day: str | None) -> bool:
    """Say whether a task is open and its start lies behind a day; never without a day."""
    if day is None or day_text(value_of("start")) <= day:
        return False
    status = value_of("status")
    return not isinstance(status, str) or status not in validation.CLOSED


def _text(task: Mapping[str, Any], field: str) -> str:
    """Return a value as a line shows it: a member can sign one of any type, which is none."""
    value = task.get(field)
    return value if isinstance(value, str) else ""


def resolve_filter(
    snapshot: Snapshot, task_filter: TaskFilter, read_day: Callable[[str], str | None]
) -> ResolvedFilter | None:
    """Read a filter; None for one that leaves nothing out. Raises Refused for what names nothing.

    `read_day` reads a day as a person types it, None for words that mean none.
    """
    if task_filter == TaskFilter():
        return None
    labels, categories = (
        _ids_named(snapshot, "label", task_filter.label),
        _ids_named(snapshot, "category", task_filter.category),
    )
    known_ids: set[object] = set()
    if labels is not None:
        known_ids |= {_field(label.id) for label in snapshot.entities("label")}
    if categories is not None:
        known_ids |= {category.id for category in snapshot.entities("category")}
    return ResolvedFilter(
        labels=None if labels is None else frozenset(map(_field, labels)),
        categories=categories,
        statuses=_check_each(task_filter.status, validation.checked_status),
        priorities=_check_each(task_filter.priority, validation.checked_priority),
        due=_days(task_filter, read_day),
        known=frozenset(known_ids),
    )


def _field(label: EntityId) -> str:
    return f"{TASK_LABELS}/{id_to_text(label)}"


def _ids_named(snapshot: Snapshot, kind: NamedKind, ref: str) -> frozenset[EntityId] | None:
    """Return the ids that a reference names: more than one if devices gave two things the same name."""
    if not ref:
        return None
    if comparison_key(ref) == WITHOUT_ANY:
        return frozenset()
    called = names.ids_named(snapshot, kind, ref)
    return frozenset(called or {names.find_named(snapshot, kind, ref).id})


def _check_each(text: str, check: Callable[[str], str]) -> frozenset[str] | None:
    parts = [part for part in text.split(",") if part.strip()]
    return frozenset(check(part) for part in parts) if parts else None


def _days(task_filter: TaskFilter, read_day: Callable[[str], str | None]) -> tuple[str, str] | None:
    """Return the days on which tasks are due that are asked for; None if that does not matter."""
    before = _day(task_filter.due_before, read_day)
    if not task_filter.due:
        return None if before is None else (_FIRST_DAY, before)
    today = date.fromisoformat(read_day("today") or "")
    tomorrow, monday = today + timedelta(1), today + timedelta(7 - today.weekday())
    days_by_word = {
        "overdue": (_FIRST_DAY, today.isoformat()),
        "today": (today.isoformat(), tomorrow.isoformat()),
        "week": (today.isoformat(), monday.isoformat()),
        WITHOUT_ANY: ("", _FIRST_DAY),
    }
    if task_filter.due not in days_by_word:
        raise usage_error(
            sentence("unknown-due", "no tasks are due {words!r}", words=task_filter.due[:80]),
            one_of(days_by_word),
        )
    first, beyond = days_by_word[task_filter.due]
    return first, min(beyond, before or beyond)


def _day(words: str, read_day: Callable[[str], str | None]) -> str | None:
    if not words:
        return None
    day = read_day(words)
    if day is None:
        raise usage_error(
            sentence("no-day", "{words!r} is no day", words=words[:80]),
            sentence("name-due-day", "name the day before which tasks are due"),
        )
    return day
