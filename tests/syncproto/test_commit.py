"""Commits: sealing, reading, and that no altered byte goes unnoticed.

Never signs with a key that a person could have.
"""

import msgpack  # type: ignore[import-untyped]
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncproto import commit
from syncproto.commit import SignedCommit, decode_commit, encode_commit, signature_holds
from syncproto.errors import CommitTooLarge, LocalProtocolError, RemoteProtocolError
from syncproto.ids import EntityId, ReplicaId
from syncproto.keys import Signer
from syncproto.vector_clock import Head
from tests.support import strategies as draw
from tests.vectors import portable, wire
from tests.vectors.generate import path


@given(draw.commits())
def test_a_commit_is_read_as_it_was_sealed(drawn):
    sealed = draw.signed(encode_commit(drawn))
    received = decode_commit(sealed.signed)
    assert (received.head, received.hash, received.signed) == (sealed.head, sealed.hash, sealed.signed)
    assert received.commit == drawn
    assert signature_holds(received, draw.SIGNER.public_key)
    assert encode_commit(received.commit).signed.body == sealed.signed.body


@given(draw.commits())
def test_the_second_implementation_reads_every_commit_that_is_sealed(drawn):
    body = encode_commit(drawn).signed.body
    assert wire.pack(wire.read_commit(body)) == body


def _noticed(sealed: commit.DecodedCommit, altered: bytes) -> bool:
    """Return whether an altered body is refused, or at least has another hash and so no signature."""
    try:
        received = decode_commit(SignedCommit(altered, sealed.signed.signature))
    except RemoteProtocolError:
        return True
    return received.hash != sealed.hash and not signature_holds(received, draw.SIGNER.public_key)


def test_every_altered_bit_of_a_commit_is_noticed_at_every_offset():
    sealed = draw.signed(
        encode_commit(draw.first_commit(draw.operation(title="Fix", n=[1, -1, 0.5, None, b"\x00"])))
    )
    body = sealed.signed.body
    assert not _noticed(sealed, body)
    for offset in range(len(body)):
        for bit in range(8):
            altered = bytearray(body)
            altered[offset] ^= 1 << bit
            assert _noticed(sealed, bytes(altered)), (offset, bit)


@given(draw.signed_commits, st.data())
def test_an_altered_byte_of_any_commit_is_noticed(sealed, data):
    body = sealed.signed.body
    offset = data.draw(st.integers(0, len(body) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != body[offset]))
    assert _noticed(sealed, body[:offset] + bytes([other]) + body[offset + 1 :])
    assert _noticed(sealed, body[:offset] + body[offset + 1 :])
    assert _noticed(sealed, body[:offset] + bytes([other]) + body[offset:])


@given(draw.signed_commits, st.integers(0, 511))
def test_an_altered_bit_of_a_signature_is_noticed(sealed, bit):
    signature = bytearray(sealed.signed.signature)
    signature[bit // 8] ^= 1 << bit % 8
    altered = sealed._replace(signed=SignedCommit(sealed.signed.body, bytes(signature)))
    assert not signature_holds(altered, draw.SIGNER.public_key)


def test_only_the_devices_own_key_vouches_for_a_commit():
    sealed = draw.signed(encode_commit(draw.first_commit()))
    assert not signature_holds(sealed, Signer(bytes(32)).public_key)
    assert not signature_holds(sealed, bytes(31))


def test_a_commit_may_come_without_signature_and_then_none_holds():
    sealed = encode_commit(draw.first_commit())
    assert sealed.signed.signature == b""
    assert not signature_holds(decode_commit(sealed.signed), draw.SIGNER.public_key)


@pytest.mark.parametrize("size", [1, 63, 65, 128])
def test_a_signature_of_another_length_is_the_peers_fault(size):
    body = encode_commit(draw.first_commit()).signed.body
    with pytest.raises(RemoteProtocolError, match="signature"):
        decode_commit(SignedCommit(body, bytes(size)))


# -- what is refused when it is made ---------------------------------------------------------------------


def test_a_commit_may_have_256_kib_and_not_a_byte_more():
    room = commit.COMMIT_BYTES_MAX - len(
        encode_commit(draw.first_commit(draw.operation(t="x" * 70_000))).signed.body
    )
    largest = encode_commit(draw.first_commit(draw.operation(t="x" * (70_000 + room))))
    assert len(largest.signed.body) == commit.COMMIT_BYTES_MAX
    assert decode_commit(largest.signed)
    with pytest.raises(CommitTooLarge, match="262145 bytes"):
        encode_commit(draw.first_commit(draw.operation(t="x" * (70_001 + room))))


def test_a_commit_that_a_reader_would_find_too_full_is_refused_where_it_is_made():
    spare = wire.COMMIT_ITEMS_MAX - wire.count(
        spelled(encode_commit(draw.first_commit(draw.operation(t=[]))))
    )
    assert decode_commit(encode_commit(draw.first_commit(draw.operation(t=[None] * spare))).signed)
    with pytest.raises(CommitTooLarge, match="32768 items"):
        encode_commit(draw.first_commit(draw.operation(t=[None] * (spare + 1))))


def spelled(sealed: commit.DecodedCommit) -> object:
    """Return a commit's content as the second implementation spells it."""
    return msgpack.unpackb(sealed.signed.body, raw=False, object_pairs_hook=wire.Map)


def test_a_commit_may_have_2048_operations_and_not_one_more():
    operations = [draw.operation(n) for n in range(commit.OPERATIONS_MAX + 1)]
    assert decode_commit(encode_commit(draw.first_commit(*operations[1:])).signed)
    with pytest.raises(LocalProtocolError, match="number of operations"):
        encode_commit(draw.first_commit(*operations))


@pytest.mark.parametrize(
    "field",
    ["\ud800", 1 << 63, 1 << 64, float("nan"), (1,), {1: 2}, object()],
    ids=["surrogate", "2^63", "2^64", "nan", "tuple", "number as key", "object"],
)
def test_a_value_that_no_peer_would_take_is_a_bug_here(field):
    with pytest.raises(LocalProtocolError):
        encode_commit(draw.first_commit(draw.operation(t=field)))


def test_a_value_without_end_is_a_bug_here():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(LocalProtocolError):
        encode_commit(draw.first_commit(draw.operation(t=endless)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"counter": 0},
        {"counter": 1 << 63, "previous": bytes(32), "key": None},
        {"counter": 2},
        {"counter": 2, "previous": bytes(32)},
        {"key": None},
        {"key": bytes(33)},
        {"key": Signer(bytes(32)).public_key},
        {"previous": b""},
        {"previous": bytes(31)},
        {"previous": bytes(31) + b"\x01"},
        {"replica": ReplicaId(bytes(15))},
        {"replica": ReplicaId(bytes(16))},
        {"format": 1},
        {"operations": []},
        {"operations": [draw.operation(1), draw.operation(1)]},
    ],
    ids=repr,
)
def test_a_commit_that_breaks_a_rule_is_a_bug_here(wrong):
    with pytest.raises(LocalProtocolError):
        encode_commit(msgspec.structs.replace(draw.first_commit(), **wrong))


# -- every integer, with a boolean in its place -----------------------------------------------------------


def _integer_places(value: object, place: tuple[int | str, ...] = ()) -> list[tuple[int | str, ...]]:
    """Return where integers stand in a commit's layout, fields apart."""
    if type(value) is int:
        return [place]
    if isinstance(value, list):
        return [
            integer_place
            for index, choice in enumerate(value)
            for integer_place in _integer_places(choice, (*place, index))
        ]
    return []


def test_no_integer_of_a_commit_may_be_a_boolean_or_a_float():
    base = (Head(ReplicaId(bytes(16)), 1, bytes(32)),)
    operation = msgspec.structs.replace(draw.operation(), base=base)
    body = encode_commit(draw.first_commit(operation)).signed.body
    places = _integer_places(wire.unpack(body, 100))
    assert len(places) == 7
    for place in places:
        for other in (True, False, 1.0):
            layout = wire.unpack(body, 100)
            inner = layout
            for step in place[:-1]:
                inner = inner[step]
            inner[place[-1]] = other
            with pytest.raises(RemoteProtocolError):
                decode_commit(SignedCommit(wire.pack(layout), b""))


# -- clocks in range --------------------------------------------------------------------------------------


@given(draw.clocks)
def test_a_clock_in_order_is_one(clock):
    assert commit.is_valid_clock(clock)
    if len(clock) > 1:
        assert not commit.is_valid_clock(clock[::-1])
    if clock:
        assert not commit.is_valid_clock((*clock, clock[-1]))


def test_a_clock_may_have_1024_heads_and_not_one_more():
    heads = tuple(Head(ReplicaId(bytes(16)), n + 1, bytes(32)) for n in range(commit.BASE_HEADS_MAX + 1))
    assert commit.is_valid_clock(heads[1:])
    assert not commit.is_valid_clock(heads)


def test_what_an_operation_says_of_itself():
    operation, struct = (
        draw.operation(),
        msgspec.structs.replace(draw.operation(deleted=True), base=(_head(),)),
    )
    assert operation.creates
    assert not operation.deletes
    assert struct.deletes
    assert not struct.creates
    assert not draw.operation(deleted=1).deletes


def _head() -> Head:
    return Head(ReplicaId(bytes(16)), 1, bytes(32))


def test_an_id_of_another_length_is_a_bug_here():
    for wrong in (
        {"entity": EntityId(b"")},
        {"effect": EntityId(bytes(17))},
        {"kind": ""},
        {"kind": "k" * 129},
    ):
        with pytest.raises(LocalProtocolError):
            encode_commit(draw.first_commit(msgspec.structs.replace(draw.operation(), **wrong)))


def test_the_vector_files_hold_a_commit_for_each_rule():
    text = msgspec.json.decode(path("commits").read_bytes())
    assert {case["outcome"] for case in text} >= {
        "ok", "malformed", "not-canonical", "out-of-range", "too-large", "bad-signature"
    }  # fmt: skip
    assert all(portable.from_raw(case["body"]) is not None for case in text)
