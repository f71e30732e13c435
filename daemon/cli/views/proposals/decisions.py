"""The history of decisions: who decided what, when and where, why, and how it stands now.

Never shows a decision that no longer counts as if it did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.views.journal.agent_words import argument_lines
from daemon.cli.views.proposals.asks import RULE_ID_CHARS
from daemon.words import terms
from daemon.words.dates import relative_time
from daemon.words.proposals import LACKS, VERDICTS_ON_ASKS, summary_words, verdict_words
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import display_width, escape, pad_right, wrap_lines
from daemon.words.translation import _
from daemon.words.values import author_words, field_words, in_quotation_marks, value_words, with_colon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import DecisionJson

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
# A verdict and the status that it leaves, if that is not the same word.
_LEAVES: Final = {"undone": "rejected", "reopened": "pending"}
_LEAVES_OF_ASKS: Final = {"undone": "refused"}


def decision_rows(decisions: Iterable[DecisionJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet decisions --help` names."""
    for decision in decisions:
        yield tuple(decision.get(key) for key in _ROW_KEYS)


def decision_list(decisions: Sequence[DecisionJson], display: Display) -> Iterator[str]:
    """Draw the decisions, newest first: the verdict and the proposal, then who, where and when, then why."""
    ids = short_ids_of(decisions, "item_id")
    wide = max((display_width(verdict_words(decision)) for decision in decisions), default=0)
    for listed in decisions:
        yield from _decision(listed, escape(ids.get(str(listed.get("item_id")), "")), wide, display)


def _decision(decision: DecisionJson, short: str, wide: int, display: Display) -> Iterator[str]:
    verdict = str(decision.get("verdict") or "")
    width = min(display.width, _WIDTH_MAX)
    words = pad_right(verdict_words(decision), wide)
    margin = " " * (wide + 2)
    wrapped = wrap_lines(
        escape(_proposal_words(decision)), max(width - len(margin) - display_width(short) - 2, wide)
    )
    style = _STYLES.get(verdict, "dim") if decision.get("counts", True) else "dim"
    yield f"{display.paint(words, style)}  {display.paint(short, 'cyan')}  {wrapped[0]}"
    yield from (f"{margin}{' ' * (display_width(short) + 2)}{line}" for line in wrapped[1:])
    for line in _details(decision, display):
        yield from (margin + display.paint(part, "dim") for part in wrap_lines(line, width - len(margin)))
    yield from (margin + line for line in argument_lines(decision, width - len(margin), display))
    stands, style = _stands(decision, short)
    for line in wrap_lines(stands, width - len(margin)) if stands else ():
        yield margin + display.paint(line, style)


def _proposal_words(decision: DecisionJson) -> str:
    as_item: Any = decision
    return summary_words(as_item)


def _details(decision: DecisionJson, display: Display) -> Iterator[str]:
    who = author_words(decision.get("by"), decision.get("device_name") or decision.get("device"))
    title = escape(decision.get("task_title") or "")
    parts = [
        relative_time(decision.get("at"), display.now_s),
        who,
        *([in_quotation_marks(title)] if title else ()),
    ]
    yield f" {display.symbol('·')} ".join(filter(None, parts))
    if decision.get("question"):
        answer = in_quotation_marks(escape(decision.get("answer") or ""))
        is_chosen = decision.get("verdict") == "confirmed"
        yield " ".join([escape(decision["question"] or ""), *([answer] if is_chosen else [])])
    if decision.get("edited_args"):
        yield _("with: {arguments}").format(arguments=_arguments(decision["edited_args"]))
    if decision.get("rule"):
        yield _("by your rule {rule}").format(rule=escape(str(decision["rule"])[:RULE_ID_CHARS]))
    if decision.get("reason"):
        yield _("why: {why}").format(why=decision["reason"])


def _arguments(edited: object) -> str:
    """Say edited arguments by their names."""
    if not isinstance(edited, dict):
        return escape(edited)
    return ", ".join(f"{with_colon(_argument(name))}{value_words(value)}" for name, value in edited.items())


def _argument(name: str) -> str:
    return field_words(_FIELDS.get(name, name))


_FIELDS: Final[Mapping[str, str]] = {
    "dueDate": "due",
    "isChecked": "is_checked",
    "isArchived": "is_archived",
    "languageCode": "language",
}


def _stands(decision: DecisionJson, short: str) -> tuple[str, str]:
    """Return the proposal's status now if this decision does not say it, and its colour."""
    if decision.get("lacks") in LACKS:
        return LACKS[str(decision["lacks"])](), "yellow"
    if decision.get("disputed"):
        return _("disputed: your devices decided differently"), "red"
    if decision.get("without_effect") and decision.get("can_take_effect") is False:
        return _("confirmed, and can take no effect: placet undo {item}").format(item=short), "red"
    if decision.get("without_effect"):
        return _("confirmed, and not in effect: placet confirm {item}").format(item=short), "red"
    verdict, status = str(decision.get("verdict") or ""), str(decision.get("status") or "")
    if decision.get("is_ask"):
        verdict = VERDICTS_ON_ASKS.get(verdict, _LEAVES_OF_ASKS.get(verdict, verdict))
    if not status or status == _LEAVES.get(verdict, verdict):
        return "", ""
    return _("now: {status}").format(status=terms.proposal_status(status)), "yellow"
