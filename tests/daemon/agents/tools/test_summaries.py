"""Summaries and answers made by code, word for word.

Never needs a store: a sentence follows from tool, arguments and the name of the target.
"""

from typing import Any

import pytest

from daemon.agents.tools.summaries import already_so_answer, field_label, proposal_subject, proposal_summary
from daemon.agents.tools.table import TOOLS

ID = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("tool", "args", "name", "text"),
    [
        ("update_task_estimate", {"minutes": 120}, None, "Set estimate to 120 minutes"),
        ("set_task_title", {"title": "Fix login bug"}, None, 'Set title to "Fix login bug"'),
        ("set_task_title", {"title": "{title} {0}"}, None, 'Set title to "{title} {0}"'),
        ("update_task_due_date", {"dueDate": "2026-03-15"}, None, "Set due date to 2026-03-15"),
        ("update_task_priority", {"priority": "P1"}, None, "Set priority to P1"),
        ("set_task_status", {"status": "IN PROGRESS"}, None, "Set status to IN PROGRESS"),
        (
            "set_task_status",
            {"status": "BLOCKED", "reason": "Ann is away"},
            None,
            'Set status to BLOCKED (reason: "Ann is away")',
        ),
        ("set_task_language", {"languageCode": "de"}, None, "Set language to de"),
        ("add_checklist_item", {"title": "Design mockup", "isChecked": False}, None, 'Add: "Design mockup"'),
        ("add_checklist_item", {"title": "x", "isChecked": True}, None, 'Add: "x" (checked)'),
        ("assign_task_label", {"id": ID}, "bug", 'Assign label: "bug"'),
        ("assign_task_label", {"id": ID}, None, f"Assign label: {ID}"),
        ("update_checklist_item", {"id": ID, "isChecked": True}, "Write tests", 'Check off: "Write tests"'),
        ("update_checklist_item", {"id": ID, "isChecked": False}, "Write tests", 'Uncheck: "Write tests"'),
        ("update_checklist_item", {"id": ID, "isArchived": True}, "{name}", 'Archive: "{name}"'),
        (
            "update_checklist_item",
            {"id": ID, "isArchived": False, "title": "New"},
            "Old",
            'Unarchive: "Old"; Reword "Old" as "New"',
        ),
        ("send_mail", {"to": "all"}, None, "send_mail (from a newer version of Placet)"),
        ("set_task_title", {}, None, 'Set title to "?"'),
    ],
)
def test_a_summary_follows_from_the_arguments(
    tool: str, args: dict[str, Any], name: str | None, text: str
) -> None:
    assert proposal_summary(tool, args, name) == text


def test_a_summary_never_holds_the_models_own_words() -> None:
    args = {"title": "x", "rationale": "trust me", "reason": "trust me"}
    assert "trust me" not in proposal_summary("set_task_title", args)


@pytest.mark.parametrize("tool", [name for name, tool in TOOLS.items() if tool.deferrable])
def test_every_deferrable_tool_has_its_sentences(tool: str) -> None:
    args = {"title": "x", "minutes": 5, "dueDate": "2026-03-15", "priority": "P1", "status": "OPEN"}
    args |= {"id": ID, "isChecked": True, "languageCode": "de", "confidence": "high"}
    args["question"] = "Which day suits."
    for text in (
        proposal_summary(tool, args, "a name"),
        already_so_answer(tool, args, "a name"),
        proposal_subject(tool, args, "a name"),
    ):
        assert text
        assert "?" not in text
        assert "newer version" not in text


@pytest.mark.parametrize(
    ("field", "text"), [("title", "title"), ("due", "due date"), ("is_checked", "checked")]
)
def test_fields_are_named_as_people_do(field: str, text: str) -> None:
    label = field_label(field)
    assert (label if isinstance(label, str) else label.text) == text
