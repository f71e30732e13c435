"""Commits of a patched member: chains that its key begins and goes on with, in the layout of PROTOCOL.md.

Never checks what it writes, and never draws at random: the same name gives the same chain.
"""

import copy
import hashlib
from dataclasses import dataclass
from typing import Any

from tests.vectors import wire
from tests.vectors.commit_writer import START_MS, name_id, operation
from tests.vectors.semantics import Clock, Head

USER, AGENT, SYSTEM = 2, 1, 0

__all__ = [
    "AGENT",
    "START_MS",
    "SYSTEM",
    "USER",
    "ChainWriter",
    "Clock",
    "Head",
    "WrittenCommit",
    "operation",
]


@dataclass(frozen=True, slots=True)
class WrittenCommit:
    """A commit that is not signed yet: of a run in a page, only the last one needs a signature."""

    owner: wire.Device
    body: bytes
    hash: bytes
    replica: bytes
    counter: int
    previous: bytes

    @property
    def head(self) -> Head:
        """Return the head that it is."""
        return (self.replica, self.counter, self.hash)

    @property
    def signature(self) -> bytes:
        """Return the signature of the chain's owner."""
        return self.owner.key.sign(b"placet commit 1\x00" + self.hash)

    def is_continued_by(self, later: "WrittenCommit | None") -> bool:
        """Say whether another commit goes on from this one."""
        return later is not None and later.replica == self.replica and later.previous == self.hash

    def without_long_values(self) -> "WrittenCommit":
        """Return the same commit with each long value dropped."""
        return WrittenCommit(
            self.owner, wire.redacted(self.body), self.hash, self.replica, self.counter, self.previous
        )


class ChainWriter:
    """A replica of a device, begun under a name."""

    def __init__(self, owner: wire.Device, name: str) -> None:
        self.owner = owner
        nonce = hashlib.sha256(f"hostile {name}".encode()).digest()
        self._public_key = owner.public_key
        self.replica = wire.replica_id(START_MS, self._public_key, nonce)
        self.counter = 0
        self.previous = nonce
        self.ms = START_MS

    @property
    def tip(self) -> Clock:
        """Return the clock that covers all that the chain has."""
        return [(self.replica, self.counter, self.previous)] if self.counter else []

    def branch(self) -> "ChainWriter":
        """Return a copy that goes on from the same commit: a fork, once both have written."""
        return copy.copy(self)

    def write(
        self, *operations: list[Any], by: int = USER, agent: bytes | None = None, stamp: Any = None
    ) -> WrittenCommit:
        """Write the next commit; a stamp is [ms, n]."""
        self.ms += 10
        self.counter += 1
        key = self._public_key if self.counter == 1 else None
        layout = [2, self.replica, self.counter, self.previous, stamp or [self.ms, 0], [by, agent], key]
        body = wire.pack([*layout, list(operations)])
        written = WrittenCommit(
            self.owner, body, wire.hash_of(body), self.replica, self.counter, self.previous
        )
        self.previous = written.hash
        return written


def entity_id(*name: object) -> bytes:
    """Make the id of an entity from words and numbers."""
    return name_id("/".join(map(str, name)))
