"""The token of an invitation: one line of text that lets a new device find and recognise the inviter.

Never proves anything by itself; pairing does, with the secret in it.
"""

import base64
import binascii
from collections.abc import Sequence

import msgspec

from store.sentence import Sentence, sentence
from syncproto import codec
from syncproto.errors import RemoteProtocolError
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
    """A text that is no token; `sentence` says why."""

    def __init__(self, reason: Sentence) -> None:
        super().__init__(reason.text)
        self.sentence = reason


class Token(msgspec.Struct, frozen=True, array_like=True):
    """Where the inviter listens (`host:port`), its device id (SHA-256 of its SPKI), and the secret."""

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
    # Terminals and mails break long lines.
    line = "".join(text.split())
    if not 0 < len(line) <= TEXT_CHARS_MAX:
        raise BadToken(sentence("token-length", "a token cannot have {count} characters", count=len(line)))
    try:
        raw = base64.b64decode(line + "=" * (-len(line) % 4), altchars=b"-_", validate=True)
        token = codec.decode(raw, _decoder, ITEMS_MAX)
    except (binascii.Error, ValueError, RemoteProtocolError) as fault:
        raise BadToken(sentence("no-token", "this is no token of placet pair --invite")) from fault
    if token.version != VERSION:
        raise BadToken(
            sentence(
                "token-version",
                "the token has version {version}; this device reads version {known}",
                version=token.version,
                known=VERSION,
            )
        )
    if len(token.device) != DEVICE_BYTES or len(token.secret) != SECRET_BYTES:
        raise BadToken(sentence("token-key-length", "the token's key or secret has the wrong length"))
    if not 0 < len(token.addresses) <= ADDRESSES_MAX:
        raise BadToken(
            sentence("token-addresses", "a token cannot have {count} addresses", count=len(token.addresses))
        )
    if any(len(address) > ADDRESS_CHARS_MAX for address in token.addresses):
        raise BadToken(sentence("token-address-long", "an address in the token is too long"))
    return token
