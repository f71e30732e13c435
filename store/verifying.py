"""Verification: the whole log is read again and everything that follows from it is held against the tables.

Never writes to the store, and never stops at the first thing that is wrong.
"""

from collections.abc import Callable
from typing import NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction

FINDINGS_MAX = 100

Told = Callable[[str, int, int], None]
"""Called now and then with the stage in plain words ("reading the log"), how far it is, and of how many."""


class Finding(NamedTuple):
    """Something wrong: `what` was seen, `where` (table or commit, with ids), and what to do (`remedy`)."""

    what: str
    where: str
    remedy: str


class Verified(NamedTuple):
    """What was looked at, and what was found: the first findings, and how many more there were."""

    commits: int
    signatures: int
    entities: int
    findings: tuple[Finding, ...]
    more: int

    @property
    def sound(self) -> bool:
        """Say whether nothing was found."""
        return not self.findings


def verify(snapshot: Snapshot, told: Told, findings_max: int = FINDINGS_MAX) -> Verified:
    """Check the whole store on one snapshot, while others write.

    Takes about as long as taking the whole log from a peer; memory is bounded, a temporary file may grow as
    large as the tables. Raises StoreError only where the file cannot be read at all, or no room is left for
    temporary files; everything else is a finding.
    """
    raise NotImplementedError


def rebuild(tx: Transaction, told: Told) -> int:
    """Fold the whole log again, in this one transaction, into tables emptied first; return the entities.

    Mends what `verify` found in the tables. Raises DamagedDatabase where the log itself is damaged: then
    nothing is changed, and a backup or another device has to help.
    """
    raise NotImplementedError
