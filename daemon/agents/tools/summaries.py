"""Sentences about proposals, made by code from normalised arguments.

Never uses a model's rationale as the summary: people see it beside the summary, as the agent's words.
"""

from collections.abc import Mapping

from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.table import (
    ADD_CHECKLIST_ITEM,
    ADD_TASK,
    ANSWER_QUESTION,
    ASSIGN_TASK_LABEL,
    REMOVE_TASK_LABEL,
    SET_TASK_STATUS,
    TOOLS,
    WriteTarget,
)
from store.sentence import Param, Sentence, sentence

_SUMMARIES: Mapping[str, tuple[Sentence, str, str]] = {
    "set_task_title": (sentence("propose-title", 'Set title to "{title}"'), "title", "title"),
    "update_task_estimate": (
        sentence("propose-estimate", "Set estimate to {minutes} minutes"),
        "minutes",
        "minutes",
    ),
    "update_task_due_date": (sentence("propose-due-date", "Set due date to {day}"), "day", "dueDate"),
    "update_task_priority": (
        sentence("propose-priority", "Set priority to {priority}"),
        "priority",
        "priority",
    ),
    "set_task_status": (sentence("propose-status", "Set status to {status}"), "status", "status"),
    "set_task_language": (
        sentence("propose-language", "Set language to {language}"),
        "language",
        "languageCode",
    ),
    "add_checklist_item": (sentence("propose-item", 'Add: "{title}"'), "title", "title"),
}
"""By tool: what it proposes, the placeholder, and the argument that fills it."""
_CLEARED: Mapping[str, Sentence] = {
    "clear_task_due_date": sentence("propose-no-due-date", "Take the due date away"),
    "clear_task_estimate": sentence("propose-no-estimate", "Take the estimate away"),
}
_ALREADY: Mapping[str, str] = {
    "clear_task_due_date": "there is no due date",
    "clear_task_estimate": "there is no estimate",
    "set_task_title": 'title is already "{title}"',
    "update_task_estimate": "estimate is already {minutes} minutes",
    "update_task_due_date": "due date is already {dueDate}",
    "update_task_priority": "priority is already {priority}",
    "set_task_status": "status is already {status}",
    "set_task_language": "language is already {languageCode}",
    "assign_task_label": "{name} is already assigned",
    "remove_task_label": "the task does not have the label {name}",
    "add_task": 'a task "{title}" is open already',
    "add_checklist_item": '"{title}" already exists on the task',
    "answer_question": "it changes nothing",
}
_UPDATES: Mapping[tuple[str, bool], Sentence] = {
    ("isChecked", True): sentence("propose-check-off", "Check off: {name}"),
    ("isChecked", False): sentence("propose-uncheck", "Uncheck: {name}"),
    ("isArchived", True): sentence("propose-archive", "Archive: {name}"),
    ("isArchived", False): sentence("propose-unarchive", "Unarchive: {name}"),
}
_ALREADY_OF_ITEM: Mapping[tuple[str, bool], str] = {
    ("isChecked", True): "is already checked",
    ("isChecked", False): "is already unchecked",
    ("isArchived", True): "is already archived",
    ("isArchived", False): "is not archived",
}


def proposal_summary(tool: str, args: Arguments, name: str | None = None) -> str:
    """Return in one line of English what confirming a proposal would do."""
    return proposal_sentence(tool, args, name).text


def proposal_sentence(tool: str, args: Arguments, name: str | None = None) -> Sentence:
    """Return what confirming a proposal would do. `name` is the current name of its target."""
    definition = TOOLS.get(tool)
    if definition is not None and definition.writes is WriteTarget.ITEM:
        return _update_sentence(args, _quoted_name(name, args))
    if tool == ASSIGN_TASK_LABEL:
        return sentence("propose-label", "Assign label: {name}", name=_quoted_name(name, args))
    if tool == REMOVE_TASK_LABEL:
        return sentence("propose-no-label", "Take the label away: {name}", name=_quoted_name(name, args))
    if tool in _CLEARED:
        return _CLEARED[tool]
    if tool == ADD_TASK:
        return _new_task_sentence(args)
    if tool == ANSWER_QUESTION:
        return sentence("propose-nothing", "Change nothing")
    if tool not in _SUMMARIES:
        return sentence("propose-by-newer-version", "{tool} (from a newer version of Placet)", tool=tool)
    if tool == ADD_CHECKLIST_ITEM and args.get("isChecked") is True:
        return sentence("propose-checked-item", 'Add: "{title}" (checked)', title=_value(args, "title"))
    if tool == SET_TASK_STATUS and args.get("reason"):
        return sentence(
            "propose-status-with-reason",
            'Set status to {status} (reason: "{reason}")',
            status=_value(args, "status"),
            reason=_value(args, "reason"),
        )
    template, placeholder, argument = _SUMMARIES[tool]
    return template._replace(params={placeholder: _value(args, argument)})


def _update_sentence(args: Arguments, called: Param) -> Sentence:
    """Return the parts of an update, one per change, joined by semicolons. `called` is the target's name."""
    parts = [
        template._replace(params={"name": called})
        for (field, value), template in _UPDATES.items()
        if args.get(field) is value
    ]
    if "title" in args:
        parts.append(
            sentence(
                "propose-title-of-item",
                'Reword {name} as "{title}"',
                name=called,
                title=_value(args, "title"),
            )
        )
    return parts[0] if len(parts) == 1 else sentence("propose-updates", "{parts}", parts=tuple(parts))


def _new_task_sentence(args: Arguments) -> Sentence:
    """Return the title of a new task, and what it starts with, joined by semicolons."""
    parts = [sentence("propose-task", 'New task: "{title}"', title=_value(args, "title"))]
    for tool in ("update_task_due_date", "update_task_priority", "update_task_estimate"):
        template, placeholder, argument = _SUMMARIES[tool]
        if argument in args:
            parts.append(template._replace(params={placeholder: _value(args, argument)}))
    return parts[0] if len(parts) == 1 else sentence("propose-updates", "{parts}", parts=tuple(parts))


def _value(args: Arguments, argument: str) -> str:
    """Return an argument as text; a proposal of another version may lack it."""
    return str(args.get(argument, "?"))


def _quoted_name(name: str | None, args: Arguments) -> Param:
    return sentence("quoted-name", '"{name}"', name=name) if name else _value(args, "id")


class _ArgumentsWithGaps(dict[str, object]):
    """Arguments of which one may be missing, so that a proposal of another version still gets a summary."""

    def __missing__(self, key: str) -> str:
        return "?"


def _fill(pattern: str, args: Arguments, name: str | None) -> str:
    return pattern.format_map(_ArgumentsWithGaps(args, name=_quoted_text(name, args)))


def _quoted_text(name: str | None, args: Arguments) -> str:
    return f'"{name}"' if name else str(args.get("id", "?"))


def already_so_answer(tool: str, args: Arguments, name: str | None = None) -> str:
    """Return the answer to a model for a proposal whose values are already in place."""
    if TOOLS[tool].writes is not WriteTarget.ITEM:
        return _fill(_ALREADY[tool], args, name)
    states = [words for (field, value), words in _ALREADY_OF_ITEM.items() if args.get(field) is value]
    return f"{_quoted_text(name, args)} {' and '.join(states) or 'has that title already'}"


def field_label(field: str) -> Sentence | str:
    """Return the name that people use for a field of a task."""
    return _FIELDS.get(field, field)


_FIELDS = {
    "estimate_minutes": sentence("field-estimate", "estimate in minutes"),
    "due": sentence("field-due", "due date"),
    "is_checked": sentence("field-checked", "checked"),
    "is_archived": sentence("field-archived", "archived"),
}


def proposal_subject(tool: str, args: Arguments, name: str | None = None) -> str:
    """Return what a proposal is about, for a line that explains why it was skipped."""
    if TOOLS[tool].writes in (WriteTarget.NEW_ITEM, WriteTarget.NEW_TASK):
        return f'"{args["title"]}"'
    return _fill(_TASK_SUBJECTS[tool], args, name) if tool in _TASK_SUBJECTS else _quoted_text(name, args)


_TASK_SUBJECTS: Mapping[str, str] = {
    "set_task_title": 'the title "{title}"',
    "update_task_estimate": "an estimate of {minutes} minutes",
    "update_task_due_date": "the due date {dueDate}",
    "update_task_priority": "the priority {priority}",
    "set_task_status": "the status {status}",
    "set_task_language": "the language {languageCode}",
    "clear_task_due_date": "taking the due date away",
    "clear_task_estimate": "taking the estimate away",
    "remove_task_label": "taking the label {name} away",
    "answer_question": 'the question "{question}"',
}
