"""The report of the `rules` model: the task as it stands, in the task's language.

Never tells what is not in the context: it claims no confidence, and has learned but what a person said.
"""

from typing import Any

from daemon.agents.models.cues import Wording
from daemon.agents.models.interface import DecisionView, RunContext, TaskView

LISTED_MAX = 20
LEARNINGS_MAX = 5
LINE_CHARS_MAX = 300
_SETTLING = frozenset({"confirmed", "rejected", "undone", "reopened"})
_ASIDE = frozenset({"id", "isChecked", "isArchived", "reason", "evidenceIds", "confidence"})


def report(context: RunContext, wording: Wording) -> dict[str, Any]:
    """Write the report from the task as it stands."""
    task = context.task
    items = [item for item in task.items if not item.is_archived]
    done = [item.title for item in items if item.is_checked]
    left = [item.title for item in items if not item.is_checked]
    old = context.report or {}
    return {
        "title": task.title,
        "tldr": _summary(task, len(done), len(items), wording),
        "goal": old.get("goal", ""),
        "status": task.status,
        "priority": task.priority,
        "estimate": task.estimate_minutes,
        "due": task.due,
        "achieved": done[:LISTED_MAX],
        "remaining": left[:LISTED_MAX],
        "learnings": _learnings(context, wording),
        "checklistProgress": {"total": len(items), "completed": len(done)},
        "lastUpdated": context.now.isoformat(timespec="seconds"),
    }


def _summary(task: TaskView, done: int, total: int, wording: Wording) -> str:
    parts = [f"{task.status}, {task.priority}"]
    if task.status_reason:
        parts.append(wording.blocked.format(why=task.status_reason))
    if total:
        parts.append(wording.items.format(done=done, total=total))
    if task.due:
        parts.append(wording.due.format(due=task.due))
    if task.estimate_minutes:
        parts.append(wording.about.format(minutes=task.estimate_minutes))
    # Some end with an abbreviation, and its period is the sentence's too.
    return "; ".join(parts)[:LINE_CHARS_MAX].removesuffix(".") + "."


def _learnings(context: RunContext, wording: Wording) -> list[str]:
    """Say what the person turned down, and why where they said so; not what they think better of since."""
    last: dict[str, DecisionView] = {}
    for decision in context.decisions:
        if decision.verdict in _SETTLING:
            proposed = repr((decision.tool, sorted(decision.args.items())))
            last.pop(proposed, None)
            last[proposed] = decision
    told = [_turned_down(one, wording) for one in last.values() if one.verdict == "rejected"]
    return told[-LEARNINGS_MAX:]


def _turned_down(decision: DecisionView, wording: Wording) -> str:
    values = [str(value) for name, value in decision.args.items() if name not in _ASIDE]
    if decision.args.get("isChecked"):
        values.append("✓")
    values = [decision.about, *values] if decision.about else values
    what = " ".join([wording.nouns.get(decision.tool, decision.tool), ", ".join(values)])
    why = f" ({decision.reason})" if decision.reason else ""
    return wording.rejected.format(what=f"{what}{why}")[:LINE_CHARS_MAX]
