"""The history of decisions: which decisions it contains, and what it shows of each.

Never expects a record for a decision that nobody made.
"""

from typing import Any

import msgspec
import pytest

from daemon.agents.deciding.decision_history import DecisionRecord, list_decisions
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import confirm, reject, reopen, undo
from tests.support.fleet import DAY_MS, Fleet, Home


def history(home: Home, **which: Any) -> list[DecisionRecord]:
    fields: dict[str, Any] = {"limit": 100, **which}
    return home.read(lambda snapshot: list_decisions(snapshot, home.now_ms(), **fields))


def test_a_line_tells_who_said_what_when_where_and_why(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    reject(a, item, "I know better")
    (line,) = history(a)
    occurrence, decision = a.item(item).occurrences[0], a.item(item).decisions[0]
    assert msgspec.to_builtins(line) == {
        "seq": a.read(lambda snapshot: snapshot.feed_end()),
        "decision_id": id_to_text(decision.id),
        "item_id": id_to_text(item),
        "task_id": id_to_text(task),
        "task_title": "Write the report",
        "agent_id": id_to_text(occurrence.agent),
        "tool": "update_task_estimate",
        "args": {"minutes": 120},
        "subject": None,
        "summary": "Set estimate to 120 minutes",
        "verdict": "rejected",
        "by": "user",
        "device": a.signer.device.hex(),
        "device_name": "",
        "at": "2026-03-20T09:46:40.000Z",
        "reason": "I know better",
        "via": "cli",
        "edited_args": None,
        "counts": True,
        "status": "rejected",
        "disputed": False,
        "without_effect": False,
        "can_take_effect": True,
        "question": None,
        "answer": None,
        "lacks": None,
        "agent_reason": None,
        "evidence": [],
        "notes": None,
        "is_ask": False,
        "rule": None,
    }


def test_the_newest_comes_first_with_what_became_of_its_item_since(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item, edit={"minutes": 90})
    undo(a, item)
    reopen(a, item)
    assert [(decision.verdict, decision.counts, decision.edited_args) for decision in history(a)] == [
        ("reopened", True, None),
        ("undone", False, None),
        ("confirmed", False, {"minutes": 90}),
    ]
    assert {decision.status for decision in history(a)} == {"pending"}


def test_a_device_is_told_by_its_name(a: Home, task: EntityId) -> None:
    a.enter_device("laptop")
    confirm(a, a.estimate(task, 120))
    assert history(a)[0].device_name == "laptop"


def test_decisions_of_two_devices_are_told_on_both_with_the_dispute(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(a, item)
    reject(b, item)
    fleet.sync()
    for home in (a, b):
        assert {
            (decision.verdict, decision.device, decision.counts, decision.disputed)
            for decision in history(home)
        } == {
            ("confirmed", a.signer.device.hex(), True, True),
            ("rejected", b.signer.device.hex(), True, True),
        }


def test_what_an_agent_took_back_is_told_as_the_agents_and_counts_no_more_after_a_persons(
    a: Home, task: EntityId
) -> None:
    item = a.estimate(task, 120)
    retract(a, task, item)
    assert [(decision.verdict, decision.by, decision.counts) for decision in history(a)] == [
        ("retracted", "agent", True)
    ]
    confirm(a, item, again=True)
    assert [(decision.verdict, decision.by, decision.counts) for decision in history(a)] == [
        ("confirmed", "user", True),
        ("retracted", "agent", False),
    ]


def test_pages_and_tasks_are_asked_for(a: Home, task: EntityId) -> None:
    other = a.new("task", title="Something else")
    items = [a.estimate(task, 120, "one"), a.estimate(other, 30, "two"), a.add(task, "Buy paper", "three")]
    for item in items:
        reject(a, item)
    newest, *_ = page = history(a, limit=1)
    assert len(page) == 1
    assert [decision.item_id for decision in history(a, before=newest.seq)] == [
        id_to_text(identifier) for identifier in items[1::-1]
    ]
    assert [decision.item_id for decision in history(a, task="Something else")] == [id_to_text(items[1])]
    with pytest.raises(Refused) as refused:
        history(a, task="nothing so called")
    assert refused.value.code is RefusalCode.NOT_FOUND


def test_the_decisions_on_a_removed_task_are_still_told(a: Home, task: EntityId) -> None:
    reject(a, a.estimate(task, 120))
    a.set(task, deleted=True)
    assert len(history(a, task=id_to_text(task))) == 1


def test_what_nobody_decided_is_no_decision(fleet: Fleet, a: Home, task: EntityId) -> None:
    a.estimate(task, 120)
    fleet.now_ms += 30 * DAY_MS
    assert history(a) == []


@pytest.mark.parametrize(
    "proposed",
    [
        {"tool": "launch_rocket", "args": {"where": b"\x00" * 16}},
        {"tool": "update_task_estimate", "args": {"minutes": {"a": [1, b"x"]}}},
        {"tool": "set_task_title", "args": "no map"},
        {"args": {"title": 7}},
    ],
)
def test_a_decision_on_what_this_version_cannot_read_is_told_all_the_same(
    a: Home, task: EntityId, proposed: dict[str, Any]
) -> None:
    def hostile(tx: Transaction) -> EntityId:
        item = tx.new_id()
        fields: dict[str, Any] = {"task_id": task, "items": [{"item_id": item, **proposed}]}
        tx.commit([EntityWrite(tx.new_id(), "change_set", fields)], by=AuthorKind.AGENT)
        return item

    item = a.write(hostile)
    reject(a, item)
    (line,) = history(a)
    assert (line.item_id, line.verdict) == (id_to_text(item), "rejected")
    assert msgspec.json.encode(line)


def retract(home: Home, task: EntityId, item: EntityId) -> None:
    """Retract an item as its agent does."""
    agent = derived_id("agent", id_to_text(task), time_of=task)

    def use(tx: Transaction) -> None:
        fields: dict[str, Any] = {"item_id": item, "verdict": "retracted", "seen": []}
        tx.commit([EntityWrite(tx.new_id(), "decision", fields)], by=AuthorKind.AGENT, agent=agent)

    home.write(use)
