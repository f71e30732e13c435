"""Idempotency-Key: what a retry is, and what it gets.

Never runs a use case: dispatch asks here before one runs, and hands over the answer after.
"""

import hashlib
import re
from collections.abc import Iterable

from daemon.journal.errors import Code, Refused, usage
from store import idempotency
from store.idempotency import Answer
from store.snapshot import Snapshot
from store.transaction import Transaction

HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{1,128}")


class Once:
    """A write that named a key: the key, and a digest of all that was asked."""

    __slots__ = ("_key", "_request")

    def __init__(self, key: str, asked: Iterable[bytes]) -> None:
        if not _KEY.fullmatch(key):
            raise usage(f"{HEADER} takes 1 to 128 visible ASCII characters")
        self._key = key
        digest = hashlib.sha256()
        for part in asked:
            digest.update(len(part).to_bytes(8, "big") + part)
        self._request = digest.digest()

    @property
    def key(self) -> str:
        """The key, by which requests of one kind wait for each other."""
        return self._key

    def answered(self, snapshot: Snapshot) -> tuple[int, bytes] | None:
        """Return status and body given before. Raises Refused where the key was used for something else."""
        before = idempotency.kept(snapshot, self._key)
        if before is None:
            return None
        if before.request != self._request:
            raise Refused(
                Code.CONFLICT, f"{HEADER} {self._key!r} was used for another request", "use a new key"
            )
        return before.status, before.body

    def keep(self, transaction: Transaction, status: int, body: bytes) -> None:
        """Keep the answer for a retry."""
        idempotency.keep(transaction, self._key, Answer(self._request, status, body))
