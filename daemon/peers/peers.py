"""The peers' side of the daemon, put together: what the composition root starts and the faces call.

Never knows what is in a commit, and never decides what its parts decide.
"""

import asyncio
from collections.abc import Callable, Container, Mapping, Sequence

import structlog

from daemon.clock import Clock
from daemon.config import Settings
from daemon.journal.errors import Code, Refused
from daemon.journal.provenance import iso
from daemon.notifier import Notifier
from daemon.peers import addresses, announcing, code, editing, interfaces, joining, roster, token
from daemon.peers.admission import Admission
from daemon.peers.dial import Dialling
from daemon.peers.discovery import Discovery, tell_of_fault
from daemon.peers.exchange import Exchange
from daemon.peers.identity import Identity, device_of
from daemon.peers.invitation import LIFETIME_S, Invitation, Stage
from daemon.peers.joining import Inviting
from daemon.peers.link import Link
from daemon.peers.links import Links
from daemon.peers.listener import Listener
from daemon.peers.membership import Membership
from daemon.peers.pace import Pace
from daemon.peers.pairing import NAME_CHARS_MAX
from daemon.peers.reception import Reception
from daemon.peers.states import (
    DeviceState,
    Goodbye,
    Heard,
    InvitationState,
    Invited,
    JoinedDevice,
    LinkState,
    Nearby,
    SyncReport,
    device_states,
)
from daemon.peers.token import SECRET_BYTES
from daemon.peers.trust import Gate
from daemon.peers.whereabouts import Whereabouts, whereabouts
from daemon.peers.wire import Wire
from store import peers as table
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import DeviceId

# Stages of an invitation after which another comes.
_GOES_ON = (Stage.OPEN, Stage.PROVED)

log = structlog.get_logger("peers")


class Peers:
    """Everything about other devices. `start` it once the store is open; `stop` it before the store closes.

    `notifier` must be told of every commit of `db`. `name` is what people call this device; `shortfall` says
    why there is no room for what peers bring, None where there is; devices of one `service` alone hear each
    other by mDNS. Raises ValueError for a static address that is none, or one that cannot be listened on.
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
        pace: Pace | None = None,
        service: str = announcing.SERVICE,
        shortfall: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._db = db
        self._clock = clock
        self._identity = identity
        self._host = addresses.listenable(settings.listen.host)
        self._wanted_port = settings.listen.port
        self._pace = pace = pace or Pace()
        static = [str(addresses.parse(one)) for one in settings.peers.static]
        own_name = name[:NAME_CHARS_MAX] or identity.device.hex()[:8]
        self._gate = Gate(identity.file, self._is_inviting)
        self._dialling = Dialling(identity, pace)
        self._members = members = Membership(db, identity.device, self._gate, clock)
        self._links = links = Links(db, notifier, identity.device, clock.now_ms, pace, shortfall=shortfall)
        self._exchange = Exchange(
            db,
            notifier,
            clock,
            links=links,
            members=members,
            dialling=self._dialling,
            static=static,
            near=self.near,
            roster_read=self._on_roster,
            pace=pace,
        )
        discovery = Discovery(
            clock, host=self._host, known=members.known, found=self._exchange.call, service=service
        )
        self._discovery = discovery if settings.mdns.enabled else None
        self._changes = interfaces.Changes(clock, self._on_move)
        self._watching: asyncio.Task[None] | None = None
        self._admission = Admission(
            db, clock, identity=identity, members=members, dialling=self._dialling, name=own_name, pace=pace
        )
        self._reception = Reception(
            identity,
            clock,
            self._admission.host,
            self._admission.keep_newcomer,
            pace=pace,
            changed=self._on_invitation,
        )
        self._listener = Listener(
            self._gate, self._exchange.admits, self._exchange.answer, self._answer_pairing, pace
        )
        self._port = 0
        self._coded: Invitation | None = None
        self._expiry: asyncio.TimerHandle | None = None

    # -- life -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Make the vault and this device's roster entry where they are missing; listen, and call the members.

        Raises OSError where the port cannot be had.
        """
        preferred = await self._db.write(self._admission.establish)
        await self._members.refresh()
        await self._links.findings.load()
        self._port = await self._listener.start(self._host, self._wanted_port, preferred)
        await self._db.write(lambda transaction: table.keep_listener_port(transaction, self._port))
        self._exchange.start()
        if self._discovery is not None:
            self._discovery.start(self._port)
        self._watching = asyncio.create_task(self._changes.watch())
        self._watching.add_done_callback(tell_of_fault)
        log.info("listening for peers", address=self.address)

    async def stop(self) -> None:
        """End every link and close the port; what peers acknowledged is durable already."""
        self._reception.close()
        if self._expiry is not None:
            self._expiry.cancel()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        if self._discovery is not None:
            await self._discovery.stop()
        await self._exchange.stop()
        await self._listener.stop()
        await self._dialling.close()

    def pause(self) -> None:
        """Exchange nothing with anyone until `resume`, or until a vault is joined."""
        self._exchange.pause()

    def resume(self) -> None:
        """Exchange again, at once."""
        self._exchange.resume()

    def wake(self) -> None:
        """Call every member that has no link now, instead of when its time comes."""
        self._exchange.wake()

    @property
    def paused(self) -> bool:
        """Say whether `pause` holds."""
        return self._exchange.paused

    @property
    def address(self) -> str:
        """Return where this device may be reached, as far as it knows."""
        return self._own_addresses()[0]

    @property
    def port(self) -> int:
        """Return the port that is listened on."""
        return self._port

    @property
    def changed(self) -> Notifier:
        """Return what tells of links that come, go, or get further."""
        return self._links.changed

    # -- pairing --------------------------------------------------------------------------------------

    async def invite(self, *, by_code: bool = False) -> Invited:
        """Offer one device, for five minutes and three tries, to join the vault, by a code or by a token.

        Who proved an earlier one and is not back is sent away: so a person who begins again, after a restart
        too, lets in nobody whom they do not see. Raises Refused where whoever came would find no way in.
        """
        self._require_door()
        self._reception.close()
        await self._send_away()
        # Asked again: it may have been removed, or have begun to join another, meanwhile.
        self._require_door()
        places = self._own_addresses()
        drawn = code.draw(self._clock.randomness) if by_code else None
        secret = self._clock.randomness(SECRET_BYTES) if drawn is None else code.secret(drawn)
        invitation = self._reception.invite(secret)
        self._coded = invitation if by_code else None
        self._on_invitation()
        if self._expiry is not None:
            self._expiry.cancel()
        self._expiry = asyncio.get_running_loop().call_later(LIFETIME_S, self._on_invitation)
        text = token.write(places, self._identity.device, secret) if drawn is None else None
        return Invited(invitation.name, drawn, text, places[0], places, iso(invitation.expires_ms))

    async def _send_away(self) -> None:
        held = self._reception.last()
        gone = await self._admission.send_away()
        if held is not None and held.newcomer in gone:
            held.take_back()

    def _require_door(self) -> None:
        """Refuse to invite into a vault that this device has left, is leaving, or does not exchange with."""
        if self._members.removed:
            hint = "leave that vault first: placet devices leave"
            raise Refused(Code.FORBIDDEN, "this device was removed from its vault", hint)
        if self.paused:
            raise Refused(Code.FORBIDDEN, "exchange is paused", "go on first: placet sync --resume")
        if self._admission.joining:
            seen = "this device is joining another one at this moment"
            raise Refused(Code.FORBIDDEN, seen, "invite once it has joined")

    async def invitation(self, name: str, wait_s: float = 0.0) -> InvitationState:
        """Return how far an invitation has got; with `wait_s`, wait that long for it to get further.

        Raises Refused (not_found) for one that another has replaced, or that this process did not make.
        """
        watch = self.changed.watch()
        before = state = self._state_of(self._held_invitation(name))
        ends_s = self._clock.monotonic_s() + wait_s
        while (
            state == before and state.stage in _GOES_ON and (left_s := ends_s - self._clock.monotonic_s()) > 0
        ):
            await watch.grown(left_s)
            state = self._state_of(self._held_invitation(name))
        return state

    async def call_off(self, name: str) -> InvitationState:
        """End an invitation; who proved its secret, or an earlier one's, and is not back is let in no more.

        Raises Refused as `invitation` does.
        """
        held = self._held_invitation(name)
        held.call_off()
        await self._send_away()
        self._on_invitation()
        return self._state_of(held)

    def _held_invitation(self, name: str) -> Invitation:
        held = self._reception.last()
        if held is None or held.name != name:
            raise Refused(Code.NOT_FOUND, "this invitation is over", "make a new one: placet pair")
        return held

    def _state_of(self, held: Invitation) -> InvitationState:
        stage = held.stage(self._clock.monotonic_s()).value
        member = None if held.newcomer is None else self._members.peers().get(held.newcomer)
        told = None
        if held.newcomer is not None:
            told = JoinedDevice(held.newcomer.hex(), "" if member is None else member.name)
        joined = member is not None and held.stands
        return InvitationState(held.name, "joined" if joined else stage, held.tries_left, told)

    async def join(self, text: str, *, unite: bool = False, address: str | None = None) -> JoinedDevice:
        """Accept an invitation by its code or token. Raises Refused.

        A device with entries of its own brings them along only where `unite` says so. `address` is tried in
        place of those in the token, or of the device nearby that invites.
        """
        offer = joining.read_offer(text)
        inviting = await self._inviting() if offer.device is None and address is None else ()
        admitted = await self._admission.join(
            offer,
            unite=unite,
            first=address,
            own=self._own_addresses(),
            inviting=inviting,
            begins=self._reception.close,
        )
        self.resume()
        inviter = device_of(admitted.certificate)
        await self._linked(inviter)
        return JoinedDevice(inviter.hex(), admitted.host.name)

    async def _inviting(self) -> Sequence[Inviting]:
        """Return the devices nearby that say that they invite."""
        return [] if self._discovery is None else await self._discovery.inviters(self._pace.near_s)

    def _on_invitation(self) -> None:
        """Tell those near whether this device invites by a code; a token says itself where to go."""
        self.changed.tell()
        own = self._members.everyone.get(self._identity.device)
        inviting = self._coded is not None and self._coded.open(self._clock.monotonic_s())
        if self._discovery is not None:
            self._discovery.invite(own.name if inviting and own is not None else None)

    def near(self, device: DeviceId) -> list[str]:
        """Return where a member was heard on the local network."""
        return [] if self._discovery is None else self._discovery.addresses_of(device)

    def _on_move(self) -> None:
        """Follow a change of this machine's network, or its sleep, with mDNS and without."""
        # What would have called off an invitation in time may have slept.
        self._on_invitation()
        if self._discovery is not None:
            self._discovery.move()
        self._exchange.move()

    def _on_roster(self) -> None:
        if self._members.removed:
            self._reception.close()
        if self._discovery is not None:
            self._discovery.refresh()

    def _is_inviting(self) -> bool:
        return self._reception.is_open

    async def _answer_pairing(self, certificate: bytes, wire: Wire) -> None:
        assert not certificate
        await self._reception.receive(wire)

    # -- what is known --------------------------------------------------------------------------------

    async def devices(self) -> list[DeviceState]:
        """Return every device of the roster, with what is known of it."""
        heard = Heard(
            live=self._live(),
            tried=self._exchange.tried(),
            ahead_s=self._exchange.ahead_s(),
            differing=self._exchange.differing(),
        )
        own_address, now_ms = self.address, self._clock.now_ms()
        return await self._db.read(
            lambda snapshot: device_states(
                snapshot, roster.read(snapshot), heard, own_address=own_address, now_ms=now_ms
            )
        )

    async def where(self, ref: str) -> Whereabouts:
        """Say which devices hold a commit, or all that was done to a thing. Raises Refused."""
        live, now_ms = self._live(), self._clock.now_ms()
        return await self._db.read(
            lambda snapshot: whereabouts(snapshot, ref, roster.read(snapshot), live, now_ms=now_ms)
        )

    def nearby(self) -> Nearby:
        """Return how other devices are found from here, and what keeps them from being found."""
        discovery = self._discovery
        return Nearby(
            mdns=discovery is not None,
            trouble=None if discovery is None else discovery.trouble,
            unheard_s=None if discovery is None else discovery.unheard_s(),
            alone=self._host if addresses.is_loopback(self._host) else None,
            online=interfaces.is_online(),
        )

    async def rename(self, ref: str, name: str) -> DeviceState:
        """Give a device another name. Raises Refused."""
        return await self._edited(lambda transaction: editing.rename(transaction, ref, name))

    async def remove(self, ref: str) -> DeviceState:
        """Close the door to a device: its links end, here at once. It keeps what it had. Raises Refused."""
        return await self._edited(lambda transaction: editing.remove(transaction, ref))

    async def leave(self) -> Goodbye:
        """Say goodbye to the vault: from then on nothing is exchanged. Raises Refused where it is alone.

        The journal stays as it is; beginning anew is for when the daemon has ended.
        """
        others = {device: member.name for device, member in self._members.others().items()}
        if not others:
            raise Refused(Code.USAGE, "this device shares its vault with nobody", "there is nothing to leave")
        told = await self._exchange.say_goodbye(editing.leave)
        if not told and await self._db.read(editing.was_removed):
            return Goodbye([], [], removed=True)
        names = sorted(others[device] for device in told if device in others)
        return Goodbye(names, sorted(name for device, name in others.items() if device not in told))

    async def _edited(self, use: Callable[[Transaction], DeviceId]) -> DeviceState:
        device = await self._db.write(use)
        # Before it is told: nobody is to hear that a door is closed while it is open.
        await self._exchange.hold_to_roster()
        return next(one for one in await self.devices() if one.device_id == device.hex())

    def differing(self) -> Mapping[DeviceId, str]:
        """Return, by name, the peers that hold the same commits and show another state (law 3).

        The notifier of commits tells of a change in this, too.
        """
        return self._exchange.differing()

    def agreeing(self) -> Container[DeviceId]:
        """Return the peers that showed the same state when this process compared it last."""
        return self._links.findings.agreed()

    def twins(self) -> list[DeviceId]:
        """Return the devices with whose key two daemons run, as was seen from here."""
        return self._links.twins.seen()

    def twins_said_by(self) -> list[DeviceId]:
        """Return the members that say that two daemons run with this device's key."""
        return [device for device in self._links.twins.said_by() if device in self._members.peers()]

    def slowed(self) -> list[DeviceId]:
        """Return the linked peers that sent so much that they are taken from slowly."""
        return self._links.slowed()

    async def sync(self, wait_s: float = 0.0) -> SyncReport:
        """Call every member now. With `wait_s`, wait until the connected ones and this device hold the same.

        Raises Refused (timeout) where that takes longer. One that shows another state is not waited for.
        """
        if self._members.removed:
            hint = "to begin anew, stop placet, then: placet devices leave"
            raise Refused(Code.FORBIDDEN, "this device is no member of its vault any more", hint)
        self._exchange.wake()
        if wait_s > 0:
            await self._reach_step(wait_s)
            # What may be compacted depends on what the others are known to hold.
            await self._links.note()
        # Where it was reached it is so, whatever began to travel since.
        reached = wait_s > 0 or (self._exchange.all_answered() and await self._exchange.is_in_step())
        complete = reached and not self._exchange.differing()
        peers = [one for one in await self.devices() if not one.this]
        return SyncReport(complete, self.paused, peers)

    async def _reach_step(self, wait_s: float) -> None:
        try:
            async with asyncio.timeout(wait_s):
                await self._exchange.reach_step()
        except TimeoutError:
            raise await self._too_slow(wait_s) from None

    async def _too_slow(self, wait_s: float) -> Refused:
        others = [one for one in await self.devices() if not one.this and not one.removed]
        linked = [one for one in others if one.connected]
        seen = [f"{one.name} lacks {one.lag}" for one in linked if one.lag]
        seen += [f"{one.missing} to come from {one.name}" for one in linked if one.missing]
        seen += [f"{one.name} has not answered yet" for one in linked if one.unanswered]
        called = {device.hex() for device in self._exchange.called()}
        seen += [f"{one.name} is still being called" for one in others if one.device_id in called]
        words = f"not in step after {wait_s:g} s"
        return Refused(Code.TIMEOUT, f"{words}: {'; '.join(seen)}" if seen else words, "try again")

    # -- within ---------------------------------------------------------------------------------------

    def _own_addresses(self) -> list[str]:
        return addresses.reachable(self._host, self._port, interfaces.held())

    def _live(self) -> dict[DeviceId, LinkState]:
        return {
            link.peer: LinkState(link.remote, link.peer_vector, link.unanswered) for link in self._greeted()
        }

    def _greeted(self) -> list[Link]:
        return [link for link in self._links.all() if link.greeted.is_set()]

    async def _linked(self, device: DeviceId) -> None:
        """Wait a little until a link to a device stands; without one, calling goes on by itself."""
        watch = self.changed.watch()
        try:
            async with asyncio.timeout(self._pace.return_s):
                while not any(link.peer == device for link in self._greeted()):
                    await watch.grown()
        except TimeoutError:
            log.warning("paired, but not yet linked", peer=device.hex()[:16])
