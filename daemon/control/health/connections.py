"""The checks of connections for `doctor`: who is away, what calling it showed, and what to do.

Never calls a peer, and never reports a device that is off as broken.
"""

from collections.abc import Iterator, Sequence

from daemon.control.health.check import Check, clocks_remedy, duration_sentence, make_check
from daemon.peers.discovery.mdns import DiscoveryStatus
from daemon.peers.linking.device_states import DeviceState
from daemon.peers.linking.exchange_faults import UPDATE_REMEDIES
from daemon.peers.transport.connector import UnreachableReason
from store.sentence import Sentence, sentence, sentence_of_answer

_ORDER = (
    UnreachableReason.TURNED_AWAY,
    UnreachableReason.ANOTHER,
    UnreachableReason.BUSY,
    UnreachableReason.NO_ANSWER,
    UnreachableReason.NOT_LISTENING,
    UnreachableReason.NO_WAY,
)
CLOCK_DIFFERENCE_MAX_S = 120
LEFT_OUT_NAMED_MAX = 5
_BROKEN = (UnreachableReason.TURNED_AWAY, UnreachableReason.ANOTHER)
"""What does not go away once the device is on and near again."""
_REMEDIES = {
    **UPDATE_REMEDIES,
    UnreachableReason.FAULTY: sentence(
        "upgrade-or-remove",
        "install the newest version of Placet on both devices; if it lasts, remove the faulty device",
    ),
    UnreachableReason.ENDED_THERE: sentence(
        "see-doctor-there",
        "see 'placet doctor' there; if it is well, install the newest version of Placet on both devices",
    ),
    UnreachableReason.FAILED_HERE: sentence(
        "see-disk-and-log", "check the disk and the log of this device; it continues by itself"
    ),
    UnreachableReason.TURNED_AWAY: sentence(
        "see-devices-there", "see 'placet devices' there: was this device removed?"
    ),
    UnreachableReason.ANOTHER: sentence(
        "address-taken-over",
        "another device has its address now; it is found again by mDNS, or set peers.static",
    ),
    UnreachableReason.BUSY: sentence(
        "called-again-by-itself", "it is called again by itself; if this lasts, see there who else calls it"
    ),
    UnreachableReason.NO_ANSWER: sentence(
        "check-power-and-firewall", "check that it is on, and that no firewall keeps its port closed"
    ),
    UnreachableReason.NOT_LISTENING: sentence("start-placet-there", "start placet there"),
    UnreachableReason.NO_WAY: sentence("check-both-networks", "check the network here and there"),
}
_NOWHERE = sentence("join-one-network", "bring both into one network, or set peers.static to where it is")
_UNSOUGHT = sentence("enable-mdns", "set mdns.enabled = true, or peers.static to where it is")
_UNHEARD = sentence(
    "let-mdns-through",
    "if one is on in this network, let UDP port 5353 through the firewalls of both, or set peers.static: "
    "some networks keep their devices apart",
)
_CHECK_NETWORK = sentence("check-network-here", "check the network here; it continues by itself")
MDNS_SILENCE_MIN_S = 60.0
"""A device that is near and can be heard answers within seconds."""


def check_connections(
    devices: Sequence[DeviceState], nearby: DiscoveryStatus, *, paused: bool, members_unlisted: int = 0
) -> Iterator[Check]:
    """Look at each member that has no link, and at how members are found.

    `members_unlisted` are left out, and are not among `devices`.
    """
    if any(device.this and device.removed for device in devices):
        text = sentence("no-longer-member", "this device is no longer a member of its vault")
        remedy = sentence("begin-anew", "to start again, stop placet, then run: placet devices leave")
        yield make_check("devices", text, remedy, well=False, code="device_removed_here")
        return
    members = [device for device in devices if not (device.this or device.removed or device.left_out)]
    yield from _check_left_out([device.name for device in devices if device.left_out], members_unlisted)
    if paused:
        yield make_check(
            "devices",
            sentence("exchange-is-paused", "Exchange is paused"),
            sentence("sync-resume", "placet sync --resume"),
            well=False,
            code="exchange_paused",
        )
        return
    yield from _clocks(members)
    yield from _link_faults(members)
    away = [device for device in members if not device.connected]
    for device in away:
        # What was seen last of some is the fault of their link, which is told above.
        if device.link_fault is None or device.unreached != [device.link_fault]:
            yield _check_absent(device, nearby)
    if not away:
        parameters: dict[str, str | int] = {"count": len(members)}
        connected = sentence("devices-connected", "devices connected: {count}", count=len(members))
        yield make_check("devices", connected, well=True, code="devices_well", parameters=parameters)
    yield from _mdns(nearby, anyone_away=bool(away))


def _check_left_out(names: Sequence[str], unlisted: int) -> Iterator[Check]:
    """Name some of the members that this device does not link with, because the roster has too many."""
    count = len(names) + unlisted
    if count:
        devices = ", ".join(names[:LEFT_OUT_NAMED_MAX]) + (
            " …" if count > len(names[:LEFT_OUT_NAMED_MAX]) else ""
        )
        text = sentence(
            "devices-left-out",
            "devices that are left out, because there are too many: {count} ({devices})",
            count=count,
            devices=devices,
        )
        remedy = sentence(
            "remove-with-admitted",
            "placet devices says who let them in; placet devices remove DEVICE --with-admitted removes that "
            "one with all that came by it alone",
        )
        parameters: dict[str, str | int] = {"count": count, "devices": devices}
        yield make_check("devices", text, remedy, well=False, code="devices_left_out", parameters=parameters)


def _link_faults(members: Sequence[DeviceState]) -> Iterator[Check]:
    """Look for members whose last link ended by a fault, whether they are connected now, or away."""
    for device in members:
        fault = device.link_fault
        if fault is not None:
            text = sentence_of_answer(fault.seen, fault.seen_id, fault.seen_params)
            parameters: dict[str, str | int] = {"device": device.name, "seen": fault.seen}
            remedy = _REMEDIES[UnreachableReason(fault.kind)]
            yield make_check(
                "devices", text, remedy, well=False, code=f"device_{fault.kind}", parameters=parameters
            )


def _mdns(nearby: DiscoveryStatus, *, anyone_away: bool) -> Iterator[Check]:
    """Look at whether devices of the local network find each other."""
    trouble, alone, unheard_s = nearby.trouble, nearby.loopback_address, nearby.unheard_s or 0.0
    if alone is not None and anyone_away:
        text = sentence(
            "listens-alone",
            "this device is not found on the local network: it listens on {address} alone",
            address=alone,
        )
        remedy = sentence(
            "listen-for-others",
            "take listen.host out of the settings, or give an address there that others reach",
        )
        yield make_check("mdns", text, remedy, well=False, code="mdns_alone", parameters={"address": alone})
    elif trouble is not None:
        text = sentence(
            "mdns-silent", "this device is not found on the local network: {fault}", fault=trouble
        )
        remedy = sentence("check-network", "check the network; it continues by itself")
        yield make_check("mdns", text, remedy, well=False, code="mdns_silent", parameters={"fault": trouble})
    elif anyone_away and nearby.online and unheard_s >= MDNS_SILENCE_MIN_S:
        # Nobody may be near: this states what was seen, and is no fault.
        text = sentence(
            "mdns-unheard",
            "no other device was found on the local network by mDNS, in {length}",
            length=duration_sentence(round(unheard_s * 1000)),
        )
        parameters: dict[str, str | int] = {"minutes": int(unheard_s // 60)}
        yield make_check("mdns", text, _UNHEARD, well=True, code="mdns_unheard", parameters=parameters)


def _clocks(members: Sequence[DeviceState]) -> Iterator[Check]:
    """Look for clocks that are not together: what is dated by them comes in an odd order."""
    for device in members:
        apart_s = device.clock_ahead_s or 0
        if abs(apart_s) > CLOCK_DIFFERENCE_MAX_S:
            minutes = abs(apart_s) // 60
            text, code = _clock_difference(device.name, minutes, is_ahead=apart_s > 0)
            parameters: dict[str, str | int] = {"device": device.name, "minutes": minutes}
            remedy = clocks_remedy(device.name)
            yield make_check("clock", text, remedy, well=False, code=code, parameters=parameters)


def _clock_difference(device: str, minutes: int, *, is_ahead: bool) -> tuple[Sentence, str]:
    if is_ahead:
        ahead = sentence(
            "clock-ahead-there",
            "the clock of {device} is {minutes} minutes ahead of this one's",
            device=device,
            minutes=minutes,
        )
        return ahead, "clock_ahead_there"
    behind = sentence(
        "clock-behind-there",
        "the clock of {device} is {minutes} minutes behind this one's",
        device=device,
        minutes=minutes,
    )
    return behind, "clock_behind_there"


def _check_absent(device: DeviceState, nearby: DiscoveryStatus) -> Check:
    """Say what was seen at the addresses of a member, and what to do about the likeliest of it."""
    parameters: dict[str, str | int] = {"device": device.name}
    kinds = {reason.kind for reason in device.unreached}
    if not nearby.online and nearby.loopback_address is None and not kinds.intersection(_BROKEN):
        text = sentence(
            "device-away-offline", "{device} is away, and this device has no network", device=device.name
        )
        return make_check(
            "devices", text, _CHECK_NETWORK, well=True, code="device_offline", parameters=parameters
        )
    if not device.unreached and device.address is None and not nearby.mdns:
        text = sentence(
            "device-away-unsought",
            "{device} is away, no address of it is known, and mDNS is switched off",
            device=device.name,
        )
        return make_check(
            "devices", text, _UNSOUGHT, well=True, code="device_unsought", parameters=parameters
        )
    if not device.unreached and device.address is None:
        text = sentence(
            "device-away-nowhere", "{device} is away, and no address of it is known", device=device.name
        )
        return make_check("devices", text, _NOWHERE, well=True, code="device_nowhere", parameters=parameters)
    if not device.unreached:
        summary = sentence("device-away-called", "{device} is away, and is called now", device=device.name)
        return make_check("devices", summary, well=True, code="device_called", parameters=parameters)
    likeliest = next(kind for kind in _ORDER if kind.value in kinds)
    reasons = tuple(
        sentence_of_answer(reason.seen, reason.seen_id, reason.seen_params) for reason in device.unreached
    )
    text = sentence("device-away", "{device} is away: {seen}", device=device.name, seen=reasons)
    return make_check(
        "devices",
        text,
        _REMEDIES[likeliest],
        well=likeliest not in _BROKEN,
        code=f"device_{likeliest.value}",
        parameters=parameters | {"seen": "; ".join(reason.seen for reason in device.unreached)},
    )
