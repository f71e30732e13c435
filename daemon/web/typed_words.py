"""What a person typed into a form that could not be done: its words, to be copied from the answer.

Never returns a secret, or what no person types: only the fields that are listed here.
"""

import re
from collections.abc import Mapping
from typing import Final

from markupsafe import Markup, escape

from daemon.task_fields import form_fields
from daemon.web.decide.argument_words import argument_name
from daemon.words.translation import _

_ARGUMENT: Final = re.compile(r"arg\.([A-Za-z]{1,40})")
"""An argument of a proposal, by its name."""
_ASK_ARGUMENT: Final = re.compile(r"ask\.([0-9]{1,4})")
"""An argument of an ask, by its place on the page."""


def words_to_copy(form: Mapping[str, str]) -> list[tuple[str, Markup]]:
    """Return what a person typed into a form: the words of each field, and what is in it, as it was.

    What a form says that it was given before (`shown_NAME`) is nobody's words.
    """
    labels = _labels()
    named = [(_label(name, labels), name, text) for name, text in form.items()]
    return [
        (label, escape(text.replace("\r\n", "\n")))
        for label, name, text in named
        if label and text.strip() and text.split() != form.get(f"shown_{name}", "").split()
    ]


def _label(name: str, labels: Mapping[str, str]) -> str:
    """Return the words for a field; "" for one that nobody types into."""
    argument, ask_argument = _ARGUMENT.fullmatch(name), _ASK_ARGUMENT.fullmatch(name)
    if argument:
        return argument_name(argument[1])
    if ask_argument:
        return _("Argument {number}").format(number=int(ask_argument[1]) + 1)
    return labels.get(name, "")


def _labels() -> dict[str, str]:
    return {
        "line": _("New task"),
        "note": _("New note"),
        **{field.name: _(form.label) for field, form in form_fields(is_new=False).items() if form.label},
        "reason": _("Why"),
        "name": _("Name"),
        "exact": _("Arguments that must be exactly so, as JSON"),
        "begins": _("Beginnings of arguments, NAME=TEXT on each line"),
        "until": _("Until"),
    }
