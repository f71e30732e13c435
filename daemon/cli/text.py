"""Text from elsewhere, made fit for a terminal: escaped, measured, cut and wrapped.

Never lets a control or direction-changing character through, and never colours.
"""

from __future__ import annotations

from functools import lru_cache

_ELLIPSIS = "…"
# Before the combining marks every character that is shown takes one column.
_FIRST_MARK = "\u0300"
# Joiners make one emoji, or one Persian word, of several characters; alone they show nothing.
_JOINERS = "\u200c\u200d"
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def shown(text: object) -> str:
    """Escape what could move the cursor, colour, hide or reorder what is shown.

    Control (Cc), format (Cf, with the direction marks), surrogate and line
    separator characters appear as in a Python literal.
    """
    line = text if isinstance(text, str) else str(text)
    # `isprintable` is false for all of them, and for little else: the common case is one call.
    return line if line.isprintable() else "".join(map(_shown_character, line))


def _shown_character(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    from unicodedata import category

    if category(character) in ("Zs", "Cn", "Co"):
        return character
    return _NAMED.get(character) or _escaped(ord(character))


def _escaped(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cells(text: str) -> int:
    """Count the terminal columns that `text` takes: two for East Asian wide, none for marks."""
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


def cut(text: str, width: int) -> str:
    """Shorten `text` to at most `width` columns, with an ellipsis where something is missing."""
    if cells(text) <= width:
        return text
    if text.isascii():
        return text[: max(width - 1, 0)].rstrip() + _ELLIPSIS[:width]
    kept, room = [], width - 1
    for character in text:
        room -= _cells_of(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + _ELLIPSIS if width > 0 else ""


def padded(text: str, width: int) -> str:
    """Fill `text` up to `width` columns."""
    return text + " " * (width - cells(text))


def wrapped(text: str, width: int) -> list[str]:
    """Break text of any number of lines into escaped lines of at most `width` columns."""
    return [line for paragraph in text.splitlines() or [""] for line in _wrapped(paragraph, width)]


def _wrapped(paragraph: str, width: int) -> list[str]:
    lines, line = [], ""
    for word in shown(paragraph.expandtabs(4)).split(" "):
        if line and cells(line) + 1 + cells(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        while cells(line) > width > 1:
            head = cut(line, width + 1)[:-1] or line[:1]
            lines.append(head)
            line = line[len(head) :]
    return [*lines, line]
