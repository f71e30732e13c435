"""The embedded model: reads new notes by cue words, calls the same tools as any model, and keeps the report.

Never uses a network, a key, or anything but its context: the same context gives the same calls.
"""

from typing import Any

from daemon.agents.models.cues import FALLBACK, TABLES, Cues
from daemon.agents.models.interface import RunContext, TaskView, ToolCall, Turn
from daemon.agents.models.reading import Findings, Said, read_note
from daemon.agents.tools import BATCH_ITEMS_MAX

LIKE_MIN = 92.0
LISTED_MAX = 20
LEARNINGS_MAX = 5


class Rules:
    """The model that needs nothing."""

    __slots__ = ()

    name = "rules"

    async def turn(self, context: RunContext) -> Turn:
        """Propose what the new notes say and write the report; a second turn has nothing to add."""
        if context.exchanges:
            return Turn(())
        proposals = proposed(context)
        return Turn((*proposals, ToolCall("update_report", report(context))))


def proposed(context: RunContext) -> list[ToolCall]:
    """Return the calls for what the new notes say, oldest note first: the last word on a field counts."""
    cues = cues_for(context.task.language)
    latest = Findings()
    items: list[tuple[str, bool]] = []
    for note in context.notes:
        found = read_note(note.text, note.written_at, cues)
        items.extend(found.items)
        latest.due = found.due or latest.due
        latest.minutes = found.minutes or latest.minutes
        latest.priority = found.priority or latest.priority
        latest.title = found.title or latest.title
    return _field_calls(latest, context.task) + _item_calls(items, context.task)


def _field_calls(found: Findings, task: TaskView) -> list[ToolCall]:
    """Make the calls that set fields; urgency never lowers a priority."""
    calls = []
    if found.title:
        calls.append(_call("set_task_title", "title", found.title.value, found.title))
    if found.due:
        calls.append(_call("update_task_due_date", "dueDate", found.due.value, found.due))
    if found.minutes:
        calls.append(_call("update_task_estimate", "minutes", int(found.minutes.value), found.minutes))
    if found.priority and not task.priority < found.priority.value:
        calls.append(_call("update_task_priority", "priority", found.priority.value, found.priority))
    return calls


def _call(tool: str, argument: str, value: str | int, said: Said) -> ToolCall:
    return ToolCall(tool, {argument: value, "rationale": f"The note says: “{said.quote}”"})


def _item_calls(items: list[tuple[str, bool]], task: TaskView) -> list[ToolCall]:
    """Make the calls that add checklist items, leaving out what says the same as one that is there."""
    known = [item.title for item in task.items]
    new: list[dict[str, Any]] = []
    for title, checked in items:
        if not _is_like_any(title, known):
            known.append(title)
            new.append({"title": title, "isChecked": checked})
    batches = [new[at : at + BATCH_ITEMS_MAX] for at in range(0, len(new), BATCH_ITEMS_MAX)]
    return [
        ToolCall("add_multiple_checklist_items", {"items": batch, "rationale": "Listed in the note."})
        for batch in batches
    ]


def _is_like_any(title: str, known: list[str]) -> bool:
    """Say whether a title is one of those known, small differences in spelling aside; numbers must agree."""
    from rapidfuzz import fuzz  # imported here: it costs memory, and most wakes list nothing

    folded, numbers = title.casefold(), _with_digits(title)
    like = (other for other in known if _with_digits(other) == numbers)
    return any(fuzz.ratio(folded, other.casefold()) >= LIKE_MIN for other in like)


def _with_digits(written: str) -> list[str]:
    return [word for word in written.split() if any(sign.isdigit() for sign in word)]


def report(context: RunContext) -> dict[str, Any]:
    """Write the report from the task as it stands."""
    task = context.task
    items = [item for item in task.items if not item.is_archived]
    done = [item.title for item in items if item.is_checked]
    left = [item.title for item in items if not item.is_checked]
    old = context.report or {}
    return {
        "title": task.title,
        "tldr": _summary(task, len(done), len(items)),
        "goal": old.get("goal", ""),
        "status": task.status,
        "priority": task.priority,
        "estimate": task.estimate_minutes,
        "due": task.due,
        "achieved": done[:LISTED_MAX],
        "remaining": left[:LISTED_MAX],
        "learnings": _learnings(context),
        "checklistProgress": {"total": len(items), "completed": len(done)},
        "lastUpdated": context.now.isoformat(timespec="seconds"),
    }


def _summary(task: TaskView, done: int, total: int) -> str:
    parts = [f"{task.status}, {task.priority}"]
    if total:
        parts.append(f"{done} of {total} items done")
    if task.due:
        parts.append(f"due {task.due}")
    if task.estimate_minutes:
        parts.append(f"about {task.estimate_minutes} min")
    return "; ".join(parts) + "."


def _learnings(context: RunContext) -> list[str]:
    """Say what the person turned down, and why where they said so."""
    told = []
    for decision in context.decisions:
        if decision.verdict == "rejected":
            shown = ", ".join(str(value) for value in decision.args.values())
            why = f" ({decision.reason})" if decision.reason else ""
            told.append(f"Rejected: {decision.tool}({shown}){why}"[:300])
    return told[-LEARNINGS_MAX:]


def cues_for(language: str | None) -> Cues:
    """Return the table of a language, English where there is none."""
    return TABLES.get(language or "", FALLBACK)
