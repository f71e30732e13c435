"""Words for single values: fields, statuses, authors, before and after.

Never colours a value that is not escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli import names
from daemon.cli.text import cut, shown
from daemon.cli.when import due, minutes
from daemon.cli.words import _, named, said_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from daemon.cli.look import Look

STATUS_STYLES: Final = {
    "OPEN": (),
    "GROOMED": ("cyan",),
    "IN PROGRESS": ("green",),
    "BLOCKED": ("red",),
    "ON HOLD": ("yellow",),
    "DONE": ("dim",),
    "REJECTED": ("dim",),
}
PRIORITY_STYLES: Final = {"P0": ("red", "bold"), "P1": ("red",), "P3": ("dim",)}
named("source", "note", "transcript")


def source_word(source: object) -> str:
    """Say what kind of text a note is; what an import says of where it is from is shown as it came."""
    return said_of("source", shown(source))


# Fields whose values are names that Placet gives.
_NAMED: Final[Mapping[str, Callable[[object], str]]] = {
    "status": names.task_status,
    "lifecycle": names.agent_state,
    "mode": names.agent_state,
    "kind": names.agent_state,
    "verdict": names.proposal_status,
    "source": source_word,
}
_SOON_DAYS: Final = 2
_VALUE_WIDTH_MAX: Final = 200


def status_word(status: object) -> str:
    return names.task_status(status)


def due_word(value: object, look: Look) -> tuple[str, tuple[str, ...]]:
    """Say a due date, and colour it by how near it is."""
    words, days = due(value, look.now_s)
    if days is None:
        return words, ()
    return words, ("red",) if days < 0 else ("yellow",) if days <= _SOON_DAYS else ()


def value_words(value: object, field: str = "") -> str:
    """Say a field's value in a few words."""
    if value is None or value == "":
        return _("nothing")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if field in _NAMED:
        return _NAMED[field](value)
    if field == "estimate_minutes":
        return minutes(value)
    if isinstance(value, list):
        return ", ".join(value_words(one) for one in value) or _("nothing")
    if isinstance(value, dict):
        return ", ".join(f"{field_words(key)} {value_words(one, key)}" for key, one in value.items())
    return cut(shown(value), _VALUE_WIDTH_MAX)


def field_words(field: object) -> str:
    """Say a field's name: `is_checked` is "checked", `estimate_minutes` is "estimate"."""
    return names.field(field)


def headed(name: str) -> str:
    """Write a name before what it stands for, with the colon that its language has."""
    return _("{name}: ").format(name=name)


def quoted_words(text: object) -> str:
    """Put words of people between the quotation marks of the language."""
    return _("“{words}”").format(words=text)


def before_after(before: object, after: object, field: str, look: Look) -> str:
    """Say a change of one value, coloured as a diff is."""
    arrow = look.sign("→")
    if isinstance(before, dict) and isinstance(after, dict) and len(after) == 1:
        (field,) = after
        before, after = before.get(field), after[field]
    old = look.paint(value_words(before, field), "dim")
    return f"{old} {arrow} {look.paint(value_words(after, field), 'green')}"


def author_words(by: object, device: object = None) -> str:
    """Say who did something, and where: "agent on phone"."""
    who = names.author(by)
    return _("{who} on {device}").format(who=who, device=shown(device)) if device else who
