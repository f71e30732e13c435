"""Compaction: long values that a person's own words have long covered leave the log; what is shown stays.

Never drops what might have to show again, or what another device could still need in full.

Such a commit keeps its hash, its place on the chain and its signature (PROTOCOL.md, Redaction).
"""

from typing import NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.heads import Clock
from syncproto.ids import EntityId

START = EntityId(b"")


class Retention(NamedTuple):
    """What may go: what was written before `before_ms` (Unix time in milliseconds) and others hold as well.

    `held` is the version vector that each other current member is known to hold; none for a lone device. A
    member of which nothing is known is the empty clock: then nothing may go.
    """

    before_ms: int
    held: tuple[Clock, ...] = ()


class Freed(NamedTuple):
    """How many values went, from how many commits that had been whole, and how many bytes that saves."""

    commits: int = 0
    values: int = 0
    bytes: int = 0


class Step(NamedTuple):
    """What one step freed; `after` is where the next goes on, None where there is no more to look at."""

    freed: Freed
    after: EntityId | None


def compact(tx: Transaction, retention: Retention, after: EntityId = START) -> Step:
    """Drop what may go from the log, a bounded step of the work in this transaction.

    Call it again, each time in a transaction of its own, with the `after` that it gave, until that is None.
    It may be stopped anywhere and begun again. Nothing that is shown changes, nor the state hash: no commit
    is made, nobody is told.
    """
    raise NotImplementedError


def survey(snapshot: Snapshot, retention: Retention, after: EntityId = START) -> Step:
    """Say what `compact` would free, in the same steps, without writing."""
    raise NotImplementedError
