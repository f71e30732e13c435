"""What `doctor` hears from the daemon: how its disk, its lease, the clocks and the states of its peers are.

Never repairs, and never finds fault without a remedy.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from daemon.disk import Floor
from daemon.journal.provenance import iso
from daemon.peers import roster
from store.lease import Doubt
from store.snapshot import Snapshot
from store.stamps import newest_stamps
from syncproto.hlc import LEAD_MS_MAX
from syncproto.ids import DeviceId

MIB = 1 << 20
MINUTE_MS = 60_000
JUMP_MAX_MS = 5 * MINUTE_MS
_LENGTHS = ((365 * 1440, "year"), (1440, "day"), (60, "hour"), (1, "minute"))


class Check(Struct, frozen=True):
    """One finding: what was looked at, whether it is well, what was found, and what to do where it is not."""

    name: str
    well: bool
    found: str
    remedy: str = ""


def disk(floor: Floor) -> Check:
    """Look at the room that is left for writes."""
    shortfall = floor.shortfall()
    if shortfall is not None:
        return Check(
            "disk", False, f"{shortfall}: nothing is written", "free some space; it goes on by itself"
        )
    return Check("disk", True, f"{floor.free_bytes() // MIB} MiB free")


def lease(doubt: Doubt | None, is_stale: bool) -> Check:
    """Look at what guards the database against its own copies."""
    if is_stale:
        found = "the lease beside the database cannot be written"
        return Check("lease", False, found, "check the disk and the data folder's permissions")
    if doubt is not None:
        return Check("lease", True, f"went on as a new replica at the last start: {doubt.value}")
    return Check("lease", True, "the database and its lease fit each other")


def clocks(snapshot: Snapshot, now_ms: int, jump_ms: int) -> Iterator[Check]:
    """Look at this device's clock, and at those that commits were stamped with."""
    if abs(jump_ms) > JUMP_MAX_MS:
        way = "forward" if jump_ms > 0 else "back"
        found = f"the clock was set {way} by {_length(jump_ms)} since the daemon started"
        yield Check("clock", False, found, "check date and time; then start the daemon again")
    ahead = _ahead(snapshot, now_ms)
    for device, stamp_ms in ahead.items():
        name = _name(snapshot, device)
        found = f"the newest change of {name} is dated {iso(stamp_ms)}, {_length(stamp_ms - now_ms)} from now"
        yield Check("clock", False, found, f"check date and time here and on {name}")
    if not ahead and abs(jump_ms) <= JUMP_MAX_MS:
        yield Check("clock", True, f"no change lies ahead of {iso(now_ms)}")


def _ahead(snapshot: Snapshot, now_ms: int) -> dict[DeviceId, int]:
    """Return the devices whose newest commits lie ahead of the clock, with their stamps."""
    newest = newest_stamps(snapshot)
    return {device: stamp.ms for device, stamp in newest.items() if stamp.ms > now_ms + LEAD_MS_MAX}


def states(snapshot: Snapshot, differing: Sequence[DeviceId]) -> Iterator[Check]:
    """Look at the peers that held the same commits as this device, and showed another state."""
    for device in differing:
        found = f"{_name(snapshot, device)} holds the same changes and shows something else"
        yield Check("state", False, found, "run 'placet verify' on both devices")
    if not differing:
        yield Check("state", True, "no device shows something else for the same changes")


def _name(snapshot: Snapshot, device: DeviceId) -> str:
    if device == snapshot.device:
        return "this device"
    member = roster.read(snapshot).get(device)
    return device.hex()[:12] if member is None else member.name


def _length(span_ms: int) -> str:
    minutes = abs(span_ms) // MINUTE_MS
    size, unit = next(((size, unit) for size, unit in _LENGTHS if minutes >= size), (1, "minute"))
    count = minutes // size
    return f"{count} {unit}{'s' * (count != 1)}"
