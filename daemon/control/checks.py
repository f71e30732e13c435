"""What `doctor` hears from the daemon: how its disk, lease, clocks, agents and the states of its peers are.

Never repairs, and never finds fault without a remedy.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from daemon.agents.agents import given_up, homes
from daemon.disk import Floor
from daemon.journal.provenance import iso
from daemon.peers import roster
from store.lease import Doubt
from store.snapshot import Snapshot
from store.stamps import newest_stamps
from syncproto.hlc import LEAD_MS_MAX
from syncproto.ids import DeviceId, text

MIB = 1 << 20
MINUTE_MS = 60_000
AGENTS_TOLD = 10
AGENT_DIGITS = 8
JUMP_MAX_MS = 5 * MINUTE_MS
_LENGTHS = ((365 * 1440, "year"), (1440, "day"), (60, "hour"), (1, "minute"))


class Check(Struct, frozen=True):
    """One finding: what was looked at, whether it is well, what was found, and what to do where it is not.

    `code` and `given` say it again for whoever words it in another language; a device that is not named is
    this one.
    """

    name: str
    well: bool
    found: str
    remedy: str = ""
    code: str = ""
    given: dict[str, str | int] = {}


def disk(floor: Floor) -> Check:
    """Look at the room that is left for writes."""
    shortfall = floor.shortfall()
    given: dict[str, str | int] = {"free_mib": floor.free_bytes() // MIB}
    if shortfall is not None:
        given |= {"folder": str(floor.folder), "floor_mib": floor.bytes_min // MIB}
        found = f"{shortfall}: nothing is written"
        return Check("disk", False, found, "free some space; it goes on by itself", "disk_low", given)
    return Check("disk", True, f"{given['free_mib']} MiB free", "", "disk_well", given)


def lease(doubt: Doubt | None, is_stale: bool) -> Check:
    """Look at what guards the database against its own copies."""
    if is_stale:
        found = "the lease beside the database cannot be written"
        remedy = "check the disk and the data folder's permissions"
        return Check("lease", False, found, remedy, "lease_unwritten")
    if doubt is not None:
        found = f"went on as a new replica: {doubt.value}"
        return Check("lease", True, found, "", "lease_doubted", {"doubt": doubt.name.lower()})
    return Check("lease", True, "the database and its lease fit each other", "", "lease_well")


def clocks(snapshot: Snapshot, now_ms: int, jump_ms: int) -> Iterator[Check]:
    """Look at this device's clock, and at those that commits were stamped with."""
    if abs(jump_ms) > JUMP_MAX_MS:
        way = "forward" if jump_ms > 0 else "back"
        found = f"the clock was set {way} by {length(jump_ms)} since the daemon started"
        remedy = "check date and time; then start the daemon again"
        yield Check("clock", False, found, remedy, f"clock_set_{way}", {"minutes": _minutes(jump_ms)})
    ahead = _ahead(snapshot, now_ms)
    for device, stamp_ms in ahead.items():
        name = _name(snapshot, device)
        found = f"the newest change of {name} is dated {iso(stamp_ms)}, {length(stamp_ms - now_ms)} from now"
        given: dict[str, str | int] = {
            "device": _told(snapshot, device),
            "at": iso(stamp_ms),
            "minutes": _minutes(stamp_ms - now_ms),
        }
        yield Check("clock", False, found, f"check date and time here and on {name}", "clock_ahead", given)
    if not ahead and abs(jump_ms) <= JUMP_MAX_MS:
        now = iso(now_ms)
        yield Check("clock", True, f"no change lies ahead of {now}", "", "clock_well", {"now": now})


def _ahead(snapshot: Snapshot, now_ms: int) -> dict[DeviceId, int]:
    """Return the devices whose newest commits lie ahead of the clock, with their stamps."""
    newest = newest_stamps(snapshot)
    return {device: stamp.ms for device, stamp in newest.items() if stamp.ms > now_ms + LEAD_MS_MAX}


def agents(snapshot: Snapshot) -> Iterator[Check]:
    """Look at the agents that sleep because they failed too often in a row."""
    asleep = given_up(snapshot)
    for one in asleep[:AGENTS_TOLD]:
        found = f"the agent of {one.name!r} sleeps: {one.reason}"
        short = text(one.id)[:AGENT_DIGITS]
        given: dict[str, str | int] = {"name": one.name, "why": one.reason, "agent": short}
        remedy = f"see to the cause; then: placet agent resume {short}"
        yield Check("agents", False, found, remedy, "agent_given_up", given)
    homeless = list(_homeless(snapshot))
    yield from homeless
    if not asleep and not homeless:
        yield Check("agents", True, "no agent sleeps because it failed", "", "agents_well")


def _homeless(snapshot: Snapshot) -> Iterator[Check]:
    """Look at the agents that nobody wakes any more, since the device where they live was removed."""
    living = homes(snapshot)
    for one in roster.read(snapshot).values():
        count = living[one.device]
        if count and one.removed and one.device != snapshot.device:
            found = f"agents whose home is {one.name}, which was removed: {count}"
            given: dict[str, str | int] = {"device": one.name, "count": count}
            remedy = "bring each here: placet agent move"
            yield Check("agents", False, found, remedy, "agents_homeless", given)


def states(snapshot: Snapshot, differing: Sequence[DeviceId]) -> Iterator[Check]:
    """Look at the peers that held the same commits as this device, and showed another state."""
    for device in differing:
        found = f"{_name(snapshot, device)} showed something else when it last held the same changes"
        given: dict[str, str | int] = {"device": _told(snapshot, device)}
        yield Check("state", False, found, "run 'placet verify' on both devices", "state_differs", given)
    if not differing:
        yield Check("state", True, "no device shows something else for the same changes", "", "state_well")


def forks(snapshot: Snapshot) -> Iterator[Check]:
    """Look for devices of which two copies wrote at once: nothing of either is lost."""
    for device in sorted({snapshot.device_of(replica) for replica in snapshot.log.forks()}):
        found = f"two copies of the journal of {_name(snapshot, device)} were used at once; both are kept"
        given: dict[str, str | int] = {"device": _told(snapshot, device)}
        yield Check("copies", True, found, "", "device_forked", given)


def twins(
    snapshot: Snapshot, devices: Sequence[DeviceId], said_by: Sequence[DeviceId] = ()
) -> Iterator[Check]:
    """Look at the devices with whose key two daemons run: their links push each other out, by turns.

    `said_by` are members that say so of this device: where there is no copy of it, there is nothing to do.
    """
    for device in said_by:
        found = f"{_name(snapshot, device)} says that two daemons run with this device's key"
        remedy = (
            "look for a copy of this device's data folder that runs elsewhere; "
            "if there is one, stop placet there"
        )
        given: dict[str, str | int] = {"device": _told(snapshot, device)}
        yield Check("copies", False, found, remedy, "device_said_twinned", given)
    for device in devices:
        found = f"two daemons run with the key of {_name(snapshot, device)}"
        remedy = (
            "its data folder was copied: stop placet on one of the two; to use both, give that one its own "
            "key: placet backup FILE, delete identity.pem, placet restore FILE, then pair it anew"
        )
        given = {"device": _told(snapshot, device)}
        yield Check("copies", False, found, remedy, "device_twinned", given)


def floods(snapshot: Snapshot, slowed: Sequence[DeviceId]) -> Iterator[Check]:
    """Look at the peers that send more than anyone writes."""
    for device in slowed:
        found = f"{_name(snapshot, device)} sends so much that it is taken from slowly"
        remedy = "see what is written there; placet devices remove ends it"
        given: dict[str, str | int] = {"device": _told(snapshot, device)}
        yield Check("devices", False, found, remedy, "device_floods", given)


def _name(snapshot: Snapshot, device: DeviceId) -> str:
    return _told(snapshot, device) or "this device"


def _told(snapshot: Snapshot, device: DeviceId) -> str:
    if device == snapshot.device:
        return ""
    member = roster.read(snapshot).get(device)
    return device.hex()[:12] if member is None else member.name


def _minutes(span_ms: int) -> int:
    return abs(span_ms) // MINUTE_MS


def length(span_ms: int) -> str:
    """Say how long a time is, in its largest unit."""
    minutes = _minutes(span_ms)
    size, unit = next(((size, unit) for size, unit in _LENGTHS if minutes >= size), (1, "minute"))
    count = minutes // size
    return f"{count} {unit}{'s' * (count != 1)}"
