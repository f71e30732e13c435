"""Reads a Markdown to-do file into a plan: headings are tasks, list items checklist items, prose entries.

Never loses text: every line that has any ends in a title or in an entry, however odd the file.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import PurePath

from daemon.formats.core.plan import (
    ImportFault,
    Plan,
    PlannedChecklist,
    PlannedEntry,
    PlannedItem,
    PlannedLink,
    PlannedTask,
    cut_title,
    fits_title,
    joined_line,
    split_entry,
    text_fault,
    title_line,
    unreadable_plan,
)
from daemon.formats.markdown.blocks import Block, Heading, ListItem, Prose, TooManyBlocks, read_blocks
from daemon.formats.markdown.ids import split_id
from daemon.formats.markdown.marks import split_marks
from daemon.journal.checklist_items import TODOS_TITLE
from daemon.journal.fields.validation import TITLE_CHARS_MAX
from store.sentence import sentence
from syncproto.ids import EntityId

FORMAT = "markdown"

_UNNAMED = "Imported list"
CHECKBOX = re.compile(r"\[([ xX])\](?:\s+|$)")
_CANCELLED = re.compile(r"\[-\]\s+")
# As outlines of Logseq and Org mode write it in front of a line that has no box.
_DONE_WORD, _CANCELLED_WORD = re.compile(r"DONE\s"), re.compile(r"CANCELL?ED\s")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_PARENT_CHARS_MIN = 12
_KEY_CHARS_MAX = 200
_HASH_CHARS = 16


def parse(name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read a file called `name`; never raises, what cannot be read is in the plan's faults.

    A file that was not exported gives nothing an identity: its `name` tells one list from another, and which
    task, item or note a part of it is follows from a comparison with the journal. The stem of the name is the
    title of what stands before the first heading.
    """
    del zone, now_ms  # Markdown has no times
    if fault := text_fault(text):
        return unreadable_plan(FORMAT, fault)
    name = name.replace("\0", "").encode(errors="replace").decode()
    list_key = _short_hash(name)
    root = _Section(Heading(1, 0, PurePath(name).stem or _UNNAMED), f"{list_key}/{_short_hash('')}/1", None)
    try:
        blocks = read_blocks(text.removeprefix("\ufeff"))
    except TooManyBlocks as error:
        too_many = sentence(
            "markdown-too-many-blocks",
            "the file has more headings, list items and paragraphs than can be read at once: split the file",
        )
        return unreadable_plan(FORMAT, ImportFault(error.line, too_many))
    sections = _sections(root, blocks)
    titles = Counter(section.title for section in sections)
    wanted = [section for section in sections if section.parent or section.has_content]
    return Plan(FORMAT, tuple(section.task(titles) for section in wanted), list_key=list_key)


class _Section:
    """A heading with its content, until the next heading; the file itself is the first section."""

    def __init__(self, heading: Heading, key: str, parent: "_Section | None") -> None:
        self.level, self.key, self.parent = heading.level, key, parent
        self._line, self._id = heading.line, heading.id
        self._status, text = _split_status(heading.text)
        self._text, self._marks = split_marks(text)
        self.title = unescape_markup(self._text)
        self._seen: Counter[tuple[str, str]] = Counter()
        self._items: list[PlannedItem] = []
        self._entries: list[PlannedEntry] = []
        if not fits_title(self.title):
            self._keep(self._text)

    @property
    def has_content(self) -> bool:
        """Report whether the heading has any content of its own."""
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
        return f"{list_key}/{_short_hash(f'{self.key} {text}')}/{self._seen['heading', text]}"

    def take(self, block: ListItem | Prose) -> None:
        """Add the content of the heading."""
        lines = block.text.split("\n")
        if isinstance(block, ListItem):
            self._tick_off(block.parents, block.text, block.id)
        elif block.is_verbatim:
            self._keep(block.text, entity=block.id)
        elif all(CHECKBOX.match(line.lstrip()) for line in lines):
            for line in lines:  # boxes without bullets in front of them
                self._tick_off(block.parents, *split_id(line))
        else:
            text, entity = split_id(block.text)
            self._keep(text, block.parents, entity)

    def task(self, titles: Counter[str]) -> PlannedTask:
        """Make the task. If several sections share a title, the heading above distinguishes them."""
        title = self.title
        if titles[title] > 1 and self.parent and self.parent.parent:
            title = _under([cut_title(self.parent.title)], title)
        checklist = PlannedChecklist(f"{self.key}\nchecklist", TODOS_TITLE, tuple(self._items))
        return PlannedTask(
            key=self.key,
            source=self.key,
            line=self._line,
            title=cut_title(title),
            status=self._status or self._marks.status or "OPEN",
            reason=None if self._status else self._marks.reason,
            priority=self._marks.priority,
            due=self._marks.due,
            start=self._marks.start,
            checklists=(checklist,) if self._items else (),
            entries=tuple(self._entries),
            links=tuple(self._links()),
            exported_id=self._id,
        )

    def _links(self) -> Iterator[PlannedLink]:
        if self.parent and self.parent.parent:
            yield PlannedLink(f"{self.key}\nunder", self.key, self.parent.key, "basic")

    def _tick_off(self, parents: Sequence[str], line: str, entity: EntityId | None) -> None:
        is_checked, text = _split_box(line)
        if not text:
            return
        start = line.lstrip()
        is_cancelled = bool(_CANCELLED.match(start) or _CANCELLED_WORD.match(start))
        if _CANCELLED.match(start):
            text = text[len("[-] ") :]
        elif _DONE_WORD.match(start):
            is_checked = True
        path = [_split_box(parent)[1] for parent in parents]
        title = _under([unescape_markup(parent) for parent in path], unescape_markup(text))
        if not fits_title(title):
            self._keep(text)
        key = self.key_of("item", "\n".join([*path, text]))
        self._items.append(PlannedItem(key, cut_title(title), is_checked, entity, is_cancelled))

    def _keep(self, text: str, parents: Sequence[str] = (), entity: EntityId | None = None) -> None:
        if parents:
            text = f"{unescape_markup(_split_box(parents[-1])[1])}\n\n{text}"
        if text.strip():
            first, *more = split_entry(self.key_of("entry", text), text)
            self._entries += [replace(first, exported_id=entity), *more]


def _sections(root: _Section, blocks: Sequence[Block]) -> list[_Section]:
    sections = [root]
    for block in blocks:
        if not isinstance(block, Heading):
            sections[-1].take(block)
        elif text := split_marks(_split_status(block.text)[1])[0]:
            parent = sections[-1]
            while parent.parent and parent.level >= block.level:
                parent = parent.parent
            sections.append(_Section(block, parent.key_beneath(text), parent))
    return sections


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_HASH_CHARS]


def _short(text: str) -> str:
    """Replace a long text by its hash, because the keys of everything beneath contain it."""
    return text if len(text) <= _KEY_CHARS_MAX else hashlib.sha256(text.encode()).hexdigest()


def _split_box(line: str, on_one_line: Callable[[str], str] = joined_line) -> tuple[bool, str]:
    """Return whether the text begins with a ticked box, and the text after the box, on one line."""
    text = on_one_line(line)
    box = CHECKBOX.match(text)
    return (box[1] in "xX", text[box.end() :]) if box else (False, text)


def _split_status(heading: str) -> tuple[str | None, str]:
    """Return the status that a heading begins with, None if it has none, and the text after a box."""
    is_done, text = _split_box(heading, title_line)
    if is_done or CHECKBOX.match(title_line(heading)):
        return ("DONE" if is_done else None), text
    if box := _CANCELLED.match(text):
        return "REJECTED", text[box.end() :]
    if _CANCELLED_WORD.match(text):
        return "REJECTED", text
    return ("DONE" if _DONE_WORD.match(text) else None), text


def begins_with_status(title: str) -> bool:
    """Report whether a title, at the beginning of a heading, would be read as a box or a status."""
    return _split_status(title) != (None, title_line(title))


def unescape_markup(text: str) -> str:
    """Take out the backslashes that keep Markdown from reading a character as markup."""
    return text if "`" in text else _ESCAPE.sub(r"\1", text)


def _under(parents: Sequence[str], title: str) -> str:
    """Put the parents' titles in front, short_text to what a title has room for."""
    before = ": ".join(filter(None, (parent.rstrip(": ") for parent in parents)))
    room = TITLE_CHARS_MAX - len(title) - len(": ")
    if not before or room < min(len(before), _PARENT_CHARS_MIN):
        return title
    return f"{cut_title(before, room)}: {title}"
