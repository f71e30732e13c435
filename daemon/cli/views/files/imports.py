"""What an import took, and what it left out.

Never hides that a line was skipped: of many for one reason a person gets the number, and a script each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.words.imports import (
    IMPORT_COUNTS,
    counts_words,
    progress_words,
    remark_lines,
    skipped_lines,
)
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.others import ImportResultJson

_BAR: Final = 30


def import_rows(report: ImportResultJson) -> Iterator[Sequence[object]]:
    """Give the counts by name, then each skipped line."""
    yield from ((key, report.get(key, 0)) for key in IMPORT_COUNTS)
    for skipped_line in report.get("skipped") or ():
        yield "skipped", skipped_line.get("line"), skipped_line.get("what"), skipped_line.get("why")
    for remark in report.get("remarks") or ():
        yield "remark", remark.get("line"), remark.get("what"), remark.get("why")
    for faulty in report.get("faulty") or ():
        yield "faulty", faulty.get("line"), faulty.get("why")


def underway_line(fields: dict[str, Any]) -> str:
    """Draw how far an import is, over the line before; nothing is known while its file is being read."""
    tasks, count = int(fields.get("tasks") or 0), int(fields.get("done") or 0)
    filled = _BAR * count // tasks if tasks else 0
    return f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {progress_words(tasks, count)}\x1b[K"


def import_lines(report: ImportResultJson, dry_run: bool, display: Display) -> Iterator[str]:
    """Draw what was, or in a dry run what would be, imported."""
    message = _("Would import {what}") if dry_run else _("Imported {what}")
    yield f"{display.paint(display.symbol('✓'), 'green')} {message.format(what=counts_words(report))}"
    lines = (*skipped_lines(report.get("skipped") or ()), *remark_lines(report))
    yield from (display.paint(f"  {line}", "yellow") for line in lines)
