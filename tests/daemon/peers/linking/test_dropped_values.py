"""A value that counts, and that a member dropped on its way to one device: another device heals it.

Never patches a device to drop values: the log of one is changed as if a patched member had sent it so.
"""

from typing import Any

import pytest

from daemon.peers.linking import link_registry
from store.fold.entity import Entity
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from store.upkeep.rebuild import rebuild_tables
from syncproto import commit as commits
from syncproto import messages
from syncproto.codec import Redacted
from syncproto.commit import SignedCommit
from syncproto.ids import EntityId
from syncproto.messages import Commits
from tests.daemon.peers.fleet import Device, Fleet, in_step
from tests.daemon.peers.linking.link_steps import greet, pair_of, posing_as
from tests.daemon.peers.linking.test_divergence_reports import until_differing
from tests.support.patience import LIMIT_S


async def add_long(device: Device, title: str) -> EntityId:
    def use(transaction: Transaction) -> EntityId:
        task = transaction.new_id()
        transaction.commit([EntityWrite(task, "task", {"title": title * 50})])
        return task

    return await device.db.write(use)


async def drop_title(device: Device, task: EntityId) -> None:
    """Change a log as if it had taken the task's commit from a member that dropped the title."""

    def use(transaction: Transaction) -> None:
        row: Any = transaction.db.execute("SELECT seq FROM history WHERE entity = ?", (task,)).fetchone()
        received = transaction.log.commit_at(row[0])
        transaction.log.replace_body(row[0], commits.redact_values(received.commit, {task: {"title"}}))
        rebuild_tables(transaction.db, lambda *_: None)

    await device.db.write(use)


async def title_of(device: Device, task: EntityId) -> object:
    def read(snapshot: Snapshot) -> object:
        entity: Entity | None = snapshot.entity(task)
        assert entity is not None
        return entity.value("title")

    return await device.read(read)


async def has_titles(device: Device, titles: dict[EntityId, str]) -> bool:
    return all([await title_of(device, task) == title * 50 for task, title in titles.items()])


async def test_a_device_takes_back_what_was_dropped_from_one_that_has_it_whole(fleet: Fleet) -> None:
    desk, phone = await pair_of(fleet)
    first, second = await add_long(desk, "plan "), await add_long(phone, "book ")
    await in_step(desk, phone)
    # Each lacks what the other has.
    await drop_title(phone, first)
    await drop_title(desk, second)
    assert isinstance(await title_of(phone, first), Redacted)
    await desk.add("compare")
    for device in (desk, phone):
        await device.until(lambda healed: has_titles(healed, {first: "plan ", second: "book "}))
    await until_differing(desk, phone, differ=False)
    await in_step(desk, phone)


async def test_a_value_is_given_back_although_nobody_has_many_others(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_registry, "WANTED_HEADS_MAX", 2)
    desk, phone = await pair_of(fleet)
    tasks = [await add_long(desk, f"plan {number} ") for number in range(9)]
    await in_step(desk, phone)
    # The phone has only the last of them.
    for device in (desk, phone):
        for task in tasks[: -1 if device is phone else None]:
            await drop_title(device, task)
    await desk.add("compare")
    await desk.until(lambda healed: has_titles(healed, {tasks[-1]: "plan 8 "}))
    await until_differing(desk, phone, differ=False)
    await in_step(desk, phone)


async def test_a_device_passes_on_a_value_that_it_learns_late(fleet: Fleet) -> None:
    """A member sends one device a commit without its values, and later with them: nothing else happens."""
    desk, phone = await pair_of(fleet)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await tablet.stop()
    fleet.devices.remove(tablet)
    store = tablet.opened()
    with store.write() as transaction:
        task = transaction.new_id()
        transaction.commit([EntityWrite(task, "task", {"title": "late " * 50})])
    with store.read() as snapshot:
        whole = snapshot.log.commit_at(snapshot.feed_end())
    store.close()
    body = commits.redact_values(whole.commit, {task: {"title"}})
    async with posing_as(tablet, desk) as wire:
        await greet(wire, desk, level=True)
        for spelling in (SignedCommit(body, whole.signed.signature), whole.signed):
            await wire.send(messages.encode_message(Commits([spelling])), LIMIT_S)
            await desk.until(lambda device: device_has(device, task))
            await phone.until(lambda device: device_has(device, task))
        for device in (desk, phone):
            await device.until(lambda healed: has_titles(healed, {task: "late "}))
    await in_step(desk, phone)


async def device_has(device: Device, task: EntityId) -> bool:
    return await device.read(lambda snapshot: snapshot.entity(task) is not None)
