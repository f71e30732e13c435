"""Where things stand: the status screen, the devices, a synchronisation, the health checks.

Never calls a device in step that is known to lack something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from daemon.cli.short import SHORT_MIN, shorts
from daemon.cli.table import Cell, Column, table
from daemon.cli.text import padded, shown, wrapped
from daemon.cli.views.findings import finding_words
from daemon.cli.views.values import headed
from daemon.cli.when import ago, moment_s
from daemon.cli.words import _, later, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Peer, Status

# The names of the states that agents are counted by.
_STATES: Final = (later("active"), later("due"), later("running"), later("dormant"))
_ID_SHOWN: Final = 12
_CHECK_MARGIN: Final = 13
_FACT_MARGIN: Final = 13
_TOLD_S: Final = 7 * 86_400
_DEVICE_COLUMNS: Final = (
    Column(later("ID")),
    Column(later("NAME"), width_max=24),
    Column(later("LINK")),
    Column(later("LACKS")),
    Column(later("SEEN")),
    Column(later("ADDRESS"), gives=True),
)


def status_rows(status: Status) -> Iterator[Sequence[object]]:
    """Give name and value, one a line; peers and agents flattened."""
    for key, value in status.items():
        if key == "peers" and isinstance(value, list):
            yield from (("peer", *row) for row in device_rows(value))
        elif key == "agents" and isinstance(value, dict):
            yield from ((f"agents_{name}", count) for name, count in value.items())
        elif key == "model" and isinstance(value, dict):
            yield key, value.get("found")
        else:
            yield key, value


def status_screen(status: Status, look: Look) -> Iterator[str]:
    """Draw the one screen of where things stand."""
    device = shown(status.get("device_id") or "")[:_ID_SHOWN]
    yield f"{look.paint(shown(status.get('name') or _('this device')), 'bold')}  {look.paint(device, 'dim')}"
    yield from (
        _fact(_("holds"), _held(status), look),
        _fact(_("state"), shown(status.get("state_hash") or "")[:_ID_SHOWN], look),
        _fact(_("agents"), _agents(status.get("agents") or {}, look), look),
    )
    waiting = int(status.get("pending_items") or 0)
    words = _("none waits")
    if waiting:
        words = ngettext("{count} waits for you", "{count} wait for you", waiting).format(count=waiting)
        words = headed(words) + "placet pending"
    yield _fact(_("proposals"), look.paint(words, *(["yellow"] if waiting else [])), look)
    if model := status.get("model"):
        yield _fact(_("model"), look.paint(shown(finding_words(model)[0]), "yellow"), look)
    if disputed := int(status.get("conflicts") or 0):
        yield _fact(_("conflicts"), look.paint(_settle(disputed), "yellow"), look)
    yield from _peers(status, look)


def _peers(status: Status, look: Look) -> Iterator[str]:
    """Say how the other devices stand to this one, and who was let in lately."""
    if status.get("removed"):
        first, second = _apart(look)
        yield _fact(_("peers"), first, look)
        yield _fact("", second, look)
        return
    peers = status.get("peers") or []
    if not peers:
        yield _fact(_("peers"), headed(_("none yet")) + "placet pair", look)
    own: Peer = {"device_id": status.get("device_id", ""), "name": status.get("name", "")}
    names = _told_apart([own, *peers])
    for at, peer in enumerate(peers):
        yield _fact("" if at else _("peers"), _peer(peer, names, look), look)
    yield from (_fact("", words, look) for words in _differing(peers, names, look, _FACT_MARGIN))
    for peer in peers:
        yield from (_fact("", words, look) for words in _let_in(peer, status, names, look))


def _apart(look: Look) -> tuple[str, str]:
    """Say that this device is no member any more, and what to do about it."""
    return (
        look.paint(_("this device is no member of its vault any more"), "red"),
        _("to begin anew, stop placet, then: placet devices leave"),
    )


def _told_apart(devices: Sequence[Peer]) -> dict[str, str]:
    """Map the ids of devices to their names, with the id's beginning where several have one name."""
    ids = shorts(devices, "device_id")
    names = {one.get("device_id", ""): one.get("name") or "?" for one in devices}
    many = [*names.values()]
    return {
        device: shown(name) if many.count(name) == 1 else f"{shown(name)} ({shown(ids.get(device, '?'))})"
        for device, name in names.items()
    }


def _settle(count: int) -> str:
    return _("{count} to settle: placet conflicts").format(count=count)


def _fact(name: str, words: str, look: Look) -> str:
    return f"  {look.paint(padded(name, 10), 'dim')} {words}"


def _held(status: Status) -> str:
    entities = ngettext("{count} entity", "{count} entities", _number(status, "entities"))
    commits = ngettext("{count} commit", "{count} commits", _number(status, "commits"))
    return _("{entities} in {commits}").format(
        entities=entities.format(count=_count(status, "entities")),
        commits=commits.format(count=_count(status, "commits")),
    )


def _number(status: Status, key: str) -> int:
    value: Any = status.get(key)
    return value if isinstance(value, int) else 0


def _count(status: Status, key: str) -> str:
    value: Any = status.get(key)
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else "?"


def _agents(agents: dict[str, Any], look: Look) -> str:
    words = [f"{count} {shown(_(name))}" for name, count in agents.items()]
    return f" {look.sign('·')} ".join(words) or _("none")


def _peer(peer: Peer, names: dict[str, str], look: Look) -> str:
    connected = bool(peer.get("connected"))
    dot = look.paint(look.sign("●"), "green") if connected else look.paint(look.sign("○"), "dim")
    seen = "" if connected else ago(peer.get("last_seen"), look.now_s)
    away = _("away, seen {when}").format(when=seen) if seen else _("away")
    link = _("connected") if connected else away
    name = names.get(peer.get("device_id", ""), "?")
    return f"{dot} {name}  {look.paint(link, 'dim')}  {_lag(peer, look)}".rstrip()


def _let_in(peer: Peer, status: Status, names: dict[str, str], look: Look) -> Iterator[str]:
    """Tell of a device that another one let in lately: nobody is to come in unseen."""
    at_s = moment_s(peer.get("added_heard_at"))
    lately = at_s is not None and look.now_s is not None and look.now_s - at_s < _TOLD_S
    # By id: a name may be any, and that of another device too.
    if not lately or peer.get("added_by_id") == status.get("device_id"):
        return
    yield from _painted(_let_in_words(peer, names, look), look, "yellow", _FACT_MARGIN)


def _painted(words: str, look: Look, ink: str, margin: int = 0) -> Iterator[str]:
    """Paint words, in as many lines as they take beside a margin."""
    return (look.paint(line, ink) for line in wrapped(words, look.width - margin) if line)


def _let_in_words(peer: Peer, names: dict[str, str], look: Look) -> str:
    """Say who let a device in, and when; nothing of one that was there when this one joined."""
    device, by = names.get(peer.get("device_id", ""), "?"), peer.get("added_by")
    if not by:
        seen = ago(peer.get("added_heard_at"), look.now_s)
        words = _("{device} was first seen {when}; nobody says who let it in")
        return words.format(device=device, when=seen) if seen else ""
    when, by_id = ago(peer.get("added_at"), look.now_s), peer.get("added_by_id") or ""
    if by_id and by_id == peer.get("device_id"):
        return _("{device} let itself in again, {when}").format(device=device, when=when)
    # One that is not on the screen may have the name of one that is.
    told = names.get(by_id) or (f"{shown(by)} ({shown(by_id[:SHORT_MIN])})" if by_id else shown(by))
    return _("{device} was let in by {by}, {when}").format(device=device, by=told, when=when)


def _differing(peers: Iterable[Peer], names: dict[str, str], look: Look, margin: int = 0) -> Iterator[str]:
    """Say which devices showed another state for the same changes, and what to do."""
    differing = [names.get(peer.get("device_id", ""), "?") for peer in peers if peer.get("differs")]
    for name in differing:
        words = _("{device} showed something else when it last held the same changes").format(device=name)
        yield from _painted(words, look, "red", margin)
    if differing:
        yield _("run 'placet verify' on both devices")


def _lag(peer: Peer, look: Look) -> str:
    lag, missing = peer.get("lag"), peer.get("missing") or 0
    if peer.get("differs"):
        # Whether it still does shows when both hold the same again: what lacks until then stands beside it.
        standing = _lag(cast("Peer", {**peer, "differs": False}), look) if lag or missing else ""
        return f"{look.paint(_('differs'), 'red')}  {standing}".rstrip()
    if missing and peer.get("connected"):
        coming = ngettext("{count} commit to come", "{count} commits to come", missing)
        return look.paint(coming.format(count=missing), "yellow")
    if lag is None:
        return ""
    if not lag:
        return _("in step")
    lacks = ngettext("lacks {count} commit", "lacks {count} commits", lag).format(count=lag)
    return look.paint(lacks, "yellow")


def device_rows(devices: Iterable[Peer]) -> Iterator[Sequence[object]]:
    """Give the plain columns, as `placet devices --help` names them."""
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
            get("added_by"),
            get("added_at"),
            bool(get("differs")),
        )


def device_list(devices: Sequence[Peer], look: Look) -> Iterator[str]:
    """Draw the table of devices."""
    ids = shorts(devices, "device_id")
    rows = [_device_cells(one, ids, look) for one in devices]
    return table(_DEVICE_COLUMNS, rows, look) if rows else iter(())


def device_screen(devices: Sequence[Peer], look: Look) -> Iterator[str]:
    """Draw the devices, and who let each of them in."""
    yield from device_list(devices, look)
    if any(one.get("this") and one.get("removed") for one in devices):
        yield from _apart(look)
    names = _told_apart(devices)
    yield from _differing(devices, names, look)
    for one in devices:
        if not one.get("removed") and (words := _let_in_words(one, names, look)):
            yield from _painted(words, look, "dim")


def device_line(done: str, device: Peer, look: Look) -> Iterator[str]:
    """Say what was done with a device."""
    name = shown(device.get("name") or device.get("device_id") or "?")
    yield f"{look.paint(look.sign('✓'), 'green')} {done} {look.paint(name, 'bold')}"


def _device_cells(one: Peer, ids: dict[str, str], look: Look) -> list[Cell]:
    if one.get("removed"):
        link = Cell(_("this one, removed") if one.get("this") else _("removed"), ("red",))
    elif one.get("this"):
        link = Cell(_("this one"), ("bold",))
    elif one.get("differs"):
        link = Cell(_("differs"), ("red",))
    else:
        link = Cell(_("connected"), ("green",)) if one.get("connected") else Cell(_("away"), ("dim",))
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
        yield look.paint(headed(_("Exchange is paused")) + "placet sync --resume", "yellow")
    elif not linked:
        yield look.paint(_("No other device is connected") if peers else _("No other device yet"), "yellow")
    elif report.get("complete"):
        agreed = ngettext("In step with {count} device", "In step with {count} devices", linked)
        yield f"{look.paint(look.sign('✓'), 'green')} {agreed.format(count=linked)}"
    elif not any(peer.get("differs") for peer in peers):
        yield look.paint(_("Not in step yet"), "yellow")
    names = _told_apart(peers)
    yield from _differing(peers, names, look)
    for peer in peers:
        if peer.get("unanswered"):
            silent = _("{device} has not answered yet").format(device=names[peer.get("device_id", "")])
            yield from _painted(silent, look, "yellow")
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
    margin = " " * _CHECK_MARGIN
    for check in checks:
        sign = look.paint(look.sign("✓"), "green") if check.well else look.paint(look.sign("✗"), "red")
        first, *rest = wrapped(check.found, look.width - _CHECK_MARGIN)
        yield f"{sign} {padded(_(check.name), _CHECK_MARGIN - 3)} {first}"
        yield from (margin + line for line in rest)
        if check.remedy:
            yield from ("    " + line for line in wrapped(check.remedy, look.width - 4))
