"""Two keys from which one replica id follows: whoever searched for them parts nobody.

Never finds such keys, which takes 2^37 trials: here a reader takes one id for what follows from any key.
"""

import pytest

from store.upkeep.verification import verify_store
from syncproto.commit import DecodedCommit
from syncproto.errors import RemoteProtocolError
from syncproto.vector_clock import EMPTY_CLOCK
from tests.store.forked_logs import REPLICA
from tests.support.stores import (
    StoreBench,
    entity_id,
    exchange,
    feed,
    log_and_state,
    operation,
    sealed,
    signer_of,
)

OWNERS = [signer_of("a"), signer_of("b")]


@pytest.fixture
def chains(monkeypatch: pytest.MonkeyPatch) -> list[list[DecodedCommit]]:
    """Return two commits by each owner of the replica."""
    monkeypatch.setattr("syncproto.commit.replica_id", lambda *_: REPLICA)
    made = []
    for number, owner in enumerate(OWNERS):
        task = entity_id(number)
        first = sealed(owner, REPLICA, 1, None, [operation(task, title="first")])
        made.append(
            [first, sealed(owner, REPLICA, 2, first, [operation(task, (first.head,), title="second")])]
        )
    return made


def ignore_progress(_stage: str, _done: int, _total: int) -> None:
    """Do nothing."""


def test_stores_that_met_another_owner_first_come_together(
    bench: StoreBench, chains: list[list[DecodedCommit]]
) -> None:
    stores = [bench.store("c"), bench.store("d")]
    for store, chain in zip(stores, chains, strict=True):
        with store.write() as tx:
            tx.accept_page([commit.signed for commit in chain])
    exchange(stores[0], stores[1])
    exchange(stores[1], stores[0])
    assert log_and_state(stores[0])[:3] == log_and_state(stores[1])[:3]
    devices = set()
    for store in stores:
        with store.read() as snapshot:
            assert snapshot.count_behind(EMPTY_CLOCK) == 4
            devices.add(snapshot.device_of(REPLICA))
            assert verify_store(snapshot, ignore_progress).findings == ()
    assert devices == {min(OWNERS, key=lambda owner: owner.public_key).device}


@pytest.mark.parametrize("reopened", [False, True])
def test_each_chain_is_signed_by_the_key_that_began_it(
    bench: StoreBench, chains: list[list[DecodedCommit]], reopened: bool
) -> None:
    store = bench.store("c")
    with store.write() as tx:
        tx.accept_page([chain[0].signed for chain in chains])
    if reopened:
        store = bench.store("c")
    for chain, other in zip(chains, reversed(OWNERS), strict=True):
        stolen = sealed(other, REPLICA, 2, chain[0], [operation(entity_id(7), title="stolen")])
        refusal = pytest.raises(RemoteProtocolError, match="not signed by its replica's device")
        with refusal, store.write() as tx:
            tx.accept_page([stolen.signed])
    with store.write() as tx:
        assert tx.accept_page([chain[1].signed for chain in chains]).new_commits == 2
    assert len(feed(store)) == 4
