"""The report of the `rules` model: the current state of the task, in the task's language.

Never reports what is not in the context: no confidence, and only those learnings that a person stated. Times
of new notes that were passed over are named in the notes' own words.
"""

from collections.abc import Sequence
from typing import Any

from daemon.agents.models.rules.lexicon.cue_table import ModelWording
from daemon.agents.models.rules.unread_times import worth_saying
from daemon.agents.tools.model_interface import DecisionView, RunContext, TaskView

REPORT_ITEMS_MAX = 20
LEARNINGS_MAX = 5
REPORT_LINE_CHARS_MAX = 300
_SETTLING = frozenset({"confirmed", "rejected", "undone", "reopened"})
_ASIDE = frozenset({"id", "isChecked", "isArchived", "reason", "evidenceIds", "confidence"})


def build_report(context: RunContext, wording: ModelWording, unread: Sequence[str] = ()) -> dict[str, Any]:
    """Return the report for the current state of the task; `unread` are times of which nothing was made."""
    task = context.task
    items = [item for item in task.items if not item.is_archived]
    titles = [item.title for item in items if item.is_checked]
    left = [item.title for item in items if not item.is_checked]
    old = context.report or {}
    return {
        "title": task.title,
        "tldr": _with_unread(_summary(task, len(titles), len(items), wording), unread, wording),
        "goal": old.get("goal", ""),
        "achieved": titles[:REPORT_ITEMS_MAX],
        "remaining": left[:REPORT_ITEMS_MAX],
        "learnings": _learnings(context, wording),
    }


def _with_unread(summary: str, unread: Sequence[str], wording: ModelWording) -> str:
    """Return the summary with the times that a person may want to look at, as far as there is room."""
    phrases = worth_saying(unread)
    sentence = wording.unsure.format(times=", ".join(phrases)) if phrases else ""
    longer = f"{summary} {sentence}".strip()
    return longer if len(longer) <= REPORT_LINE_CHARS_MAX else summary


def _summary(task: TaskView, count: int, total: int, wording: ModelWording) -> str:
    parts = [f"{wording.statuses.get(task.status, task.status)}, {task.priority}"]
    if task.status_reason:
        parts.append(wording.blocked.format(why=task.status_reason))
    if total:
        parts.append(wording.items.format(done=count, total=total))
    if task.due:
        parts.append(wording.due.format(due=task.due))
    if task.estimate_minutes:
        parts.append(wording.about.format(minutes=task.estimate_minutes))
    # Some end with an abbreviation, and its period is the sentence's too.
    return "; ".join(parts)[:REPORT_LINE_CHARS_MAX].removesuffix(".") + "."


def _learnings(context: RunContext, wording: ModelWording) -> list[str]:
    """Return the proposals that the person rejected, with reasons, unless they decided otherwise later."""
    last: dict[str, DecisionView] = {}
    for decision in context.decisions:
        if decision.verdict in _SETTLING:
            proposed = repr((decision.tool, sorted(decision.args.items())))
            last.pop(proposed, None)
            last[proposed] = decision
    turned_downs = [
        _rejection_line(decision_view, wording)
        for decision_view in last.values()
        if decision_view.verdict == "rejected"
    ]
    return turned_downs[-LEARNINGS_MAX:]


def _rejection_line(decision: DecisionView, wording: ModelWording) -> str:
    values = [str(value) for name, value in decision.args.items() if name not in _ASIDE]
    if decision.args.get("isChecked"):
        values.append("✓")
    values = [decision.subject_name, *values] if decision.subject_name else values
    what = " ".join([wording.tool_nouns.get(decision.tool, decision.tool), ", ".join(values)])
    reason = f" ({decision.reason})" if decision.reason else ""
    return wording.rejected.format(what=f"{what}{reason}")[:REPORT_LINE_CHARS_MAX]
