"""What the daemon found at its own disk, lease and clock, in the language of the person.

Never hides a finding that it does not know: a newer daemon found it, and it is told as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.sentences import retold
from daemon.cli.words import _, later, ngettext

if TYPE_CHECKING:
    from collections.abc import Mapping

_FOUND: Final = {
    "disk_well": later("{free_mib} MiB free"),
    "disk_low": later(
        "only {free_mib} MiB are free in {folder}, below the floor of {floor_mib} MiB: nothing is written"
    ),
    "lease_well": later("the database and its lease fit each other"),
    "lease_unwritten": later("the lease beside the database cannot be written"),
    "lease_doubted": later("went on as a new replica: {doubt}"),
    "clock_well": later("no change lies ahead of {now}"),
    "clock_set_forward": later("the clock was set forward by {length} since the daemon started"),
    "clock_set_back": later("the clock was set back by {length} since the daemon started"),
    "clock_ahead": later("the newest change of {device} is dated {at}, {length} from now"),
    "model_rules": later("agents are run by rules; no server is asked"),
    "model_well": later("{model} at {address}, {requests} requests today, {tokens} tokens; key: {key}"),
    "model_keyless": later("{model} at {address}, {requests} requests today, {tokens} tokens; without a key"),
    "model_trouble": later("{model} at {address} has not answered since {since}: {fault}"),
    "model_spent": later("agents wait: {spent}"),
    "agents_well": later("no agent sleeps because it failed"),
    "agent_given_up": later("the agent of {name} sleeps: {why}"),
    "agents_homeless": later("agents whose home is {device}, which was removed: {count}"),
    "clock_ahead_there": later("the clock of {device} is {minutes} minutes ahead of this one's"),
    "clock_behind_there": later("the clock of {device} is {minutes} minutes behind this one's"),
    "devices_well": later("devices connected: {count}"),
    "device_removed_here": later("this device is no member of its vault any more"),
    "device_called": later("{device} is away, and is called now"),
    "device_nowhere": later("{device} is away, and no address of it is known"),
    "device_offline": later("{device} is away, and this device has no network"),
    "device_unsought": later("{device} is away, no address of it is known, and mDNS is switched off"),
    "device_turned_away": later("{device} is away: {seen}"),
    "device_another": later("{device} is away: {seen}"),
    "device_newer": later("{device} cannot be understood: {seen}"),
    "device_older": later("{device} cannot be understood: {seen}"),
    "device_busy": later("{device} is away: {seen}"),
    "device_no_answer": later("{device} is away: {seen}"),
    "device_not_listening": later("{device} is away: {seen}"),
    "device_no_way": later("{device} is away: {seen}"),
    "device_forked": later("two copies of the journal of {device} were used at once; both are kept"),
    "device_twinned": later("two daemons run with the key of {device}"),
    "device_said_twinned": later("{device} says that two daemons run with this device's key"),
    "device_floods": later("{device} sends so much that it is taken from slowly"),
    "exchange_paused": later("Exchange is paused"),
    "mdns_silent": later("this device is not found on the local network: {fault}"),
    "mdns_unheard": later("nobody was heard on the local network by mDNS, in {length}"),
    "mdns_alone": later("this device is not found on the local network: it listens on {address} alone"),
    "state_well": later("no device shows something else for the same changes"),
    "state_differs": later("{device} showed something else when it last held the same changes"),
}
_REMEDIES: Final = {
    "disk_low": later("free some space; it goes on by itself"),
    "lease_unwritten": later("check the disk and the data folder's permissions"),
    "clock_set_forward": later("check date and time; then start the daemon again"),
    "clock_set_back": later("check date and time; then start the daemon again"),
    "clock_ahead": later("check date and time here and on {device}"),
    "clock_ahead_there": later("check date and time here and on {device}"),
    "clock_behind_there": later("check date and time here and on {device}"),
    "model_trouble": later("see to the cause; agents stay due, and go on by themselves"),
    "model_spent": later("wait, or raise budget.cost_per_day"),
    "agent_given_up": later("see to the cause; then: placet agent resume {agent}"),
    "agents_homeless": later("bring each here: placet agent move"),
    "device_removed_here": later("to begin anew, stop placet, then: placet devices leave"),
    "device_nowhere": later("bring both into one network, or set peers.static to where it is"),
    "device_offline": later("check the network here; it goes on by itself"),
    "device_unsought": later("set mdns.enabled = true, or peers.static to where it is"),
    "device_newer": later("it runs a newer version of Placet: install that one on this device, too"),
    "device_older": later("it runs an older version of Placet: install this device's version there, too"),
    "device_turned_away": later("see 'placet devices' there: was this device removed?"),
    "device_another": later(
        "another device has its address now; it is found again by mDNS, or set peers.static"
    ),
    "device_busy": later("it is called again by itself; if this lasts, see there who else calls it"),
    "device_no_answer": later("check that it is on, and that no firewall keeps its port closed"),
    "device_not_listening": later("start placet there"),
    "device_no_way": later("check the network here and there"),
    "device_twinned": later(
        "its data folder was copied: stop placet on one of the two; to use both, give that one its own key: "
        "placet backup FILE, delete identity.pem, placet restore FILE, then pair it anew"
    ),
    "device_said_twinned": later(
        "look for a copy of this device's data folder that runs elsewhere; if there is one, stop placet there"
    ),
    "device_floods": later("see what is written there; placet devices remove ends it"),
    "exchange_paused": later("placet sync --resume"),
    "mdns_silent": later("check the network; it goes on by itself"),
    "mdns_unheard": later(
        "if one is on in this network, let UDP port 5353 through the firewalls of both, or set peers.static: "
        "some networks keep their devices apart"
    ),
    "mdns_alone": later("take listen.host out of the settings, or give an address there that others reach"),
    "state_differs": later("run 'placet verify' on both devices"),
}
_DOUBTS: Final = {
    "missing": later("its lease file is missing"),
    "unreadable": later("its lease file cannot be read"),
    "machine": later("it was copied from another machine"),
    "file": later("the file is not the one that was here before: it was copied or put back"),
    "folder": later("its folder was put back as it was before, or its files were changed by hand"),
    "replica": later("its lease file belongs to another copy of it"),
    "behind": later("it lacks commits of its own: it was put back"),
    "ahead": later("its lease file is older than it"),
    "peer": later(
        "another device held changes of its own that it lacked: it was put back, or a copy of it was used"
    ),
}
_HOUR: Final = 60
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY


def finding_words(found: Mapping[str, Any]) -> tuple[str, str]:
    """Say what was found, and what to do about it."""
    code, as_it_came = str(found.get("code")), (str(found["found"]), str(found.get("remedy") or ""))
    if code not in _FOUND:
        return as_it_came
    given = _given(found.get("given") or {})
    try:
        return _(_FOUND[code]).format(**given), _(_REMEDIES[code]).format(
            **given
        ) if code in _REMEDIES else ""
    except KeyError:
        return as_it_came


def _given(told: Mapping[str, Any]) -> dict[str, object]:
    given = dict(told)
    if "device" in told:
        given["device"] = told["device"] or _("this device")
    if "why" in told:
        given |= {"name": repr(told.get("name")), "why": retold(str(told["why"]))}
    if "minutes" in told:
        given["length"] = _length(int(told["minutes"]))
    if "doubt" in told:
        given["doubt"] = _(_DOUBTS[told["doubt"]]) if told["doubt"] in _DOUBTS else told["doubt"]
    return given


def _length(minutes: int) -> str:
    """Say a length in its largest unit: the clock is off by that much."""
    if minutes >= _YEAR:
        count = minutes // _YEAR
        said = ngettext("{count} year", "{count} years", count)
    elif minutes >= _DAY:
        count = minutes // _DAY
        said = ngettext("{count} day", "{count} days", count)
    elif minutes >= _HOUR:
        count = minutes // _HOUR
        said = ngettext("{count} hour", "{count} hours", count)
    else:
        count = minutes
        said = ngettext("{count} minute", "{count} minutes", count)
    return said.format(count=count)
