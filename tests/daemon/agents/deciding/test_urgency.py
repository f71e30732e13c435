"""What presses comes first; what runs out is warned of, listed after that, and asked for again.

Never sorts by itself: the order is that of the list.
"""

import pytest

from daemon.agents.deciding.waiting_items import (
    EXPIRED_LISTED_MAX,
    list_expired_items,
    list_expiring_items,
    list_waiting_items,
)
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm, defer, reopen, waiting
from tests.support.fleet import DAY_MS, Fleet, Home

_LIFETIME_MS = 7 * DAY_MS


def expired(home: Home, task: EntityId | None = None) -> list[str]:
    listed = home.read(lambda snapshot: list_expired_items(snapshot, home.now_ms(), task))
    return [item.item_id for item in listed]


def test_what_runs_out_comes_first_then_what_a_due_date_waits_for_then_the_oldest(
    fleet: Fleet, a: Home, b: Home
) -> None:
    """Old: everything came in the order in which it was made."""
    running_out, old, later, sooner, done = (
        a.new("task", title=title, status=status, due=due)
        for title, status, due in (
            ("runs out", "OPEN", None),
            ("old", "OPEN", None),
            ("due later", "OPEN", "2026-12-24"),
            ("due sooner", "IN PROGRESS", "2026-12-01"),
            ("done", "DONE", "2026-01-01"),
        )
    )
    a.add(running_out, "first", "first")
    fleet.now_ms += _LIFETIME_MS - DAY_MS
    for task in (old, done, later, sooner):
        fleet.now_ms += 1
        a.add(task, "one", f"one {id_to_text(task)}")
        a.add(task, "two", f"two {id_to_text(task)}")
    a.add(running_out, "second", "second")
    fleet.sync()
    for home in (a, b):
        listed = waiting(home)
        assert [item.task_title for item in listed[::2]] == [
            "runs out",
            "due sooner",
            "due later",
            "old",
            "done",
        ]
        assert [item.proposed for item in listed[:2]] == ["first", "second"]
        assert [item.expires_soon for item in listed] == [True, *[False] * 9]


def test_whoever_lists_also_what_is_decided_gets_it_in_the_order_of_its_making(
    fleet: Fleet, a: Home, task: EntityId
) -> None:
    pressing = a.new("task", title="Pressing", status="OPEN", due="2026-01-01")
    made = []
    for about, title in ((task, "one"), (pressing, "two")):
        fleet.now_ms += 1
        made.append(id_to_text(a.add(about, title, title)))
    listed = a.read(lambda snapshot: list_waiting_items(snapshot, a.now_ms(), closed=True))
    assert [item.item_id for item in listed] == made


def test_a_day_before_its_end_a_proposal_is_warned_of(fleet: Fleet, a: Home, task: EntityId) -> None:
    item, deferred, confirmed = (a.add(task, title, title) for title in ("One", "Two", "Three"))
    defer(a, deferred)
    confirm(a, confirmed)

    def expiring() -> list[str]:
        listed = a.read(lambda snapshot: list_expiring_items(snapshot, a.now_ms()))
        assert all(item.expires_soon for item in listed)
        return [item.item_id for item in listed]

    fleet.now_ms += _LIFETIME_MS - DAY_MS - 1
    assert expiring() == []
    fleet.now_ms += 1
    assert expiring() == [id_to_text(item)]
    fleet.now_ms += DAY_MS
    assert (expiring(), expired(a)) == ([], [id_to_text(item)])


def test_an_expired_proposal_can_be_asked_for_again(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    """Old: "it is open already" was the answer, and no list had it any more."""
    item = a.add(task, "One", "One")
    other = a.new("task", title="Another", status="OPEN")
    elsewhere = a.add(other, "Two", "Two")
    fleet.now_ms += _LIFETIME_MS
    assert waiting(a) == []
    assert set(expired(a)) == {id_to_text(item), id_to_text(elsewhere)}
    assert expired(a, task) == [id_to_text(item)]
    assert (reopen(a, item).result, reopen(a, item).result) == ("applied", "already")
    fleet.now_ms += 10 * _LIFETIME_MS
    fleet.sync()
    for home in (a, b):
        assert [line.item_id for line in waiting(home)] == [id_to_text(item)]
        assert not waiting(home)[0].expires_soon
        assert expired(home) == [id_to_text(elsewhere)]
    assert confirm(b, item).result == "applied"


def test_what_is_obsolete_is_not_listed_as_expired(fleet: Fleet, a: Home, task: EntityId) -> None:
    a.estimate(task, 120)
    fleet.now_ms += _LIFETIME_MS
    assert len(expired(a)) == 1
    a.set(task, estimate_minutes=120)
    assert expired(a) == []


@pytest.mark.slow
def test_of_very_many_the_last_to_expire_are_listed(fleet: Fleet, a: Home, task: EntityId) -> None:
    items = []
    for number in range(EXPIRED_LISTED_MAX + 5):
        fleet.now_ms += 1
        items.append(id_to_text(a.add(task, f"item {number}", f"run {number}")))
    fleet.now_ms += _LIFETIME_MS
    assert expired(a) == items[: -EXPIRED_LISTED_MAX - 1 : -1]
