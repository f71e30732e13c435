"""The names by which a carrier knows a vault, its devices and their keys: they tell a stranger nothing.

Never decides what a name is believed for: what counts is inside a blob, and signed.
"""

import re
from collections.abc import Collection

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from syncproto.ids import DeviceId

TAG_BYTES = 16
KEY_TAG_BYTES = 8
NAME_BYTES = 8
HOLDER_BYTES = 8
NUMBER_MAX = (1 << 53) - 1

DROP_ENDING = ".drop"
HAVE_ENDING = ".have"

_DERIVED_AS = b"placet mailbox 1\0"
# Synchronisers of folders change the letters of a name, or put words between its stem and its ending.
_BLOB = re.compile(r"[0-9a-z][^/\0]{0,240}\.(drop|have)", re.IGNORECASE)


def _derive(vault: bytes, label: bytes, length: int) -> bytes:
    # The id of a vault is secret to all who were never members: pairing discloses it after the proof.
    return HKDF(SHA256(), length, None, _DERIVED_AS + label).derive(vault)


def vault_tag(vault: bytes) -> bytes:
    """Return what a vault (16 bytes) is called in a mailbox: 16 bytes."""
    return _derive(vault, b"vault", TAG_BYTES)


def device_tag(vault: bytes, device: DeviceId) -> bytes:
    """Return what a device is called in the mailboxes of its vault: 16 bytes."""
    return _derive(vault, b"device\0" + device, TAG_BYTES)


def key_tag(vault: bytes, public_key: bytes) -> bytes:
    """Return by which 8 bytes a recipient finds what is sealed to one of its keys."""
    return _derive(vault, b"key\0" + public_key, KEY_TAG_BYTES)


def drop_name(sender: bytes, number: int, randomness: bytes) -> str:
    """Return where a device (its tag) puts its drop of a number: the same place is never used twice."""
    assert len(randomness) == NAME_BYTES
    return f"{sender.hex()}/{number:014x}-{randomness.hex()}{DROP_ENDING}"


def have_name(sender: bytes, holder: bytes) -> str:
    """Return where a device (its tag) says what it has, as the holder of 8 bytes that it is."""
    assert len(holder) == HOLDER_BYTES
    return f"{sender.hex()}-{holder.hex()}{HAVE_ENDING}"


def tag_in(name: str, tags: Collection[str]) -> str | None:
    """Return with which tag of a device a name begins, in letters of either case; None if with none."""
    beginning = name[: 2 * TAG_BYTES].casefold()
    return beginning if beginning in tags else None


def begins_with_tag(name: str, tags: Collection[str]) -> bool:
    """Return whether a name begins with the tag of a device, in letters of either case."""
    return tag_in(name, tags) is not None


def is_blob_name(name: str) -> bool:
    """Return whether the last part of a name can be that of a blob, or of a copy that a carrier made."""
    return _BLOB.fullmatch(name.rpartition("/")[2]) is not None
