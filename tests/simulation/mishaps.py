"""What befalls a device and its file: restarts, undone transactions, backups put back, copies beside it.

Never touches a store while it is open.
"""

from contextlib import suppress

from store.transaction import EntityWrite
from store.upkeep.compaction import BEFORE_FIRST_ENTITY, Retention, compact_step
from syncproto.ids import EntityId
from syncproto.vector_clock import VectorClock
from tests.simulation.author import TASK, TITLE, Author
from tests.simulation.device import SimulatedDevice
from tests.simulation.fleet import Action, HistoryStep, StoreFleet
from tests.simulation.laws import contents


class Aborted(Exception):
    """A transaction that is undone on purpose."""


def restart(fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep) -> str:
    """Close the store and open it again."""
    del step
    device.restart()
    return "done"


def abort(fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep) -> str:
    """Write, and undo the transaction at its end."""
    with device.store.read() as snapshot:
        before = (snapshot.vector(), snapshot.state_hash(), snapshot.counts())
    with suppress(Aborted), fleet.at(device) as author:
        _write_and_fail(author)
    with device.store.read() as snapshot:
        assert before == (snapshot.vector(), snapshot.state_hash(), snapshot.counts())
    return "done"


def _write_and_fail(author: Author) -> None:
    author.write(author.tx.new_id(), "entry", {"task_id": TASK, TITLE: "lost"}, touch=True)
    author.device.commit(author.tx, [EntityWrite(TASK, "task", {TITLE: "lost"})])
    raise Aborted


def backup(fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep) -> str:
    """Copy the file away."""
    del step
    device.keep_backup()
    return "done"


def restored(fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep) -> str:
    """Put the backup back, as `restore` does: a new replica begins."""
    del step
    return "done" if device.roll_back(noticed=True) else ""


def rolled_back(fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep) -> str:
    """Put the backup back behind the store's back: counters are used twice."""
    del step
    fleet.forks = True
    return "done" if device.roll_back(noticed=False) else ""


def cloned(fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep) -> str:
    """Run a copy of the device beside it."""
    del step
    if len(fleet.devices) >= 5:
        return ""
    fleet.forks = True
    fleet.devices.append(device.clone(f"{device.name}{len(fleet.devices)}"))
    return "done"


def compacted(fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep) -> str:
    """Compact, wholly or up to some step, what all others hold, also if a backup of theirs is put back."""
    clocks: list[VectorClock] = []
    for other in fleet.devices:
        if other is not device:
            clocks.append(tuple(sorted(other.held)))
        if other.backup is not None:
            clocks.append(tuple(sorted(other.backup.held)))
    before_ms = fleet.world.now_ms - step.one * 3_000
    with device.store.read() as snapshot:
        before = contents(snapshot)
    after: EntityId | None = BEFORE_FIRST_ENTITY
    values, steps = 0, 1 + step.two
    while after is not None and steps:
        with device.store.write() as tx:
            freed, after = compact_step(tx, Retention(before_ms, tuple(clocks)), after)
        values, steps = values + freed.values, steps - 1
    with device.store.read() as snapshot:
        assert contents(snapshot) == before, "compaction changes what is shown"
    return "dropped something" if values else "nothing to drop"


MISHAPS: dict[str, Action] = {
    "restart": restart,
    "abort": abort,
    "backup": backup,
    "restored": restored,
    "rolled back": rolled_back,
    "cloned": cloned,
    "compacted": compacted,
}
