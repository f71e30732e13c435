"""What is kept of announcements: floods, repeated words and addresses that lead astray.

Never opens a socket.
"""

import socket

import pytest

from daemon.journal.errors import Refused
from daemon.peers import announcing, hearing, joining
from daemon.peers.announcing import Known
from daemon.peers.hearing import HEARD_MAX, NEWS_S, Hearsay
from daemon.peers.joining import Inviting, Offer
from syncproto.ids import DeviceId
from tests.daemon.peers.fleet import GivenClock

DESK, KEY = DeviceId(bytes([1]) * 32), bytes([3]) * 32
NAME, PORT = "ab12._placet._tcp.local.", 4711


class Ear:
    """A device that knows one member, the desk."""

    def __init__(self, *, alone: bool = False) -> None:
        self.clock = GivenClock("ear")
        self.found: list[DeviceId] = []
        self.said = announcing.of_member(KEY, NAME, PORT, self.clock.randomness)
        known = Known(None, {DESK: KEY})
        self.hearsay = Hearsay(self.clock, lambda: known, self.found.append, alone=alone)

    def hear_desk(self, *addresses: str) -> None:
        self.hearsay.hear(NAME, PORT, addresses, self.said)

    def flood(self, count: int) -> None:
        for number in range(count):
            self.hearsay.hear(f"{number}.{announcing.SERVICE}", 9, ["10.9.9.9"], {b"v": b"1"})


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.mark.parametrize(
    "astray",
    [
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "::",
        "224.0.0.1",
        "ff02::1",
        "255.255.255.255",
        "240.0.0.1",
        "::ffff:127.0.0.1",
        "fe80::1",
        "no address",
    ],
)
def test_an_address_that_leads_here_or_to_many_or_nowhere_is_not_called(ear: Ear, astray: str):
    ear.hear_desk(astray, "10.0.0.1")
    assert ear.hearsay.addresses_of(DESK) == ["10.0.0.1:4711"]
    ear.hearsay.hear("x", 9, [astray], announcing.of_inviter("desk"))
    assert [one.addresses for one in ear.hearsay.inviters()] == [()]


def test_a_device_that_listens_on_its_own_machine_alone_finds_others_there():
    ear = Ear(alone=True)
    ear.hear_desk("127.0.0.1")
    assert ear.hearsay.addresses_of(DESK) == ["127.0.0.1:4711"]


def test_an_address_of_one_link_alone_names_the_interface_and_comes_last(ear: Ear):
    index, name = socket.if_nameindex()[0]
    ear.hear_desk(f"fe80::1%{index}", "fe80::2%eth9", "fe80::3%999999", "10.0.0.1")
    assert ear.hearsay.addresses_of(DESK) == [
        "10.0.0.1:4711",
        f"[fe80::1%{name}]:4711",
        "[fe80::2%eth9]:4711",
    ]


def test_a_flood_of_strangers_drives_no_member_and_no_inviter_out(ear: Ear):
    ear.hear_desk("10.0.0.1")
    ear.hearsay.hear("x", 9, ["10.0.0.2"], announcing.of_inviter("phone"))
    ear.flood(3 * HEARD_MAX)
    assert ear.hearsay.addresses_of(DESK) == ["10.0.0.1:4711"]
    assert [one.name for one in ear.hearsay.inviters()] == ["phone"]


def test_of_many_that_say_that_they_invite_a_bounded_number_is_kept(ear: Ear):
    ear.hear_desk("10.0.0.1")
    for number in range(3 * HEARD_MAX):
        ear.hearsay.hear(str(number), 9, ["10.9.9.9"], announcing.of_inviter(str(number)))
    assert len(ear.hearsay.inviters()) == HEARD_MAX - 1
    assert ear.hearsay.addresses_of(DESK) == ["10.0.0.1:4711"]


def test_whoever_repeats_the_words_of_a_member_with_ever_new_addresses_makes_no_flood_of_calls(ear: Ear):
    for number in range(200):
        ear.hear_desk(f"10.0.1.{number}")
    assert ear.found == [DESK]
    ear.clock.ahead_s += NEWS_S
    ear.hear_desk("10.0.2.1")
    assert ear.found == [DESK, DESK]


def test_what_was_heard_before_is_no_news(ear: Ear):
    ear.hear_desk("10.0.0.1")
    ear.clock.ahead_s += NEWS_S
    ear.hear_desk("10.0.0.1")
    assert ear.found == [DESK]


def test_a_goodbye_hides_an_inviter_only_behind_another(ear: Ear):
    ear.hearsay.hear("x", 9, ["10.0.0.2"], announcing.of_inviter("phone"))
    ear.hearsay.gone("x")
    ear.hearsay.gone("never heard")
    assert [one.name for one in ear.hearsay.inviters()] == ["phone"]
    ear.hearsay.hear("y", 9, ["10.0.0.3"], announcing.of_inviter("tablet"))
    assert [one.name for one in ear.hearsay.inviters()] == ["tablet"]


@pytest.mark.parametrize("first", ["10.0.0.2", "10.0.0.66"])
def test_whoever_takes_an_inviters_name_and_port_elsewhere_is_another(ear: Ear, first: str):
    for name, place in enumerate(sorted(("10.0.0.2", "10.0.0.66"), key=lambda one: one != first)):
        ear.hearsay.hear(str(name), 9, [place], announcing.of_inviter("phone"))
    told = [Inviting("phone", ("10.0.0.2:9",)), Inviting("phone", ("10.0.0.66:9",))]
    assert ear.hearsay.inviters() == told
    with pytest.raises(Refused, match="several devices on this network invite"):
        joining.candidates(None, Offer(bytes(6)), told)


def test_an_inviter_that_is_heard_twice_is_one_at_the_places_of_both(ear: Ear):
    ear.hearsay.hear("x", 9, ["10.0.0.2", "10.0.0.3"], announcing.of_inviter("phone"))
    ear.hearsay.hear("y", 9, ["10.0.0.4", "10.0.0.2"], announcing.of_inviter("phone"))
    assert ear.hearsay.inviters() == [Inviting("phone", ("10.0.0.2:9",))]
    # One that cannot be called stands in nobody's way.
    ear.hearsay.hear("z", 9, ["127.0.0.1"], announcing.of_inviter("tablet"))
    assert [one.name for one in ear.hearsay.inviters()] == ["phone"]


def test_an_invitation_that_was_heard_long_ago_counts_no_more(ear: Ear):
    ear.hearsay.hear("x", 9, ["10.0.0.2"], announcing.of_inviter("phone"))
    ear.clock.ahead_s += hearing.INVITING_S
    assert ear.hearsay.inviters() == []
