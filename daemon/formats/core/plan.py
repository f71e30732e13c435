"""What a file asks to be in the journal: tasks with what belongs to them, free of format and store.

Each element has a key that is the source's own, stable from one export to the next. An id of this journal
that the file names (`exported_id`) is never trusted: `exported_ids` checks it against the journal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

from daemon.formats.core.task_values import TaskValues
from daemon.journal.fields.validation import ENTRY_BYTES_MAX, TITLE_CHARS_MAX
from daemon.task_fields import TASK_FIELDS
from store.sentence import Sentence, foreign_text, sentence, sentence_fields
from store.snapshot import Snapshot
from syncproto.ids import EntityId

SHORT_LIST_TASKS = 10_000
"""So many tasks may be as short as people like."""
CHARS_OF_A_TASK = 16
"""Beyond that, a task for each so many characters of the file."""
FILE_CHARS_MAX = 16 * 1024 * 1024
FAULTS_SHOWN_MAX = 100

_CUT = "…"
_LOOSE = sentence("import-loose-link", "its link to something faulty of the file, which was left out too")
GONE = sentence(
    "import-gone-from-file",
    "no longer in the file, which has something new: if that is the same in other words, remove it here",
)
REMOVED_HERE = sentence(
    "import-removed-here", "changed in the file, but removed in Placet: restore it to import it again"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_BREAKS = re.compile("\r\n?")
# A page break or another separator of old parts words; every other control character stands within one.
_CONTROLS: dict[int, str | None] = {
    code: None for code in (*range(1, 32), *range(127, 160)) if chr(code) not in "\n\t\x85"
}
_CONTROLS |= dict.fromkeys(map(ord, "\v\f\x1c\x1d\x1e"), " ")


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One line of a checklist."""

    key: str
    title: str
    is_checked: bool
    exported_id: EntityId | None = None
    is_archived: bool = False


@dataclass(frozen=True, slots=True)
class PlannedChecklist:
    """A checklist, its items in the file's order."""

    key: str
    title: str
    items: tuple[PlannedItem, ...]


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """Text of a task; `happened_ms` is Unix time, None if the file has no time for it."""

    key: str
    text: str
    happened_ms: int | None = None
    exported_id: EntityId | None = None


@dataclass(frozen=True, slots=True)
class PlannedLink:
    """A link between two tasks of the same file, named by their keys."""

    key: str
    from_key: str
    to_key: str
    type: str


_VALUE_NAMES = {entry.name for entry in fields(TaskValues)}
VALUE_FIELDS = tuple(row for row in TASK_FIELDS if row.name in _VALUE_NAMES)


@dataclass(frozen=True, slots=True)
class PlannedTask(TaskValues):
    """A task and all that belongs to it.

    `made_ms`, `changed_ms` and `ended_ms` are when the source made, last changed, and finished or deleted it
    (Unix time; None: unknown). `source` is the source's own id of it, kept as provenance so that an export
    can name it again; None if the format has none.

    `unsaid` names fields of which the file says nothing here, not even that they have no value.
    `current` is set once the journal is known to have the task under its `exported_id`: it is what an export
    of the same format would say of it now. What is equal in both was not edited in the file.

    `due_moves`: it comes again, and `due` is the date that is next now. `gone` are keys of entries that the
    format makes of what no longer is in the file: what an earlier import made of it is emptied.
    """

    key: str
    line: int
    title: str
    made_ms: int | None = None
    changed_ms: int | None = None
    ended_ms: int | None = None
    source: str | None = None
    status: str = "OPEN"
    reason: str | None = None
    category: str | None = None
    labels: tuple[str, ...] = ()
    checklists: tuple[PlannedChecklist, ...] = ()
    entries: tuple[PlannedEntry, ...] = ()
    links: tuple[PlannedLink, ...] = ()
    removed: bool = False
    exported_id: EntityId | None = None
    unsaid: frozenset[str] = frozenset()
    current: PlannedTask | None = None
    due_moves: bool = False
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something of the file that is left out on purpose: what, and why."""

    line: int | None
    what: str
    why: str
    what_id: str = ""
    what_params: dict[str, Any] = field(default_factory=dict)
    why_id: str = ""
    why_params: dict[str, Any] = field(default_factory=dict)


def describe_skipped(line: int | None, what: Sentence | str, reason: Sentence) -> Skipped:
    """Name something of the file that is left out: `what` is a title of the file, or Placet's own words."""
    named_what = what if isinstance(what, Sentence) else foreign_text(what)
    return Skipped(line, **sentence_fields("what", named_what), **sentence_fields("why", reason))


@dataclass(frozen=True, slots=True)
class Faulty:
    """Something of the file that is left out because it cannot be read: its line, and why."""

    line: int | None
    why: str
    why_id: str = ""
    why_params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportFault:
    """Something of the file that cannot be read: one line of words, with the line of the file it is on."""

    line: int
    words: Sentence

    @property
    def message(self) -> str:
        """Return the words in English."""
        return self.words.text


WrittenNow = Callable[[Snapshot, Collection[EntityId]], Mapping[str, PlannedTask]]
"""Returns what an export that is made now says of tasks, as a reader reads it, by their keys."""

Reread = Callable[[Snapshot, Collection[EntityId]], Mapping[EntityId, PlannedTask]]
"""Returns tasks of a journal as a reader of the format would read them from an export that is made now."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a file asks for. A plan with faults must not be applied, not even in part.

    With faults it has no tasks, and `readable` are those that can be read nevertheless: a person can choose
    to import them alone (`without_faulty`), and then `faulty` names the others. `remarks` say how something
    was read that is not read as the file means it.
    `list_key`: set if the format gives its tasks no ids, so that only the list as a whole has a name;
    which of its tasks are known already is then found by comparing with the journal (`match_tasks`).
    `reread` is set if an export of the format names the ids of this journal, `written_now` if it gives each
    task one. `unchanged` and `removed` count tasks that need nothing more: those of this journal of which the
    file says what it would say now, and those that were removed here. `gone` names open tasks of the list
    that the file no longer has, if it has new ones: it may only call them otherwise.
    """

    format: str
    tasks: tuple[PlannedTask, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    faults: tuple[ImportFault, ...] = ()
    list_key: str | None = None
    reread: Reread | None = None
    remarks: tuple[Skipped, ...] = ()
    readable: tuple[PlannedTask, ...] = ()
    faulty: tuple[Faulty, ...] = ()
    written_now: WrittenNow | None = None
    unchanged: int = 0
    removed: int = 0
    gone: tuple[Skipped, ...] = ()


def unreadable_plan(format_: str, *faults: ImportFault) -> Plan:
    """Make the plan of a file that cannot be read; of very many faults it reports the first ones."""
    return with_faults(Plan(format_), faults)


def with_faults(plan: Plan, faults: Iterable[ImportFault]) -> Plan:
    """Return a plan with the faults of what it lacks, by line; of very many it reports the first ones."""
    ordered = sorted(faults, key=lambda fault: fault.line)
    if len(ordered) > FAULTS_SHOWN_MAX:
        more = more_faults(len(ordered) - FAULTS_SHOWN_MAX)
        ordered[FAULTS_SHOWN_MAX:] = [ImportFault(ordered[FAULTS_SHOWN_MAX].line, more)]
    return replace(plan, tasks=(), readable=plan.tasks, faults=tuple(ordered)) if ordered else plan


def without_faulty(plan: Plan) -> Plan:
    """Return a plan of what can be read, with no link to anything else; the same plan if nothing can."""
    if not plan.readable:
        return plan
    keys = {task.key for task in plan.readable}
    tasks, loose = [], []
    for task in plan.readable:
        links = tuple(link for link in task.links if {link.from_key, link.to_key} <= keys)
        if len(links) < len(task.links):
            loose.append(describe_skipped(task.line, task.title, _LOOSE))
        tasks.append(replace(task, links=links))
    faulty = tuple(faulty_of(fault.line, fault.words) for fault in plan.faults)
    return replace(
        plan, tasks=tuple(tasks), readable=(), faults=(), skipped=(*plan.skipped, *loose), faulty=faulty
    )


def faulty_of(line: int, words: Sentence) -> Faulty:
    """Name something that is left out because it cannot be read."""
    return Faulty(line, **sentence_fields("why", words))


def more_faults(count: int) -> Sentence:
    """Return that a file has so many faults more than are listed."""
    return sentence("more-faults", "and {count} more faults from here on", count=count)


def too_many_tasks_sentence(most: int) -> Sentence:
    """Return that a file has more tasks than `tasks_max` allows."""
    return sentence(
        "too-many-short-tasks",
        "the file has more than {most} tasks, most of them a few letters long: split the file",
        most=most,
    )


def nested_too_deeply_sentence() -> Sentence:
    """Return that JSON is nested deeper than any export is."""
    return sentence("json-nested-too-deeply", "JSON is nested too deeply")


def text_fault(text: str) -> ImportFault | None:
    """Say what makes `text` no text at all (too long, binary, broken Unicode), or None."""
    if len(text) > FILE_CHARS_MAX:
        too_long = sentence(
            "file-too-long",
            "the file has {count} Mi characters, more than {most} Mi: split it",
            count=len(text) // 2**20,
            most=FILE_CHARS_MAX // 2**20,
        )
        return ImportFault(1, too_long)
    if (index := text.find("\0")) >= 0:
        binary = sentence("file-is-binary", "a NUL character: this is a binary file, not text")
        return ImportFault(line_number_at(text, index), binary)
    if broken := _SURROGATE.search(text):
        not_text = sentence("file-not-unicode", "broken Unicode: save the file as UTF-8")
        return ImportFault(line_number_at(text, broken.start()), not_text)
    return None


def plain_text(text: str) -> str:
    """Return a text with line feeds for line breaks, and without control characters.

    No text file may contain them: exports leave them out.
    """
    return text if text.isprintable() else _LINE_BREAKS.sub("\n", text).translate(_CONTROLS)


def tasks_max(text: str) -> int:
    """Return how many tasks and items a file may have: `SHORT_LIST_TASKS`, and one for each 16 characters.

    Each takes some hundred bytes of the journal, however few bytes the file has for it.
    """
    return SHORT_LIST_TASKS + len(text) // CHARS_OF_A_TASK


def line_number_at(text: str, index: int) -> int:
    """Return the line, counted from 1, of the character at `index`."""
    return text.count("\n", 0, index) + 1


def joined_line(text: str) -> str:
    """Join lines and runs of white space by single spaces."""
    return " ".join(text.split())


def title_line(text: str) -> str:
    """Join lines by single spaces; runs of blanks within a line stay, since a title may have them."""
    return " ".join(text.replace("\t", " ").splitlines()).strip()


def fits_title(text: str) -> bool:
    """Say whether `text` can be a title as it is."""
    return len(text) <= TITLE_CHARS_MAX


def cut_title(text: str, chars_max: int = TITLE_CHARS_MAX) -> str:
    """Shorten `text` to a title; a mark shows that it was cut."""
    if len(text) <= chars_max:
        return text
    return text[: chars_max - len(_CUT)].rstrip() + _CUT


def split_entry(key: str, text: str, happened_ms: int | None = None) -> list[PlannedEntry]:
    """Make the entry of `text`; text beyond an entry's limit goes on in further ones, cut between lines."""
    planned_entry = PlannedEntry(key, text, happened_ms)
    if len(text) * 4 <= ENTRY_BYTES_MAX or len(text.encode()) <= ENTRY_BYTES_MAX:
        return [planned_entry]
    return [replace(planned_entry, key=f"{key}\n#{n}", text=part) for n, part in enumerate(_parts(text), 1)]


def _parts(text: str) -> list[str]:
    parts = []
    while text:
        head = text[:ENTRY_BYTES_MAX].encode()[:ENTRY_BYTES_MAX].decode(errors="ignore")
        if len(head) < len(text) and (end := head.rfind("\n") + 1):
            head = head[:end]
        parts.append(head)
        text = text[len(head) :]
    return parts


def utc_iso(ms: int) -> str:
    """Write Unix time as ISO 8601 text in UTC."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds" if ms % 1000 else "seconds").replace("+00:00", "Z")
