"""The devices of the vault and how this one reaches them: the parts of this package, put together.

Never knows what is in a commit, and never makes a decision that belongs to one of its parts.
"""

import asyncio
from collections.abc import Callable, Sequence

import structlog

from daemon.clock import Clock, local_zone
from daemon.config import MailboxSettings, Settings
from daemon.notifier import Notifier
from daemon.peers.discovery import announcements
from daemon.peers.discovery.announcements import NearbyInviter
from daemon.peers.discovery.mdns import DiscoveryStatus, MdnsDiscovery, log_task_fault
from daemon.peers.exchange_days import ExchangeDays
from daemon.peers.linking.devices import DeviceDirectory
from daemon.peers.linking.exchange_faults import UPDATE_REMEDIES
from daemon.peers.linking.link_registry import LinkRegistry
from daemon.peers.linking.replication import Replication
from daemon.peers.linking.synchronisation import Synchronisation
from daemon.peers.mailbox_pairing import mailbox_token
from daemon.peers.mailbox_pairing.inviter import MailboxInviter
from daemon.peers.mailbox_pairing.joiner import MailboxJoiner
from daemon.peers.mailbox_pairing.pairing_file import PairingFile
from daemon.peers.mailbox_pairing.pairing_state import MailboxPairing
from daemon.peers.mailboxes.bundles import Bundles
from daemon.peers.mailboxes.carrier_choice import CarrierChoice
from daemon.peers.mailboxes.mailbox_state import MailboxState
from daemon.peers.mailboxes.mailboxes import Mailboxes
from daemon.peers.mailboxes.sealing_key_file import SealingKeyFile
from daemon.peers.mailboxes.secret_file import SecretFile
from daemon.peers.pairing import joiner_side
from daemon.peers.pairing.admission import Admission
from daemon.peers.pairing.invitations import Invitations, Invited, JoinedDevice
from daemon.peers.roster import device_edits
from daemon.peers.roster.cache import RosterCache
from daemon.peers.roster.member_records import DEVICE_NAME_CHARS_MAX
from daemon.peers.transport import addresses, network_interfaces
from daemon.peers.transport.connector import Connector, UnreachableReason
from daemon.peers.transport.identity import Identity, certificate_device
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.listener import Listener
from daemon.peers.transport.trust import ListenerTrust
from daemon.peers.transport.wire import Wire
from daemon.refusal import RefusalCode, Refused
from daemon.timestamps import iso_utc
from store.local import peer_records
from store.local.exchange_days import ExchangeCounts
from store.sentence import Sentence, sentence
from store.threads import StoreThreads
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


class PeerNetwork:
    """All that deals with other devices. `start` it once the store is open; `stop` it before the store.

    `notifier` must be notified of every commit of `db`. `name` is what people call this device. `shortfall`
    returns why there is no room to store what peers send, None if there is room. Only devices with the same
    mDNS `service` find each other. Raises ValueError if a static address, or the one to listen on, cannot be
    used.
    """

    def __init__(
        self,
        db: StoreThreads,
        notifier: Notifier,
        clock: Clock,
        *,
        identity: Identity,
        settings: Settings,
        name: str,
        limits: PeerLimits | None = None,
        service: str = announcements.SERVICE_TYPE,
        shortfall: Callable[[], Sentence | None] = lambda: None,
    ) -> None:
        self._db = db
        self._host = addresses.normalised_listen_host(settings.listen.host)
        self._wanted_port = settings.listen.port
        self._port = 0
        self._limits = limits = limits or PeerLimits()
        trust = ListenerTrust(identity.file, self._is_inviting)
        self._connector = Connector(identity, limits)
        self._members = members = RosterCache(db, identity.device, trust, clock)
        self.exchange_days = ExchangeDays(db, clock.now_ms, local_zone, limits.days_record_s)
        self.links = self._make_links(notifier, clock, identity, shortfall)
        static = [str(addresses.parse(address)) for address in settings.peers.static]
        self.replication = self._make_replication(notifier, clock, static)
        self.devices = DeviceDirectory(
            db,
            clock,
            members=members,
            links=self.links,
            replication=self.replication,
            own_address=lambda: self.address,
        )
        self.synchronisation = Synchronisation(
            replication=self.replication, links=self.links, members=members, devices=self.devices
        )
        self.discovery = self._make_discovery(clock, service) if settings.mdns.enabled else None
        """None if mDNS is switched off."""
        own_name = name[:DEVICE_NAME_CHARS_MAX] or identity.device.hex()[:8]
        self._keys = SealingKeyFile(identity.file.parent, clock.now_ms, clock.randomness)
        self._carriers = CarrierChoice(SecretFile(identity.file.parent), clock.randomness)
        self._pairing_file = PairingFile(identity.file.parent)
        self._inviter = self._make_inviter(clock, identity, own_name)
        self.mailboxes = self._make_mailboxes(notifier, clock, identity, settings.mailbox, shortfall)
        self.bundles = Bundles(self.mailboxes, members, clock)
        self._interfaces = network_interfaces.NetworkWatch(clock, self._on_network_change)
        self._watching: asyncio.Task[None] | None = None
        self._admission = self._make_admission(clock, identity, own_name)
        self.invitations = self._make_invitations(clock, identity)
        self.joiner = self._make_joiner(clock, identity, settings.mailbox)
        self._listener = Listener(
            trust,
            self.replication.may_link_now,
            self.replication.accept_link,
            self._answer_pairing,
            limits,
        )

    def _make_links(
        self,
        notifier: Notifier,
        clock: Clock,
        identity: Identity,
        shortfall: Callable[[], Sentence | None],
    ) -> LinkRegistry:
        return LinkRegistry(
            self._db,
            notifier,
            identity.device,
            clock.now_ms,
            self._limits,
            shortfall=shortfall,
            count=self.exchange_days.count,
        )

    def _make_replication(self, notifier: Notifier, clock: Clock, static: list[str]) -> Replication:
        return Replication(
            self._db,
            notifier,
            clock,
            links=self.links,
            members=self._members,
            connector=self._connector,
            static=static,
            discovered=self._discovered_addresses,
            roster_applied=self._on_roster_applied,
            limits=self._limits,
        )

    def _make_inviter(self, clock: Clock, identity: Identity, own_name: str) -> MailboxInviter:
        return MailboxInviter(
            self._db,
            clock,
            identity=identity,
            members=self._members,
            carriers=self._carriers,
            file=self._pairing_file,
            own_name=own_name,
        )

    def _make_admission(self, clock: Clock, identity: Identity, own_name: str) -> Admission:
        return Admission(
            self._db,
            clock,
            identity=identity,
            members=self._members,
            connector=self._connector,
            name=own_name,
            limits=self._limits,
        )

    def _make_mailboxes(
        self,
        notifier: Notifier,
        clock: Clock,
        identity: Identity,
        settings: MailboxSettings,
        shortfall: Callable[[], Sentence | None],
    ) -> Mailboxes:
        divergences = self.links.divergences
        return Mailboxes(
            self._db,
            clock,
            signer=identity.signer,
            keys=self._keys,
            carriers=self._carriers,
            members=self._members,
            settings=settings,
            shortfall=shortfall,
            is_paused=lambda: self.replication.paused,
            compared=lambda outcome: divergences.record_comparison(outcome.device, agree=outcome.agree),
            let_in=self._inviter.let_in,
            changed=notifier.notify,
        )

    def _make_joiner(self, clock: Clock, identity: Identity, settings: MailboxSettings) -> MailboxJoiner:
        return MailboxJoiner(
            self._db,
            clock,
            identity=identity,
            members=self._members,
            admission=self._admission,
            mailboxes=self.mailboxes,
            carriers=self._carriers,
            keys=self._keys,
            file=self._pairing_file,
            look_s=settings.look_s,
            own_addresses=self._own_addresses,
            joined=self._leave_own_vault,
        )

    def _make_discovery(self, clock: Clock, service: str) -> MdnsDiscovery:
        return MdnsDiscovery(
            clock,
            host=self._host,
            beacon_keys=self._members.beacon_keys,
            member_found=self.replication.call_member_now,
            service=service,
        )

    def _make_invitations(self, clock: Clock, identity: Identity) -> Invitations:
        return Invitations(
            clock,
            identity=identity,
            members=self._members,
            admission=self._admission,
            limits=self._limits,
            own_addresses=self._own_addresses,
            is_paused=lambda: self.replication.paused,
            announce=self._announce_invitation,
            changed=self.links.changed,
            is_linked=self._is_linked,
        )

    # -- life -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Make the vault and this device's roster entry if they are missing; listen, and call the members.

        Raises OSError if the port cannot be listened on.
        """
        await self.mailboxes.load_keys()
        preferred = await self._db.write(self._admission.create_vault_if_missing)
        await self._members.refresh()
        await self.links.divergences.load()
        self._port = await self._listener.start(self._host, self._wanted_port, preferred)
        await self._db.write(lambda transaction: peer_records.store_listener_port(transaction, self._port))
        self.replication.start()
        await self.mailboxes.start()
        self.exchange_days.start(self._mailbox_totals)
        await self.joiner.start()
        if self.discovery is not None:
            self.discovery.start(self._port)
        self._watching = asyncio.create_task(self._interfaces.watch())
        self._watching.add_done_callback(log_task_fault)
        log.info("listening for peers", address=self.address)

    async def stop(self) -> None:
        """End every link and close the port. What was acknowledged to peers is durable already."""
        self.invitations.stop()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        if self.discovery is not None:
            await self.discovery.stop()
        await self.joiner.stop()
        await self.mailboxes.stop()
        await self._inviter.stop()
        await self.replication.stop()
        await self._listener.stop()
        await self._connector.close()
        await self.exchange_days.stop()

    @property
    def address(self) -> str:
        """Return where this device may be reached as `host:port`, as far as it knows."""
        return self._own_addresses()[0]

    @property
    def port(self) -> int:
        """Return the port that this device listens on."""
        return self._port

    def discovery_status(self) -> DiscoveryStatus:
        """Return how other devices are found from here, and what keeps them from being found."""
        discovery = self.discovery
        return DiscoveryStatus(
            mdns=discovery is not None,
            trouble=None if discovery is None else discovery.trouble,
            unheard_s=None if discovery is None else discovery.unheard_s(),
            loopback_address=self._host if addresses.is_loopback_host(self._host) else None,
            online=network_interfaces.has_network(),
        )

    def appearance(self) -> dict[str, object]:
        """Return what a person can see of links and mailboxes; it is equal as long as they look alike.

        `network` is who is reached and what keeps others from it, `exchange` is what is on its way.
        `links.changed`, or the notifier of commits, is notified when one may be another.
        """
        trouble = None if self.discovery is None else self.discovery.trouble
        return {
            "network": (self.links.appearance(), self.replication.paused, trouble, self.mailboxes.troubles()),
            "exchange": (self.links.owing_peers(), self.mailboxes.activities()),
        }

    # -- joining --------------------------------------------------------------------------------------

    async def invite_through(self, mailbox: str) -> Invited:
        """Offer one device, for a week, to join through a mailbox that both reach. Raises Refused.

        An earlier invitation through this mailbox is over.
        """
        self.invitations.require_open_vault()
        invitation, token = await self._inviter.invite(self.mailboxes.find_stored(mailbox))
        return Invited(
            invitation.invitation_id, None, token, "", [], expires_at=iso_utc(invitation.expires_ms)
        )

    async def mailbox_pairing(self) -> MailboxPairing:
        """Return what is under way of pairing through mailboxes."""
        return MailboxPairing(await self._inviter.list_open(), await self.joiner.state())

    async def remove_mailbox(self, name: str) -> MailboxState:
        """Stop using a mailbox, and end the invitations through it. Raises Refused."""
        await self._inviter.end_through(self.mailboxes.find_stored(name))
        return await self.mailboxes.remove(name)

    async def join(
        self,
        text: str,
        *,
        unite: bool = False,
        address: str | None = None,
        mailbox: str | None = None,
        name: str | None = None,
    ) -> JoinedDevice:
        """Accept an invitation by its code or token. Raises Refused.

        A device with entries of its own brings them along only if `unite` is true. `address` is tried instead
        of those in the token, or of the device nearby that invites. `mailbox` is the folder in which both
        devices look, if the invitation is through one. `name` is what this device is called from then on,
        whether it joins or not; None leaves the name that it has.
        """
        by_mailbox = mailbox_token.read(text)
        if by_mailbox is not None:
            await self._take_name(name)
            waits_for = await self.joiner.join(by_mailbox, mailbox, unite=unite)
            member = self._members.all_members.get(by_mailbox.device)
            inviter_name = "" if member is None else member.name
            return JoinedDevice(by_mailbox.device.hex(), inviter_name, waits_for)
        offer = joiner_side.read_offer(text)
        await self._take_name(name)
        inviters = await self._nearby_inviters() if offer.device is None and address is None else ()
        outcome = await self._admission.join(
            offer,
            unite=unite,
            given_address=address,
            own_addresses=self._own_addresses(),
            inviters=inviters,
            before_pairing=self.invitations.server.call_off_open,
        )
        self.replication.resume()
        inviter = certificate_device(outcome.certificate)
        await self._wait_for_first_link(inviter)
        self._require_shared_version(inviter, outcome.host.name)
        return JoinedDevice(inviter.hex(), outcome.host.name, linked=self._is_linked(inviter) is True)

    async def _take_name(self, name: str | None) -> None:
        if name is not None:
            await self._db.write(lambda tx: device_edits.rename_device(tx, tx.device.hex(), name))

    async def _leave_own_vault(self) -> None:
        """Let nobody into the vault that this device has just left."""
        self.invitations.server.call_off_open()
        self.replication.resume()

    async def _nearby_inviters(self) -> Sequence[NearbyInviter]:
        if self.discovery is None:
            return []
        return await self.discovery.wait_for_inviters(self._limits.inviter_wait_s)

    async def _wait_for_first_link(self, device: DeviceId) -> None:
        """Wait a little for the link to a device. Without one, it goes on being called."""
        watch = self.links.changed.watch()
        try:
            async with asyncio.timeout(self._limits.first_link_s):
                while self._is_linked(device) is None:
                    await watch.wait_for_growth()
        except TimeoutError:
            log.warning("paired with a device, but there is no link to it yet", peer=device.hex()[:16])

    def _is_linked(self, device: DeviceId) -> bool | None:
        """Return whether a device was heard on a link that is open; None as long as that may still come."""
        if any(link.peer == device for link in self.links.greeted_links()):
            return True
        return None if self._version_fault(device) is None else False

    def _version_fault(self, device: DeviceId) -> UnreachableReason | None:
        """Return whether a device speaks only newer versions than this one, or only older ones."""
        fault = self.links.faults.link_fault(device)
        return fault.kind if fault is not None and fault.kind in UPDATE_REMEDIES else None

    def _require_shared_version(self, device: DeviceId, name: str) -> None:
        """Refuse to call a pairing done with which nothing can ever be exchanged. Raises Refused."""
        if (kind := self._version_fault(device)) is not None:
            text = sentence(
                "joined-without-common-version",
                "{device} speaks no version of the protocol that this device speaks: the two are paired,"
                " and can exchange nothing",
                device=name,
            )
            raise Refused(RefusalCode.FAILED, text, UPDATE_REMEDIES[kind])

    # -- between the parts ----------------------------------------------------------------------------

    def _own_addresses(self) -> list[str]:
        return addresses.reachable_addresses(self._host, self._port, network_interfaces.machine_addresses())

    def _discovered_addresses(self, device: DeviceId) -> list[str]:
        return [] if self.discovery is None else self.discovery.member_addresses(device)

    def _announce_invitation(self, name: str | None) -> None:
        if self.discovery is not None:
            self.discovery.announce_invitation(name)

    def _mailbox_totals(self) -> dict[str, ExchangeCounts]:
        return {
            done.mailbox: ExchangeCounts(
                visits=done.visits, failed_visits=done.faults, taken=done.taken, put=done.put
            )
            for done in self.mailboxes.activities()
        }

    def _on_network_change(self) -> None:
        """Apply a change of this machine's network, or the end of its sleep, with mDNS and without."""
        # The timer that ends the announcement of an invitation may have slept too.
        self.invitations.update_announcement()
        if self.discovery is not None:
            self.discovery.rebuild_services()
        self.replication.handle_network_change()

    def _on_roster_applied(self) -> None:
        if self._members.is_own_device_removed:
            self.invitations.server.call_off_open()
        if self.discovery is not None:
            self.discovery.refresh_services()

    def _is_inviting(self) -> bool:
        return self.invitations.server.has_open_invitation

    async def _answer_pairing(self, certificate: bytes, wire: Wire) -> None:
        assert not certificate
        await self.invitations.server.serve_pairing(wire)
