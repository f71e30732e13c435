"""The facts of a report, which code fills in from the task: a model writes only what the task cannot say.

Never reads more than what the run saw: a report rests on that alone.
"""

from typing import Any

from daemon.agents.tools.arguments import REPORT_FACTS
from daemon.agents.tools.model_interface import RunContext


def with_facts(report: dict[str, Any], context: RunContext) -> dict[str, Any]:
    """Return a report whose facts are those of the task at the beginning of the run."""
    task = context.task
    items = [item for item in task.items if not item.is_archived]
    facts: dict[str, Any] = {
        "title": task.title,
        "status": task.status,
        "priority": task.priority,
        "estimate": task.estimate_minutes,
        "due": task.due,
        "checklistProgress": {"total": len(items), "completed": sum(item.is_checked for item in items)},
        "lastUpdated": context.now.isoformat(timespec="seconds"),
    }
    assert facts.keys() == REPORT_FACTS
    return report | facts
