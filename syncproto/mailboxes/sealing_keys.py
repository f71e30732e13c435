"""The keys to which devices seal what lies in mailboxes: HPKE with X25519, or with ML-KEM-768 beside it.

Never stores a private key, and never believes a public one that its device has not signed.
"""

from enum import IntEnum
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import (
    AEAD,
    KDF,
    KEM,
    MLKEM768X25519PrivateKey,
    MLKEM768X25519PublicKey,
    Suite,
)

from syncproto.codec import Value
from syncproto.errors import RemoteProtocolError
from syncproto.ids import DeviceId
from syncproto.keys import SIGNATURE_BYTES, Signer, device_id_of_key, verify_signature
from syncproto.mailboxes.names import NUMBER_MAX

SECRET_BYTES = 32
_TAG_BYTES = 16
_X25519_BYTES = 32
_MLKEM_PUBLIC_BYTES, _MLKEM_SEED_BYTES = 1184, 64
_SIGNED_AS = b"placet mailbox key 1\0"
_VALUE_PARTS = 4


class SealingSuite(IntEnum):
    """How a key seals. HYBRID holds as long as either of ML-KEM-768 and X25519 does; X25519 is short."""

    X25519 = 1
    HYBRID = 2


class _SuiteForm(NamedTuple):
    """The sizes of a suite: of a public key, of what a private key is made from, of a sealed secret."""

    suite: Suite
    public_bytes: int
    private_bytes: int
    wrap_bytes: int


def _form(kem: KEM, public_bytes: int, private_bytes: int) -> _SuiteForm:
    suite = Suite(kem, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
    return _SuiteForm(suite, public_bytes, private_bytes, kem.enc_length() + SECRET_BYTES + _TAG_BYTES)


_FORMS = {
    SealingSuite.X25519: _form(KEM.X25519, _X25519_BYTES, _X25519_BYTES),
    SealingSuite.HYBRID: _form(
        KEM.MLKEM768_X25519, _MLKEM_PUBLIC_BYTES + _X25519_BYTES, _MLKEM_SEED_BYTES + _X25519_BYTES
    ),
}


class PublicSealingKey(NamedTuple):
    """A key to seal to: 32 bytes of X25519, for HYBRID behind 1184 of ML-KEM-768."""

    suite: SealingSuite
    public: bytes


class PrivateSealingKey(NamedTuple):
    """The other half: 32 bytes of X25519, for HYBRID behind a seed of 64 for ML-KEM-768.

    `number` is the time at which it was made (Unix time in milliseconds): of two keys the higher one counts.
    """

    suite: SealingSuite
    number: int
    private: bytes

    @property
    def public_key(self) -> PublicSealingKey:
        """Return the half to publish."""
        key = _private(self).public_key()
        if isinstance(key, X25519PublicKey):
            return PublicSealingKey(self.suite, key.public_bytes_raw())
        mlkem = MLKEM768PrivateKey.from_seed_bytes(self.private[:_MLKEM_SEED_BYTES])
        x25519 = X25519PrivateKey.from_private_bytes(self.private[_MLKEM_SEED_BYTES:])
        public = mlkem.public_key().public_bytes_raw() + x25519.public_key().public_bytes_raw()
        return PublicSealingKey(self.suite, public)


class PublishedKey(NamedTuple):
    """A public key that its device has signed, and the number that it has among that device's keys."""

    number: int
    key: PublicSealingKey


def private_bytes_of(suite: SealingSuite) -> int:
    """Return how many random bytes a private key of a suite is made of."""
    return _FORMS[suite].private_bytes


def wrap_bytes_of(suite: int) -> int | None:
    """Return how many bytes a secret of 32 bytes has once it is sealed, None for a suite that is unknown."""
    return _FORMS[SealingSuite(suite)].wrap_bytes if suite in _FORMS else None


def _private(key: PrivateSealingKey) -> X25519PrivateKey | MLKEM768X25519PrivateKey:
    if key.suite is SealingSuite.X25519:
        return X25519PrivateKey.from_private_bytes(key.private)
    return MLKEM768X25519PrivateKey(
        MLKEM768PrivateKey.from_seed_bytes(key.private[:_MLKEM_SEED_BYTES]),
        X25519PrivateKey.from_private_bytes(key.private[_MLKEM_SEED_BYTES:]),
    )


def _public(key: PublicSealingKey) -> X25519PublicKey | MLKEM768X25519PublicKey:
    if key.suite is SealingSuite.X25519:
        return X25519PublicKey.from_public_bytes(key.public)
    return MLKEM768X25519PublicKey(
        MLKEM768PublicKey.from_public_bytes(key.public[:_MLKEM_PUBLIC_BYTES]),
        X25519PublicKey.from_public_bytes(key.public[_MLKEM_PUBLIC_BYTES:]),
    )


def seal_secret(key: PublicSealingKey, secret: bytes, info: bytes) -> bytes | None:
    """Return a secret (32 bytes) sealed to a key, None for a key that nothing can be sealed to.

    Only a patched device publishes such a key, and what it does not receive is its own loss.
    """
    assert len(secret) == SECRET_BYTES
    try:
        return _FORMS[key.suite].suite.encrypt(secret, _public(key), info)
    except (ValueError, InvalidTag):
        return None


def open_secret(key: PrivateSealingKey, wrap: bytes, info: bytes) -> bytes:
    """Return the secret that was sealed to a key. Raises RemoteProtocolError for anything else."""
    try:
        secret = _FORMS[key.suite].suite.decrypt(wrap, _private(key), info)
    except (ValueError, InvalidTag) as fault:
        raise RemoteProtocolError("a secret that is not sealed to this key") from fault
    if len(secret) != SECRET_BYTES:
        raise RemoteProtocolError(f"a sealed secret of {len(secret)} bytes")
    return secret


# -- what a device publishes ---------------------------------------------------------------------------


def _signed_bytes(device: DeviceId, suite: int, number: int, public: bytes) -> bytes:
    return _SIGNED_AS + device + bytes([suite]) + number.to_bytes(8, "big") + public


def roster_value(key: PrivateSealingKey, signer: Signer) -> tuple[int, int, bytes, bytes]:
    """Return what a device publishes of its key, in its roster entry and in its haves: PROTOCOL.md §17.2."""
    public = key.public_key
    signature = signer.sign(_signed_bytes(signer.device, key.suite, key.number, public.public))
    return int(key.suite), key.number, public.public, signature


def read_roster_value(value: Value, public_key: bytes) -> PublishedKey | None:
    """Return the key in a value that the holder of an Ed25519 key (32 bytes) has signed, None for any other.

    So nobody who could write to the entry, and was removed since, is sealed to in the place of its device.
    """
    if not isinstance(value, list) or len(value) != _VALUE_PARTS:
        return None
    suite, number, public, signature = value
    if type(suite) is not int or suite not in _FORMS or not isinstance(public, bytes):
        return None
    if type(number) is not int or not 1 <= number <= NUMBER_MAX or not isinstance(signature, bytes):
        return None
    form = _FORMS[SealingSuite(suite)]
    if len(public) != form.public_bytes or len(signature) != SIGNATURE_BYTES:
        return None
    signed = _signed_bytes(device_id_of_key(public_key), suite, number, public)
    if not verify_signature(public_key, signature, signed):
        return None
    return PublishedKey(number, PublicSealingKey(SealingSuite(suite), public))
