"""Small exports for the tests of importing, and what can be read of a plan.

Never taken from a real file.
"""

import json
from typing import Any

from daemon.formats.core.plan import Plan, PlannedTask


def record(number: int = 1, **attributes: Any) -> dict[str, Any]:
    """Return a Taskwarrior record as a program would write it."""
    base = {
        "id": number,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "description": f"task {number}",
        "entry": "20260102T030405Z",
        "status": "pending",
        "urgency": number / 10,
    }
    return base | attributes


def export(*records: dict[str, Any]) -> str:
    """Return an export as Taskwarrior prints it: a list with one record a line."""
    return "[\n" + ",\n".join(json.dumps(fields) for fields in records) + "\n]\n"


def items(task: PlannedTask) -> list[tuple[bool, str]]:
    """Return the lines of a task's checklists."""
    return [(item.is_checked, item.title) for checklist in task.checklists for item in checklist.items]


def everything(plan: Plan) -> str:
    """Return all text that a plan keeps."""
    texts: list[str] = []
    for task in plan.tasks:
        texts += [task.title, *(title for _, title in items(task)), *(entry.text for entry in task.entries)]
    return "\n".join(texts)


def keys(plan: Plan) -> list[str]:
    """Return the keys of all elements of a plan."""
    texts: list[str] = []
    for task in plan.tasks:
        lines = [item.key for checklist in task.checklists for item in checklist.items]
        texts += [task.key, *(checklist.key for checklist in task.checklists), *lines]
        texts += [*(entry.key for entry in task.entries), *(link.key for link in task.links)]
    return texts
