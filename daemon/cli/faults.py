"""What is wrong with the arguments that a person wrote for a proposal, in words.

Never hides a fault that it does not know: it is told as it came.
"""

from __future__ import annotations

import re
from typing import Final

from daemon.cli.words import named, said_of

_WHERE: Final = re.compile(r"(?:\w+: )?(?P<fault>.*?)(?: - at `\$\.(?P<name>[^`]+)`)?", re.DOTALL)
_FORMS: Final = {
    r"Expected `int` (?:>=|>) (?P<limit>\d+)": "{name} has to be {limit} or more",
    r"Expected `int` (?:<=|<) (?P<limit>\d+)": "{name} has to be {limit} or less",
    r"Expected `str` of length >= 1": "{name} cannot be empty",
    r"Expected `str` of length <= (?P<limit>\d+)": "{name} has to have {limit} characters or less",
    r"Expected `int`, got .*": "{name} has to be a whole number",
    r"Expected `str`, got .*": "{name} has to be a text",
    r"Expected `bool`, got .*": "{name} has to be true or false",
    r"(?P<name>dueDate) .* is not a real calendar date .*": "{name} has to be a day such as 2026-03-15",
    r"Expected `str` matching regex .*d\{4\}.*": "{name} has to be a day such as 2026-03-15",
    r"Expected `str` matching regex .*0-9a-f.*": "{name} has to be a whole id",
    r"Invalid enum value (?P<value>.*)": "{name} cannot be {value}",
    r"Object contains unknown field `(?P<name>.*)`": "it has no argument {name}",
    r"Object missing required field `(?P<name>.*)`": "it lacks the argument {name}",
}
named(
    "fault",
    "{name} has to be {limit} or more",
    "{name} has to be {limit} or less",
    "{name} cannot be empty",
    "{name} has to have {limit} characters or less",
    "{name} has to be a whole number",
    "{name} has to be a text",
    "{name} has to be true or false",
    "{name} has to be a day such as 2026-03-15",
    "{name} has to be a whole id",
    "{name} cannot be {value}",
    "it has no argument {name}",
    "it lacks the argument {name}",
)


def fault_words(told: str) -> str:
    """Say what is wrong with arguments; `told` is what their type says, for a model."""
    where = _WHERE.fullmatch(told)
    if where is None:
        return told
    for pattern, form in _FORMS.items():
        if found := re.fullmatch(pattern, where["fault"], re.DOTALL):
            given = {"name": where["name"]} | found.groupdict()
            if given["name"] is not None:
                return said_of("fault", form).format(**given)
    return told
