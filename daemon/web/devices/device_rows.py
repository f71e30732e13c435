"""What the page shows of each device and of each mailbox.

Never calls a device in step that is known to lack something.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from daemon.peers.linking.device_states import DeviceState
from daemon.peers.mailboxes.mailbox_state import MailboxReader, MailboxState
from daemon.words.dates import relative_time
from daemon.words.devices import (
    admission_words,
    differing_words,
    link_words,
    step_words,
    unique_names,
)
from daemon.words.sentences import answer_words
from daemon.words.translation import _, ngettext

_ID_SHOWN: Final = 12
_MIB: Final = 1 << 20
_BAR_COMMITS_MIN: Final = 100
"""A device that lacks fewer has caught up before anybody looks at a bar."""


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device. `link` is `on` or `off`, or "" if it is not linked with.

    `progress` is how many commits of how many are there, while one of the two catches up; None otherwise.
    """

    id: str
    short: str
    name: str
    this: bool
    removed: bool
    link: str
    state: str
    tone: str
    facts: list[str]
    faults: list[str]
    can_remove: bool
    progress: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class MailboxRow:
    """One mailbox: where it is, what lies there, who was noticed there, and what keeps it from being used."""

    name: str
    place: str
    facts: list[str]
    readers: list[str]
    trouble: str


def device_rows(states: Sequence[DeviceState], now_s: float, commits: int = 0) -> list[DeviceRow]:
    """Return the rows of devices, this one first, then members, then those that were removed.

    `commits` is how many this device holds.
    """
    devices = cast(Any, msgspec.to_builtins(states))
    names = unique_names(devices)
    ordered = sorted(devices, key=lambda device: (not device["this"], device["removed"]))
    return [_device_row(device, names, now_s, commits) for device in ordered]


def _progress(device: Any, commits: int) -> tuple[int, int] | None:
    """Return how far this device or the other one has caught up, if it is at it and that takes long."""
    missing, lag = device["missing"] or 0, min(device["lag"] or 0, commits)
    if device["removed"] or not device["connected"] or max(missing, lag) < _BAR_COMMITS_MIN:
        return None
    return (commits, commits + missing) if missing else (commits - lag, commits)


def _device_row(device: Any, names: dict[str, str], now_s: float, commits: int) -> DeviceRow:
    this, removed, connected = device["this"], device["removed"], device["connected"]
    facts = [] if this or removed else [step_words(device)]
    if device.get("last_seen") and not (this or connected):
        facts.append(_("last seen {when}").format(when=relative_time(device["last_seen"], now_s)))
    facts.append(str(device.get("address") or ""))
    if not removed:
        facts.append(admission_words(device, names, now_s))
    faults = [differing_words(names[device["device_id"]])] if device.get("differs") else []
    if fault := device.get("link_fault"):
        faults.append(answer_words(fault, "seen"))
    return DeviceRow(
        id=device["device_id"],
        short=device["device_id"][:_ID_SHOWN],
        name=names[device["device_id"]],
        this=this,
        removed=removed,
        link="" if this or removed else "on" if connected else "off",
        state=link_words(device),
        tone="red" if removed or device.get("differs") or device.get("left_out") else "",
        facts=[fact for fact in facts if fact],
        faults=faults,
        can_remove=not (this or removed),
        progress=None if this else _progress(device, commits),
    )


def mailbox_rows(mailboxes: Sequence[MailboxState], now_s: float) -> list[MailboxRow]:
    """Return the rows of mailboxes."""
    return [_mailbox_row(mailbox, now_s) for mailbox in mailboxes]


def _mailbox_row(mailbox: MailboxState, now_s: float) -> MailboxRow:
    # Rounded up: what lies there is never nothing.
    size_mib = -(-mailbox.bytes * 10 // _MIB) / 10
    facts = [
        ngettext("{count} file, {size} MiB", "{count} files, {size} MiB", mailbox.blobs).format(
            count=mailbox.blobs, size=size_mib
        )
    ]
    if mailbox.looked_at:
        facts.append(_("looked into {when}").format(when=relative_time(mailbox.looked_at, now_s)))
    if mailbox.unreadable:
        words = ngettext(
            "{count} file has not opened for a day",
            "{count} files have not opened for a day",
            mailbox.unreadable,
        )
        facts.append(words.format(count=mailbox.unreadable))
    return MailboxRow(
        name=mailbox.name,
        place=mailbox.place,
        facts=facts,
        readers=[_reader_words(reader, now_s) for reader in mailbox.readers],
        trouble=answer_words(msgspec.to_builtins(mailbox), "trouble") if mailbox.trouble else "",
    )


def _reader_words(reader: MailboxReader, now_s: float) -> str:
    """Say when a device looked in there last, and what waits for it."""
    noticed = _("{name} was noticed there {when}").format(
        name=reader.name, when=relative_time(reader.noticed_at, now_s)
    )
    waiting = ngettext("{count} commit waits for it", "{count} commits wait for it", reader.lacks)
    return f"{noticed} · {waiting.format(count=reader.lacks) if reader.lacks else _('nothing waits for it')}"
