"""Colours of labels and categories: a name out of a few, or #rrggbb.

Never a colour that a face must guess at: what is no colour is refused where it is entered.
"""

import re
from typing import Final

from daemon.journal.errors import usage
from store.entity import Entity

NAMES: Final = (
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


def color(text: str) -> str:
    """Check a colour, in any case; #rgb is kept as #rrggbb."""
    wanted = text.strip().lower()
    if short := _SHORT.fullmatch(wanted):
        wanted = "#" + "".join(digit * 2 for digit in short.groups())
    wanted = "grey" if wanted == "gray" else wanted
    if wanted not in NAMES and not _LONG.fullmatch(wanted):
        raise usage(f"{text[:80]!r} is not a colour", f"#rrggbb, or one of {', '.join(NAMES)}")
    return wanted


def color_kept(entity: Entity) -> str:
    """Return the colour that an entity has, "" for none and for what a newer version may call one."""
    kept = entity.text("color")
    return kept if kept in NAMES or _LONG.fullmatch(kept) else ""
