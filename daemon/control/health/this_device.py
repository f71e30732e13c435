"""What `doctor` reads from the daemon: how its disk, lease, clocks, agents and the states of its peers are.

Never repairs, and never finds fault without a remedy.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from daemon.agents.deciding import item_state
from daemon.agents.person.agent_overview import count_by_home, stopped_agents
from daemon.agents.person.presence_edits import presence_by_tool
from daemon.agents.tools.agent_record import is_agent
from daemon.control.health.check import (
    MINUTE_MS,
    Check,
    dates_remedy,
    device_sentence,
    duration_sentence,
    make_check,
    whole_minutes,
)
from daemon.disk import DiskFloor
from daemon.peers.roster import member_records
from daemon.timestamps import iso_utc
from store.file.lease import ReplicaDoubt
from store.fold.item_name import Presence
from store.queries.device_stamps import newest_stamps
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from syncproto.hlc import LEAD_MS_MAX
from syncproto.ids import DeviceId, id_to_text

MIB = 1 << 20
AGENTS_SHOWN_MAX = 10
DEVICES_SHOWN_MAX = 20
AGENT_DIGITS = 8
ITEMS_SHOWN_MAX = 5
ITEMS_COUNTED_MAX = 100
ITEM_DIGITS = 14
CLOCK_JUMP_MAX_MS = 5 * MINUTE_MS


def check_disk(floor: DiskFloor) -> Check:
    """Look at the room that is left for writes."""
    shortfall = floor.shortfall()
    parameters: dict[str, str | int] = {"free_mib": floor.free_bytes() // MIB}
    if shortfall is not None:
        parameters |= {"folder": str(floor.folder), "floor_mib": floor.bytes_min // MIB}
        text = sentence("nothing-is-written", "{shortfall}: nothing is written", shortfall=shortfall)
        remedy = sentence("free-space-goes-on", "free some space; it continues by itself")
        return make_check("disk", text, remedy, well=False, code="disk_low", parameters=parameters)
    free = sentence("disk-free", "{free_mib} MiB free", free_mib=parameters["free_mib"])
    return make_check("disk", free, well=True, code="disk_well", parameters=parameters)


def check_socket(path: Path | None) -> Iterator[Check]:
    """Look at the control socket that a service manager passed; nothing is found of a daemon's own."""
    if path is None:
        return
    parameters: dict[str, str | int] = {"socket": str(path)}
    if path.is_socket():
        text = sentence(
            "socket-passed",
            "systemd listens at {socket}: what asks for the daemon starts it, and waits for it",
            socket=str(path),
        )
        yield make_check("socket", text, well=True, code="socket_passed", parameters=parameters)
        return
    text = sentence(
        "socket-gone",
        "the socket {socket}, at which systemd listens, is gone: no command finds the daemon",
        socket=str(path),
    )
    remedy = sentence("restart-socket", "run `systemctl --user restart placet.socket placet`")
    yield make_check("socket", text, remedy, well=False, code="socket_gone", parameters=parameters)


def check_database(snapshot: Snapshot) -> Check:
    """Look at whether a read, a write or the idle check has found the file damaged since the daemon began."""
    damage = snapshot.damage
    if damage is None:
        text = sentence(
            "database-well", "no read, write or check of its pages has found the database damaged"
        )
        return make_check("database", text, well=True, code="database_well")
    text = sentence("damaged-nothing-written", "{damage}; nothing is written to it", damage=damage.sentence)
    return make_check("database", text, damage.hint_sentence, well=False, code="database_damaged")


def check_lease(doubt: ReplicaDoubt | None, is_stale: bool) -> Check:
    """Look at what guards the database against its own copies."""
    if is_stale:
        text = sentence("lease-unwritten", "the lease beside the database cannot be written")
        remedy = sentence("check-disk-and-permissions", "check the disk and the data folder's permissions")
        return make_check("lease", text, remedy, well=False, code="lease_unwritten")
    if doubt is not None:
        text = sentence(
            "lease-doubted", "went on as a new replica: {doubt}", doubt=_DOUBTS.get(doubt, doubt.value)
        )
        parameters: dict[str, str | int] = {"doubt": doubt.name.lower()}
        return make_check("lease", text, well=True, code="lease_doubted", parameters=parameters)
    text = sentence("lease-well", "the database and its lease fit each other")
    return make_check("lease", text, well=True, code="lease_well")


_DOUBTS: Final[Mapping[ReplicaDoubt, Sentence]] = {
    ReplicaDoubt.MISSING: sentence("doubt-missing", "its lease file is missing"),
    ReplicaDoubt.UNREADABLE: sentence("doubt-unreadable", "its lease file cannot be read"),
    ReplicaDoubt.MACHINE: sentence("doubt-machine", "it was copied from another machine"),
    ReplicaDoubt.FILE: sentence(
        "doubt-file", "the file is not the one that was here before: it was copied or put back"
    ),
    ReplicaDoubt.FOLDER: sentence(
        "doubt-folder", "its folder was put back as it was before, or its files were changed by hand"
    ),
    ReplicaDoubt.REPLICA: sentence("doubt-replica", "its lease file belongs to another copy of it"),
    ReplicaDoubt.BEHIND: sentence("doubt-behind", "it lacks commits of its own: it was put back"),
    ReplicaDoubt.AHEAD: sentence("doubt-ahead", "its lease file is older than it"),
    ReplicaDoubt.PEER: sentence(
        "doubt-peer",
        "another device held changes of its own that it lacked: it was put back, or a copy of it was used",
    ),
}


def check_clocks(snapshot: Snapshot, now_ms: int, jump_ms: int) -> Iterator[Check]:
    """Look at this device's clock, and at those that commits were stamped with."""
    if abs(jump_ms) > CLOCK_JUMP_MAX_MS:
        yield _clock_jump(jump_ms)
    ahead = _ahead(snapshot, now_ms)
    names = _DeviceNames(snapshot) if ahead else {}
    for device, stamp_ms in islice(ahead.items(), DEVICES_SHOWN_MAX):
        name = device_sentence(names[device])
        text = sentence(
            "clock-ahead",
            "the newest change of {device} is dated {at}, {length} from now",
            device=name,
            at=iso_utc(stamp_ms),
            length=duration_sentence(stamp_ms - now_ms),
        )
        parameters: dict[str, str | int] = {
            "device": names[device],
            "at": iso_utc(stamp_ms),
            "minutes": whole_minutes(stamp_ms - now_ms),
        }
        remedy = dates_remedy(name)
        yield make_check("clock", text, remedy, well=False, code="clock_ahead", parameters=parameters)
    yield from _more_devices(ahead, "clock", "clock_ahead", well=False)
    if not ahead and abs(jump_ms) <= CLOCK_JUMP_MAX_MS:
        now = iso_utc(now_ms)
        summary = sentence("clock-well", "no change has a time after {now}", now=now)
        yield make_check("clock", summary, well=True, code="clock_well", parameters={"now": now})


def _clock_jump(jump_ms: int) -> Check:
    remedy = sentence("check-clock-and-restart", "check date and time; then start the daemon again")
    parameters: dict[str, str | int] = {"minutes": whole_minutes(jump_ms)}
    if jump_ms > 0:
        summary = sentence(
            "clock-set-forward",
            "the clock was set forward by {length} since the daemon started",
            length=duration_sentence(jump_ms),
        )
        return make_check(
            "clock", summary, remedy, well=False, code="clock_set_forward", parameters=parameters
        )
    summary = sentence(
        "clock-set-back",
        "the clock was set back by {length} since the daemon started",
        length=duration_sentence(jump_ms),
    )
    return make_check("clock", summary, remedy, well=False, code="clock_set_back", parameters=parameters)


def _ahead(snapshot: Snapshot, now_ms: int) -> dict[DeviceId, int]:
    """Return the devices whose newest commits lie ahead of the clock, the furthest first, with its stamp."""
    newest = newest_stamps(snapshot)
    ahead = {device: stamp.ms for device, stamp in newest.items() if stamp.ms > now_ms + LEAD_MS_MAX}
    return dict(sorted(ahead.items(), key=lambda device_and_ms: device_and_ms[1], reverse=True))


def check_failed_agents(snapshot: Snapshot) -> Iterator[Check]:
    """Look at the agents that sleep because they failed too often in a row."""
    asleep = stopped_agents(snapshot)
    for agent in asleep[:AGENTS_SHOWN_MAX]:
        text = sentence(
            "agent-given-up", "the agent of {name!r} sleeps: {why}", name=agent.name, why=agent.reason
        )
        short = id_to_text(agent.id)[:AGENT_DIGITS]
        parameters: dict[str, str | int] = {"name": agent.name, "why": agent.reason.text, "agent": short}
        remedy = sentence("resume-agent", "see to the cause; then: placet agent resume {agent}", agent=short)
        yield make_check("agents", text, remedy, well=False, code="agent_given_up", parameters=parameters)
    homeless = list(_homeless(snapshot))
    yield from homeless
    if not asleep and not homeless:
        summary = sentence("agents-well", "no agent sleeps because it failed")
        yield make_check("agents", summary, well=True, code="agents_well")


def check_decisions(snapshot: Snapshot) -> Iterator[Check]:
    """Check for confirmed proposals that no device put into effect."""
    items = item_state.confirmed_without_effect(snapshot, ITEMS_COUNTED_MAX)
    for item in items[:ITEMS_SHOWN_MAX]:
        short, stored = id_to_text(item)[:ITEM_DIGITS], snapshot.item(item)
        can_take_effect = stored is not None and item_state.can_take_effect(snapshot, stored)
        summary = sentence(
            "confirmed-without-effect", "the proposal {item} is confirmed, and not in effect", item=short
        )
        remedy = (
            sentence(
                "confirm-or-undo",
                "put it into effect: placet confirm {item}; or take that back: placet undo {item}",
                item=short,
            )
            if can_take_effect
            else sentence(
                "undo-and-do-it-yourself",
                "it can take no effect: take that back with placet undo {item}, and make the change yourself",
                item=short,
            )
        )
        code, parameters = "decision_without_effect", {"item": short}
        yield make_check("decisions", summary, remedy, well=False, code=code, parameters={**parameters})
    if len(items) > ITEMS_SHOWN_MAX:
        count = len(items) - ITEMS_SHOWN_MAX
        summary = sentence(
            "more-confirmed-without-effect",
            "more proposals that are confirmed, and not in effect: at least {count}",
            count=count,
        )
        yield make_check(
            "decisions", summary, well=False, code="decisions_without_effect", parameters={"count": count}
        )
    if not items:
        summary = sentence("decisions-well", "every confirmed proposal is in effect")
        yield make_check("decisions", summary, well=True, code="decisions_well")


def check_presence(snapshot: Snapshot) -> Iterator[Check]:
    """Say how many agents' verdicts need another device or a passkey, and whether anything can give them."""
    needs = Counter[str](
        presence
        for agent in snapshot.entities("agent")
        if is_agent(agent.id, agent.value("task_id"))
        for presence in {*presence_by_tool(agent).values()}
    )
    others = any(
        not member.removed and member.device != snapshot.device
        for member in member_records.read_members(snapshot).values()
    )
    if needs[Presence.OTHER_DEVICE] and not others:
        count = needs[Presence.OTHER_DEVICE]
        text = sentence(
            "verdicts-without-devices",
            "agents whose verdicts need another device, of which there is none: {count}",
            count=count,
        )
        remedy = sentence("use-invite", "let one in first: placet pair")
        yield make_check(
            "verdicts", text, remedy, well=False, code="verdicts_without_devices", parameters={"count": count}
        )
        return
    parameters: dict[str, str | int] = {
        "other_device": needs[Presence.OTHER_DEVICE],
        "passkey": needs[Presence.PASSKEY],
    }
    summary = sentence(
        "verdicts-well",
        "agents whose verdicts need another device: {other_device}; a passkey: {passkey}."
        " Of the others, every verdict counts",
        **parameters,
    )
    yield make_check("verdicts", summary, well=True, code="verdicts_well", parameters=parameters)


def _homeless(snapshot: Snapshot) -> Iterator[Check]:
    """Check for agents that nobody wakes any more, because their home device was removed."""
    living = count_by_home(snapshot)
    homes = [
        member_records.read_member(snapshot, DeviceId(home)) for home in living if home != snapshot.device
    ]
    for member in sorted(filter(None, homes), key=lambda member: (member.name, member.device)):
        count = living[member.device]
        if count and member.removed:
            text = sentence(
                "agents-homeless",
                "agents whose home is {device}, which was removed: {count}",
                device=member.name,
                count=count,
            )
            parameters: dict[str, str | int] = {"device": member.name, "count": count}
            remedy = sentence("bring-agents-here", "bring each here: placet agent move")
            yield make_check(
                "agents", text, remedy, well=False, code="agents_homeless", parameters=parameters
            )


class _DeviceFinding(NamedTuple):
    """What may be found of a device: the check, its code, the words, and what to do if it is not well."""

    check: str
    code: str
    text: Callable[[Sentence | str], Sentence]
    remedy: Sentence | None = None


_STATE_DIFFERS: Final = _DeviceFinding(
    "state",
    "state_differs",
    lambda device: sentence(
        "state-differs", "{device} showed something else when it last held the same changes", device=device
    ),
    sentence("verify-on-both", "run 'placet verify' on both devices"),
)
_FORKED: Final = _DeviceFinding(
    "copies",
    "device_forked",
    lambda device: sentence(
        "device-forked",
        "two copies of the journal of {device} were used at once; both are kept",
        device=device,
    ),
)
_KEY_CLONE_REPORTED: Final = _DeviceFinding(
    "copies",
    "device_said_twinned",
    lambda device: sentence(
        "key-cloned-says", "{device} says that two daemons run with this device's key", device=device
    ),
    sentence(
        "look-for-copy",
        "look for a copy of this device's data folder that runs elsewhere; "
        "if there is one, stop placet there",
    ),
)
_KEY_CLONED: Final = _DeviceFinding(
    "copies",
    "device_twinned",
    lambda device: sentence("key-cloned", "two daemons run with the key of {device}", device=device),
    sentence(
        "give-own-key",
        "its data folder was copied: stop placet on one of the two; to use both, give that one its own "
        "key: placet backup FILE, delete identity.pem, placet restore FILE, then pair it anew",
    ),
)
_FLOODING: Final = _DeviceFinding(
    "devices",
    "device_floods",
    lambda device: sentence(
        "device-floods", "{device} sends so much that it is taken from slowly", device=device
    ),
    sentence("see-writes-there", "see what is written there; placet devices remove ends it"),
)


def check_peer_states(snapshot: Snapshot, differing: Sequence[DeviceId]) -> Iterator[Check]:
    """Check for peers that had the same commits as this device, and another state."""
    yield from _findings(snapshot, differing, _STATE_DIFFERS)
    if not differing:
        summary = sentence("state-well", "no device shows something else for the same changes")
        yield make_check("state", summary, well=True, code="state_well")


def check_forked_devices(snapshot: Snapshot) -> Iterator[Check]:
    """Look for devices of which two copies wrote at once: nothing of either is lost."""
    forked = {snapshot.device_of(replica) for replica in snapshot.log.chains.forked_replicas()}
    yield from _findings(snapshot, sorted(forked), _FORKED)


def check_cloned_keys(
    snapshot: Snapshot, devices: Sequence[DeviceId], said_by: Sequence[DeviceId] = ()
) -> Iterator[Check]:
    """Check for devices with whose key two daemons run: each one's link replaces that of the other.

    `said_by` are members that report it of this device; if no copy of it exists, nothing needs to be done.
    """
    yield from _findings(snapshot, said_by, _KEY_CLONE_REPORTED)
    yield from _findings(snapshot, devices, _KEY_CLONED)


def check_flooding_peers(snapshot: Snapshot, slowed: Sequence[DeviceId]) -> Iterator[Check]:
    """Look at the peers that send more than anyone writes."""
    yield from _findings(snapshot, slowed, _FLOODING)


def _findings(snapshot: Snapshot, devices: Sequence[DeviceId], finding: _DeviceFinding) -> Iterator[Check]:
    """Yield a finding for each of some devices, and one that counts the others."""
    names = _DeviceNames(snapshot) if devices else {}
    for device in devices[:DEVICES_SHOWN_MAX]:
        yield make_check(
            finding.check,
            finding.text(device_sentence(names[device])),
            finding.remedy,
            well=finding.remedy is None,
            code=finding.code,
            parameters={"device": names[device]},
        )
    yield from _more_devices(devices, finding.check, finding.code, well=finding.remedy is None)


def _more_devices(devices: Sized, check: str, code: str, *, well: bool) -> Iterator[Check]:
    """Count the devices beyond those that a check names."""
    count = len(devices) - DEVICES_SHOWN_MAX
    if count > 0:
        text = sentence("same-of-more-devices", "the same was found of more devices: {count}", count=count)
        yield make_check(check, text, well=well, code=code, parameters={"count": count})


class _DeviceNames(dict[DeviceId, str]):
    """What devices are called: empty for this one, the beginning of its id for one that has no name here.

    Only the entries of devices that are asked for are read.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__({snapshot.device: ""})
        self._snapshot = snapshot

    def __missing__(self, device: DeviceId) -> str:
        member = member_records.read_member(self._snapshot, device)
        name = self[device] = device.hex()[:12] if member is None else member.name
        return name
