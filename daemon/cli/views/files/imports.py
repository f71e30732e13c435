"""What an import took, and what it left out.

Never hides that a line was skipped: of many for one reason a person gets the number, and a script each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.text import escape
from daemon.cli.translation import _, ngettext
from daemon.cli.wording.sentences import answer_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.api.other_shapes import ImportResultJson, SkippedJson
    from daemon.cli.terminal.display import Display

_BAR: Final = 30
_SKIPPED_MAX: Final = 20
_NAMED_MAX: Final = 3
_COUNTS: Final = ("tasks", "checklist_items", "entries", "others", "updated", "unchanged")


def import_rows(report: ImportResultJson) -> Iterator[Sequence[object]]:
    """Give the counts by name, then each skipped line."""
    yield from ((key, report.get(key, 0)) for key in _COUNTS)
    for skipped_line in report.get("skipped") or ():
        yield "skipped", skipped_line.get("line"), skipped_line.get("what"), skipped_line.get("why")


def underway_line(fields: dict[str, Any]) -> str:
    """Draw how far an import is, over the line before; nothing is known while its file is being read."""
    tasks, count = int(fields.get("tasks") or 0), int(fields.get("done") or 0)
    filled = _BAR * count // tasks if tasks else 0
    words = _("reading")
    if tasks:
        words = ngettext("{done} of {count} task", "{done} of {count} tasks", tasks)
        words = words.format(done=count, count=tasks)
    return f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {words}\x1b[K"


def import_lines(report: ImportResultJson, dry_run: bool, display: Display) -> Iterator[str]:
    """Draw what was, or in a dry run what would be, imported."""
    fields: dict[str, Any] = {**report}
    counts = [(key, int(fields.get(key) or 0)) for key in _COUNTS]
    texts = [_count_words(key, count) for key, count in counts if count]
    is_new = any(count for key, count in counts if key != "unchanged")
    what = ", ".join(texts if is_new else [_("nothing"), *texts])
    message = _("Would import {what}") if dry_run else _("Imported {what}")
    yield f"{display.paint(display.symbol('✓'), 'green')} {message.format(what=what)}"
    yield from (display.paint(f"  {line}", "yellow") for line in _skipped_lines(report.get("skipped") or ()))


def _skipped_lines(skipped: Sequence[SkippedJson]) -> Iterator[str]:
    """Name each that was skipped; of more than a screen of them, the first for each reason."""
    reason_counts: dict[str, int] = {}
    for fields in skipped:
        reason = answer_words(fields, "why")
        reason_counts[reason] = reason_counts.get(reason, 0) + 1
        if len(skipped) <= _SKIPPED_MAX or reason_counts[reason] <= _NAMED_MAX:
            yield _skipped_line(fields)
    for reason, count in reason_counts.items():
        if len(skipped) > _SKIPPED_MAX and count > _NAMED_MAX:
            yield f"{_('and {count} more').format(count=count - _NAMED_MAX)}: {escape(reason)}"


def _count_words(key: str, count: int) -> str:
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


def _skipped_line(fields: SkippedJson) -> str:
    what, reason = escape(answer_words(fields, "what")), escape(answer_words(fields, "why"))
    where = _("line {number}: ").format(number=fields["line"]) if fields.get("line") else ""
    return _("skipped {what}: {why}").format(what=where + what, why=reason)
