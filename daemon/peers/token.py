"""The token of an invitation: one line of text that lets a new device find and recognise the inviter.

Never proves anything by itself; pairing does, with the secret in it.
"""

import base64
import binascii
from collections.abc import Sequence

import msgspec

from syncproto import codec
from syncproto.faults import RemoteProtocolError
from syncproto.ids import DeviceId

VERSION = 1
SECRET_BYTES = 16
DEVICE_BYTES = 32
ADDRESSES_MAX = 16
ADDRESS_CHARS_MAX = 300
TEXT_CHARS_MIN = 32
TEXT_CHARS_MAX = 8 * 1024
ITEMS_MAX = 64


class BadToken(ValueError):
    """A text that is no token; the message says why."""


class Token(msgspec.Struct, frozen=True, array_like=True):
    """Where the inviter listens (`host:port`), who it is (SHA-256 of its SPKI), and the secret (16 bytes)."""

    version: int
    addresses: list[str]
    device: DeviceId
    secret: bytes


_decoder = msgspec.msgpack.Decoder(Token)


def write(addresses: Sequence[str], device: DeviceId, secret: bytes) -> str:
    """Return the token as one line of URL-safe text."""
    token = Token(VERSION, list(addresses)[:ADDRESSES_MAX], device, secret)
    return base64.urlsafe_b64encode(codec.encode(token)).decode("ascii").rstrip("=")


def read(text: str) -> Token:
    """Read a token that a person pasted. Raises BadToken."""
    line = "".join(text.split())
    if not 0 < len(line) <= TEXT_CHARS_MAX:
        raise BadToken(f"a token of {len(line)} characters")
    try:
        raw = base64.b64decode(line + "=" * (-len(line) % 4), altchars=b"-_", validate=True)
        token = codec.decode(raw, _decoder, ITEMS_MAX)
    except (binascii.Error, ValueError, RemoteProtocolError) as fault:
        raise BadToken("this is no token of placet pair --invite") from fault
    if token.version != VERSION:
        raise BadToken(f"a token of version {token.version}; this one reads version {VERSION}")
    if len(token.device) != DEVICE_BYTES or len(token.secret) != SECRET_BYTES:
        raise BadToken("a token with a key or secret of the wrong length")
    if not 0 < len(token.addresses) <= ADDRESSES_MAX:
        raise BadToken(f"a token with {len(token.addresses)} addresses")
    if any(len(address) > ADDRESS_CHARS_MAX for address in token.addresses):
        raise BadToken("a token with an overlong address")
    return token
