"""What is said of an import, on a terminal and on the page: what it took, what it left out, how far it is.

Never hides that a line was skipped: of many for one reason a person gets the number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.words.sentences import answer_words
from daemon.words.terminal_text import escape
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from daemon.shapes.others import FaultyJson, SkippedJson

IMPORT_COUNTS: Final = ("tasks", "checklist_items", "entries", "others", "updated", "unchanged", "removed")
_SKIPPED_MAX: Final = 20
_NAMED_MAX: Final = 3


def counts_words(report: Mapping[str, Any]) -> str:
    """Say how many of what came new, was updated, was there before, or is left out."""
    counts = [(key, int(report.get(key) or 0)) for key in IMPORT_COUNTS]
    texts = [_count_words(key, count) for key, count in counts if count]
    if left_out := len(report.get("skipped") or ()):
        texts.append(ngettext("{count} left out", "{count} left out", left_out).format(count=left_out))
    is_new = any(count for key, count in counts if key not in ("unchanged", "removed"))
    return ", ".join(texts if is_new else [_("nothing"), *texts])


def progress_words(tasks: int, count: int) -> str:
    """Say how far an import is; nothing is known while its file is being read."""
    if not tasks:
        return _("reading")
    return ngettext("{done} of {count} task", "{done} of {count} tasks", tasks).format(
        done=count, count=tasks
    )


def skipped_lines(skipped: Sequence[SkippedJson]) -> Iterator[str]:
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


def remark_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Name what was read otherwise than meant, what the file no longer has, and what is faulty."""
    remarks = [*(report.get("remarks") or ()), *(report.get("gone") or ())]
    faulty = report.get("faulty") or ()
    yield from (_place_words(fields) + _named_words(fields) for fields in remarks[:_SKIPPED_MAX])
    if len(remarks) > _SKIPPED_MAX:
        yield _("and {count} more").format(count=len(remarks) - _SKIPPED_MAX)
    for fields in faulty:
        reason = escape(answer_words(fields, "why"))
        yield _("left out, since it is faulty: {why}").format(why=_place_words(fields) + reason)


def _count_words(key: str, count: int) -> str:
    """Say how many of what, each with its plural."""
    words = {
        "tasks": ngettext("{count} task", "{count} tasks", count),
        "checklist_items": ngettext("{count} checklist item", "{count} checklist items", count),
        "entries": ngettext("{count} note", "{count} notes", count),
        "others": ngettext("{count} other thing", "{count} other things", count),
        "updated": ngettext("{count} updated", "{count} updated", count),
        "unchanged": ngettext("{count} unchanged", "{count} unchanged", count),
        "removed": ngettext("{count} removed here", "{count} removed here", count),
    }
    return words[key].format(count=count)


def _skipped_line(fields: SkippedJson) -> str:
    what, reason = escape(answer_words(fields, "what")), escape(answer_words(fields, "why"))
    return _("skipped {what}: {why}").format(what=_place_words(fields) + what, why=reason)


def _named_words(fields: SkippedJson) -> str:
    return f"{escape(answer_words(fields, 'what'))}: {escape(answer_words(fields, 'why'))}"


def _place_words(fields: SkippedJson | FaultyJson) -> str:
    return _("line {number}: ").format(number=fields["line"]) if fields.get("line") else ""
