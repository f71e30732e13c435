"""Seeded simulations: two and three stores over links that break, with clones among them, always converge.

Never fails without its seed in the name of the test.
"""

import random

import pytest

from store.transaction import Transaction
from syncproto.send_window import WINDOW_BYTES_FIRST
from syncproto.vector_clock import Head, VectorClock
from tests.support.stores import first_commits
from tests.syncproto.session_fleet import SessionFleet, Site

STEPS = 120
RECONNECTS_MAX = 40


def live(fleet: SessionFleet, steps: int, size_max: int, clones: int) -> None:
    """Let a fleet write, link, lose links and clone itself."""
    for _ in range(steps):
        fate = fleet.chance.random()
        site, other = fleet.chance.choice(fleet.pairs())
        if fate < 0.15:
            site.write(fleet.chance.choice((1, 1, 2, 5)), fleet.chance.choice((1, 10, size_max)))
        elif fate < 0.25:
            fleet.connect(site, other)
        elif fate < 0.30:
            fleet.cut(site, other)
        elif fate < 0.32 and clones:
            copy = fleet.clone()
            if fleet.chance.random() < 0.7:
                copy.write(fleet.chance.choice((1, 3)), fleet.chance.choice((1, 10, size_max)))
            clones -= 1
        else:
            fleet.step()


def come_together(fleet: SessionFleet, linked: list[tuple[Site, Site]]) -> None:
    """Break everything, link anew, and let all that is left to do happen."""
    for site, other in fleet.pairs():
        fleet.cut(site, other)
    for _ in range(RECONNECTS_MAX):
        faults = fleet.faults
        for site, other in linked:
            fleet.connect(site, other)
        fleet.settle(5000)
        if fleet.faults == faults:
            return
    raise AssertionError("links that always break again")


def check_equal(fleet: SessionFleet) -> None:
    """Fail unless every site holds the same, and every link knows it."""
    standings = [site.standing() for site in fleet.sites]
    assert all(standing == standings[0] for standing in standings), [
        standing.heads.clock for standing in standings
    ]
    for site in fleet.sites:
        for peer, end in site.ends.items():
            assert end.session.is_idle
            with site.store.write() as transaction:
                assert in_step(transaction, end.session.peer_vector)
            other = fleet.sites[peer].ends[site.name]
            compared = end.agreed or other.agreed
            assert compared or len(fleet.sites) > 2, "a link that never compared states"


def in_step(transaction: Transaction, peer_vector: VectorClock) -> bool:
    """Return whether a peer is known to have just what a store has."""
    lag = transaction.count_behind(peer_vector)
    return lag == 0 and all(transaction.log.has_commit(head) for head in peer_vector)


def forks(heads: tuple[Head, ...]) -> int:
    """Return how many heads are there beside the one that each replica has."""
    return len(heads) - len({head.replica for head in heads})


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize(("sites", "clones"), [(2, 0), (3, 0), (2, 1), (3, 2)])
def test_stores_that_write_and_lose_each_other_converge(sites, clones, seed):
    fleet = SessionFleet(seed, sites)
    live(fleet, STEPS, 25_000, clones)
    come_together(fleet, fleet.pairs())
    check_equal(fleet)
    fleet.close()


@pytest.mark.parametrize("seed", range(15))
def test_a_line_of_stores_converges_because_commits_are_passed_on(seed):
    fleet = SessionFleet(seed, 3)
    live(fleet, STEPS, 1000, clones=1)
    come_together(fleet, list(zip(fleet.sites, fleet.sites[1:], strict=False)))
    check_equal(fleet)
    fleet.close()


@pytest.mark.parametrize("seed", range(25))
def test_links_that_hold_bring_everything_without_a_new_greeting(seed):
    """A fork that becomes known on one link must reach the others too, while they stand."""
    fleet = SessionFleet(seed, 2)
    fleet.sites[0].write(2, 10)
    come_together(fleet, fleet.pairs())
    fleet.clone()
    fleet.clone()
    for site in fleet.sites:
        site.write(fleet.chance.randrange(4), 10)
    for listed_site, other in fleet.pairs():
        fleet.connect(listed_site, other)
    for _ in range(40):
        if fleet.chance.random() < 0.1:
            fleet.chance.choice(fleet.sites).write(1, 10)
        fleet.step()
    fleet.settle(5000)
    if fleet.faults:
        come_together(fleet, fleet.pairs())
    check_equal(fleet)
    fleet.close()


def test_the_simulations_meet_forks_and_large_pages():
    met, largest = 0, 0
    for seed in range(16):
        fleet = SessionFleet(seed, 3)
        live(fleet, STEPS, 25_000, clones=2)
        come_together(fleet, fleet.pairs())
        met += forks(fleet.heads()[0])
        largest = max(largest, *(site.largest_page for site in fleet.sites))
        fleet.close()
    assert met >= 3
    assert largest > WINDOW_BYTES_FIRST


@pytest.mark.parametrize("seed", range(5))
def test_a_new_device_gets_a_long_history_in_full_pages(seed):
    fleet = SessionFleet(seed, 2)
    chance = random.Random(seed)
    for _ in range(12):
        fleet.sites[0].write(chance.randrange(1, 20), 20_000)
    come_together(fleet, fleet.pairs())
    check_equal(fleet)
    fleet.close()


@pytest.mark.parametrize("seed", range(10))
def test_stores_that_took_different_replicas_of_an_attacker_converge(seed, monkeypatch):
    """A member begins more replicas than a part of a vector has heads, and gives each store others."""
    part = 16
    monkeypatch.setattr("syncproto.messages.VECTOR_PART_HEADS", part)
    monkeypatch.setattr("syncproto.peer_vector.VECTOR_PART_HEADS", part)
    fleet = SessionFleet(seed, 3)
    start = 0
    for _ in range(4):
        for site in fleet.sites:
            count = fleet.chance.choice((1, part, 2 * part + 1))
            with site.store.write() as transaction:
                transaction.accept_page(
                    [first_commit.signed for first_commit in first_commits(count, first=start)]
                )
            start += count
            site.grew()
        live(fleet, 20, 10, clones=0)
    come_together(fleet, fleet.pairs())
    check_equal(fleet)
    assert len(fleet.heads()[0]) > 2 * part
    fleet.close()
