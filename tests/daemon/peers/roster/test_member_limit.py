"""A roster that one member fills: who stays in, what it costs, and how a person gets rid of it.

Never counts seconds.
"""

import pytest

from daemon.peers.linking import device_states
from daemon.peers.roster import member_limit, member_records
from daemon.peers.transport.identity import certificate_from_seed
from daemon.refusal import Refused
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto import commit as commits
from syncproto.codec import Value
from syncproto.commit import Author, AuthorKind, Commit, Operation, SignedCommit
from syncproto.hlc import Stamp
from syncproto.ids import replica_id
from syncproto.keys import Signer
from tests.daemon.peers.fleet import Device, Fleet

EVIL = bytes([66]) * 32


@pytest.fixture
async def desk(fleet: Fleet) -> Device:
    return await fleet.start("desk")


def signer(number: int) -> Signer:
    return Signer(number.to_bytes(32, "big"))


def entry(seed: bytes, name: str) -> Operation:
    """Return a roster entry of the device with a key, as another device writes it."""
    key = Signer(seed)
    return Operation(
        member_records.roster_entity_id(key.device),
        "device",
        (),
        {
            "name": name,
            "public_key": key.public_key,
            "certificate": certificate_from_seed(seed),
            "added_by": key.device,
        },
        None,
        AuthorKind.SYSTEM,
        None,
    )


def first_commit(seed: bytes, operations: list[Operation], ms: int = 1) -> SignedCommit:
    """Return a commit that begins a replica of the device with a key, dated long ago."""
    key, nonce = Signer(seed), bytes([len(operations) % 256]) * 32
    commit = commits.encode_commit(
        Commit(
            format=commits.COMMIT_FORMAT,
            replica=replica_id(ms, key.public_key, nonce),
            counter=1,
            previous=nonce,
            stamp=Stamp(ms, 0),
            author=Author(AuthorKind.SYSTEM),
            key=key.public_key,
            operations=operations,
        )
    )
    return SignedCommit(commit.signed.body, commits.sign_commit(commit, key))


def sybils(count: int) -> SignedCommit:
    return first_commit(EVIL, [entry(signer(n + 1).public_key, f"m{n}") for n in range(count)])


async def introduce(desk: Device, seed: bytes, name: str) -> None:
    def use(transaction: Transaction) -> None:
        write = member_records.introduction_write(
            transaction, name, certificate_from_seed(seed), transaction.device
        )
        assert write is not None
        transaction.commit([write], by=AuthorKind.SYSTEM)

    await desk.db.write(use)


async def take(desk: Device, *page: SignedCommit) -> None:
    await desk.db.write(lambda transaction: transaction.accept_page(page))


async def test_of_a_flood_of_devices_those_that_were_there_and_those_let_in_here_stay(
    desk: Device, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 10)
    await introduce(desk, EVIL, "evil")
    await introduce(desk, b"p" * 32, "phone")
    await desk.peers.replication.apply_roster()
    await take(desk, sybils(40))
    await introduce(desk, b"t" * 32, "tablet")
    await desk.peers.replication.apply_roster()
    linkable = desk.peers.devices._members.linkable_members()
    assert len(linkable) == 9
    assert {"phone", "tablet", "evil"} < {member.name for member in linkable.values()}
    states = await desk.peers.devices.states()
    assert sum(state.left_out for state in states) == 34
    assert not any(state.left_out for state in states if state.name in ("desk", "phone", "tablet"))


async def test_an_answer_has_so_many_devices_and_counts_the_others(
    desk: Device, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 3)
    monkeypatch.setattr(device_states, "DEVICES_SHOWN_MAX", 10)
    await introduce(desk, b"z" * 32, "zebra")
    await take(desk, sybils(20))
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
    assert names == {"desk", "zebra", *(f"m{number}" for number in range(20))}
    with pytest.raises(Refused):
        await desk.peers.devices.list_states("ab" * 32)
    # A device that is not among those shown first is edited as well.
    assert (await desk.peers.devices.rename("m9", "renamed")).name == "renamed"
    assert (await desk.peers.synchronisation.sync()).peers_left_out == 12


async def kept_names(desk: Device) -> set[str]:
    """Return the names of the others with which this device links, once it has stored what it saw."""
    await desk.peers.replication.apply_roster()
    await desk.peers.devices._members.refresh()
    return {member.name for member in desk.peers.devices._members.linkable_members().values()}


async def test_no_write_of_a_member_moves_the_place_of_another(desk: Device, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 10)
    desk.clock.ahead_s += 3600
    await introduce(desk, EVIL, "evil")
    await introduce(desk, b"t" * 32, "tablet")
    await introduce(desk, b"o" * 32, "other")
    let_in_there = [entry(bytes([letter]) * 32, chr(letter)) for letter in b"pqr"]
    await take(desk, first_commit(b"o" * 32, let_in_there))
    await desk.peers.replication.apply_roster()
    await take(desk, sybils(40))
    await desk.peers.replication.apply_roster()
    # It writes to the entries of the others after it has read them, as if they were let in again.
    entries = await desk.read(lambda snapshot: list(snapshot.entities(member_records.KIND)))
    fields: dict[str, Value] = {"added_by": Signer(EVIL).device, "removed": False}
    again = [
        Operation(written.id, written.kind, written.clock, fields, None, AuthorKind.USER, None)
        for written in entries
        if written.text("name") in ("tablet", "other", *"pqr")
    ]
    await take(desk, first_commit(EVIL, again, ms=2))
    assert {"tablet", "other", "p", "q", "r"} < await kept_names(desk)


async def test_a_clock_that_is_set_back_lets_no_flood_before_those_that_were_there(
    desk: Device, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 10)
    desk.clock.ahead_s += 3600
    await introduce(desk, EVIL, "evil")
    await take(
        desk, first_commit(EVIL, [entry(bytes([letter]) * 32, chr(letter)) for letter in b"pqr"], ms=2)
    )
    await kept_names(desk)
    desk.clock.ahead_s -= 1800
    await take(desk, sybils(40))
    assert set("pqr") < await kept_names(desk)


async def test_entries_without_a_genuine_certificate_keep_no_place_for_later(
    desk: Device, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 10)
    await introduce(desk, EVIL, "evil")
    await introduce(desk, b"o" * 32, "other")
    false: dict[str, Value] = {"name": "m", "certificate": b"none"}
    reserved = [member_records.roster_entity_id(signer(n + 1).device) for n in range(40)]
    places = [Operation(entity, "device", (), false, None, AuthorKind.USER, None) for entity in reserved]
    await take(desk, first_commit(EVIL, places, ms=3))
    await take(desk, first_commit(b"o" * 32, [entry(bytes([letter]) * 32, chr(letter)) for letter in b"pqr"]))
    later = first_commit(
        EVIL, [entry(number.to_bytes(32, "big"), f"m{number}") for number in range(1, 41)], ms=4
    )
    await take(desk, later)
    kept = await kept_names(desk)
    assert {"other", "p", "q", "r"} < kept
    assert len(desk.peers.devices._members.linkable_members()) == 9


async def test_one_act_removes_a_device_and_all_that_it_alone_let_in(desk: Device):
    await introduce(desk, EVIL, "evil")
    await introduce(desk, b"p" * 32, "phone")
    later = first_commit(signer(3).public_key, [entry(bytes([77]) * 32, "of a sybil")])
    # It claims the phone too.
    claims = [entry(b"p" * 32, "phone")]
    await take(desk, sybils(20), first_commit(EVIL, claims, ms=2), later)
    await introduce(desk, b"t" * 32, "tablet")
    await desk.peers.devices.remove("evil", with_admitted=True)
    members = await desk.read(member_records.read_members)
    assert {member.name for member in members.values() if not member.removed} == {"desk", "phone", "tablet"}


async def test_the_roster_is_read_again_only_if_an_entry_changed(
    desk: Device, monkeypatch: pytest.MonkeyPatch
):
    await desk.peers.replication.apply_roster()
    read: list[int] = []
    read_members = member_records.read_members

    def noted(snapshot: Snapshot):
        read.append(1)
        return read_members(snapshot)

    monkeypatch.setattr(member_records, "read_members", noted)
    for number in range(5):
        await desk.add(f"task {number}")
        await desk.peers.replication.apply_roster()
    assert read == []
    await desk.db.write(
        lambda tx: tx.commit(
            [EntityWrite(member_records.roster_entity_id(desk.id), "device", {"name": "table"})]
        )
    )
    await desk.peers.replication.apply_roster()
    assert read
