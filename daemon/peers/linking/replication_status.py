"""Which devices have a commit, or all commits on a thing, as far as is known on this device.

Never asks a device, and never guesses: a device that was never heard of is known to have nothing.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from daemon.peers.linking.device_states import DEVICES_SHOWN_MAX, LinkState
from daemon.peers.roster.listed_roster import ListedRoster
from daemon.peers.roster.member_records import Member, member_names
from daemon.refusal import RefusalCode, Refused
from daemon.timestamps import iso_utc
from store.local import peer_records
from store.queries.field_changes import positions_touching
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import DeviceId, EntityId, ReplicaId, id_to_text
from syncproto.vector_clock import Head, VectorClock

COMMITS_MAX = 100_000

FamilyOf = Callable[[Snapshot, str], tuple[EntityId, set[EntityId]]]
"""Returns the entity that a reference names, and the ids of all that belongs to it. Raises Refused."""
DeviceNameOf = Callable[[Snapshot, ReplicaId], str]
"""Returns the name of the device that writes as a replica, empty if the roster has none."""


class Holding(msgspec.Struct, frozen=True):
    """How many of the commits a device lacks, and as of when; None if it was never heard of."""

    device_id: str
    name: str
    this: bool
    removed: bool
    connected: bool
    lacks: int | None
    as_of: str | None


class Whereabouts(msgspec.Struct, frozen=True):
    """What was asked for: one commit by its feed position, or an entity with all that belongs to it.

    `commits` counts the commits on it. The newest one was made on `device_name`, at the time `at`.
    `devices_left_out` counts the devices that `devices` does not show.
    """

    seq: int
    entity: str | None
    kind: str
    title: str
    commits: int
    at: str
    device_name: str
    devices: list[Holding]
    devices_left_out: int = 0


def find_replication_status(
    snapshot: Snapshot,
    ref: str,
    roster: ListedRoster,
    live_links: Mapping[DeviceId, LinkState],
    *,
    now_ms: int,
    family_of: FamilyOf,
    device_name_of: DeviceNameOf,
) -> Whereabouts:
    """Return who has a commit, named by its feed position, or all commits that touched an entity.

    Raises Refused if there is no such thing, or if it has more commits than one answer counts.
    """
    entity_id, positions = find_positions(snapshot, ref, family_of)
    newest = snapshot.log.commit_at(positions[-1]).commit
    heads = [snapshot.log.head_at(position) for position in positions]
    entity = None if entity_id is None else snapshot.entity(entity_id)
    page = roster.page(None, DEVICES_SHOWN_MAX)
    assert page is not None, "without a device after which it begins, there is a page"
    return Whereabouts(
        seq=positions[-1],
        entity=None if entity_id is None else id_to_text(entity_id),
        kind="commit" if entity is None else entity.kind,
        title="" if entity is None else entity.text("title") or entity.text("name") or entity.text("text"),
        commits=len(heads),
        at=iso_utc(snapshot.shown_ms(newest.stamp.ms)),
        device_name=device_name_of(snapshot, newest.replica),
        devices=_holdings(snapshot, heads, page.shown, live_links, now_ms=now_ms),
        devices_left_out=page.members_left_out + page.removed_left_out,
    )


def find_positions(snapshot: Snapshot, ref: str, family_of: FamilyOf) -> tuple[EntityId | None, list[int]]:
    """Return the entity that is meant, None for a commit, and the feed positions of the commits, ascending.

    Raises Refused.
    """
    if ref.isascii() and ref.isdigit() and 0 < int(ref) <= snapshot.feed_end():
        return None, [int(ref)]
    entity_id, family = family_of(snapshot, ref)
    positions = positions_touching(snapshot, family, 0)
    if len(positions) > COMMITS_MAX:
        raise Refused(
            RefusalCode.FAILED,
            sentence(
                "too-many-commits", "{count} commits are more than one answer counts", count=len(positions)
            ),
            sentence("name-one-commit", "name one commit"),
        )
    return entity_id, positions


def _holdings(
    snapshot: Snapshot,
    heads: Sequence[Head],
    members: Sequence[Member],
    live_links: Mapping[DeviceId, LinkState],
    *,
    now_ms: int,
) -> list[Holding]:
    """Return how many of `heads` each device lacks."""
    contacts = peer_records.peer_contacts(snapshot, [member.device for member in members])
    names = member_names({member.device: member for member in members})
    holdings = []
    for member in members:
        device = member.device
        this, link, contact = device == snapshot.device, live_links.get(device), contacts.get(device)
        vector: VectorClock | None = link.vector if link else contact.vector if contact else None
        seen_ms = now_ms if link or this else contact.seen_ms if contact else None
        lacks = None if vector is None else snapshot.log.count_unknown_to_peer(vector, heads)
        holdings.append(
            Holding(
                device_id=device.hex(),
                name=names[device],
                this=this,
                removed=member.removed,
                connected=this or link is not None,
                lacks=0 if this else lacks,
                as_of=None if seen_ms is None else iso_utc(seen_ms),
            )
        )
    return holdings
