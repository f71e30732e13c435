"""Writers of commits for the vector files: each a replica that goes on from its last commit.

Never draws anything at random: the files must come out the same every time.
"""

import copy
import hashlib
from typing import Any, NamedTuple

from tests.vectors import wire
from tests.vectors.semantics import USER, Clock, Head

START_MS = 1_750_000_000_000


class WrittenCommit(NamedTuple):
    """A commit as it travels, with its head."""

    body: bytes
    signature: bytes
    head: Head

    @property
    def signed(self) -> tuple[bytes, bytes]:
        """Return what a page holds of it."""
        return self.body, self.signature

    def without(self, *names: str) -> "WrittenCommit":
        """Return the same commit without the long values of some fields, or without any."""
        return self._replace(body=wire.redacted(self.body, *names))


def name_id(name: str, ms: int = START_MS) -> bytes:
    """Make an id of a name."""
    return wire.uuid7(ms, hashlib.sha256(name.encode()).digest()[:10])


def operation(
    entity: bytes,
    fields: dict[str, Any],
    *,
    base: Clock = [],  # noqa: B006 — never changed
    kind: str = "task",
    effect: bytes | None = None,
    by: int = USER,
    origin: dict[str, Any] | None = None,
) -> list[Any]:
    """Lay out an operation."""
    return [entity, kind, [list(element) for element in sorted(base)], fields, effect, by, origin]


def decision(
    item: bytes, verdict: str, name: str, *, by: int = USER, seen: tuple[str, ...] = (), **more: Any
) -> list[Any]:
    """Lay out a decision; decisions are named."""
    fields = {"item_id": item, "verdict": verdict, "seen": [name_id(text) for text in seen], **more}
    return operation(name_id(name), fields, kind="decision", by=by)


class CommitWriter:
    """A replica of a device."""

    def __init__(self, device: str) -> None:
        self.device = wire.device(device)
        self.nonce = hashlib.sha256(f"replica of {device}".encode()).digest()
        self.replica = wire.replica_id(START_MS, self.device.public_key, self.nonce)
        self.counter = 0
        self.previous = self.nonce
        self.ms = START_MS

    def branch(self) -> "CommitWriter":
        """Return a copy that goes on from the same commit: a fork, once both have written."""
        return copy.copy(self)

    def usurp(self, owner: "CommitWriter") -> None:
        """Write as another device's replica from now on, and from its start."""
        self.replica, self.counter, self.previous = owner.replica, 0, owner.nonce

    def commit(self, *operations: list[Any], ms: int | None = None, by: int = USER) -> list[Any]:
        """Lay out the next commit without writing it."""
        self.ms = self.ms + 1000 if ms is None else ms
        key = None if self.counter else self.device.public_key
        stamp, author = [self.ms, 0], [by, None]
        return [2, self.replica, self.counter + 1, self.previous, stamp, author, key, list(operations)]

    def write(self, *operations: list[Any], ms: int | None = None, by: int = USER) -> WrittenCommit:
        """Write and sign the next commit."""
        body = wire.pack(self.commit(*operations, ms=ms, by=by))
        self.counter += 1
        self.previous = wire.hash_of(body)
        head = (self.replica, self.counter, self.previous)
        return WrittenCommit(body, wire.signature(self.device, body), head)
