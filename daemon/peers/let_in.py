"""Who let a device into the vault, and when: as the commits say that did it, whatever their fields claim.

Never silent about a device because its entry was written in an odd way.
"""

from collections.abc import Iterable
from typing import NamedTuple

from daemon.peers import roster
from store import history
from store import peers as table
from store.fold import Written
from store.snapshot import Snapshot
from syncproto.heads import Head, covers
from syncproto.ids import DeviceId

JOINING_MS = 600_000
"""How long after a device has joined it is still told what the vault held before."""


class LetIn(NamedTuple):
    """Whose write let a device in, in which commit, and when by its writer's clock (Unix time in ms)."""

    by: DeviceId
    head: Head
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
    return None if last is None else LetIn(last[0], last[1].head, last[1].source.ms)


def heard_ms(snapshot: Snapshot, device: DeviceId, entered: LetIn) -> int | None:
    """Return when this device heard that another one was let in; None for what it found as it joined itself.

    Its writer's time is believed alone where this one has not been noted yet.
    """
    heard = table.heard_let_in(snapshot)
    write, noted_ms = heard.get(device, (None, entered.ms))
    at_ms = noted_ms if write == entered.head else entered.ms
    _, joined_ms = heard.get(snapshot.device, (None, None))
    found = joined_ms is not None and entered.ms <= joined_ms and at_ms <= joined_ms + JOINING_MS
    return None if found else at_ms


def unheard(snapshot: Snapshot, devices: Iterable[DeviceId]) -> dict[DeviceId, Head]:
    """Return by which commits devices were let in, of those that this device has not noted yet."""
    heard, found = table.heard_let_in(snapshot), {}
    for device in devices:
        entered = None if device == snapshot.device else let_in(snapshot, device)
        if entered is not None and heard.get(device, (None, 0))[0] != entered.head:
            found[device] = entered.head
    return found


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
