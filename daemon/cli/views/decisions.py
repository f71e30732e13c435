"""The history of decisions: who decided what, when and where, why, and how it stands now.

Never shows a decision that no longer counts as if it did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli import names
from daemon.cli.proposals import summary
from daemon.cli.short import shorts
from daemon.cli.text import cells, padded, shown, wrapped
from daemon.cli.views.values import author_words, field_words, headed, quoted_words, value_words
from daemon.cli.when import ago
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Decision

_WIDTH_MAX: Final = 88
_INDENT: Final = "  "
_ROW_KEYS: Final = (
    "seq",
    "item_id",
    "task_id",
    "tool",
    "verdict",
    "by",
    "device_name",
    "at",
    "reason",
    "via",
    "status",
    "disputed",
    "summary",
)
_STYLES: Final = {"confirmed": "green", "rejected": "red", "undone": "yellow", "deferred": "yellow"}
# A verdict and the status that it leaves, where that is not the same word.
_LEAVES: Final = {"undone": "rejected", "reopened": "pending"}


def decision_rows(decisions: Iterable[Decision]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet decisions --help` names."""
    for one in decisions:
        yield tuple(one.get(key) for key in _ROW_KEYS)


def decision_list(decisions: Sequence[Decision], look: Look) -> Iterator[str]:
    """Draw the decisions, newest first: the verdict and the proposal, then who, where and when, then why."""
    ids = shorts(decisions, "item_id")
    wide = max((cells(names.proposal_status(one.get("verdict"))) for one in decisions), default=0)
    for one in decisions:
        yield from _decision(one, shown(ids.get(str(one.get("item_id")), "")), wide, look)


def _decision(one: Decision, short: str, wide: int, look: Look) -> Iterator[str]:
    verdict = str(one.get("verdict") or "")
    width = min(look.width, _WIDTH_MAX)
    words = padded(names.proposal_status(verdict), wide)
    margin = " " * (wide + 2)
    said = wrapped(shown(_proposed(one)), max(width - len(margin) - cells(short) - 2, wide))
    style = _STYLES.get(verdict, "dim") if one.get("counts", True) else "dim"
    yield f"{look.paint(words, style)}  {look.paint(short, 'cyan')}  {said[0]}"
    yield from (f"{margin}{' ' * (cells(short) + 2)}{line}" for line in said[1:])
    for line in _below(one, look):
        yield from (margin + look.paint(part, "dim") for part in wrapped(line, width - len(margin)))
    stands, style = _stands(one)
    for line in wrapped(stands, width - len(margin)) if stands else ():
        yield margin + look.paint(line, style)


def _proposed(one: Decision) -> str:
    as_item: Any = one
    return summary(as_item)


def _below(one: Decision, look: Look) -> Iterator[str]:
    who = author_words(one.get("by"), one.get("device_name") or one.get("device"))
    title = shown(one.get("task_title") or "")
    parts = [ago(one.get("at"), look.now_s), who, *([quoted_words(title)] if title else ())]
    yield f" {look.sign('·')} ".join(filter(None, parts))
    if one.get("edited_args"):
        yield _("with: {arguments}").format(arguments=_arguments(one["edited_args"]))
    if one.get("reason"):
        yield _("why: {why}").format(why=one["reason"])


def _arguments(edited: object) -> str:
    """Say edited arguments by their names."""
    if not isinstance(edited, dict):
        return shown(edited)
    return ", ".join(f"{headed(_argument(name))}{value_words(value)}" for name, value in edited.items())


def _argument(name: str) -> str:
    return field_words(_FIELDS.get(name, name))


_FIELDS: Final[Mapping[str, str]] = {
    "dueDate": "due",
    "isChecked": "is_checked",
    "isArchived": "is_archived",
    "languageCode": "language",
}


def _stands(one: Decision) -> tuple[str, str]:
    """Say how the proposal stands now where this decision does not say it, and in which colour."""
    if one.get("disputed"):
        return _("disputed: your devices decided differently"), "red"
    verdict, status = str(one.get("verdict") or ""), str(one.get("status") or "")
    if not status or status == _LEAVES.get(verdict, verdict):
        return "", ""
    return _("now: {status}").format(status=names.proposal_status(status)), "yellow"
