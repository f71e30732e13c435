"""Which places are the same box or stream, though a person names another pin, quota or file.

Never opens a connection.
"""

import pytest

from daemon.peers.mailboxes.carrier_choice import is_same_box, with_place
from store.local.mailboxes import Mailbox

PIN, OTHER_PIN = "#sha256=" + "0" * 64, "#sha256=" + "1" * 64
BOX, STREAM = "https://relay.example:8484/home", "tls://a.example,b.example/team"


@pytest.mark.parametrize(
    ("kind", "stored", "given", "is_same"),
    [
        ("relay", BOX + PIN, BOX, True),
        ("relay", BOX + PIN, BOX + OTHER_PIN, True),
        ("relay", BOX, BOX.replace("relay", "Relay"), True),
        ("relay", BOX, BOX + "-2", False),
        ("relay", BOX, BOX.replace("https", "http"), False),
        ("relay", BOX, "no place", False),
        ("nats", STREAM + "?replicas=3", STREAM, True),
        ("nats", STREAM, "tls://b.example:4222,a.example/team", True),
        ("nats", STREAM, "tls://a.example/team", False),
        ("nats", STREAM, STREAM.replace("team", "other"), False),
        ("folder", "/media/stick", "/media/stick", False),
    ],
)
def test_a_box_is_known_by_its_address(kind: str, stored: str, given: str, is_same: bool):
    assert is_same_box(Mailbox("name", kind, stored, 1), kind, given) is is_same
    other = "relay" if kind == "nats" else "nats"
    assert not is_same_box(Mailbox("name", kind, stored, 1), other, given)


def test_a_pin_or_the_like_stays_unless_the_place_has_another():
    assert with_place(Mailbox("home", "relay", BOX + PIN, 1), BOX).place == BOX + PIN
    assert with_place(Mailbox("home", "relay", BOX + PIN, 1), BOX + OTHER_PIN).place == BOX + OTHER_PIN
    assert with_place(Mailbox("team", "nats", STREAM + "?replicas=3", 1), STREAM).place.endswith("=3")
    assert with_place(Mailbox("team", "nats", STREAM, 1), STREAM + "?mib=9").place.endswith("=9")
