"""What a link reads of the store to send: a page of what the peer lacks, and how the store was then.

Never waits: it reads one snapshot.
"""

from daemon.peers.roster import member_records
from store.log.pages import FeedPage
from store.snapshot import Snapshot
from syncproto.ids import DeviceId
from syncproto.session import PageRequest, StoreState

PageRead = tuple[FeedPage, StoreState, bool]
"""A page, the state of the store when it was read, and whether the peer was removed by then."""


def read_page(snapshot: Snapshot, wanted: PageRequest, peer: DeviceId) -> PageRead:
    """Read the page that a session asks for."""
    page = (
        snapshot.page_lacking(wanted.peer_heads, wanted.after, wanted.bytes_max)
        if not wanted.again
        else snapshot.page_again(wanted.again, wanted.after, wanted.bytes_max)
    )
    return page, read_store_state(snapshot), member_records.is_removed(snapshot, peer)


def read_store_state(snapshot: Snapshot) -> StoreState:
    """Return which commits the store has, and the hash of its state."""
    return StoreState(snapshot.heads(), snapshot.state_hash())
