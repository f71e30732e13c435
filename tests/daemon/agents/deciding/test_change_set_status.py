"""The status of a set as its items are decided, deferred, disputed or left to expire.

Never looks at an item alone: test_decisions does.
"""

import pytest

from daemon.agents.deciding import change_set_status
from daemon.agents.deciding.change_set_status import ChangeSetStatus, ChangeSetSummary
from store.snapshot import Snapshot
from syncproto.ids import EntityId
from tests.support.decision_verbs import confirm, defer, reject, reopen, undo
from tests.support.fleet import DAY_MS, START_MS, Fleet, Home

WEEK_MS = 7 * DAY_MS


@pytest.fixture
def task(a: Home, fleet: Fleet) -> EntityId:
    identifier = a.new("task", title="T", status="OPEN", priority="P2")
    fleet.sync()
    return identifier


def proposed(home: Home, task: EntityId) -> list[EntityId]:
    calls = (("update_task_estimate", {"minutes": 120}), ("set_task_title", {"title": "Better"}))
    return home.propose(task, "run", *calls)


def state(home: Home, item: EntityId, later_ms: int = 0) -> ChangeSetSummary:
    def use(snapshot: Snapshot) -> ChangeSetSummary:
        stored_item = snapshot.item(item)
        assert stored_item is not None
        return change_set_status.change_set_summary(
            snapshot, stored_item.occurrences[0].change_set, home.now_ms() + later_ms
        )

    return home.read(use)


def test_a_set_is_resolved_once_nothing_in_it_is_open(a: Home, task: EntityId):
    first, second = proposed(a, task)
    assert state(a, first).status is ChangeSetStatus.PENDING
    confirm(a, first)
    assert state(a, first).status is ChangeSetStatus.PARTIALLY_RESOLVED
    assert state(a, first).resolved_at is None
    a.fleet.now_ms += 1000
    reject(a, second)
    change_set_summary = state(a, first)
    assert (change_set_summary.status, change_set_summary.resolved_at) == (
        ChangeSetStatus.RESOLVED,
        state(a, second).resolved_at,
    )
    assert [item.status for item in change_set_summary.items] == ["confirmed", "rejected"]
    assert change_set_summary.resolved_at is not None
    assert a.fleet.now_ms > START_MS


def test_taking_a_verdict_back_opens_it_again(a: Home, task: EntityId):
    first, second = proposed(a, task)
    confirm(a, first)
    reject(a, second)
    undo(a, first)
    assert state(a, first).status is ChangeSetStatus.RESOLVED
    reopen(a, first)
    assert state(a, first).status is ChangeSetStatus.PARTIALLY_RESOLVED


def test_what_was_put_off_keeps_a_set_open_and_does_not_expire(a: Home, task: EntityId):
    first, second = proposed(a, task)
    defer(a, first)
    assert state(a, first, WEEK_MS).status is ChangeSetStatus.PENDING
    confirm(a, second)
    assert state(a, first, WEEK_MS).status is ChangeSetStatus.PARTIALLY_RESOLVED


def test_a_set_that_nobody_decided_on_expires_and_one_that_somebody_did_is_resolved(a: Home, task: EntityId):
    first, _ = proposed(a, task)
    assert state(a, first, WEEK_MS - 1).status is ChangeSetStatus.PENDING
    assert state(a, first, WEEK_MS).status is ChangeSetStatus.EXPIRED
    confirm(a, first)
    assert state(a, first, WEEK_MS).status is ChangeSetStatus.RESOLVED


def test_a_dispute_keeps_a_set_open_until_somebody_settles_it(a: Home, b: Home, fleet: Fleet, task: EntityId):
    first, second = proposed(a, task)
    fleet.sync()
    confirm(a, first)
    reject(b, first)
    confirm(a, second)
    fleet.sync()
    assert state(b, first).status is ChangeSetStatus.PARTIALLY_RESOLVED
    assert state(b, first).items[0].disputed
    reject(b, first)
    assert state(b, first).status is ChangeSetStatus.RESOLVED
