"""Canonical MessagePack: one spelling for each value, and bounds that hold before anything is built.

Never trusts the encoder under test for what it expects: plain msgpack writes that.
"""

import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import msgpack  # type: ignore[import-untyped]
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncproto import codec, commit, messages
from syncproto.commit import SignedCommit
from syncproto.errors import RemoteProtocolError
from tests.support import strategies as draw
from tests.vectors import wire

_any = msgspec.msgpack.Decoder()
MIB = 1 << 20


def read(raw: bytes, items_max: int = 1000) -> Any:
    """Read a journal value."""
    value = codec.decode(raw, _any, items_max)
    codec.check_value(value)
    return value


@given(draw.values)
def test_what_is_written_is_read_as_it_was(value):
    assert repr(read(codec.encode(value))) == repr(wire.in_order(value))


@given(draw.values)
def test_the_encoder_writes_what_plain_msgpack_writes_with_sorted_keys(value):
    assert codec.encode(value) == wire.pack(value)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_read_or_are_the_peers_fault(raw):
    for refuse_or_read in (
        read,
        messages.decode_message,
        lambda element: commit.decode_commit(SignedCommit(element, b"")),
    ):
        try:
            refuse_or_read(raw)
        except RemoteProtocolError:
            continue
        if refuse_or_read is read:
            assert codec.encode(read(raw)) == raw


@given(draw.values)
def test_a_second_spelling_is_refused(value):
    wide = _widened(codec.encode(value))
    if wide is not None:
        assert msgpack.unpackb(wide, raw=False) == value
        with pytest.raises(RemoteProtocolError):
            read(wide)


def _widened(raw: bytes) -> bytes | None:
    """Return the first item in a wider spelling than needed, None if its type has no wider one."""
    lead, rest = raw[0], raw[1:]
    if lead <= 0x7F:
        return b"\xcd\x00" + raw
    if lead >= 0xE0:
        return b"\xd0" + raw
    if lead <= 0x8F:
        return bytes([0xDE, 0, lead & 0xF]) + rest
    if lead <= 0x9F:
        return bytes([0xDD, 0, 0, 0, lead & 0xF]) + rest
    if lead <= 0xBF:
        return bytes([0xD9, lead & 0x1F]) + rest
    return b"\xc5\x00" + rest if lead == 0xC4 else None


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**64, math.nan, math.inf, (1,), object()])
def test_a_value_beyond_the_journals_is_refused(value):
    with pytest.raises(RemoteProtocolError):
        codec.check_value([{"deep": value}])


def test_containers_nest_sixteen_deep_and_no_deeper():
    value: Any = None
    for _ in range(codec.DEPTH_MAX):
        value = [value]
    codec.check_value(value)
    with pytest.raises(RemoteProtocolError, match="deeper than 16"):
        codec.check_value([value])
    with pytest.raises(RemoteProtocolError, match="deeper than 16"):
        codec.check_value({"a": value})


# -- counting -----------------------------------------------------------------------------------------


def count(value: Any) -> int:
    """Count items the slow way."""
    if isinstance(value, list):
        return 1 + sum(map(count, value))
    if isinstance(value, dict):
        return 1 + sum(count(key) + count(member) for key, member in value.items())
    return 1


@given(draw.values)
def test_items_are_counted_without_being_built(value):
    raw, items = codec.encode(value), count(value)
    assert not codec.items_exceed(raw, items)
    # A message no longer than its bound is not counted: each item takes a byte.
    assert codec.items_exceed(raw, items - 1) == (len(raw) > items - 1)


@pytest.mark.parametrize(
    "value",
    [
        b"x" * 300, b"x" * 70_000, "x" * 300, "x" * 70_000, [0] * 300, [0] * 70_000, 1.5,
        300, 70_000, 2**31, 2**40, -200, -(2**20), -(2**40),
        {str(n): n for n in range(20)}, {str(n): n for n in range(70_000)},
    ],
    ids=lambda value: f"{type(value).__name__} of {len(codec.encode(value))} bytes",
)  # fmt: skip
def test_every_form_is_counted_and_passed_over_whole(value):
    behind = codec.encode([value, [0] * 50])
    items = count([value, [0] * 50])
    assert not codec.items_exceed(behind, items)
    assert codec.items_exceed(behind, items - 1)


# For each leading byte of MessagePack, by its specification: what belongs to it, and how many items follow.
# Contents look like arrays, so that a wrong length changes the count.
FORMS: dict[int, tuple[bytes, int]] = {
    **dict.fromkeys((*range(0x80), *range(0xE0, 0x100), 0xC0, 0xC2, 0xC3), (b"", 0)),
    **{0x80 + length: (b"", 2 * length) for length in range(16)},
    **{0x90 + length: (b"", length) for length in range(16)},
    **{0xA0 + length: (b"\x93" * length, 0) for length in range(32)},
    **{0xCA + place: (b"\x93" * width, 0) for place, width in enumerate((4, 8, 1, 2, 4, 8, 1, 2, 4, 8))},
    **{
        lead: (length.to_bytes(width, "big") + b"\x93" * length, 0)
        for lead, width in ((0xC4, 1), (0xC5, 2), (0xC6, 4), (0xD9, 1), (0xDA, 2), (0xDB, 4))
        for length in [200 if width == 1 else 700]
    },
    **{lead: ((260).to_bytes(width, "big"), 260) for lead, width in ((0xDC, 2), (0xDD, 4))},
    **{lead: ((260).to_bytes(width, "big"), 520) for lead, width in ((0xDE, 2), (0xDF, 4))},
    0xC7: (b"\x20\x01" + b"\x93" * 32, 0),
}


def test_every_leading_byte_is_counted_as_its_specification_says(monkeypatch):
    # Built again here: the table of the module was built at import, before a mutation could change it.
    monkeypatch.setattr(codec, "_SIZES", codec._sizes())
    for lead, (rest, following) in FORMS.items():
        behind = codec.encode([[0] * 9] * 9)
        raw = b"\x92" + bytes([lead]) + rest + b"\x91\x01" * following + behind
        items = 2 + 2 * following + 91
        # A byte more than there are items, so that they are counted at all.
        assert not codec.items_exceed(raw + b"\0", items), hex(lead)
        assert codec.items_exceed(raw + b"\0", items - 1), hex(lead)


def test_every_leading_byte_but_other_extensions_has_a_form():
    assert set(range(256)) - FORMS.keys() == {0xC1, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8}


@given(st.binary(max_size=60), st.integers(0, 59))
def test_counting_ends_on_any_bytes(raw, items_max):
    try:
        codec.items_exceed(raw, items_max)
    except RemoteProtocolError:
        assert len(raw) > items_max


@pytest.mark.parametrize("lead", [0xC1, 0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8])
def test_an_extension_cannot_hide_items_from_the_count(lead):
    with pytest.raises(RemoteProtocolError, match="extension"):
        codec.items_exceed(b"\x92" + bytes([lead]) + bytes(40), 10)


# -- bombs --------------------------------------------------------------------------------------------


def _peak_bytes(read: Callable[[bytes], Any], raw: bytes) -> int:
    """Read what must be refused, and return how much memory that took at most."""
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError):
            read(raw)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _hello(more: bytes) -> bytes:
    """Spell a Hello whose last part is given as bytes."""
    return b"\x97" + b"".join(map(wire.pack, [1, [2], bytes(16), None, [], bytes(32)])) + more


_COUNTED = [b"\xdc\xff\xff", b"\xdd\x00\xff\xff\xff", b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff"]


@pytest.mark.parametrize(
    "more",
    [
        b"\x81\xa1n\xdd\x00\x0f\xff\x00" + b"\x90" * 1_048_320,
        b"\x81\xa1n\xdd\x00\x0f\xff\x00" + b"\x80" * 1_048_320,
        b"\x81\xa1n\xdd\x00\x07\xff\x00" + b"\xa1x" * 524_032,
        b"\x81\xa1n\xdd\x00\x0f\xff\x00" + b"\xc0" * 1_048_320,
        b"\x81\xa1n\xd4\x00\x00\xdd\x00\x0f\xff\x00" + b"\x90" * 1_000_000,
        b"\x81\xa1n" + b"\x91" * 1_000_000,
        b"\x81\xa1n" + b"\x81\xa1n" * 20_000,
        *(b"\x81\xa1n" + head for head in _COUNTED),
        *(b"\x81\xa1n" + head + b"\x90" * 1000 for head in _COUNTED),
        b"\x81\xa1n" + b"".join(_COUNTED) * 1000,
        b"\x81\xa1n\xc6\xff\xff\xff\xff",
        b"\x81\xa1n\xdb\xff\xff\xff\xff",
    ],
    ids=lambda more: f"{more[3:9].hex()} of {len(more)} bytes",
)
def test_a_bomb_is_refused_within_a_few_times_its_own_size(more):
    assert _peak_bytes(messages.decode_message, _hello(more)[:MIB]) < 12 * MIB


def test_a_bomb_inside_a_commit_is_refused_within_a_few_times_its_own_size():
    good = [
        commit.COMMIT_FORMAT,
        wire.replica_id(0, draw.SIGNER.public_key, draw.NONCE),
        1,
        draw.NONCE,
        [0, 0],
        [2, None],
        draw.SIGNER.public_key,
        [[bytes(16), "t", [], {}, None, 2, None]],
    ]
    body = wire.pack(good)
    head, tail = body[: body.index(b"\xa1t\x90") + 3], b"\xc0\x02\xc0"
    bomb = head + b"\x81\xa1n\xdd\x00\x03\x0d\x40" + b"\x90" * 200_000 + tail
    assert _peak_bytes(lambda raw: commit.decode_commit(SignedCommit(raw, b"")), bomb) < 6 * MIB
    assert commit.decode_commit(SignedCommit(head + b"\x80" + tail, b""))


def test_the_largest_frame_that_is_accepted_takes_bounded_memory():
    most = wire.FRAME_ITEMS_MAX - 20
    raw = _hello(wire.pack({"n": [[]] * most}))
    tracemalloc.start()
    try:
        assert isinstance(messages.decode_message(raw), messages.Hello)
        assert tracemalloc.get_traced_memory()[1] < 8 * MIB
    finally:
        tracemalloc.stop()


def test_what_this_device_kept_is_read_without_bounds():
    assert codec.decode_trusted(codec.encode({"a": [1]})) == {"a": [1]}
