"""Pages that a store accepts or refuses.

Never checks more than that.
"""

from collections.abc import Sequence

import pytest

from store.log.commit_log import CommitLog
from store.store import Store
from syncproto.commit import SignedCommit
from syncproto.errors import RemoteProtocolError
from tests.support.stores import (
    log_and_state,
)


def take(store: Store, page: Sequence[SignedCommit]) -> int:
    with store.write() as tx:
        return tx.accept_page(page).new_commits


def refused(store: Store, page: Sequence[SignedCommit], reason: str) -> None:
    """Check that a page is refused, and that the store and all it remembers are as before."""
    before = log_and_state(store)
    with pytest.raises(RemoteProtocolError, match=reason):
        take(store, page)
    assert log_and_state(store) == before
    with store.read() as snapshot:
        fresh = CommitLog(snapshot.db)
    remembered = store._log
    assert remembered.chains.heads().clock == fresh.chains.heads().clock
    assert remembered.feed_end() == fresh.feed_end()
    assert remembered.chains.replica_ids == fresh.chains.replica_ids
    assert remembered.chains._moved == set()
