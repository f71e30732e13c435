"""Reads a Markdown to-do file into a plan: headings are tasks, list items checklist items, prose entries.

Never loses text: every line that has any ends in a title or in an entry, however odd the file.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo
from pathlib import PurePath

from daemon.journal.checklists import TODOS
from daemon.journal.imports.markdown_blocks import Block, Heading, Item, Prose, blocks
from daemon.journal.imports.markdown_marks import marked
from daemon.journal.imports.plan import (
    Plan,
    PlannedChecklist,
    PlannedEntry,
    PlannedItem,
    PlannedLink,
    PlannedTask,
    cut_title,
    entries_of,
    failed,
    fits_title,
    on_one_line,
    unreadable,
)
from daemon.journal.values import TITLE_CHARS_MAX

FORMAT = "markdown"

_UNNAMED = "Imported list"
BOX = re.compile(r"\[([ xX])\](?:\s+|$)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_PARENT_CHARS_MIN = 12
_KEY_CHARS_MAX = 200
_HASH_CHARS = 16


def parse(name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read a file called `name`; never raises, what cannot be read is in the plan's faults.

    The format gives nothing an identity: the file's `name` tells one list from another, and what of it a
    heading, an item or a note is the journal says (`recognise`). The stem of the name is the title of what
    stands before the first heading.
    """
    del zone, now_ms  # Markdown has no times
    if fault := unreadable(text):
        return failed(FORMAT, fault)
    name = name.replace("\0", "").encode(errors="replace").decode()
    list_key = _hashed(name)
    root = _Section(Heading(1, 0, PurePath(name).stem or _UNNAMED), f"{list_key}/{_hashed('')}/1", None)
    sections = _sections(root, blocks(text.removeprefix("\ufeff")))
    titles = Counter(section.title for section in sections)
    wanted = [section for section in sections if section.parent or section.has_content]
    return Plan(FORMAT, tuple(section.task(titles) for section in wanted), list_key=list_key)


class _Section:
    """A heading with what stands under it, until the next heading; the file itself is the first section."""

    def __init__(self, heading: Heading, key: str, parent: "_Section | None") -> None:
        self.level, self.key, self.parent = heading.level, key, parent
        self._line = heading.line
        self._is_done, written = _unboxed(heading.text)
        self._text, self._marks = marked(written)
        self.title = plain(self._text)
        self._seen: Counter[tuple[str, str]] = Counter()
        self._items: list[PlannedItem] = []
        self._entries: list[PlannedEntry] = []
        if not fits_title(self.title):
            self._keep(self._text)

    @property
    def has_content(self) -> bool:
        """Say whether anything stands under the heading itself."""
        return bool(self._items or self._entries)

    def key_of(self, kind: str, text: str) -> str:
        """Return the key of something in this section: what it says, and the how many-eth to say so it is."""
        text = _short(text)
        self._seen[kind, text] += 1
        return f"{self.key}\n{kind}\n{text}\n{self._seen[kind, text]}"

    def key_beneath(self, text: str) -> str:
        """Return the key of a section under this one, which stands beside it as a task of the same list."""
        self._seen["heading", text] += 1
        list_key = self.key.partition("/")[0]
        return f"{list_key}/{_hashed(f'{self.key} {text}')}/{self._seen['heading', text]}"

    def take(self, block: Item | Prose) -> None:
        """Add what stands under the heading."""
        lines = block.text.split("\n")
        if isinstance(block, Item):
            self._tick_off(block.parents, block.text)
        elif block.is_verbatim:
            self._keep(block.text)
        elif all(BOX.match(line.lstrip()) for line in lines):
            for line in lines:  # boxes without bullets in front of them
                self._tick_off(block.parents, line)
        else:
            self._keep(block.text, block.parents)

    def task(self, titles: Counter[str]) -> PlannedTask:
        """Make the task; a title that several sections share is told apart by the heading above."""
        title = self.title
        if titles[title] > 1 and self.parent and self.parent.parent:
            title = _under([cut_title(self.parent.title)], title)
        checklist = PlannedChecklist(f"{self.key}\nchecklist", TODOS, tuple(self._items))
        return PlannedTask(
            key=self.key,
            source=self.key,
            line=self._line,
            title=cut_title(title),
            status="DONE" if self._is_done else self._marks.status or "OPEN",
            reason=None if self._is_done else self._marks.reason,
            priority=self._marks.priority,
            due=self._marks.due,
            checklists=(checklist,) if self._items else (),
            entries=tuple(self._entries),
            links=tuple(self._links()),
        )

    def _links(self) -> Iterator[PlannedLink]:
        if self.parent and self.parent.parent:
            yield PlannedLink(f"{self.key}\nunder", self.key, self.parent.key, "basic")

    def _tick_off(self, parents: Sequence[str], written: str) -> None:
        is_checked, text = _unboxed(written)
        if not text:
            return
        path = [_unboxed(parent)[1] for parent in parents]
        title = _under([plain(parent) for parent in path], plain(text))
        if not fits_title(title):
            self._keep(text)
        key = self.key_of("item", "\n".join([*path, text]))
        self._items.append(PlannedItem(key, cut_title(title), is_checked))

    def _keep(self, text: str, parents: Sequence[str] = ()) -> None:
        if parents:
            text = f"{plain(_unboxed(parents[-1])[1])}\n\n{text}"
        if text.strip():
            self._entries += entries_of(self.key_of("entry", text), text)


def _sections(root: _Section, found: Sequence[Block]) -> list[_Section]:
    sections = [root]
    for block in found:
        if not isinstance(block, Heading):
            sections[-1].take(block)
        elif text := marked(_unboxed(block.text)[1])[0]:
            parent = sections[-1]
            while parent.parent and parent.level >= block.level:
                parent = parent.parent
            sections.append(_Section(block, parent.key_beneath(text), parent))
    return sections


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_HASH_CHARS]


def _short(text: str) -> str:
    """Let its hash stand for a long text: the keys of all that is beneath have it in them."""
    return text if len(text) <= _KEY_CHARS_MAX else hashlib.sha256(text.encode()).hexdigest()


def _unboxed(written: str) -> tuple[bool, str]:
    """Return whether a ticked box stands in front, and the text after the box, on one line."""
    text = on_one_line(written)
    box = BOX.match(text)
    return (box[1] in "xX", text[box.end() :]) if box else (False, text)


def plain(text: str) -> str:
    """Take out the backslashes that keep Markdown from reading a character as markup."""
    return text if "`" in text else _ESCAPE.sub(r"\1", text)


def _under(parents: Sequence[str], title: str) -> str:
    """Put the parents' titles in front, shortened to what a title has room for."""
    before = ": ".join(filter(None, (parent.rstrip(": ") for parent in parents)))
    room = TITLE_CHARS_MAX - len(title) - len(": ")
    if not before or room < min(len(before), _PARENT_CHARS_MIN):
        return title
    return f"{cut_title(before, room)}: {title}"
