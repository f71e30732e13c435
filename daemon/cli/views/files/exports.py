"""What an export wrote.

Never shows the file itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.words.terminal_text import escape
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display

_BAR: Final = 30


def export_rows(fields: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the file, its format and its size."""
    yield fields["file"], fields["format"], fields["bytes"]


def export_lines(fields: dict[str, Any], display: Display) -> Iterator[str]:
    """Say where the file is and how large."""
    wrote = _("Wrote {file} ({size})").format(file=escape(fields["file"]), size=size_words(fields["bytes"]))
    yield f"{display.paint(display.symbol('✓'), 'green')} {wrote}"


def progress_line(came: int, total: int) -> str:
    """Draw how far a file is, over the line before."""
    count = _BAR if came >= total else _BAR * came // total
    words = _("{came} of {whole}").format(came=size_words(came), whole=size_words(total))
    return f"\r[{'#' * count}{'.' * (_BAR - count)}] {words}\x1b[K"


def size_words(count: int) -> str:
    """Write a number of bytes for a person."""
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
