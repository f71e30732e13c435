"""Cases for pairing through a mailbox: a request and its answer, and blobs that must be refused.

Never imports what they check: it is PROTOCOL.md §17.5, implemented a second time.
"""

import hashlib
import hmac
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tests.vectors import cases_pairing, portable, sealing, wire
from tests.vectors.sealing import X25519, Key

Case = dict[str, Any]

_DOMAIN = b"placet mailbox invitation 1\0"
SECRET = hashlib.sha256(b"invitation").digest()
_NONCE = hashlib.sha256(b"invitation nonce").digest()[:12]
_DRAWN = hashlib.sha256(b"invitation answer").digest()
_KEY = Key(X25519, hashlib.sha256(b"invitation key").digest())
_JOINER, _INVITER = wire.device("bea"), wire.device("anna")
_VAULT = hashlib.sha256(b"mailbox vault").digest()[:16]


def _derive(secret: bytes, label: bytes, length: int) -> bytes:
    return sealing.expand(hmac.digest(bytes(32), secret, "sha256"), _DOMAIN + label, length)


TAG = _derive(SECRET, b"tag", 16)


class Parts(NamedTuple):
    """What a blob is made of; each part can be another than it should be."""

    kind: int
    statement: list[Any]
    key: bytes
    signed: bytes
    signer: wire.Device
    wrap: bytes = b""
    version: int = 1
    tag: bytes = TAG


def _request(**changes: Any) -> Parts:
    certificate = cases_pairing.certificate_bytes(_JOINER)
    statement = [_JOINER.public_key, certificate, "bea", ["[::1]:7000"], X25519, _KEY.public]
    signed = _DOMAIN + b"request\0" + TAG
    return Parts(1, statement, _derive(SECRET, b"request", 32), signed, _JOINER)._replace(**changes)


def _answer(**changes: Any) -> Parts:
    info = _DOMAIN + b"answer\0" + TAG + _JOINER.id
    encapsulated = sealing.encapsulate_x25519(hashlib.sha256(b"ephemeral").digest())
    wrap = sealing.wrap(_KEY, encapsulated, _DRAWN, info)
    statement = [_INVITER.public_key, cases_pairing.certificate_bytes(_INVITER), "anna", _VAULT]
    key = _derive(SECRET + _DRAWN, b"answer", 32)
    return Parts(2, statement, key, info, _INVITER, wrap)._replace(**changes)


def _content(parts: Parts) -> bytes:
    statement = wire.pack(parts.statement)
    signature = parts.signer.key.sign(parts.signed + hashlib.sha256(statement).digest())
    return wire.pack([statement, signature]) + b"\x80"


def _blob(parts: Parts, content: bytes | None = None) -> bytes:
    if content is None:
        content = _content(parts)
        content += bytes(sealing.padded_size(len(content)) - len(content))
    bound = wire.pack([parts.version, parts.kind, parts.tag, parts.wrap])
    body = ChaCha20Poly1305(parts.key).encrypt(_NONCE, content, bound)
    return wire.pack([parts.version, parts.kind, parts.wrap, _NONCE, body])


def _with(statement: list[Any], place: int, value: Any) -> list[Any]:
    return [*statement[:place], value, *statement[place + 1 :]]


def _bad_requests() -> dict[str, bytes]:
    good = _request()
    whole = _blob(good)
    padded = _content(good)
    return {
        "cut short": whole[:-1],
        "a byte more": whole + b"\0",
        "another version": _blob(_request(version=2)),
        "an answer in its place": _blob(_answer()),
        "bound to another invitation": _blob(_request(tag=bytes(16))),
        "sealed by another secret": _blob(_request(key=bytes(32))),
        "with a wrap": _blob(_request(wrap=_answer().wrap)),
        "signed by another device": _blob(_request(signer=_INVITER)),
        "signed for another invitation": _blob(_request(signed=_DOMAIN + b"request\0" + bytes(16))),
        "a key of 31 bytes": _blob(_request(statement=_with(good.statement, 0, bytes(31)))),
        "a certificate of 2049 bytes": _blob(_request(statement=_with(good.statement, 1, bytes(2049)))),
        "a name of 65 characters": _blob(_request(statement=_with(good.statement, 2, "n" * 65))),
        "17 addresses": _blob(_request(statement=_with(good.statement, 3, ["a:1"] * 17))),
        "an address of 301 characters": _blob(_request(statement=_with(good.statement, 3, ["a" * 301]))),
        "an unknown suite": _blob(_request(statement=_with(good.statement, 4, 3))),
        "a part less": _blob(_request(statement=good.statement[:-1])),
        "content without its end": _blob(good, bytes(512)),
        "content that is padded too far": _blob(good, padded.ljust(4096, b"\0")),
        "too long": bytes(16_385),
    }


def _bad_answers() -> dict[str, bytes]:
    good = _answer()
    return {
        "cut short": _blob(good)[:-1],
        "a request in its place": _blob(_request()),
        "another version": _blob(_answer(version=2)),
        "sealed by the invitation's secret alone": _blob(_answer(key=_derive(SECRET, b"answer", 32))),
        "a wrap for another device": _blob(_answer(wrap=good.wrap[:-1] + bytes([good.wrap[-1] ^ 1]))),
        "signed by another device": _blob(_answer(signer=_JOINER)),
        "of another device than the inviter": _blob(
            _answer(signer=_JOINER, statement=_with(good.statement, 0, _JOINER.public_key))
        ),
        "signed for another newcomer": _blob(_answer(signed=_DOMAIN + b"answer\0" + TAG + _INVITER.id)),
        "a vault of 15 bytes": _blob(_answer(statement=_with(good.statement, 3, bytes(15)))),
        "a name of 65 characters": _blob(_answer(statement=_with(good.statement, 2, "n" * 65))),
        "a part less": _blob(_answer(statement=good.statement[:-1])),
    }


def mailbox_invitations() -> dict[str, Any]:
    """Return an invitation with its names, a request and answers that open, and blobs that do not."""
    nobody = _answer(statement=_with(_answer().statement, 3, b""))
    requests = [
        {"name": "a request", "blob": _blob(_request()), "statement": _request().statement, "outcome": "ok"}
    ]
    answers = [
        {"name": "an answer", "blob": _blob(_answer()), "statement": _answer().statement, "outcome": "ok"},
        {"name": "nobody is let in", "blob": _blob(nobody), "statement": nobody.statement, "outcome": "ok"},
    ]
    requests += [{"name": name, "blob": raw, "outcome": "refused"} for name, raw in _bad_requests().items()]
    answers += [{"name": name, "blob": raw, "outcome": "refused"} for name, raw in _bad_answers().items()]
    stem = _derive(TAG + _JOINER.id, b"device", 16).hex()
    return {
        "invitation": {
            "secret": SECRET.hex(),
            "tag": TAG.hex(),
            "joiner": _JOINER.id.hex(),
            "inviter": _INVITER.id.hex(),
            "private_key": _KEY.private.hex(),
            "request_name": f"{stem}.have",
            "answer_name": f"{stem}.drop",
        },
        "requests": [_portable(case) for case in requests],
        "answers": [_portable(case) for case in answers],
    }


def _portable(case: Case) -> Case:
    statement = {"statement": portable.value(case["statement"])} if "statement" in case else {}
    return case | {"blob": portable.raw(case["blob"])} | statement
