"""Reads the arguments, as JSON, that a person wrote in place of the proposed ones.

Never judges them: the daemon does, as for an agent's arguments.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NoReturn

from daemon.cli.api.command_error import CommandError
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEPTH_MAX: Final = 32
_EXAMPLE: Final = """'{"minutes": 90}'"""


def parse_arguments(text: str, where: str) -> dict[str, Any]:
    """Parse an object of arguments; `where` names its source. Raises `CommandError`."""
    try:
        edit = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise _unusable(_("{where} is nested too deeply").format(where=where)) from error
    except json.JSONDecodeError as error:
        # The words of the error are Python's own, in English: the place says more.
        place = _("line {number}, column {column}").format(number=error.lineno, column=error.colno)
        raise _unusable(_("{where} is not JSON: {error}").format(where=where, error=place)) from error
    except ValueError as error:
        raise _unusable(_("{where} is not JSON: {error}").format(where=where, error=error)) from error
    if not isinstance(edit, dict) or not edit:
        raise _unusable(_("{where} is not an object of arguments").format(where=where))
    if _is_deep(edit):
        raise _unusable(_("{where} is nested too deeply").format(where=where))
    return edit


def edit_in_editor(args: Mapping[str, Any], drafts: dict[str, str], key: str, name: str) -> dict[str, Any]:
    """Let a person edit arguments in their own editor; return those they wrote, none if all are as before.

    `drafts` keeps what was written under `key`, for another attempt; `name` begins the name of the file.
    Raises `CommandError`.
    """
    from daemon.cli.terminal.editor import edit_text

    with edit_text(drafts.get(key) or _draft(args), name, ".json") as text:
        drafts[key] = text
    # A blank line in the place of a remark: a fault is named by its line in the editor.
    lines = ("" if line.startswith("#") else line for line in text.splitlines())
    edit = parse_arguments("\n".join(lines), _("what you wrote"))
    is_same = all(
        field in args and _canonical_text(args[field]) == _canonical_text(value)
        for field, value in edit.items()
    )
    return {} if is_same else edit


def _draft(args: Mapping[str, Any]) -> str:
    words = _("# The arguments; what you leave as it is stays.")
    return f"{words}\n{json.dumps(args, indent=2, ensure_ascii=False)}\n"


def _canonical_text(value: object) -> str:
    # For Python 1 and true are equal.
    return json.dumps(value, sort_keys=True)


def _unusable(text: str) -> CommandError:
    return CommandError("usage", text, _("such as {example}").format(example=_EXAMPLE))


def _no_number(text: str) -> NoReturn:
    raise ValueError(_("{written} is no number").format(written=text))


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _no_number(text)


def _is_deep(edit: dict[str, Any]) -> bool:
    """Return whether it is nested deeper than any argument, and too deep to be sent."""
    level: list[Any] = [edit]
    for _level in range(_DEPTH_MAX):
        inner = [element.values() if isinstance(element, dict) else element for element in level]
        level = [element for several in inner for element in several if isinstance(element, dict | list)]
    return bool(level)
