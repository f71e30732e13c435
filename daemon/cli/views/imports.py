"""What an import took, and what it left out.

Never hides a line that was skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look

_BAR: Final = 30
_COUNTS: Final = (
    ("tasks", "task", "tasks"),
    ("checklist_items", "checklist item", "checklist items"),
    ("entries", "note", "notes"),
    ("others", "other thing", "other things"),
    ("updated", "updated", "updated"),
    ("unchanged", "unchanged", "unchanged"),
)


def import_rows(report: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the counts by name, then each skipped line."""
    yield from ((key, report.get(key, 0)) for key, _, _ in _COUNTS)
    for one in report.get("skipped") or ():
        yield "skipped", one.get("line"), one.get("what"), one.get("why")


def underway_line(told: dict[str, Any]) -> str:
    """Draw how far an import is, over the line before; nothing is known while its file is being read."""
    tasks, done = int(told.get("tasks") or 0), int(told.get("done") or 0)
    filled = _BAR * done // tasks if tasks else 0
    words = f"{done} of {tasks} tasks" if tasks else "reading"
    return f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {words}\x1b[K"


def import_lines(report: dict[str, Any], dry_run: bool, look: Look) -> Iterator[str]:
    """Draw what was, or in a dry run what would be, imported."""
    counts = [(int(report.get(key) or 0), one, many) for key, one, many in _COUNTS]
    words = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    sign = look.paint(look.sign("✓"), "green")
    yield f"{sign} {'Would import' if dry_run else 'Imported'} {', '.join(words) or 'nothing'}"
    for one in report.get("skipped") or ():
        where = f"line {one['line']}: " if one.get("line") else ""
        what, why = shown(one.get("what") or ""), shown(one.get("why") or "")
        yield look.paint(f"  skipped {where}{what}: {why}", "yellow")
