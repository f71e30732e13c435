"""Words for single values: fields, statuses, authors, before and after.

Never colours a value that is not escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.text import cut, shown
from daemon.cli.when import due, minutes

if TYPE_CHECKING:
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
_SOON_DAYS: Final = 2
_VALUE_WIDTH_MAX: Final = 200


def status_word(status: object) -> str:
    return shown(status or "").lower()


def due_word(value: object, look: Look) -> tuple[str, tuple[str, ...]]:
    """Say a due date, and colour it by how near it is."""
    words, days = due(value, look.now_s)
    if days is None:
        return words, ()
    return words, ("red",) if days < 0 else ("yellow",) if days <= _SOON_DAYS else ()


def value_words(value: object, field: str = "") -> str:
    """Say a field's value in a few words."""
    if value is None or value == "":
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if field == "estimate_minutes":
        return minutes(value)
    if isinstance(value, list):
        return ", ".join(value_words(one) for one in value) or "nothing"
    if isinstance(value, dict):
        return ", ".join(f"{field_words(key)} {value_words(one, key)}" for key, one in value.items())
    return cut(shown(value), _VALUE_WIDTH_MAX)


def field_words(field: object) -> str:
    """Say a field's name: `is_checked` is "checked", `estimate_minutes` is "estimate"."""
    name = shown(field).removeprefix("is_").removesuffix("_minutes").removesuffix("_id")
    return name.replace("_", " ")


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
    who = {"user": "you"}.get(str(by), shown(by or "someone"))
    return f"{who} on {shown(device)}" if device else who
