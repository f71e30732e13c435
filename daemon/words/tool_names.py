"""What the tools of agents are called where a person says what an agent may do.

Never names an action of another program: it is shown as it came.
"""

from __future__ import annotations

from typing import Final

from daemon.words.translation import _, gettext_noop

_NAMES: Final = {
    "set_task_title": gettext_noop("change the title"),
    "update_task_estimate": gettext_noop("set the length"),
    "clear_task_estimate": gettext_noop("take the length away"),
    "update_task_due_date": gettext_noop("set the due date"),
    "clear_task_due_date": gettext_noop("take the due date away"),
    "update_task_priority": gettext_noop("set the priority"),
    "set_task_status": gettext_noop("set the status"),
    "assign_task_label": gettext_noop("add labels"),
    "assign_task_labels": gettext_noop("add labels"),
    "remove_task_label": gettext_noop("take labels off"),
    "set_task_language": gettext_noop("say which language the task is in"),
    "add_checklist_item": gettext_noop("add steps"),
    "add_multiple_checklist_items": gettext_noop("add steps"),
    "update_checklist_item": gettext_noop("tick, reword and archive steps"),
    "update_checklist_items": gettext_noop("tick, reword and archive steps"),
    "add_task": gettext_noop("propose new tasks"),
    "ask_question": gettext_noop("ask questions"),
    "update_report": gettext_noop("write its report"),
    "record_observations": gettext_noop("keep observations for later"),
    "retract_proposals": gettext_noop("take its proposals back"),
}


def tool_words(tool: str) -> str:
    """Say what a tool does, "set the due date"; of what is no tool of Placet, its name."""
    return _(_NAMES[tool]) if tool in _NAMES else tool
