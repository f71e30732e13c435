"""Cases for what a verdict needs in order to count: logs for `states`.

Never imports what they check.
"""

import base64
import hashlib
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.vectors import presence, wire
from tests.vectors.commit_writer import CommitWriter, WrittenCommit, name_id, operation
from tests.vectors.semantics import AGENT, USER

TASK = name_id("a task")
_FINGERPRINT = hashlib.sha256(b"a fingerprint").digest()
_HOME = wire.device("anna").id
_DOMAIN = "localhost"
_P256 = ec.derive_private_key(7, ec.SECP256R1())
_POINT = _P256.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
_ED25519 = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"a passkey").digest())
_FLAGS = 5


def _shown(need: str, *, home: bytes = _HOME, entity: bytes | None = TASK) -> dict[str, Any]:
    """Return the fields that show what the item follows from."""
    return {
        "fingerprint": _FINGERPRINT, "follows": None, "entity": entity, "presence": need, "home": home,
    }  # fmt: skip


def _item(need: str, *, entity: bytes | None = TASK) -> bytes:
    written = None if entity is None else wire.text(entity)
    return wire.derived_id("item", [_FINGERPRINT.hex(), None, written, need, _HOME.hex()], TASK)


def _set(name: str, *items: dict[str, Any]) -> list[Any]:
    fields = {"task_id": TASK, "items": list(items), "expires_at": 0}
    return operation(name_id(name), fields, kind="change_set", by=AGENT)


def _decision(item: bytes, verdict: str, name: str, *, by: int = USER, **more: Any) -> list[Any]:
    fields = {"item_id": item, "verdict": verdict, "seen": [], **more}
    return operation(name_id(name), fields, kind="decision", by=by)


def _effect(item: bytes, first: WrittenCommit) -> list[Any]:
    return operation(TASK, {"title": "b"}, base=[first.head], effect=item, by=AGENT)


def _asserted(decision: list[Any], key: bytes = _POINT, **odd: Any) -> list[Any]:
    """Return a decision with the assertion of a passkey; `odd` replaces parts of what is signed."""
    rest = {name: value for name, value in decision[3].items() if name != "assertion"}
    challenge = hashlib.sha256(b"placet decision 1\x00" + wire.pack(rest)).digest()
    text = base64.urlsafe_b64encode(challenge).decode().rstrip("=")
    kind = odd.get("kind", "webauthn.get")
    client = (
        f'{{"type":"{kind}","challenge":"{text}","origin":"http://localhost:1","crossOrigin":false}}'.encode()
    )
    domain = odd.get("domain", _DOMAIN)
    data = hashlib.sha256(domain.encode()).digest() + bytes([odd.get("flags", _FLAGS), 0, 0, 0, 1])
    message = data + hashlib.sha256(client).digest()
    if len(key) == 32:
        signature = _ED25519.sign(message)
    else:
        numbers = utils.decode_dss_signature(
            _P256.sign(message, ec.ECDSA(SHA256(), deterministic_signing=True))
        )
        signature = b"".join(number.to_bytes(32, "big") for number in numbers)
    assertion = {
        "passkey": presence.passkey_id(key, _DOMAIN),
        "authenticator_data": data,
        "client_data": client,
        "signature": odd.get("signature", signature),
    }
    return [*decision[:3], {**decision[3], "assertion": assertion}, *decision[4:]]


def _passkey(key: bytes, *, by: int = USER, domain: str = _DOMAIN) -> list[Any]:
    return operation(presence.passkey_id(key, _DOMAIN), {"key": key, "rp_id": domain}, kind="passkey", by=by)


def _other_device(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """A verdict of the agent's own device does not count, whatever it is; one of another device does."""
    item = _item("other_device")
    first = anna.write(
        operation(TASK, {"title": "a"}), _set("set", {"item_id": item, **_shown("other_device")})
    )
    at_home = anna.write(_decision(item, "confirmed", "d1"), _effect(item, first))
    log = [first, at_home, anna.write(_decision(item, "confirmed", "d2", by=AGENT))]
    log.append(bea.write(_decision(item, "confirmed", "d3"), _effect(item, first)))
    log.append(anna.write(_decision(item, "rejected", "d4", seen=[name_id("d3")])))
    return log


def _only_at_home(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """What the agent's own device confirmed stays without effect, also if the requirement comes last."""
    item = _item("other_device", entity=None)
    made = wire.derived_id("entity", [wire.text(item)], item)
    effect = operation(made, {"title": "c"}, effect=item, by=AGENT, kind="checklist_item")
    confirmed = anna.write(_decision(item, "confirmed", "d1"), effect)
    shown = _shown("other_device", entity=None)
    late = bea.write(_set("set", {"item_id": item, **shown}, {"item_id": item, **shown}))
    return [confirmed, late, anna.write(_decision(item, "retracted", "d2", by=AGENT))]


def _shown_by_a_decision(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """A decision shows what its item needs, also one that does not count."""
    item = _item("other_device")
    first = anna.write(operation(TASK, {"title": "a"}))
    confirmed = bea.write(_decision(item, "confirmed", "d1"), _effect(item, first))
    shown = {name: value for name, value in _shown("other_device").items() if name != "follows"}
    return [first, confirmed, anna.write(_decision(item, "rejected", "d2", seen=[name_id("d1")], **shown))]


def _forged_needs(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """A requirement that an id does not follow from requires nothing."""
    item = _item("other_device")
    first = anna.write(operation(TASK, {"title": "a"}))
    odd: list[dict[str, Any]] = [
        _shown("passkey"),
        _shown("other_device", home=wire.device("bea").id),
        _shown("other_device", entity=None),
        _shown("other_device") | {"home": _HOME[:31]},
        _shown("other_device") | {"presence": "any"},
        _shown("other_device") | {"presence": None},
        _shown("other_device") | {"fingerprint": bytes(32)},
        _shown("other_device") | {"follows": item},
    ]
    forged = bea.write(*(_set(f"set {n}", {"item_id": item, **fields}) for n, fields in enumerate(odd)))
    return [first, forged, anna.write(_decision(item, "confirmed", "d1"), _effect(item, first))]


def _passkeys(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """Of many decisions, those count that a known passkey asserts: here one, and the rest would reject."""
    item = _item("passkey")
    first = anna.write(
        operation(TASK, {"title": "a"}), _set("set", {"item_id": item, **_shown("passkey")}), _passkey(_POINT)
    )
    rejected = [_decision(item, "rejected", f"r{n}") for n in range(8)]
    asserted = _asserted(rejected[0])
    altered = [*asserted[:3], {**asserted[3], "reason": "altered"}, *asserted[4:]]
    odd = [
        altered,
        _asserted(rejected[1], flags=1),
        _asserted(rejected[2], flags=4),
        _asserted(rejected[3], domain="elsewhere.example"),
        _asserted(rejected[4], kind="webauthn.create"),
        _asserted(rejected[5], signature=bytes(64)),
        _asserted(rejected[6], signature=bytes(63)),
        rejected[7],
    ]
    confirmed = _asserted(_decision(item, "confirmed", "d1"))
    return [first, bea.write(*odd), anna.write(confirmed, _effect(item, first))]


def _late_passkey(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """A passkey that comes later lets earlier decisions count; one that an agent made is none."""
    item, key = _item("passkey"), _ED25519.public_key().public_bytes_raw()
    first = anna.write(operation(TASK, {"title": "a"}), _set("set", {"item_id": item, **_shown("passkey")}))
    undone = _asserted(_decision(item, "undone", "d2", seen=[name_id("d1")]))
    return [
        first,
        anna.write(_asserted(_decision(item, "confirmed", "d1"), key), _effect(item, first)),
        bea.write(undone, _passkey(_POINT, by=AGENT)),
        bea.write(_passkey(key)),
    ]


def _asks(anna: CommitWriter, bea: CommitWriter) -> list[WrittenCommit]:
    """An ask says itself what its verdicts need, if its id follows from that."""
    agent = name_id("an agent")
    parts = [wire.text(agent), "mail 1", _HOME.hex(), "other_device"]
    genuine, forged = wire.derived_id("ask", parts, agent), name_id("no ask")
    fields = {"agent_id": agent, "key": "mail 1", "home": _HOME, "presence": "other_device"}
    commit = anna.write(*(operation(ask, fields, kind="ask", by=AGENT) for ask in (genuine, forged)))
    decisions = [_decision(ask, "confirmed", f"d{n}") for n, ask in enumerate((genuine, forged))]
    return [commit, anna.write(*decisions), bea.write(_decision(genuine, "rejected", "d2"))]


Story = Callable[[CommitWriter, CommitWriter], list[WrittenCommit]]
STORIES: tuple[tuple[str, Story], ...] = (
    ("verdicts that need another device", _other_device),
    ("a confirmation by the agent's own device alone", _only_at_home),
    ("a requirement that a decision shows", _shown_by_a_decision),
    ("requirements that do not fit", _forged_needs),
    ("verdicts that need a passkey", _passkeys),
    ("a passkey that comes after its decision", _late_passkey),
    ("verdicts on asks", _asks),
)
"""Logs by name."""
