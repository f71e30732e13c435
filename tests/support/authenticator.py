"""A passkey in software: it answers a challenge as a browser and an authenticator would together."""

import base64
import hashlib
import json
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from syncproto.assertion import Assertion, Passkey

RP_ID = "localhost"
PRESENT, VERIFIED = 0x01, 0x04


@dataclass(frozen=True)
class Authenticator:
    """A key of one person for one domain."""

    private_key: Ed25519PrivateKey | EllipticCurvePrivateKey
    rp_id: str = RP_ID

    @classmethod
    def with_ed25519(cls, seed: int, rp_id: str = RP_ID) -> "Authenticator":
        """Return one that signs with Ed25519."""
        return cls(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"%d" % seed).digest()), rp_id)

    @classmethod
    def with_p256(cls, seed: int, rp_id: str = RP_ID) -> "Authenticator":
        """Return one that signs with P-256."""
        return cls(derive_private_key(seed + 1, SECP256R1()), rp_id)

    @property
    def passkey(self) -> Passkey:
        """Return its public half."""
        public = self.private_key.public_key()
        if isinstance(self.private_key, Ed25519PrivateKey):
            return Passkey(public.public_bytes(Encoding.Raw, PublicFormat.Raw), self.rp_id)
        return Passkey(public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint), self.rp_id)

    def answer(
        self,
        challenge: bytes,
        *,
        flags: int = PRESENT | VERIFIED,
        kind: str = "webauthn.get",
        rp_id: str | None = None,
    ) -> Assertion:
        """Return the assertion over a challenge."""
        domain = self.rp_id if rp_id is None else rp_id
        data = hashlib.sha256(domain.encode()).digest() + bytes([flags]) + (7).to_bytes(4, "big")
        client = {
            "type": kind,
            "challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "origin": f"http://{domain}:8000",
            "crossOrigin": False,
        }
        client_data = json.dumps(client, separators=(",", ":")).encode()
        return Assertion(
            self.passkey.id, data, client_data, self._sign(data + hashlib.sha256(client_data).digest())
        )

    def _sign(self, message: bytes) -> bytes:
        if isinstance(self.private_key, Ed25519PrivateKey):
            return self.private_key.sign(message)
        numbers = decode_dss_signature(self.private_key.sign(message, ECDSA(SHA256())))
        return b"".join(number.to_bytes(32, "big") for number in numbers)
