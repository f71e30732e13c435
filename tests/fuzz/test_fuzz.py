"""A bounded fuzz: mutated bytes are read or refused as the peer's fault, and never anything else.

Never runs without a seed: each is in the name of its test.
"""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.store import Store
from syncproto import codec, commit, messages
from syncproto.commit import WHOLE_KINDS, SignedCommit
from syncproto.errors import RemoteProtocolError
from syncproto.head_set import NO_HEADS
from syncproto.keys import Signer
from syncproto.session import Session, StoreState
from syncproto.vector_clock import EMPTY_CLOCK
from tests.fuzz.mutations import mutated
from tests.vectors import generate, portable, wire
from tests.vectors.commit_writer import CommitWriter, operation
from tests.vectors.semantics import Head

ROUNDS = 10_000
SEEDS = range(4)
LONGEST = 4096


def corpus(name: str, key: str) -> list[bytes]:
    """Return the bytes of a vector file, the long ones left out."""
    cases = json.loads(generate.path(name).read_text("utf-8"))
    raws = [portable.from_raw(case[key]) for case in cases]
    return [raw for raw in raws if len(raw) <= LONGEST]


def accepted(read: Callable[[bytes], Any], raw: bytes) -> Any:
    """Return what is decoded, None if it is refused as the fault of the peer; any other error is a bug."""
    try:
        return read(raw)
    except RemoteProtocolError:
        return None


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_frames_are_read_alike_by_both_implementations(seed):
    chance, stored = random.Random(seed), corpus("frames", "bytes")
    read = 0
    for _ in range(ROUNDS):
        raw = mutated(chance, stored)
        message = accepted(messages.decode_message, raw)
        assert (message is not None) == _second_accepts(wire.read_frame, raw), raw.hex()
        if message is not None:
            assert messages.encode_message(message) == raw
            read += 1
    assert 0 < read < ROUNDS


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_commits_are_read_alike_by_both_implementations(seed):
    chance, stored = random.Random(seed), corpus("commits", "body")
    read = 0
    for _ in range(ROUNDS):
        raw = mutated(chance, stored)
        received = accepted(lambda body: commit.decode_commit(SignedCommit(body, b"")), raw)
        assert (received is not None) == _second_accepts(wire.read_commit, raw), raw.hex()
        if received is not None:
            assert codec.encode(received.commit) == raw
            assert received.hash == wire.hash_of(raw)
            read += 1
    assert 0 < read < ROUNDS


def _second_accepts(read: Callable[[bytes], Any], raw: bytes) -> bool:
    try:
        read(raw)
    except wire.InvalidEncoding:
        return False
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_items_are_counted_on_mutated_bytes_without_failing(seed):
    chance, stored = random.Random(seed), corpus("values", "bytes")
    for _ in range(ROUNDS):
        raw = mutated(chance, stored)
        try:
            value = codec.decode_trusted(raw)
        except Exception:  # noqa: BLE001 — whatever a reader without bounds makes of it
            value = None
        exceeds = accepted(lambda element: codec.items_exceed(element, 3), raw)
        if isinstance(value, list) and len(value) > 2:
            assert exceeds is not False


@pytest.mark.parametrize("seed", SEEDS)
def test_a_session_survives_mutated_frames_in_any_order(seed):
    chance, stored = random.Random(seed), corpus("frames", "bytes")
    stored += [messages.encode_message(messages.Hello([2], bytes(16), None, EMPTY_CLOCK, bytes(32), {}))] * 20
    for _ in range(ROUNDS // 10):
        session = Session(bytes(16), None, StoreState(NO_HEADS, bytes(32)))
        session.hello_frames()
        for _ in range(10):
            raw = mutated(chance, stored) if chance.random() < 0.3 else chance.choice(stored)
            accepted(session.receive, raw)


_DROPPED = wire.dropped("whatever")
_ODD: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -(2**63),
    2**63 - 1,
    0.5,
    "",
    "deleted",
    "confirmed",
    "OPEN",
    b"",
    bytes(16),
    bytes(15),
    [],
    [bytes(16)],
    [[]],
    [{}],
    {},
    {"item_id": bytes(16)},
    [{"item_id": bytes(16), "fingerprint": 1, "base": []}],
    {"clock": [[1, 2, 3]]},
    [1, "x", b"y", None],
    _DROPPED,
]
_KINDS = [
    "task",
    "checklist_item",
    "entry",
    "link",
    "agent",
    "change_set",
    "decision",
    "device",
    "message",
    "zzz",
]
_FIELDS = [
    "deleted",
    "title",
    "status",
    "task_id",
    "checklist_id",
    "from_id",
    "item_id",
    "verdict",
    "seen",
    "items",
    "reason",
    "edited_args",
    "via",
    "agent_id",
    "run_key",
    "expires_at",
    "name",
    "public_key",
    "certificate",
    "label_ids/1",
]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_takes_any_well_formed_commit_whatever_is_in_its_fields(seed):
    chance = random.Random(seed)
    store = Store.open(Path(":memory:"), signer=Signer(bytes(32)), now_ms=lambda: 1, randomness=bytes)
    writer = CommitWriter("anna")
    heads: list[Head] = []
    for _ in range(120):
        written_commit = writer.write(
            *(_odd_operation(chance, heads, n) for n in range(chance.randint(1, 3)))
        )
        heads.append(written_commit.head)
        with store.write() as transaction:
            assert transaction.accept_page([SignedCommit(*written_commit.signed)]).new_commits == 1
    with store.write() as transaction:
        for item in transaction.items():
            assert item.tool is not None
        for kind in _KINDS:
            for entity in transaction.entities(kind):
                entity.conflicts()
        assert transaction.counts().commits == 120
    store.close()


def _odd_operation(chance: random.Random, heads: list[Head], place: int) -> list[Any]:
    """Lay out an operation that means nothing, or nearly something."""
    kind = chance.choice(_KINDS)
    # A commit of these kinds is refused if a value is dropped, so that none of theirs is well formed.
    values = [value for value in _ODD if kind not in WHOLE_KINDS or value is not _DROPPED]
    return operation(
        bytes([place, chance.randrange(12)]) * 8,
        {chance.choice(_FIELDS): chance.choice(values) for _ in range(chance.randrange(6))},
        base=chance.sample(heads, 1) if heads and chance.random() < 0.7 else [],
        kind=kind,
        effect=chance.choice([None, None, bytes(16)]),
        by=chance.randrange(3),
        origin=chance.choice([None, {}, {"a": [None]}]),
    )
