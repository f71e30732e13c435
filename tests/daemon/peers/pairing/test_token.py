"""The text of an invitation.

Never prints a token that a daemon would accept.
"""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.peers.pairing import token
from daemon.peers.pairing.token import BadToken, Token
from syncproto import codec
from syncproto.ids import DeviceId

DEVICE, SECRET = DeviceId(bytes(32)), bytes(range(16))


@given(
    addresses=st.lists(st.text(max_size=40), min_size=1, max_size=16),
    device=st.binary(min_size=32, max_size=32),
    secret=st.binary(min_size=16, max_size=16),
)
def test_a_token_reads_back_as_it_was_written(addresses, device, secret):
    text = token.write(addresses, DeviceId(device), secret)
    assert "\n" not in text
    assert token.read(text) == Token(1, addresses, DeviceId(device), secret)


def test_line_breaks_from_a_terminal_do_no_harm():
    text = token.write(["192.0.2.1:7000"], DEVICE, SECRET)
    assert token.read(f" {text[:40]}\n{text[40:]}\r\n").secret == SECRET


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_reason(text):
    with pytest.raises(BadToken, match=r"."):
        token.read(text)


def raw(*parts: object) -> str:
    return base64.urlsafe_b64encode(codec.encode(list(parts))).decode().rstrip("=")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (raw(2, ["a:1"], DEVICE, SECRET), "version 2"),
        (raw(1, ["a:1"], DEVICE[1:], SECRET), "wrong length"),
        (raw(1, ["a:1"], DEVICE, SECRET[1:]), "wrong length"),
        (raw(1, [], DEVICE, SECRET), "0 addresses"),
        (raw(1, ["a:1"] * 17, DEVICE, SECRET), "17 addresses"),
        (raw(1, ["a" * 301], DEVICE, SECRET), "an address in the token is too long"),
        (raw(1, ["a:1"], DEVICE), "no token of placet pair"),
        (raw(1, [["a"] * 100], DEVICE, SECRET), "no token of placet pair"),
        (raw(1, ["a:1"], DEVICE, SECRET) + "!", "no token of placet pair"),
        ("A" * 9000, "9000 characters"),
        ("", "0 characters"),
    ],
)
def test_a_token_out_of_range_is_refused(text: str, reason: str):
    with pytest.raises(BadToken, match=reason):
        token.read(text)
