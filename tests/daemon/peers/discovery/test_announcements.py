"""What is announced by mDNS: only members recognise members, and no announcement is made twice.

Never opens a socket.
"""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.peers.discovery import announcements
from syncproto.ids import DeviceId
from tests.daemon.peers.fleet import GivenClock

DESK, PHONE = DeviceId(bytes([1]) * 32), DeviceId(bytes([2]) * 32)
KEYS = {DESK: bytes([3]) * 32, PHONE: bytes([4]) * 32}
INSTANCE, PORT = "ab12._placet._tcp.local.", 4711
Draw = Callable[[int], bytes]


@pytest.fixture
def draw() -> Draw:
    return GivenClock("announcing").randomness


def test_members_tell_which_member_it_is_and_others_see_nothing(draw: Draw):
    member_txt_record = announcements.member_txt_record(KEYS[PHONE], INSTANCE, PORT, draw)
    assert announcements.announced_member(member_txt_record, INSTANCE, PORT, KEYS) == PHONE
    assert announcements.announced_member(member_txt_record, INSTANCE, PORT, {DESK: KEYS[DESK]}) is None
    assert announcements.announced_member(member_txt_record, INSTANCE, PORT, {}) is None


def test_two_starts_have_nothing_in_common(draw: Draw):
    first, second = [announcements.member_txt_record(KEYS[PHONE], INSTANCE, PORT, draw) for _ in range(2)]
    assert {*first.values()} & {*second.values()} == {announcements.VERSION}
    names = [announcements.draw_service_names(draw) for _ in range(2)]
    assert len({*names[0], *names[1]}) == 4


def test_an_announcement_holds_for_its_own_name_and_port_alone(draw: Draw):
    member_txt_record = announcements.member_txt_record(KEYS[PHONE], INSTANCE, PORT, draw)
    assert announcements.announced_member(member_txt_record, "other._placet._tcp.local.", PORT, KEYS) is None
    assert announcements.announced_member(member_txt_record, INSTANCE, PORT + 1, KEYS) is None


@given(st.dictionaries(st.sampled_from([b"v", b"n", b"h", b"pair"]), st.none() | st.binary(max_size=255)))
def test_whatever_is_announced_is_read_without_a_fault(words: dict[bytes, bytes | None]):
    assert announcements.announced_member(words | {b"v": b"1"}, INSTANCE, PORT, KEYS) is None
    name = announcements.announced_inviter(words | {b"v": b"1"})
    assert name is None or (name.isprintable() and len(name) <= announcements.NAME_BYTES_MAX)


def test_only_an_invitation_says_a_name(draw: Draw):
    inviter_txt_record = announcements.inviter_txt_record("Łódź desk")
    assert announcements.announced_inviter(inviter_txt_record) == "Łódź desk"
    assert (
        announcements.announced_inviter(announcements.member_txt_record(KEYS[DESK], INSTANCE, PORT, draw))
        is None
    )
    assert announcements.announced_inviter({**inviter_txt_record, b"v": b"2"}) is None
    # A TXT entry has 255 bytes; a character is not cut in half.
    long = announcements.inviter_txt_record("ł" * 400)[b"pair"]
    assert len(b"pair=" + long) < 256
    assert long.decode() == "ł" * (announcements.NAME_BYTES_MAX // 2)


def test_a_name_cannot_write_on_the_terminal():
    assert "\x1b" not in (
        announcements.announced_inviter({b"v": b"1", b"pair": b"\x1b[2Jdesk\xe2\x80\xae"}) or ""
    )
