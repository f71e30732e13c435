"""The drawing of the network: what this device knows of it, and nothing else."""

from xml.etree import ElementTree as ET

import pytest

from daemon.peers.mailboxes.mailbox_state import MailboxReader, MailboxState
from daemon.web.devices import network_drawing
from daemon.web.devices.device_rows import DeviceRow
from daemon.web.devices.network_drawing import draw_network
from daemon.web.frame.rendering import Renderer


def row(name: str, link: str = "", *, this: bool = False, removed: bool = False, tone: str = "") -> DeviceRow:
    return DeviceRow(name, name, name, this, removed, link, "stands so", tone, [], [], can_remove=not this)


def mailbox(name: str, *readers: str, trouble: str | None = None) -> MailboxState:
    readers_there = [MailboxReader(reader, reader, "2026-11-24T10:00:00Z", 0) for reader in readers]
    return MailboxState(name, "folder", "/box", None, trouble, "", {}, 0, 0, 0, 0, 0, readers_there)


LAPTOP = row("laptop", this=True)


def test_a_device_alone_and_one_that_was_removed_have_no_network():
    assert draw_network([LAPTOP], []) is None
    assert draw_network([LAPTOP, row("phone", removed=True)], []) is None
    assert draw_network([row("laptop", this=True, removed=True), row("phone", "off")], []) is None


def test_a_line_to_each_member_is_dashed_without_a_link():
    drawing = draw_network([LAPTOP, row("phone", "on"), row("tablet", "off"), row("old", removed=True)], [])
    assert drawing
    assert [(node.name, node.link) for node in drawing.devices] == [("phone", "on"), ("tablet", "off")]
    assert [(line.tone, line.dashed) for line in drawing.lines] == [("good", False), ("", True)]
    assert drawing.words == "Connected to this device: phone. Not connected to this device: tablet"


def test_a_mailbox_leads_to_those_that_were_noticed_there():
    drawing = draw_network(
        [LAPTOP, row("phone", "off"), row("tablet", "off")],
        [mailbox("stick", "tablet", "stranger"), mailbox("x")],
    )
    assert drawing
    phone, tablet = drawing.devices
    stick, empty = drawing.mailboxes
    starts = [
        (line.path.split("C")[0], line.path.rpartition(" ")[0].split(" ")[-1]) for line in drawing.lines
    ]
    assert (f"M{stick.x} {stick.y}", f"{tablet.x}") in starts
    assert [start for start, _end in starts].count(f"M{stick.x} {stick.y}") == 1
    assert not any(start == f"M{empty.x} {empty.y}" for start, _end in starts)
    assert phone.y < tablet.y < stick.y < empty.y
    assert drawing.words == (
        "Not connected to this device: phone, tablet. Through the mailbox stick: tablet, stranger."
        " Nobody else was noticed in the mailbox x"
    )


def test_a_mailbox_in_trouble_is_dashed():
    drawing = draw_network([LAPTOP, row("phone", "on")], [mailbox("stick", trouble="it is away")])
    assert drawing
    assert [(line.tone, line.dashed) for line in drawing.lines] == [("good", False), ("doubt", True)]


def test_what_is_too_much_to_draw_is_counted():
    rows = [LAPTOP, *(row(f"phone {number}", "on") for number in range(40))]
    drawing = draw_network(rows, [mailbox(f"box {number}") for number in range(20)])
    assert drawing
    assert len(drawing.devices) == network_drawing.DEVICES_DRAWN_MAX
    assert len(drawing.mailboxes) == network_drawing.MAILBOXES_DRAWN_MAX
    assert drawing.left_out == 60 - len(drawing.devices) - len(drawing.mailboxes)


@pytest.mark.parametrize("name", ["<script>&\"'", "\u202eevil", "n" * 64, "電" * 64])
def test_a_name_runs_nothing_and_stays_in_the_picture(name: str):
    drawing = draw_network([row(name, this=True), row(name, "on")], [mailbox(name, name)])
    assert drawing
    template = '{% from "devices/network.html" import network with context %}{{ network(drawing) }}'
    text = Renderer()._environment.from_string(template).render(drawing=drawing)
    image = ET.fromstring(text)
    assert {child.tag for child in image.iter()} == {"svg", "path", "circle", "text", "rect"}
    assert "\u202e" not in text
    assert all(len(node.name) <= network_drawing.NAME_COLUMNS for node in drawing.devices)
