"""Passkey assertions: whether a person used an authenticator for exactly one decision.

Never parses JSON or DER, and never asks a library that may change its mind: all devices must judge alike.
"""

import base64
import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from syncproto import codec
from syncproto.codec import Value
from syncproto.ids import ID_BYTES, ZERO_ID, EntityId, derived_id
from syncproto.keys import KEY_BYTES, SIGNATURE_BYTES, verify_signature

ASSERTION_FIELD: Final = "assertion"
"""The field of a decision that has the assertion; the assertion is over all other fields."""

AUTHENTICATOR_DATA_BYTES_MAX: Final = 1024
CLIENT_DATA_BYTES_MAX: Final = 4096
RP_ID_CHARS_MAX: Final = 253

_P256_POINT_BYTES = 65
_UNCOMPRESSED = 0x04
_P256_COORDINATE_BYTES = 32
_RP_ID_HASH_BYTES = 32
_AUTHENTICATOR_DATA_BYTES_MIN = _RP_ID_HASH_BYTES + 1 + 4
_USER_PRESENT, _USER_VERIFIED = 0x01, 0x04
_NEEDED_FLAGS = _USER_PRESENT | _USER_VERIFIED
_CHALLENGE_OF = b"placet decision 1\0"


class Passkey(NamedTuple):
    """The public half of a passkey.

    `key` is 32 bytes (Ed25519) or 65 bytes (P-256: 0x04 and the two coordinates). `rp_id` is the domain for
    which the authenticator made it.
    """

    key: bytes
    rp_id: str

    @property
    def id(self) -> EntityId:
        """Return the id of the entity that contains this passkey."""
        return derived_id("passkey", self.key.hex(), self.rp_id, time_of=ZERO_ID)


class Assertion(NamedTuple):
    """What an authenticator returned (W3C Web Authentication, level 3, §7.2).

    `signature` is 64 bytes: for Ed25519 as it is, for P-256 the two numbers r and s of 32 bytes each.
    """

    passkey: EntityId
    authenticator_data: bytes
    client_data: bytes
    signature: bytes


def passkey_in(fields: Mapping[str, Value]) -> Passkey | None:
    """Return the passkey in the fields of an entity of kind `passkey`; None if there is none."""
    key, rp_id = fields.get("key"), fields.get("rp_id")
    if not isinstance(key, bytes) or not (len(key) == KEY_BYTES or _is_uncompressed_point(key)):
        return None
    if not isinstance(rp_id, str) or not 0 < len(rp_id) <= RP_ID_CHARS_MAX:
        return None
    return Passkey(key, rp_id)


def _is_uncompressed_point(key: bytes) -> bool:
    # Libraries also read other spellings of a point, some of them and not always.
    return len(key) == _P256_POINT_BYTES and key[0] == _UNCOMPRESSED


def assertion_in(fields: Mapping[str, Value]) -> Assertion | None:
    """Return the assertion in the fields of a decision; None if there is none, or if it is malformed."""
    content = fields.get(ASSERTION_FIELD)
    if not isinstance(content, dict):
        return None
    parts = [content.get(name) for name in Assertion._fields]
    passkey, authenticator_data, client_data, signature = parts
    if not (
        isinstance(passkey, bytes)
        and len(passkey) == ID_BYTES
        and isinstance(authenticator_data, bytes)
        and _AUTHENTICATOR_DATA_BYTES_MIN <= len(authenticator_data) <= AUTHENTICATOR_DATA_BYTES_MAX
        and isinstance(client_data, bytes)
        and len(client_data) <= CLIENT_DATA_BYTES_MAX
        and isinstance(signature, bytes)
        and len(signature) == SIGNATURE_BYTES
    ):
        return None
    return Assertion(EntityId(passkey), authenticator_data, client_data, signature)


def assertion_value(assertion: Assertion) -> Value:
    """Return an assertion as the value of its field."""
    return dict(assertion._asdict())


def decision_challenge(fields: Mapping[str, Value]) -> bytes:
    """Return what the authenticator has to sign for a decision: 32 bytes over all its other fields.

    So an assertion for one verdict, one set of arguments and one state of the item fits no other.
    """
    others = {name: value for name, value in fields.items() if name != ASSERTION_FIELD}
    return hashlib.sha256(_CHALLENGE_OF + codec.encode(others)).digest()


def is_asserted(assertion: Assertion, passkey: Passkey, challenge: bytes) -> bool:
    """Return whether the holder of a passkey was present, verified, and signed a challenge of 32 bytes."""
    data = assertion.authenticator_data
    if assertion.passkey != passkey.id:
        return False
    if data[:_RP_ID_HASH_BYTES] != hashlib.sha256(passkey.rp_id.encode()).digest():
        return False
    if data[_RP_ID_HASH_BYTES] & _NEEDED_FLAGS != _NEEDED_FLAGS:
        return False
    # The standard fixes how browsers begin the client data, so that bytes can be compared (§5.8.1.2).
    if not assertion.client_data.startswith(client_data_prefix(challenge)):
        return False
    return _verify(passkey.key, assertion.signature, data + hashlib.sha256(assertion.client_data).digest())


def client_data_prefix(challenge: bytes) -> bytes:
    """Return the beginning of the client data of an assertion over a challenge."""
    text = base64.urlsafe_b64encode(challenge).rstrip(b"=")
    return b'{"type":"webauthn.get","challenge":"' + text + b'","origin":"'


def _verify(key: bytes, signature: bytes, message: bytes) -> bool:
    if len(key) == KEY_BYTES:
        return verify_signature(key, signature, message)
    r, s = (
        int.from_bytes(part, "big")
        for part in (signature[:_P256_COORDINATE_BYTES], signature[_P256_COORDINATE_BYTES:])
    )
    try:
        point = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), key)
        point.verify(encode_dss_signature(r, s), message, ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True
