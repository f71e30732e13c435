"""What a verdict needs in order to count, implemented a second time from PROTOCOL.md.

Never imports what it is there to check.
"""

import base64
import hashlib
from collections.abc import Iterable
from typing import Any, TypeGuard

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256

from tests.vectors import wire

USER = 2
VERDICTS = ("confirmed", "rejected", "deferred", "undone", "reopened", "retracted")
Need = tuple[str, bytes] | None


def is_decision(operation: list[Any]) -> bool:
    """Say whether an operation decides."""
    _, kind, base, fields, _, _, _ = operation
    verdict = fields.get("verdict")
    is_verdict = isinstance(verdict, str) and verdict in VERDICTS
    return kind == "decision" and not base and wire.is_id(fields.get("item_id")) and is_verdict


def _bytes(value: Any, length: int) -> TypeGuard[bytes]:
    return isinstance(value, bytes) and len(value) == length


def _need(fields: dict[str, Any]) -> Need:
    presence, home = fields.get("presence"), fields.get("home")
    return (presence, home) if presence in ("other_device", "passkey") and _bytes(home, 32) else None


def shown(fields: dict[str, Any], item: bytes) -> tuple[bytes | None, Need]:
    """Return the entity and the need that fields show an id to follow from, None for each if they do not."""
    fingerprint, follows, entity = (fields.get(name) for name in ("fingerprint", "follows", "entity"))
    if not _bytes(fingerprint, 32) or not all(part is None or wire.is_id(part) for part in (follows, entity)):
        return None, None
    texts = [None if part is None else wire.text(part) for part in (follows, entity)]
    need = _need(fields)
    first = [fingerprint.hex(), *texts]
    if need is not None and wire.derived_id("item", [*first, need[0], need[1].hex()], item) == item:
        return entity, need
    if entity is not None and wire.derived_id("item", first, item) == item:
        return entity, None
    return None, None


def _need_of_ask(fields: dict[str, Any], ask: bytes) -> Need:
    agent, key, need = fields.get("agent_id"), fields.get("key"), _need(fields)
    if need is None or not _bytes(agent, 16) or not isinstance(key, str) or len(key) > 200:
        return None
    parts = [wire.text(agent), key, need[1].hex(), need[0]]
    return need if wire.derived_id("ask", parts, agent) == ask else None


def passkey_id(key: bytes, domain: str) -> bytes:
    """Return the id of the entity that holds a passkey."""
    return wire.derived_id("passkey", [key.hex(), domain], bytes(16))


class Rules:
    """What the operations of a store show: needs of items, and passkeys."""

    def __init__(self, operations: Iterable[list[Any]]) -> None:
        self.needs: dict[bytes, Need] = {}
        self.passkeys: dict[bytes, tuple[bytes, str]] = {}
        for operation in operations:
            entity, kind, base, fields, _, by, _ = operation
            if base:
                continue
            if kind == "change_set" and wire.is_id(fields.get("task_id")):
                items = fields.get("items")
                for item in items if isinstance(items, list) else []:
                    self._learn(item)
            elif is_decision(operation):
                self._learn(fields)
            elif kind == "ask" and _need_of_ask(fields, entity):
                self.needs[entity] = _need(fields)
            elif kind == "passkey" and by == USER:
                self._learn_passkey(entity, fields)

    def _learn_passkey(self, entity: bytes, fields: dict[str, Any]) -> None:
        key, domain = fields.get("key"), fields.get("rp_id")
        if not _bytes(key, 32) and not (_bytes(key, 65) and key[0] == 4):
            return
        if isinstance(domain, str) and 0 < len(domain) <= 253 and passkey_id(key, domain) == entity:
            self.passkeys[entity] = (key, domain)

    def _learn(self, fields: Any) -> None:
        item: Any = fields.get("item_id") if isinstance(fields, dict) else None
        need = shown(fields, item)[1] if _bytes(item, 16) else None
        if need is not None:
            self.needs[bytes(item)] = need

    def counts(self, decision: list[Any], signer: bytes) -> bool:
        """Say whether a decision is what its item needs; `signer` is the key that signed it."""
        fields, by = decision[3], decision[5]
        need = self.needs.get(fields["item_id"])
        if need is None:
            return True
        if by != USER:
            return bool(fields["verdict"] == "retracted")
        presence, home = need
        if presence == "other_device":
            spki = bytes.fromhex("302a300506032b6570032100") + signer
            return hashlib.sha256(spki).digest() != home
        return self._asserted(fields)

    def _asserted(self, fields: dict[str, Any]) -> bool:
        content = fields.get("assertion")
        if not isinstance(content, dict):
            return False
        data, client, signature = (
            content.get(name) for name in ("authenticator_data", "client_data", "signature")
        )
        passkey = content.get("passkey")
        if not isinstance(data, bytes) or not 37 <= len(data) <= 1024 or not _bytes(signature, 64):
            return False
        if not isinstance(client, bytes) or len(client) > 4096 or not _bytes(passkey, 16):
            return False
        if passkey not in self.passkeys:
            return False
        key, domain = self.passkeys[passkey]
        rest = {name: value for name, value in fields.items() if name != "assertion"}
        challenge = hashlib.sha256(b"placet decision 1\x00" + wire.pack(rest)).digest()
        wanted = base64.urlsafe_b64encode(challenge).decode().rstrip("=")
        start = f'{{"type":"webauthn.get","challenge":"{wanted}","origin":"'.encode()
        if data[:32] != hashlib.sha256(domain.encode()).digest() or data[32] & 5 != 5:
            return False
        return client.startswith(start) and _signed(key, signature, data + hashlib.sha256(client).digest())


def _signed(key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        if len(key) == 32:
            Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        else:
            r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
            point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key)
            point.verify(utils.encode_dss_signature(r, s), message, ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True
