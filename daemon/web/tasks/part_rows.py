"""What belongs to a task in words, for the template: notes, checklists, time, links, and its statuses so far.

Never cuts a note, and never leaves out anything without counting it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec
from markupsafe import Markup
from msgspec import UnsetType

from daemon.journal.views.structures import (
    Checklist,
    ChecklistItem,
    Entry,
    Link,
    StatusStep,
    Task,
    TimeRecord,
)
from daemon.web.tasks.conflict_rows import clock_text
from daemon.web.tasks.note_markup import PageMarkup
from daemon.words import terms
from daemon.words.dates import full_time_words, relative_time
from daemon.words.task_parts import length_words, span_words, task_link_words, tick_words
from daemon.words.terminal_text import escape as visible
from daemon.words.translation import _
from daemon.words.values import author_words

TIMES_SHOWN: Final = 5
STEPS_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note: who wrote it, when, and its lines. `removed`: it is shown because something names it.

    `markup` is the note as HTML; None if only its lines are shown.

    A person's own note is editable if a form shows all that is in it; `text` has the line ends of a form, and
    `base` is what the form gives back, so that it counts against that.
    """

    id: str
    by: str
    when: str
    lines: list[str]
    markup: Markup | None
    removed: bool
    is_editable: bool
    text: str
    base: str


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item of a checklist; `base` is what a tick gives back, so that it counts against what was shown."""

    id: str
    title: str
    is_checked: bool
    ticked: str
    base: str


@dataclass(frozen=True, slots=True)
class ListRow:
    """A checklist with the items that are shown of it, those that were archived, and its progress."""

    id: str
    title: str
    progress: str
    items: list[ItemRow]
    archived: list[ItemRow]
    left_out: int


@dataclass(frozen=True, slots=True)
class TimeRow:
    """A stretch of time: from when to when, how long, and what was said of it."""

    span: str
    length: str
    about: str
    id: str
    is_running: bool


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link: what it says of this task, and the other one. `mark` is what one should know of that."""

    words: str
    task_id: str
    title: str
    status: str
    mark: str
    id: str


@dataclass(frozen=True, slots=True)
class StepRow:
    """A status that the task was given: why, by whom, and when."""

    status: str
    reason: str
    by: str


def note_row(entry: Entry, now_s: float, page: PageMarkup) -> NoteRow:
    """Return a note in words, as HTML too if `page` has room for that."""
    text = entry.text.replace("\r\n", "\n")
    device = entry.device_name or ""
    by = author_words(entry.author, device, entry.as_proposed) if entry.author else device
    return NoteRow(
        entry.id,
        " · ".join(filter(None, [by, relative_time(entry.happened_at, now_s)])),
        full_time_words(entry.happened_at),
        entry.text.splitlines(),
        page.of_note(text),
        entry.removed,
        is_editable=entry.author == "user" and not entry.removed and _is_shown_whole(text),
        text=text,
        base=clock_text(entry.vector_clock),
    )


def _is_shown_whole(text: str) -> bool:
    """Report whether a field of a form hides and changes nothing of a text."""
    lines = text.replace("\t", " ").split("\n")
    return all(visible(line) == line for line in lines)


def list_rows(checklists: Sequence[Checklist], now_s: float) -> list[ListRow]:
    """Return checklists in words."""
    return [_list(checklist, now_s) for checklist in checklists]


def _list(checklist: Checklist, now_s: float) -> ListRow:
    items = [item for item in checklist.items if not item.is_archived]
    done = sum(item.is_checked for item in items)
    return ListRow(
        checklist.id,
        checklist.title or _("Checklist"),
        f"{done}/{len(items)}" if items and not checklist.left_out else "",
        [_item(item, now_s) for item in items],
        [_item(item, now_s) for item in checklist.items if item.is_archived],
        checklist.left_out,
    )


def _item(item: ChecklistItem, now_s: float) -> ItemRow:
    ticked = tick_words(cast(Any, msgspec.to_builtins(item)), now_s)
    return ItemRow(item.id, item.title, item.is_checked, ticked, clock_text(item.vector_clock))


def time_rows(times: Sequence[TimeRecord], now_s: float) -> list[TimeRow]:
    """Return the newest records in words, the newest first; the device is named only if there are several."""
    several = len({record.device for record in times}) > 1
    return [_time(record, several, now_s) for record in times[-TIMES_SHOWN:][::-1]]


def _time(record: TimeRecord, several: bool, now_s: float) -> TimeRow:
    fields = cast(Any, msgspec.to_builtins(record))
    device = _("on {device}").format(device=record.device_name) if several and record.device_name else ""
    about = " · ".join(filter(None, [record.note or "", device]))
    return TimeRow(span_words(fields), length_words(fields, now_s), about, record.id, record.is_running)


def link_rows(links: Sequence[Link]) -> list[LinkRow]:
    """Return links in words, as they are seen from the task."""
    return [_link(link) for link in links]


def _link(link: Link) -> LinkRow:
    mark = terms.task_status("removed") if link.task_removed else ""
    if link.circular:
        mark = _("a circle: each waits for the other")
    return LinkRow(
        task_link_words(cast(Any, msgspec.to_builtins(link))),
        "" if link.title is None else link.task_id,
        link.title or _("a task that is not here"),
        terms.task_status(link.status) if link.status else "",
        mark,
        link.id,
    )


def step_rows(task: Task, now_s: float) -> list[StepRow]:
    """Return the newest statuses that a task was given, the newest first; none if it has had one alone."""
    steps = [] if isinstance(task.status_history, UnsetType) else task.status_history
    return [_step(step, now_s) for step in steps[-STEPS_SHOWN:][::-1]] if len(steps) > 1 else []


def _step(step: StatusStep, now_s: float) -> StepRow:
    origin = step.origin
    by = [author_words(origin.by, origin.device_name, origin.as_proposed), relative_time(origin.at, now_s)]
    return StepRow(terms.task_status(step.status), step.reason or "", " · ".join(by))
