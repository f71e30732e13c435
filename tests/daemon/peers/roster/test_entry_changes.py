"""The roster as a device follows it: it knows what it would read anew, and a change costs what it changes.

Never counts seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from daemon.peers.roster import entry_changes, member_limit, member_records
from daemon.peers.roster.cache import RosterCache
from daemon.peers.roster.entry_changes import RosterChanges
from daemon.peers.transport import identity
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind, SignedCommit
from syncproto.ids import DeviceId
from syncproto.vector_clock import EMPTY_CLOCK
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.roster.rosters import (
    EVIL,
    device_of,
    entry,
    first_commit,
    flood,
    introduce,
    seed_of,
    take,
)
from tests.support.growth import assert_at_most
from tests.support.sqlite_steps import steps_to_read


@pytest.fixture
async def desk(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Device:
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 6)
    return await fleet.start("desk")


@dataclass
class Trust:
    """What the listener was last told to trust."""

    certificates: frozenset[bytes] = field(default_factory=frozenset)

    def replace_trusted(self, certificates: frozenset[bytes]) -> None:
        self.certificates = certificates


def new_cache(desk: Device) -> RosterCache:
    return RosterCache(desk.db, desk.id, Trust(), desk.clock)  # type: ignore[arg-type]


async def standing(cache: RosterCache) -> tuple[object, ...]:
    """Return all that a device knows of its roster."""
    await cache.refresh_if_changed()
    return (
        dict(cache.all_members),
        cache.linkable_members(),
        cache.left_out,
        cache.beacon_keys(),
        cache._trusted,
        cache._removed_mark,
    )


def write_entry(seed: bytes, fields: dict[str, Value], kind: str = "device", **more: object) -> EntityWrite:
    entity = member_records.roster_entity_id(device_of(seed))
    return EntityWrite(entity, kind, fields, **more)  # type: ignore[arg-type]


def certificate(seed: bytes) -> bytes:
    return identity.certificate_from_seed(seed)


A, B = b"a" * 32, b"b" * 32
Step = Callable[[Device], Awaitable[None]]


def taken(*page: SignedCommit) -> Step:
    """Return the step that takes commits that another device sends."""
    return lambda desk: take(desk, *page)


def written(*writes: EntityWrite) -> Step:
    """Return the step that commits what no use case would, each write in a commit of its own."""

    async def write_all(desk: Device) -> None:
        await desk.db.write(lambda tx: [tx.commit([write]) for write in writes])

    return write_all


STEPS = [
    taken(first_commit(EVIL, [entry(A, "a")])),
    written(write_entry(A, {"certificate": b"false"})),
    written(write_entry(A, {"certificate": b"false too"}, base=EMPTY_CLOCK)),
    written(write_entry(A, {"name": "renamed"})),
    written(write_entry(A, {"removed": True})),
    taken(flood(9)),
    written(write_entry(A, {"removed": False})),
    written(write_entry(seed_of(3), {"removed": True}), write_entry(seed_of(4), {"deleted": True})),
    # A member by its certificate alone, until somebody creates something else under its id.
    written(write_entry(B, {"certificate": certificate(B)}, by=AuthorKind.SYSTEM)),
    written(write_entry(B, {"title": "a task"}, kind="task", base=EMPTY_CLOCK)),
    written(write_entry(B, {"name": "b"})),
    taken(first_commit(seed_of(5), [entry(B, "b")])),
    taken(first_commit(A, [entry(seed_of(n), f"m{n}") for n in range(4, 14)])),
    taken(flood(9, first=100, removed=True)),
    written(write_entry(seed_of(3), {"removed": False, "certificate": certificate(A)})),
]


async def test_what_is_known_after_each_change_is_what_is_read_anew(desk: Device):
    await introduce(desk, EVIL, "evil")
    followed = new_cache(desk)
    await standing(followed)
    for step in STEPS:
        await step(desk)
        # This device writes too: a new key for its announcements, after a removal.
        await desk.peers.replication.apply_roster()
        anew = new_cache(desk)
        assert await standing(followed) == await standing(anew)
        members = await desk.read(member_records.read_members)
        assert dict(anew.all_members) == members
    assert followed.left_out


async def test_an_entry_whose_id_was_taken_by_something_else_is_none_until_it_is_founded(desk: Device):
    followed = new_cache(desk)
    bare = write_entry(B, {"certificate": certificate(B)}, by=AuthorKind.SYSTEM)
    await desk.db.write(lambda tx: tx.commit([bare]))
    await standing(followed)
    assert device_of(B) in followed.all_members
    await desk.db.write(
        lambda tx: tx.commit([write_entry(B, {"title": "mine"}, kind="task", base=EMPTY_CLOCK)])
    )
    # It is a device's no more: a person's creation counts before one that founds nothing.
    await standing(followed)
    assert device_of(B) not in followed.all_members
    await introduce(desk, B, "b")
    await standing(followed)
    assert device_of(B) in followed.all_members


async def test_the_roster_is_read_again_only_if_an_entry_changed(
    desk: Device, monkeypatch: pytest.MonkeyPatch
):
    await desk.peers.replication.apply_roster()
    changes_read: list[RosterChanges] = []
    read_changes = entry_changes.read_changes

    def noted(*arguments: object) -> RosterChanges:
        changes_read.append(read_changes(*arguments))  # type: ignore[arg-type]
        return changes_read[-1]

    monkeypatch.setattr(entry_changes, "read_changes", noted)
    for number in range(5):
        await desk.add(f"task {number}")
        await desk.peers.replication.apply_roster()
    assert changes_read == []
    own = member_records.roster_entity_id(desk.id)
    await desk.db.write(lambda tx: tx.commit([EntityWrite(own, "device", {"name": "table"})]))
    await desk.peers.replication.apply_roster()
    assert [set(changes.entries) for changes in changes_read] == [{own}]


async def test_to_read_a_large_roster_again_checks_no_certificate_again(desk: Device):
    count = 2 * member_limit.MEMBERS_MAX + 300
    await take(desk, *(flood(100, first=first) for first in range(1, count, 100)))
    await desk.read(member_records.read_members)
    before = identity.public_key_of.cache_info()
    assert len(await desk.read(member_records.read_members)) > count
    assert identity.public_key_of.cache_info().misses == before.misses


async def test_many_removals_at_once_are_marked_once(desk: Device, monkeypatch: pytest.MonkeyPatch):
    await introduce(desk, EVIL, "evil")
    followed = new_cache(desk)
    await standing(followed)
    marked: list[int] = []
    removed_mark, this_task = member_records.removed_mark, asyncio.current_task()

    def noted(removed: Collection[DeviceId]) -> bytes:
        # The device itself follows its roster too, at some moment.
        if asyncio.current_task() is this_task:
            marked.append(len(removed))
        return removed_mark(removed)

    monkeypatch.setattr(member_records, "removed_mark", noted)
    await take(desk, flood(40, removed=True))
    await standing(followed)
    assert [count for count in marked if count] == [40]


# -- what a change costs -----------------------------------------------------------------------------------

FEW = 40
MANY = 16 * FEW


class Followed:
    """A store with a roster of so many entries, which was read, and then one of them changed."""

    def __init__(self, desk: Device, entries: int) -> None:
        self.store = desk.opened()
        with self.store.write() as tx:
            tx.accept_page([flood(FEW, first=first) for first in range(1, entries, FEW)])
        self.cache = RosterCache(None, desk.id, Trust(), desk.clock)  # type: ignore[arg-type]
        self.follow()
        with self.store.write() as tx:
            tx.commit([write_entry(seed_of(7), {"removed": True})])
        self._before = self.cache._newest

    def follow(self) -> None:
        """Read what changed, and apply it."""
        with self.store.read() as snapshot:
            reading = self.cache._read(snapshot)
        self.cache._apply(reading.changes)

    def follow_again(self) -> None:
        """Do what the change of the one entry takes."""
        self.cache._newest = self._before
        self.follow()


def test_the_cost_of_a_change_does_not_grow_with_the_entries_that_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 20)
    small, large = [Followed(Fleet(tmp_path / str(count)).make("desk"), count) for count in (FEW, MANY)]
    assert_at_most(2.0, small.follow_again, large.follow_again)
    steps = [steps_to_read(followed.store, followed.cache._read) for followed in (small, large)]
    assert steps[1] <= 2 * steps[0]
    for followed in (small, large):
        followed.store.close()
