"""What a file asks to be in the journal: tasks with what belongs to them, free of format and store.

Never holds an id: each element has a key that is the source's own, stable from one export to the next.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from daemon.journal.values import ENTRY_BYTES_MAX, TITLE_CHARS_MAX

FILE_CHARS_MAX = 16 * 1024 * 1024
FAULTS_SHOWN_MAX = 100

_CUT = "…"
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One line of a checklist."""

    key: str
    title: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class PlannedChecklist:
    """A checklist, its items in the file's order."""

    key: str
    title: str
    items: tuple[PlannedItem, ...]


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """Text of a task; `happened_ms` is Unix time, None where the file does not say."""

    key: str
    text: str
    happened_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedLink:
    """A link between two tasks of the same file, named by their keys."""

    key: str
    from_key: str
    to_key: str
    type: str


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task and all that belongs to it.

    `made_ms`, `changed_ms` and `ended_ms` are when the source made, last changed, and finished or deleted it
    (Unix time; None: unknown). `source` is the source's own id of it, kept as provenance so that an export
    can name it again; None where the format has none.
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
    priority: str | None = None
    due: str | None = None
    estimate_minutes: int | None = None
    language: str | None = None
    category: str | None = None
    labels: tuple[str, ...] = ()
    checklists: tuple[PlannedChecklist, ...] = ()
    entries: tuple[PlannedEntry, ...] = ()
    links: tuple[PlannedLink, ...] = ()
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something of the file that is left out on purpose: what, and why."""

    line: int | None
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class ImportFault:
    """Something of the file that cannot be read: one line of words, with the line of the file it is on."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a file asks for. A plan with faults must not be applied, not even in part.

    `list_key`: set where the format gives its tasks no ids, so that only the list as a whole has a name;
    which of its tasks are known already is then found by comparing with the journal (`recognise`).
    """

    format: str
    tasks: tuple[PlannedTask, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    faults: tuple[ImportFault, ...] = ()
    list_key: str | None = None


def failed(format_: str, *faults: ImportFault) -> Plan:
    """Make the plan of a file that cannot be read; of very many faults the first ones are told."""
    if len(faults) > FAULTS_SHOWN_MAX:
        more = ImportFault(
            faults[FAULTS_SHOWN_MAX].line, f"and {len(faults) - FAULTS_SHOWN_MAX} more faults from here on"
        )
        faults = (*faults[:FAULTS_SHOWN_MAX], more)
    return Plan(format_, faults=faults)


def unreadable(text: str) -> ImportFault | None:
    """Say what makes `text` no text at all (too long, binary, broken Unicode), or None."""
    if len(text) > FILE_CHARS_MAX:
        seen, most = len(text) // 2**20, FILE_CHARS_MAX // 2**20
        return ImportFault(1, f"the file has {seen} Mi characters, more than {most} Mi: split it")
    if (at := text.find("\0")) >= 0:
        return ImportFault(line_of(text, at), "a NUL character: this is a binary file, not text")
    if broken := _SURROGATE.search(text):
        return ImportFault(line_of(text, broken.start()), "broken Unicode: save the file as UTF-8")
    return None


def line_of(text: str, at: int) -> int:
    """Return the line, counted from 1, of the character at `at`."""
    return text.count("\n", 0, at) + 1


def on_one_line(text: str) -> str:
    """Join lines and runs of white space by single spaces."""
    return " ".join(text.split())


def fits_title(text: str) -> bool:
    """Say whether `text` can be a title as it is."""
    return len(text) <= TITLE_CHARS_MAX


def cut_title(text: str, chars_max: int = TITLE_CHARS_MAX) -> str:
    """Shorten `text` to a title, with a mark where it was cut."""
    if len(text) <= chars_max:
        return text
    return text[: chars_max - len(_CUT)].rstrip() + _CUT


def entries_of(key: str, text: str, happened_ms: int | None = None) -> list[PlannedEntry]:
    """Make the entry of `text`; text beyond an entry's limit goes on in further ones, cut between lines."""
    whole = PlannedEntry(key, text, happened_ms)
    if len(text) * 4 <= ENTRY_BYTES_MAX or len(text.encode()) <= ENTRY_BYTES_MAX:
        return [whole]
    return [replace(whole, key=f"{key}\n#{n}", text=part) for n, part in enumerate(_parts(text), 1)]


def _parts(text: str) -> list[str]:
    parts = []
    while text:
        head = text[:ENTRY_BYTES_MAX].encode()[:ENTRY_BYTES_MAX].decode(errors="ignore")
        if len(head) < len(text) and (end := head.rfind("\n") + 1):
            head = head[:end]
        parts.append(head)
        text = text[len(head) :]
    return parts


def utc_text(ms: int) -> str:
    """Write Unix time as ISO 8601 text in UTC."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds" if ms % 1000 else "seconds").replace("+00:00", "Z")
