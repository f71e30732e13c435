"""Arguments that a person wrote in place of those proposed, as JSON.

Never judges them: the daemon does, as it judges an agent's.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final, NoReturn

from daemon.cli.refusals import Refusal
from daemon.cli.words import _

_DEPTH_MAX: Final = 32
_EXAMPLE: Final = """'{"minutes": 90}'"""


def arguments_from(text: str, where: str) -> dict[str, Any]:
    """Read an object of arguments; `where` says what they stand in. Raises `Refusal`."""
    try:
        edit = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise _unusable(_("{where} is nested too deeply").format(where=where)) from error
    except ValueError as error:
        raise _unusable(_("{where} is not JSON: {error}").format(where=where, error=error)) from error
    if not isinstance(edit, dict) or not edit:
        raise _unusable(_("{where} is not an object of arguments").format(where=where))
    if _is_deep(edit):
        raise _unusable(_("{where} is nested too deeply").format(where=where))
    return edit


def _unusable(seen: str) -> Refusal:
    return Refusal("usage", seen, _("such as {example}").format(example=_EXAMPLE))


def _no_number(written: str) -> NoReturn:
    raise ValueError(_("{written} is no number").format(written=written))


def _finite(written: str) -> float:
    number = float(written)
    return number if isfinite(number) else _no_number(written)


def _is_deep(edit: dict[str, Any]) -> bool:
    """Say whether it nests deeper than any argument does, and than it can be sent on."""
    level: list[Any] = [edit]
    for _level in range(_DEPTH_MAX):
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level = [one for several in inner for one in several if isinstance(one, dict | list)]
    return bool(level)
