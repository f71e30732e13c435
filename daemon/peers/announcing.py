"""What a device says of itself by mDNS, and what others may conclude from it.

Never says who a device is to anyone but members, and never proves anything: whoever repeats an announcement
with another address is found out when it is called, by its certificate.
"""

import base64
import hmac
from collections.abc import Callable, Mapping
from typing import NamedTuple

from syncproto.ids import DeviceId

SERVICE = "_placet._tcp.local."
VERSION = b"1"
NAME_BYTES_MAX = 200
_RANDOM_BYTES = 16
_MARK_BYTES = 16

Properties = Mapping[bytes, bytes | None]


class Known(NamedTuple):
    """What the roster says now: this device's own beacon key, None where it is no member, and the others'."""

    own: bytes | None
    others: Mapping[DeviceId, bytes]


class Names(NamedTuple):
    """What a service is called: the instance and the host, both random, so that they follow nobody around."""

    instance: str
    host: str


def names(randomness: Callable[[int], bytes], service: str = SERVICE) -> Names:
    """Draw names for one service, for as long as it is announced."""
    instance, host = (randomness(_RANDOM_BYTES).hex() for _ in range(2))
    return Names(f"{instance}.{service}", f"{host}.local.")


def of_member(key: bytes, instance: str, port: int, randomness: Callable[[int], bytes]) -> dict[bytes, bytes]:
    """Return the TXT record of a member; only who knows its beacon key sees whose it is."""
    nonce = randomness(_RANDOM_BYTES)
    return {b"v": VERSION, b"n": _text(nonce), b"h": _text(_mark(key, instance, port, nonce))}


def of_inviter(name: str) -> dict[bytes, bytes]:
    """Return the TXT record of an open invitation, which says the device's name to everyone near."""
    cut = name.encode()[:NAME_BYTES_MAX].decode(errors="ignore")
    return {b"v": VERSION, b"pair": cut.encode()}


def member(
    properties: Properties, instance: str, port: int, keys: Mapping[DeviceId, bytes]
) -> DeviceId | None:
    """Return which of the members with these beacon keys announces itself; None where none does."""
    if properties.get(b"v") != VERSION:
        return None
    nonce, mark = _bytes(properties.get(b"n")), _bytes(properties.get(b"h"))
    if len(nonce) != _RANDOM_BYTES or len(mark) != _MARK_BYTES:
        return None
    for device, key in keys.items():
        if hmac.compare_digest(mark, _mark(key, instance, port, nonce)):
            return device
    return None


def inviter(properties: Properties) -> str | None:
    """Return the name of a device that says that it invites; None where it does not."""
    name = properties.get(b"pair")
    if properties.get(b"v") != VERSION or not name:
        return None
    told = name[:NAME_BYTES_MAX].decode(errors="replace")
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in told)


def _mark(key: bytes, instance: str, port: int, nonce: bytes) -> bytes:
    said = b"placet announcement 1\0" + nonce + port.to_bytes(2, "big") + instance.encode()
    return hmac.digest(key, said, "sha256")[:_MARK_BYTES]


def _text(raw: bytes) -> bytes:
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def _bytes(text: bytes | None) -> bytes:
    try:
        return base64.b64decode((text or b"") + b"==", altchars=b"-_", validate=False)
    except ValueError:
        return b""
