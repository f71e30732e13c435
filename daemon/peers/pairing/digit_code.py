"""The one-time code of pairing, six digits as in `493-027`, and how often each code was tried from here.

Never used outside SPAKE2: six digits could be guessed offline, so each try must cost one of three attempts.
"""

import hashlib
import re
from collections.abc import Callable

from daemon.peers.pairing.invitation import TRIES_MAX
from daemon.refusal import RefusalCode, Refused
from store.sentence import sentence

DIGITS = 6
_SPACE = 10**DIGITS
_DRAWN_BYTES = 4
TRIED_CODES_MAX = 256
# The largest multiple of the number of codes: larger draws would make some codes likelier.
_FAIR = (1 << 8 * _DRAWN_BYTES) // _SPACE * _SPACE
_WRITTEN = re.compile(r"\s*([0-9]{3})[\s-]*([0-9]{3})\s*")


def draw(randomness: Callable[[int], bytes]) -> str:
    """Return a new code such as `493-027`, each as likely as any other; `randomness` gives so many bytes."""
    while True:
        drawn = int.from_bytes(randomness(_DRAWN_BYTES), "big")
        if drawn < _FAIR:
            digits = f"{drawn % _SPACE:0{DIGITS}}"
            return f"{digits[:3]}-{digits[3:]}"


def read(text: str) -> str | None:
    """Return the code that a person typed, in the form of `draw`; None if the text is no code."""
    match = _WRITTEN.fullmatch(text)
    return None if match is None else f"{match[1]}-{match[2]}"


def secret(code: str) -> bytes:
    """Return the bytes that both sides put into SPAKE2; `code` has the form that `draw` and `read` return."""
    return b"placet code\0" + code.encode("ascii")


class TriedCodes:
    """Counts how often each code was tried from this device, as the inviter counts its own.

    The inviter cannot count a try that another device answered. This count allows such a device three guesses
    at most.
    """

    def __init__(self) -> None:
        # In the order of the last try: the codes that were tried longest ago are forgotten first. The keys
        # are hashes, so that no code is kept.
        self._tries: dict[bytes, int] = {}

    def require_try_left(self, secret: bytes) -> None:
        """Raise Refused if no try is left."""
        key = _hash(secret)
        if self._tries.get(key, 0) >= TRIES_MAX:
            # Moved to the end: a code that is still being tried must not be forgotten.
            self._tries[key] = self._tries.pop(key)
            raise Refused(
                RefusalCode.FORBIDDEN,
                sentence(
                    "code-tried-out", "this code was tried three times from here, and is no longer valid"
                ),
                sentence("new-invitation-there", "make a new invitation there: placet pair"),
            )

    def charge_try(self, secret: bytes) -> None:
        """Count one try, before the frame is sent that tests the code. Raises Refused if none is left."""
        self.require_try_left(secret)
        key = _hash(secret)
        self._tries[key] = self._tries.pop(key, 0) + 1
        if len(self._tries) > TRIED_CODES_MAX:
            del self._tries[next(iter(self._tries))]


def _hash(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()
