"""The tools of the door: what each is for, and the JSON schemas of its arguments and its answer.

Never names the agent in an argument: its name is given when the door is started.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final, NamedTuple

from daemon.cli.mcp.change_arguments import argument_line

WAIT_S_MAX: Final = 50
CHANGES_MAX: Final = 10
TITLE_CHARS_MAX: Final = 200
NAME_CHARS_MAX: Final = 100
MARK_CHARS: Final = 16
"""How much of a random name a door adds to the names of executions, after a blank."""
EXECUTION_CHARS_MAX: Final = 200 - MARK_CHARS - 1
DATES_CHARS_MAX: Final = 500
VALID_MINUTES_MAX: Final = 7 * 24 * 60
INSTRUCTIONS: Final = (
    "Placet is a person's task journal. Nothing that you propose is done until the person confirms it. Do "
    "not wait for that: end your turn, and call get_decisions when you begin again. Use a permission only by "
    "use_permission, and act only if it answers granted."
)


class ToolEntry(NamedTuple):
    """A tool: what it does, the properties of its arguments, those it needs, and whether it only reads."""

    name: str
    description: str
    properties: dict[str, Any]
    required: tuple[str, ...] = ()
    reads: bool = False


def _text(description: str, longest: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": description}


def _whole(description: str, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "description": description}


def _ids(description: str) -> dict[str, Any]:
    return {"type": "array", "items": _text("An id.", 64), "maxItems": 30, "description": description}


_WAIT: Final = _whole("How many seconds to wait for a decision; 0 is best.", 0, WAIT_S_MAX)
_KEY: Final = _text("Your own name for this request: a retry with the same key changes nothing.", 200)
_KEY_OF_ASK: Final = (
    "Your own name for this request: the same key is the same ask, until its permission is used."
)
_WHY: Final = {"type": "string", "maxLength": 2000, "description": "Your reason, in your own words."}
_TASK: Final = _text("The id of a task.", 200)
_TASK_OR_NONE: Final = "The id of the task that they are about; left out if each is add_task."

TOOLS: Final = (
    ToolEntry(
        "find_tasks",
        "Find tasks by words in them; without words, list open tasks.",
        {
            "query": {"type": "string", "maxLength": 500, "description": "Words to look for."},
            "limit": _whole("How many tasks at most.", 1, 20),
        },
        reads=True,
    ),
    ToolEntry(
        "show_task",
        "Show a task: its notes, checklist and dates, your open proposals, and the last decisions on them.",
        {"task": _TASK},
        ("task",),
        True,
    ),
    ToolEntry(
        "read_dates",
        "Tell which days, times and lengths words mean, and what comes again. Never reckon days yourself.",
        {
            "text": _text("Words in English, German, Spanish, French or Romanian.", DATES_CHARS_MAX),
            "moment": _text("When the words were written, in ISO 8601; now if left out.", 40),
            "zone": _text("The time zone, such as Europe/Berlin; the person's if left out.", 64),
        },
        ("text",),
        True,
    ),
    ToolEntry(
        "propose_changes",
        "Propose changes to a task, or new tasks. Each waits until the person confirms it; none is done now.",
        {
            "task": _TASK | {"description": _TASK_OR_NONE},
            "changes": {"type": "array", "minItems": 1, "maxItems": CHANGES_MAX},
            "key": _KEY,
            "wait_s": _WAIT,
        },
        ("changes", "key"),
    ),
    ToolEntry(
        "ask_permission",
        "Ask for permission to do something outside the journal, once. The person sees the arguments.",
        {
            "action": {
                "type": "object",
                "properties": {
                    "name": _text("What you want to do, such as send_mail.", NAME_CHARS_MAX),
                    "args": {"type": "object", "description": "All that it depends on."},
                },
                "required": ["name", "args"],
                "additionalProperties": False,
            },
            "title": _text("One line for the person.", TITLE_CHARS_MAX),
            "why": _WHY,
            "options": {
                "type": "array",
                "items": _text("An answer that the person may choose.", 100),
                "maxItems": 6,
            },
            "valid_minutes": _whole("How long you could use the permission.", 1, VALID_MINUTES_MAX),
            "key": _KEY | {"description": _KEY_OF_ASK},
            "wait_s": _WAIT,
        },
        ("action", "title", "valid_minutes", "key"),
    ),
    ToolEntry(
        "use_permission",
        "Use a permission, once. Act only if the result is granted, and with the args of the answer.",
        {
            "ask": _text("The id of the ask.", 64),
            "args_hash": _text("The args_hash of the ask as get_decisions shows it.", 64),
            "execution_id": _text(
                "Your own name for this execution: only a retry of it, on this connection, is granted again.",
                EXECUTION_CHARS_MAX,
            ),
        },
        ("ask", "args_hash", "execution_id"),
    ),
    ToolEntry(
        "get_decisions",
        "Tell what the person decided: on the named sets and asks, or on all since a position.",
        {
            "since": _whole("The `next` of the last answer; 0 is the beginning.", 0, 1 << 53),
            "sets": _ids("Sets of changes that you proposed."),
            "asks": _ids("Permissions that you asked for."),
            "wait_s": _WAIT,
        },
        reads=True,
    ),
    ToolEntry(
        "withdraw",
        "Take back proposals of a set, or an ask, on which nobody has decided.",
        {
            "set": _text("The id of a set.", 64),
            "items": _ids("Items of the set; all if none is named."),
            "ask": _text("The id of an ask.", 64),
            "reason": _WHY,
        },
    ),
)


def input_schema(tool: ToolEntry, callable_tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a tool's arguments. `callable_tools` are those that a change may call."""
    properties = dict(tool.properties)
    if "changes" in properties:
        properties["changes"] = properties["changes"] | {"items": _change_schema(callable_tools)}
    return {
        "type": "object",
        "properties": properties,
        "required": list(tool.required),
        "additionalProperties": False,
    }


def output_schema(tool: ToolEntry) -> dict[str, Any]:
    """Return the schema of what a tool answers: the keys that may be there, and what is in them."""
    schema: dict[str, Any] = _answer_schemas()[tool.name]
    return schema


@cache
def _answer_schemas() -> dict[str, Any]:
    # The hooks know this module too, and need no file of it.
    from importlib.resources import files

    text = (files(__package__) / "answer_schemas.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _change_schema(callable_tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Describe a change. The daemon checks its arguments and refuses each by itself, in words."""
    described = "\n".join(f"{tool['name']}: {tool['description']}" for tool in callable_tools)
    named = {"enum": [tool["name"] for tool in callable_tools]} if callable_tools else {}
    words = "".join(f"\n{argument_line(tool)}" for tool in callable_tools)
    return {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "description": described, **named},
            "args": {"type": "object", "description": f"The arguments of the tool.{words}"},
            "why": _WHY,
        },
        "required": ["tool", "args"],
        "additionalProperties": False,
    }
