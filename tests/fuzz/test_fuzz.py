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
from syncproto.commit import SignedCommit
from syncproto.faults import RemoteProtocolError
from syncproto.heads import EMPTY
from syncproto.keys import Signer
from syncproto.session import Session, Standing
from tests.fuzz.mutations import mutated
from tests.vectors import generate, portable, wire
from tests.vectors.meaning import Head
from tests.vectors.writers import Writer, operation

ROUNDS = 10_000
SEEDS = range(4)
LONGEST = 4096


def corpus(name: str, key: str) -> list[bytes]:
    """Return the bytes of a vector file, the long ones left out."""
    cases = json.loads(generate.path(name).read_text("utf-8"))
    raws = [portable.from_raw(case[key]) for case in cases]
    return [raw for raw in raws if len(raw) <= LONGEST]


def accepted(read: Callable[[bytes], Any], raw: bytes) -> Any:
    """Return what is read, None where it is refused as the peer's fault; any other error is a bug."""
    try:
        return read(raw)
    except RemoteProtocolError:
        return None


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_frames_are_read_alike_by_both_implementations(seed):
    chance, held = random.Random(seed), corpus("frames", "bytes")
    read = 0
    for _ in range(ROUNDS):
        raw = mutated(chance, held)
        message = accepted(messages.read, raw)
        assert (message is not None) == _second_accepts(wire.read_frame, raw), raw.hex()
        if message is not None:
            assert messages.write(message) == raw
            read += 1
    assert 0 < read < ROUNDS


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_commits_are_read_alike_by_both_implementations(seed):
    chance, held = random.Random(seed), corpus("commits", "body")
    read = 0
    for _ in range(ROUNDS):
        raw = mutated(chance, held)
        received = accepted(lambda body: commit.read(SignedCommit(body, b"")), raw)
        assert (received is not None) == _second_accepts(wire.read_commit, raw), raw.hex()
        if received is not None:
            assert codec.encode(received.commit) == raw
            assert received.hash == wire.hash_of(raw)
            read += 1
    assert 0 < read < ROUNDS


def _second_accepts(read: Callable[[bytes], Any], raw: bytes) -> bool:
    try:
        read(raw)
    except wire.Fault:
        return False
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_items_are_counted_on_mutated_bytes_without_failing(seed):
    chance, held = random.Random(seed), corpus("values", "bytes")
    for _ in range(ROUNDS):
        raw = mutated(chance, held)
        try:
            value = codec.plain(raw)
        except Exception:  # noqa: BLE001 — whatever a reader without bounds makes of it
            value = None
        exceeds = accepted(lambda one: codec.items_exceed(one, 3), raw)
        if isinstance(value, list) and len(value) > 2:
            assert exceeds is not False


@pytest.mark.parametrize("seed", SEEDS)
def test_a_session_survives_mutated_frames_in_any_order(seed):
    chance, held = random.Random(seed), corpus("frames", "bytes")
    held += [messages.write(messages.Hello([1], bytes(16), None, EMPTY, bytes(32), {}))] * 20
    for _ in range(ROUNDS // 10):
        session = Session(bytes(16), None, Standing(EMPTY, bytes(32)))
        session.hello()
        for _ in range(10):
            raw = mutated(chance, held) if chance.random() < 0.3 else chance.choice(held)
            accepted(session.receive, raw)


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
    wire.dropped("whatever"),
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
    writer = Writer("anna")
    heads: list[Head] = []
    for _ in range(120):
        written = writer.write(*(_odd_operation(chance, heads, n) for n in range(chance.randint(1, 3))))
        heads.append(written.head)
        with store.write() as transaction:
            assert transaction.take([SignedCommit(*written.signed)]).new == 1
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
    return operation(
        bytes([place, chance.randrange(12)]) * 8,
        {chance.choice(_FIELDS): chance.choice(_ODD) for _ in range(chance.randrange(6))},
        base=chance.sample(heads, 1) if heads and chance.random() < 0.7 else [],
        kind=chance.choice(_KINDS),
        effect=chance.choice([None, None, bytes(16)]),
        by=chance.randrange(3),
        origin=chance.choice([None, {}, {"a": [None]}]),
    )
