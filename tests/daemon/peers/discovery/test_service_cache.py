"""What is kept of announcements: floods, repetitions, and addresses that lead to other services.

Never opens a socket.
"""

import socket

import pytest

from daemon.peers.discovery import announcements, service_cache
from daemon.peers.discovery.announcements import NearbyInviter
from daemon.peers.discovery.service_cache import NOTIFY_PAUSE_S, SERVICES_MAX, ServiceCache
from daemon.peers.pairing import joiner_side
from daemon.peers.pairing.joiner_side import InvitationOffer
from daemon.peers.roster.member_records import BeaconKeys
from daemon.refusal import Refused
from syncproto.ids import DeviceId
from tests.daemon.peers.fleet import GivenClock

DESK, KEY = DeviceId(bytes([1]) * 32), bytes([3]) * 32
NAME, PORT = "ab12._placet._tcp.local.", 4711


class Ear:
    """A device that knows one member, the desk."""

    def __init__(self, *, loopback_only: bool = False) -> None:
        self.clock = GivenClock("ear")
        self.found: list[DeviceId] = []
        self.said = announcements.member_txt_record(KEY, NAME, PORT, self.clock.randomness)
        beacon_keys = BeaconKeys(None, {DESK: KEY})
        self.cache = ServiceCache(
            self.clock, lambda: beacon_keys, self.found.append, loopback_only=loopback_only
        )

    def hear_desk(self, *addresses: str) -> None:
        self.cache.store_service(NAME, PORT, addresses, self.said)

    def flood(self, count: int) -> None:
        for number in range(count):
            self.cache.store_service(f"{number}.{announcements.SERVICE_TYPE}", 9, ["10.9.9.9"], {b"v": b"1"})


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
    assert ear.cache.cached_addresses(DESK) == ["10.0.0.1:4711"]
    ear.cache.store_service("x", 9, [astray], announcements.inviter_txt_record("desk"))
    assert [cached_inviter.addresses for cached_inviter in ear.cache.cached_inviters()] == [()]


def test_a_device_that_listens_on_its_own_machine_alone_finds_others_there():
    ear = Ear(loopback_only=True)
    ear.hear_desk("127.0.0.1")
    assert ear.cache.cached_addresses(DESK) == ["127.0.0.1:4711"]


def test_an_address_of_one_link_alone_names_the_interface_and_comes_last(ear: Ear):
    index, name = socket.if_nameindex()[0]
    ear.hear_desk(f"fe80::1%{index}", "fe80::2%eth9", "fe80::3%999999", "10.0.0.1")
    assert ear.cache.cached_addresses(DESK) == [
        "10.0.0.1:4711",
        f"[fe80::1%{name}]:4711",
        "[fe80::2%eth9]:4711",
    ]


def test_a_flood_of_strangers_drives_no_member_and_no_inviter_out(ear: Ear):
    ear.hear_desk("10.0.0.1")
    ear.cache.store_service("x", 9, ["10.0.0.2"], announcements.inviter_txt_record("phone"))
    ear.flood(3 * SERVICES_MAX)
    assert ear.cache.cached_addresses(DESK) == ["10.0.0.1:4711"]
    assert [cached_inviter.name for cached_inviter in ear.cache.cached_inviters()] == ["phone"]


def test_of_many_that_say_that_they_invite_a_bounded_number_is_kept(ear: Ear):
    ear.hear_desk("10.0.0.1")
    for number in range(3 * SERVICES_MAX):
        ear.cache.store_service(str(number), 9, ["10.9.9.9"], announcements.inviter_txt_record(str(number)))
    assert len(ear.cache.cached_inviters()) == SERVICES_MAX - 1
    assert ear.cache.cached_addresses(DESK) == ["10.0.0.1:4711"]


def test_whoever_repeats_the_words_of_a_member_with_ever_new_addresses_makes_no_flood_of_calls(ear: Ear):
    for number in range(200):
        ear.hear_desk(f"10.0.1.{number}")
    assert ear.found == [DESK]
    ear.clock.ahead_s += NOTIFY_PAUSE_S
    ear.hear_desk("10.0.2.1")
    assert ear.found == [DESK, DESK]


def test_what_was_heard_before_is_no_news(ear: Ear):
    ear.hear_desk("10.0.0.1")
    ear.clock.ahead_s += NOTIFY_PAUSE_S
    ear.hear_desk("10.0.0.1")
    assert ear.found == [DESK]


def test_a_goodbye_hides_an_inviter_only_behind_another(ear: Ear):
    ear.cache.store_service("x", 9, ["10.0.0.2"], announcements.inviter_txt_record("phone"))
    ear.cache.mark_gone("x")
    ear.cache.mark_gone("never heard")
    assert [cached_inviter.name for cached_inviter in ear.cache.cached_inviters()] == ["phone"]
    ear.cache.store_service("y", 9, ["10.0.0.3"], announcements.inviter_txt_record("tablet"))
    assert [cached_inviter.name for cached_inviter in ear.cache.cached_inviters()] == ["tablet"]


@pytest.mark.parametrize("first", ["10.0.0.2", "10.0.0.66"])
def test_whoever_takes_an_inviters_name_and_port_elsewhere_is_another(ear: Ear, first: str):
    for name, place in enumerate(sorted(("10.0.0.2", "10.0.0.66"), key=lambda text: text != first)):
        ear.cache.store_service(str(name), 9, [place], announcements.inviter_txt_record("phone"))
    nearby_inviters = [NearbyInviter("phone", ("10.0.0.2:9",)), NearbyInviter("phone", ("10.0.0.66:9",))]
    assert ear.cache.cached_inviters() == nearby_inviters
    with pytest.raises(Refused, match="several devices on this network invite"):
        joiner_side.inviter_addresses(None, InvitationOffer(bytes(6)), nearby_inviters)


def test_an_inviter_that_is_heard_twice_is_one_at_the_places_of_both(ear: Ear):
    ear.cache.store_service("x", 9, ["10.0.0.2", "10.0.0.3"], announcements.inviter_txt_record("phone"))
    ear.cache.store_service("y", 9, ["10.0.0.4", "10.0.0.2"], announcements.inviter_txt_record("phone"))
    assert ear.cache.cached_inviters() == [NearbyInviter("phone", ("10.0.0.2:9",))]
    # One that cannot be called stands in nobody's way.
    ear.cache.store_service("z", 9, ["127.0.0.1"], announcements.inviter_txt_record("tablet"))
    assert [cached_inviter.name for cached_inviter in ear.cache.cached_inviters()] == ["phone"]


def test_an_invitation_that_was_heard_long_ago_counts_no_more(ear: Ear):
    ear.cache.store_service("x", 9, ["10.0.0.2"], announcements.inviter_txt_record("phone"))
    ear.clock.ahead_s += service_cache.INVITER_MEMORY_S
    assert ear.cache.cached_inviters() == []
