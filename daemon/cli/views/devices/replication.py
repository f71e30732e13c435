"""Where commits are: each device, and whether it is known to hold them.

Never says that a device lacks what it was only never heard to hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.words.dates import relative_time
from daemon.words.terminal_text import escape, truncate
from daemon.words.translation import _, gettext_noop, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.others import HoldingJson, MailboxHoldingJson, ReplicationJson

_TITLE_WIDTH: Final = 40
_COLUMNS: Final = (
    Column(gettext_noop("NAME"), width_max=24),
    Column(gettext_noop("HOLDS")),
    Column(gettext_noop("AS OF")),
)


def replication_rows(answer: ReplicationJson) -> Iterator[Sequence[object]]:
    """Give the plain columns of each device: id, name, how many commits it lacks, as of when."""
    for holding in answer.get("devices") or ():
        yield holding.get("device_id"), holding.get("name"), holding.get("lacks"), holding.get("as_of")


def replication_lines(answer: ReplicationJson, display: Display) -> Iterator[str]:
    """Draw what was asked for, and a line for each device."""
    count, moment = answer.get("commits") or 0, escape(relative_time(answer.get("at"), display.now_s))
    device = escape(answer.get("device_name") or "?")
    if answer.get("entity") is None:
        words = _("Commit {seq}, of {device}, {when}")
        yield words.format(seq=escape(answer.get("seq")), device=device, when=moment)
    else:
        title = truncate(escape(answer.get("title") or answer.get("entity") or "?"), _TITLE_WIDTH)
        words = ngettext(
            "{title}: {count} commit, of {device}, {when}",
            "{title}: {count} commits, the newest of {device}, {when}",
            count,
        )
        yield words.format(title=display.paint(title, "bold"), count=count, device=device, when=moment)
    yield from table_lines(
        _COLUMNS, [_cells(holding, count, display) for holding in answer.get("devices") or ()], display
    )
    yield from (_mailbox_line(mailbox, display) for mailbox in answer.get("mailboxes") or ())


def _mailbox_line(mailbox: MailboxHoldingJson, display: Display) -> str:
    """Say what came through a mailbox, and what lies in it for whom."""
    words = _("mailbox {mailbox}: {brought} came through it, {holds} lie in it").format(
        mailbox=display.paint(escape(mailbox.get("mailbox") or "?"), "bold"),
        brought=escape(mailbox.get("brought") or 0),
        holds=escape(mailbox.get("holds") or 0),
    )
    waits = [
        f"{escape(device.get('name') or '?')} {escape(device.get('waits') or 0)}"
        for device in mailbox.get("devices") or ()
    ]
    if not waits:
        return words
    return _("{words}, waiting for {devices}").format(words=words, devices=", ".join(waits))


def _cells(holding: HoldingJson, count: int, display: Display) -> list[Cell]:
    lacks = holding.get("lacks")
    if lacks is None:
        holds = Cell(_("not known"), ("dim",))
    elif not lacks:
        holds = Cell(_("yes"), ("green",))
    elif lacks >= count:
        holds = Cell(_("not yet"), ("yellow",))
    else:
        some = ngettext("lacks {count} commit", "lacks {count} commits", lacks)
        holds = Cell(some.format(count=lacks), ("yellow",))
    if holding.get("this"):
        cell = Cell(_("this one"), ("bold",))
    elif holding.get("removed"):
        cell = Cell(_("removed"), ("red",))
    else:
        cell = Cell(escape(relative_time(holding.get("as_of"), display.now_s)), ("dim",))
    return [Cell(escape(holding.get("name") or "")), holds, cell]
