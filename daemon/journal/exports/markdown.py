"""Writes the journal as Markdown that is read back: a heading a task, a box an item, prose an entry.

Never writes what would be read as something else: such an entry stands in a fenced block, word for word.
"""

import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Final

from daemon.journal.checklists import TODOS
from daemon.journal.exports.each import Each, Eachs
from daemon.journal.imports.markdown import BOX, plain
from daemon.journal.imports.markdown_blocks import NOTE, Prose, blocks
from daemon.journal.imports.markdown_marks import INLINE, WITH_REASON, Marks, marked, written
from daemon.journal.values import PRIORITY_DEFAULT
from store.snapshot import Snapshot

FORMAT: Final = "markdown"

_UNNAMED: Final = "Untitled"
_TICKS: Final = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)
# What may go on beyond a blank line, or be taken into the list above.
_NEVER_ALONE: Final = ("<", "`", "~", " ", "\t")
_ESCAPED: Final = re.compile(r"\\(?=[!-/:-@\[-`{-~])")


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield a section for each task in sight, in the order of their making."""
    del zone  # Markdown has no times
    separator = ""
    for each in Eachs(snapshot):
        yield separator + "\n\n".join(_section(each)) + "\n"
        separator = "\n"


def _section(each: Each) -> Iterator[str]:
    yield _heading(each)
    lines = [
        f"- {_box(is_checked)} {_text(_under(one.title, title))}"
        for one in each.lists
        for title, is_checked in one.lines
    ]
    if lines:
        yield "\n".join(lines)
    for note in each.notes:
        if note.text.strip():
            yield _entry(note.text)


def _heading(each: Each) -> str:
    title = _text(each.title or _UNNAMED)
    priority = each.priority if each.priority != PRIORITY_DEFAULT else None
    status = each.status if each.status in (*INLINE, *WITH_REASON) else None
    marks = written(Marks(priority, each.due, status, each.reason))
    if not marks and marked(title)[0] != title:
        # The title itself ends like marks: only the last ones are read as such.
        marks = written(Marks(each.priority or PRIORITY_DEFAULT))
    if each.status == "DONE":
        title = f"{_box(is_checked=True)} {title}"
    elif BOX.match(title):
        title = f"{_box(is_checked=False)} {title}"
    line = f"# {title}{marks}"
    # Hashes at the end close a heading: more of them do it in their place.
    return f"{line} #" if line.endswith("#") else line


def _box(is_checked: bool) -> str:
    return "[x]" if is_checked else "[ ]"


def _under(checklist: str, title: str) -> str:
    return title if checklist in ("", TODOS) else f"{checklist}: {title}"


def _text(written: str) -> str:
    """Write a line so that what is read of it is the same."""
    escaped = _ESCAPED.sub(r"\\\\", written)
    return escaped if plain(escaped) == written else written


def _entry(text: str) -> str:
    if _is_prose(text):
        return text
    fence = "`" * (1 + max((len(one) for one in _TICKS.findall(text)), default=2))
    return f"{fence}{NOTE}\n{text}\n{fence}"


def _is_prose(text: str) -> bool:
    """Say whether a text is read as one entry, as it stands."""
    if text.startswith(_NEVER_ALONE) or all(BOX.match(line.lstrip()) for line in text.split("\n")):
        return False
    found = blocks(text)
    return len(found) == 1 and isinstance(found[0], Prose) and found[0].text == text
