"""Which tasks a list is asked for: by label, category, status, priority, and by when they are due.

Never takes a name that nothing has for a list that is empty: what was mistyped is refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from daemon.journal import names, values
from daemon.journal.errors import usage
from daemon.journal.names import SET, Kind
from store.snapshot import Snapshot
from syncproto.ids import EntityId, text

NONE: Final = "none"
_OPEN: Final = "OPEN"


class Filter(Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked for; tasks must be all of it. Left empty, it leaves nothing out."""

    label: Annotated[str, Meta(description="A label by name or id, or none for tasks without.")] = ""
    category: Annotated[str, Meta(description="A category by name or id, or none for tasks without.")] = ""
    status: Annotated[str, Meta(description="One, or several with commas; closed ones are listed too.")] = ""
    priority: Annotated[str, Meta(description="One, or several with commas.")] = ""
    due_before: Annotated[str, Meta(description="Due before this day: YYYY-MM-DD, or words.")] = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a filter comes to: each part None where it was left empty; empty ids where it asks for none.

    `labels` are fields of a task, `categories` ids; `known` holds those in sight.
    """

    labels: frozenset[str] | None
    categories: frozenset[EntityId] | None
    statuses: frozenset[str] | None
    priorities: frozenset[str] | None
    due_before: str | None
    known: frozenset[object]

    @property
    def closed(self) -> bool:
        """Say whether closed tasks are among those that are asked for."""
        return self.statuses is not None and not self.statuses.isdisjoint(values.CLOSED)

    def takes(self, task: Mapping[str, Any]) -> bool:
        """Say whether a task with these winning values is asked for."""
        due = task.get("due")
        return (
            (self.statuses is None or (task.get("status") or _OPEN) in self.statuses)
            and (
                self.priorities is None
                or (task.get("priority") or values.PRIORITY_DEFAULT) in self.priorities
            )
            and (self.due_before is None or (isinstance(due, str) and "" < due < self.due_before))
            and self._has_category(task)
            and self._has_label(task)
        )

    def _has_category(self, task: Mapping[str, Any]) -> bool:
        category = task.get("category_id")
        if self.categories:
            return category in self.categories
        return self.categories is None or category not in self.known

    def _has_label(self, task: Mapping[str, Any]) -> bool:
        if self.labels:
            return any(task.get(field) is True for field in self.labels)
        if self.labels is None:
            return True
        return not any(value is True and field in self.known for field, value in task.items())


def wanted(snapshot: Snapshot, asked: Filter, read_day: Callable[[str], str | None]) -> Wanted | None:
    """Read a filter; None for one that leaves nothing out. Raises Refused for what names nothing.

    `read_day` reads a day as a person types it, None for words that mean none.
    """
    if not (asked.label or asked.category or asked.status or asked.priority or asked.due_before):
        return None
    labels, categories = _named(snapshot, "label", asked.label), _named(snapshot, "category", asked.category)
    known: set[object] = set()
    if labels is not None:
        known |= {_field(one.id) for one in snapshot.entities("label")}
    if categories is not None:
        known |= {one.id for one in snapshot.entities("category")}
    return Wanted(
        labels=None if labels is None else frozenset(map(_field, labels)),
        categories=categories,
        statuses=_each(asked.status, values.status),
        priorities=_each(asked.priority, values.priority),
        due_before=_day(asked.due_before, read_day),
        known=frozenset(known),
    )


def _field(label: EntityId) -> str:
    return f"{SET}/{text(label)}"


def _named(snapshot: Snapshot, kind: Kind, ref: str) -> frozenset[EntityId] | None:
    """Return the ids that a reference names: more than one where devices gave two things one name."""
    if not ref:
        return None
    if values.folded(ref) == NONE:
        return frozenset()
    called = names.ids_called(snapshot, kind, ref)
    return frozenset(called or {names.find(snapshot, kind, ref).id})


def _each(given: str, check: Callable[[str], str]) -> frozenset[str] | None:
    parts = [one for one in given.split(",") if one.strip()]
    return frozenset(check(one) for one in parts) if parts else None


def _day(words: str, read_day: Callable[[str], str | None]) -> str | None:
    if not words:
        return None
    day = read_day(words)
    if day is None:
        raise usage(f"{words[:80]!r} is no day", "name the day before which tasks are due")
    return day
