"""What a run is told: of the task, of what changed, of what was decided and noted, each within its room.

Never asks a model: what is read is held against what was written.
"""

from typing import Any

import pytest

from daemon.agents import changed, room
from daemon.agents.models.interface import RunContext
from daemon.agents.records import load
from daemon.journal import names
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.commit import By
from syncproto.ids import EntityId, text
from tests.daemon.agents.deciding import confirm, defer, reject
from tests.daemon.agents.fleet import DAY_MS, Home
from tests.daemon.agents.running import gathered, new_agent, ran, reports, says


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return new_agent(a, task)


def context(home: Home, agent: EntityId) -> RunContext:
    return gathered(home, agent).context


def changes(home: Home, agent: EntityId) -> list[tuple[Any, ...]]:
    told = context(home, agent).changes
    return [(one.kind, one.field, one.before, one.after, one.who) for one in told]


def label(home: Home, task: EntityId, name: str, *, assigned: bool = False, **more: Any) -> EntityId:
    identifier = home.new("label", name=name, **more)
    if assigned:
        home.set(task, **{f"{names.SET}/{text(identifier)}": True})
    return identifier


# -- the task -----------------------------------------------------------------------------------------


def test_the_task_is_told_with_status_category_labels_and_who_ticked_what(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    home = a.new("category", name="Home")
    a.set(task, category_id=home, status="BLOCKED", reason="no parts")
    label(a, task, "urgent", assigned=True)
    lists = a.new("checklist", task, task_id=task, title="Todos", position="a")
    a.new("checklist_item", task, checklist_id=lists, title="Ticked", position="a", is_checked=True)
    told = context(a, agent).task
    assert (told.status, told.status_reason, told.category) == ("BLOCKED", "no parts", "Home")
    assert [one.name for one in told.labels] == ["urgent"]
    (item,) = told.items
    assert (item.is_checked, item.checked_by, item.checked_at_ms) == (True, "user", a.now_ms())


def test_labels_are_offered_that_fit_the_category_and_are_not_there_yet(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    work, home = a.new("category", name="Work"), a.new("category", name="Home")
    a.set(task, category_id=work)
    label(a, task, "everywhere", description="for all")
    label(a, task, "at work", **{f"{names.SCOPE}/{text(work)}": True})
    label(a, task, "at home", **{f"{names.SCOPE}/{text(home)}": True})
    label(a, task, "has it", assigned=True)
    told = context(a, agent).labels
    assert [(one.name, one.description) for one in told] == [("at work", ""), ("everywhere", "for all")]


async def test_a_label_that_was_denied_or_taken_off_is_not_offered_again(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    denied, taken_off = label(a, task, "denied"), label(a, task, "taken off", assigned=True)
    label(a, task, "free")
    a.set(task, **{f"{names.SET}/{text(taken_off)}": False})
    wanted = ("assign_task_labels", {"labels": [{"id": text(denied), "confidence": "high"}]})
    await ran(a, agent, says(wanted, reports()))
    (item,) = a.read(lambda snapshot: snapshot.items(task))
    reject(a, item.id)
    assert [one.name for one in context(a, agent).labels] == ["free"]


def test_a_task_that_is_full_of_labels_is_offered_none(a: Home, task: EntityId, agent: EntityId) -> None:
    for number in range(5):
        label(a, task, f"{number}", assigned=True)
    label(a, task, "one more")
    assert context(a, agent).labels == ()


def test_a_linked_task_of_another_category_is_none_of_the_agents_business(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    secret = a.new("task", title="Secret", category_id=a.new("category", name="Private"))
    a.new("link", from_id=task, to_id=secret, type="basic")
    assert context(a, agent).linked == ()


def test_tools_that_the_policy_denies_are_not_offered(a: Home, task: EntityId, agent: EntityId) -> None:
    a.set(agent, **{"policy/set_task_title": "denied"})
    offered = context(a, agent).tools
    assert "set_task_title" not in offered
    assert "update_task_estimate" in offered


def test_archived_items_come_last_so_that_they_are_the_first_to_go(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    lists = a.new("checklist", task, task_id=task, title="Todos", position="a")
    for title in ("old", "new"):
        a.new(
            "checklist_item", task, checklist_id=lists, title=title, position="a", is_archived=title == "old"
        )
    assert [one.title for one in context(a, agent).task.items] == ["new", "old"]
    for number in range(room.ITEMS.members):
        a.new("checklist_item", task, checklist_id=lists, title=f"{number}", position="b")
    told = context(a, agent).task.items
    assert len(told) == room.ITEMS.members
    assert not any(one.is_archived for one in told)


def test_a_linked_task_is_told_with_what_its_agent_last_reported(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    other = a.new("task", title="Buy paper", status="OPEN")
    a.new("link", from_id=task, to_id=other, type="blocks")
    (told,) = context(a, agent).linked
    assert (told.type, told.direction, told.title, told.status, told.tldr) == (
        "blocks",
        "to",
        "Buy paper",
        "OPEN",
        "",
    )


async def test_the_report_of_a_linked_task_is_its_latest(a: Home, task: EntityId, agent: EntityId) -> None:
    other = a.new("task", title="Buy paper", status="OPEN")
    a.new("link", from_id=other, to_id=task, type="blocks")
    others = new_agent(a, other)
    await ran(a, others, says(reports("Not begun.")), key="one")
    await ran(a, others, says(reports("Paper is here.")), key="two")
    (told,) = context(a, agent).linked
    assert (told.direction, told.tldr) == ("from", "Paper is here.")


def test_all_entries_are_told_and_the_new_ones_apart(a: Home, task: EntityId, agent: EntityId) -> None:
    for number in range(3):
        a.fleet.now_ms += 1000
        a.new("entry", task, task_id=task, text=f"note {number}")
    told = context(a, agent)
    assert [one.text for one in told.entries] == ["note 0", "note 1", "note 2"]
    assert told.notes == told.entries


def test_of_many_entries_the_newest_are_told_and_a_long_one_pushes_out_the_old(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    for size in (10, 3 * room.ENTRIES.tokens - 250, 10):
        a.fleet.now_ms += 1000
        a.new("entry", task, task_id=task, text="x" * size)
    assert [len(one.text) for one in context(a, agent).entries] == [3 * room.ENTRIES.tokens - 250, 10]


# -- what changed -------------------------------------------------------------------------------------


async def test_a_first_wake_is_told_no_changes_and_a_later_one_what_came_since(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(task, title="Write the long report")
    first = context(a, agent)
    assert (first.first_wake, first.changes, first.report) == (True, (), None)
    await ran(a, agent, says(reports()))
    a.set(task, due="2026-12-01")
    a.set(task, due="2026-12-02", priority="P1")
    later = context(a, agent)
    assert not later.first_wake
    assert changes(a, agent) == [
        ("task", "due", None, "2026-12-01", "user"),
        ("task", "due", "2026-12-01", "2026-12-02", "user"),
        ("task", "priority", "P2", "P1", "user"),
    ]


async def test_a_change_says_where_and_when_it_was_made(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    for home in (a, b):
        home.new("device", name=f"the {home.name} one", public_key=home.signer.public_key)
    await ran(a, agent, says(reports()))
    a.fleet.sync()
    a.fleet.now_ms += 60_000
    b.set(task, title="Report")
    a.fleet.sync()
    (told,) = context(a, agent).changes
    assert (told.device, told.at.timestamp() * 1000) == ("the b one", a.now_ms())
    assert (told.entity, told.before, told.after) == ("Report", "Write the report", "Report")


async def test_children_are_told_by_what_they_say_and_labels_by_their_names(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    lists = a.new("checklist", task, task_id=task, title="Todos", position="a")
    item = a.new("checklist_item", task, checklist_id=lists, title="Milk", position="a", is_checked=False)
    await ran(a, agent, says(reports()))
    a.set(item, is_checked=True)
    a.new("entry", task, task_id=task, text="Bought it.", source="note")
    label(a, task, "shopping", assigned=True)
    assert changes(a, agent) == [
        ("checklist_item", "is_checked", False, True, "user"),
        ("entry", "text", None, "Bought it.", "user"),
        ("task", "label_ids/shopping", None, True, "user"),
    ]


async def test_a_proposal_that_was_confirmed_is_among_the_changes_and_the_decisions(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await ran(a, agent, says(("update_task_estimate", {"minutes": 90}), reports()))
    (item,) = a.read(lambda snapshot: snapshot.items(task))
    confirm(a, item.id)
    assert changes(a, agent) == [("task", "estimate_minutes", 60, 90, "agent")]
    assert [one.line for one in context(a, agent).decisions] == [
        "- ✓ update_task_estimate(90 min) — confirmed"
    ]


async def test_a_change_names_no_task_of_a_category_that_is_not_the_agents(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    private = a.new("category", name="Private")
    await ran(a, agent, says(reports()))
    secret = a.new("task", title="Secret", category_id=private)
    link = a.new("link", task, from_id=task, to_id=secret, type="basic")
    a.set(link, type="blocks")
    list_there = a.new("checklist", secret, task_id=secret, title="Todos", position="a")
    note = a.new("entry", secret, task_id=secret, text="hello", source="note")
    for moved in (list_there, note):
        a.set(moved, task_id=task)
    told = changes(a, agent)
    assert not any("Secret" in str(one) for one in told)
    assert [one for one in told if one[0] == "link"] == []
    assert ("entry", "task_id", "another task", "Write the report", "user") in told


async def test_a_link_that_turns_to_another_task_is_told_once_both_are_the_agents(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    private = a.new("category", name="Private")
    secret, free = a.new("task", title="Secret", category_id=private), a.new("task", title="Buy paper")
    link = a.new("link", task, from_id=task, to_id=secret, type="basic")
    await ran(a, agent, says(reports()))
    a.set(link, to_id=free)
    assert changes(a, agent) == []
    a.set(secret, category_id=None)
    assert changes(a, agent) == [("link", "to_id", "Secret", "Buy paper", "user")]


async def test_of_many_changes_the_newest_are_told_and_the_others_counted(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await ran(a, agent, says(reports()))
    for number in range(room.CHANGES.members + 5):
        a.set(task, title=f"{number}")
    told = context(a, agent)
    assert told.changes[-1].after == str(room.CHANGES.members + 4)
    assert len(told.changes) <= room.CHANGES.members
    assert told.changes_left_out > 0
    assert sum(room.weight([one.before, one.after]) for one in told.changes) < room.CHANGES.tokens


async def test_what_another_device_wrote_before_and_brings_later_is_a_change(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    a.fleet.sync()
    b.set(task, due="2026-12-01")
    await ran(a, agent, says(reports()))
    a.set(task, priority="P1")
    a.fleet.sync()
    assert sorted(one[1] for one in changes(a, agent)) == ["due", "priority"]


async def test_what_was_seen_elsewhere_is_no_change_though_it_came_here_later(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    a.fleet.sync()
    b.set(task, due="2026-12-01")
    a.set(task, title="Seen")
    await ran(a, agent, says(reports()))
    a.fleet.sync()
    assert [one[1] for one in changes(b, agent)] == ["due"]
    known = b.read(lambda snapshot: load(snapshot, agent))
    assert known is not None
    assert b.read(lambda snapshot: changed.since_report(snapshot, known)) == 1


# -- decisions, proposals, observations ---------------------------------------------------------------


async def test_decisions_are_told_in_lines_of_their_own(a: Home, task: EntityId, agent: EntityId) -> None:
    made = says(
        ("set_task_title", {"title": "Fix login bug"}),
        ("update_task_estimate", {"minutes": 120}),
        ("update_task_priority", {"priority": "p1"}),
        ("add_checklist_item", {"title": "Design\nmockup"}),
        reports(),
    )
    await ran(a, agent, made)
    title, estimate, priority, item = a.read(lambda snapshot: snapshot.items(task))
    confirm(a, title.id)
    reject(a, estimate.id, "I know better")
    confirm(a, priority.id, edit={"priority": "P0"})
    a.fleet.now_ms += 8 * DAY_MS
    assert [one.line for one in context(a, agent).decisions] == [
        '- ✓ set_task_title("Fix login bug") — confirmed',
        '- ✗ update_task_estimate(120 min) — rejected (reason: "I know better")',
        "- ✓ update_task_priority(P0) — confirmed (edited by the user; proposed: P1)",
        '- · add_checklist_item("Design mockup") — no decision',
    ]
    assert context(a, agent).proposals == ()
    assert item.id is not None


async def test_the_last_twenty_decisions_are_told_within_five_hundred_tokens(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    for number in range(25):
        item = a.estimate(task, 100 + number, run_key=f"run {number}")
        reject(a, item, "no " * (1 if number < 15 else 100))
    lines = [one.line for one in context(a, agent).decisions]
    assert "124 min" in lines[-1]
    assert sum(len(line.encode()) // 3 for line in lines) <= room.DECISIONS.tokens
    assert len(lines) < room.DECISIONS.members


async def test_twenty_short_decisions_have_room(a: Home, task: EntityId, agent: EntityId) -> None:
    for number in range(25):
        confirm(a, a.estimate(task, 100 + number, run_key=f"run {number}"))
    lines = [one.line for one in context(a, agent).decisions]
    assert [line[25:28] for line in lines] == [str(number) for number in range(105, 125)]


async def test_what_waits_can_be_taken_back_by_its_id(a: Home, task: EntityId, agent: EntityId) -> None:
    await ran(a, agent, says(("update_task_estimate", {"minutes": 90}), reports()))
    (told,) = context(a, agent).proposals
    assert told.line == "update_task_estimate(90 min)"
    await ran(
        a, agent, says(("retract_proposals", {"itemIds": [told.id], "reason": "It is done."}), reports())
    )
    assert context(a, agent).proposals == ()


async def test_what_the_agent_took_back_is_no_decision_and_what_was_put_off_does_not_wait(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    made = says(("update_task_estimate", {"minutes": 90}), ("set_task_title", {"title": "T"}), reports())
    await ran(a, agent, made, key="one")
    a.fleet.sync()
    estimate, title = a.read(lambda snapshot: snapshot.items(task))
    back = ("retract_proposals", {"itemIds": [text(estimate.id)], "reason": "It is done."})
    await ran(a, agent, says(back), key="two")
    defer(a, title.id)
    reject(b, estimate.id)
    a.fleet.sync()
    told = context(a, agent)
    assert {one.verdict for one in told.decisions} == {"deferred", "rejected"}
    assert '- · set_task_title("T") — deferred' in [one.line for one in told.decisions]
    assert told.proposals == ()


async def test_observations_are_told_at_every_later_wake_and_each_once(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    noted = ("record_observations", {"observations": ["Slow on Mondays.", " ", "Slow on Mondays."]})
    await ran(a, agent, says(noted, reports()), key="one")
    a.fleet.now_ms += 1000
    await ran(a, agent, says(("record_observations", {"observations": ["Likes lists."]})), key="two")
    await ran(a, agent, says(noted), key="three")
    assert [one.text for one in context(a, agent).observations] == ["Slow on Mondays.", "Likes lists."]


async def test_what_two_devices_noted_alike_while_apart_is_told_once(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    a.fleet.sync()
    noted = ("record_observations", {"observations": ["Slow on Mondays."]})
    await ran(a, agent, says(noted, reports()))
    b.set(agent, home_device_id=b.read(lambda snapshot: snapshot.device))
    await ran(b, agent, says(noted, reports()))
    a.fleet.sync()
    assert [one.text for one in context(a, agent).observations] == ["Slow on Mondays."]


def test_of_many_observations_the_newest_are_told(a: Home, task: EntityId, agent: EntityId) -> None:
    def use(tx: Transaction) -> None:
        for number in range(60):
            fields = {"agent_id": agent, "observer_id": agent, "kind": "observation", "text": "x" * 300}
            fields["text"] = f"{number} " + fields["text"]  # type: ignore[operator]
            tx.commit([Write(tx.new_id(), "message", fields)], by=By.AGENT, agent=agent)  # type: ignore[arg-type]
            a.fleet.now_ms += 1

    a.write(use)
    told = context(a, agent).observations
    assert told[-1].text.startswith("59 ")
    assert 10 < len(told) < 30


def test_the_report_is_told_whole_or_with_shorter_lists(a: Home, task: EntityId, agent: EntityId) -> None:
    from daemon.agents.memory import within_room

    content = {"title": "T", "tldr": "t", "achieved": ["x" * 400] * 25, "learnings": ["y" * 400] * 25}
    assert within_room(content, 100_000) == content
    shorter = within_room(content, 3_000)
    assert room.weight(shorter) <= 3_000
    assert shorter["tldr"] == "t"
    assert shorter["achieved"]


def test_what_is_new_costs_no_look_at_the_whole_log(a: Home, task: EntityId, agent: EntityId) -> None:
    from store import history

    seen = a.read(lambda snapshot: snapshot.vector())
    end = a.read(lambda snapshot: snapshot.feed_end())
    assert a.read(lambda snapshot: history.first_beyond(snapshot, seen)) is None
    a.set(task, title="New")

    def use(snapshot: Snapshot) -> tuple[int | None, list[int]]:
        return history.first_beyond(snapshot, seen), history.positions(snapshot, [task], end)

    assert a.read(use) == (end + 1, [end + 1])
