"""A roster that one member fills: who stays in, and how a newcomer that somebody else let in gets in.

Never counts seconds.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.peers.linking import device_states
from daemon.peers.roster import member_limit, member_records
from daemon.peers.roster.member_limit import MEMBERS_MAX, STEP, MemberPlaces
from daemon.refusal import Refused
from syncproto.codec import Value
from syncproto.commit import AuthorKind, Operation
from syncproto.ids import DeviceId
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.roster.rosters import (
    EVIL,
    device_of,
    entry,
    first_commit,
    flood,
    introduce,
    linked_names,
    seed_of,
    take,
)

# -- the rule ----------------------------------------------------------------------------------------------

Write = tuple[str, str]
"""Who entered a device, and which."""


def named(name: str) -> DeviceId:
    return DeviceId(name.encode())


def places_of(writes: Iterable[Write], *, removed: Iterable[str] = ()) -> frozenset[str]:
    """Return who has a place on the device `me` after writes in this order."""
    places = MemberPlaces(named("me"))
    places.add_admission(named("me"), named("me"), 0)
    places.set_member(named("me"), True)
    for position, (writer, device) in enumerate(writes, 1):
        places.add_admission(named(device), named(writer), position)
        places.set_member(named(device), device not in removed)
    return frozenset(device.decode() for device in places.find_linked())


def flood_of(writer: str, count: int) -> list[Write]:
    return [(writer, f"{writer}-{number}") for number in range(count)]


KNOWN: list[Write] = [("me", "desk"), ("desk", "phone"), ("desk", "evil")]


def test_who_was_there_before_a_flood_stays() -> None:
    before = [*KNOWN, *(("desk", f"d{number}") for number in range(120))]
    assert {device for _, device in before} <= places_of([*before, *flood_of("evil", 5000)])


def test_a_newcomer_of_an_honest_member_takes_a_place_of_the_flood() -> None:
    writes = [*KNOWN, *flood_of("evil", 5000), ("phone", "new"), ("new", "newer")]
    places = places_of(writes)
    assert {"desk", "phone", "evil", "new", "newer"} <= places
    assert len(places) == MEMBERS_MAX


def test_devices_of_the_flood_that_let_in_others_take_no_more_places_than_it_has() -> None:
    sybils = flood_of("evil", 300)
    theirs = [(sybil, f"{sybil}-{number}") for _, sybil in sybils for number in range(20)]
    assert {"new", "newer"} <= places_of([*KNOWN, *sybils, *theirs, ("phone", "new"), ("new", "newer")])


def test_places_that_a_member_reserves_by_removed_entries_are_taken_from_its_own() -> None:
    reserved = flood_of("evil", 5000)
    honest = [("phone", f"p{number}") for number in range(15)]
    writes = [*KNOWN, *reserved, *honest]
    hidden = {device for _, device in reserved}
    assert places_of(writes, removed=hidden) == {"me", "desk", "phone", "evil", *(name for _, name in honest)}
    assert {name for _, name in honest} <= places_of(writes)


def test_those_whom_this_device_entered_come_before_all_others_however_late() -> None:
    own = [("me", f"own{number}") for number in range(100)]
    assert {name for _, name in own} <= places_of([*KNOWN, *flood_of("evil", 5000), *own])


def test_a_removed_device_takes_no_place_and_those_whom_it_let_in_keep_theirs() -> None:
    writes = [*KNOWN, *flood_of("evil", 5000), ("phone", "new"), ("new", "newer")]
    places = places_of(writes, removed={"desk", "phone"})
    assert {"evil", "new", "newer"} <= places
    assert not places & {"desk", "phone"}


def test_who_was_entered_by_no_member_gets_what_is_left() -> None:
    strangers = flood_of("nobody", 5000)
    places = places_of([*KNOWN, *strangers, ("phone", "new")])
    assert {"desk", "phone", "evil", "new"} <= places
    assert len(places) == MEMBERS_MAX


@lru_cache(None)
def devices_within(turn: int) -> int:
    """Return how many devices one member can get into its branch with at most this turn."""
    branches = (devices_within(turn // (STEP * number)) for number in range(1, turn // STEP + 1))
    return turn + sum(branches)


def test_one_flood_leaves_place_for_all_turns_up_to_sixty() -> None:
    first_hand_max = 31
    assert devices_within(60) <= (MEMBERS_MAX - 1 - first_hand_max) // 2


TURN = STEP * 3 * 2
"""The second whom the phone lets in, which is the third whom the desk lets in."""
FAIR = devices_within(TURN)
"""The places that are given in turn in the tests below: a flood leaves those up to this turn alone."""
NAMES = ["desk", "phone", "tablet", "new", "newer", "evil", *(f"m{number}" for number in range(8))]
SYBILS = NAMES[5:]


@given(
    st.lists(st.tuples(st.sampled_from(SYBILS), st.sampled_from([*NAMES, *map(str, range(60))]))),
    st.permutations([("desk", "phone"), ("desk", "evil"), ("desk", "tablet")]),
    st.booleans(),
)
def test_nothing_that_a_member_and_its_devices_write_puts_out_who_has_an_early_turn(
    written: list[Write], entered: list[Write], early: bool
) -> None:
    flood = [*written, *flood_of("evil", 99), *product([f"evil-{n}" for n in range(3)], map(str, range(60)))]
    honest = [("phone", "new"), ("phone", "newer")]
    first = [("me", "desk"), ("me", "evil"), *entered]
    with pytest.MonkeyPatch.context() as patch:
        # This device and two at first hand, as many for the oldest, and places in turn for the honest too.
        patch.setattr(member_limit, "MEMBERS_MAX", 3 + 2 * (FAIR + 4))
        writes = [*first, *flood, *honest] if not early else [("me", "evil"), *flood, *first, *honest]
        assert {"desk", "phone", "tablet", "new", "newer"} <= places_of(writes)


@given(
    st.lists(
        st.tuples(st.sampled_from(["me", *NAMES]), st.sampled_from(NAMES), st.integers(1, 99)), max_size=40
    ),
    st.sets(st.sampled_from(NAMES)),
    st.randoms(use_true_random=False),
)
def test_the_places_follow_from_what_was_written_where_and_from_no_order_of_reading(
    writes: list[tuple[str, str, int]], members: set[str], random
) -> None:
    def linked(steps: list[tuple[str, str, int]]) -> frozenset[DeviceId]:
        places = MemberPlaces(named("me"))
        for writer, device, position in steps:
            # What was read too early is taken back, as if the entry became one only later.
            places.set_member(named(device), True)
            places.add_admission(named(device), named(writer), position + 7)
            places.forget(named(device))
        for writer, device, position in steps:
            places.add_admission(named(device), named(writer), position)
            places.set_member(named(device), device in members)
        return places.find_linked()

    shuffled = list(writes)
    random.shuffle(shuffled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(member_limit, "MEMBERS_MAX", 5)
        assert linked(writes) == linked(shuffled)
        assert len(linked(writes)) <= 5


# -- on a device that takes such a roster ------------------------------------------------------------------


@pytest.fixture
async def desk(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Device:
    """A device that links with ten at most."""
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 10)
    return await fleet.start("desk")


async def test_of_a_flood_of_devices_those_that_were_there_and_those_let_in_here_stay(desk: Device):
    await introduce(desk, EVIL, "evil")
    await introduce(desk, b"p" * 32, "phone")
    await take(desk, flood(40))
    await introduce(desk, b"t" * 32, "tablet")
    names = await linked_names(desk)
    assert len(names) == 9
    assert {"phone", "tablet", "evil"} < names
    states = await desk.peers.devices.states()
    assert sum(state.left_out for state in states) == 34
    assert not any(state.left_out for state in states if state.name in ("desk", "phone", "tablet"))


async def test_an_answer_has_so_many_devices_and_counts_the_others(
    desk: Device, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 3)
    monkeypatch.setattr(device_states, "DEVICES_SHOWN_MAX", 10)
    await introduce(desk, b"z" * 32, "zebra")
    await take(desk, flood(20))
    await desk.peers.replication.apply_roster()
    listed = await desk.peers.devices.list_states()
    # Whoever is linked with comes first, whatever the others are called.
    names_shown = [state.name for state in listed.states]
    assert names_shown[0] == "desk"
    assert "zebra" in names_shown
    assert [state.left_out for state in listed.states] == [False] * 3 + [True] * 7
    assert (len(listed.states), listed.members_left_out, listed.removed_left_out) == (10, 12, 0)
    names, after = set[str](), None
    while page := (await desk.peers.devices.list_states(after)).states:
        names |= {state.name for state in page}
        after = page[-1].device_id
    assert names == {"desk", "zebra", *(f"m{number + 1}" for number in range(20))}
    with pytest.raises(Refused):
        await desk.peers.devices.list_states("ab" * 32)
    # A device that is not among those shown first is edited as well.
    assert (await desk.peers.devices.rename("m9", "renamed")).name == "renamed"
    assert (await desk.peers.synchronisation.sync()).peers_left_out == 12


async def test_no_write_of_a_member_moves_the_place_of_another(desk: Device):
    desk.clock.ahead_s += 3600
    await introduce(desk, EVIL, "evil")
    await introduce(desk, b"t" * 32, "tablet")
    await introduce(desk, b"o" * 32, "other")
    let_in_there = [entry(bytes([letter]) * 32, chr(letter)) for letter in b"pqr"]
    await take(desk, first_commit(b"o" * 32, let_in_there))
    await take(desk, flood(40))
    # It writes to the entries of the others after it has read them, as if they were let in again.
    entries = await desk.read(lambda snapshot: list(snapshot.entities(member_records.KIND)))
    fields: dict[str, Value] = {"added_by": device_of(EVIL), "removed": False}
    again = [
        Operation(written.id, written.kind, written.clock, fields, None, AuthorKind.USER, None)
        for written in entries
        if written.text("name") in ("tablet", "other", *"pqr")
    ]
    await take(desk, first_commit(EVIL, again, ms=2000))
    assert {"tablet", "other", "p", "q", "r"} < await linked_names(desk)


async def test_a_clock_that_is_set_back_lets_no_flood_before_those_that_were_there(desk: Device):
    desk.clock.ahead_s += 3600
    await introduce(desk, EVIL, "evil")
    await take(
        desk, first_commit(EVIL, [entry(bytes([letter]) * 32, chr(letter)) for letter in b"pqr"], ms=2000)
    )
    desk.clock.ahead_s -= 1800
    await take(desk, flood(40))
    assert set("pqr") < await linked_names(desk)


async def test_entries_without_a_genuine_certificate_keep_no_place_for_later(desk: Device):
    await introduce(desk, EVIL, "evil")
    await introduce(desk, b"o" * 32, "other")
    false = [entry(seed_of(n + 1), f"m{n + 1}", certificate=b"none") for n in range(40)]
    await take(desk, first_commit(EVIL, false, 3000))
    await take(desk, first_commit(b"o" * 32, [entry(bytes([letter]) * 32, chr(letter)) for letter in b"pqr"]))
    await take(desk, flood(40))
    names = await linked_names(desk)
    assert {"other", "p", "q", "r"} < names
    assert len(names) == 9


async def test_removed_entries_reserve_no_places_for_later(desk: Device):
    await introduce(desk, EVIL, "evil")
    await introduce(desk, b"o" * 32, "other")
    await take(desk, flood(40, removed=True))
    await take(desk, first_commit(b"o" * 32, [entry(b"n" * 32, "new")]))
    assert await linked_names(desk) == {"evil", "other", "new"}
    entries = await desk.read(lambda snapshot: list(snapshot.entities(member_records.KIND)))
    shown = [
        Operation(written.id, written.kind, written.clock, {"removed": False}, None, AuthorKind.USER, None)
        for written in entries
        if written.text("name").startswith("m")
    ]
    await take(desk, first_commit(EVIL, shown, ms=2000))
    names = await linked_names(desk)
    assert len(names) == 9
    assert {"evil", "other", "new"} < names


async def test_a_device_that_is_paired_with_any_honest_member_during_a_flood_is_linked_by_the_others(
    fleet: Fleet, desk: Device
):
    phone, tablet = await fleet.start("phone"), await fleet.start("tablet", static=(desk.place,))
    await fleet.pair(desk, phone)
    await introduce(desk, EVIL, "evil")
    await take(desk, flood(200))
    await in_step(desk, phone)
    assert len(await linked_names(phone)) == 9
    await fleet.pair(phone, tablet)
    await desk.until_linked(tablet)
    await tablet.add("from the newcomer")
    await in_step(desk, phone, tablet)
