"""What an import took, and what it left out.

Never hides that a line was skipped: of many for one reason a person gets the number, and a script each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.text import shown
from daemon.cli.words import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look

_BAR: Final = 30
_SKIPPED_MAX: Final = 20
_NAMED_MAX: Final = 3
_COUNTS: Final = ("tasks", "checklist_items", "entries", "others", "updated", "unchanged")


def import_rows(report: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the counts by name, then each skipped line."""
    yield from ((key, report.get(key, 0)) for key in _COUNTS)
    for one in report.get("skipped") or ():
        yield "skipped", one.get("line"), one.get("what"), one.get("why")


def underway_line(told: dict[str, Any]) -> str:
    """Draw how far an import is, over the line before; nothing is known while its file is being read."""
    tasks, done = int(told.get("tasks") or 0), int(told.get("done") or 0)
    filled = _BAR * done // tasks if tasks else 0
    words = _("reading")
    if tasks:
        words = ngettext("{done} of {count} task", "{done} of {count} tasks", tasks)
        words = words.format(done=done, count=tasks)
    return f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {words}\x1b[K"


def import_lines(report: dict[str, Any], dry_run: bool, look: Look) -> Iterator[str]:
    """Draw what was, or in a dry run what would be, imported."""
    counts = [(key, int(report.get(key) or 0)) for key in _COUNTS]
    told = [_counted(key, count) for key, count in counts if count]
    is_new = any(count for key, count in counts if key != "unchanged")
    what = ", ".join(told if is_new else [_("nothing"), *told])
    said = _("Would import {what}") if dry_run else _("Imported {what}")
    yield f"{look.paint(look.sign('✓'), 'green')} {said.format(what=what)}"
    yield from (look.paint(f"  {line}", "yellow") for line in _skipped_lines(report.get("skipped") or ()))


def _skipped_lines(skipped: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Name each that was skipped; of more than a screen of them, the first for each reason."""
    seen: dict[str, int] = {}
    for one in skipped:
        why = str(one.get("why") or "")
        seen[why] = seen.get(why, 0) + 1
        if len(skipped) <= _SKIPPED_MAX or seen[why] <= _NAMED_MAX:
            yield _skipped(one)
    for why, count in seen.items():
        if len(skipped) > _SKIPPED_MAX and count > _NAMED_MAX:
            yield f"{_('and {count} more').format(count=count - _NAMED_MAX)}: {shown(why)}"


def _counted(key: str, count: int) -> str:
    """Say how many of what, each with its plural."""
    words = {
        "tasks": ngettext("{count} task", "{count} tasks", count),
        "checklist_items": ngettext("{count} checklist item", "{count} checklist items", count),
        "entries": ngettext("{count} note", "{count} notes", count),
        "others": ngettext("{count} other thing", "{count} other things", count),
        "updated": ngettext("{count} updated", "{count} updated", count),
        "unchanged": ngettext("{count} unchanged", "{count} unchanged", count),
    }
    return words[key].format(count=count)


def _skipped(one: dict[str, Any]) -> str:
    what, why = shown(one.get("what") or ""), shown(one.get("why") or "")
    where = _("line {number}: ").format(number=one["line"]) if one.get("line") else ""
    return _("skipped {what}: {why}").format(what=where + what, why=why)
