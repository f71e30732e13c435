"""Where commits are: which devices hold one, or all that was done to a thing, as far as is known here.

Never guesses: a device that was never heard of is known to hold nothing, and none is asked.
"""

from collections.abc import Mapping, Sequence

import msgspec

from daemon.journal import log
from daemon.journal.errors import Code, Refused
from daemon.journal.provenance import iso
from daemon.journal.show import Shown
from daemon.peers.roster import Member
from daemon.peers.states import LinkState
from store import peers as table
from store.history import positions
from store.snapshot import Snapshot
from syncproto.heads import Clock, Head
from syncproto.ids import DeviceId, EntityId, text

COMMITS_MAX = 100_000


class Holding(msgspec.Struct, frozen=True):
    """How many of the commits a device lacks, as of when; None for one that was never heard of."""

    device_id: str
    name: str
    this: bool
    removed: bool
    connected: bool
    lacks: int | None
    as_of: str | None


class Whereabouts(msgspec.Struct, frozen=True):
    """What was asked for: one commit by its feed position, or an entity with all that belongs to it.

    `commits` counts those that made it what it is; the newest was made on `device_name`, at `at`.
    """

    seq: int
    entity: str | None
    kind: str
    title: str
    commits: int
    at: str
    device_name: str
    devices: list[Holding]


def whereabouts(
    snapshot: Snapshot,
    ref: str,
    members: Mapping[DeviceId, Member],
    live: Mapping[DeviceId, LinkState],
    *,
    now_ms: int,
) -> Whereabouts:
    """Say who holds a commit, named by its position in the log, or all commits that touched an entity.

    Raises Refused where there is no such thing, or more commits than one question counts.
    """
    entity, seqs = _asked(snapshot, ref)
    newest = snapshot.log.at(seqs[-1])
    heads = [snapshot.log.head_at(seq) for seq in seqs]
    shown = Shown(snapshot)
    held = None if entity is None else snapshot.entity(entity)
    return Whereabouts(
        seq=seqs[-1],
        entity=None if entity is None else text(entity),
        kind="commit" if held is None else held.kind,
        title="" if held is None else held.text("title") or held.text("name") or held.text("text"),
        commits=len(heads),
        at=iso(newest.commit.stamp.ms),
        device_name=shown.device_names.get(shown.device(newest.commit.replica), ""),
        devices=_holdings(snapshot, heads, members, live, now_ms=now_ms),
    )


def _asked(snapshot: Snapshot, ref: str) -> tuple[EntityId | None, list[int]]:
    """Return the entity that is meant, None for a commit, and the positions of the commits."""
    if ref.isascii() and ref.isdigit() and 0 < int(ref) <= snapshot.feed_end():
        return None, [int(ref)]
    named = log.named(snapshot, ref)
    found = positions(snapshot, log.family(snapshot, named), 0)
    if len(found) > COMMITS_MAX:
        raise Refused(Code.FAILED, f"{len(found)} commits are more than one answer counts", "name one commit")
    return named.id, found


def _holdings(
    snapshot: Snapshot,
    heads: Sequence[Head],
    members: Mapping[DeviceId, Member],
    live: Mapping[DeviceId, LinkState],
    *,
    now_ms: int,
) -> list[Holding]:
    """Return what each device of the roster lacks: this one, then members by name, then removed ones."""
    heard = table.heard(snapshot)
    found = []
    for device, member in members.items():
        this, link, last = device == snapshot.device, live.get(device), heard.get(device)
        vector: Clock | None = link.vector if link else last.vector if last else None
        seen_ms = now_ms if link or this else last.seen_ms if last else None
        lacks = None if vector is None else snapshot.log.lacked(vector, heads)
        found.append(
            Holding(
                device_id=device.hex(),
                name=member.name,
                this=this,
                removed=member.removed,
                connected=this or link is not None,
                lacks=0 if this else lacks,
                as_of=None if seen_ms is None else iso(seen_ms),
            )
        )
    return sorted(found, key=lambda one: (not one.this, one.removed, one.name, one.device_id))
