"""The list of all that waits is made once per feed position: whoever reads it gets what a fresh one would be.

Never measures how much that saves: `python -m bench inbox` does.
"""

from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest

from daemon.agents.deciding import decisions
from daemon.agents.deciding.urgency import SOON_MS
from daemon.agents.deciding.waiting_items import PendingItem, count_waiting_items_of_agent, list_waiting_items
from daemon.agents.person import lifecycle
from daemon.agents.tools.agent_record import agent_id
from daemon.journal.views.lookup import NameLookup
from daemon.refusal import Refused
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.support.agent_queries import set_policy
from tests.support.decision_verbs import confirm, defer, reject, waiting
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.outside import added, proposed
from tests.support.sqlite_steps import steps_of, steps_to_read

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
    set_policy(a, tasks[0], add_task="deferred", kind="task_agent")
    a.new("label", name="Urgent")
    added(a)
    fleet.sync()
    shapes: set[tuple[int, int]] = set()
    for step in range(_STEPS):
        home = random.choice([a, b])
        open_items = [id_from_text(item.item_id) for item in waiting(home)]
        match random.randrange(12):
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
                _change_otherwise(a, tasks, random, step)
        for device in (a, b):
            lines = listed(device)
            shapes.add((len(lines), sum(line.expires_soon for line in lines)))
    assert len(shapes) > 4


def _change_otherwise(a: Home, tasks: list[EntityId], random: Random, step: int) -> None:
    """Change what proposals are about, or what they are judged by."""
    (label,) = _entities(a, "label")
    (agent,) = (name for name in _entities(a, "agent") if a.value(name, "kind") == "external")
    match random.randrange(6):
        case 0:
            title, status = random.choice([f"Title {step}", "Call Ana"]), random.choice(["OPEN", "DONE"])
            a.set(random.choice(tasks), title=title, status=status)
        case 1:
            entity = random.choice(_entities(a, "task", "checklist", "checklist_item"))
            a.set(entity, deleted=random.choice([True, False, False]))
        case 2:
            lists = _entities(a, "checklist")
            for part in _entities(a, "checklist_item")[:1]:
                a.set(part, title=f"Item {step - 3}", checklist_id=random.choice(lists))
        case 3:
            a.propose(tasks[0], f"run {step}", ("add_task", {"title": "Call Ana"}))
            a.propose(tasks[1], f"run {step}", ("add_task_label", {"id": id_to_text(label)}))
        case 4:
            with suppress(Refused):
                proposed(a, agent, random.choice(tasks), key=f"{step}")
        case _:
            a.set(label, name=f"Name {step % 5}")
            a.set(agent, lifecycle=random.choice(["active", "dormant", "created"]))


def _entities(home: Home, *kinds: str) -> list[EntityId]:
    """Return the entities of some kinds, removed ones too."""

    def use(snapshot: Snapshot) -> list[EntityId]:
        both = ((kind, removed) for kind in kinds for removed in (False, True))
        return [entity.id for kind, removed in both for entity in snapshot.entities(kind, removed)]

    return home.read(use)


def test_after_a_change_only_what_it_concerns_is_looked_up(a: Home, task: EntityId) -> None:
    agent = added(a)

    def steps_after(change: Callable[[], object]) -> int:
        listed(a)
        change()
        return steps_to_read(a.store, lambda snapshot: list_waiting_items(snapshot, a.now_ms()))

    changes: list[Callable[[], object]] = [
        lambda: a.set(task, title="Other"),
        lambda: a.add(task, f"Paper {len(waiting(a))}", f"run {len(waiting(a))}"),
        lambda: a.set(agent, lifecycle="dormant"),
        lambda: a.set(agent, lifecycle="active"),
        lambda: a.new("entry", task_id=task, text="a note"),
    ]
    proposed(a, agent, task)
    first = [steps_after(change) for change in changes]
    for number in range(40):
        other = a.new("task", title=f"Task {number}", status="OPEN")
        proposed(a, agent, other, key=f"{number}")
        a.add(other, "Pencil", f"run {number}")
    later = [steps_after(change) for change in changes]
    assert all(more <= less + 400 for less, more in zip(first, later, strict=True)), (first, later)


def test_as_time_passes_only_what_runs_out_is_looked_up(fleet: Fleet, a: Home) -> None:
    def steps_at(now_ms: int) -> int:
        listed(a)
        fleet.now_ms = now_ms
        return steps_to_read(a.store, lambda snapshot: list_waiting_items(snapshot, a.now_ms()))

    def steps_with(later: int) -> list[int]:
        """Return what it costs that one proposal expires before others, whoever read the clock first."""
        begun_ms = fleet.now_ms
        a.add(a.new("task", title="First", status="OPEN"), "Paper", f"run {begun_ms}")
        fleet.now_ms += 2 * DAY_MS
        for number in range(later):
            a.add(a.new("task", title=f"{number}", status="OPEN"), "Pencil", f"run {begun_ms} {number}")
        soon_ms, end_ms = begun_ms + _LIFETIME_MS - SOON_MS, begun_ms + _LIFETIME_MS
        steps = [steps_at(now_ms) for now_ms in (soon_ms - 1, soon_ms, soon_ms - 1, end_ms, end_ms - 1)]
        fleet.now_ms += 2 * _LIFETIME_MS
        assert listed(a) == []
        return steps

    beside_one, beside_forty = steps_with(1), steps_with(40)
    pairs = list(zip(beside_one, beside_forty, strict=True))
    assert all(more <= less + 400 for less, more in pairs), pairs


def test_a_task_that_changes_looks_up_proposed_tasks_only_if_it_may_be_one_of_them(
    a: Home, task: EntityId
) -> None:
    other = a.new("task", title="Other", status="OPEN")
    set_policy(a, other, add_task="deferred", kind="task_agent")

    def steps_after(**fields: str) -> int:
        listed(a)
        a.set(task, **fields)
        return steps_to_read(a.store, lambda snapshot: list_waiting_items(snapshot, a.now_ms()))

    first = steps_after(due="2027-01-01")
    for number in range(40):
        a.propose(other, f"run {number}", ("add_task", {"title": f"New {number}"}))
    assert len(listed(a)) == 40
    assert steps_after(due="2027-01-02") <= first + 400
    steps_after(title="New 7")
    assert len(listed(a)) == 39


def test_a_task_that_a_write_brings_back_takes_the_one_that_is_proposed_from_the_list(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    named = a.new("task", title="Call Ana", status="OPEN")
    set_policy(a, task, add_task="deferred", kind="task_agent")
    fleet.sync()
    a.set(named, deleted=True)
    a.propose(task, "run", ("add_task", {"title": "Call Ana"}))
    assert len(listed(a)) == 1
    # The other device has not seen the deletion, so this write of a person outlasts it.
    b.set(named, due="2027-01-01")
    fleet.sync()
    assert listed(a) == []


def test_before_the_first_list_an_agent_costs_what_it_proposed(a: Home, task: EntityId) -> None:
    agent = added(a)
    proposed(a, agent, task)

    def steps_to_count() -> int:
        return steps_to_read(
            a.store, lambda snapshot: count_waiting_items_of_agent(Snapshot(snapshot.db), a.now_ms(), agent)
        )

    first = steps_to_count()
    for number in range(40):
        a.add(a.new("task", title=f"Task {number}", status="OPEN"), "Pencil", f"run {number}")
    assert steps_to_count() <= first + 100
    for _ in range(2):
        assert a.read(lambda snapshot: count_waiting_items_of_agent(snapshot, a.now_ms(), agent)) == 1
        listed(a)


def test_a_transaction_counts_by_the_list_while_nothing_has_changed_since(a: Home, task: EntityId) -> None:
    agent = added(a)
    proposed(a, agent, task)
    (item,) = listed(a)

    def steps_to_count(tx: Transaction) -> int:
        _ = tx.db
        with steps_of(tx) as steps:
            assert count_waiting_items_of_agent(tx, a.now_ms(), agent) == 1
        return steps()

    assert a.write(steps_to_count) == 0

    def reject_and_count(tx: Transaction) -> int:
        decisions.reject(tx, id_from_text(item.item_id), via="cli")
        return count_waiting_items_of_agent(tx, a.now_ms(), agent)

    assert a.write(reject_and_count) == 0


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


def test_what_waits_names_the_device_that_proposed_it_if_the_agent_lives_elsewhere(
    fleet: Fleet, a: Home, b: Home
) -> None:
    task = a.new("task", title="Call Ana", status="OPEN")
    agent = agent_id(task)
    a.write(
        lambda tx: tx.commit(
            [
                EntityWrite(
                    agent, "agent", {"task_id": task, "kind": "task_agent", "home_device_id": tx.device}
                )
            ]
        )
    )
    a.propose(task, "run 1", ("update_task_estimate", {"minutes": 90}))
    assert [item.proposed_on for item in listed(a)] == [None]
    fleet.sync()
    b.write(lambda tx: lifecycle.move_agent(tx, agent, tx.device))
    fleet.sync()
    for home in (a, b):
        name = home.read(lambda snapshot: NameLookup(snapshot).device_name(a.signer.device))
        assert [item.proposed_on for item in listed(home)] == [name]
