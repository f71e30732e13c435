"""The door for newcomers: one invitation at a time, and the inviter's side of pairing over a wire.

Never welcomes a device before it is durably pending, and never answers a try that was not charged.
"""

from collections.abc import Awaitable, Callable

import structlog

from daemon.clock import Clock
from daemon.peers import pairing
from daemon.peers.identity import Identity, device_of
from daemon.peers.invitation import LIFETIME_S, Attempt, Invitation
from daemon.peers.pace import Pace
from daemon.peers.pairing import Host, Inviter, Joined, PairingFailed, WrongSecret
from daemon.peers.wire import LineLost, Wire
from store.faults import StoreError
from syncproto.faults import RemoteProtocolError

NAME_BYTES = 8

log = structlog.get_logger("peers")


class Reception:
    """Holds the open invitation. `host` says what a newcomer is told; `keep` makes it durably pending."""

    def __init__(
        self,
        identity: Identity,
        clock: Clock,
        host: Callable[[], Awaitable[Host]],
        keep: Callable[[Joined], Awaitable[None]],
        *,
        pace: Pace,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._identity = identity
        self._clock = clock
        self._host = host
        self._keep = keep
        self._pace = pace
        self._changed = changed
        self._invitation: Invitation | None = None

    def invite(self, secret: bytes) -> Invitation:
        """Open an invitation; one that was open is called off."""
        self.close()
        now_s, now_ms = self._clock.monotonic_s(), self._clock.now_ms()
        name = self._clock.randomness(NAME_BYTES).hex()
        self._invitation = Invitation(secret, now_s, now_ms + int(LIFETIME_S * 1000), name)
        self._changed()
        return self._invitation

    def close(self) -> None:
        """Call off the invitation that is open, if any."""
        if self._invitation is not None:
            self._invitation.call_off()
            self._changed()

    def last(self) -> Invitation | None:
        """Return the invitation that was made last, open or not."""
        return self._invitation

    @property
    def is_open(self) -> bool:
        """Say whether a newcomer may knock."""
        invitation = self._invitation
        return invitation is not None and invitation.open(self._clock.monotonic_s())

    async def receive(self, wire: Wire) -> None:
        """Hold the inviter's side of one pairing to its end."""
        try:
            await self._pair(wire)
        except (PairingFailed, RemoteProtocolError, LineLost) as fault:
            log.warning("a pairing failed", caller=wire.remote, seen=str(fault), tries_left=self._tries_left)
            if not isinstance(fault, LineLost):
                await self._refuse(wire, str(fault))
        finally:
            await wire.close()

    async def _pair(self, wire: Wire) -> None:
        invitation = self._invitation
        if invitation is None or not self.is_open:
            raise PairingFailed("no invitation is open")
        inviter = Inviter(
            secret=invitation.secret,
            certificate=self._identity.certificate,
            host=await self._host(),
            randomness=self._clock.randomness,
        )
        await wire.send(inviter.greeting(), self._pace.pairing_s)
        inviter.read_start(await wire.receive(self._pace.pairing_s))
        attempt = invitation.charge(self._clock.monotonic_s())
        if not isinstance(attempt, Attempt):
            raise PairingFailed(attempt.value)
        try:
            await self._attempt(wire, inviter, invitation, attempt)
        finally:
            invitation.failed(attempt)
            self._changed()

    async def _attempt(self, wire: Wire, inviter: Inviter, invitation: Invitation, attempt: Attempt) -> None:
        await wire.send(inviter.answer(), self._pace.pairing_s)
        joined = inviter.read_proof(await wire.receive(self._pace.pairing_s))
        if joined.public_key == self._identity.signer.public_key:
            raise WrongSecret("a device cannot join itself")
        newcomer = device_of(joined.certificate)
        if not invitation.redeem(attempt, self._clock.monotonic_s(), newcomer):
            raise PairingFailed("the invitation ended meanwhile")
        await self._keep_or_end(joined, invitation)
        if not invitation.stands:
            raise PairingFailed("the invitation was called off")
        await wire.send(inviter.welcome(), self._pace.pairing_s)

    async def _keep_or_end(self, joined: Joined, invitation: Invitation) -> None:
        """Make a newcomer durably pending; where that fails, the invitation is over, and both sides hear why.

        It is redeemed before, for nobody else may prove the secret while the disk is slow; and not opened
        again, for a disk that fails goes on failing.
        """
        try:
            await self._keep(joined)
        except Exception as fault:
            invitation.not_kept()
            log.exception("a device that proved the secret could not be kept")
            if not isinstance(fault, StoreError):
                raise
            raise PairingFailed("the inviting device could not store who came") from fault

    async def _refuse(self, wire: Wire, reason: str) -> None:
        try:
            await wire.send(pairing.denied(reason), self._pace.goodbye_s)
        except LineLost:
            # It left first.
            pass

    @property
    def _tries_left(self) -> int:
        return self._invitation.tries_left if self._invitation is not None and self.is_open else 0
