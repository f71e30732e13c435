"""Cases for what lies in mailboxes: tags, keys in the roster, blobs that open and blobs that do not.

Never imports what they check. The one encapsulation of ML-KEM was drawn once, since drawing it takes chance.
"""

import hashlib
from pathlib import Path
from typing import Any

from tests.vectors import portable, sealing, wire
from tests.vectors.sealing import HYBRID, X25519, Blob, Key

Case = dict[str, Any]

VAULT = hashlib.sha256(b"mailbox vault").digest()[:16]
_LATTICE = bytes.fromhex((Path(__file__).parent / "encapsulation.hex").read_text("ascii"))
_COMMITS = wire.pack([2, [[b"a commit", bytes(64)]]])


def _drawn(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _key(name: str) -> Key:
    return Key(X25519, _drawn(name))


HYBRID_KEY = Key(HYBRID, hashlib.sha512(b"mailbox hybrid 1").digest() + _drawn("hybrid"))


def _recipient(key: Key, ephemeral: str) -> tuple[Key, bytes]:
    curve = sealing.encapsulate_x25519(_drawn(ephemeral))
    return key, curve if key.suite == X25519 else _LATTICE + curve


def _blob(kind: int, frames: list[bytes], recipients: list[tuple[Key, bytes]], number: int = 7) -> Blob:
    own_key = (1_700_000_000_000, _key("anna")) if kind == 2 else None
    return Blob(kind, VAULT, wire.device("anna"), number, _drawn("secret"), frames, recipients, own_key)


def mailbox_tags() -> list[Case]:
    """Return the tags of vaults, devices and keys."""
    return [
        {
            "vault": vault.hex(),
            "device": wire.device(name).id.hex(),
            "public_key": _key(name).public.hex(),
            "vault_tag": sealing.vault_tag(vault).hex(),
            "device_tag": sealing.device_tag(vault, wire.device(name).id).hex(),
            "key_tag": sealing.key_tag(vault, _key(name).public).hex(),
        }
        for name in ("anna", "bea")
        for vault in (VAULT, bytes(16))
    ]


def mailbox_keys() -> list[Case]:
    """Return what a roster entry says of a sealing key: genuine values, and those that count for nothing."""
    owner, other = wire.device("anna"), wire.device("bea")
    short, long = (sealing.roster_value(owner, 1_700_000_000_000, key) for key in (_key("anna"), HYBRID_KEY))
    values: dict[str, tuple[Any, bool]] = {
        "X25519": (short, True),
        "hybrid": (long, True),
        "the highest number": (sealing.roster_value(owner, 2**53 - 1, _key("anna")), True),
        "number 0": (sealing.roster_value(owner, 0, _key("anna")), False),
        "a number beyond 53 bits": (sealing.roster_value(owner, 2**53, _key("anna")), False),
        "signed by another device": (sealing.roster_value(other, 5, _key("anna")), False),
        "another number than was signed": ([1, 6, *short[2:]], False),
        "another suite than was signed": ([2, *short[1:]], False),
        "an unknown suite": ([3, *short[1:]], False),
        "a suite that is true": ([True, *short[1:]], False),
        "a part more": ([*short, 0], False),
        "a part less": (short[:-1], False),
        "no array": (b"", False),
        "nothing": (None, False),
    }
    return [
        {
            "name": name,
            "owner": owner.public_key.hex(),
            "value": portable.value(value),
            "outcome": "ok" if genuine else "not-genuine",
        }
        for name, (value, genuine) in values.items()
    ]


def _good_blobs() -> dict[str, Blob]:
    two = [_recipient(_key("bea"), "one"), _recipient(_key("carl"), "two")]
    hello = wire.pack([1, [2], VAULT, None, [], bytes(32), {}])
    return {
        "a drop for two": _blob(1, [_COMMITS], two),
        "a drop for a hybrid key": _blob(1, [_COMMITS], [_recipient(HYBRID_KEY, "three")]),
        "a drop for keys of both kinds": _blob(1, [_COMMITS], [*two, _recipient(HYBRID_KEY, "three")]),
        "a drop for nobody": _blob(1, [_COMMITS], []),
        "a have": _blob(2, [hello], two, 2**53 - 1),
        "a long drop": _blob(1, [wire.pack([2, [[bytes(5000), bytes(64)]]])], two[:1]),
        "the longest content of 256 bytes": _blob(1, [_COMMITS, bytes(163)], two[:1]),
        "the shortest content of 272 bytes": _blob(1, [_COMMITS, bytes(164)], two[:1]),
    }


def _signed(header: bytes, body: bytes) -> bytes:
    return wire.pack([header, body, sealing.signature_of(wire.device("anna"), header, body)])


def _with_header(blob: Blob, place: int, value: Any) -> bytes:
    """Write a blob with another value in its header, all else being right."""
    fields = wire.unpack(sealing.header_of(blob), 2000)
    assert isinstance(fields, list)
    fields[place] = value
    header = wire.pack(fields)
    return _signed(header, sealing.body_of(blob, header))


def _with_content(blob: Blob, content: bytes) -> bytes:
    header = sealing.header_of(blob)
    return _signed(header, sealing.body_of(blob, header, content))


def _bad_blobs() -> dict[str, bytes]:
    blob = _good_blobs()["a drop for two"]
    whole, header = sealing.blob_of(blob), sealing.header_of(blob)
    body = sealing.body_of(blob, header)
    fields = wire.unpack(header, 2000)
    assert isinstance(fields, list)
    rows, claim = fields[7], sealing.roster_value(blob.sender, 5, _key("anna"))
    content = wire.pack([_COMMITS]) + b"\x80"
    return {
        "cut short": whole[:-1],
        "a byte more": whole + b"\0",
        "a longer spelling": b"\xdc\x00\x03" + whole[1:],
        "another version": _with_header(blob, 0, 2),
        "another kind": _with_header(blob, 1, 3),
        "a tag of 15 bytes": _with_header(blob, 2, bytes(15)),
        "a sender of 17 bytes": _with_header(blob, 3, bytes(17)),
        "number 0": _with_header(blob, 4, 0),
        "a number beyond 53 bits": _with_header(blob, 4, 2**53),
        "another commitment": _with_header(blob, 5, bytes(32)),
        "a commitment of 31 bytes": _with_header(blob, 5, bytes(31)),
        "a drop with a key": _with_header(blob, 6, claim),
        "a have without a key": _with_header(_good_blobs()["a have"], 6, None),
        "a have with a key that lacks a part": _with_header(_good_blobs()["a have"], 6, claim[:3]),
        "recipients out of order": _with_header(blob, 7, rows[::-1]),
        "a recipient twice": _with_header(blob, 7, [rows[0], rows[0]]),
        "an unknown suite": _with_header(blob, 7, [[3, *rows[0][1:]], rows[1]]),
        "a sealed secret that is cut": _with_header(blob, 7, [[1, rows[0][1], rows[0][2][:-1]], rows[1]]),
        "257 recipients": _with_header(
            blob, 7, [[1, place.to_bytes(8, "big"), bytes(80)] for place in range(257)]
        ),
        "a signature of 63 bytes": wire.pack([header, body, bytes(63)]),
        "a body of another size": _with_content(blob, content.ljust(257, b"\0")),
        "content without its end": _with_content(blob, bytes(256)),
        "content that is padded too far": _with_content(blob, content.ljust(272, b"\0")),
        "no frame": _with_content(blob, (wire.pack([]) + b"\x80").ljust(256, b"\0")),
        "17 frames": _with_content(blob, (wire.pack([b""] * 17) + b"\x80").ljust(256, b"\0")),
    }


def mailbox_blobs() -> list[Case]:
    """Return blobs with the keys that open them, and blobs that must be refused."""
    keys = [_key("bea"), _key("carl"), HYBRID_KEY]
    opened = [
        {
            "name": name,
            "blob": portable.raw(sealing.blob_of(blob)),
            "kind": blob.kind,
            "number": blob.number,
            "sender": blob.sender.public_key.hex(),
            "frames": [portable.raw(frame) for frame in blob.frames],
            "keys": [{"suite": key.suite, "private": key.private.hex()} for key in keys],
            "readers": [key.public.hex() for key, _ in blob.recipients],
            "outcome": "ok",
        }
        for name, blob in _good_blobs().items()
    ]
    refused = [
        {
            "name": name,
            "blob": portable.raw(raw),
            "sender": wire.device("anna").public_key.hex(),
            "keys": [{"suite": key.suite, "private": key.private.hex()} for key in keys],
            "outcome": "refused",
        }
        for name, raw in _bad_blobs().items()
    ]
    return opened + refused
