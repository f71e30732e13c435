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

    def charge(self, secret: bytes) -> None:
        """Take one try, before anything is sent that tests it. Raises Refused where none is left."""
        name = hashlib.sha256(secret).digest()
        tries = self._tries.pop(name, 0)
        self._tries[name] = min(tries + 1, TRIES_MAX)
        if tries >= TRIES_MAX:
            seen = "this code was tried three times from here, and is worth nothing now"
            raise Refused(Code.FORBIDDEN, seen, "make a new invitation there: placet pair")
        if len(self._tries) > KEPT_MAX:
            del self._tries[next(iter(self._tries))]
