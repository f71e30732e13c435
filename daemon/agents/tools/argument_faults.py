"""What is wrong with arguments, in sentences for a person; models read what msgspec reports.

Never hides a fault that it does not know: it is shown in the words of msgspec.
"""

import re
from typing import Final

import msgspec

from store.sentence import Sentence, foreign_text, sentence

VALUE_CHARS_MAX: Final = 80
"""How much is shown of a value that a person wrote."""

_PLACE: Final = re.compile(r"(?P<fault>.*?)(?: - at `\$\.(?P<name>[^`]+)`)?", re.DOTALL)
_SENTENCES: Final = {
    r"Expected `int` (?:>=|>) (?P<limit>\d+)": sentence(
        "argument-too-small", "{name} has to be {limit} or more"
    ),
    r"Expected `int` (?:<=|<) (?P<limit>\d+)": sentence(
        "argument-too-large", "{name} has to be {limit} or less"
    ),
    r"Expected `str` of length >= 1": sentence("argument-empty", "{name} cannot be empty"),
    r"Expected `str` of length <= (?P<limit>\d+)": sentence(
        "argument-too-long", "{name} has to have {limit} characters or less"
    ),
    r"Expected `int`, got .*": sentence("argument-not-whole", "{name} has to be a whole number"),
    r"Expected `str`, got .*": sentence("argument-not-text", "{name} has to be a text"),
    r"Expected `bool`, got .*": sentence("argument-not-bool", "{name} has to be true or false"),
    r"Expected `str` matching regex .*d\{4\}.*": sentence(
        "argument-not-a-day", "{name} has to be a day such as 2026-03-15"
    ),
    r"Expected `str` matching regex .*0-9a-f.*": sentence(
        "argument-not-an-id", "{name} has to be a whole id"
    ),
    r"Invalid enum value (?P<value>.*)": sentence(
        "argument-not-a-choice", "{name} cannot be {value}: it is one of {choices}"
    ),
    r"Object contains unknown field `(?P<name>.*)`": sentence(
        "argument-unknown", "it has no argument {name}"
    ),
    r"Object missing required field `(?P<name>.*)`": sentence(
        "argument-missing", "it lacks the argument {name}"
    ),
}
"""By what msgspec reports, the sentence for a person."""


def argument_fault(report: str, arguments: type[msgspec.Struct] | None = None) -> Sentence:
    """Return what is wrong with arguments. `report` is the message of msgspec's ValidationError.

    `arguments` is their type, which knows what an argument can be.
    """
    place = _PLACE.fullmatch(report)
    assert place is not None
    choices = ", ".join(argument_choices(report, arguments)) or None
    for pattern, template in _SENTENCES.items():
        if match := re.fullmatch(pattern, place["fault"], re.DOTALL):
            values = {"name": place["name"]} | match.groupdict()
            if "{choices}" in template.template:
                values["choices"] = choices
            if None not in values.values():
                params = {name: value[:VALUE_CHARS_MAX] for name, value in values.items()}
                return template._replace(params=params)
    return foreign_text(report)


def argument_choices(report: str, arguments: type[msgspec.Struct] | None) -> list[str]:
    """Return what the argument at fault can be, if it is one of a few words; else nothing."""
    place = _PLACE.fullmatch(report)
    if arguments is None or place is None or not place["fault"].startswith("Invalid enum value"):
        return []
    _, components = msgspec.json.schema_components([arguments])
    described = components[arguments.__name__]["properties"].get(place["name"], {})
    return [str(choice) for choice in described.get("enum", ())]
