"""One task in words, for the templates, with its notes and checklists.

Never cuts a note: the journal's views bound what they show, and count the rest.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UnsetType

from daemon.cli.translation import _, ngettext
from daemon.cli.wording import terms
from daemon.cli.wording.dates import due_words, duration_words, relative_time
from daemon.cli.wording.sentences import answer_words
from daemon.cli.wording.values import author_words, field_words, value_words
from daemon.journal.views.structures import Checklist, Conflict, ConflictVersion, Entry, Task


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note: who wrote it, when, and its lines."""

    id: str
    by: str
    lines: list[str]


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item of a checklist; `base` is what a tick gives back, so that it counts against what was shown."""

    id: str
    title: str
    is_checked: bool
    base: str


@dataclass(frozen=True, slots=True)
class ListRow:
    """A checklist with the items that are shown of it."""

    id: str
    title: str
    items: list[ItemRow]
    left_out: int


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One of the values that stand beside each other: `number` names it, `by` says who wrote it where."""

    number: int
    words: str
    by: str


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """A field that devices changed while apart; the first version is in effect. `base` is what was shown."""

    entity: str
    field: str
    subject: str
    base: str
    versions: list[VersionRow]
    left_out: int


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One task, the newest note first. `base` is what a form gives back, so that it counts against that."""

    id: str
    title: str
    due: str
    estimate: str
    status: str
    category: str
    facts: list[str]
    labels: list[str]
    notes: list[NoteRow]
    lists: list[ListRow]
    left_out: str
    agent_id: str | None
    base: str
    conflicts: list[ConflictRow]


def page_of_task(task: Task, conflicts: list[Conflict], now_s: float) -> TaskPage:
    """Return one task in words."""
    due, _days = due_words(task.due, now_s)
    facts = [
        _("due {day}").format(day=due) if due else "",
        duration_words(task.estimate_minutes) if task.estimate_minutes else "",
        task.category or "",
    ]
    left_out = sum(task.left_out.values()) if isinstance(task.left_out, dict) else 0
    more = ngettext("{count} more is not shown here", "{count} more are not shown here", left_out)
    return TaskPage(
        id=task.id,
        title=task.title,
        due=task.due or "",
        estimate=f"{task.estimate_minutes} min" if task.estimate_minutes else "",
        status=task.status,
        category=task.category or "",
        facts=[fact for fact in facts if fact],
        labels=task.labels,
        notes=[_note(entry, now_s) for entry in reversed(task.entries)],
        lists=[_list(checklist) for checklist in task.checklists],
        left_out=more.format(count=left_out) if left_out else "",
        agent_id=task.agent_id,
        base=_as_text(task.vector_clock),
        conflicts=_conflicts(conflicts, now_s),
    )


def _conflicts(conflicts: list[Conflict], now_s: float) -> list[ConflictRow]:
    rows = list[ConflictRow]()
    clocks: dict[str, str] = {}
    for conflict in conflicts:
        # Of several conflicts of an entity, the first has its clock.
        if not isinstance(conflict.vector_clock, UnsetType):
            clocks[conflict.entity] = _as_text(conflict.vector_clock)
        rows.append(
            ConflictRow(
                conflict.entity,
                conflict.field,
                _subject(conflict),
                clocks.get(conflict.entity, ""),
                [
                    _version(number, version, conflict.field, now_s)
                    for number, version in enumerate(conflict.versions, 1)
                ],
                conflict.left_out,
            )
        )
    return rows


def _subject(conflict: Conflict) -> str:
    """Say what is disputed; of a set, with the member."""
    name, _slash, member = (conflict.name or conflict.field).partition("/")
    words = " ".join(filter(None, [field_words(name.removesuffix("_ids")), member]))
    return words if conflict.kind == "task" else f"{conflict.title}: {words}"


def _version(number: int, version: ConflictVersion, field: str, now_s: float) -> VersionRow:
    json: Any = msgspec.to_builtins(version)
    words = answer_words(json, "words") if version.words else value_words(version.value, field)
    return VersionRow(
        number,
        words,
        " · ".join([author_words(version.by, version.device_name), relative_time(version.at, now_s)]),
    )


def _note(entry: Entry, now_s: float) -> NoteRow:
    by = [
        terms.author_name(entry.author) if entry.author else "",
        entry.device_name or "",
        relative_time(entry.happened_at, now_s),
    ]
    return NoteRow(entry.id, " · ".join(filter(None, by)), entry.text.splitlines())


def _list(checklist: Checklist) -> ListRow:
    items = [
        ItemRow(item.id, item.title, item.is_checked, _as_text(item.vector_clock))
        for item in checklist.items
        if not item.is_archived
    ]
    return ListRow(checklist.id, checklist.title, items, checklist.left_out)


def _as_text(clock: Any) -> str:
    return msgspec.json.encode(clock).decode()
