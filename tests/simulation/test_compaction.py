"""Compaction at random times on random devices: no law may notice, and no new device, and no undo.

Never takes a clean run for a proof: with a weaker rule the same histories must fail.
"""

import random
from contextlib import suppress

import pytest

from store.snapshot import Snapshot
from store.store import Store
from store.upkeep import compaction
from store.upkeep.verification import verify_store
from syncproto.codec import Redacted
from syncproto.commit import SignedCommit
from syncproto.keys import Signer
from tests.simulation import laws
from tests.simulation.device import SimulatedDevice
from tests.simulation.fleet import StoreFleet
from tests.simulation.history_generator import (
    SEED,
    WEIGHTS_WITH_FORKS,
    WEIGHTS_WITHOUT_FORKS,
    SimulatedHistory,
    dice_of,
    fleet_of,
    for_each_history,
    random_history,
)
from tests.support.empty_database import lay_empty_database

PADDING = " and more of the same" * 10
OFTEN = {"compacted": 25, "child": 12, "edit": 16, "write page": 5, "open page": 5}
WEAK_HISTORIES = range(30, 90)
"""Those numbered 33, 34, 36 and 42 notice; 2 of 60 notice of some other seeds."""


def live_through(fleet: StoreFleet, history: SimulatedHistory, met: set[str]) -> None:
    """Take the steps of a history with long words; judge every device, and new ones brought up from each."""
    dice, fleet.padding = dice_of(history), PADDING
    for step in history.steps:
        fleet.play(step)
        if dice.random() < 0.15:
            laws.check_laws(fleet.devices[step.device % len(fleet.devices)])
    fleet.sync_all()
    fleet.sync_all()
    for device in fleet.devices:
        laws.check_laws(device)
    assert laws.equal_vectors_equal_states(fleet.devices) == len(fleet.devices) - 1
    met.update(fleet.counts)
    logs = [_log(device) for device in fleet.devices]
    if len({frozenset(commit.body for commit in log) for log in logs}) > 1:
        met.add("compacted on some, not on others")
    with fleet.devices[0].store.read() as snapshot:
        contents = laws.contents(snapshot)
        assert verify_store(snapshot, lambda *_: None).is_sound
    for number, log in enumerate(logs):
        met.update(_brought_up(fleet, f"new{number}", [log], contents, dice))
    met.update(_brought_up(fleet, "mixed", logs, contents, dice))


def _log(device: SimulatedDevice) -> list[SignedCommit]:
    with device.store.read() as snapshot:
        return [entry.signed for entry in snapshot.log.feed_commits(0, 1 << 30)]


def _brought_up(
    fleet: StoreFleet, name: str, logs: list[list[SignedCommit]], stored: laws.Contents, dice: random.Random
) -> set[str]:
    """Bring a new store up, from one log or a page from each in turn; it must show the same."""
    store = Store.open(
        lay_empty_database(fleet.folder / f"{name}.db"),
        signer=Signer(bytes(31) + b"n"),
        now_ms=lambda: 0,
        randomness=bytes,
    )
    met = set()
    while True:
        with store.read() as snapshot:
            vector = snapshot.vector()
        source = fleet.devices[dice.randrange(len(logs)) if len(logs) > 1 else int(name[3:])]
        with source.store.read() as feed:
            page = feed.page_lacking(vector, 0, dice.choice((300, 900, 1 << 20)))
        if not page.commits:
            break
        with store.write() as tx:
            assert tx.accept_page(page.commits).new_commits
    with store.read() as snapshot:
        assert laws.contents(snapshot) == stored, "a new device shows something else"
        laws.refold_is_the_same(snapshot)
        if _dropped(snapshot):
            met.add("a new device brought up without what was dropped")
    store.close()
    return met


def _dropped(snapshot: Snapshot) -> bool:
    return any(
        isinstance(value, Redacted)
        for _, received in snapshot.read_feed(0, 1 << 30)
        for operation in received.commit.operations
        for value in operation.fields.values()
    )


MUST_MEET = {
    "compacted: dropped something",
    "compacted: nothing to drop",
    "compacted on some, not on others",
    "a new device brought up without what was dropped",
    "undo: what it covered shows again",
    "reject: done",
}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_laws_hold_wherever_and_whenever_is_compacted() -> None:
    met: set[str] = set()
    for_each_history(
        WEIGHTS_WITHOUT_FORKS | OFTEN, lambda fleet, history: live_through(fleet, history, met), share=0.7
    )
    assert met >= MUST_MEET, MUST_MEET - met


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_laws_hold_where_replicas_fork_too() -> None:
    met: set[str] = set()
    for_each_history(
        WEIGHTS_WITH_FORKS | OFTEN, lambda fleet, history: live_through(fleet, history, met), share=0.2
    )
    assert "compacted: dropped something" in met


@pytest.mark.slow
def test_the_same_histories_fail_where_anyones_word_would_cover(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "is_direct_user_write", lambda operation: True)
    for number in WEAK_HISTORIES:
        history = random_history(WEIGHTS_WITHOUT_FORKS | OFTEN, f"{SEED}/{number}")
        with suppress(AssertionError), fleet_of(history.skews) as fleet:
            live_through(fleet, history, set())
            continue
        return
    pytest.fail("a rule that loses what an undo brings back was not noticed")
