"""Who let a device into the vault, and when: as the commits say that did it, whatever their fields claim.

Never silent about a device because its entry was written in an odd way.
"""

from typing import NamedTuple

from daemon.peers import roster
from store import history
from store.fold import Written
from store.snapshot import Snapshot
from syncproto.heads import covers
from syncproto.ids import DeviceId


class LetIn(NamedTuple):
    """Whose write let a device in, and when that was written (Unix time in milliseconds, its writer's)."""

    by: DeviceId
    ms: int


def let_in(snapshot: Snapshot, device: DeviceId) -> LetIn | None:
    """Return who let a device in last; None for one that was there first, or that is not known here.

    Read from the log: a field may name anybody, and what was written over it leaves the fold.
    """
    writes = _writes(snapshot, device)
    last: tuple[DeviceId, Written] | None = None
    for by, write in writes:
        if by != device:
            opens = "added_by" in write.operation.fields or _reopens(write)
        else:
            # A newcomer renews its own entry too: that counts only where it knew whoever let it in before.
            seen = last is None or covers(write.operation.base, last[1].head, snapshot.log)
            opens = _reopens(write) and seen
        if opens:
            last = by, write
    last = last or _unmarked(snapshot, device, writes)
    return None if last is None else LetIn(last[0], last[1].source.ms)


def _writes(snapshot: Snapshot, device: DeviceId) -> list[tuple[DeviceId, Written]]:
    """Return what was ever written to a device's entry, and by which device, causes first."""
    written = history.operations(snapshot, roster.entity_of(device))
    return [(snapshot.device_of(one.head.replica), one) for one in written]


def _reopens(write: Written) -> bool:
    """Say whether a write takes a removal back."""
    fields = write.operation.fields
    return fields.get("removed") is False or fields.get("deleted") is False


def _unmarked(
    snapshot: Snapshot, device: DeviceId, writes: list[tuple[DeviceId, Written]]
) -> tuple[DeviceId, Written] | None:
    """Return the last who wrote a device's certificate without saying that it lets that one in.

    Whoever was let in by that device itself writes it so too, for its own roster, and let nobody in.
    """
    found = None
    for by, write in writes:
        if by != device and "certificate" in write.operation.fields and not _invited(snapshot, device, by):
            found = by, write
    return found


def _invited(snapshot: Snapshot, inviter: DeviceId, device: DeviceId) -> bool:
    return any(
        by == inviter and "added_by" in write.operation.fields for by, write in _writes(snapshot, device)
    )
