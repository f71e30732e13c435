"""A form made of what an agent asks: a person changes arguments before permitting the action.

Never offers an argument that the agent did not name, and never cuts one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from daemon.refusal import usage_error
from daemon.web.decide.ask_rows import visible_json, visible_line
from daemon.words.terminal_text import escape
from store.sentence import sentence

PREFIX: Final = "ask."
_ROWS_MAX: Final = 8
_ROW_CHARS: Final = 60
_QUOTED_CHARS: Final = 80
_NAME_CHARS: Final = 100


@dataclass(frozen=True, slots=True)
class AskField:
    """One argument of an ask. Its `lines` are JSON, unless it is text that shows all that is in it."""

    name: str
    label: str
    lines: list[str]
    rows: int
    is_json: bool


def ask_fields(args: Mapping[str, Any], typed: Mapping[str, str]) -> list[AskField]:
    """Return the fields of an ask's form, filled with what was typed, else with what is asked."""
    fields = []
    for number, (name, value) in enumerate(sorted(args.items())):
        lines = _typed_text(typed, number, _shown_text(value)).split("\n")
        rows = sum(1 + len(line) // _ROW_CHARS for line in lines)
        fields.append(
            AskField(f"{PREFIX}{number}", name, lines, min(rows, _ROWS_MAX), not _is_plain_text(value))
        )
    return fields


def edited_ask_arguments(args: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments that a person changed in the form. Raises Refused for what is no JSON."""
    edited: dict[str, Any] = {}
    for number, (name, value) in enumerate(sorted(args.items())):
        shown = _shown_text(value)
        text = _typed_text(form, number, shown)
        if text != shown:
            edited[name] = text if _is_plain_text(value) else _parse(name, text)
    return edited


def _typed_text(form: Mapping[str, str], number: int, shown: str) -> str:
    # A browser ends each line of a field with both characters.
    return form.get(f"{PREFIX}{number}", shown).replace("\r\n", "\n")


def _is_plain_text(value: object) -> bool:
    """Report whether a value is text of which a field of a form hides and changes nothing."""
    return isinstance(value, str) and all(escape(line) == line for line in value.split("\n"))


def _shown_text(value: Any) -> str:
    if _is_plain_text(value):
        return str(value)
    if not isinstance(value, dict | list):
        return visible_json(value)
    lines = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2).split("\n")
    return "\n".join(map(visible_line, lines))


def _parse(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise usage_error(
            sentence(
                "ask-argument-json",
                "{name}: {text!r} is no JSON; put text in quotation marks",
                name=name[:_NAME_CHARS],
                text=text[:_QUOTED_CHARS],
            )
        ) from None
