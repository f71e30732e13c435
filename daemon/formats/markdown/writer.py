"""Writes the journal as Markdown that is read back: a heading a task, a box an item, prose an entry.

Never writes what would be read as something else: such an entry stands in a fenced block, word for word.
"""

import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Final

from daemon.formats.core.exported_tasks import ExportedNote, ExportedTask, ExportedTasks
from daemon.formats.core.plan import PlannedTask
from daemon.formats.markdown.blocks import Prose, read_blocks
from daemon.formats.markdown.ids import encode_note_fence, split_id, with_id
from daemon.formats.markdown.marks import INLINE, WITH_REASON, HeadingMarks, marks_text, split_marks
from daemon.formats.markdown.reader import CHECKBOX, begins_with_status, parse, unescape_markup
from daemon.journal.checklist_items import TODOS_TITLE
from daemon.journal.fields.validation import PRIORITY_DEFAULT
from store.snapshot import Snapshot

_UNNAMED: Final = "Untitled"
_TICKS: Final = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)
# What may go on beyond a blank line, or be taken into the list above.
_NEVER_ALONE: Final = ("<", "`", "~", " ", "\t")
_ESCAPED: Final = re.compile(r"\\(?=[!-/:-@\[-`{-~])")


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield a section for each task in sight, in the order of their making."""
    del zone  # Markdown has no times
    separator = ""
    for task in ExportedTasks(snapshot):
        yield separator + "\n\n".join(_section(task)) + "\n"
        separator = "\n"


def _section(task: ExportedTask) -> Iterator[str]:
    yield _heading_text(task)
    lines = [
        with_id(f"- {_box(item.is_checked)} {_text(_under(exported_checklist.title, item.title))}", item.id)
        for exported_checklist in task.lists
        for item in exported_checklist.items
    ]
    if lines:
        yield "\n".join(lines)
    for note in task.notes:
        if note.text.strip():
            yield _entry(note)


def reread(task: ExportedTask, zone: tzinfo) -> PlannedTask | None:
    """Return what the reader makes of a task that is written now, None if it does not make one task of it."""
    plan = parse("", "\n\n".join(_section(task)), zone)
    return plan.tasks[0] if len(plan.tasks) == 1 else None


def _heading_text(task: ExportedTask) -> str:
    title = _text(task.title or _UNNAMED)
    priority = task.priority if task.priority != PRIORITY_DEFAULT else None
    status = task.status if task.status in (*INLINE, *WITH_REASON) else None
    marks = marks_text(HeadingMarks(priority, task.due, task.start, status, task.reason))
    if not marks and split_marks(title)[0] != title:
        # The title itself ends like marks: only the last ones are read as such.
        marks = marks_text(HeadingMarks(task.priority or PRIORITY_DEFAULT))
    if task.status == "DONE":
        title = f"{_box(is_checked=True)} {title}"
    elif begins_with_status(title):
        title = f"{_box(is_checked=False)} {title}"
    # The comment comes last: hashes at the end of a title would close the heading.
    return with_id(f"# {title}{marks}", task.id)


def _box(is_checked: bool) -> str:
    return "[x]" if is_checked else "[ ]"


def _under(checklist: str, title: str) -> str:
    return title if checklist in ("", TODOS_TITLE) else f"{checklist}: {title}"


def _text(text: str) -> str:
    """Write a line so that what is read of it is the same."""
    escaped = _ESCAPED.sub(r"\\\\", text)
    return escaped if unescape_markup(escaped) == text else text


def _entry(note: ExportedNote) -> str:
    text = note.text
    if _is_prose(note):
        return with_id(text, note.id)
    fence = "`" * (1 + max((len(ticks) for ticks in _TICKS.findall(text)), default=2))
    return f"{fence}{encode_note_fence(note.id)}\n{text}\n{fence}"


def _is_prose(note: ExportedNote) -> bool:
    """Say whether a note, with its id behind it, is read as one entry of the same text."""
    text = note.text
    if text.startswith(_NEVER_ALONE) or all(CHECKBOX.match(line.lstrip()) for line in text.split("\n")):
        return False
    # Below a heading, as it will stand: at the beginning of a file, settings between dashes are prose too.
    blocks = read_blocks(f"# .\n\n{with_id(text, note.id)}")[1:]
    return len(blocks) == 1 and isinstance(blocks[0], Prose) and split_id(blocks[0].text) == (text, note.id)
