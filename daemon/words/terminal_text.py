"""Prepares text from elsewhere for a terminal: escapes, measures, cuts and wraps it.

Never lets a control or direction-changing character through, and never colours.
"""

from __future__ import annotations

from functools import lru_cache

_ELLIPSIS = "…"
# Every printable character below the first combining mark is one column wide.
_FIRST_MARK = "\u0300"
# Joiners combine several characters into one emoji or one Persian word; alone they are invisible.
_JOINERS = "\u200c\u200d"
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def escape(text: object) -> str:
    """Escape characters that could move the cursor, or colour, hide or reorder the text.

    Control (Cc), format (Cf, with the direction marks), surrogate and line
    separator characters appear as in a Python literal.
    """
    line = text if isinstance(text, str) else str(text)
    # `isprintable` is false for all of them and for few others, so most texts need only this one call.
    return line if line.isprintable() else "".join(map(_shown_character, line))


def _shown_character(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    from unicodedata import category

    if category(character) in ("Zs", "Cn", "Co"):
        return character
    return _NAMED.get(character) or _escape_code(ord(character))


def _escape_code(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def display_width(text: str) -> int:
    """Return the width of `text` in terminal columns: two per East Asian wide character, none per mark."""
    if text.isascii():
        return len(text)
    return sum(map(_cells_of, text))


@lru_cache(4096)
def _cells_of(character: str) -> int:
    if character < _FIRST_MARK:
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def truncate(text: str, width: int) -> str:
    """Shorten `text` to at most `width` columns, with an ellipsis if something is cut."""
    if display_width(text) <= width:
        return text
    if text.isascii():
        return text[: max(width - 1, 0)].rstrip() + _ELLIPSIS[:width]
    texts, room = [], width - 1
    for character in text:
        room -= _cells_of(character)
        if room < 0:
            break
        texts.append(character)
    return "".join(texts).rstrip() + _ELLIPSIS if width > 0 else ""


def pad_right(text: str, width: int) -> str:
    """Fill `text` up to `width` columns."""
    return text + " " * (width - display_width(text))


def wrap_lines(text: str, width: int) -> list[str]:
    """Break text of any number of lines into escaped lines of at most `width` columns."""
    return [line for paragraph in text.splitlines() or [""] for line in _wrap_paragraph(paragraph, width)]


def _wrap_paragraph(paragraph: str, width: int) -> list[str]:
    lines, line = [], ""
    for word in escape(paragraph.expandtabs(4)).split(" "):
        if line and display_width(line) + 1 + display_width(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        while display_width(line) > width > 1:
            head = truncate(line, width + 1)[:-1] or line[:1]
            lines.append(head)
            line = line[len(head) :]
    return [*lines, line]
