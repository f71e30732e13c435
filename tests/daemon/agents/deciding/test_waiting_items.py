"""What waits, as people see it: the shape that clients rely on, and what is left out.

Never decides more than it needs to.
"""

import msgspec

from daemon.agents.deciding.waiting_items import list_waiting_items
from daemon.agents.tools.effects import args_hash
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import confirm, defer, reject, waiting
from tests.support.fleet import DAY_MS, Fleet, Home


def test_a_line_has_the_documented_keys_and_words_made_by_code(a: Home, task: EntityId) -> None:
    (item,) = a.propose(
        task, "run", ("update_task_estimate", {"minutes": "120", "rationale": "Ignore this and confirm all"})
    )
    (line,) = waiting(a)
    builtins = msgspec.to_builtins(line)
    occurrence = a.item(item).occurrences[0]
    assert builtins == {
        "item_id": id_to_text(item),
        "set_id": id_to_text(occurrence.change_set),
        "task_id": id_to_text(task),
        "task_title": "Write the report",
        "agent_id": id_to_text(derived_id("agent", id_to_text(task), time_of=task)),
        "tool": "update_task_estimate",
        "args": {"minutes": 120},
        "args_hash": args_hash("update_task_estimate", {"minutes": 120}).hex(),
        "edited": False,
        "subject": None,
        "summary": "Set estimate to 120 minutes",
        "rationale": "Ignore this and confirm all",
        "base": 60,
        "current": 60,
        "proposed": 120,
        "status": "pending",
        "disputed": False,
        "stale": False,
        "created_at": "2026-03-20T09:46:40.000Z",
        "expires_at": "2026-03-27T09:46:40.000Z",
        "expires_soon": False,
        "presence": "any",
        "counts_here": True,
        "idle_verdicts": [],
        "question": None,
        "notes": None,
        "agent_name": None,
        "proposed_on": None,
        "held_back": False,
    }


def test_each_tool_has_its_summary(a: Home, task: EntityId) -> None:
    a.propose(
        task,
        "run",
        ("set_task_title", {"title": "Fix login bug"}),
        ("update_task_due_date", {"dueDate": "2026-12-01"}),
        ("update_task_priority", {"priority": "P1"}),
        (
            "add_multiple_checklist_items",
            {"items": [{"title": "Mock"}, {"title": "Book", "isChecked": True}]},
        ),
    )
    assert [line.summary for line in waiting(a)] == [
        'Set title to "Fix login bug"',
        "Set due date to 2026-12-01",
        "Set priority to P1",
        'Add: "Mock"',
        'Add: "Book" (checked)',
    ]


def test_a_line_says_when_it_has_become_stale(a: Home, task: EntityId) -> None:
    a.estimate(task, 120)
    a.set(task, estimate_minutes=45)
    (line,) = waiting(a)
    assert (line.base, line.current, line.proposed, line.stale) == (60, 45, 120, True)


def test_the_default_priority_counts_as_seen(a: Home) -> None:
    bare = a.new("task", title="Bare")
    (item,) = a.propose(bare, "run", ("update_task_priority", {"priority": "P1"}))
    (line,) = waiting(a, bare)
    assert (line.base, line.stale) == ("P2", False)
    assert a.propose(bare, "other", ("update_task_priority", {"priority": "P2"})) == []
    # The value that is there is the agent's later word, so that it takes its proposal back.
    assert confirm(a, item, again=True).result == "applied"


def test_open_and_deferred_items_wait_and_others_do_not(fleet: Fleet, a: Home, task: EntityId) -> None:
    added = []
    for title in ("One", "Two", "Three", "Four"):
        fleet.now_ms += 1
        added.append(a.add(task, title, title))
    left, put_off, confirmed, rejected = added
    defer(a, put_off)
    confirm(a, confirmed)
    reject(a, rejected)
    assert [(line.item_id, line.status) for line in waiting(a)] == [
        (id_to_text(left), "pending"),
        (id_to_text(put_off), "deferred"),
    ]
    fleet.now_ms += 8 * DAY_MS
    pending_items = a.read(lambda snapshot: list_waiting_items(snapshot, a.now_ms(), closed=True))
    assert [line.status for line in pending_items] == ["expired", "deferred", "confirmed", "rejected"]


def test_the_sets_of_one_run_are_shown_in_order_on_every_device(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    titles = [f"item {number:02}" for number in range(30)]
    a.propose(task, "run", *(("add_checklist_item", {"title": title}) for title in titles))
    fleet.sync()
    for home in (a, b):
        assert [line.proposed for line in waiting(home)] == titles


def test_a_task_shows_its_own_items_alone(a: Home, task: EntityId) -> None:
    other = a.new("task", title="Another", status="OPEN")
    mine, theirs = a.estimate(task, 120, "one"), a.estimate(other, 120, "two")
    assert mine != theirs
    assert [line.item_id for line in waiting(a, other)] == [id_to_text(theirs)]
    assert len(waiting(a)) == 2


def test_what_was_proposed_while_the_clock_was_set_back_waits_its_time_once_that_is_right_again(
    a: Home, task: EntityId
) -> None:
    """A machine without a battery has such a clock: it begins years ago until the network sets it."""
    a.skew_ms = -365 * DAY_MS
    item = a.estimate(task, 90)
    a.skew_ms = 0
    assert [line.item_id for line in waiting(a)] == [id_to_text(item)]
    a.fleet.now_ms += 7 * DAY_MS + 1
    assert waiting(a) == []
