"""A form made of a tool's arguments: a person changes what an agent proposed before confirming it.

Never offers what a proposal is about: an edit cannot change the label or the item that it names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import msgspec

from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.table import ANSWER_QUESTION, TOOLS
from daemon.journal.human_input import HumanInput
from daemon.journal.tasks import TaskEdit
from daemon.web.decide.argument_words import argument_name
from daemon.words import terms
from daemon.words.terminal_text import escape
from daemon.words.translation import _

PREFIX: Final = "arg."
_YES, _NO = "true", "false"
_LONG_CHARS: Final = 120
# What an agent says of itself is not a person's to put right.
_AGENTS_OWN: Final = frozenset({"confidence"})


@dataclass(frozen=True, slots=True)
class ArgumentField:
    """One field of the form. `choices` are pairs of a value and its words; without any, it is typed."""

    name: str
    label: str
    value: str
    choices: list[tuple[str, str]]
    is_long: bool
    length_max: int


def argument_fields(tool: str, args: Arguments, typed: Mapping[str, str]) -> list[ArgumentField]:
    """Return the fields of a proposal's form, filled with what was typed, else with what is proposed."""
    return [
        _field(name, schema, typed.get(PREFIX + name, _shown_value(name, args.get(name))))
        for name, schema in _editable(tool).items()
    ]


def edited_arguments(tool: str, args: Arguments, form: Mapping[str, str], typed: HumanInput) -> Arguments:
    """Return the arguments that a person changed in the form; days and lengths as people type them.

    Raises Refused if a day or a length cannot be read.
    """
    edited: Arguments = {}
    for name, schema in _editable(tool).items():
        text = form.get(PREFIX + name, "").strip()
        # What was left empty stays as it is proposed: no argument of a tool means "nothing".
        # The page shows characters that hide or reorder text as codes, and a browser sends those back.
        if text and text != escape(_shown_value(name, args.get(name)).strip()):
            edited[name] = _value(name, schema, text, typed)
    return edited


@cache
def _editable(tool: str) -> dict[str, dict[str, Any]]:
    """Return the schemas of the arguments that a person can change; none of a tool that is not known here."""
    if tool not in TOOLS or tool == ANSWER_QUESTION:
        return {}
    arguments = TOOLS[tool].arguments
    properties = msgspec.json.schema(arguments)["$defs"][arguments.__name__]["properties"]
    return {
        name: schema
        for name, schema in properties.items()
        if name != "id"
        and name not in _AGENTS_OWN
        and ("enum" in schema or schema.get("type") in ("string", "integer", "boolean"))
    }


def _field(name: str, schema: dict[str, Any], value: str) -> ArgumentField:
    choices: list[tuple[str, str]] = []
    if "enum" in schema:
        choices = [(word, terms.task_status(word) if name == "status" else word) for word in schema["enum"]]
    elif schema["type"] == "boolean":
        choices = [(_YES, _("yes")), (_NO, _("no"))]
    if choices and not value:
        choices = [("", _("as it is")), *choices]
    length_max = int(schema.get("maxLength", 100))
    label = argument_name(name)
    return ArgumentField(name, label, value, choices, length_max > _LONG_CHARS, length_max)


def _shown_value(name: str, value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return _YES if value else _NO
        case int() if name == "minutes":
            return f"{value} min"
    return str(value)


def _value(name: str, schema: dict[str, Any], text: str, typed: HumanInput) -> object:
    if name == "dueDate":
        return typed.read_task_edit(TaskEdit(due=text)).due
    if name == "minutes":
        return typed.read_task_edit(TaskEdit(estimate_minutes=text)).estimate_minutes
    if schema.get("type") == "boolean":
        return text == _YES
    return text
