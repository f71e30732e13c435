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


class Denial(StrEnum):
    """Why no try is given; the words go to the other side."""

    CLOSED = "no invitation is open"
    BUSY = "another device is pairing at this moment"


class Stage(StrEnum):
    """How far an invitation has got. Only an open one has a next stage; `proved` is its good end.

    `away`: the device that proved the secret has not come back for a while. It still may. `failed`: it could
    not be kept here; the secret is proved only once, so that ends the invitation too.
    """

    OPEN = "open"
    PROVED = "proved"
    AWAY = "away"
    FAILED = "failed"
    TRIED_OUT = "tried_out"
    CALLED_OFF = "called_off"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One charged try, and the monotonic moment until which it may go on."""

    number: int
    until_s: float


@dataclass(slots=True)
class Invitation:
    """One offer to join. `opened_s` is monotonic, `expires_ms` Unix time for people to read.

    `newcomer` is the device that proved the secret.
    """

    secret: bytes
    opened_s: float
    expires_ms: int
    name: str = ""
    lifetime_s: float = LIFETIME_S
    tries_left: int = TRIES_MAX
    attempt: Attempt | None = None
    newcomer: DeviceId | None = None
    _ended: Stage | None = None
    _proved_s: float = 0.0

    def open(self, now_s: float) -> bool:
        """Say whether a try could still succeed: one that is under way, or one that is left."""
        within = 0 <= now_s - self.opened_s < self.lifetime_s
        return within and self._ended is None and (self.tries_left > 0 or self._busy(now_s))

    def stage(self, now_s: float) -> Stage:
        """Return how far it has got."""
        if self._ended is Stage.PROVED and now_s - self._proved_s >= RETURN_S:
            return Stage.AWAY
        if self._ended is not None:
            return self._ended
        if self.open(now_s):
            return Stage.OPEN
        return Stage.TRIED_OUT if self.tries_left == 0 else Stage.EXPIRED

    def charge(self, now_s: float) -> Attempt | Denial:
        """Take one try and begin an attempt; say why not, where there is none to take."""
        if not self.open(now_s):
            return Denial.CLOSED
        if self._busy(now_s):
            return Denial.BUSY
        self.tries_left -= 1
        self.attempt = Attempt(TRIES_MAX - self.tries_left, now_s + ATTEMPT_S)
        return self.attempt

    def redeem(self, attempt: Attempt, now_s: float, newcomer: DeviceId) -> bool:
        """Use the invitation up for an attempt that proved the secret; False where it came too late."""
        in_time = self.open(now_s) and self.attempt is attempt and now_s < attempt.until_s
        if in_time:
            self.newcomer, self._proved_s = newcomer, now_s
            self._end(Stage.PROVED)
        return in_time

    def failed(self, attempt: Attempt) -> None:
        """End an attempt; after the last try the invitation is over."""
        if self.attempt is attempt:
            self.attempt = None
        if self.tries_left == 0 and self.attempt is None:
            self._end(Stage.TRIED_OUT)

    def not_kept(self) -> None:
        """Note that the device that proved the secret could not be kept, and was let go."""
        self._ended = Stage.FAILED

    def call_off(self) -> None:
        """End the invitation because a person says so, or because another takes its place.

        It leaves alone who proved the secret before.
        """
        self._end(Stage.CALLED_OFF)

    def take_back(self) -> None:
        """End the invitation although its secret was proved: who did so was sent away."""
        self._ended = Stage.CALLED_OFF

    @property
    def stands(self) -> bool:
        """Say whether the secret was proved, and the device that did so may come back, or has."""
        return self._ended is Stage.PROVED

    def _end(self, how: Stage) -> None:
        if self._ended is None:
            self._ended = how
        self.attempt = None

    def _busy(self, now_s: float) -> bool:
        return self.attempt is not None and now_s < self.attempt.until_s
