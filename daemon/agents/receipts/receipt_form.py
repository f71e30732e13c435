"""A receipt as JSON, and the proofs in it: pure, and bounded.

Never believes what a receipt says of itself: only what follows from commits that a key has signed.
"""

import base64
import binascii
import hashlib
import json
from codecs import BOM_UTF8
from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from math import isfinite
from typing import Any, Final, NamedTuple

from store.queries.signed_runs import SignedRun
from store.sentence import Sentence, sentence
from syncproto.commit import (
    WHOLE_KINDS,
    DecodedCommit,
    Operation,
    SignedCommit,
    decode_commit,
    redact_values,
    signature_holds,
)
from syncproto.errors import RemoteProtocolError
from syncproto.ids import TIME_BYTES, DeviceId, EntityId, replica_id
from syncproto.keys import KEY_BYTES, SIGNATURE_BYTES, device_id_of_key
from syncproto.vector_clock import Head

FORMAT: Final = "placet-receipt"
VERSION: Final = 1
BYTES_MAX: Final = 8 << 20
PROOFS_MAX: Final = 500
COMMITS_MAX: Final = 4096
_KEYS: Final = frozenset({"follows", "format", "id", "proofs", "statement", "version"})
_NONCE_BYTES: Final = hashlib.sha256().digest_size


class ReceiptFault(Exception):
    """A receipt that proves nothing; the sentence says what is wrong with it."""

    def __init__(self, message: Sentence) -> None:
        super().__init__(message.text)
        self.sentence = message


class Fact(NamedTuple):
    """An operation that a device has signed; the commit's place and time, Unix time in milliseconds."""

    operation: Operation
    head: Head
    stamp_ms: int
    n: int
    signer: DeviceId


def proof_json(run: SignedRun, proven: frozenset[EntityId]) -> dict[str, Any]:
    """Return the proof of a commit. Long values that are not about what is `proven` are left out of it.

    The commits keep their hashes and signatures: a long value stands in the hash by its own.
    """
    return {
        "key": run.key.hex(),
        "nonce": run.nonce.hex(),
        "commits": [_to_base64(_without_others(commit, proven)) for commit in run.commits],
        "signature": run.commits[-1].signed.signature.hex(),
    }


def _without_others(received: DecodedCommit, proven: frozenset[EntityId]) -> bytes:
    dropped = {
        operation.entity: operation.fields
        for operation in received.commit.operations
        if operation.kind not in WHOLE_KINDS and operation.entity not in proven
    }
    return redact_values(received.commit, dropped)


def parse_receipt(text: bytes) -> dict[str, Any]:
    """Parse a receipt. Raises ReceiptFault if it is none, or beyond a bound."""
    if len(text) > BYTES_MAX:
        raise ReceiptFault(sentence("receipt-too-long", "it has more than {most} MiB", most=BYTES_MAX >> 20))
    receipt = _decode_json(text)
    if not isinstance(receipt, dict) or receipt.get("format") != FORMAT:
        raise ReceiptFault(sentence("receipt-none", "it is no receipt of Placet"))
    # For Python True is 1.
    if receipt.get("version") is not VERSION or receipt.keys() != _KEYS:
        raise ReceiptFault(
            sentence("receipt-version", "it is of a version that this one does not know, or was altered")
        )
    return receipt


def _decode_json(text: bytes) -> Any:
    """Decode JSON that all readers and all parsers read alike. Raises ReceiptFault for any other."""
    if text.startswith(BOM_UTF8):
        raise ReceiptFault(sentence("receipt-mark", "it begins with a byte-order mark"))
    try:
        # Not by `json.loads`: it would also take UTF-16 and UTF-32.
        return _DECODER.decode(text.decode())
    except (ValueError, RecursionError) as fault:
        raise ReceiptFault(sentence("receipt-no-json", "it is not JSON")) from fault


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # A person reads the first of two that have one name, and many parsers keep the last.
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ReceiptFault(sentence("receipt-repeats", "it says {name} twice", name=repr(twice[:80])))
    return members


def _whole(text: str) -> int:
    number = int(text)
    if str(number) != text:
        raise ReceiptFault(_NUMBER)
    return number


def _fraction(text: str) -> float:
    number = float(text)
    # What is signed is the number that a computer keeps: whoever reads the digits has to read the same.
    if not isfinite(number) or Decimal(text) != Decimal(repr(number)):
        raise ReceiptFault(_NUMBER)
    return number


def _no_number(text: str) -> None:
    del text
    raise ReceiptFault(_NUMBER)


_NUMBER: Final = sentence("receipt-number", "a number in it is not written as one that was signed")
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_whole, parse_float=_fraction, parse_constant=_no_number
)


def facts_in(receipt: Mapping[str, Any]) -> list[Fact]:
    """Return what the keys in a receipt have signed. Raises ReceiptFault if a proof does not hold."""
    proofs = receipt["proofs"]
    if not isinstance(proofs, list) or not 0 < len(proofs) <= PROOFS_MAX:
        raise _malformed_fault()
    count = 0
    facts: list[Fact] = []
    heads: set[Head] = set()
    for proof in proofs:
        key, nonce, commits, signature = _parts(proof)
        count += len(commits)
        if count > COMMITS_MAX:
            raise _malformed_fault()
        proven = _checked_run(key, nonce, commits, signature)
        if proven.head in heads:
            # What was done once must not be stated as done twice.
            raise _malformed_fault()
        heads.add(proven.head)
        signer = device_id_of_key(key)
        facts += [
            Fact(operation, proven.head, proven.commit.stamp.ms, proven.commit.stamp.n, signer)
            for operation in proven.commit.operations
        ]
    return facts


def _parts(proof: Any) -> tuple[bytes, bytes, list[bytes], bytes]:
    if not isinstance(proof, dict) or proof.keys() != {"key", "nonce", "commits", "signature"}:
        raise _malformed_fault()
    bodies = proof["commits"]
    if not isinstance(bodies, list) or not 0 < len(bodies) <= COMMITS_MAX:
        raise _malformed_fault()
    return (
        _from_hex(proof["key"], KEY_BYTES),
        _from_hex(proof["nonce"], _NONCE_BYTES),
        [_from_base64(body) for body in bodies],
        _from_hex(proof["signature"], SIGNATURE_BYTES),
    )


def _checked_run(key: bytes, nonce: bytes, bodies: list[bytes], signature: bytes) -> DecodedCommit:
    """Return the first commit of a run. Raises ReceiptFault unless the key has signed it by the last."""
    try:
        run = [decode_commit(SignedCommit(body, b"")) for body in bodies[:-1]]
        run.append(decode_commit(SignedCommit(bodies[-1], signature)))
    except RemoteProtocolError as fault:
        raise ReceiptFault(sentence("receipt-commit", "a commit in it is malformed")) from fault
    first = run[0].commit
    is_chain = all(
        after.commit.previous == before.hash
        and after.commit.replica == before.commit.replica
        and after.commit.counter == before.commit.counter + 1
        for before, after in pairwise(run)
    )
    made_ms = int.from_bytes(first.replica[:TIME_BYTES], "big")
    if not is_chain or replica_id(made_ms, key, nonce) != first.replica or not signature_holds(run[-1], key):
        raise ReceiptFault(sentence("receipt-signature", "a signature in it does not hold: it was altered"))
    return run[0]


def _to_base64(body: bytes) -> str:
    return base64.b64encode(body).decode()


def _from_base64(text: object) -> bytes:
    try:
        body = base64.b64decode(text if isinstance(text, str) else "", validate=True)
    except (binascii.Error, ValueError) as fault:
        raise _malformed_fault() from fault
    if not body or _to_base64(body) != text:
        raise _malformed_fault()
    return body


def _from_hex(text: object, length: int) -> bytes:
    if isinstance(text, str) and len(text) == 2 * length:
        try:
            raw = bytes.fromhex(text)
        except ValueError:
            raw = b""
        if raw.hex() == text:
            return raw
    raise _malformed_fault()


def _malformed_fault() -> ReceiptFault:
    return ReceiptFault(sentence("receipt-malformed", "a part of it is missing, malformed, or too much"))
