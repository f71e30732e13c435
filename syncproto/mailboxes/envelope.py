"""A sealed blob: frames that only its recipients can read, and that a member has signed.

Never builds anything from bytes beyond its bounds, and accepts one spelling of each blob.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from syncproto import codec, messages
from syncproto.codec import Value
from syncproto.errors import RemoteProtocolError
from syncproto.keys import SIGNATURE_BYTES, Signer, verify_signature
from syncproto.mailboxes import sealing_keys
from syncproto.mailboxes.names import HOLDER_BYTES, KEY_TAG_BYTES, NUMBER_MAX, TAG_BYTES, key_tag
from syncproto.mailboxes.sealing_keys import PrivateSealingKey, PublicSealingKey, PublishedKey
from syncproto.messages import Commits, Heads, Hello

ENVELOPE_VERSION = 1
WRAPS_MAX = 256
FRAMES_MAX = 16
CONTENT_BYTES_MAX = messages.FRAME_BYTES_MAX + 64
HEADER_BYTES_MAX = 320 * 1024
BODY_BYTES_MAX = 1280 * 1024
ENVELOPE_BYTES_MAX = HEADER_BYTES_MAX + BODY_BYTES_MAX + 128
CONTENT_BYTES_MIN = 256
DIGEST_BYTES = 32

_SEALED_AS = b"placet mailbox 1\0"
_SIGNED_AS = b"placet mailbox envelope 1\0"
_NO_NONCE = bytes(12)  # the key is used for one message
_HEADER_ITEMS_MAX = 1 + 6 + 5 + 1 + 4 * WRAPS_MAX
_AEAD_TAG_BYTES = 16
_END_OF_CONTENT = b"\x80"
_HOLDER = "holder"


class BlobKind(IntEnum):
    """What a blob is: commits for whoever lacks them, or what its sender has."""

    DROP = 1
    HAVE = 2


class NoRecipient(RemoteProtocolError):
    """A whole blob that is sealed to other keys."""


class Wrap(msgspec.Struct, frozen=True, array_like=True):
    """The secret of a blob, sealed to one key."""

    suite: int
    key_tag: bytes
    sealed: bytes


class KeyClaim(msgspec.Struct, frozen=True, array_like=True):
    """The value of PROTOCOL.md §17.2: a key that its device has signed, if the signature holds."""

    suite: int
    number: int
    public: bytes
    signature: bytes


class Header(msgspec.Struct, frozen=True, array_like=True):
    """What a blob says of itself, in the clear: whose it is, and for whom."""

    version: int
    kind: BlobKind
    vault: bytes
    sender: bytes
    number: int
    commitment: bytes
    key: KeyClaim | None
    wraps: list[Wrap]


class _Parts(msgspec.Struct, frozen=True, array_like=True):
    """A blob as bytes."""

    header: bytes
    body: bytes
    signature: bytes


class Envelope(NamedTuple):
    """A blob that is well-formed. Neither its signature nor what is inside was checked."""

    header: Header
    header_bytes: bytes
    body: bytes
    signature: bytes

    @property
    def readers(self) -> frozenset[bytes]:
        """Return the tags of the keys that it is sealed to."""
        return frozenset(wrap.key_tag for wrap in self.header.wraps)


_parts = msgspec.msgpack.Decoder(_Parts)
_header = msgspec.msgpack.Decoder(Header)
_frames = msgspec.msgpack.Decoder(list[bytes])


def padded_size(size: int) -> int:
    """Return how long content becomes: a size with few significant bits (Padmé), at least 256 bytes.

    So sizes tell little, and at most an eighth is added to what is longer than 256 bytes.
    """
    size = max(size, CONTENT_BYTES_MIN)
    exponent = size.bit_length() - 1
    low_bits = exponent - exponent.bit_length()
    mask = (1 << low_bits) - 1
    return (size + mask) & ~mask


def _context(header: Header) -> bytes:
    """Return what a secret is bound to when it is sealed: what the blob is, and whose."""
    return _SEALED_AS + codec.encode(
        [header.version, header.kind, header.vault, header.sender, header.number]
    )


def _keys_of(secret: bytes) -> tuple[bytes, bytes]:
    """Return the key of the content, and what commits the sender to it: all recipients read the same."""
    both = HKDF(SHA256(), 2 * DIGEST_BYTES, None, _SEALED_AS + b"content").derive(secret)
    return both[:DIGEST_BYTES], both[DIGEST_BYTES:]


def _signed_bytes(header: bytes, body: bytes) -> bytes:
    return _SIGNED_AS + hashlib.sha256(header).digest() + hashlib.sha256(body).digest()


def seal(
    frames: Sequence[bytes],
    *,
    kind: BlobKind,
    vault: tuple[bytes, bytes],
    sender: bytes,
    number: int,
    recipients: Iterable[PublicSealingKey],
    signer: Signer,
    secret: bytes,
    key: PrivateSealingKey | None = None,
) -> bytes:
    """Return a blob with some frames, sealed to at most WRAPS_MAX keys.

    `vault` is its id and its tag, `sender` the tag of this device; `secret` are 32 random bytes for this blob
    alone. A have publishes the `key` to which its sender wants to be sealed to; a drop has none.
    """
    content_key, commitment = _keys_of(secret)
    claim = None if key is None else KeyClaim(*sealing_keys.roster_value(key, signer))
    header = Header(ENVELOPE_VERSION, kind, vault[1], sender, number, commitment, claim, [])
    context = _context(header)
    wraps = [
        Wrap(int(recipient.suite), key_tag(vault[0], recipient.public), sealed)
        for recipient in recipients
        if (sealed := sealing_keys.seal_secret(recipient, secret, context)) is not None
    ]
    wraps.sort(key=lambda wrap: wrap.key_tag)
    assert len(wraps) <= WRAPS_MAX, "more recipients than a blob has room for"
    header_bytes = codec.encode(msgspec.structs.replace(header, wraps=wraps))
    content = codec.encode(list(frames)) + _END_OF_CONTENT
    padded = content.ljust(padded_size(len(content)), b"\0")
    body = ChaCha20Poly1305(content_key).encrypt(_NO_NONCE, padded, header_bytes)
    signature = signer.sign(_signed_bytes(header_bytes, body))
    return codec.encode(_Parts(header_bytes, body, signature))


def read_envelope(raw: bytes) -> Envelope:
    """Return the blob in some bytes. Raises RemoteProtocolError if they are none."""
    if len(raw) > ENVELOPE_BYTES_MAX:
        raise RemoteProtocolError(f"a blob of {len(raw)} bytes exceeds {ENVELOPE_BYTES_MAX} bytes")
    parts = codec.decode(raw, _parts, 1 + 3)
    if len(parts.header) > HEADER_BYTES_MAX or len(parts.signature) != SIGNATURE_BYTES:
        raise RemoteProtocolError("out of range: header or signature")
    size = len(parts.body) - _AEAD_TAG_BYTES
    if len(parts.body) > BODY_BYTES_MAX or size < CONTENT_BYTES_MIN or padded_size(size) != size:
        raise RemoteProtocolError("out of range: size of the body")
    header = codec.decode(parts.header, _header, _HEADER_ITEMS_MAX)
    _check_header(header)
    return Envelope(header, parts.header, parts.body, parts.signature)


def _check_header(header: Header) -> None:
    if header.version != ENVELOPE_VERSION:
        raise RemoteProtocolError(f"a blob of version {header.version}, expected {ENVELOPE_VERSION}")
    if len(header.vault) != TAG_BYTES or len(header.sender) != TAG_BYTES:
        raise RemoteProtocolError("out of range: tag")
    if not 1 <= header.number <= NUMBER_MAX or len(header.commitment) != DIGEST_BYTES:
        raise RemoteProtocolError("out of range: number or commitment")
    if (header.key is None) is (header.kind is BlobKind.HAVE):
        raise RemoteProtocolError("a have without a key, or a drop with one")
    tags = [wrap.key_tag for wrap in header.wraps]
    if len(tags) > WRAPS_MAX or tags != sorted(set(tags)):
        raise RemoteProtocolError("out of range: recipients")
    for wrap in header.wraps:
        if len(wrap.key_tag) != KEY_TAG_BYTES or len(wrap.sealed) != sealing_keys.wrap_bytes_of(wrap.suite):
            raise RemoteProtocolError("out of range: sealed secret")


def claimed_key(envelope: Envelope, public_key: bytes) -> PublishedKey | None:
    """Return the key of a have, if the holder of an Ed25519 key (32 bytes) has signed it; else None."""
    claim = envelope.header.key
    value: Value = None if claim is None else [claim.suite, claim.number, claim.public, claim.signature]
    return sealing_keys.read_roster_value(value, public_key)


def is_signed_by(envelope: Envelope, public_key: bytes) -> bool:
    """Return whether the holder of an Ed25519 key (32 bytes) has signed the blob, all of it."""
    signed = _signed_bytes(envelope.header_bytes, envelope.body)
    return verify_signature(public_key, envelope.signature, signed)


def open_frames(envelope: Envelope, keys: Mapping[bytes, PrivateSealingKey]) -> list[bytes]:
    """Return the frames in a blob, with the private keys of this device by their tags.

    Raises NoRecipient if it is sealed to none of them, RemoteProtocolError if it claims to be, and does not
    open.
    """
    wrap = next((wrap for wrap in envelope.header.wraps if wrap.key_tag in keys), None)
    if wrap is None:
        raise NoRecipient("a blob that is sealed to other keys")
    key = keys[wrap.key_tag]
    if wrap.suite != key.suite:
        raise RemoteProtocolError("a secret that is sealed by another suite than its key has")
    secret = sealing_keys.open_secret(key, wrap.sealed, _context(envelope.header))
    content_key, commitment = _keys_of(secret)
    if not hmac.compare_digest(commitment, envelope.header.commitment):
        raise RemoteProtocolError("a secret that the blob does not commit to")
    try:
        padded = ChaCha20Poly1305(content_key).decrypt(_NO_NONCE, envelope.body, envelope.header_bytes)
    except InvalidTag as fault:
        raise RemoteProtocolError("a body that its key does not open") from fault
    return _frames_of(padded)


def _frames_of(padded: bytes) -> list[bytes]:
    content = padded.rstrip(b"\0")
    if not content.endswith(_END_OF_CONTENT) or padded_size(len(content)) != len(padded):
        raise RemoteProtocolError("content with another padding")
    if len(content) > CONTENT_BYTES_MAX:
        raise RemoteProtocolError(f"content of {len(content)} bytes exceeds {CONTENT_BYTES_MAX} bytes")
    frames = codec.decode(content[: -len(_END_OF_CONTENT)], _frames, 1 + FRAMES_MAX)
    if not frames:
        raise RemoteProtocolError("a blob without a frame")
    return frames


def read_drop(frames: Sequence[bytes]) -> Commits:
    """Return the commits in the frames of a drop: one Commits frame. Raises RemoteProtocolError."""
    if len(frames) != 1:
        raise RemoteProtocolError(f"a drop of {len(frames)} frames")
    message = messages.decode_message(frames[0])
    if not isinstance(message, Commits) or not message.commits:
        raise RemoteProtocolError("a drop without commits")
    return message


def holder_entry(holder: bytes) -> dict[str, Value]:
    """Return what a have says of whoever leaves it, beside its device: 8 random bytes of one data folder."""
    return {_HOLDER: holder}


def holder_of(hello: Hello) -> bytes:
    """Return the holder that a have names, no bytes if it names none of 8 bytes."""
    holder = hello.more.get(_HOLDER)
    return holder if isinstance(holder, bytes) and len(holder) == HOLDER_BYTES else b""


def read_have(frames: Sequence[bytes]) -> tuple[Hello, list[Heads]]:
    """Return what a have says: a Hello, and the further parts of its vector.

    Raises UnsupportedVersion if it is of a sender without a common version, else RemoteProtocolError.
    """
    first, parts = messages.decode_greeting(frames[0]), map(messages.decode_message, frames[1:])
    if not isinstance(first, Hello):
        raise RemoteProtocolError("a have that does not begin with Hello")
    heads: list[Heads] = []
    last = first.vector[-1:]
    for part in parts:
        if not isinstance(part, Heads) or part.gone or not part.heads or not last or part.heads[0] <= last[0]:
            raise RemoteProtocolError("a have whose parts are out of order")
        heads.append(part)
        last = part.heads[-1:]
    return first, heads
