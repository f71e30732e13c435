"""A person's use cases on the devices of the vault: find one, rename it, close the door to it.

Never removes the device that it runs on: that one leaves, which is another matter.
"""

from daemon.journal.errors import Code, Refused, not_found, usage
from daemon.journal.values import folded
from daemon.peers import roster
from daemon.peers.pairing import NAME_CHARS_MAX
from daemon.peers.roster import Member
from store import peers as table
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.heads import Head, covers
from syncproto.ids import DeviceId

ID_DIGITS_MIN = 3
_HOW = "see placet devices"


def find(snapshot: Snapshot, ref: str, *, removed: bool = True) -> Member:
    """Return the device of that name, or whose id begins so; `removed` finds those that were removed too.

    Raises Refused: not_found, ambiguous.
    """
    wanted = ref.strip()
    everyone = [one for one in roster.read(snapshot).values() if removed or not one.removed]
    named = [one for one in everyone if folded(one.name) == folded(wanted)]
    by_id = [one for one in everyone if one.device.hex().startswith(wanted.lower())]
    found = named or (by_id if len(wanted) >= ID_DIGITS_MIN else [])
    # A removed one does not stand in the way of the one that took its name.
    found = [one for one in found if not one.removed] or found
    if not found:
        raise not_found("device", ref, _HOW)
    if len(found) > 1:
        raise Refused(Code.AMBIGUOUS, f"{ref[:80]!r} could mean {len(found)} devices", "give its id")
    return found[0]


def rename(tx: Transaction, ref: str, name: str) -> DeviceId:
    """Give a device another name, on every device. Raises Refused as `find` does, and usage."""
    member = find(tx, ref)
    wanted = " ".join(name.split())
    if not 0 < len(wanted) <= NAME_CHARS_MAX or not wanted.isprintable():
        raise usage(
            f"a device's name has 1 to {NAME_CHARS_MAX} characters that can be printed", "give another name"
        )
    if wanted != member.name:
        tx.commit([roster.rename(member.device, wanted)])
    return member.device


def leave(tx: Transaction) -> Head | None:
    """Say that this device is no member any more; return the commit. Saying so again changes nothing."""
    own = roster.read(tx).get(tx.device)
    if own is None or own.removed:
        return None
    return tx.commit([roster.remove(tx.device)])


def known_gone(snapshot: Snapshot) -> set[DeviceId]:
    """Return the devices that are known to hold that this device leaves."""
    entry = snapshot.entity(roster.entity_of(snapshot.device))
    removals = [] if entry is None else [one for one in entry.versions("removed") if one.value is True]
    heads = [one.source.head for one in removals]
    own = [head for head in heads if snapshot.device_of(head.replica) == snapshot.device]
    return {
        device
        for device, heard in table.heard(snapshot).items()
        if any(covers(heard.vector, head, snapshot.log) for head in own)
    }


def was_removed(snapshot: Snapshot) -> bool:
    """Say whether another device has removed this one."""
    entry = snapshot.entity(roster.entity_of(snapshot.device))
    removals = [] if entry is None else entry.versions("removed")
    return any(
        one.value is True and snapshot.device_of(one.source.head.replica) != snapshot.device
        for one in removals
    )


def remove(tx: Transaction, ref: str) -> DeviceId:
    """Close the door to a device; again changes nothing. Raises Refused as `find` does, and usage."""
    member = find(tx, ref)
    if member.device == tx.device:
        raise usage("this is the device that you are on", "to take it out of the vault: placet devices leave")
    if not member.removed:
        tx.commit([roster.remove(member.device)])
    table.forget(tx, member.device)
    return member.device
