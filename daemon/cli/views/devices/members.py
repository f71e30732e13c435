"""The devices of a vault: their table, how far each is in step, and who let it in.

Never calls a device in step that is known to lack something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.words.dates import relative_time
from daemon.words.devices import admission_words, differing_words, link_words, unique_names
from daemon.words.sentences import answer_words
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape, wrap_lines
from daemon.words.translation import _, gettext_noop, ngettext
from daemon.words.values import with_colon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import PeerJson
    from daemon.shapes.others import SyncReportJson

_DEVICE_COLUMNS: Final = (
    Column(gettext_noop("ID")),
    Column(gettext_noop("NAME"), width_max=24),
    Column(gettext_noop("LINK")),
    Column(gettext_noop("LACKS")),
    Column(gettext_noop("SEEN")),
    Column(gettext_noop("ADDRESS"), shrinks=True),
)


def device_rows(devices: Iterable[PeerJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, as `placet devices --help` names them."""
    for device in devices:
        get = device.get
        yield (
            get("device_id"),
            get("name"),
            bool(get("this")),
            bool(get("connected")),
            get("lag"),
            get("last_seen"),
            get("address"),
            bool(get("removed")),
            get("added_by"),
            get("added_at"),
            bool(get("differs")),
        )


def device_list(devices: Sequence[PeerJson], display: Display) -> Iterator[str]:
    """Draw the table of devices."""
    ids = short_ids_of(devices, "device_id")
    rows = [_device_cells(device, ids, display) for device in devices]
    return table_lines(_DEVICE_COLUMNS, rows, display) if rows else iter(())


def device_screen(devices: Sequence[PeerJson], display: Display) -> Iterator[str]:
    """Draw the devices, and who let each of them in."""
    yield from device_list(devices, display)
    if any(device.get("this") and device.get("removed") for device in devices):
        yield from removed_here_lines(display)
    names = unique_names(devices)
    yield from differing_lines(devices, names, display)
    yield from fault_lines(devices, display)
    yield from left_out_lines(sum(bool(device.get("left_out")) for device in devices), display)
    for peer in devices:
        if not peer.get("removed") and (words := admission_words(peer, names, display.now_s)):
            yield from painted_lines(words, display, "dim")


def left_out_lines(left_out: int, display: Display, margin: int = 0) -> Iterator[str]:
    """Say how many devices are not linked with, and how to put them out."""
    if left_out:
        words = ngettext(
            "{count} device is left out, because there are too many. To remove the one that let it in:"
            " placet devices remove DEVICE --with-admitted",
            "{count} devices are left out, because there are too many. To remove the one that let them in:"
            " placet devices remove DEVICE --with-admitted",
            left_out,
        )
        yield from painted_lines(words.format(count=left_out), display, "red", margin)


def device_line(text: str, device: PeerJson, display: Display) -> Iterator[str]:
    """Say what was done with a device."""
    name = escape(device.get("name") or device.get("device_id") or "?")
    yield f"{display.paint(display.symbol('✓'), 'green')} {text} {display.paint(name, 'bold')}"


def sync_rows(report: SyncReportJson) -> Iterator[Sequence[object]]:
    """Give name and value, one a line; then the plain columns of each peer."""
    yield from ((key, value) for key, value in report.items() if key != "peers")
    yield from (("peer", *row) for row in device_rows(report.get("peers") or ()))


def sync_lines(report: SyncReportJson, display: Display) -> Iterator[str]:
    """Draw how far this device and its peers agree."""
    peers = report.get("peers") or []
    linked = sum(bool(peer.get("connected")) for peer in peers)
    if report.get("paused"):
        yield display.paint(with_colon(_("Exchange is paused")) + "placet sync --resume", "yellow")
    elif not linked:
        yield display.paint(
            _("No other device is connected") if peers else _("No other device yet"), "yellow"
        )
    elif report.get("complete"):
        agreed = ngettext("In step with {count} device", "In step with {count} devices", linked)
        yield f"{display.paint(display.symbol('✓'), 'green')} {agreed.format(count=linked)}"
    elif not any(peer.get("differs") for peer in peers):
        yield display.paint(_("Not in step yet"), "yellow")
    names = unique_names(peers)
    yield from differing_lines(peers, names, display)
    yield from fault_lines(peers, display)
    for peer in peers:
        if peer.get("unanswered"):
            silent = _("{device} has not answered yet").format(device=names[peer.get("device_id", "")])
            yield from painted_lines(silent, display, "yellow")
    yield from device_list(peers, display)


def _device_cells(peer: PeerJson, ids: dict[str, str], display: Display) -> list[Cell]:
    link = Cell(link_words(peer), _link_style(peer))
    lag = peer.get("lag")
    return [
        Cell(escape(ids.get(peer.get("device_id", ""), "")), ("cyan",)),
        Cell(escape(peer.get("name") or "")),
        link,
        Cell("" if lag is None or peer.get("this") else str(lag), ("yellow",) if lag else ("dim",)),
        Cell(
            "" if peer.get("this") else escape(relative_time(peer.get("last_seen"), display.now_s)), ("dim",)
        ),
        Cell(escape(peer.get("address") or ""), ("dim",)),
    ]


def _link_style(peer: PeerJson) -> tuple[str, ...]:
    if peer.get("this") and not peer.get("removed"):
        return ("bold",)
    if peer.get("removed") or peer.get("left_out") or peer.get("differs"):
        return ("red",)
    return ("green",) if peer.get("connected") else ("dim",)


def removed_here_lines(display: Display) -> tuple[str, str]:
    """Say that this device is no member any more, and what to do about it."""
    return (
        display.paint(_("this device is no longer a member of its vault"), "red"),
        _("to start again, stop placet, then run: placet devices leave"),
    )


def painted_lines(words: str, display: Display, ink: str, margin: int = 0) -> Iterator[str]:
    """Paint words, in as many lines as they take beside a margin."""
    return (display.paint(line, ink) for line in wrap_lines(words, display.width - margin) if line)


def differing_lines(
    peers: Iterable[PeerJson], names: dict[str, str], display: Display, margin: int = 0
) -> Iterator[str]:
    """Say which devices showed another state for the same changes, and what to do."""
    differing = [names.get(peer.get("device_id", ""), "?") for peer in peers if peer.get("differs")]
    for name in differing:
        yield from painted_lines(differing_words(name), display, "red", margin)
    if differing:
        yield _("run 'placet verify' on both devices")


def fault_lines(peers: Iterable[PeerJson], display: Display, margin: int = 0) -> Iterator[str]:
    """Say by which fault the last link to a device ended, unless a later one works."""
    for peer in peers:
        if fault := peer.get("link_fault"):
            yield from painted_lines(escape(answer_words(fault, "seen")), display, "red", margin)


def lag_words(peer: PeerJson, display: Display) -> str:
    lag, missing = peer.get("lag"), peer.get("missing") or 0
    if peer.get("differs"):
        # Whether it still does shows when both hold the same again: what lacks until then stands beside it.
        standing = lag_words(cast("PeerJson", {**peer, "differs": False}), display) if lag or missing else ""
        return f"{display.paint(_('differs'), 'red')}  {standing}".rstrip()
    if missing and peer.get("connected"):
        coming = ngettext("{count} commit to come", "{count} commits to come", missing)
        return display.paint(coming.format(count=missing), "yellow")
    if lag is None:
        return ""
    if not lag:
        # What it did not take, or sent wrong, may be missing on either side.
        return "" if peer.get("link_fault") else _("in step")
    lacks = ngettext("lacks {count} commit", "lacks {count} commits", lag).format(count=lag)
    return display.paint(lacks, "yellow")
