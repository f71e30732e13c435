"""What a device alone knows of its peers: kept, brought up to date, bounded and forgotten.

Never opens a connection.
"""

from collections.abc import Callable

import pytest

from store.local import peer_records
from store.local.peer_records import ADDRESSES_MAX, Newcomer, PeerContact
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import EntityWrite, Transaction
from syncproto.ids import DeviceId
from tests.support.stores import NOW_MS, StoreBench, entity_id, signer_of, write

ONE, TWO = DeviceId(b"1" * 32), DeviceId(b"2" * 32)


@pytest.fixture
def store(bench: StoreBench) -> Store:
    return bench.store("a")


def put(store: Store, *steps: Callable[[Transaction], object]) -> None:
    with store.write() as tx:
        for step in steps:
            step(tx)


def addresses(store: Store) -> dict[DeviceId, list[str]]:
    with store.read() as snapshot:
        return peer_records.peer_addresses(snapshot)


def newcomers(store: Store, now_ms: int = NOW_MS) -> list[Newcomer]:
    with store.read() as snapshot:
        return peer_records.pending_newcomers(snapshot, now_ms)


def test_of_each_peer_it_is_known_when_it_was_heard_last_and_what_it_held(store: Store) -> None:
    vector = (write(store, entity_id(1), title="t"),)
    put(
        store,
        lambda tx: peer_records.record_contact(tx, ONE, (), 1),
        lambda tx: peer_records.record_contact(tx, TWO, vector, 2),
    )
    put(store, lambda tx: peer_records.record_contact(tx, ONE, vector, 3))
    with store.read() as snapshot:
        assert peer_records.peer_contacts(snapshot) == {
            ONE: PeerContact(3, vector),
            TWO: PeerContact(2, vector),
        }


def test_the_address_that_was_good_last_comes_first(bench: StoreBench, store: Store) -> None:
    put(
        store,
        lambda tx: peer_records.add_candidate_addresses(tx, ONE, ["b:1", "a:1", "b:1"]),
        lambda tx: peer_records.add_candidate_addresses(tx, TWO, ["c:1"]),
    )
    assert addresses(store) == {ONE: ["a:1", "b:1"], TWO: ["c:1"]}
    put(store, lambda tx: peer_records.record_working_address(tx, ONE, "b:1"))
    bench.now_ms += 5
    put(store, lambda tx: peer_records.record_working_address(tx, ONE, "new:1"))
    assert addresses(store) == {ONE: ["new:1", "b:1", "a:1"], TWO: ["c:1"]}
    bench.now_ms += 5
    put(
        store,
        lambda tx: peer_records.record_working_address(tx, ONE, "b:1"),
        lambda tx: peer_records.add_candidate_addresses(tx, ONE, ["b:1"]),
    )
    assert addresses(store)[ONE] == ["b:1", "new:1", "a:1"]


def test_only_the_best_addresses_are_kept(bench: StoreBench, store: Store) -> None:
    texts = [f"{place:02}:1" for place in range(2 * ADDRESSES_MAX)]
    put(store, lambda tx: peer_records.add_candidate_addresses(tx, ONE, texts))
    assert addresses(store) == {ONE: texts[:ADDRESSES_MAX]}
    put(store, lambda tx: peer_records.record_working_address(tx, ONE, "good:1"))
    assert addresses(store) == {ONE: ["good:1", *texts[: ADDRESSES_MAX - 1]]}


def newcomer(device: DeviceId, expires_ms: int = NOW_MS + 10, **changed: object) -> Newcomer:
    return Newcomer(device, b"certificate", "desk", ("a:1", "b:2"), expires_ms)._replace(**changed)  # type: ignore[arg-type]


def test_a_newcomer_is_awaited_until_its_time_is_over(bench: StoreBench, store: Store) -> None:
    put(
        store,
        lambda tx: peer_records.add_pending_newcomer(tx, newcomer(TWO)),
        lambda tx: peer_records.add_pending_newcomer(tx, newcomer(ONE)),
    )
    assert newcomers(store) == [newcomer(ONE), newcomer(TWO)]
    renewed = newcomer(ONE, NOW_MS + 20, certificate=b"other", name="lap", addresses=())
    put(store, lambda tx: peer_records.add_pending_newcomer(tx, renewed))
    assert newcomers(store) == [renewed, newcomer(TWO)]
    assert newcomers(store, NOW_MS + 10) == [renewed]
    bench.now_ms += 20
    late = newcomer(TWO, NOW_MS + 30)
    put(store, lambda tx: peer_records.add_pending_newcomer(tx, late))
    assert newcomers(store) == [late]


def test_a_device_that_came_in_or_went_is_awaited_no_longer(store: Store) -> None:
    put(
        store,
        lambda tx: peer_records.add_pending_newcomer(tx, newcomer(ONE)),
        lambda tx: peer_records.add_pending_newcomer(tx, newcomer(TWO)),
        lambda tx: peer_records.add_candidate_addresses(tx, ONE, ["a:1"]),
        lambda tx: peer_records.add_candidate_addresses(tx, TWO, ["b:1"]),
    )
    settled: list[bool] = []
    for _ in range(2):
        put(store, lambda tx: settled.append(peer_records.remove_pending_newcomer(tx, ONE)))
    assert settled == [True, False]
    assert newcomers(store) == [newcomer(TWO)]
    assert addresses(store).keys() == {ONE, TWO}
    put(store, lambda tx: peer_records.forget_addresses(tx, TWO))
    assert newcomers(store) == []
    assert addresses(store) == {ONE: ["a:1"]}


def test_all_that_are_awaited_are_forgotten_at_once(store: Store) -> None:
    put(
        store,
        *[
            lambda tx, element=device: peer_records.add_pending_newcomer(tx, newcomer(element))
            for device in (ONE, TWO)
        ],
    )
    put(store, peer_records.clear_pending_newcomers)
    assert newcomers(store) == []


def test_the_listeners_port_is_the_one_kept_last(store: Store) -> None:
    def port(snapshot: Snapshot) -> int:
        return peer_records.listener_port(snapshot)

    with store.write() as tx:
        result = [port(tx)]
        for remaining in (4000, 5000):
            peer_records.store_listener_port(tx, remaining)
            result.append(port(tx))
    assert result == [0, 4000, 5000]


def test_the_roster_alone_is_no_journal(store: Store) -> None:
    with store.write() as tx:
        result = [peer_records.holds_journal(tx)]
        tx.commit([EntityWrite(entity_id(1), "device", {"name": signer_of("a").device.hex()})])
        result.append(peer_records.holds_journal(tx))
        tx.commit([EntityWrite(entity_id(2), "task", {"title": "t"})])
        result.append(peer_records.holds_journal(tx))
    assert result == [False, False, True]


def test_since_when_a_member_is_seen_is_kept_with_its_mark_until_it_is_forgotten(store: Store) -> None:
    def admissions() -> dict[DeviceId, tuple[bytes, int]]:
        with store.read() as snapshot:
            return peer_records.admissions_seen(snapshot)

    # What a mark is made of is nothing to this table, so none can be damaged.
    put(
        store,
        lambda tx: peer_records.record_admission(tx, ONE, b"", 7),
        lambda tx: peer_records.record_admission(tx, TWO, b"\xff", 8),
    )
    assert admissions() == {ONE: (b"", 7), TWO: (b"\xff", 8)}
    put(
        store,
        lambda tx: peer_records.record_admission(tx, ONE, b"again", 9),
        lambda tx: peer_records.forget_admission(tx, TWO),
    )
    assert admissions() == {ONE: (b"again", 9)}


def test_a_peer_whose_state_differs_is_kept_as_such_until_it_does_not(store: Store) -> None:
    put(
        store,
        lambda tx: peer_records.record_divergence(tx, ONE, 7),
        lambda tx: peer_records.record_divergence(tx, TWO, 8),
    )
    with store.read() as snapshot:
        assert peer_records.divergence_starts_ms(snapshot) == {ONE: 7, TWO: 8}
    put(
        store,
        lambda tx: peer_records.record_divergence(tx, ONE, 9),
        lambda tx: peer_records.record_divergence(tx, TWO, None),
    )
    with store.read() as snapshot:
        assert peer_records.divergence_starts_ms(snapshot) == {ONE: 9}
