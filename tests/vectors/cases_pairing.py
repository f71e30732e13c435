"""Cases for certificates and pairing.

Never imports what they check: the certificate is put together from its DER parts, byte by byte.
"""

import hashlib
import hmac
from typing import Any

import msgpack  # type: ignore[import-untyped]

from tests.vectors import spake2_group, wire

Case = dict[str, Any]

_ED25519 = bytes.fromhex("300506032b6570")
_COMMON_NAME = bytes.fromhex("0603550403")
_VERSION_3, _SERIAL_1 = bytes.fromhex("a003020102"), bytes.fromhex("020101")
_NOT_BEFORE, _NOT_AFTER = b"\x17\r700101000000Z", b"\x18\x0f99991231235959Z"
_CRITICAL = b"\x01\x01\xff"
_BASIC_CONSTRAINTS = bytes.fromhex("0603551d13") + _CRITICAL + bytes.fromhex("04023000")
_KEY_USAGE = bytes.fromhex("0603551d0f") + _CRITICAL + bytes.fromhex("040403020780")
_EXTENDED_KEY_USAGE = bytes.fromhex("0603551d250416301406082b0601050507030106082b06010505070302")


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = (
        bytes([size]) if size < 128 else bytes([0x81, size]) if size < 256 else b"\x82" + size.to_bytes(2)
    )
    return bytes([tag]) + length + content


def certificate_bytes(owner: wire.Device) -> bytes:
    """Write the one certificate that a device's key has."""
    common_name = _der(0x30, _COMMON_NAME + _der(0x0C, owner.id.hex().encode()))
    name = _der(0x30, _der(0x31, common_name))
    public_key = _der(0x30, _ED25519 + _der(0x03, b"\x00" + owner.public_key))
    extensions = b"".join(_der(0x30, raw) for raw in (_BASIC_CONSTRAINTS, _KEY_USAGE, _EXTENDED_KEY_USAGE))
    validity = _der(0x30, _NOT_BEFORE + _NOT_AFTER)
    fields = _VERSION_3 + _SERIAL_1 + _ED25519 + name + validity + name + public_key
    signed = _der(0x30, fields + _der(0xA3, _der(0x30, extensions)))
    return _der(0x30, signed + _ED25519 + _der(0x03, b"\x00" + owner.key.sign(signed)))


def certificates() -> list[Case]:
    """Return the certificates of keys, and some that must be refused although OpenSSL would load them."""
    owners = list(map(wire.device, ("anna", "bea", "carl")))
    good = [
        {"seed": owner.seed.hex(), "certificate": certificate_bytes(owner).hex(), "outcome": "ok"}
        for owner in owners
    ]
    raw = certificate_bytes(owners[0])
    other_signature = raw[:-64] + certificate_bytes(owners[1])[-64:]
    bad = {
        "cut short": raw[:-1],
        "one byte more": raw + b"\x00",
        "another key's signature": other_signature,
        "another end": raw.replace(_NOT_AFTER, b"\x18\x0f99981231235959Z"),
        "a certificate of 2049 bytes": raw + bytes(2049 - len(raw)),
        "nothing": b"",
    }
    return good + [
        {"name": name, "certificate": element.hex(), "outcome": "malformed"} for name, element in bad.items()
    ]


def _pairing(name: str, secret: bytes, brings: bool) -> Case:
    joiner, inviter = wire.device("anna"), wire.device("bea")
    joiner_certificate, inviter_certificate = certificate_bytes(joiner), certificate_bytes(inviter)
    drawn = {
        side: hashlib.sha512(f"{name} {side}".encode()).digest()
        for side in ("joiner scalar", "inviter scalar")
    }
    nonces = {
        side: hashlib.sha256(f"{name} {side} nonce".encode()).digest() for side in ("joiner", "inviter")
    }
    bound = (
        hashlib.sha256(joiner_certificate).digest()
        + hashlib.sha256(inviter_certificate).digest()
        + nonces["joiner"]
        + nonces["inviter"]
    )
    identities = (
        hashlib.sha256(b"placet pairing 1 joiner\x00" + bound).digest(),
        hashlib.sha256(b"placet pairing 1 inviter\x00" + bound).digest(),
    )
    joiner_scalar, inviter_scalar = (int.from_bytes(raw, "big") % spake2_group.L for raw in drawn.values())
    exchange = spake2_group.exchange(secret, identities, joiner_scalar, inviter_scalar)
    greeting = msgpack.packb([1, 1, nonces["inviter"]])
    start = msgpack.packb([2, 1, nonces["joiner"], joiner_certificate, exchange.joiner_element])
    answer = msgpack.packb([3, exchange.inviter_element])
    frames = (greeting, start, answer)
    transcript = hashlib.sha256(b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)).digest()
    keys = spake2_group.hkdf(exchange.key, b"placet pairing 1", 64, salt=transcript)
    newcomer = msgpack.packb(["Anna's phone", ["192.0.2.7:7300"], brings])
    signature = joiner.key.sign(b"placet pairing 1\x00" + transcript)
    proof = msgpack.packb([4, newcomer, signature, hmac.digest(keys[:32], newcomer + signature, "sha256")])
    vault = hashlib.sha256(b"a vault").digest()[:16]
    host = msgpack.packb(["Bea's laptop", vault])
    welcome = msgpack.packb([5, host, hmac.digest(keys[32:], host, "sha256")])
    return {
        "name": name,
        "secret": secret.hex(),
        "joiner_seed": joiner.seed.hex(),
        "inviter_seed": inviter.seed.hex(),
        "joiner_nonce": nonces["joiner"].hex(),
        "inviter_nonce": nonces["inviter"].hex(),
        "joiner_randomness": drawn["joiner scalar"].hex(),
        "inviter_randomness": drawn["inviter scalar"].hex(),
        "newcomer": ["Anna's phone", ["192.0.2.7:7300"], brings],
        "host": ["Bea's laptop", vault.hex()],
        "m": spake2_group.encode(spake2_group.M).hex(),
        "n": spake2_group.encode(spake2_group.N).hex(),
        "password_scalar": spake2_group.password_scalar(secret).to_bytes(32, "little").hex(),
        "joiner_scalar": joiner_scalar.to_bytes(32, "little").hex(),
        "inviter_scalar": inviter_scalar.to_bytes(32, "little").hex(),
        "joiner_identity": identities[0].hex(),
        "inviter_identity": identities[1].hex(),
        "shared_point": exchange.shared_point.hex(),
        "spake2_key": exchange.key.hex(),
        "transcript": transcript.hex(),
        "confirmation_keys": keys.hex(),
        "frames": [element.hex() for element in (*frames, proof, welcome)],
        "outcome": "ok",
    }


def pairings() -> list[Case]:
    """Return whole pairings: every frame, and what it is computed from."""
    return [
        _pairing("by a code", b"placet code\x00493-027", brings=False),
        _pairing("by a token", bytes(range(16)), brings=True),
    ]
