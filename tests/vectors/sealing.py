"""What lies in mailboxes, implemented a second time from PROTOCOL.md §17: tags, HPKE (RFC 9180), blobs.

Never imports what it is there to check, nor the HPKE of the library: it knows X25519 and ML-KEM-768.
"""

import hashlib
import hmac
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tests.vectors import wire

X25519, HYBRID = 1, 2
_KEM_IDS = {X25519: b"\x00\x20", HYBRID: b"\x64\x7a"}
_HKDF_SHA256, _CHACHA20_POLY1305 = b"\x00\x01", b"\x00\x03"
_X_WING = bytes.fromhex("5c2e2f2f5e5c")
_VERSION = b"HPKE-v1"


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def expand(key: bytes, info: bytes, length: int) -> bytes:
    """Expand a key as RFC 5869 says."""
    output, block, count = b"", b"", 0
    while len(output) < length:
        count += 1
        block = _mac(key, block + info + bytes([count]))
        output += block
    return output[:length]


def derive(vault: bytes, label: bytes, length: int) -> bytes:
    """Derive a tag from a vault's id."""
    return expand(_mac(bytes(32), vault), b"placet mailbox 1\0" + label, length)


def vault_tag(vault: bytes) -> bytes:
    """Return the tag of a vault."""
    return derive(vault, b"vault", 16)


def device_tag(vault: bytes, device: bytes) -> bytes:
    """Return the tag of a device."""
    return derive(vault, b"device\0" + device, 16)


def key_tag(vault: bytes, public: bytes) -> bytes:
    """Return the tag of a sealing key."""
    return derive(vault, b"key\0" + public, 8)


class Key(NamedTuple):
    """A sealing key of a recipient."""

    suite: int
    private: bytes

    @property
    def x25519(self) -> X25519PrivateKey:
        return X25519PrivateKey.from_private_bytes(self.private[-32:])

    @property
    def x25519_public(self) -> bytes:
        return self.x25519.public_key().public_bytes_raw()

    @property
    def public(self) -> bytes:
        if self.suite == X25519:
            return self.x25519_public
        mlkem = MLKEM768PrivateKey.from_seed_bytes(self.private[:64])
        return mlkem.public_key().public_bytes_raw() + self.x25519_public


def _labelled_extract(suite: bytes, salt: bytes, label: bytes, secret: bytes) -> bytes:
    return _mac(salt or bytes(32), _VERSION + suite + label + secret)


def _labelled_expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    return expand(key, length.to_bytes(2, "big") + _VERSION + suite + label + info, length)


def shared_secret(key: Key, sealed: bytes) -> bytes:
    """Return what the recipient's key makes of the encapsulation at the beginning of a wrap."""
    if key.suite == X25519:
        encapsulated = sealed[:32]
        agreed = key.x25519.exchange(X25519PublicKey.from_public_bytes(encapsulated))
        suite = b"KEM" + _KEM_IDS[X25519]
        pseudorandom = _labelled_extract(suite, b"", b"eae_prk", agreed)
        context = encapsulated + key.x25519_public
        return _labelled_expand(suite, pseudorandom, b"shared_secret", context, 32)
    lattice, curve = sealed[:1088], sealed[1088:1120]
    first = MLKEM768PrivateKey.from_seed_bytes(key.private[:64]).decapsulate(lattice)
    second = key.x25519.exchange(X25519PublicKey.from_public_bytes(curve))
    return hashlib.sha3_256(first + second + curve + key.x25519_public + _X_WING).digest()


def wrap(key: Key, encapsulated: bytes, secret: bytes, info: bytes) -> bytes:
    """Seal a secret to a key with an encapsulation that was made before."""
    suite = b"HPKE" + _KEM_IDS[key.suite] + _HKDF_SHA256 + _CHACHA20_POLY1305
    psk_id = _labelled_extract(suite, b"", b"psk_id_hash", b"")
    context = b"\0" + psk_id + _labelled_extract(suite, b"", b"info_hash", info)
    secret_key = _labelled_extract(suite, shared_secret(key, encapsulated), b"secret", b"")
    aead = _labelled_expand(suite, secret_key, b"key", context, 32)
    nonce = _labelled_expand(suite, secret_key, b"base_nonce", context, 12)
    return encapsulated + ChaCha20Poly1305(aead).encrypt(nonce, secret, b"")


def encapsulate_x25519(ephemeral: bytes) -> bytes:
    """Return the encapsulation that an ephemeral key makes."""
    return X25519PrivateKey.from_private_bytes(ephemeral).public_key().public_bytes_raw()


def padded_size(size: int) -> int:
    """Return the length to which content is padded: Padmé, and 256 at least."""
    size = max(size, 256)
    exponent = size.bit_length() - 1
    unit: int = 2 ** (exponent - exponent.bit_length())
    return -(-size // unit) * unit


class Blob(NamedTuple):
    """What a blob is made of, before anything is sealed."""

    kind: int
    vault: bytes
    sender: wire.Device
    number: int
    secret: bytes
    frames: list[bytes]
    recipients: list[tuple[Key, bytes]]
    own_key: tuple[int, Key] | None = None


def header_of(blob: Blob) -> bytes:
    """Write the header of a blob."""
    tags = [vault_tag(blob.vault), device_tag(blob.vault, blob.sender.id)]
    begin = [1, blob.kind, *tags, blob.number]
    info = b"placet mailbox 1\0" + wire.pack(begin)
    commitment = expand(_mac(bytes(32), blob.secret), b"placet mailbox 1\0content", 64)[32:]
    wraps = [
        [key.suite, key_tag(blob.vault, key.public), wrap(key, encapsulated, blob.secret, info)]
        for key, encapsulated in blob.recipients
    ]
    claim = None if blob.own_key is None else roster_value(blob.sender, *blob.own_key)
    return wire.pack([*begin, commitment, claim, sorted(wraps, key=lambda row: row[1])])


def body_of(blob: Blob, header: bytes, content: bytes | None = None) -> bytes:
    """Seal the frames of a blob, or other content."""
    key = expand(_mac(bytes(32), blob.secret), b"placet mailbox 1\0content", 64)[:32]
    if content is None:
        content = wire.pack(blob.frames) + b"\x80"
        content += bytes(padded_size(len(content)) - len(content))
    return ChaCha20Poly1305(key).encrypt(bytes(12), content, header)


def signature_of(signer: wire.Device, header: bytes, body: bytes) -> bytes:
    """Sign a blob."""
    digests = hashlib.sha256(header).digest() + hashlib.sha256(body).digest()
    return signer.key.sign(b"placet mailbox envelope 1\0" + digests)


def blob_of(blob: Blob) -> bytes:
    """Write a blob."""
    header = header_of(blob)
    body = body_of(blob, header)
    return wire.pack([header, body, signature_of(blob.sender, header, body)])


def roster_value(owner: wire.Device, number: int, key: Key) -> list[object]:
    """Write what a device says of its sealing key in its roster entry."""
    signed = owner.id + bytes([key.suite]) + number.to_bytes(8, "big") + key.public
    return [key.suite, number, key.public, owner.key.sign(b"placet mailbox key 1\0" + signed)]
