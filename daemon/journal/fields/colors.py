"""Colours of labels and categories: a name out of a few, or #rrggbb.

Never a colour that a client must guess at: an invalid colour is refused on entry.
"""

import re
from typing import Final

from daemon.refusal import usage_error
from store.fold.entity import Entity
from store.sentence import sentence

COLOR_NAMES: Final = (
    "red",
    "orange",
    "yellow",
    "green",
    "cyan",
    "blue",
    "purple",
    "magenta",
    "pink",
    "brown",
    "grey",
)

_SHORT = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])")
_LONG = re.compile(r"#[0-9a-f]{6}")


def checked_color(text: str) -> str:
    """Check a colour, in any case; #rgb is kept as #rrggbb."""
    wanted = text.strip().lower()
    if short := _SHORT.fullmatch(wanted):
        wanted = "#" + "".join(digit * 2 for digit in short.groups())
    wanted = "grey" if wanted == "gray" else wanted
    if wanted not in COLOR_NAMES and not _LONG.fullmatch(wanted):
        raise usage_error(
            sentence("not-a-colour", "{text!r} is not a colour", text=text[:80]),
            sentence("colour-choices", "#rrggbb, or one of {names}", names=", ".join(COLOR_NAMES)),
        )
    return wanted


def stored_color(entity: Entity) -> str:
    """Return the colour that an entity has, "" for none and for what a newer version may call one."""
    color = entity.text("color")
    return color if color in COLOR_NAMES or _LONG.fullmatch(color) else ""
