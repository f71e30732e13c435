"""Addresses as people write them.

Never resolves a name.
"""

import re
from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.peers.transport import addresses
from daemon.peers.transport.addresses import Address, caller_network, normalised_listen_host, parse


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("192.0.2.1:7000", Address("192.0.2.1", 7000)),
        (" desk.local:1 ", Address("desk.local", 1)),
        ("[2001:db8::1]:65535", Address("2001:db8::1", 65535)),
        ("[2001:0db8:0:0::1]:7", Address("2001:db8::1", 7)),
        ("[fe80::1%eth0]:7", Address("fe80::1%eth0", 7)),
    ],
)
def test_an_address_is_read_and_written_back(text: str, read: Address):
    assert parse(text) == read
    assert parse(str(read)) == read


@pytest.mark.parametrize(
    "text",
    [
        *("", ":", "desk", "desk:", ":7", "desk:0", "desk:65536", "desk:-1", "desk:七", "desk:007000"),
        *("2001:db8::1:7", "[nonsense]:7", "[::1]x:7", "a b:7", "a\nb:7", "a@b:7", "x" * 256 + ":7"),
        *("http://desk:7", "desk:7/path", "desk:7\n", "\tdesk:7", "desk:7\x85", "\u2028desk:7"),
    ],
)
def test_what_is_no_address_is_refused(text: str):
    with pytest.raises(ValueError, match=r"."):
        parse(text)
    assert not addresses.is_address(text)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_is_refused(text):
    if addresses.is_address(text):
        assert parse(str(parse(text))) == parse(text)


def test_a_listener_on_one_address_is_reached_there():
    assert addresses.reachable_addresses("127.0.0.1", 7) == ["127.0.0.1:7"]


def test_a_listener_on_all_addresses_is_reached_at_each_of_its_families_but_not_at_those_of_one_link():
    texts = ["10.0.0.5", "fd00::5", "fe80::5", "169.254.1.1"]
    assert {*addresses.reachable_addresses("", 7, texts)} >= {"10.0.0.5:7", "[fd00::5]:7"}
    for host, other in (("0.0.0.0", "[fd00::5]:7"), ("::", "10.0.0.5:7")):
        reachable_addresses = addresses.reachable_addresses(host, 7, texts)
        assert other not in reachable_addresses
        assert not any(
            "fe80" in reachable_address or "169.254" in reachable_address
            for reachable_address in reachable_addresses
        )


@pytest.mark.parametrize(
    ("host", "loopback"), [("0.0.0.0", "127.0.0.1:7"), ("::", "[::1]:7"), ("", "[::1]:7")]
)
def test_a_listener_on_all_addresses_is_reached_at_least_on_this_machine(host: str, loopback: str):
    reachable_addresses = addresses.reachable_addresses(host, 7)
    assert reachable_addresses[-1] == loopback
    assert all(addresses.is_address(reachable_address) for reachable_address in reachable_addresses)


@pytest.mark.parametrize(
    ("element", "other", "alike"),
    [
        (("192.0.2.1", 0), ("192.0.2.2", 0), False),
        (("192.0.2.1", 0), ("::ffff:192.0.2.1", 0), True),
        (("::ffff:192.0.2.1", 0), ("::ffff:192.0.2.2", 0), False),
        (("2001:db8::1", 0), ("2001:db8::ffff:1:2:3", 0), True),
        (("2001:db8::1", 0), ("2001:db8:0:1::1", 0), False),
        # On a link anyone may take any address that is local to it; another link is another matter.
        (("fe80::1", 2), ("fe80::2", 2), True),
        (("fe80::1%eth0", 2), ("fe80::1", 2), True),
        (("fe80::1", 2), ("fe80::1", 3), False),
    ],
)
def test_callers_are_counted_by_what_one_of_them_could_take(
    element: tuple[str, int], other: tuple[str, int], alike: bool
):
    assert (caller_network(*element) == caller_network(*other)) == alike


@given(st.ip_addresses(v=6), st.integers(0, (1 << 64) - 1))
def test_every_address_of_an_ipv6_network_counts_as_one(address: IPv6Address, rest: int):
    neighbour = IPv6Address(int(address) >> 64 << 64 | rest)
    mapped = {listed_address.ipv4_mapped for listed_address in (address, neighbour)}
    assert mapped != {None} or caller_network(str(address)) == caller_network(str(neighbour))


@pytest.mark.parametrize(
    ("set_to", "listened_on"),
    [
        ("", ""),
        ("::", "::"),
        ("0:0::0", "::"),
        ("0.0.0.0", "0.0.0.0"),
        (" 192.0.2.1 ", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0::1", "2001:db8::1"),
        ("169.254.1.1", "169.254.1.1"),
    ],
)
def test_what_is_listened_on_has_one_spelling(set_to: str, listened_on: str):
    assert normalised_listen_host(set_to) == listened_on


@pytest.mark.parametrize(
    ("set_to", "text"),
    [
        ("localhost", "'localhost' is no IP address"),
        ("desk.local", "'desk.local' is no IP address"),
        ("[::1]", "'[::1]' is no IP address"),
        ("10.0.0.1:9", "'10.0.0.1:9' is no IP address"),
        ("fe80::1%eth0", "on one link alone"),
        ("fe80::1", "on one link alone"),
    ],
)
def test_what_cannot_be_told_to_others_is_not_listened_on(set_to: str, text: str):
    with pytest.raises(ValueError, match=re.escape(text) + ".*give another address of this machine"):
        normalised_listen_host(set_to)
