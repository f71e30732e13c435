"""Invitations as they are shown: the code, the token and its QR code, and how pairing went.

Never draws a token that would not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.words.devices import goodbye_words, newcomer_words, not_admitted_words
from daemon.words.terminal_text import escape
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display

_QUIET: Final = 2
# Light modules are drawn, for most terminals are dark: upper and lower half of each character.
_HALVES: Final = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}


def secret_line(invitation: dict[str, Any], _display: Display) -> Iterator[str]:
    """Give what the other device needs, alone on its line."""
    yield escape(invitation.get("code") or invitation.get("token") or "")


def invitation_row(invitation: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the plain columns: code or token, address, end."""
    secret = invitation.get("code") or invitation.get("token")
    yield secret, invitation.get("address"), invitation.get("expires_at")


def qr_lines(text: str, display: Display) -> list[str]:
    """Draw a text as a QR code; nothing if the terminal is too narrow, or knows only ASCII."""
    if not text or not display.unicode:
        return []
    import segno  # imported here: no other command draws

    code = segno.make(text, error="l", micro=False)
    width = int(code.symbol_size(border=_QUIET)[0])
    if width > display.width:
        return []
    rows = [list(row) for row in code.matrix_iter(border=_QUIET)]
    rows += [[0] * width] * (len(rows) % 2)
    return [
        "".join(_HALVES[int(bool(above)), int(bool(below))] for above, below in zip(*pair, strict=True))
        for pair in zip(rows[::2], rows[1::2], strict=True)
    ]


def joined_rows(state: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the plain columns of who joined: id, name."""
    device = state.get("device") or {}
    yield device.get("device_id"), device.get("name")


def joined_line(state: dict[str, Any], display: Display) -> Iterator[str]:
    """Say who joined, or was let in."""
    device = state.get("device") or {}
    name = escape(device.get("name") or device.get("device_id") or "?")
    yield pairing_line(newcomer_words(name, linked=bool(device.get("linked"))), display, device)


def pairing_line(words: str, display: Display, device: dict[str, Any]) -> str:
    """Mark what is said of a device that was paired: as done if the two are linked."""
    sign = display.paint(display.symbol("✓"), "green") if device.get("linked") else display.symbol("·")
    return f"{sign} {words}"


def cancelled_line(state: dict[str, Any]) -> str:
    """Say what came of calling an invitation off: somebody may have been quicker."""
    device = state.get("device") or {}
    if state.get("stage") == "joined":
        return _("{name} was let in before that").format(name=escape(device.get("name") or "?"))
    words = not_admitted_words() if device else _("the invitation was cancelled")
    return f"{words[:1].upper()}{words[1:]}"


def goodbye_rows(fields: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the plain columns: name, whether it knows."""
    yield from ((name, True) for name in fields.get("told") or ())
    yield from ((name, False) for name in fields.get("untold") or ())


def goodbye_lines(fields: dict[str, Any], display: Display) -> Iterator[str]:
    """Say who knows that this device leaves."""
    sign = display.paint(display.symbol("✓"), "green")
    aware_count = 0 if fields.get("removed") else len(fields.get("told") or ())
    for index, words in enumerate(goodbye_words(fields)):
        yield f"{sign if index < aware_count else display.symbol('·')} {words}"


def left_lines(fields: dict[str, Any], display: Display) -> Iterator[str]:
    """Say that this device is alone now, and what it took along."""
    count = int(fields.get("tasks") or 0)
    words = ngettext(
        "This device is on its own, with {count} task",
        "This device is on its own, with {count} tasks",
        count,
    )
    yield f"{display.paint(display.symbol('✓'), 'green')} {words.format(count=count)}"
    yield _("The journal that it had is kept: {file}").format(file=escape(fields.get("replaced") or ""))
