"""What a newcomer and a member leave for each other in a mailbox before they share a vault.

Never reads what whoever wrote it did not know the invitation's secret, which is too long to be guessed.
PROTOCOL.md §17.5 says what each byte means.
"""

import hashlib
from typing import NamedTuple

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from syncproto import codec
from syncproto.errors import RemoteProtocolError
from syncproto.ids import DeviceId
from syncproto.keys import SIGNATURE_BYTES, Signer, device_id_of_key, verify_signature
from syncproto.mailboxes import sealing_keys
from syncproto.mailboxes.envelope import padded_size
from syncproto.mailboxes.names import TAG_BYTES
from syncproto.mailboxes.sealing_keys import PrivateSealingKey, PublicSealingKey, SealingSuite

VERSION = 1
SECRET_BYTES = 32
NONCE_BYTES = 12
BLOB_BYTES_MAX = 16 * 1024
CERTIFICATE_BYTES_MAX = 2048
NAME_CHARS_MAX = 64
ADDRESSES_MAX = 16
ADDRESS_CHARS_MAX = 300
VAULT_BYTES = 16

_REQUEST, _ANSWER = 1, 2
_ITEMS_MAX = 64
_PUBLIC_KEY_BYTES = 32
_SIGNED_AS = b"placet mailbox invitation 1\0"
_END_OF_CONTENT = b"\x80"


class Request(msgspec.Struct, frozen=True, array_like=True):
    """What a newcomer says of itself: its key, its certificate (DER), name, and addresses (`host:port`).

    `suite` and `sealing_key` are those to which the answer is sealed. Whether the certificate is that of the
    key is for the caller to check.
    """

    public_key: bytes
    certificate: bytes
    name: str
    addresses: list[str]
    suite: int
    sealing_key: bytes

    @property
    def device(self) -> DeviceId:
        """Return who asks."""
        return device_id_of_key(self.public_key)


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """What the inviter answers: its key, its certificate (DER), its name and its vault.

    The vault is empty if another device has used the invitation before: then this one is not let in.
    """

    public_key: bytes
    certificate: bytes
    name: str
    vault: bytes


class _Signed(msgspec.Struct, frozen=True, array_like=True):
    """What one side says, encoded, and the signature of its key."""

    statement: bytes
    signature: bytes


class _Blob(msgspec.Struct, frozen=True, array_like=True):
    """A blob as bytes; `wrap` is empty in a request."""

    version: int
    kind: int
    wrap: bytes
    nonce: bytes
    body: bytes


class InvitationNames(NamedTuple):
    """Where the blobs of an invitation lie: all under its tag (16 bytes)."""

    tag: bytes

    def request_of(self, device: DeviceId) -> str:
        """Return where a newcomer puts its request."""
        return f"{_stem(self.tag, device)}.have"

    def answer_to(self, device: DeviceId) -> str:
        """Return where the inviter puts the answer to a newcomer."""
        return f"{_stem(self.tag, device)}.drop"


_blobs = msgspec.msgpack.Decoder(_Blob)
_signed = msgspec.msgpack.Decoder(_Signed)
_requests = msgspec.msgpack.Decoder(Request)
_answers = msgspec.msgpack.Decoder(Answer)


def names_of(secret: bytes) -> InvitationNames:
    """Return where the blobs of an invitation lie; `secret` are 32 random bytes."""
    assert len(secret) == SECRET_BYTES
    return InvitationNames(_derive(secret, b"tag", TAG_BYTES))


def _derive(secret: bytes, label: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, None, _SIGNED_AS + label).derive(secret)


def _stem(tag: bytes, device: DeviceId) -> str:
    return _derive(tag + device, b"device", TAG_BYTES).hex()


# -- asking ---------------------------------------------------------------------------------------------


def seal_request(secret: bytes, request: Request, signer: Signer, nonce: bytes) -> bytes:
    """Return the request of a newcomer as a blob; `nonce` are 12 random bytes for this blob alone."""
    tag = names_of(secret).tag
    statement = codec.encode(request)
    signature = signer.sign(_SIGNED_AS + b"request\0" + tag + hashlib.sha256(statement).digest())
    key = _derive(secret, b"request", 32)
    return _seal_blob(_Blob(VERSION, _REQUEST, b"", nonce, b""), tag, key, _Signed(statement, signature))


def open_request(secret: bytes, raw: bytes) -> Request:
    """Return the request in a blob. Raises RemoteProtocolError if it is none of this invitation."""
    tag = names_of(secret).tag
    blob = _read_blob(raw, _REQUEST)
    if blob.wrap:
        raise RemoteProtocolError("a request that is sealed to a key")
    signed = _open_blob(blob, tag, _derive(secret, b"request", 32))
    request = codec.decode(signed.statement, _requests, _ITEMS_MAX)
    _check_introduction(request)
    if len(request.addresses) > ADDRESSES_MAX or any(
        len(address) > ADDRESS_CHARS_MAX for address in request.addresses
    ):
        raise RemoteProtocolError("out of range: addresses")
    if sealing_keys.wrap_bytes_of(request.suite) is None:
        raise RemoteProtocolError("out of range: suite")
    message = _SIGNED_AS + b"request\0" + tag + hashlib.sha256(signed.statement).digest()
    if not verify_signature(request.public_key, signed.signature, message):
        raise RemoteProtocolError("a request that its key has not signed")
    return request


# -- answering ------------------------------------------------------------------------------------------


def seal_answer(
    secret: bytes, request: Request, answer: Answer, signer: Signer, *, drawn: bytes, nonce: bytes
) -> bytes | None:
    """Return the answer to a request, None if nothing can be sealed to the key in it.

    `drawn` are 32 random bytes and `nonce` 12, for this blob alone.
    """
    tag = names_of(secret).tag
    info = _SIGNED_AS + b"answer\0" + tag + request.device
    wrap = sealing_keys.seal_secret(
        PublicSealingKey(SealingSuite(request.suite), request.sealing_key), drawn, info
    )
    if wrap is None:
        return None
    statement = codec.encode(answer)
    signature = signer.sign(info + hashlib.sha256(statement).digest())
    # Both secrets are needed: who learns the invitation's later does not read the vault.
    key = _derive(secret + drawn, b"answer", 32)
    return _seal_blob(_Blob(VERSION, _ANSWER, wrap, nonce, b""), tag, key, _Signed(statement, signature))


def open_answer(
    secret: bytes, raw: bytes, *, inviter: DeviceId, own: DeviceId, key: PrivateSealingKey
) -> Answer:
    """Return the inviter's answer to this device. Raises RemoteProtocolError if it is none.

    `key` is the one that was in the request.
    """
    tag = names_of(secret).tag
    blob = _read_blob(raw, _ANSWER)
    info = _SIGNED_AS + b"answer\0" + tag + own
    drawn = sealing_keys.open_secret(key, blob.wrap, info)
    signed = _open_blob(blob, tag, _derive(secret + drawn, b"answer", 32))
    answer = codec.decode(signed.statement, _answers, _ITEMS_MAX)
    _check_introduction(answer)
    if len(answer.vault) not in (0, VAULT_BYTES):
        raise RemoteProtocolError("out of range: vault")
    if device_id_of_key(answer.public_key) != inviter:
        raise RemoteProtocolError("an answer of another device than the one that invited")
    if not verify_signature(
        answer.public_key, signed.signature, info + hashlib.sha256(signed.statement).digest()
    ):
        raise RemoteProtocolError("an answer that its key has not signed")
    return answer


# -- both -----------------------------------------------------------------------------------------------


def _check_introduction(statement: Request | Answer) -> None:
    if len(statement.public_key) != _PUBLIC_KEY_BYTES or len(statement.certificate) > CERTIFICATE_BYTES_MAX:
        raise RemoteProtocolError("out of range: key or certificate")
    if len(statement.name) > NAME_CHARS_MAX:
        raise RemoteProtocolError("out of range: name")


def _seal_blob(blob: _Blob, tag: bytes, key: bytes, signed: _Signed) -> bytes:
    """Return a blob that has no body yet with the body that it gets."""
    assert len(blob.nonce) == NONCE_BYTES
    content = codec.encode(signed) + _END_OF_CONTENT
    padded = content.ljust(padded_size(len(content)), b"\0")
    body = ChaCha20Poly1305(key).encrypt(blob.nonce, padded, _associated_bytes(blob, tag))
    return codec.encode(msgspec.structs.replace(blob, body=body))


def _associated_bytes(blob: _Blob, tag: bytes) -> bytes:
    return codec.encode([blob.version, blob.kind, tag, blob.wrap])


def _read_blob(raw: bytes, kind: int) -> _Blob:
    if len(raw) > BLOB_BYTES_MAX:
        raise RemoteProtocolError(f"a blob of {len(raw)} bytes exceeds {BLOB_BYTES_MAX} bytes")
    blob = codec.decode(raw, _blobs, 1 + 5)
    if blob.version != VERSION or blob.kind != kind or len(blob.nonce) != NONCE_BYTES:
        raise RemoteProtocolError("out of range: version, kind or nonce")
    return blob


def _open_blob(blob: _Blob, tag: bytes, key: bytes) -> _Signed:
    try:
        padded = ChaCha20Poly1305(key).decrypt(blob.nonce, blob.body, _associated_bytes(blob, tag))
    except (InvalidTag, ValueError) as fault:
        raise RemoteProtocolError("a blob that the invitation does not open") from fault
    content = padded.rstrip(b"\0")
    if not content.endswith(_END_OF_CONTENT) or padded_size(len(content)) != len(padded):
        raise RemoteProtocolError("content with another padding")
    signed = codec.decode(content[: -len(_END_OF_CONTENT)], _signed, 1 + 2)
    if len(signed.signature) != SIGNATURE_BYTES:
        raise RemoteProtocolError("out of range: signature")
    return signed
