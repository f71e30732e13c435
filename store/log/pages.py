"""Pages of the feed for a peer: what it lacks, in feed order, cut so that every run ends in a signature.

Never writes to the log.
"""

from collections.abc import Iterable
from typing import NamedTuple

from store.log.commit_log import CommitLog, FeedCommit
from syncproto.commit import SignedCommit
from syncproto.ids import ReplicaId
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock

COMMIT_OVERHEAD_BYTES = 16


class FeedPage(NamedTuple):
    """Commits for a peer: with the pages before it, all that the peer lacks up to feed position `end`.

    If it is `whole`, it was not cut: the feed contains nothing beyond it yet. If it is a page of commits that
    the peer has already, `left` are those for which it had no room; else it is None.
    """

    commits: list[SignedCommit]
    end: int
    whole: bool
    left: VectorClock | None = None


def page_again(log: CommitLog, heads: VectorClock, after: int, bytes_max: int) -> FeedPage:
    """Return a page of commits that the peer has already, as the log has them now; it ends at `after`.

    It has one commit at least, and no more than about `bytes_max`. Commits that the log lacks are left out.
    """
    page: list[SignedCommit] = []
    size = 0
    for index, head in enumerate(heads):
        spellings = log.spellings(head)
        for signed in spellings:
            size += len(signed.body) + len(signed.signature) + COMMIT_OVERHEAD_BYTES
        if page and size > bytes_max:
            return FeedPage(page, after, whole=False, left=heads[index:])
        page += spellings
    return FeedPage(page, after, whole=False, left=EMPTY_CLOCK)


def page_lacking(log: CommitLog, peer: Iterable[Head], after: int, bytes_max: int) -> FeedPage:
    """Return what a peer with these heads lacks beyond a feed position, up to about `bytes_max`.

    A page may end only at a commit up to which the last commit of each chain in it has a signature. A store
    accepts a page in one transaction, so such a commit comes within the size of one page.
    """
    page = _cut_page(log.commits_lacking(peer, after), after, bytes_max)
    return page._replace(end=max(log.feed_end(), after)) if page.whole else page


def page_of_positions(log: CommitLog, positions: Iterable[int], bytes_max: int) -> FeedPage:
    """Return the commits at these feed positions, which ascend, up to about `bytes_max`; it ends at the last.

    Of each chain they are all commits from one on, so that each run can end in a signature.
    """
    return _cut_page(log.entries_at(positions), 0, bytes_max)


def _cut_page(entries: Iterable[FeedCommit], after: int, bytes_max: int) -> FeedPage:
    commits: list[SignedCommit] = []
    unsigned: set[tuple[ReplicaId, int]] = set()
    size, cut, end = 0, 0, after
    for entry in entries:
        size += len(entry.signed.body) + len(entry.signed.signature) + COMMIT_OVERHEAD_BYTES
        # Without a place to cut, the page grows beyond its size: a peer refuses a page whose run ends
        # unsigned.
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
    return FeedPage(commits, end, whole=True)
