"""The token of an invitation through a mailbox: one line of text with a secret that nobody can guess.

Never proves anything by itself, and never names the vault.
"""

import base64
import binascii

import msgspec

from syncproto import codec
from syncproto.errors import RemoteProtocolError
from syncproto.ids import DeviceId
from syncproto.mailboxes.invitations import SECRET_BYTES

VERSION = 2
DEVICE_BYTES = 32
TEXT_CHARS_MAX = 8 * 1024
WORDS_CHARS_MAX = 4096
ITEMS_MAX = 16


class MailboxToken(msgspec.Struct, frozen=True, array_like=True):
    """Who invites, the secret, until when (Unix time in ms), and where: name, kind and place of the mailbox.

    `kind`, `place` and `box_secret` are empty if the newcomer's person says where the mailbox is.
    """

    version: int
    device: DeviceId
    secret: bytes
    expires_ms: int
    name: str
    kind: str = ""
    place: str = ""
    box_secret: str = ""


_decoder = msgspec.msgpack.Decoder(MailboxToken)


def write(token: MailboxToken) -> str:
    """Return the token as one line of URL-safe text."""
    return base64.urlsafe_b64encode(codec.encode(token)).decode("ascii").rstrip("=")


def read(text: str) -> MailboxToken | None:
    """Return the token that a person pasted, None if the text is no token of an invitation by mailbox."""
    # Terminals and mails break long lines.
    line = "".join(text.split())
    if not 0 < len(line) <= TEXT_CHARS_MAX:
        return None
    try:
        raw = base64.b64decode(line + "=" * (-len(line) % 4), altchars=b"-_", validate=True)
        token = codec.decode(raw, _decoder, ITEMS_MAX)
    except (binascii.Error, ValueError, RemoteProtocolError):
        return None
    words = (token.name, token.kind, token.place, token.box_secret)
    if token.version != VERSION or any(len(word) > WORDS_CHARS_MAX for word in words):
        return None
    if len(token.device) != DEVICE_BYTES or len(token.secret) != SECRET_BYTES:
        return None
    return token if token.kind in ("", "relay", "nats") else None
