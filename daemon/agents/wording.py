"""Sentences about proposals, made by code from normalised arguments.

Never takes a model's rationale for a summary: that is shown beside it, as the agent's words.
"""

from collections.abc import Mapping

from daemon.agents.tools import TOOLS, Arguments, Writes

_SUMMARIES: Mapping[str, str] = {
    "set_task_title": 'Set title to "{title}"',
    "update_task_estimate": "Set estimate to {minutes} minutes",
    "update_task_due_date": "Set due date to {dueDate}",
    "update_task_priority": "Set priority to {priority}",
    "set_task_status": "Set status to {status}",
    "set_task_language": "Set language to {languageCode}",
    "assign_task_label": "Assign label: {name}",
    "add_checklist_item": 'Add: "{title}"',
}
_ALREADY: Mapping[str, str] = {
    "set_task_title": 'title is already "{title}"',
    "update_task_estimate": "estimate is already {minutes} minutes",
    "update_task_due_date": "due date is already {dueDate}",
    "update_task_priority": "priority is already {priority}",
    "set_task_status": "status is already {status}",
    "set_task_language": "language is already {languageCode}",
    "assign_task_label": "{name} is already assigned",
    "add_checklist_item": '"{title}" already exists on the task',
}
_UPDATES: Mapping[tuple[str, bool], str] = {
    ("isChecked", True): "Check off: {name}",
    ("isChecked", False): "Uncheck: {name}",
    ("isArchived", True): "Archive: {name}",
    ("isArchived", False): "Unarchive: {name}",
}
_STANDS: Mapping[tuple[str, bool], str] = {
    ("isChecked", True): "is already checked",
    ("isChecked", False): "is already unchecked",
    ("isArchived", True): "is already archived",
    ("isArchived", False): "is not archived",
}


def summary(tool: str, args: Arguments, name: str | None = None) -> str:
    """Say what confirming a proposal would do, in one line; `name` is what its target is called now."""
    known = TOOLS.get(tool)
    if known is not None and known.writes is Writes.ITEM:
        return _update(args, _quoted(name, args))
    pattern = _SUMMARIES.get(tool)
    if pattern is None:
        return f"{tool} (from a newer version of Placet)"
    return _filled(pattern, args, name) + _more(tool, args)


def _update(args: Arguments, called: str) -> str:
    """Say each thing that an update does."""
    parts = [
        pattern.replace("{name}", called)
        for (field, value), pattern in _UPDATES.items()
        if args.get(field) is value
    ]
    if "title" in args:
        parts.append(f'Reword {called} as "{args["title"]}"')
    return "; ".join(parts)


def _more(tool: str, args: Arguments) -> str:
    if tool == "add_checklist_item" and args.get("isChecked") is True:
        return " (checked)"
    if tool == "set_task_status" and args.get("reason"):
        return f' (reason: "{args["reason"]}")'
    return ""


class _Given(dict[str, object]):
    """Arguments that may lack one: what another version proposed is still put into words."""

    def __missing__(self, key: str) -> str:
        return "?"


def _filled(pattern: str, args: Arguments, name: str | None) -> str:
    return pattern.format_map(_Given(args, name=_quoted(name, args)))


def _quoted(name: str | None, args: Arguments) -> str:
    return f'"{name}"' if name else str(args.get("id", "?"))


def already_so(tool: str, args: Arguments, name: str | None = None) -> str:
    """Answer a proposal of what is already so (DOMAIN.md §3, Redundancy)."""
    if TOOLS[tool].writes is not Writes.ITEM:
        return _filled(_ALREADY[tool], args, name)
    stands = [words for (field, value), words in _STANDS.items() if args.get(field) is value]
    return f"{_quoted(name, args)} {' and '.join(stands) or 'has that title already'}"


def field_name(field: str) -> str:
    """Name a field of a task as people do."""
    return _FIELDS.get(field, field)


_FIELDS = {
    "estimate_minutes": "estimate in minutes",
    "due": "due date",
    "is_checked": "checked",
    "is_archived": "archived",
}


def subject(tool: str, args: Arguments, name: str | None = None) -> str:
    """Name what a proposal is about, for a line that says why it was skipped."""
    if TOOLS[tool].writes is Writes.NEW_ITEM:
        return f'"{args["title"]}"'
    return _filled(_OF_TASK[tool], args, name) if tool in _OF_TASK else _quoted(name, args)


_OF_TASK: Mapping[str, str] = {
    "set_task_title": 'the title "{title}"',
    "update_task_estimate": "an estimate of {minutes} minutes",
    "update_task_due_date": "the due date {dueDate}",
    "update_task_priority": "the priority {priority}",
    "set_task_status": "the status {status}",
    "set_task_language": "the language {languageCode}",
}
