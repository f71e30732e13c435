"""What a person does with invitations: make one, watch it, call it off.

Never shows a secret but the code or token that the person asked for.
"""

import asyncio
from collections.abc import Callable

import msgspec

from daemon.clock import Clock
from daemon.notifier import Notifier
from daemon.peers.pairing import digit_code, token
from daemon.peers.pairing.admission import Admission, removed_device_refusal
from daemon.peers.pairing.invitation import LIFETIME_S, Invitation, InvitationStage
from daemon.peers.pairing.inviter_side import InvitationServer
from daemon.peers.pairing.token import SECRET_BYTES
from daemon.peers.roster.cache import RosterCache
from daemon.peers.transport.identity import Identity
from daemon.peers.transport.limits import PeerLimits
from daemon.refusal import RefusalCode, Refused
from daemon.timestamps import iso_utc
from store.sentence import sentence
from syncproto.ids import DeviceId

_UNFINISHED = (InvitationStage.OPEN, InvitationStage.PROVED)
"""The stages of an invitation that another stage can follow."""


class Invited(msgspec.Struct, frozen=True):
    """An open invitation: its `code` or its `token`, this device's addresses (`host:port`), and its end.

    `address` is the likeliest of `addresses`.
    """

    id: str
    code: str | None
    token: str | None
    address: str
    addresses: list[str]
    expires_at: str


class JoinedDevice(msgspec.Struct, frozen=True):
    """A device that let this one in, or that this one let in.

    `waits_for` is the mailbox through which this one asked to be let in, as long as it has no answer. The two
    are `linked` if each has greeted the other on a link that is open: only then is it known that they
    understand each other.
    """

    device_id: str
    name: str
    waits_for: str | None = None
    linked: bool = False


class InvitationState(msgspec.Struct, frozen=True):
    """How far an invitation has got.

    `stage` is open, proved (a device proved the secret), joined, away (it proved the secret and did not come
    back), failed (it could not be stored here), tried_out, called_off or expired. `device` proved the secret.
    It is a member if the stage is joined, it may still come back if the stage is proved or away, and in any
    other stage it is not let in any more.
    """

    id: str
    stage: str
    tries_left: int
    device: JoinedDevice | None


class Invitations:
    """The invitations of this device, at most one of them open. `server` answers those who accept one.

    `own_addresses` returns where this device may be reached, the likeliest first. `is_paused` returns whether
    nothing is exchanged. `announce` receives the name under which this device invites by a code, None if it
    does not. `changed` is notified whenever an invitation may have got further. `is_linked` returns whether a
    device is linked and was heard, None as long as that may still come.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        identity: Identity,
        members: RosterCache,
        admission: Admission,
        limits: PeerLimits,
        own_addresses: Callable[[], list[str]],
        is_paused: Callable[[], bool],
        announce: Callable[[str | None], None],
        changed: Notifier,
        is_linked: Callable[[DeviceId], bool | None],
    ) -> None:
        self._clock = clock
        self._identity = identity
        self._members = members
        self._admission = admission
        self._own_addresses = own_addresses
        self._is_paused = is_paused
        self._announce = announce
        self._changed = changed
        self._is_linked = is_linked
        self._first_link_s = limits.first_link_s
        self._by_code: Invitation | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self.server = InvitationServer(
            identity,
            clock,
            admission.introduction,
            admission.save_pending_newcomer,
            limits=limits,
            changed=self.update_announcement,
        )

    def stop(self) -> None:
        """Call off what is open, and follow it no further."""
        self.server.call_off_open()
        if self._expiry is not None:
            self._expiry.cancel()

    async def invite(self, *, by_code: bool = False) -> Invited:
        """Offer one device, for five minutes and three tries, to join the vault, by a code or by a token.

        A device that proved the secret of an earlier invitation and has not come back is not let in any more.
        So a person who begins again, also after a restart, lets in nobody whom they do not see. Raises
        Refused if a device that accepted could not join.
        """
        self.require_open_vault()
        self.server.call_off_open()
        await self._drop_pending_newcomers()
        # Checked again: meanwhile this device may have been removed, or may have begun to join another one.
        self.require_open_vault()
        own_addresses = self._own_addresses()
        code = digit_code.draw(self._clock.randomness) if by_code else None
        secret = self._clock.randomness(SECRET_BYTES) if code is None else digit_code.secret(code)
        invitation = self.server.open_invitation(secret)
        self._by_code = invitation if by_code else None
        self.update_announcement()
        if self._expiry is not None:
            self._expiry.cancel()
        self._expiry = asyncio.get_running_loop().call_later(LIFETIME_S, self.update_announcement)
        return Invited(
            id=invitation.invitation_id,
            code=code,
            token=token.write(own_addresses, self._identity.device, secret) if code is None else None,
            address=own_addresses[0],
            addresses=own_addresses,
            expires_at=iso_utc(invitation.expires_ms),
        )

    async def state(self, invitation_id: str, wait_s: float = 0.0) -> InvitationState:
        """Return how far an invitation has got. With `wait_s`, wait that long for it to get further.

        Of a device that has just come in, wait a little for its link too: membership alone exchanges nothing.
        Raises Refused (not_found) if another invitation has replaced it, or if another process made it.
        """
        watch = self._changed.watch()
        before = state = self._state_of(self._latest(invitation_id))
        ends_s = self._clock.monotonic_s() + wait_s
        while (
            state == before
            and state.stage in _UNFINISHED
            and (left_s := ends_s - self._clock.monotonic_s()) > 0
        ):
            await watch.wait_for_growth(left_s)
            state = self._state_of(self._latest(invitation_id))
        ends_s = min(ends_s, self._clock.monotonic_s() + self._first_link_s)
        while self._awaits_link(state) and (left_s := ends_s - self._clock.monotonic_s()) > 0:
            await watch.wait_for_growth(left_s)
            state = self._state_of(self._latest(invitation_id))
        return state

    def _awaits_link(self, state: InvitationState) -> bool:
        if state.stage != "joined" or state.device is None:
            return False
        return self._is_linked(DeviceId(bytes.fromhex(state.device.device_id))) is None

    async def call_off(self, invitation_id: str) -> InvitationState:
        """End an invitation. Whoever proved its secret, or an earlier one's, and is not back, stays outside.

        Raises Refused as `state` does.
        """
        invitation = self._latest(invitation_id)
        invitation.call_off()
        await self._drop_pending_newcomers()
        self.update_announcement()
        return self._state_of(invitation)

    def update_announcement(self) -> None:
        """Announce whether this device invites by a code, and notify that invitations changed.

        An invitation by a token is not announced: the token contains the addresses.
        """
        self._changed.notify()
        own = self._members.all_members.get(self._identity.device)
        inviting = self._by_code is not None and self._by_code.is_open_at(self._clock.monotonic_s())
        self._announce(own.name if inviting and own is not None else None)

    async def _drop_pending_newcomers(self) -> None:
        invitation = self.server.latest_invitation()
        dropped = await self._admission.drop_pending_newcomers()
        if invitation is not None and invitation.newcomer in dropped:
            invitation.revoke_redeemed()

    def require_open_vault(self) -> None:
        """Refuse to invite into a vault that this device left, is leaving, or exchanges nothing with."""
        if self._members.is_own_device_removed:
            raise removed_device_refusal()
        if self._is_paused():
            raise Refused(
                RefusalCode.FORBIDDEN,
                sentence("exchange-paused", "exchange is paused"),
                sentence("resume-exchange", "resume it first: placet sync --resume"),
            )
        if self._admission.is_joining:
            raise Refused(
                RefusalCode.FORBIDDEN,
                sentence("joining-now", "this device is joining another one at this moment"),
                sentence("invite-once-joined", "invite once it has joined"),
            )

    def _latest(self, invitation_id: str) -> Invitation:
        invitation = self.server.latest_invitation()
        if invitation is None or invitation.invitation_id != invitation_id:
            raise Refused(
                RefusalCode.NOT_FOUND,
                sentence("invitation-over", "this invitation is over"),
                sentence("make-invitation", "make a new one: placet pair"),
            )
        return invitation

    def _state_of(self, invitation: Invitation) -> InvitationState:
        stage, newcomer = invitation.stage_at(self._clock.monotonic_s()).value, invitation.newcomer
        member = None if newcomer is None else self._members.linkable_members().get(newcomer)
        device = None
        if newcomer is not None:
            linked = self._is_linked(newcomer) is True
            device = JoinedDevice(newcomer.hex(), "" if member is None else member.name, linked=linked)
        joined = member is not None and invitation.is_redeemed
        return InvitationState(
            invitation.invitation_id, "joined" if joined else stage, invitation.tries_left, device
        )
