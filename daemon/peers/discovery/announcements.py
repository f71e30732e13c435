"""What a device announces by mDNS, and what other devices may conclude from it.

Never reveals who a member is to anyone but members. It proves nothing: whoever repeats an announcement with
another address has the wrong certificate when it is called.
"""

import base64
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from syncproto.ids import DeviceId

SERVICE_TYPE = "_placet._tcp.local."
VERSION = b"1"
NAME_BYTES_MAX = 200
_RANDOM_BYTES = 16
_MARK_BYTES = 16

TxtRecord = Mapping[bytes, bytes | None]


class ServiceNames(NamedTuple):
    """The names of a service: the instance and the host. Both are random, so that nobody can be tracked."""

    instance: str
    host: str


@dataclass(frozen=True, slots=True)
class NearbyInviter:
    """A device that announces an invitation on this network. Its name and addresses are not proved."""

    name: str
    addresses: tuple[str, ...]


def draw_service_names(randomness: Callable[[int], bytes], service: str = SERVICE_TYPE) -> ServiceNames:
    """Draw names for one service, for as long as it is announced."""
    instance, host = (randomness(_RANDOM_BYTES).hex() for _ in range(2))
    return ServiceNames(f"{instance}.{service}", f"{host}.local.")


def member_txt_record(
    key: bytes, instance: str, port: int, randomness: Callable[[int], bytes]
) -> dict[bytes, bytes]:
    """Return the TXT record of a member. Only a device that knows its beacon key recognises it."""
    # With a nonce, strangers cannot tell that two announcements come from one device.
    nonce = randomness(_RANDOM_BYTES)
    return {b"v": VERSION, b"n": _text(nonce), b"h": _text(_mark(key, instance, port, nonce))}


def inviter_txt_record(name: str) -> dict[bytes, bytes]:
    """Return the TXT record of an open invitation. It shows the device's name to everyone nearby."""
    cut = name.encode()[:NAME_BYTES_MAX].decode(errors="ignore")
    return {b"v": VERSION, b"pair": cut.encode()}


def announced_member(
    properties: TxtRecord, instance: str, port: int, keys: Mapping[DeviceId, bytes]
) -> DeviceId | None:
    """Return which of the members with these beacon keys made an announcement, None if none of them did."""
    if properties.get(b"v") != VERSION:
        return None
    nonce, mark = _bytes(properties.get(b"n")), _bytes(properties.get(b"h"))
    if len(nonce) != _RANDOM_BYTES or len(mark) != _MARK_BYTES:
        return None
    for device, key in keys.items():
        if hmac.compare_digest(mark, _mark(key, instance, port, nonce)):
            return device
    return None


def announced_inviter(properties: TxtRecord) -> str | None:
    """Return the name of the device that announces an invitation, None for another announcement."""
    name = properties.get(b"pair")
    if properties.get(b"v") != VERSION or not name:
        return None
    text = name[:NAME_BYTES_MAX].decode(errors="replace")
    # Anyone nearby can send a name, and terminals show it: it must not contain anything that drives them.
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _mark(key: bytes, instance: str, port: int, nonce: bytes) -> bytes:
    marked = b"placet announcement 1\0" + nonce + port.to_bytes(2, "big") + instance.encode()
    return hmac.digest(key, marked, "sha256")[:_MARK_BYTES]


def _text(raw: bytes) -> bytes:
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def _bytes(text: bytes | None) -> bytes:
    try:
        return base64.b64decode((text or b"") + b"==", altchars=b"-_", validate=False)
    except ValueError:
        return b""
