"""What is said of devices and of pairing, on a terminal and on the page.

Never calls a device in step that is known to lack something.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from daemon.words.dates import relative_time
from daemon.words.short_ids import SHORT_ID_CHARS_MIN, short_ids
from daemon.words.terminal_text import escape
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from daemon.shapes.answers import PeerJson


_NAME_WITH_ID: Final = re.compile(r"(?P<name>.+) \((?P<id>[0-9a-f]{4,64})\)")


def names_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Map the ids of devices to their names, with the id's beginning if several have one name."""
    counts, ids = Counter(names.values()), short_ids(names)
    return {
        device: name if counts[name] == 1 else named_with_id(name, ids[device])
        for device, name in names.items()
    }


def named_with_id(name: str, id_start: str) -> str:
    """Name a device by its name and the beginning of its id, as each face does: "laptop (3f2a)"."""
    return f"{name} ({id_start})"


def split_name(shown: str) -> tuple[str, str]:
    """Return the name and the beginning of the id that `named_with_id` has joined; "" for no such id."""
    match = _NAME_WITH_ID.fullmatch(shown)
    return (match["name"], match["id"]) if match else (shown, "")


def unique_names(devices: Sequence[PeerJson]) -> dict[str, str]:
    """Map the ids of devices to what is shown of each, as `names_apart` says."""
    names = {device.get("device_id", ""): device.get("name") or "?" for device in devices}
    return {device: escape(name) for device, name in names_apart(names).items()}


def link_words(device: PeerJson) -> str:
    """Say how a device stands to this one: "connected", "away", "removed"."""
    if device.get("removed"):
        return _("this one, removed") if device.get("this") else _("removed")
    if device.get("this"):
        return _("this one")
    if device.get("left_out"):
        return _("left out")
    if device.get("differs"):
        return _("differs")
    return _("connected") if device.get("connected") else _("away")


def step_words(device: PeerJson) -> str:
    """Say how far another device is behind this one, or this one behind it; "" if nobody knows."""
    lag, missing = device.get("lag"), device.get("missing") or 0
    if missing and device.get("connected"):
        return ngettext("{count} commit to come", "{count} commits to come", missing).format(count=missing)
    if lag:
        return ngettext("lacks {count} commit", "lacks {count} commits", lag).format(count=lag)
    # What it did not take, or sent wrong, may be missing on either side.
    return _("in step") if lag == 0 and not device.get("link_fault") and not device.get("differs") else ""


def differing_words(name: str) -> str:
    """Say that a device showed another state for the same changes."""
    return _("{device} showed something else when it last held the same changes").format(device=name)


def admission_words(peer: PeerJson, names: dict[str, str], now_s: float | None) -> str:
    """Say who let a device in, and when; nothing of one that was there when this one joined."""
    device, by = names.get(peer.get("device_id", ""), "?"), peer.get("added_by")
    if not by:
        when_seen = relative_time(peer.get("added_heard_at"), now_s)
        words = _("{device} was first seen {when}; nobody says who let it in")
        return words.format(device=device, when=when_seen) if when_seen else ""
    when, by_id = relative_time(peer.get("added_at"), now_s), peer.get("added_by_id") or ""
    if by_id and by_id == peer.get("device_id"):
        return _("{device} let itself in again, {when}").format(device=device, when=when)
    # One that is not on the screen may have the name of one that is.
    text = names.get(by_id) or escape(named_with_id(by, by_id[:SHORT_ID_CHARS_MIN]) if by_id else by)
    return _("{device} was let in by {by}, {when}").format(device=device, by=text, when=when)


# -- pairing ------------------------------------------------------------------------------------------


def joined_words(name: str, *, linked: bool) -> str:
    """Say that a device let this one in; that it joined only if the two were heard to understand each other.

    `name` is escaped as the face needs it.
    """
    if linked:
        return _("Joined {name}").format(name=name)
    words = _("{name} let this device in; the two are not linked yet: see `placet doctor`")
    return words.format(name=name)


def asked_words(mailbox: str) -> list[str]:
    """Say that this device asked to be let in through a mailbox, and what comes next."""
    return [
        _("Asked to be let in through {mailbox}.").format(mailbox=mailbox),
        _("This device joins by itself once the other one has looked there."),
    ]


def newcomer_words(name: str, *, linked: bool) -> str:
    """Say that this device let another one in, as `joined_words` does."""
    if linked:
        return _("{name} joined").format(name=name)
    words = _("{name} was let in; the two devices are not linked yet: see `placet doctor`")
    return words.format(name=name)


def failed_try_words(left: int) -> str:
    """Say that a wrong code was tried."""
    words = ngettext(
        "A wrong code was tried; {count} try is left.",
        "A wrong code was tried; {count} tries are left.",
        left,
    )
    return words.format(count=left)


def not_admitted_words() -> str:
    """Say that an invitation ended after its code had been typed right."""
    return _("the invitation was cancelled; the device that typed the code was not let in")


def invitation_end_words(stage: str, device: object) -> tuple[str, str]:
    """Say why an invitation ended without a device that joined, and what to do."""
    again = _("make a new one: placet pair")
    match stage:
        case "away":
            return (
                _("the code was right, but the other device did not come back"),
                _("it still joins if it reaches this one within an hour: see placet devices"),
            )
        case "failed":
            return (
                _("the code was right, but this device could not store who came"),
                _("see to what `placet doctor` says, then make a new one: placet pair"),
            )
        case "tried_out":
            return _("the code was typed wrong three times, and is no longer valid"), again
        case "called_off":
            return not_admitted_words() if device else _("the invitation was cancelled"), again
    return _("nobody joined in time"), again


def goodbye_words(fields: dict[str, Any]) -> list[str]:
    """Say who knows that this device leaves, a sentence each."""
    if fields.get("removed"):
        return [_("This device was removed already: nobody is left to tell")]
    goodbyes = [_("Said goodbye to {name}").format(name=escape(name)) for name in fields.get("told") or ()]
    away = _("{name} is away: the others will tell it")
    if not goodbyes:
        away = _("{name} was not told: remove this device there")
    return goodbyes + [away.format(name=escape(name)) for name in fields.get("untold") or ()]
