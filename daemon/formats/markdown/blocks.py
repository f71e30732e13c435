"""The blocks of a Markdown file (CommonMark) in its order: headings, list items with their parents, prose.

Never drops a line that has text: what the parser leaves aside comes back as prose.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from daemon.formats.core.plan import cut_title, tasks_max
from daemon.formats.markdown.ids import is_note_fence, note_fence_id, split_id
from syncproto.ids import EntityId

# Lists nested deeper than this are read as prose: the parser calls itself once a level.
_NESTING_MAX = 100
TOKENS_MAX = 400_000
TOKENS_OF_AN_ITEM = 5
_TEXTS = frozenset({"paragraph_open", "heading_open"})
_LEAVES = _TEXTS | {"blockquote_open", "fence", "code_block", "html_block", "hr"}
_FRONT_MATTER = re.compile(
    r"---[ \t]*\n"
    r"[ \t]*[\w-]+:.*\n(?:(?!---|\.\.\.).*\n){0,200}"
    r"(?:---|\.\.\.)[ \t]*(?:\n|$)"
)
_PROPERTY = re.compile(r"(?:SCHEDULED|DEADLINE|CLOSED): [<\[]|:[A-Z_-]+:\s*$|[\w.-]+:: ")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside of any list or quotation; level 1 is the highest."""

    line: int
    level: int
    text: str
    id: EntityId | None = None


@dataclass(frozen=True, slots=True)
class ListItem:
    """The first paragraph of a list item, after those of the items around it, long ones of which are cut."""

    line: int
    parents: tuple[str, ...]
    text: str
    id: EntityId | None = None


@dataclass(frozen=True, slots=True)
class Prose:
    """Any other text, as it is in the file; `parents` are the list items around it, long ones cut.

    `is_verbatim`: it stood in a fenced block that is marked as a note, and means nothing but itself. Only
    then `id` is set: in other text the comment with the id is still there.
    """

    line: int
    parents: tuple[str, ...]
    text: str
    is_verbatim: bool = False
    id: EntityId | None = None


Block = Heading | ListItem | Prose


def read_blocks(text: str) -> list[Block]:
    """Return the blocks of a file. Links and emphasis stay as they are written. Raises TooManyBlocks."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    walk = _Walk(lines)
    front = _FRONT_MATTER.match("\n".join(lines))
    if front:
        walk.keep_front(front.group().rstrip("\n").count("\n") + 1)
    # Reference definitions would vanish from the tokens, so they are read as the paragraphs they look like.
    # Inline markup is not parsed: titles and entries keep it.
    parser = MarkdownIt("commonmark", {"maxNesting": _NESTING_MAX}).disable(["reference", "inline"])
    state = StateCore("\n".join(walk.unread), parser, {})
    state.tokens = tokens = _Tokens()
    tokens.tokens_max = min(TOKENS_MAX, TOKENS_OF_AN_ITEM * tasks_max(text))
    parser.core.process(state)
    walk.through(state.tokens)
    return sorted([*walk.found, *walk.uncovered_prose()], key=lambda block: block.line)


class TooManyBlocks(Exception):
    """A file has more blocks than a file of its length may have; `line` is where, counted from 1."""

    def __init__(self, line: int) -> None:
        super().__init__("the file has more headings, list items and paragraphs than can be read at once")
        self.line = line


class _Tokens(list[Token]):
    """The parser's tokens, each some hundred bytes, so that a short text can take much memory."""

    tokens_max = TOKENS_MAX

    def append(self, token: Token) -> None:
        """Add a token. Raises TooManyBlocks."""
        if len(self) >= self.tokens_max:
            lines = next((parameters.map for parameters in reversed(self) if parameters.map), None)
            raise TooManyBlocks(1 + (lines[0] if lines else 0))
        super().append(token)


class _Walk:
    """One pass over the parser's tokens, remembering the list items that are open and the lines seen."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.found: list[Block] = []
        self.unread = list(lines)
        self._lines = lines
        self._seen = [False] * (len(lines) + 1)
        self._items: list[str | None] = []  # the title of each open list item, outermost first

    def keep_front(self, count: int) -> None:
        """Take the settings that some programs put before the text; they would be read as a heading."""
        self._prose(0, count)
        self._mark(0, count)
        self.unread[:count] = [""] * count

    def through(self, tokens: Sequence[Token]) -> None:
        """Turn the tokens into blocks."""
        index = 0
        while index < len(tokens):
            index = self._step(tokens, index)

    def uncovered_prose(self) -> Iterator[Prose]:
        """Yield runs of lines with text that no token covered."""
        run: list[int] = []
        for number in range(len(self._lines) + 1):
            if number < len(self._lines) and not self._seen[number] and _WORD.search(self._lines[number]):
                run.append(number)
            elif run:
                yield Prose(run[0] + 1, (), self._raw(run[0], run[-1] + 1))
                run = []

    def _step(self, tokens: Sequence[Token], index: int) -> int:
        """Read the token at `index`; return the index of the next one."""
        token = tokens[index]
        if token.type == "list_item_open":
            self._items.append(None)
        elif token.type == "list_item_close":
            self._items.pop()
        elif token.type in _LEAVES:
            first, end = token.map or (0, 0)
            self._mark(first, end)
            return self._leaf(tokens, index, first, end)
        return index + 1

    def _leaf(self, tokens: Sequence[Token], index: int, first: int, end: int) -> int:
        token = tokens[index]
        if token.type == "blockquote_open":
            self._prose(first, end)
            return next(n for n in range(index, len(tokens)) if _closes(tokens[n], token)) + 1
        if token.type in _TEXTS:
            self._text(token, tokens[index + 1].content, first, end)
            return index + 3
        if token.type == "fence" and is_note_fence(token.info) and not self._items:
            # The parser's content ends in a line break that the text did not have.
            text, entity = token.content.removesuffix("\n"), note_fence_id(token.info)
            self.found.append(Prose(first + 1, (), text, is_verbatim=True, id=entity))
        elif token.type != "hr":
            self._prose(first, end)
        return index + 1

    def _text(self, token: Token, content: str, first: int, end: int) -> None:
        """Take a paragraph or a heading: the title of the list item that waits for one, or itself."""
        if self._items and self._items[-1] is None:
            content, entity = split_id(content)
            content, properties, count = _split_properties(content)
            self.found.append(ListItem(first + 1, self._parents(), content, entity))
            # It becomes a parent of all text beneath it: there the cut title is enough.
            self._items[-1] = cut_title(content)
            if properties:
                self.found.append(Prose(first + 1 + count, self._parents(), properties))
        elif token.type == "heading_open" and not self._items:
            content, entity = split_id(content)
            self.found.append(Heading(first + 1, int(token.tag[1:]), content, entity))
        elif self._items:
            self.found.append(Prose(first + 1, self._parents(), content))
        else:
            self._prose(first, end)

    def _prose(self, first: int, end: int) -> None:
        self.found.append(Prose(first + 1, self._parents(), self._raw(first, end)))

    def _parents(self) -> tuple[str, ...]:
        return tuple(title for title in self._items if title)

    def _raw(self, first: int, end: int) -> str:
        return dedent("\n".join(self._lines[first:end])).rstrip()

    def _mark(self, first: int, end: int) -> None:
        self._seen[first:end] = [True] * (end - first)


def _split_properties(item: str) -> tuple[str, str, int]:
    """Return the text of a list item, the lines of properties behind it, and on which line they begin.

    An outline of Logseq or Org mode has them there: `SCHEDULED: <…>`, `:LOGBOOK:`, `id:: …`.
    """
    lines = item.split("\n")
    count = next((n for n in range(1, len(lines)) if _PROPERTY.match(lines[n].lstrip())), len(lines))
    return "\n".join(lines[:count]), "\n".join(lines[count:]), count


def _closes(token: Token, opening: Token) -> bool:
    return token.type == "blockquote_close" and token.level == opening.level
