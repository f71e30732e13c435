"""The names of a tool's arguments, in words.

Never judges a value.
"""

from typing import Any, Final

from daemon.words.values import field_words, value_words

_EVIDENCE: Final = "evidenceIds"
"""Ids of notes: the proposal shows the notes themselves."""
_FIELD_BY_ARGUMENT: Final = {
    "dueDate": "due",
    "minutes": "estimate_minutes",
    "languageCode": "language",
    "isChecked": "is_checked",
    "isArchived": "is_archived",
}


def argument_name(name: str) -> str:
    """Say what an argument is called."""
    return field_words(_field(name))


def argument_lines(arguments: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what a call asked for: a name and a value a line, one for each part of a list."""
    lines = []
    for name, value in arguments.items():
        if name == _EVIDENCE:
            continue
        parts = value if isinstance(value, list) else [value]
        lines += [(argument_name(name), _part_words(part, name)) for part in parts]
    return lines


def _part_words(value: Any, name: str) -> str:
    if not isinstance(value, dict):
        return value_words(value, _field(name))
    named = [(str(key), part) for key, part in value.items() if key != _EVIDENCE]
    if not named:
        return value_words(None)
    # The first says what it is about; of the others only what is not plain.
    first, *others = named
    words = [value_words(first[1], _field(first[0]))]
    words += [f"{argument_name(key)}: {value_words(part, _field(key))}" for key, part in others if part]
    return ", ".join(words)


def edit_words(edited: Any) -> str:
    """Say what a person put in place of an agent's arguments; "" if nothing."""
    if not isinstance(edited, dict):
        return ""
    named = [(str(name), value) for name, value in edited.items() if name != "id"]
    return ", ".join(f"{argument_name(name)} {value_words(value, _field(name))}" for name, value in named)


def _field(name: str) -> str:
    return _FIELD_BY_ARGUMENT.get(name, name)
