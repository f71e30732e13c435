"""Pages of the feed for a peer: what it lacks, in feed order, cut where every run ends in a signature.

Never writes.
"""

from typing import NamedTuple

from store.log import Log
from syncproto.commit import SignedCommit
from syncproto.heads import Clock
from syncproto.ids import ReplicaId

COMMIT_OVERHEAD_BYTES = 16


class FeedPage(NamedTuple):
    """Commits for a peer; all it lacks up to feed position `end` is in this page or was in an earlier one.

    `whole`: it was not cut, so that beyond it the feed holds nothing yet.
    """

    commits: list[SignedCommit]
    end: int
    whole: bool


def page(log: Log, vector: Clock, after: int, bytes_max: int) -> FeedPage:
    """Collect what a peer with this vector lacks beyond a feed position, up to about `bytes_max`.

    A page may end only where the last commit of each chain in it carries a signature; a store takes a page
    as one transaction, so such a place comes within the size of one page.
    """
    commits: list[SignedCommit] = []
    unsigned: set[tuple[ReplicaId, int]] = set()
    size, cut, end = 0, 0, after
    for entry in log.lacking(vector, after):
        size += len(entry.signed.body) + len(entry.signed.signature) + COMMIT_OVERHEAD_BYTES
        if size > bytes_max and cut:
            return FeedPage(commits[:cut], end, whole=False)
        commits.append(entry.signed)
        chain = (entry.head.replica, entry.branch)
        if entry.signed.signature:
            unsigned.discard(chain)
        else:
            unsigned.add(chain)
        if not unsigned:
            cut, end = len(commits), entry.seq
    assert cut == len(commits), "the log ends inside an unsigned run"
    return FeedPage(commits, max(log.end(), after), whole=True)
