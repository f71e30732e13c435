"""The network as this device sees it, drawn: the other devices, and the mailboxes in which they meet.

Never draws what this device does not know: how the others are connected with each other is not among it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from daemon.peers.mailboxes.mailbox_state import MailboxState
from daemon.web.devices.device_rows import DeviceRow
from daemon.words.terminal_text import escape, truncate
from daemon.words.translation import _

DEVICES_DRAWN_MAX: Final = 12
MAILBOXES_DRAWN_MAX: Final = 6
WIDTH: Final = 340
_OWN_X, _MAILBOX_X, _OTHER_X, _LABEL_X = 14, 98, 172, 188
_FIRST_Y, _ROW = 22, 46
NAME_COLUMNS: Final = 17
MAILBOX_COLUMNS: Final = 13


@dataclass(frozen=True, slots=True)
class Node:
    """A device or a mailbox: its place, its name as far as there is room, and a word on it.

    `link` is `on` or `off` for a device that this one links with.
    """

    x: int
    y: int
    label_x: int
    name: str
    words: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an SVG path. `tone` is a class that colours it; a dashed one is no connection now."""

    path: str
    tone: str
    dashed: bool


@dataclass(frozen=True, slots=True)
class NetworkDrawing:
    """All of it, `words` for who does not see it, and how many devices and mailboxes are not drawn."""

    height: int
    own: Node
    devices: list[Node]
    mailboxes: list[Node]
    lines: list[Line]
    words: str
    left_out: int


def draw_network(rows: Sequence[DeviceRow], mailboxes: Sequence[MailboxState]) -> NetworkDrawing | None:
    """Draw what this device knows of the members, None if it is alone.

    A line to a device is a link, or dashed if there is none now. A line through a mailbox leads to those
    that were noticed there.
    """
    own = next((row for row in rows if row.this), None)
    others = [row for row in rows if not row.this and not row.removed]
    if own is None or own.removed or not others:
        return None
    drawn, boxes = others[:DEVICES_DRAWN_MAX], mailboxes[:MAILBOXES_DRAWN_MAX]
    devices = [
        Node(_OTHER_X, _height_of(index), _LABEL_X, _label(row.name, NAME_COLUMNS), row.state, row.link)
        for index, row in enumerate(drawn)
    ]
    meeting = [
        Node(_MAILBOX_X, _height_of(len(drawn) + index), _MAILBOX_X, _label(box.name, MAILBOX_COLUMNS))
        for index, box in enumerate(boxes)
    ]
    own_y = _FIRST_Y + _ROW * (len(drawn) - 1) // 2
    own_node = Node(_OWN_X, own_y, 0, _label(own.name, MAILBOX_COLUMNS), own.state)
    places = {row.id: node for row, node in zip(drawn, devices, strict=True)}
    lines = [
        Line(
            _path(own_node, node),
            "doubt" if row.tone else "good" if row.link == "on" else "",
            row.link != "on",
        )
        for row, node in zip(drawn, devices, strict=True)
    ]
    for box, node in zip(boxes, meeting, strict=True):
        lines.append(Line(_path(own_node, node), "doubt" if box.trouble else "", bool(box.trouble)))
        lines += [
            Line(_path(node, places[reader.device]), "", False)
            for reader in box.readers
            if reader.device in places
        ]
    return NetworkDrawing(
        height=_FIRST_Y + _ROW * max(len(drawn) + len(boxes), 2) - _ROW // 2,
        own=own_node,
        devices=devices,
        mailboxes=meeting,
        lines=lines,
        words=_words(drawn, boxes),
        left_out=len(others) + len(mailboxes) - len(drawn) - len(boxes),
    )


def _height_of(index: int) -> int:
    return _FIRST_Y + _ROW * index


def _label(name: str, columns: int) -> str:
    return truncate(escape(name), columns)


def _path(begin: Node, end: Node) -> str:
    """Return a curve that leaves one node to the right, and comes to the other from the left."""
    middle = (begin.x + end.x) // 2
    return f"M{begin.x} {begin.y}C{middle} {begin.y} {middle} {end.y} {end.x} {end.y}"


def _words(drawn: Sequence[DeviceRow], boxes: Sequence[MailboxState]) -> str:
    """Say what is drawn, for who does not see it."""
    linked = ", ".join(row.name for row in drawn if row.link == "on")
    others = ", ".join(row.name for row in drawn if row.link != "on")
    parts = [
        _("Connected to this device: {names}").format(names=linked) if linked else "",
        _("Not connected to this device: {names}").format(names=others) if others else "",
        *(_meeting_words(box) for box in boxes),
    ]
    return ". ".join(filter(None, parts))


def _meeting_words(box: MailboxState) -> str:
    readers = ", ".join(reader.name for reader in box.readers)
    if not readers:
        return _("Nobody else was noticed in the mailbox {name}").format(name=box.name)
    return _("Through the mailbox {name}: {names}").format(name=box.name, names=readers)
