"""A note as HTML: Markdown (CommonMark, with tables and struck-out words) is shown as what it means.

Never lets markup of a note through, an image, or an address that is none of http, https and mailto; and
never hides where a link leads: that stands behind words of its own. Never leaves out a word that agents read:
a note whose markup would hide one is shown as it is written. Never takes long or gives much: a note
that would is shown as it is written. Little text can be much of a page: a table is filled with cells that
its rows lack, and an address that is defined once is written at each link.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from daemon.words.terminal_text import escape as visible

CHARS_MAX: Final = 5_000
HTML_CHARS_MAX: Final = 25_000
"""What a note may become: several times what prose, lists and tables of `CHARS_MAX` do."""
PAGE_CHARS_MAX: Final = 100_000
"""What all notes of a page may become. A note counts as what it was or became, whichever is longer."""
_BLOCK_TOKENS_MAX: Final = 8_000
_NESTING_MAX: Final = 20
_NOTES_KEPT: Final = 128
"""With `HTML_CHARS_MAX`, some megabytes at most."""
_UNSAID: Final = re.compile(r"[\s!-/:-@\[-`{-~]+")
"""What markup is written with, besides words: spaces, and the punctuation of ASCII."""
_ADDRESS: Final = re.compile(r"(?:https?://|mailto:)[^\s\\]", re.IGNORECASE)

_PLACE: Final = re.compile(r"(?:https?://(?:[^/?#]*@)?([^/?#]+))|mailto:(.+)", re.IGNORECASE)
"""Where an address leads: a host, without the name to sign in with, or whom it writes to."""


class _Renderer(RendererHTML):
    """Renders blocks and words; characters that hide or turn text are visible, however they were written."""

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        del options, env
        return escapeHtml(visible(tokens[idx].content))

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<code>{self.text(tokens, idx, options, env)}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        del options, env
        lines = tokens[idx].content.rstrip("\n").replace("\t", "    ").split("\n")
        return f"<pre>{escapeHtml(chr(10).join(map(visible, lines)))}</pre>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        info = escapeHtml(visible(tokens[idx].info.strip()))
        shown = f'<p dir="auto">{info}</p>\n' if info else ""
        return shown + self.code_block(tokens, idx, options, env)

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # The page has an outline of its own.
        del tokens, idx, options, env
        return '<p dir="auto"><strong>'

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        del tokens, idx, options, env
        return "</strong></p>\n"

    def paragraph_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        del options, env
        return "" if tokens[idx].hidden else '<p dir="auto">'

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # Where a column is aligned would be a style, which the policy of the page refuses.
        del options, env
        return f"<{tokens[idx].tag}>"

    td_open = th_open

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        del options, env
        address = escapeHtml(normalizeLink(str(tokens[idx].attrGet("href") or "")))
        return f'<a href="{address}" rel="noopener noreferrer">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        del options, env
        return f"</a>{escapeHtml(_place_beside(tokens, idx))}"


def _place_beside(tokens: Sequence[Token], idx: int) -> str:
    """Return where the link that ends leads, to stand behind it; empty if its words say no other thing."""
    start = next(place for place in range(idx - 1, -1, -1) if tokens[place].type == "link_open")
    address = normalizeLink(str(tokens[start].attrGet("href") or ""))
    match = _PLACE.match(address)
    place = address if match is None else match[1] or match[2]
    words = "".join(token.content for token in tokens[start:idx])
    return "" if words in (place, address) or tokens[start].info == "auto" else f" ({visible(place)})"


class _TooMuch(Exception):
    """A note is shown as it is written: its markup would be long, or leave out what is nested deeply."""


class _FewTokens(list[Token]):
    """The tokens of the blocks of a note. Raises _TooMuch at those beyond what a note may have."""

    def append(self, token: Token) -> None:
        # The parser leaves out what stands deeper than it nests.
        if len(self) >= _BLOCK_TOKENS_MAX or token.level >= _NESTING_MAX - 1:
            raise _TooMuch
        super().append(token)


def _make_parser() -> MarkdownIt:
    options: Any = {"html": False, "breaks": True, "maxNesting": _NESTING_MAX}
    parser = MarkdownIt("commonmark", options, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])

    def parse_blocks(core: StateCore) -> None:
        core.tokens = _FewTokens()
        parser.block.parse(core.src, parser, core.env, core.tokens)

    parser.core.ruler.at("block", parse_blocks)
    # As it was written, until it is shown: what is left out is found by comparing the two.
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = lambda url: _ADDRESS.match(url) is not None  # type: ignore[method-assign]
    # It puts its rules together at the first text, which two threads must not do at once.
    parser.render("a")
    return parser


_PARSER: Final = _make_parser()


@lru_cache(_NOTES_KEPT)
def note_markup(text: str) -> Markup | None:
    """Return a note as HTML of `HTML_CHARS_MAX` at most; None if that is too short, or would hide a word."""
    if len(text) > CHARS_MAX:
        return None
    environment: EnvType = {}
    try:
        tokens = _PARSER.parse(text, environment)
    except _TooMuch:
        return None
    if sum(map(_raw_chars, tokens)) > HTML_CHARS_MAX:
        return None
    html = _PARSER.renderer.render(tokens, _PARSER.options, environment)
    if len(html) > HTML_CHARS_MAX or _UNSAID.sub("", "".join(_shown_parts(tokens))) != _UNSAID.sub("", text):
        return None
    return Markup(html)  # noqa: S704 - the renderer has escaped every word of it


def _shown_parts(tokens: Iterable[Token]) -> Iterator[str]:
    """Yield what is shown of a note, in the order in which it is written."""
    address = ""
    for token in tokens:
        if token.children is not None:
            yield from _shown_parts(token.children)
            continue
        match token.type:
            case "link_open":
                address = "" if token.info == "auto" else str(token.attrGet("href") or "")
            case "link_close":
                yield address
            case "list_item_open":
                yield token.info
            case "fence":
                yield token.info
                yield token.content
            case _:
                yield token.content


def _raw_chars(token: Token) -> int:
    """Return how much of what is rendered a token holds: words and addresses, before they are escaped."""
    own = len(token.content) if token.children is None else sum(map(_raw_chars, token.children))
    return own + len(str(token.attrs.get("href", "")))


class PageMarkup:
    """The notes of one page as HTML, as many as one page shows so; the others as they are written."""

    def __init__(self) -> None:
        self._left = PAGE_CHARS_MAX

    def of_note(self, text: str) -> Markup | None:
        """Return a note as HTML; None if it, or the page with it, would be too long for that."""
        if len(text) > min(CHARS_MAX, self._left):
            return None
        markup = note_markup(text)
        # What was refused took its time all the same.
        cost = CHARS_MAX if markup is None else max(len(text), len(markup))
        is_shown = cost <= self._left
        self._left = max(0, self._left - cost)
        return markup if is_shown else None
