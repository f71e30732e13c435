"""How often a code was tried from here, so that who answers in the inviter's place has few guesses at it.

Never keeps a code itself, nor forgets one that may still be good.
"""

import hashlib

from daemon.journal.errors import Code, Refused
from daemon.peers.invitation import TRIES_MAX

KEPT_MAX = 256


class TriedCodes:
    """Counts the tries of each code, as the inviter does: that one hears of none that another answered."""

    def __init__(self) -> None:
        # By the time of the last try: those that were tried longest ago make room.
        self._tries: dict[bytes, int] = {}

    def require(self, secret: bytes) -> None:
        """Raise Refused where no try is left."""
        name = _name(secret)
        if self._tries.get(name, 0) >= TRIES_MAX:
            # Whoever goes on trying it keeps it from being forgotten.
            self._tries[name] = self._tries.pop(name)
            seen = "this code was tried three times from here, and is worth nothing now"
            raise Refused(Code.FORBIDDEN, seen, "make a new invitation there: placet pair")

    def charge(self, secret: bytes) -> None:
        """Take one try, before that is sent which tests it. Raises Refused where none is left."""
        self.require(secret)
        name = _name(secret)
        self._tries[name] = self._tries.pop(name, 0) + 1
        if len(self._tries) > KEPT_MAX:
            del self._tries[next(iter(self._tries))]


def _name(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()
