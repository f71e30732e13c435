"""Addresses as people write them.

Never resolves one.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.peers import addresses
from daemon.peers.addresses import Address, parse


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
    assert addresses.reachable("127.0.0.1", 7) == ["127.0.0.1:7"]


def test_a_listener_on_all_addresses_is_reached_at_each_of_its_families_but_not_at_those_of_one_link():
    held = ["10.0.0.5", "fd00::5", "fe80::5", "169.254.1.1"]
    assert {*addresses.reachable("", 7, held)} >= {"10.0.0.5:7", "[fd00::5]:7"}
    for host, other in (("0.0.0.0", "[fd00::5]:7"), ("::", "10.0.0.5:7")):
        found = addresses.reachable(host, 7, held)
        assert other not in found
        assert not any("fe80" in one or "169.254" in one for one in found)


@pytest.mark.parametrize(
    ("host", "loopback"), [("0.0.0.0", "127.0.0.1:7"), ("::", "[::1]:7"), ("", "[::1]:7")]
)
def test_a_listener_on_all_addresses_is_reached_at_least_on_this_machine(host: str, loopback: str):
    found = addresses.reachable(host, 7)
    assert found[-1] == loopback
    assert all(addresses.is_address(one) for one in found)
