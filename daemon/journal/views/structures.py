"""What the journal shows: the exact JSON of tasks, checklists, items and entries.

Never read from the database here; `show` fills these in.
"""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

ClockJson = dict[str, int]
"""Replica, as text, to the counter of the last commit of it that was seen."""


class ConflictVersion(Struct, frozen=True):
    """One of the values that stand beside each other; the first is the one in effect.

    `as_proposed` is true if a person confirmed it as an agent proposed it, false if a person edited that.
    """

    value: Any
    by: str
    device: str
    device_name: str
    at: str
    as_proposed: bool | None = None
    words: str = ""
    """What it means, if the value alone does not say: a place in a list, a deletion."""
    words_id: str = ""
    words_params: dict[str, Any] = {}
    """The sentence of these words, if they are Placet's own and no name that a person gave."""


class Conflict(Struct, frozen=True, kw_only=True):
    """A field with more than one value that nobody has yet written over.

    `name` is the field as people call it; `title` is the entity's, and the task is what it belongs to.
    `vector_clock` is the entity's: the `base` of keeping one of these. Of several conflicts of an entity, the
    first has it.
    """

    entity: str
    kind: str
    field: str
    versions: list[ConflictVersion]
    vector_clock: ClockJson | UnsetType = UNSET
    name: str = ""
    title: str = ""
    task_id: str | None = None
    task_title: str = ""
    left_out: int = 0
    """The values that are not among `versions`, because there are too many."""


class Origin(Struct, frozen=True, kw_only=True):
    """Who wrote a value, when and on which device. `item_id` is the confirmed proposal that it came from.

    With `is_put_back`, an undo has put that value back, which is then the person's own word.

    `as_proposed` is true if a person confirmed that proposal as it was, false if a person edited it.

    `question` and `answer` are the words of an agent's question and of the answer that was chosen, if the
    proposal was one.

    If the value was imported, `at` is when it was first written in its source, and `imported_at` when it was
    imported. `imported_device` is the name of the device that first wrote it, if that is known.
    """

    by: str
    at: str
    device: str
    device_name: str
    item_id: str | None = None
    as_proposed: bool | None = None
    is_put_back: bool | UnsetType = UNSET
    imported_from: str | None = None
    imported_at: str | None = None
    imported_device: str | None = None
    question: str | None = None
    answer: str | None = None


Origins = dict[str, Origin]
"""The provenance of each field's value."""


class StatusStep(Struct, frozen=True, kw_only=True):
    """A status that a task was given, with the reason if there was one, and by whom."""

    status: str
    reason: str | None
    origin: Origin


class ChecklistItem(Struct, frozen=True, kw_only=True):
    """A line of a checklist. `checked_by`, `checked_at` and `checked_on`: who last set its tick, when, where.

    They are null if nobody has set it. `checked_as_proposed` is true if a person confirmed the tick as it was
    proposed, false if a person edited what was proposed.

    `unknown` contains fields that only a newer version understands.
    """

    id: str
    title: str
    is_checked: bool
    checked_by: str | None
    checked_at: str | None
    checked_on: str | None
    checked_as_proposed: bool | None = None
    is_archived: bool
    checklist_id: str
    task_id: str | None
    vector_clock: ClockJson
    removed: bool = False
    provenance: Origins | UnsetType = UNSET
    unknown: dict[str, Any] | UnsetType = UNSET


class Checklist(Struct, frozen=True, kw_only=True):
    """A named list of items, in order.

    With its task, it may have the first items only: `left_out` counts the others. The answer on the
    checklists of a task has all items of each.
    """

    id: str
    title: str
    items: list[ChecklistItem]
    left_out: int = 0
    task_id: str | None = None
    vector_clock: ClockJson = {}
    removed: bool = False


class Entry(Struct, frozen=True, kw_only=True):
    """A note, transcript or imported text on a task.

    `as_proposed` is true if a person confirmed it as an agent proposed it, false if a person edited that.
    """

    id: str
    text: str
    happened_at: str
    author: str | None
    device_name: str | None
    source: str
    task_id: str | None
    created_at: str | None
    vector_clock: ClockJson
    as_proposed: bool | None = None
    removed: bool = False
    provenance: Origins | UnsetType = UNSET
    unknown: dict[str, Any] | UnsetType = UNSET


class TimeRecord(Struct, frozen=True, kw_only=True):
    """A stretch of time on a task. It runs while it has no end, on the device that made it.

    `minutes` is its length, null while it runs. `is_here`: the device that answers has made the record.
    """

    id: str
    task_id: str | None
    task_title: str
    started_at: str
    ended_at: str | None
    minutes: int | None
    note: str | None
    is_running: bool
    is_here: bool
    device: str
    device_name: str
    vector_clock: ClockJson
    removed: bool = False


class Link(Struct, frozen=True, kw_only=True):
    """A link between two tasks, seen from one of them.

    `direction` is `to` if that task is its beginning (`blocks`), `from` if it is its end (blocked by).
    The other task's title is null if it is not here, or not here yet. `circular`: following such links
    leads back to where it began.
    """

    id: str
    type: str
    direction: str
    from_id: str
    to_id: str
    task_id: str
    title: str | None
    status: str | None
    circular: bool
    task_removed: bool
    removed: bool = False


class Progress(Struct, frozen=True):
    """How many of a task's items are ticked, and how many there are; archived items do not count."""

    completed: int
    total: int


class BriefTask(Struct, frozen=True, kw_only=True):
    """The values of a task that a line of a list shows, and that agents of other makers read."""

    id: str
    title: str
    status: str
    priority: str
    due: str | None
    due_time: str | None
    """The hour of that day, such as 2026-12-24T14:00[Europe/Berlin], if it has one."""
    start: str | None
    estimate_minutes: int | None


class Task(Struct, frozen=True, kw_only=True):
    """A task with all that belongs to it; with `brief`, without its texts and its report.

    `vector_clock` is what an edit gives back as its `base`. Times are ISO 8601, days YYYY-MM-DD.
    `left_out` counts by the names of parts what of them is not shown, because the answer would be too long:
    the newest notes, records and statuses are shown, and the first of all else. The lists of notes,
    checklists, links, times and conflicts, and the log, have everything. Progress and time are those of all.
    """

    id: str
    title: str
    status: str
    reason: str | None
    priority: str
    estimate_minutes: int | None
    due: str | None
    due_time: str | None
    start: str | None
    language: str | None
    labels: list[str]
    label_colors: dict[str, str]
    category: str | None
    checklists: list[Checklist]
    checklist_progress: Progress
    entries: list[Entry]
    times: list[TimeRecord]
    time_spent_minutes: int
    links: list[Link]
    vector_clock: ClockJson
    conflicts: list[Conflict]
    agent_id: str | None
    report: dict[str, Any] | None
    created_at: str | None
    updated_at: str | None
    removed: bool = False
    series_id: str | None = None
    """The series that the task is one of, if it comes again."""
    provenance: Origins | UnsetType = UNSET
    unknown: dict[str, Any] | UnsetType = UNSET
    """Fields of a newer version, if there are any."""
    status_history: list[StatusStep] | UnsetType = UNSET
    left_out: dict[str, int] | UnsetType = UNSET


class Evidence(Struct, frozen=True):
    """A note that an agent named against a person's tick: its id, its author, its time and its beginning.

    Without a text, the task has no such note, or has it no more. Then the author and the time are empty too.
    """

    id: str
    text: str = ""
    author: str = ""
    happened_at: str = ""


class Change(Struct, frozen=True):
    """One field that went from one value to another: who, when, on which device, and why.

    `by` is `agent` also for what a person confirmed as it was proposed; `as_proposed` is then true. It is
    false if the person edited what was proposed.

    With `left_out`, both values are null because those of other changes are long enough for one answer. The
    log of this entity and field alone, before the next position, has them.

    `change` is the name of the whole change on every device, for an undo. `undone`: what it wrote was written
    back; `undoes` names the change that this one undid, if it is an undo.
    """

    seq: int
    at: str
    by: str
    agent_id: str | None
    device: str
    device_name: str
    entity: str
    kind: str
    title: str
    field: str
    before: Any
    after: Any
    why: str | None
    why_id: str = ""
    why_params: dict[str, Any] = {}
    """The sentence of `why`, which contains the words of the agent and of the person as they are."""
    unknown: bool = False
    """Whether a newer version wrote it: this one does not know the kind or the field."""
    agent_reason: str | None = None
    evidence: list[Evidence] = []
    """By which reason and notes the agent argued for the change over a person's tick."""
    lacks: str | None = None
    left_out: bool = False
    is_about_ask: bool = False
    """Whether it is part of a decision on an ask, or of the use of one."""
    as_proposed: bool | None = None
    change: str = ""
    undone: bool = False
    undoes: str | None = None


class Touched(Struct, frozen=True):
    """An entity that a commit has an operation on."""

    id: str
    kind: str


class Event(Struct, frozen=True):
    """One commit of the feed: what it touched, and what of the journal it changed.

    `changes_left_out` counts the changes that are not shown, because they are too long for one event: the log
    has them.
    `lacks` is what a decision lacked in order to count, `other_device` or `passkey`, else null.
    """

    seq: int
    at: str
    by: str
    agent_id: str | None
    device: str
    device_name: str
    touched: list[Touched]
    changes: list[Change]
    changes_left_out: int = 0
