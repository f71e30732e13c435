"""The arguments of a change in one line: their types, choices and bounds, and an example.

Never says more than the schema by which the daemon checks them, and never names an argument that it refuses.
"""

from __future__ import annotations

import json
from typing import Any, Final

_UNNAMED: Final = frozenset({"rationale"})
"""What a schema allows and the door asks for elsewhere: it is the `why` of the change."""
_ID: Final = "3f9a71c23f9a71c23f9a71c23f9a71c2"
EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "set_task_title": {"title": "Renew the passport"},
    "update_task_estimate": {"minutes": 90},
    "update_task_due_date": {"dueDate": "2027-03-15"},
    "clear_task_due_date": {},
    "clear_task_estimate": {},
    "update_task_priority": {"priority": "P1"},
    "set_task_status": {"status": "BLOCKED", "reason": "waits for Lena's answer"},
    "assign_task_label": {"id": _ID, "confidence": "high"},
    "remove_task_label": {"id": _ID},
    "assign_task_labels": {"labels": [{"id": _ID, "confidence": "high"}]},
    "add_checklist_item": {"title": "Take two photos"},
    "add_multiple_checklist_items": {"items": [{"title": "Take two photos"}, {"title": "Fill in the form"}]},
    "update_checklist_item": {"id": _ID, "isChecked": True},
    "update_checklist_items": {"items": [{"id": _ID, "isChecked": True}]},
    "add_task": {"title": "Call Ana", "dueDate": "2027-03-15"},
    "ask_question": {"question": "Which day?", "answers": [{"text": "Friday"}, {"text": "Monday"}]},
}
"""By tool, arguments that the daemon takes."""


def argument_line(tool: dict[str, Any]) -> str:
    """Return a tool's name, its arguments, and an example. `tool` is as the daemon describes it."""
    name, schema = tool["name"], tool["arguments"]
    example = EXAMPLES.get(name)
    shown = "" if example is None else f"; for example {json.dumps(example, ensure_ascii=False)}"
    return f"{name}: {_type_words(schema, schema.get('$defs', {}))}{shown}"


def _type_words(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """Return what a value may be, in the notation that models know from programs."""
    if reference := schema.get("$ref"):
        return _type_words(definitions[reference.rpartition("/")[2]], definitions)
    if choices := schema.get("enum"):
        return " | ".join(json.dumps(choice) for choice in choices)
    match schema.get("type"):
        case "object" if "properties" in schema:
            needed = schema.get("required", ())
            members = (
                f"{name}{'' if name in needed else '?'}: {_type_words(member, definitions)}"
                for name, member in schema["properties"].items()
                if name not in _UNNAMED
            )
            return f"{{{', '.join(members)}}}"
        case "array":
            return f"[{_type_words(schema['items'], definitions)}, ...]{_bounds(schema, 'Items')}"
        case "integer":
            return f"integer{_bounds(schema, 'imum')}"
        case "string":
            return _text_words(schema)
        case kind:
            return str(kind)


def _text_words(schema: dict[str, Any]) -> str:
    pattern = schema.get("pattern", "")
    if r"\d{4}-\d{2}-\d{2}" in pattern:
        return '"YYYY-MM-DD"'
    if "[0-9a-f]{32}" in pattern:
        return "id of 32 digits"
    return f"string{_bounds(schema, 'Length')}"


def _bounds(schema: dict[str, Any], measure: str) -> str:
    """Return the bounds of a value, such as " (1 to 20)"; nothing if only one is set."""
    least, most = schema.get(f"min{measure}"), schema.get(f"max{measure}")
    return "" if least is None or most is None else f" ({least} to {most})"
