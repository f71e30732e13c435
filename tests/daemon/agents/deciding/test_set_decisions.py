"""What a verdict on a whole set leaves out, on two devices that decide while apart.

Never checks how a single item is decided on.
"""

from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.deciding.set_decisions import answer_if_left_out
from syncproto.ids import EntityId
from tests.support.decision_verbs import confirm, defer, reject
from tests.support.fleet import DAY_MS, Fleet, Home

CALLS = (
    ("update_task_estimate", {"minutes": 120}),
    ("update_task_due_date", {"dueDate": "2026-05-01"}),
    ("update_task_priority", {"priority": "P1"}),
)


def outcomes(home: Home, items: list[EntityId], identifiers: list[EntityId] | None = None) -> list[str]:
    left = home.write(lambda tx: [answer_if_left_out(tx, item, identifiers) for item in items])
    return ["" if element is None else element.result.value for element in left]


def test_what_another_device_put_off_or_disputes_is_left(fleet: Fleet, a: Home, b: Home, task: EntityId):
    items = a.propose(task, "run", *CALLS)
    fleet.sync()
    estimate, due, _priority = items
    defer(b, estimate)
    reject(b, due)
    confirm(a, due)
    assert outcomes(a, items) == ["", "", ""]
    fleet.sync()
    assert outcomes(a, items) == ["left", "left", ""]
    assert outcomes(b, items) == ["left", "left", ""]


def test_what_was_not_shown_is_left(a: Home, task: EntityId):
    items = a.propose(task, "run", *CALLS)
    assert outcomes(a, items, items[:1]) == ["", "left", "left"]
    assert outcomes(a, items, []) == ["left"] * 3


def test_what_expired_or_has_nothing_left_to_do_is_left_with_its_own_answer(
    fleet: Fleet, a: Home, task: EntityId
):
    items = a.propose(task, "run", *CALLS)
    a.set(task, estimate_minutes=120)
    assert outcomes(a, items) == ["obsolete", "", ""]
    fleet.now_ms += 8 * DAY_MS
    assert outcomes(a, items) == ["obsolete", "expired", "expired"]


def test_what_is_decided_is_left_to_the_verdict_itself(a: Home, task: EntityId):
    items = a.propose(task, "run", *CALLS)
    confirm(a, items[0])
    reject(a, items[1])
    assert outcomes(a, items) == ["", "", ""]
    unknown = a.write(lambda tx: answer_if_left_out(tx, task, None))
    assert unknown is not None
    assert unknown.result is DecisionOutcome.NOT_FOUND
