"""What lists of devices cost in a roster of any size, counted in steps of SQLite's own machine.

Never measures time.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from daemon.control.health import this_device
from daemon.peers.linking import device_states, replication_status
from daemon.peers.roster import member_limit, member_records
from daemon.peers.roster.listed_roster import ListedRoster
from store.snapshot import Snapshot
from store.threads import StoreThreads
from syncproto.ids import DeviceId
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.roster.rosters import EVIL, device_of, flood, introduce, seed_of, take
from tests.support.sqlite_steps import steps_of

T = TypeVar("T")
SMALL, LARGE = 100, 1200
PER_COMMIT = 100


class CountedReads:
    """The reads of a store, with the steps that they take."""

    def __init__(self, threads: StoreThreads) -> None:
        self._threads = threads
        self.steps = 0

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        def counted(snapshot: Snapshot) -> T:
            with steps_of(snapshot) as steps:
                answer = use(snapshot)
            self.steps += steps()
            return answer

        return await self._threads.read(counted)


async def steps_with(fleet: Fleet, name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return what a device with so many roster entries spends on lists, on one state and on checks."""
    desk = await fleet.start(name)
    await introduce(desk, EVIL, "evil")
    for first in range(1, count, PER_COMMIT):
        await take(desk, flood(PER_COMMIT, first, removed=first == 1))
    await desk.peers.replication.apply_roster()
    await desk.add("a task")
    counted = CountedReads(desk.db)
    monkeypatch.setattr(desk.peers.devices, "_db", counted)
    monkeypatch.setattr(desk.peers._members, "_db", counted)
    return [
        await steps(counted, use)
        for use in (
            desk.peers.devices.list_states,
            lambda: desk.peers.devices.replication_status(
                "1",
                family_of=lambda *_: pytest.fail("a commit is asked for"),
                device_name_of=lambda *_: "desk",
            ),
            lambda: counted.read(checks),
        )
    ]


async def steps(counted: CountedReads, use: Callable[[], Any]) -> int:
    before = counted.steps
    await use()
    return counted.steps - before


def checks(snapshot: Snapshot) -> None:
    """Check what names devices."""
    slowed: list[DeviceId] = [device_of(EVIL), device_of(seed_of(1))]
    assert [
        *this_device.check_failed_agents(snapshot),
        *this_device.check_peer_states(snapshot, slowed),
        *this_device.check_flooding_peers(snapshot, slowed),
    ]


async def test_lists_and_checks_cost_what_they_show_and_not_what_the_roster_has(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(member_limit, "MEMBERS_MAX", 10)
    monkeypatch.setattr(device_states, "DEVICES_SHOWN_MAX", 20)
    monkeypatch.setattr(replication_status, "DEVICES_SHOWN_MAX", 20)
    small = await steps_with(fleet, "small", SMALL, monkeypatch)
    large = await steps_with(fleet, "large", LARGE, monkeypatch)
    for less, more in zip(small, large, strict=True):
        assert 0 < more < 2 * less, (small, large)


@pytest.fixture
async def desk(fleet: Fleet) -> Device:
    return await fleet.start("desk")


async def test_without_a_change_of_the_roster_nothing_is_put_in_order_again(desk: Device):
    roster = desk.peers._members
    await introduce(desk, EVIL, "evil")
    before = await roster.read_listed()
    await desk.add("a task")
    assert await roster.read_listed() is before
    await take(desk, flood(3))
    assert await roster.read_listed() is not before
    assert {member.name for member in (await roster.read_listed()).members.values()} > {
        "evil",
        "m1",
        "m2",
        "m3",
    }


async def test_a_page_counts_the_members_and_the_removed_devices_that_follow_it(desk: Device):
    await introduce(desk, EVIL, "evil")
    await take(desk, flood(3), flood(4, 10, removed=True))
    roster = ListedRoster(await desk.read(member_records.read_members), desk.id)
    names, after = list[str](), None
    expected = [(3, 4), (1, 4), (0, 3), (0, 1), (0, 0)]
    for left_out in expected:
        page = roster.page(after, 2)
        assert page is not None
        assert (page.members_left_out, page.removed_left_out) == left_out
        names += [member.name for member in page.shown]
        after = page.shown[-1].device.hex()
    assert names == ["desk", "evil", "m1", "m2", "m3", "m10", "m11", "m12", "m13"]
    assert roster.page("ab" * 32, 2) is None
