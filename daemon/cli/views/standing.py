"""Where things stand: the status screen, the devices, a synchronisation, the health checks.

Never calls a device in step that is known to lack something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from daemon.cli.short import shorts
from daemon.cli.table import Cell, Column, table
from daemon.cli.text import shown
from daemon.cli.when import ago

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Peer, Status

_ID_SHOWN: Final = 12
_DEVICE_COLUMNS: Final = (
    Column("ID"),
    Column("NAME", width_max=24),
    Column("LINK"),
    Column("LACKS"),
    Column("SEEN"),
    Column("ADDRESS", gives=True),
)


def status_rows(status: Status) -> Iterator[Sequence[object]]:
    """Give name and value, one a line; peers and agents flattened."""
    for key, value in status.items():
        if key == "peers" and isinstance(value, list):
            yield from (("peer", *row) for row in device_rows(value))
        elif key == "agents" and isinstance(value, dict):
            yield from ((f"agents_{name}", count) for name, count in value.items())
        else:
            yield key, value


def status_screen(status: Status, look: Look) -> Iterator[str]:
    """Draw the one screen of where things stand."""
    device = shown(status.get("device_id") or "")[:_ID_SHOWN]
    yield f"{look.paint(shown(status.get('name') or 'this device'), 'bold')}  {look.paint(device, 'dim')}"
    yield from (
        _fact("holds", f"{_count(status, 'entities')} entities in {_count(status, 'commits')} commits", look),
        _fact("state", shown(status.get("state_hash") or "")[:_ID_SHOWN], look),
        _fact("agents", _agents(status.get("agents") or {}, look), look),
    )
    waiting = int(status.get("pending_items") or 0)
    words = f"{waiting} wait{'s' * (waiting == 1)} for you: placet pending" if waiting else "none waits"
    yield _fact("proposals", look.paint(words, *(["yellow"] if waiting else [])), look)
    peers = status.get("peers") or []
    if not peers:
        yield _fact("peers", "none yet: placet pair --invite", look)
    for at, peer in enumerate(peers):
        yield _fact("" if at else "peers", _peer(peer, look), look)


def _fact(name: str, words: str, look: Look) -> str:
    return f"  {look.paint(f'{name:<10}', 'dim')} {words}"


def _count(status: Status, key: str) -> str:
    value: Any = status.get(key)
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else "?"


def _agents(agents: dict[str, Any], look: Look) -> str:
    words = [f"{count} {shown(name)}" for name, count in agents.items()]
    return f" {look.sign('·')} ".join(words) or "none"


def _peer(peer: Peer, look: Look) -> str:
    connected = bool(peer.get("connected"))
    dot = look.paint(look.sign("●"), "green") if connected else look.paint(look.sign("○"), "dim")
    seen = "" if connected else ago(peer.get("last_seen"), look.now_s)
    link = "connected" if connected else f"away, seen {seen}" if seen else "away"
    return f"{dot} {shown(peer.get('name') or '?')}  {look.paint(link, 'dim')}  {_lag(peer, look)}".rstrip()


def _lag(peer: Peer, look: Look) -> str:
    lag = peer.get("lag")
    if lag is None:
        return ""
    return look.paint(f"lacks {lag} commit{'s' * (lag != 1)}", "yellow") if lag else "in step"


def device_rows(devices: Iterable[Peer]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, name, this, connected, lag, last seen, address, removed."""
    for one in devices:
        get = one.get
        yield (
            get("device_id"),
            get("name"),
            bool(get("this")),
            bool(get("connected")),
            get("lag"),
            get("last_seen"),
            get("address"),
            bool(get("removed")),
        )


def device_list(devices: Sequence[Peer], look: Look) -> Iterator[str]:
    """Draw the table of devices."""
    ids = shorts(devices, "device_id")
    rows = [_device_cells(one, ids, look) for one in devices]
    return table(_DEVICE_COLUMNS, rows, look) if rows else iter(())


def _device_cells(one: Peer, ids: dict[str, str], look: Look) -> list[Cell]:
    if one.get("this"):
        link = Cell("this one", ("bold",))
    elif one.get("removed"):
        link = Cell("removed", ("red",))
    else:
        link = Cell("connected", ("green",)) if one.get("connected") else Cell("away", ("dim",))
    lag = one.get("lag")
    return [
        Cell(shown(ids.get(one.get("device_id", ""), "")), ("cyan",)),
        Cell(shown(one.get("name") or "")),
        link,
        Cell("" if lag is None or one.get("this") else str(lag), ("yellow",) if lag else ("dim",)),
        Cell("" if one.get("this") else shown(ago(one.get("last_seen"), look.now_s)), ("dim",)),
        Cell(shown(one.get("address") or ""), ("dim",)),
    ]


def sync_rows(report: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give name and value, one a line; then the plain columns of each peer."""
    yield from ((key, value) for key, value in report.items() if key != "peers")
    yield from (("peer", *row) for row in device_rows(report.get("peers") or ()))


def sync_lines(report: dict[str, Any], look: Look) -> Iterator[str]:
    """Draw how far this device and its peers agree."""
    peers = report.get("peers") or []
    linked = sum(bool(peer.get("connected")) for peer in peers)
    if report.get("paused"):
        yield look.paint("Exchange is paused: placet sync --resume", "yellow")
    elif not linked:
        yield look.paint("No other device is connected" if peers else "No other device yet", "yellow")
    elif report.get("complete"):
        yield f"{look.paint(look.sign('✓'), 'green')} In step with {linked} device{'s' * (linked > 1)}"
    else:
        yield look.paint("Not in step yet", "yellow")
    yield from device_list(peers, look)


def named_rows(answer: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give any object's names and values, one a line."""
    return iter(answer.items())


class Check(NamedTuple):
    """One finding of `doctor`: what was looked at, whether it is well, and the remedy."""

    name: str
    well: bool
    found: str
    remedy: str = ""


def check_lines(checks: Iterable[Check], look: Look) -> Iterator[str]:
    """Draw the findings, each with its remedy."""
    for check in checks:
        sign = look.paint(look.sign("✓"), "green") if check.well else look.paint(look.sign("✗"), "red")
        yield f"{sign} {check.name:<10} {shown(check.found)}"
        if check.remedy:
            yield f"    {shown(check.remedy)}"
