"""What is shown of devices, invitations and sync: the shapes, and how they are put together.

Never waits, and never shows a secret but the token that a person asked for.
"""

from collections.abc import Container, Mapping, Sequence

import msgspec

from daemon.journal.provenance import iso
from daemon.peers.calling import Failed
from daemon.peers.let_in import Seen, heard_ms, let_in, mark
from daemon.peers.roster import Member
from store import peers as table
from store.snapshot import Snapshot
from syncproto.heads import Clock
from syncproto.ids import DeviceId


class Invited(msgspec.Struct, frozen=True):
    """An open invitation: its code or its token, where this device is reached, and when it ends."""

    id: str
    code: str | None
    token: str | None
    address: str
    addresses: list[str]
    expires_at: str


class JoinedDevice(msgspec.Struct, frozen=True):
    """A device that let this one in, or that this one let in."""

    device_id: str
    name: str


class InvitationState(msgspec.Struct, frozen=True):
    """How far an invitation has got: open, proved (its secret was), joined, away (it was proved, and nobody
    came back), failed (it was proved, and could not be kept here), tried_out, called_off or expired.

    `device` is who proved the secret. It has joined where the stage says so, may still come back while that
    is proved or away, and is let in no more after any other.
    """

    id: str
    stage: str
    tries_left: int
    device: JoinedDevice | None


class Unreached(msgspec.Struct, frozen=True):
    """A call that came to nothing.

    `kind`: no_answer, not_listening, no_way, turned_away, busy, another (device), newer or older (version).
    """

    kind: str
    seen: str


class DeviceState(msgspec.Struct, frozen=True):
    """A device of the roster. `lag` counts the commits that it is known to lack; None: never heard of, or
    to get none from here, as it or this device was removed.

    `missing` counts those that it is known to hold and this device lacks, 0 where none of them will come.
    """

    device_id: str
    name: str
    this: bool
    connected: bool
    address: str | None
    lag: int | None
    missing: int
    last_seen: str | None
    removed: bool
    added_by: str | None
    """The name of the device that let it in last; None where nobody says so. Names are not unique."""
    added_by_id: str | None
    """That device's id: who wrote so, whatever was written."""
    added_at: str | None
    """When that was, by the clock of who wrote it."""
    added_heard_at: str | None
    """Since when this device sees it as a member; None for what it found in the vault as it joined itself."""
    clock_ahead_s: int | None
    """By how much its clock was ahead of this one's when it was called last, in seconds; None: not called."""
    unreached: list[Unreached]
    """What was seen at each address where it was called in vain, last; empty while it is connected."""
    unanswered: bool = False
    """It is connected, and has not yet answered what it was sent or asked."""
    differs: bool = False
    """When both held the same commits last, it showed another state: one of the two is damaged."""


class Nearby(msgspec.Struct, frozen=True):
    """How devices are found from here.

    `mdns`: it is switched on; `trouble` keeps it from working; `unheard_s`: nobody was heard by it for so
    long, None where someone was. `alone` is the address listened on where only this machine reaches it;
    `online`: this machine has a network.
    """

    mdns: bool = True
    trouble: str | None = None
    unheard_s: float | None = None
    alone: str | None = None
    online: bool = True


class Goodbye(msgspec.Struct, frozen=True):
    """Who knows that this device leaves the vault, and who does not.

    `removed`: another device had removed this one before, so that there is nobody to tell.
    """

    told: list[str]
    untold: list[str]
    removed: bool = False


class SyncReport(msgspec.Struct, frozen=True):
    """Where the peers stand.

    `complete`: every connected peer and this device hold the same commits, as far as is known; none owes an
    answer, and no member showed another state for the same commits. What it is not is told of each peer.
    """

    complete: bool
    paused: bool
    peers: list[DeviceState]


class LinkState(msgspec.Struct, frozen=True):
    """What is known of a live link."""

    address: str
    vector: Clock
    unanswered: bool


class Heard(msgspec.Struct, frozen=True):
    """What this process has seen of others: links, calls in vain, their clocks, and other states."""

    live: Mapping[DeviceId, LinkState]
    tried: Mapping[DeviceId, Sequence[Failed]]
    ahead_s: Mapping[DeviceId, int]
    differing: Container[DeviceId]


def device_states(
    snapshot: Snapshot,
    members: Mapping[DeviceId, Member],
    seen: Heard,
    *,
    own_address: str,
    now_ms: int,
) -> list[DeviceState]:
    """Return every device of the roster: this one, then members by name, then removed ones."""
    heard, known, noted = table.heard(snapshot), table.addresses(snapshot), table.heard_let_in(snapshot)
    own = members.get(snapshot.device)
    apart = own is not None and own.removed
    states = []
    for device, member in members.items():
        this, link, last = device == snapshot.device, seen.live.get(device), heard.get(device)
        heard_of = link.vector if link else last.vector if last else None
        vector = None if member.removed or apart else heard_of
        by, by_id, at = _entered(snapshot, members, device)
        seen_ms = now_ms if link or this else last.seen_ms if last else None
        listed = own_address if this else link.address if link else next(iter(known.get(device, [])), None)
        states.append(
            DeviceState(
                device_id=device.hex(),
                name=member.name,
                this=this,
                connected=this or link is not None,
                address=listed,
                lag=0 if this else None if vector is None else snapshot.lag(vector),
                missing=0 if this or vector is None else snapshot.log.missing(vector),
                last_seen=None if seen_ms is None else iso(seen_ms),
                removed=member.removed,
                added_by=by,
                added_by_id=by_id,
                added_at=at,
                added_heard_at=_noticed(snapshot, noted, member, now_ms),
                clock_ahead_s=seen.ahead_s.get(device),
                unreached=[]
                if link
                else [Unreached(one.kind.value, one.words) for one in seen.tried.get(device, ())],
                unanswered=link is not None and link.unanswered,
                differs=device in seen.differing,
            )
        )
    return sorted(states, key=lambda one: (not one.this, one.removed, one.name, one.device_id))


def _entered(
    snapshot: Snapshot, members: Mapping[DeviceId, Member], device: DeviceId
) -> tuple[str | None, str | None, str | None]:
    """Return who let a device in, by name and by id, and when. Of one without a name: its id's beginning."""
    entered = let_in(snapshot, device)
    if entered is None:
        return None, None, None
    by = members.get(entered.by)
    return entered.by.hex()[:8] if by is None else by.name, entered.by.hex(), iso(entered.ms)


def _noticed(snapshot: Snapshot, noted: Seen, member: Member, now_ms: int) -> str | None:
    """Return since when this device sees another one as a member, None where that is no news."""
    own, device = snapshot.device, member.device
    if member.removed or device == own:
        return None
    at_ms = heard_ms(noted, own, device, mark(snapshot, device), now_ms)
    return iso(at_ms) if at_ms else None


def in_step(snapshot: Snapshot, vectors: Sequence[Clock]) -> bool:
    """Say whether this store and peers with these vectors hold the same commits."""
    log = snapshot.log
    return all(snapshot.lag(vector) == 0 and all(log.holds(head) for head in vector) for vector in vectors)
