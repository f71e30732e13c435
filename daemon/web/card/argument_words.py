"""The names of a tool's arguments, in words.

Never judges a value.
"""

from typing import Any, Final

from daemon.cli.wording.values import field_words, value_words

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


def edit_words(edited: Any) -> str:
    """Say what a person put in place of an agent's arguments; "" if nothing."""
    if not isinstance(edited, dict):
        return ""
    named = [(str(name), value) for name, value in edited.items() if name != "id"]
    return ", ".join(f"{argument_name(name)} {value_words(value, _field(name))}" for name, value in named)


def _field(name: str) -> str:
    return _FIELD_BY_ARGUMENT.get(name, name)
