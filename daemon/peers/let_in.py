"""Who let a device into the vault, as the fold has it, and since when that is news on this device.

Never silent about a member because its entry was written in an odd way, or was given another date.
"""

from collections.abc import Mapping
from typing import NamedTuple

from daemon.peers import roster
from daemon.peers.roster import Member
from store import peers as table
from store.entity import Entity
from store.fold import DELETED, Version
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto import codec
from syncproto.ids import DeviceId

JOINING_MS = 600_000
"""How long after a device has joined it is still told what the vault held before."""
NO_NEWS_MS = 0
"""When what this device found in the vault as it joined was heard."""


Seen = Mapping[DeviceId, tuple[bytes, int]]
"""Under which mark this device first saw each member, and when; of its own: when it joined its vault."""


class LetIn(NamedTuple):
    """Whose write let a device in, and when by its writer's clock (Unix time in ms)."""

    by: DeviceId
    ms: int


def let_in(snapshot: Snapshot, device: DeviceId) -> LetIn | None:
    """Return who let a device in last; None where nobody says so, as for the one that was there first.

    Who signed the winning version did, whatever it says. A bare certificate tells as much, unless the device
    wrote one as well: newcomers write those into the roster whom they met.
    """
    entity = snapshot.entity(roster.entity_of(device))
    if entity is None:
        return None
    found = _admitting(snapshot, device, entity)
    if not found:
        found = entity.versions("certificate")
        if any(_writer(snapshot, one) == device for one in found):
            return None
    best = max(found, key=lambda one: one.source.order, default=None)
    return None if best is None else LetIn(_writer(snapshot, best), best.source.ms)


def mark(snapshot: Snapshot, device: DeviceId) -> bytes:
    """Return what tells one letting in of a device from another, empty where none is written."""
    entity = snapshot.entity(roster.entity_of(device))
    found = [] if entity is None else _admitting(snapshot, device, entity)
    return codec.encode(sorted({one.source.head for one in found})) if found else b""


def _admitting(snapshot: Snapshot, device: DeviceId, entity: Entity) -> list[Version]:
    """Return the versions that let a device in: the winning ones of `added_by` and of no removal."""
    found = [entity.version("added_by")]
    for field in ("removed", DELETED):
        taken_back = [one for one in entity.versions(field) if one.value is False]
        # A newcomer that knows of its removal takes it back in its own entry too.
        others = [one for one in taken_back if _writer(snapshot, one) != device]
        found.append(next(iter(others or taken_back), None))
    return [one for one in found if one is not None]


def _writer(snapshot: Snapshot, version: Version) -> DeviceId:
    return snapshot.device_of(version.source.head.replica)


# -- since when it is news ---------------------------------------------------------------------------------


def heard_ms(seen: Seen, own: DeviceId, device: DeviceId, marked: bytes, now_ms: int) -> int:
    """Return when this device heard that another one is a member: now, where it has not noted so yet."""
    standing = seen.get(device)
    if standing is not None and standing[0] == marked:
        return standing[1]
    _, joined_ms = seen.get(own, (b"", None))
    # A clock that was set back is not within it, so that it hides nobody.
    found = joined_ms is not None and joined_ms <= now_ms <= joined_ms + JOINING_MS
    return NO_NEWS_MS if found else now_ms


def changes(
    snapshot: Snapshot, members: Mapping[DeviceId, Member], now_ms: int
) -> dict[DeviceId, tuple[bytes, int] | None]:
    """Return what is to be noted: members that are news, with mark and time, and None for those that went."""
    seen, own = table.heard_let_in(snapshot), snapshot.device
    found: dict[DeviceId, tuple[bytes, int] | None] = dict.fromkeys(seen.keys() - {own})
    for device, member in members.items():
        if not member.removed and device != own:
            marked = mark(snapshot, device)
            found[device] = marked, heard_ms(seen, own, device, marked, now_ms)
    return {device: row for device, row in found.items() if row is None or seen.get(device) != row}


def note(transaction: Transaction) -> None:
    """Note who is a member here now, and who is none any more, so that a return is news."""
    for device, row in changes(transaction, roster.read(transaction), transaction.now_ms()).items():
        if row is None:
            table.forget_let_in(transaction, device)
        else:
            table.note_let_in(transaction, device, *row)


def note_joined(transaction: Transaction, *, anew: bool) -> None:
    """Note when this device joined its vault: whom it finds there is no news. `anew`: it is another vault."""
    own = transaction.device
    if anew or own not in table.heard_let_in(transaction):
        table.note_let_in(transaction, own, b"", transaction.now_ms())
