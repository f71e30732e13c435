"""Ed25519 keys: signing, verifying, and the device id that is derived from a key.

Never stores a key, and never draws the randomness for one.
"""

import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from syncproto.ids import DeviceId

KEY_BYTES = 32
SIGNATURE_BYTES = 64

# RFC 8410 §4: the DER of an Ed25519 SubjectPublicKeyInfo is this header and the raw key.
_SPKI_HEADER = bytes.fromhex("302a300506032b6570032100")


def device_id_of_key(public_key: bytes) -> DeviceId:
    """Return SHA-256 of the key's SubjectPublicKeyInfo (32 bytes)."""
    return DeviceId(hashlib.sha256(_SPKI_HEADER + public_key).digest())


def verify_signature(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether `signature` (64 bytes) over `message` is by the holder of `public_key` (32 bytes)."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


class Signer:
    """The signing key of a device, made from a seed of 32 bytes."""

    __slots__ = ("_key", "device", "public_key")

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public_key: bytes = self._key.public_key().public_bytes_raw()
        self.device: DeviceId = device_id_of_key(self.public_key)

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte signature over `message`."""
        return self._key.sign(message)
