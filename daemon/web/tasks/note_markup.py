"""A note as HTML: Markdown (CommonMark, with tables and struck-out words) is shown as what it means.

Never lets markup of a note through, an image, or an address that is none of http, https and mailto. Never
takes long: a note of many characters is shown as it is written.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from daemon.words.terminal_text import escape as visible

CHARS_MAX: Final = 5_000
_NESTING_MAX: Final = 20
_NOTES_KEPT: Final = 512
_ADDRESS: Final = re.compile(r"(?:https?://|mailto:)[^\s\\]", re.IGNORECASE)


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

    fence = code_block

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
        address = escapeHtml(str(tokens[idx].attrGet("href") or ""))
        return f'<a href="{address}" rel="noopener noreferrer">'


def _make_parser() -> MarkdownIt:
    options: Any = {"html": False, "breaks": True, "maxNesting": _NESTING_MAX}
    parser = MarkdownIt("commonmark", options, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])
    parser.validateLink = lambda url: _ADDRESS.match(url) is not None  # type: ignore[method-assign]
    return parser


_PARSER: Final = _make_parser()


@lru_cache(_NOTES_KEPT)
def note_markup(text: str) -> Markup | None:
    """Return a note as HTML; None if it is too long for that."""
    if len(text) > CHARS_MAX:
        return None
    return Markup(_PARSER.render(text))  # noqa: S704 - the renderer has escaped every word of it
