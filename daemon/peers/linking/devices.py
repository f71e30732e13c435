"""The devices of the vault, for a person: what is known of each, and changes of the roster.

Never changes the roster without applying the change to the links before it answers.
"""

from collections.abc import Callable

from daemon.clock import Clock
from daemon.peers.linking.device_states import (
    DEVICES_SHOWN_MAX,
    AdmittedDevices,
    DeviceList,
    DeviceState,
    Goodbye,
    LinkState,
    PeerObservations,
    list_device_states,
    read_device_states,
)
from daemon.peers.linking.link_registry import LinkRegistry
from daemon.peers.linking.replication import Replication
from daemon.peers.linking.replication_status import (
    DeviceNameOf,
    FamilyOf,
    Whereabouts,
    find_positions,
    find_replication_status,
)
from daemon.peers.roster import device_edits
from daemon.peers.roster.cache import RosterCache
from daemon.peers.roster.member_records import member_names
from daemon.refusal import RefusalCode, Refused
from store.sentence import sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import DeviceId


class DeviceDirectory:
    """The devices of the vault. `own_address` returns where this device may be reached, as `host:port`."""

    def __init__(
        self,
        db: StoreThreads,
        clock: Clock,
        *,
        members: RosterCache,
        links: LinkRegistry,
        replication: Replication,
        own_address: Callable[[], str],
    ) -> None:
        self._db = db
        self._clock = clock
        self._members = members
        self._links = links
        self._replication = replication
        self._own_address = own_address

    async def states(self) -> list[DeviceState]:
        """Return the devices of the roster with what is known of each, as many as one answer has."""
        return (await self.list_states()).states

    async def list_states(self, after: str | None = None) -> DeviceList:
        """Return the devices of the roster, from the one after `after` on, and count those that follow.

        `after` is a whole id. Raises Refused if no device has it.
        """
        roster = await self._members.read_listed()
        observations, own_address, now_ms = self._observe(), self._own_address(), self._clock.now_ms()
        return await self._db.read(
            lambda snapshot: list_device_states(
                snapshot,
                roster,
                observations,
                own_address=own_address,
                now_ms=now_ms,
                after=after,
            )
        )

    def members_left_out(self) -> frozenset[DeviceId]:
        """Return the members that this device does not link with, because the roster has too many."""
        return self._members.left_out

    def _observe(self) -> PeerObservations:
        return PeerObservations(
            live_links=self._live_links(),
            faults=self._links.faults,
            clock_leads_s=self._replication.clock_leads_s(),
            diverging=self._replication.diverging_members(),
            left_out=self._members.left_out,
        )

    async def replication_status(
        self, ref: str, *, family_of: FamilyOf, device_name_of: DeviceNameOf
    ) -> Whereabouts:
        """Return which devices have a commit, or all commits on a thing. Raises Refused.

        `family_of` and `device_name_of` read the journal, which this package does not know.
        """
        roster = await self._members.read_listed()
        live_links, now_ms = self._live_links(), self._clock.now_ms()
        return await self._db.read(
            lambda snapshot: find_replication_status(
                snapshot,
                ref,
                roster,
                live_links,
                now_ms=now_ms,
                family_of=family_of,
                device_name_of=device_name_of,
            )
        )

    async def find_positions(self, ref: str, family_of: FamilyOf) -> list[int]:
        """Return the feed positions of a commit, or of all commits on a thing, ascending. Raises Refused."""
        return await self._db.read(lambda snapshot: find_positions(snapshot, ref, family_of)[1])

    async def rename(self, ref: str, name: str) -> DeviceState:
        """Give a device another name. Raises Refused."""
        return await self._edit(lambda transaction: device_edits.rename_device(transaction, ref, name))

    async def remove(self, ref: str, *, with_admitted: bool = False) -> DeviceState:
        """Remove a device from the vault and end its links. It keeps what it had. Raises Refused.

        `with_admitted`: also remove those that it alone has let in.
        """
        return await self._edit(
            lambda transaction: device_edits.remove_device(transaction, ref, with_admitted=with_admitted)
        )

    async def admitted_alone(self, ref: str) -> AdmittedDevices:
        """Return the members that go with a device if it is removed with those that it alone let in."""
        members = await self._db.read(lambda snapshot: device_edits.find_admitted_alone(snapshot, ref))
        shown = member_names(self._members.all_members)
        names = sorted(shown.get(member.device, member.name) for member in members)
        return AdmittedDevices(len(names), names[:DEVICES_SHOWN_MAX])

    async def leave(self) -> Goodbye:
        """Leave the vault: from then on nothing is exchanged.

        The journal stays as it is. A new beginning is possible only after the daemon has ended. Raises
        Refused if the vault has no other device.
        """
        names = member_names(self._members.all_members)
        others = {device: names[device] for device in self._members.other_members()}
        if not others:
            raise Refused(
                RefusalCode.USAGE,
                sentence("vault-not-shared", "this device shares its vault with nobody"),
                sentence("nothing-to-leave", "there is nothing to leave"),
            )
        aware = await self._replication.announce_departure(device_edits.write_departure)
        if not aware and await self._db.read(device_edits.was_removed_by_another):
            return Goodbye([], [], removed=True)
        texts = sorted(others[device] for device in aware if device in others)
        untold = sorted(name for device, name in others.items() if device not in aware)
        return Goodbye(texts, untold)

    async def _edit(self, use: Callable[[Transaction], DeviceId]) -> DeviceState:
        device = await self._db.write(use)
        # Applied before the answer: no caller may learn of a removal while the device is still linked.
        await self._replication.apply_roster()
        members = (await self._members.read_listed()).members
        observations, own_address, now_ms = self._observe(), self._own_address(), self._clock.now_ms()

        def read_edited(snapshot: Snapshot) -> DeviceState:
            (state,) = read_device_states(
                snapshot,
                members,
                [members[device]],
                observations,
                own_address=own_address,
                now_ms=now_ms,
            )
            return state

        return await self._db.read(read_edited)

    def _live_links(self) -> dict[DeviceId, LinkState]:
        return {
            link.peer: LinkState(link.remote, link.peer_vector, link.owes_answer)
            for link in self._links.greeted_links()
        }
