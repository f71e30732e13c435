"""Laws of places in a list.

Never looks at how a place is written, only at how places compare and how long they get.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.journal.fields.positions import (
    PLACE_DIGITS_MAX,
    NoRoom,
    is_position,
    last_with_room,
    position_between,
    position_of_its_own,
    positions_between,
)
from syncproto.ids import EntityId

places = st.text("0123456789AVZaz", min_size=1, max_size=12).filter(lambda text: not text.endswith("0"))


@given(places, places)
def test_between_two_places_there_is_always_another(text: str, other: str) -> None:
    a, b = sorted((text, other))
    if a == b:
        with pytest.raises(ValueError, match="no room"):
            position_between(a, b)
        return
    assert a < position_between(a, b) < b
    assert is_position(position_between(a, b))


@given(places)
def test_there_is_a_place_after_any_and_before_any(place: str) -> None:
    assert place < position_between(place, None)
    assert position_between(None, place) < place
    assert is_position(position_between(place, None))
    assert is_position(position_between(None, place))


@given(st.lists(st.integers(0, 1000), max_size=80))
def test_inserts_anywhere_keep_the_order_in_which_they_were_put(where: list[int]) -> None:
    row: list[str] = []
    for wanted in where:
        index = wanted % (len(row) + 1)
        row.insert(
            index,
            position_between(row[index - 1] if index else None, row[index] if index < len(row) else None),
        )
    assert row == sorted(set(row))


@given(st.none() | places, st.none() | places, st.binary(min_size=16, max_size=16))
def test_a_place_of_ones_own_lies_between_too(text: str | None, other: str | None, name: bytes) -> None:
    a, b = sorted((text, other)) if text is not None and other is not None else (text, other)
    if a is not None and a == b:
        return
    place = position_of_its_own(a, b, EntityId(name))
    assert is_position(place)
    assert a is None or a < place
    assert b is None or place < b


def test_a_place_of_ones_own_fits_where_the_next_one_begins_alike() -> None:
    name = EntityId(bytes(range(16)))
    assert position_between("Uzzz", "V1") == "V"
    assert "Uzzz" < position_of_its_own("Uzzz", "V1", name) < "V1"
    assert "Uzzz" < position_of_its_own("Uzzz", "V0001", name) < "V0001"


def test_what_two_devices_put_into_one_gap_has_two_places() -> None:
    names = [EntityId(bytes(12) + number.to_bytes(4, "big")) for number in range(200)]
    assert len({position_of_its_own("V", "W", name) for name in names}) == len(names)


def test_a_list_that_grows_at_either_end_keeps_short_places() -> None:
    last = first = position_between(None, None)
    for _ in range(10_000):
        last, first = position_between(last, None), position_between(None, first)
    assert max(len(last), len(first)) <= 5


@pytest.mark.parametrize("malformed", ["", "a0", "a b", "é", "-"])
def test_a_malformed_place_is_refused(malformed: str) -> None:
    assert not is_position(malformed)
    with pytest.raises(ValueError, match="not places"):
        position_between(malformed, None)


def test_what_is_not_text_is_no_place() -> None:
    assert not is_position(None)
    assert not is_position(7)


def test_a_text_of_more_digits_than_any_list_needs_is_no_place() -> None:
    assert is_position("z" * (PLACE_DIGITS_MAX - 1) + "y")
    assert not is_position("z" * PLACE_DIGITS_MAX + "y")
    with pytest.raises(ValueError, match="not places"):
        position_between("z" * 250_000 + "y", None)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("z" * 199 + "y", None),
        (None, "0" * 199 + "1"),
        ("V", "V" + "0" * 198 + "1"),
        ("V" * 200, "V" * 199 + "W"),
    ],
)
def test_places_that_leave_no_short_one_leave_no_room(a: str | None, b: str | None) -> None:
    with pytest.raises(NoRoom):
        position_of_its_own(a, b, EntityId(bytes(16)))


def test_a_list_goes_on_after_the_last_place_that_leaves_room() -> None:
    assert last_with_room(["V1", "z" * 199 + "y", "not a place", "z" * 250_000]) == "V1"
    assert last_with_room(["z" * 150 + "y"]) is None
    edge = "z" * 97 + "y" + "z" * 97
    assert last_with_room(["V", edge]) == edge
    for _ in range(5):
        edge = position_of_its_own(edge, None, EntityId(b"z" * 16))
    assert last_with_room(["V", "z" + edge]) == "V"


def test_many_places_in_one_gap_are_short_and_in_order() -> None:
    entities = [EntityId(number.to_bytes(16, "big")) for number in range(2000)]
    places = positions_between("V", "V2", entities)
    assert list(places) == entities
    assert list(places.values()) == sorted(set(places.values()))
    assert max(map(len, places.values())) <= 20


def test_a_person_who_always_inserts_in_the_same_gap_never_runs_out_of_room_soon() -> None:
    low, high = "V", "W"
    for number in range(300):
        low = position_of_its_own(low, high, EntityId(number.to_bytes(16, "big")))
    assert len(low) <= PLACE_DIGITS_MAX
