"""Mailboxes: when each was looked into, what lies there, and who was noticed.

Never says that a member has read something, only what it is known to lack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.words.dates import relative_time
from daemon.words.sentences import answer_words
from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import MailboxStateJson
    from daemon.shapes.others import ReadBundleJson, WrittenBundleJson

_KIB: Final = 1024
_READER_COLUMNS: Final = (
    Column(gettext_noop("NAME"), width_max=24),
    Column(gettext_noop("LACKS")),
    Column(gettext_noop("SEEN")),
)


def mailbox_rows(mailboxes: Iterable[MailboxStateJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, as `placet mailbox list --help` names them."""
    for mailbox in mailboxes:
        get = mailbox.get
        yield (
            get("name"),
            get("kind"),
            get("place"),
            get("looked_at"),
            get("trouble"),
            get("blobs"),
            get("bytes"),
            get("unreadable"),
            get("gaps"),
            get("foreign"),
        )


def mailbox_line(text: str, mailbox: MailboxStateJson, display: Display) -> Iterator[str]:
    """Say what was done with a mailbox."""
    name = escape(mailbox.get("name") or "?")
    yield f"{display.paint(display.symbol('✓'), 'green')} {text} {display.paint(name, 'bold')}"


def mailbox_screen(mailboxes: Sequence[MailboxStateJson], display: Display) -> Iterator[str]:
    """Draw each mailbox, and below it the devices that were noticed there."""
    if not mailboxes:
        yield display.paint(_("No mailbox yet"), "dim")
    for mailbox in mailboxes:
        name, place = escape(mailbox.get("name") or "?"), escape(mailbox.get("place") or "")
        yield f"{display.paint(name, 'bold')}  {display.paint(place, 'dim')}"
        if mailbox.get("trouble"):
            yield "  " + display.paint(escape(answer_words(mailbox, "trouble")), "red")
        count = mailbox.get("blobs") or 0
        size_kib = -(-(mailbox.get("bytes") or 0) // _KIB)
        words = ngettext("{count} file, {size} KiB", "{count} files, {size} KiB", count)
        yield "  " + words.format(count=count, size=size_kib)
        if spoiled := mailbox.get("unreadable"):
            words = ngettext(
                "{count} file has not opened for a day", "{count} files have not opened for a day", spoiled
            )
            yield "  " + display.paint(words.format(count=spoiled), "yellow")
        rows = [
            [
                Cell(escape(reader.get("name") or "?")),
                Cell(str(reader.get("lacks") or "") or "-"),
                Cell(escape(relative_time(reader.get("noticed_at"), display.now_s))),
            ]
            for reader in mailbox.get("readers") or ()
        ]
        if rows:
            yield from table_lines(_READER_COLUMNS, rows, display)


def written_bundle_lines(written: WrittenBundleJson, display: Display) -> Iterator[str]:
    """Say what a bundle has become, and for whom."""
    size_kib = -(-(written.get("bytes") or 0) // _KIB)
    devices = ", ".join(map(escape, written.get("devices") or ()))
    words = _("{file}: {size} KiB, for {devices}").format(
        file=escape(written.get("file") or ""), size=size_kib, devices=devices
    )
    yield f"{display.paint(display.symbol('✓'), 'green')} {words}"


def read_bundle_lines(taken: ReadBundleJson, display: Display) -> Iterator[str]:
    """Say what a bundle brought, and what in it was of no use."""
    count = taken.get("taken") or 0
    words = ngettext("{count} part brought something new", "{count} parts brought something new", count)
    yield f"{display.paint(display.symbol('✓'), 'green')} {words.format(count=count)}"
    if gaps := taken.get("gaps"):
        words = ngettext(
            "{count} part rests on what is not here yet", "{count} parts rest on what is not here yet", gaps
        )
        yield "  " + display.paint(words.format(count=gaps), "yellow")
    if useless := (taken.get("sealed") or 0) + (taken.get("refused") or 0):
        words = ngettext(
            "{count} part is not for this device", "{count} parts are not for this device", useless
        )
        yield "  " + display.paint(words.format(count=useless), "dim")
