"""Where commits are: each device, and whether it is known to hold them.

Never says that a device lacks what it was only never heard to hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.table import Cell, Column, table
from daemon.cli.text import cut, shown
from daemon.cli.when import ago
from daemon.cli.words import _, later, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Holding, Whereabouts

_TITLE_WIDTH: Final = 40
_COLUMNS: Final = (
    Column(later("NAME"), width_max=24),
    Column(later("HOLDS")),
    Column(later("AS OF")),
)


def where_rows(answer: Whereabouts) -> Iterator[Sequence[object]]:
    """Give the plain columns of each device: id, name, how many commits it lacks, as of when."""
    for one in answer.get("devices") or ():
        yield one.get("device_id"), one.get("name"), one.get("lacks"), one.get("as_of")


def where_lines(answer: Whereabouts, look: Look) -> Iterator[str]:
    """Draw what was asked for, and a line for each device."""
    count, moment = answer.get("commits") or 0, shown(ago(answer.get("at"), look.now_s))
    device = shown(answer.get("device_name") or "?")
    if answer.get("entity") is None:
        words = _("Commit {seq}, of {device}, {when}")
        yield words.format(seq=shown(answer.get("seq")), device=device, when=moment)
    else:
        title = cut(shown(answer.get("title") or answer.get("entity") or "?"), _TITLE_WIDTH)
        words = ngettext(
            "{title}: {count} commit, of {device}, {when}",
            "{title}: {count} commits, the newest of {device}, {when}",
            count,
        )
        yield words.format(title=look.paint(title, "bold"), count=count, device=device, when=moment)
    yield from table(_COLUMNS, [_cells(one, count, look) for one in answer.get("devices") or ()], look)


def _cells(one: Holding, count: int, look: Look) -> list[Cell]:
    lacks = one.get("lacks")
    if lacks is None:
        holds = Cell(_("not known"), ("dim",))
    elif not lacks:
        holds = Cell(_("yes"), ("green",))
    elif lacks >= count:
        holds = Cell(_("not yet"), ("yellow",))
    else:
        some = ngettext("lacks {count} commit", "lacks {count} commits", lacks)
        holds = Cell(some.format(count=lacks), ("yellow",))
    if one.get("this"):
        known = Cell(_("this one"), ("bold",))
    elif one.get("removed"):
        known = Cell(_("removed"), ("red",))
    else:
        known = Cell(shown(ago(one.get("as_of"), look.now_s)), ("dim",))
    return [Cell(shown(one.get("name") or "")), holds, known]
