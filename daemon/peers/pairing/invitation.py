"""An open invitation: its secret, its five minutes and its three tries.

Never answers a try that it has not charged before, and never has two attempts under way.
"""

from dataclasses import dataclass
from enum import StrEnum

from syncproto.ids import DeviceId

LIFETIME_S = 300.0
TRIES_MAX = 3
ATTEMPT_S = 10.0
RETURN_S = 60.0


class AttemptDenial(StrEnum):
    """Why no attempt is granted; the words are sent to the other side."""

    CLOSED = "no invitation is open"
    BUSY = "another device is pairing at this moment"


class InvitationStage(StrEnum):
    """How far an invitation has got; `proved` is its good end.

    `away`: the device that proved the secret has not come back for a while. It still may. `failed`: it could
    not be stored here. That ends the invitation too, since the secret can be proved only once.
    """

    OPEN = "open"
    PROVED = "proved"
    AWAY = "away"
    FAILED = "failed"
    TRIED_OUT = "tried_out"
    CALLED_OFF = "called_off"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class PairingAttempt:
    """One charged attempt, and the monotonic time until which it may go on."""

    number: int
    until_s: float


@dataclass(slots=True)
class Invitation:
    """One offer to join. `newcomer` is the device that proved the secret.

    `opened_s` is monotonic time; `expires_ms` is Unix time, for people to read.
    """

    secret: bytes
    opened_s: float
    expires_ms: int
    invitation_id: str = ""
    lifetime_s: float = LIFETIME_S
    tries_left: int = TRIES_MAX
    attempt: PairingAttempt | None = None
    newcomer: DeviceId | None = None
    _ended: InvitationStage | None = None
    _proved_s: float = 0.0

    def is_open_at(self, now_s: float) -> bool:
        """Return whether an attempt could still succeed: one that is under way, or one that is left."""
        within = 0 <= now_s - self.opened_s < self.lifetime_s
        return within and self._ended is None and (self.tries_left > 0 or self._has_attempt(now_s))

    def stage_at(self, now_s: float) -> InvitationStage:
        """Return how far it has got."""
        if self._ended is InvitationStage.PROVED and now_s - self._proved_s >= RETURN_S:
            return InvitationStage.AWAY
        if self._ended is not None:
            return self._ended
        if self.is_open_at(now_s):
            return InvitationStage.OPEN
        return InvitationStage.TRIED_OUT if self.tries_left == 0 else InvitationStage.EXPIRED

    def charge_attempt(self, now_s: float) -> PairingAttempt | AttemptDenial:
        """Charge one try and begin an attempt; return why not if none is granted."""
        if not self.is_open_at(now_s):
            return AttemptDenial.CLOSED
        if self._has_attempt(now_s):
            return AttemptDenial.BUSY
        # Charged before the answer: a caller that hangs up once it knows that it guessed wrong has used its
        # try.
        self.tries_left -= 1
        self.attempt = PairingAttempt(TRIES_MAX - self.tries_left, now_s + ATTEMPT_S)
        return self.attempt

    def redeem_attempt(self, attempt: PairingAttempt, now_s: float, newcomer: DeviceId) -> bool:
        """Use the invitation up for an attempt that proved the secret; return False if it came too late."""
        in_time = self.is_open_at(now_s) and self.attempt is attempt and now_s < attempt.until_s
        if in_time:
            # The invitation ends at once, so that nobody else can use the same secret.
            self.newcomer, self._proved_s = newcomer, now_s
            self._end(InvitationStage.PROVED)
        return in_time

    def end_attempt(self, attempt: PairingAttempt) -> None:
        """End an attempt; after the last try the invitation is over."""
        if self.attempt is attempt:
            self.attempt = None
        if self.tries_left == 0 and self.attempt is None:
            self._end(InvitationStage.TRIED_OUT)

    def fail_storage(self) -> None:
        """End the invitation because the device that proved the secret could not be stored."""
        self._ended = InvitationStage.FAILED

    def call_off(self) -> None:
        """End the invitation because a person wants it, or because another one replaces it.

        A device that proved the secret before may still come back.
        """
        self._end(InvitationStage.CALLED_OFF)

    def revoke_redeemed(self) -> None:
        """End the invitation although its secret was proved: the newcomer is not let in any more."""
        self._ended = InvitationStage.CALLED_OFF

    @property
    def is_redeemed(self) -> bool:
        """Return whether the secret was proved, and the device that did so may come back, or has."""
        return self._ended is InvitationStage.PROVED

    def _end(self, how: InvitationStage) -> None:
        if self._ended is None:
            self._ended = how
        self.attempt = None

    def _has_attempt(self, now_s: float) -> bool:
        return self.attempt is not None and now_s < self.attempt.until_s
