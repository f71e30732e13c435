"""The facts of a report, which code fills in from the task: a model writes only what the task cannot say.

Never reads more than what the run saw: a report rests on that alone.
"""

from typing import Any

from daemon.agents.tools.arguments import REPORT_FACTS
from daemon.agents.tools.model_interface import RunContext, TaskView


def with_facts(report: dict[str, Any], context: RunContext) -> dict[str, Any]:
    """Return a report whose facts are those of the task at the beginning of the run."""
    facts = task_facts(context.task) | {"lastUpdated": context.now.isoformat(timespec="seconds")}
    assert facts.keys() == REPORT_FACTS
    return report | facts


def task_facts(task: TaskView) -> dict[str, Any]:
    """Return what a report says of its task that code knows."""
    items = [item for item in task.items if not item.is_archived]
    return {
        "title": task.title,
        "status": task.status,
        "priority": task.priority,
        "estimate": task.estimate_minutes,
        "due": task.due,
        "checklistProgress": {"total": len(items), "completed": sum(item.is_checked for item in items)},
    }
