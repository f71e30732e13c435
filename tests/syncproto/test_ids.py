"""Ids: in order of time, unique by a short prefix of their text, derived alike everywhere.

Never draws randomness of its own.
"""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncproto import ids
from syncproto.ids import EntityId, derived_id, id_from_text, id_to_text, replica_id, tagged_digest, uuid7
from tests.support import strategies as draw
from tests.vectors import wire

times = st.integers(0, ids.TIME_MS_MAX)
randomness = st.binary(min_size=10, max_size=10)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), draw.floats, draw.text),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(draw.text, inner, max_size=3)),
    max_leaves=8,
)


@given(times, randomness)
def test_an_id_is_a_uuid_of_version_7_with_its_time_in_front(ms, random):
    identifier = uuid7(ms, random)
    read = uuid.UUID(bytes=identifier)
    assert (read.version, read.variant) == (7, uuid.RFC_4122)
    assert identifier[:6] == ms.to_bytes(6, "big")
    assert identifier == wire.uuid7(ms, random)


@given(times, times, randomness, randomness)
def test_ids_are_in_order_of_their_times(one_ms, other_ms, element, other):
    if one_ms < other_ms:
        assert uuid7(one_ms, element) < uuid7(other_ms, other)


@pytest.mark.parametrize(("ms", "remaining"), [(-1, 0), (ids.TIME_MS_MAX + 1, ids.TIME_MS_MAX)])
def test_a_clock_beyond_its_range_still_gives_an_id(ms, remaining):
    assert uuid7(ms, bytes(10)) == uuid7(remaining, bytes(10))


@given(draw.entity_ids)
def test_a_text_is_read_as_the_id_that_it_was(identifier):
    text = id_to_text(identifier)
    assert id_from_text(text) == identifier
    assert text == wire.text(identifier)
    assert text.startswith(identifier[9:].hex())


@given(times, randomness, randomness)
def test_a_prefix_tells_apart_what_is_made_in_one_moment(ms, element, other):
    if element[3:6] != other[3:6]:
        assert id_to_text(uuid7(ms, element))[:6] != id_to_text(uuid7(ms, other))[:6]


@given(st.text(max_size=40))
def test_a_text_that_is_no_id_is_refused_with_what_was_seen(document):
    try:
        assert id_to_text(id_from_text(document)) == document.lower()
    except ValueError as fault:
        assert repr(document[:64]) in str(fault)  # noqa: PT017


@given(st.text(min_size=1, max_size=5), st.lists(json_values, max_size=3), draw.entity_ids)
def test_a_derived_id_is_the_same_for_everyone_and_keeps_the_time(tag, parts, time_of):
    tag = tag.encode("utf-8", "ignore").decode()
    identifier = derived_id(tag, *parts, time_of=time_of)
    assert identifier == wire.derived_id(tag, parts, time_of)
    assert identifier[:6] == time_of[:6]
    assert uuid.UUID(bytes=identifier).version == 8
    assert tagged_digest(tag, *parts) == wire.digest(tag, parts)


@given(times, st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_a_replica_id_is_a_uuid_of_version_8_that_follows_from_key_and_nonce(ms, key, nonce):
    replica = replica_id(ms, key, nonce)
    read = uuid.UUID(bytes=replica)
    assert (read.version, read.variant) == (8, uuid.RFC_4122)
    assert replica[:6] == ms.to_bytes(6, "big")
    assert replica == wire.replica_id(ms, key, nonce)
    if key != nonce:
        assert replica != replica_id(ms, nonce, key)


def test_the_tag_keeps_domains_apart():
    assert tagged_digest("item", "x") != tagged_digest("entity", "x")
    assert tagged_digest("item", "x", "y") != tagged_digest("item", ["x", "y"])
    assert derived_id("item", "x", time_of=ids.ZERO_ID) != derived_id(
        "item", "y", time_of=EntityId(bytes(16))
    )
