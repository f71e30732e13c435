"""Laws of places in a list.

Never looks at how a place is written, only at how places compare and how long they get.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.journal.positions import between, is_place, own
from syncproto.ids import EntityId

places = st.text("0123456789AVZaz", min_size=1, max_size=12).filter(lambda text: not text.endswith("0"))


@given(places, places)
def test_between_two_places_there_is_always_another(one: str, other: str) -> None:
    a, b = sorted((one, other))
    if a == b:
        with pytest.raises(ValueError, match="no room"):
            between(a, b)
        return
    assert a < between(a, b) < b
    assert is_place(between(a, b))


@given(places)
def test_there_is_a_place_after_any_and_before_any(place: str) -> None:
    assert place < between(place, None)
    assert between(None, place) < place
    assert is_place(between(place, None))
    assert is_place(between(None, place))


@given(st.lists(st.integers(0, 1000), max_size=80))
def test_inserts_anywhere_keep_the_order_in_which_they_were_put(where: list[int]) -> None:
    row: list[str] = []
    for wanted in where:
        at = wanted % (len(row) + 1)
        row.insert(at, between(row[at - 1] if at else None, row[at] if at < len(row) else None))
    assert row == sorted(set(row))


@given(st.none() | places, st.none() | places, st.binary(min_size=16, max_size=16))
def test_a_place_of_ones_own_lies_between_too(one: str | None, other: str | None, name: bytes) -> None:
    a, b = sorted((one, other)) if one is not None and other is not None else (one, other)
    if a is not None and a == b:
        return
    place = own(a, b, EntityId(name))
    assert is_place(place)
    assert a is None or a < place
    assert b is None or place < b


def test_a_place_of_ones_own_fits_where_the_next_one_begins_alike() -> None:
    name = EntityId(bytes(range(16)))
    assert between("Uzzz", "V1") == "V"
    assert "Uzzz" < own("Uzzz", "V1", name) < "V1"
    assert "Uzzz" < own("Uzzz", "V0001", name) < "V0001"


def test_what_two_devices_put_into_one_gap_has_two_places() -> None:
    names = [EntityId(bytes(12) + number.to_bytes(4, "big")) for number in range(200)]
    assert len({own("V", "W", name) for name in names}) == len(names)


def test_a_list_that_grows_at_either_end_keeps_short_places() -> None:
    last = first = between(None, None)
    for _ in range(10_000):
        last, first = between(last, None), between(None, first)
    assert max(len(last), len(first)) <= 5


@pytest.mark.parametrize("malformed", ["", "a0", "a b", "é", "-"])
def test_a_malformed_place_is_refused(malformed: str) -> None:
    assert not is_place(malformed)
    with pytest.raises(ValueError, match="not places"):
        between(malformed, None)


def test_what_is_not_text_is_no_place() -> None:
    assert not is_place(None)
    assert not is_place(7)
