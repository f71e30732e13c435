"""What a mailbox is written to for at once, while small changes gather.

Never reads more than the newest commits.
"""

from store.snapshot import Snapshot

URGENT_KINDS = frozenset({"ask", "change_set", "decision", "device", "use"})
"""What somebody waits for: proposals, asks and their verdicts, a use, and who is a member."""
URGENT_COMMITS_READ = 512


def has_urgent_commit(snapshot: Snapshot, after: int) -> bool:
    """Return whether something newly written is or awaits a verdict."""
    # The newest are read: this is asked at every look, and an import is no reason to read it all.
    after = max(after, snapshot.feed_end() - URGENT_COMMITS_READ)
    return any(
        operation.kind in URGENT_KINDS
        for _, received in snapshot.read_feed(after, URGENT_COMMITS_READ)
        for operation in received.commit.operations
    )
