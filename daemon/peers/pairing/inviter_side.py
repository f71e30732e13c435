"""The inviter's side of pairing over a wire, with at most one open invitation.

Never welcomes a device before it is durably pending, and never answers an attempt that was not charged.
"""

from collections.abc import Awaitable, Callable

import structlog

from daemon.clock import Clock
from daemon.peers.pairing import handshake
from daemon.peers.pairing.handshake import (
    InviterHandshake,
    InviterIntroduction,
    PairingFailed,
    ProvedNewcomer,
    WrongSecret,
)
from daemon.peers.pairing.invitation import LIFETIME_S, Invitation, PairingAttempt
from daemon.peers.transport.identity import Identity, certificate_device
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.wire import ConnectionLost, Wire
from store.file.errors import StoreError
from store.sentence import foreign_text, sentence
from syncproto.errors import RemoteProtocolError

NAME_BYTES = 8

log = structlog.get_logger("peers")


class InvitationServer:
    """Answers newcomers while an invitation is open.

    `introduction` returns what this device says of itself. `save_newcomer` makes a newcomer durably pending.
    `changed` is called whenever an invitation may have got further.
    """

    def __init__(
        self,
        identity: Identity,
        clock: Clock,
        introduction: Callable[[], Awaitable[InviterIntroduction]],
        save_newcomer: Callable[[ProvedNewcomer], Awaitable[None]],
        *,
        limits: PeerLimits,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._identity = identity
        self._clock = clock
        self._introduction = introduction
        self._save_newcomer = save_newcomer
        self._limits = limits
        self._changed = changed
        self._invitation: Invitation | None = None

    def open_invitation(self, secret: bytes) -> Invitation:
        """Open an invitation; one that was open is cancelled."""
        self.call_off_open()
        now_s, now_ms = self._clock.monotonic_s(), self._clock.now_ms()
        name = self._clock.randomness(NAME_BYTES).hex()
        self._invitation = Invitation(secret, now_s, now_ms + int(LIFETIME_S * 1000), name)
        self._changed()
        return self._invitation

    def call_off_open(self) -> None:
        """Call off the invitation that is open, if there is one."""
        if self._invitation is not None:
            self._invitation.call_off()
            self._changed()

    def latest_invitation(self) -> Invitation | None:
        """Return the invitation that was made last, open or not."""
        return self._invitation

    @property
    def has_open_invitation(self) -> bool:
        """Return whether a newcomer may pair now."""
        invitation = self._invitation
        return invitation is not None and invitation.is_open_at(self._clock.monotonic_s())

    async def serve_pairing(self, wire: Wire) -> None:
        """Run the inviter's side of one pairing to its end."""
        try:
            await self._pair(wire)
        except (PairingFailed, RemoteProtocolError, ConnectionLost) as fault:
            log.warning("a pairing failed", caller=wire.remote, seen=str(fault), tries_left=self._tries_left)
            if not isinstance(fault, ConnectionLost):
                await self._refuse(wire, str(fault))
        finally:
            await wire.close()

    async def _pair(self, wire: Wire) -> None:
        invitation = self._invitation
        if invitation is None or not self.has_open_invitation:
            raise PairingFailed(sentence("no-invitation-open", "no invitation is open"))
        inviter = InviterHandshake(
            secret=invitation.secret,
            certificate=self._identity.certificate,
            host=await self._introduction(),
            randomness=self._clock.randomness,
        )
        await wire.send(inviter.greeting(), self._limits.pairing_s)
        inviter.read_start(await wire.receive(self._limits.pairing_s))
        attempt = invitation.charge_attempt(self._clock.monotonic_s())
        if not isinstance(attempt, PairingAttempt):
            raise PairingFailed(foreign_text(attempt.value))
        try:
            await self._attempt(wire, inviter, invitation, attempt)
        finally:
            invitation.end_attempt(attempt)
            self._changed()

    async def _attempt(
        self, wire: Wire, inviter: InviterHandshake, invitation: Invitation, attempt: PairingAttempt
    ) -> None:
        await wire.send(inviter.answer(), self._limits.pairing_s)
        proved = inviter.read_proof(await wire.receive(self._limits.pairing_s))
        if proved.public_key == self._identity.signer.public_key:
            raise WrongSecret(sentence("cannot-join-itself", "a device cannot join itself"))
        newcomer = certificate_device(proved.certificate)
        if not invitation.redeem_attempt(attempt, self._clock.monotonic_s(), newcomer):
            raise PairingFailed(sentence("invitation-ended", "the invitation ended meanwhile"))
        await self._save_or_fail(proved, invitation)
        if not invitation.is_redeemed:
            raise PairingFailed(sentence("invitation-called-off", "the invitation was cancelled"))
        await wire.send(inviter.welcome(), self._limits.pairing_s)

    async def _save_or_fail(self, proved: ProvedNewcomer, invitation: Invitation) -> None:
        """Make a newcomer durably pending. If that fails, the invitation is over, and both sides learn why.

        The invitation is redeemed before that, because nobody else may prove the secret while the disk is
        slow. It is not opened again after a failure, because a disk that fails usually goes on failing.
        """
        try:
            await self._save_newcomer(proved)
        except Exception as fault:
            invitation.fail_storage()
            log.exception("a device that proved the secret could not be stored")
            if not isinstance(fault, StoreError):
                raise
            raise PairingFailed(
                sentence("newcomer-not-stored", "the inviting device could not store who came")
            ) from fault

    async def _refuse(self, wire: Wire, reason: str) -> None:
        try:
            await wire.send(handshake.denied_frame(reason), self._limits.goodbye_s)
        except ConnectionLost:
            # The joiner left first.
            pass

    @property
    def _tries_left(self) -> int:
        return self._invitation.tries_left if self._invitation is not None and self.has_open_invitation else 0
