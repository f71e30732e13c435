"""How output looks on this terminal: its width, its colours, and the signs that some terminals lack.

Never reads the text that is shown: only the terminal and variables such as `NO_COLOR` decide.
"""

from __future__ import annotations

import os
import sys
from typing import Final, NamedTuple

_WIDTH: Final = 80
_WIDTH_MIN: Final = 20
# Another program or a file receives piped output: nothing is cut for them.
_WIDTH_OF_A_PIPE: Final = 10_000

_CODES: Final = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "orange": "38;5;208",
    "purple": "38;5;98",
    "pink": "38;5;211",
    "brown": "38;5;130",
    "grey": "38;5;245",
}

_ASCII_SIGNS: Final = {
    "→": "->",
    "✓": "ok",
    "✗": "x",
    "·": "|",
    "“": '"',
    "”": '"',
    "…": "...",
    "●": "*",
    "○": "o",
    "—": "-",
}


class Display(NamedTuple):
    """What the views need to know about the terminal. `now_s` is the daemon's Unix time, if known."""

    width: int = _WIDTH
    coloured: bool = False
    unicode: bool = True
    now_s: float | None = None

    def paint(self, text: str, *styles: str) -> str:
        """Colour text that is already escaped and measured; a style is a name, or #rrggbb."""
        codes = [code for style in styles if (code := _code(style))] if self.coloured and text else []
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if codes else text

    def symbol(self, sign: str) -> str:
        """Return the sign, or its replacement if the terminal shows only ASCII."""
        return sign if self.unicode else _ASCII_SIGNS[sign]


def _code(style: str) -> str:
    """Return the terminal's code; "" for an unknown style. #rrggbb gives the nearest of 256 colours."""
    if style in _CODES or not style.startswith("#"):
        return _CODES.get(style, "")
    try:
        red, green, blue = (round(part / 51) for part in bytes.fromhex(style[1:]))
    except ValueError:
        return ""
    return f"38;5;{16 + 36 * red + 6 * green + blue}"


def detect_display(coloured: bool | None, now_s: float | None = None) -> Display:
    """Examine standard output. If `coloured` is None, the terminal and `NO_COLOR` decide."""
    terminal = sys.stdout.isatty()
    encoding = (sys.stdout.encoding or "").lower()
    return Display(
        width=_width(terminal),
        coloured=_wants_colour(terminal) if coloured is None else coloured,
        unicode=encoding.startswith("utf"),
        now_s=now_s,
    )


def _width(terminal: bool) -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return max(int(columns), _WIDTH_MIN)
    if not terminal:
        return _WIDTH_OF_A_PIPE
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH, _WIDTH_MIN)
    except OSError:
        return _WIDTH


def _wants_colour(terminal: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"
