"""What pairing leaves behind on both devices: a newcomer that is let in, a vault that is joined.

Never joins a vault if that would mix or lose what a person did not mean to.
"""

import asyncio
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import structlog

from daemon.clock import Clock
from daemon.peers.discovery.announcements import NearbyInviter
from daemon.peers.pairing import joiner_side
from daemon.peers.pairing.digit_code import TriedCodes
from daemon.peers.pairing.handshake import (
    VAULT_BYTES,
    InviterIntroduction,
    JoinerIntroduction,
    PairingOutcome,
    ProvedNewcomer,
)
from daemon.peers.pairing.joiner_side import InvitationOffer
from daemon.peers.roster import admission_log, member_records
from daemon.peers.roster.cache import RosterCache
from daemon.peers.transport import addresses
from daemon.peers.transport.connector import Connector
from daemon.peers.transport.identity import Identity, certificate_device
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.wire import Wire
from daemon.refusal import RefusalCode, Refused
from store.local import peer_records
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


def removed_device_refusal() -> Refused:
    """Return the refusal of what only a member of a vault can do."""
    message = sentence("device-was-removed", "this device was removed from its vault")
    return Refused(RefusalCode.FORBIDDEN, message, _leave_first())


def _leave_first() -> Sentence:
    return sentence("leave-vault-first", "leave that vault first: placet devices leave")


class Admission:
    """Writes the outcome of pairing. `name` is this device's name if the roster does not have one."""

    def __init__(
        self,
        db: StoreThreads,
        clock: Clock,
        *,
        identity: Identity,
        members: RosterCache,
        connector: Connector,
        name: str,
        limits: PeerLimits,
    ) -> None:
        self._db = db
        self._clock = clock
        self._identity = identity
        self._members = members
        self._connector = connector
        self._name = name
        self._limits = limits
        self._joining = asyncio.Lock()
        self._tried_codes = TriedCodes()

    @property
    def is_joining(self) -> bool:
        """Return whether this device is about to join another vault."""
        return self._joining.locked()

    def create_vault_if_missing(self, transaction: Transaction) -> int:
        """Write the vault and this device's roster entry if missing; return the last listener port."""
        if transaction.vault() is None:
            transaction.set_vault(self._clock.randomness(VAULT_BYTES))
        if member_records.read_member(transaction, self._identity.device) is None:
            members = member_records.read_members(transaction).values()
            mark = member_records.removed_mark(sorted(member.device for member in members if member.removed))
            beacon = member_records.beacon_write(self._identity.device, mark, self._clock.randomness)
            write = member_records.introduction_write(transaction, self._name, self._identity.certificate)
            assert write is not None
            fields = {**write.fields, **beacon.fields}
            if (sealing_key := self._members.own_sealing_key) is not None:
                fields["sealing_key"] = list(sealing_key)
            transaction.commit([replace(write, fields=fields)], by=AuthorKind.SYSTEM)
        return peer_records.listener_port(transaction)

    # -- letting in -----------------------------------------------------------------------------------

    async def introduction(self) -> InviterIntroduction:
        """Return what this device says of itself to a newcomer that proved the secret."""

        def read(snapshot: Snapshot) -> InviterIntroduction:
            vault = snapshot.vault()
            assert vault is not None, "an invitation before the first start was over"
            own = member_records.read_member(snapshot, self._identity.device)
            return InviterIntroduction(self._name if own is None else own.name, vault)

        return await self._db.read(read)

    async def save_pending_newcomer(self, proved: ProvedNewcomer) -> None:
        """Store a device that proved the secret as pending: it becomes a member when it comes back."""
        introduction = proved.newcomer
        usable = tuple(
            str(addresses.parse(text)) for text in introduction.addresses if addresses.is_address(text)
        )
        expires_ms = self._clock.now_ms() + self._limits.pending_newcomer_ms
        device = certificate_device(proved.certificate)
        pending = peer_records.Newcomer(device, proved.certificate, introduction.name, usable, expires_ms)
        await self._db.write(lambda transaction: peer_records.add_pending_newcomer(transaction, pending))
        try:
            await self._members.refresh()
        except Exception:
            # Both devices will report that the newcomer was not stored. So the next start must not let it in.
            await self._db.write(
                lambda transaction: peer_records.remove_pending_newcomer(transaction, device)
            )
            raise
        log.info(
            "a device proved the secret",
            device=device.hex()[:16],
            name=introduction.name,
            brings=introduction.brings,
        )

    async def drop_pending_newcomers(self) -> AbstractSet[DeviceId]:
        """Forget the devices that proved a secret and have not come back; return them."""

        def drop(transaction: Transaction) -> AbstractSet[DeviceId]:
            pending = peer_records.pending_newcomers(transaction, transaction.now_ms())
            peer_records.clear_pending_newcomers(transaction)
            return {newcomer.device for newcomer in pending}

        dropped = await self._db.write(drop)
        await self._members.refresh()
        return dropped

    # -- joining --------------------------------------------------------------------------------------

    async def join(
        self,
        offer: InvitationOffer,
        *,
        unite: bool,
        given_address: str | None,
        own_addresses: list[str],
        inviters: Sequence[NearbyInviter],
        before_pairing: Callable[[], None],
    ) -> PairingOutcome:
        """Pair with the inviter and adopt its vault, durably. Raises Refused.

        `given_address` was given by a person; `own_addresses` are those that this device listens on;
        `inviters` are the devices nearby that announce an invitation; `before_pairing` is called once nothing
        on this device forbids the pairing.
        """
        places = joiner_side.inviter_addresses(given_address, offer, inviters)
        async with self._joining:
            by_code = offer.device is None
            # A token names its device, so a refusal comes before any call. What a code leads to is known only
            # after the call, and is checked below in both cases.
            if offer.device is not None:
                await self.require_may_join(offer.device, unite, own_addresses)
            else:
                self._tried_codes.require_try_left(offer.secret)
            wire, certificate = await joiner_side.reach_inviter(self._connector, offer, places, self._limits)
            newcomer = await self._require_may_pair(
                wire, certificate_device(certificate), unite, own_addresses
            )
            # From here on this device must not let others in: they would enter a vault that it is about to
            # leave, and two devices that join each other would only swap their vaults.
            before_pairing()
            outcome = await joiner_side.pair_with_inviter(
                wire,
                certificate,
                offer,
                identity=self._identity,
                newcomer=newcomer,
                randomness=self._clock.randomness,
                limits=self._limits,
                charge=lambda: self._tried_codes.charge_try(offer.secret) if by_code else None,
            )
            await self._db.write(lambda transaction: self.adopt_vault(transaction, outcome, wire.remote))
            await self._members.refresh()
        return outcome

    async def _require_may_pair(
        self, wire: Wire, inviter: DeviceId, unite: bool, own_addresses: list[str]
    ) -> JoinerIntroduction:
        """Close the wire, with nothing sent, if this device may not join the inviter that it found."""
        try:
            return await self.require_may_join(inviter, unite, own_addresses)
        except BaseException:
            await wire.close()
            raise

    async def require_may_join(
        self, inviter: DeviceId, unite: bool, own_addresses: list[str]
    ) -> JoinerIntroduction:
        """Return how this device introduces itself. Raises Refused before anything is sent.

        Refused is what a person may not have meant: joining itself, leaving others behind, mixing journals.
        """
        if inviter == self._identity.device:
            raise Refused(
                RefusalCode.USAGE,
                sentence("own-invitation", "this invitation is this device's own"),
                sentence("join-elsewhere", "join from another device"),
            )
        members = self._members.all_members
        own = members.get(self._identity.device)
        peers = self._members.linkable_members()
        # If the inviter is a member of this vault, nobody is left behind. It may let this device in again
        # because it does not know it: after a restore, a device has a new key.
        others = [] if inviter in peers else [member.name for member in peers.values()]
        if others:
            raise Refused(
                RefusalCode.FORBIDDEN,
                sentence(
                    "vault-shared-with",
                    "this device already shares a vault with {names}",
                    names=", ".join(others),
                ),
                _leave_first(),
            )
        if own is not None and own.removed and inviter not in members:
            raise removed_device_refusal()
        brings = await self._db.read(peer_records.holds_journal)
        if brings and not unite and inviter not in members:
            raise Refused(
                RefusalCode.NEEDS_CONFIRMATION,
                sentence("own-entries", "this device has entries of its own"),
                sentence("join-with-unite", "to unite both journals, join again with --unite"),
            )
        return JoinerIntroduction(own.name if own is not None else self._name, own_addresses, brings)

    def adopt_vault(
        self, transaction: Transaction, outcome: PairingOutcome, address: str | None = None
    ) -> None:
        """Enter the inviter's vault. This device's own entry is renewed too, in case it had been removed.

        `address` is where the inviter was reached, None if it was not called. Raises Refused.
        """
        inviter = certificate_device(outcome.certificate)
        another_vault = transaction.vault() != outcome.host.vault
        if another_vault:
            # The inviter may be a known member that has begun a new vault under its old key.
            self._require_nobody_left_behind(transaction, inviter)
        # The pending newcomers learned of the vault that this device is leaving, or were invited before this
        # device was removed.
        peer_records.clear_pending_newcomers(transaction)
        member_records.introduce(transaction, self._name, self._identity.certificate)
        member_records.introduce(transaction, outcome.host.name, outcome.certificate)
        transaction.set_vault(outcome.host.vault)
        admission_log.save_own_joining(transaction, another_vault=another_vault)
        if address is not None:
            peer_records.record_working_address(transaction, inviter, address)

    def _require_nobody_left_behind(self, transaction: Transaction, inviter: DeviceId) -> None:
        """Refuse to enter another vault while this device shares one with a third device."""
        both = (self._identity.device, inviter)
        members = member_records.read_members(transaction).values()
        others = [member.name for member in members if not member.removed and member.device not in both]
        if others:
            raise Refused(
                RefusalCode.FORBIDDEN,
                sentence(
                    "inviter-in-other-vault",
                    (
                        "the inviting device is in another vault than this one, which shares its vault with "
                        "{names}"
                    ),
                    names=", ".join(others),
                ),
                sentence("invite-from-here", "invite it from here instead: placet pair --invite"),
            )
