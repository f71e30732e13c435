"""The list of all that waits is made once per feed position: whoever reads it gets what a fresh one would be.

Never measures how much that saves: `python -m bench inbox` does.
"""

from random import Random

import pytest

from daemon.agents.deciding.urgency import SOON_MS
from daemon.agents.deciding.waiting_items import PendingItem, list_waiting_items
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_from_text
from tests.support.decision_verbs import confirm, defer, reject, waiting
from tests.support.fleet import DAY_MS, Fleet, Home

_LIFETIME_MS = 7 * DAY_MS
_STEPS = 40


def listed(home: Home) -> list[PendingItem]:
    """Return the list that is remembered, which is the one that nothing is remembered for."""

    def both(snapshot: Snapshot) -> tuple[list[PendingItem], list[PendingItem]]:
        now_ms = home.now_ms()
        return list_waiting_items(snapshot, now_ms), list_waiting_items(Snapshot(snapshot.db), now_ms)

    remembered, fresh = home.read(both)
    assert remembered == fresh
    return remembered


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_a_fresh_list_would_be_whatever_happens(fleet: Fleet, a: Home, b: Home, seed: int) -> None:
    random = Random(f"remembered {seed}")
    tasks = [a.new("task", title=f"Task {number}", status="OPEN") for number in range(3)]
    fleet.sync()
    shapes: set[tuple[int, int]] = set()
    for step in range(_STEPS):
        home = random.choice([a, b])
        open_items = [id_from_text(item.item_id) for item in waiting(home)]
        match random.randrange(7):
            case 0 | 1:
                a.add(random.choice(tasks), f"Item {step}", f"run {step}")
            case 2 if open_items:
                random.choice([confirm, reject, defer])(home, random.choice(open_items))
            case 3:
                fleet.now_ms += random.choice([1, DAY_MS, _LIFETIME_MS - SOON_MS])
            case 4:
                fleet.now_ms -= random.choice([1, DAY_MS])
            case 5:
                fleet.sync()
            case _:
                a.set(random.choice(tasks), title=f"Title {step}")
        for device in (a, b):
            lines = listed(device)
            shapes.add((len(lines), sum(line.expires_soon for line in lines)))
    assert len(shapes) > 4


def test_time_alone_changes_it_to_the_millisecond(fleet: Fleet, a: Home, task: EntityId) -> None:
    a.add(task, "Paper", "run")
    start_ms = fleet.now_ms
    for passed_ms, soon in (
        (0, [False]),
        (_LIFETIME_MS - SOON_MS - 1, [False]),
        (_LIFETIME_MS - SOON_MS, [True]),
        (_LIFETIME_MS - 1, [True]),
        (_LIFETIME_MS, []),
        (1, [False]),
    ):
        fleet.now_ms = start_ms + passed_ms
        assert [item.expires_soon for item in listed(a)] == soon, passed_ms


def test_a_transaction_lists_what_it_has_written_and_what_is_undone_is_not_listed(
    a: Home, task: EntityId
) -> None:
    a.add(task, "Paper", "run")
    (before,) = listed(a)

    def rename(tx: Transaction) -> None:
        tx.commit([EntityWrite(task, "task", {"title": "Renamed"})])
        (line,) = list_waiting_items(tx, a.now_ms())
        assert line.task_title == "Renamed"
        raise InterruptedError

    with pytest.raises(InterruptedError):
        a.write(rename)
    assert listed(a) == [before]


def test_whoever_changes_the_list_changes_no_other(a: Home, task: EntityId) -> None:
    a.add(task, "Paper", "run")
    listed(a).clear()
    assert len(listed(a)) == 1
