"""What `doctor` hears of connections: who is away, what was seen where it was called, and what to do.

Never calls anyone, and never takes a device that is off for one that is broken.
"""

from collections.abc import Iterator, Sequence

from daemon.control.checks import Check, length
from daemon.peers.dial import Silence
from daemon.peers.states import DeviceState, Nearby

_ORDER = (
    Silence.NEWER,
    Silence.OLDER,
    Silence.TURNED_AWAY,
    Silence.ANOTHER,
    Silence.BUSY,
    Silence.NO_ANSWER,
    Silence.NOT_LISTENING,
    Silence.NO_WAY,
)
_FOREIGN = (Silence.NEWER, Silence.OLDER)
CLOCK_APART_S = 120
_BROKEN = (*_FOREIGN, Silence.TURNED_AWAY, Silence.ANOTHER)
"""What does not go away once the device is on and near again."""
_REMEDIES = {
    Silence.NEWER: "it runs a newer version of Placet: install that one on this device, too",
    Silence.OLDER: "it runs an older version of Placet: install this device's version there, too",
    Silence.TURNED_AWAY: "see 'placet devices' there: was this device removed?",
    Silence.ANOTHER: "another device has its address now; it is found again by mDNS, or set peers.static",
    Silence.BUSY: "it is called again by itself; if this lasts, see there who else calls it",
    Silence.NO_ANSWER: "check that it is on, and that no firewall keeps its port closed",
    Silence.NOT_LISTENING: "start placet there",
    Silence.NO_WAY: "check the network here and there",
}
_NOWHERE = "bring both into one network, or set peers.static to where it is"
_UNSOUGHT = "set mdns.enabled = true, or peers.static to where it is"
_UNHEARD = (
    "if one is on in this network, let UDP port 5353 through the firewalls of both, or set peers.static: "
    "some networks keep their devices apart"
)
UNHEARD_S = 60.0
"""A device that is near and can be heard answers within seconds."""


def connections(devices: Sequence[DeviceState], nearby: Nearby, *, paused: bool) -> Iterator[Check]:
    """Look at each member that has no link, and at how members are found."""
    if any(one.this and one.removed for one in devices):
        found = "this device is no member of its vault any more"
        remedy = "to begin anew, stop placet, then: placet devices leave"
        yield Check("devices", False, found, remedy, "device_removed_here")
        return
    members = [one for one in devices if not one.this and not one.removed]
    if paused:
        yield Check("devices", False, "Exchange is paused", "placet sync --resume", "exchange_paused")
        return
    yield from _clocks(members)
    away = [one for one in members if not one.connected]
    for one in away:
        yield _away(one, nearby)
    if not away:
        given: dict[str, str | int] = {"count": len(members)}
        yield Check("devices", True, f"devices connected: {len(members)}", "", "devices_well", given)
    yield from _mdns(nearby, anyone_away=bool(away))


def _mdns(nearby: Nearby, *, anyone_away: bool) -> Iterator[Check]:
    """Look at whether devices of the local network find each other."""
    trouble, alone, unheard_s = nearby.trouble, nearby.alone, nearby.unheard_s or 0.0
    if alone is not None and anyone_away:
        found = f"this device is not found on the local network: it listens on {alone} alone"
        remedy = "take listen.host out of the settings, or give an address there that others reach"
        yield Check("mdns", False, found, remedy, "mdns_alone", {"address": alone})
    elif trouble is not None:
        found = f"this device is not found on the local network: {trouble}"
        remedy = "check the network; it goes on by itself"
        yield Check("mdns", False, found, remedy, "mdns_silent", {"fault": trouble})
    elif anyone_away and nearby.online and unheard_s >= UNHEARD_S:
        # Nobody may be near: it is told as what was seen, and is no fault.
        found = f"nobody was heard on the local network by mDNS, in {length(round(unheard_s * 1000))}"
        given: dict[str, str | int] = {"minutes": int(unheard_s // 60)}
        yield Check("mdns", True, found, _UNHEARD, "mdns_unheard", given)


def _clocks(members: Sequence[DeviceState]) -> Iterator[Check]:
    """Look for clocks that are not together: what is dated by them comes in an odd order."""
    for one in members:
        apart_s = one.clock_ahead_s or 0
        if abs(apart_s) > CLOCK_APART_S:
            way = "ahead of" if apart_s > 0 else "behind"
            minutes = abs(apart_s) // 60
            found = f"the clock of {one.name} is {minutes} minutes {way} this one's"
            remedy = f"check date and time here and on {one.name}"
            code = f"clock_{way.split(maxsplit=1)[0]}_there"
            given: dict[str, str | int] = {"device": one.name, "minutes": minutes}
            yield Check("clock", False, found, remedy, code, given)


def _away(device: DeviceState, nearby: Nearby) -> Check:
    """Say what was seen at the addresses of a member, and what to do about the likeliest of it."""
    given: dict[str, str | int] = {"device": device.name}
    kinds = {one.kind for one in device.unreached}
    if not nearby.online and nearby.alone is None and not kinds.intersection(_BROKEN):
        found = f"{device.name} is away, and this device has no network"
        remedy = "check the network here; it goes on by itself"
        return Check("devices", True, found, remedy, "device_offline", given)
    if not device.unreached and device.address is None and not nearby.mdns:
        found = f"{device.name} is away, no address of it is known, and mDNS is switched off"
        return Check("devices", True, found, _UNSOUGHT, "device_unsought", given)
    if not device.unreached and device.address is None:
        found = f"{device.name} is away, and no address of it is known"
        return Check("devices", True, found, _NOWHERE, "device_nowhere", given)
    if not device.unreached:
        return Check("devices", True, f"{device.name} is away, and is called now", "", "device_called", given)
    likeliest = next(kind for kind in _ORDER if kind.value in kinds)
    seen = "; ".join(one.seen for one in device.unreached)
    code = f"device_{likeliest.value}"
    found = f"{device.name} {'cannot be understood' if likeliest in _FOREIGN else 'is away'}: {seen}"
    well = likeliest not in _BROKEN
    return Check("devices", well, found, _REMEDIES[likeliest], code, given | {"seen": seen})
