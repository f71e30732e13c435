"""What an export wrote.

Never shows the file itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.text import shown
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look

_BAR: Final = 30


def export_rows(told: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the file, its format and its size."""
    yield told["file"], told["format"], told["bytes"]


def export_lines(told: dict[str, Any], look: Look) -> Iterator[str]:
    """Say where the file is and how large."""
    wrote = _("Wrote {file} ({size})").format(file=shown(told["file"]), size=size(told["bytes"]))
    yield f"{look.paint(look.sign('✓'), 'green')} {wrote}"


def progress_line(came: int, whole: int) -> str:
    """Draw how far a file is, over the line before."""
    done = _BAR if came >= whole else _BAR * came // whole
    words = _("{came} of {whole}").format(came=size(came), whole=size(whole))
    return f"\r[{'#' * done}{'.' * (_BAR - done)}] {words}\x1b[K"


def size(count: int) -> str:
    """Write a number of bytes for a person."""
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
