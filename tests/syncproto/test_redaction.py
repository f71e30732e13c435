"""Tests that a commit from which long values were dropped is still the same commit.

Never trusts the implementation's own idea of what is long: the encodings are measured.
"""

import hashlib
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncproto import codec, commit
from syncproto.codec import Redacted
from syncproto.commit import (
    Commit,
    SignedCommit,
    decode_commit,
    encode_commit,
    redact_values,
    sign_commit,
    signature_holds,
)
from syncproto.errors import LocalProtocolError, RemoteProtocolError
from syncproto.ids import EntityId
from tests.support import strategies as draw
from tests.support.growth import assert_at_most
from tests.vectors import wire


def long_fields(full_commit: Commit) -> dict[EntityId, set[str]]:
    """Return the fields of which the values are long, measured."""
    return {
        operation.entity: {name for name, value in operation.fields.items() if len(codec.encode(value)) > 128}
        for operation in full_commit.operations
    }


@given(draw.commits(), st.data())
def test_whatever_is_dropped_hash_head_and_signature_stay(full, data):
    sealed = encode_commit(full)
    dropped = {
        entity: {name for name in sorted(names) if data.draw(st.booleans())}
        for entity, names in long_fields(full).items()
    }
    body = redact_values(full, dropped)
    again = decode_commit(SignedCommit(body, sign_commit(sealed, draw.SIGNER)))
    assert (again.hash, again.head) == (sealed.hash, sealed.head)
    assert sealed.hash == wire.hash_of(sealed.signed.body) == wire.hash_of(body)
    assert signature_holds(again, draw.SIGNER.public_key)
    assert (body == sealed.signed.body) == (not any(dropped.values()))
    assert redact_values(again.commit, long_fields(full)) == redact_values(full, long_fields(full))
    for before, after in zip(full.operations, again.commit.operations, strict=True):
        for name, value in before.fields.items():
            removed = name in dropped[before.entity]
            expected = Redacted(hashlib.sha256(codec.encode(value)).digest()) if removed else value
            assert after.fields[name] == expected


@given(draw.values | draw.long_values)
def test_a_value_is_long_by_its_encoding(value):
    assert commit.is_long(value) == (len(codec.encode(value)) > commit.LONG_VALUE_BYTES)


@given(draw.commits())
def test_what_is_not_long_stays_even_where_it_is_named(full):
    names = {operation.entity: set(operation.fields) for operation in full.operations}
    assert redact_values(full, names) == redact_values(full, long_fields(full))


def test_a_commit_without_long_values_hashes_over_its_bytes():
    sealed = encode_commit(draw.first_commit(draw.operation(a="x" * 126), draw.operation(2, b="x" * 126)))
    assert len(sealed.signed.body) > commit.LONG_VALUE_BYTES
    assert sealed.hash == hashlib.sha256(sealed.signed.body).digest()


def test_a_value_of_which_another_is_left_gives_another_commit():
    other_commit = encode_commit(draw.first_commit(draw.operation(text="x" * 200)))
    other = encode_commit(draw.first_commit(draw.operation(text="x" * 199 + "y")))
    assert other_commit.hash != other.hash
    assert other_commit.hash != encode_commit(draw.first_commit(draw.operation(text=other_commit.hash))).hash


def test_no_device_writes_a_dropped_value_into_a_commit_of_its_own():
    left = draw.first_commit(draw.operation(text=Redacted(bytes(32))))
    with pytest.raises(LocalProtocolError, match="extension"):
        encode_commit(left)
    assert decode_commit(SignedCommit(codec.encode(left), b"")).commit == left


@pytest.mark.parametrize("odd", [[Redacted(bytes(32))], {"k": Redacted(bytes(32))}])
def test_a_dropped_value_stands_directly_in_a_field_or_nowhere(odd):
    with pytest.raises(RemoteProtocolError, match="extension"):
        decode_commit(SignedCommit(codec.encode(draw.first_commit(draw.operation(text=odd))), b""))


@pytest.mark.parametrize(
    "spelled", ["c72002", "c71f01", "c72101", "d801", "c8002001", "c7ff01", "c701", "c7"]
)
@pytest.mark.parametrize("behind", [10, 40, 300])
def test_no_other_extension_hides_items_from_the_count(spelled, behind):
    with pytest.raises(RemoteProtocolError, match="extension"):
        codec.items_exceed(b"\x92" + bytes.fromhex(spelled) + bytes(behind), 10)


def test_what_is_left_of_a_value_counts_one_item():
    raw = codec.encode([Redacted(bytes(32)), [0] * 50])
    assert not codec.items_exceed(raw, 53)
    assert codec.items_exceed(raw, 52)


@pytest.mark.parametrize(("code", "size"), [(0, 32), (2, 32), (1, 31), (1, 33), (1, 0)])
def test_no_other_extension_is_read_for_a_dropped_value(code, size):
    assert codec.decode_extension(1, memoryview(bytes(32))) == Redacted(bytes(32))
    with pytest.raises(RemoteProtocolError, match="another extension"):
        codec.decode_extension(code, memoryview(bytes(size)))


def test_what_is_left_is_shown_and_compared_by_its_digest():
    element: Any = Redacted(b"\x01" * 32)
    assert element == Redacted(b"\x01" * 32)
    assert element != Redacted(bytes(32))
    assert element != b"\x01" * 32
    assert len({element, Redacted(b"\x01" * 32)}) == 1
    assert repr(element) == "Redacted(01010101…)"


def test_what_is_no_journal_value_is_not_encoded():
    with pytest.raises(TypeError, match="object"):
        codec.encode(object())


LONG = "\u0659\u0640" * 64
"""Text whose bytes begin as the header of a text of this length does: it can overlap with itself."""


@pytest.mark.parametrize(
    "fields",
    [
        {"a": LONG, "b": LONG},
        {"a": LONG, "b": [LONG]},
        {"b": LONG, "a": [LONG]},
        {"a": [LONG], "b": LONG},
        {"a": [LONG, LONG], "b": {"c": LONG}},
        {"a": b"\xc4\x81" * 80, "b": b"\xc4\xa0" + b"\xc4\xa0" * 79},
        {"a": bytes(200), "b": bytes(300), "c": bytes(202)},
    ],
)
@pytest.mark.parametrize("origin", [None, {"was": LONG}, {"was": {"a": bytes(200)}}])
def test_a_long_value_that_stands_in_a_commit_more_than_once_counts_as_any_other(fields, origin):
    first = draw.operation(**fields)
    for full_commit in (
        draw.first_commit(msgspec.structs.replace(first, origin=origin)),
        draw.first_commit(
            msgspec.structs.replace(first, origin=origin), draw.operation(2, **dict(reversed(fields.items())))
        ),
    ):
        sealed = encode_commit(full_commit)
        assert sealed.hash == wire.hash_of(sealed.signed.body)
        dropped = redact_values(full_commit, long_fields(full_commit))
        assert decode_commit(SignedCommit(dropped, b"")).hash == sealed.hash


@pytest.mark.parametrize(
    "sizes", [(30_000, 60_000, 60_001, 70_000), (*range(1000, 1100), 60_000, 60_001)], ids=["few", "many"]
)
def test_values_made_to_be_searched_for_at_length_are_read_as_soon_as_others(sizes):
    fields = {f"f{number:03}": b"\xc5" * size for number, size in enumerate(sizes)}
    sealed = encode_commit(draw.first_commit(draw.operation(**fields)))
    dice = random.Random(1)
    plain: dict[str, Any] = {name: dice.randbytes(len(value)) for name, value in fields.items()}
    other = encode_commit(draw.first_commit(draw.operation(**plain)))
    assert_at_most(8, lambda: decode_commit(other.signed), lambda: decode_commit(sealed.signed))
    assert sealed.hash == wire.hash_of(sealed.signed.body)
