"""Where things stand: the status screen, the devices, a synchronisation, the health checks.

Never calls a device in step that is known to lack something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from daemon.cli.views.devices.mailboxes import mailbox_rows
from daemon.cli.views.devices.members import (
    device_rows,
    differing_lines,
    fault_lines,
    lag_words,
    left_out_lines,
    painted_lines,
    removed_here_lines,
)
from daemon.words.dates import parse_time_s, relative_future_time, relative_time
from daemon.words.devices import admission_words, unique_names
from daemon.words.sentences import answer_words
from daemon.words.terminal_text import escape, pad_right, wrap_lines
from daemon.words.translation import _, gettext_noop, ngettext
from daemon.words.values import with_colon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import PeerJson, StatusJson

# The names of the states that agents are counted by.
_STATES: Final = (
    gettext_noop("active"),
    gettext_noop("due"),
    gettext_noop("running"),
    gettext_noop("dormant"),
)
_ID_SHOWN: Final = 12
_CHECK_MARGIN: Final = 13
_FACT_MARGIN: Final = 13
_TOLD_S: Final = 7 * 86_400


def status_rows(status: StatusJson) -> Iterator[Sequence[object]]:
    """Give name and value, one a line; peers and agents flattened."""
    for key, value in status.items():
        if key == "peers" and isinstance(value, list):
            yield from (("peer", *row) for row in device_rows(value))
        elif key == "agents" and isinstance(value, dict):
            yield from ((f"agents_{name}", count) for name, count in value.items())
        elif key == "mailboxes" and isinstance(value, list):
            yield from (("mailbox", *row) for row in mailbox_rows(value))
        elif key == "mailbox_invitations" and isinstance(value, list):
            yield from (
                ("mailbox_invitation", open_.get("mailbox"), open_.get("expires_at")) for open_ in value
            )
        elif key == "mailbox_joining" and isinstance(value, dict):
            yield key, value.get("mailbox"), value.get("began_at"), value.get("trouble")
        elif key in ("model", "database") and isinstance(value, dict):
            yield key, value.get("found")
        else:
            yield key, value


def status_screen(status: StatusJson, display: Display) -> Iterator[str]:
    """Draw the one screen of where things stand."""
    name = display.paint(escape(status.get("name") or _("this device")), "bold")
    yield f"{name}  {display.paint(escape(status.get('device_id') or '')[:_ID_SHOWN], 'dim')}"
    yield from (
        _fact(_("holds"), _contents(status), display),
        _fact(_("state"), escape(status.get("state_hash") or "")[:_ID_SHOWN], display),
        _fact(_("agents"), _agents(status.get("agents") or {}, display), display),
    )
    waiting = int(status.get("pending_items") or 0)
    words = _("none waits")
    if waiting:
        words = ngettext("{count} waits for you", "{count} wait for you", waiting).format(count=waiting)
        words = with_colon(words) + "placet pending"
    yield _fact(_("proposals"), display.paint(words, *(["yellow"] if waiting else [])), display)
    if running_out := int(status.get("expiring_items") or 0):
        words = ngettext("{count} expires within a day", "{count} expire within a day", running_out).format(
            count=running_out
        )
        yield _fact("", display.paint(words, "yellow"), display)
    if permissions := int(status.get("pending_asks") or 0):
        words = ngettext("{count} waits for you", "{count} wait for you", permissions)
        words = with_colon(words.format(count=permissions)) + "placet asks"
        yield _fact(_("permissions"), display.paint(words, "yellow"), display)
    if running_out := int(status.get("expiring_asks") or 0):
        words = ngettext("{count} expires within a day", "{count} expire within a day", running_out).format(
            count=running_out
        )
        yield _fact("", display.paint(words, "yellow"), display)
    if database := status.get("database"):
        yield _fact(_("database"), display.paint(escape(answer_words(database, "found")), "red"), display)
        yield _fact("", escape(answer_words(database, "remedy")), display)
    if model := status.get("model"):
        yield _fact(_("model"), display.paint(escape(answer_words(model, "found")), "yellow"), display)
    if disputed := int(status.get("conflicts") or 0):
        yield _fact(_("conflicts"), display.paint(_settle(disputed), "yellow"), display)
    yield from _peers(status, display)
    for index, mailbox in enumerate(status.get("mailboxes") or ()):
        words = escape(mailbox.get("name") or "?")
        if mailbox.get("trouble"):
            words = with_colon(words) + display.paint(escape(answer_words(mailbox, "trouble")), "yellow")
        yield _fact("" if index else _("mailboxes"), words, display)
    yield from _mailbox_pairing(status, display)


def _mailbox_pairing(status: StatusJson, display: Display) -> Iterator[str]:
    """Say who can still come in through a mailbox, and where this device waits to be let in."""
    for index, invitation in enumerate(status.get("mailbox_invitations") or ()):
        when = relative_future_time(invitation.get("expires_at"), display.now_s)
        words = _("through mailbox {mailbox}, ends {when}").format(
            mailbox=escape(invitation.get("mailbox") or "?"), when=when
        )
        yield _fact("" if index else _("invitation"), words, display)
    if joining := status.get("mailbox_joining"):
        words = _("waits to be let in through mailbox {mailbox}").format(
            mailbox=escape(joining.get("mailbox") or "?")
        )
        if joining.get("trouble"):
            words = with_colon(words) + escape(answer_words(joining, "trouble"))
        yield _fact(_("invitation"), display.paint(words, "yellow"), display)


def _peers(status: StatusJson, display: Display) -> Iterator[str]:
    """Say how the other devices stand to this one, and who was let in lately."""
    if status.get("removed"):
        first, second = removed_here_lines(display)
        yield _fact(_("peers"), first, display)
        yield _fact("", second, display)
        return
    peers = status.get("peers") or []
    if not peers:
        yield _fact(_("peers"), with_colon(_("none yet")) + "placet pair", display)
    own: PeerJson = {"device_id": status.get("device_id", ""), "name": status.get("name", "")}
    names = unique_names([own, *peers])
    for index, peer in enumerate(peers):
        yield _fact("" if index else _("peers"), _peer(peer, names, display), display)
    yield from (_fact("", words, display) for words in differing_lines(peers, names, display, _FACT_MARGIN))
    yield from (_fact("", words, display) for words in fault_lines(peers, display, _FACT_MARGIN))
    left_out = int(status.get("peers_left_out") or 0)
    yield from (_fact("", words, display) for words in left_out_lines(left_out, display, _FACT_MARGIN))
    if named := status.get("names_left_out"):
        more = " …" if left_out > len(named) else ""
        yield _fact("", with_colon(_("left out")) + ", ".join(map(escape, named)) + more, display)
    for peer in peers:
        yield from (_fact("", words, display) for words in _let_in(peer, status, names, display))


def _settle(count: int) -> str:
    return _("{count} to settle: placet conflicts").format(count=count)


def _fact(name: str, words: str, display: Display) -> str:
    return f"  {display.paint(pad_right(name, 10), 'dim')} {words}"


def _contents(status: StatusJson) -> str:
    entities = ngettext("{count} entity", "{count} entities", _number(status, "entities"))
    commits = ngettext("{count} commit", "{count} commits", _number(status, "commits"))
    return _("{entities} in {commits}").format(
        entities=entities.format(count=_count(status, "entities")),
        commits=commits.format(count=_count(status, "commits")),
    )


def _number(status: StatusJson, key: str) -> int:
    value: Any = status.get(key)
    return value if isinstance(value, int) else 0


def _count(status: StatusJson, key: str) -> str:
    value: Any = status.get(key)
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else "?"


def _agents(agents: Mapping[str, object], display: Display) -> str:
    words = [f"{count} {escape(_(name))}" for name, count in agents.items()]
    return f" {display.symbol('·')} ".join(words) or _("none")


def _peer(peer: PeerJson, names: dict[str, str], display: Display) -> str:
    connected = bool(peer.get("connected"))
    dot = (
        display.paint(display.symbol("●"), "green")
        if connected
        else display.paint(display.symbol("○"), "dim")
    )
    last_seen = "" if connected else relative_time(peer.get("last_seen"), display.now_s)
    away = _("away, seen {when}").format(when=last_seen) if last_seen else _("away")
    link = _("connected") if connected else away
    name = names.get(peer.get("device_id", ""), "?")
    return f"{dot} {name}  {display.paint(link, 'dim')}  {lag_words(peer, display)}".rstrip()


def _let_in(peer: PeerJson, status: StatusJson, names: dict[str, str], display: Display) -> Iterator[str]:
    """Tell of a device that another one let in lately: nobody is to come in unseen."""
    at_s = parse_time_s(peer.get("added_heard_at"))
    lately = at_s is not None and display.now_s is not None and display.now_s - at_s < _TOLD_S
    # By id: a name may be any, and that of another device too.
    if not lately or peer.get("added_by_id") == status.get("device_id"):
        return
    yield from painted_lines(admission_words(peer, names, display.now_s), display, "yellow", _FACT_MARGIN)


class HealthCheckResult(NamedTuple):
    """One finding of `doctor`: what was looked at, whether it is well, and the remedy."""

    name: str
    well: bool
    found: str
    remedy: str = ""


def check_lines(checks: Iterable[HealthCheckResult], display: Display) -> Iterator[str]:
    """Draw the findings, each with its remedy."""
    margin = " " * _CHECK_MARGIN
    for check in checks:
        sign = (
            display.paint(display.symbol("✓"), "green")
            if check.well
            else display.paint(display.symbol("✗"), "red")
        )
        first, *rest = wrap_lines(check.found, display.width - _CHECK_MARGIN)
        yield f"{sign} {pad_right(_(check.name), _CHECK_MARGIN - 3)} {first}"
        yield from (margin + line for line in rest)
        if check.remedy:
            yield from ("    " + line for line in wrap_lines(check.remedy, display.width - 4))
