"""Sentences about proposals, made by code from normalised arguments.

Never contains a model's own words: those are shown beside it, as the rationale.
"""

from daemon.agents.tools import ADD_CHECKLIST_ITEM, Arguments


def summary(tool: str, args: Arguments) -> str:
    """Say what confirming a proposal would do, in one line."""
    match tool:
        case "set_task_title":
            return f'Set title to "{args.get("title")}"'
        case "update_task_estimate":
            return f"Set estimate to {args.get('minutes')} minutes"
        case "update_task_due_date":
            return f"Set due date to {args.get('dueDate')}"
        case "update_task_priority":
            return f"Set priority to {args.get('priority')}"
        case "add_checklist_item":
            return f'Add: "{args.get("title")}"' + (" (checked)" if args.get("isChecked") is True else "")
    return f"{tool} (from a newer version of Placet)"


def already_so(tool: str, args: Arguments) -> str:
    """Answer a proposal of what is already so (DOMAIN.md §3, Redundancy)."""
    match tool:
        case "set_task_title":
            return f'title is already "{args["title"]}"'
        case "update_task_estimate":
            return f"estimate is already {args['minutes']} minutes"
        case "update_task_due_date":
            return f"due date is already {args['dueDate']}"
        case "update_task_priority":
            return f"priority is already {args['priority']}"
    return f'"{args["title"]}" already exists on the task'


def field_name(field: str) -> str:
    """Name a field of a task as people do."""
    return _FIELDS.get(field, field)


_FIELDS = {"estimate_minutes": "estimate in minutes", "due": "due date"}


def subject(tool: str, args: Arguments) -> str:
    """Name what a proposal is about, for a line that says why it was skipped."""
    return f'"{args["title"]}"' if tool == ADD_CHECKLIST_ITEM else "this"
