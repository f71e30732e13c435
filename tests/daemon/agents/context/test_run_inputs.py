"""The context of a run: the task, its changes, decisions and observations, each part within its budget.

Never asks a model: each test compares what is read with what was written.
"""

from datetime import UTC
from typing import Any

import pytest

from daemon.agents.context import task_view, unseen_changes
from daemon.agents.models.openai.prompt_json import prompt_json_within
from daemon.agents.tools import budgets
from daemon.agents.tools.agent_record import load_agent
from daemon.agents.tools.model_interface import RunContext
from daemon.journal.references import names
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm, defer, reject
from tests.support.fleet import DAY_MS, Home
from tests.support.scripted_runs import gathered_inputs, new_agent, ran, reports, says


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return new_agent(a, task)


def context(home: Home, agent: EntityId) -> RunContext:
    return gathered_inputs(home, agent).context


def changes(home: Home, agent: EntityId) -> list[tuple[Any, ...]]:
    reported_changes = context(home, agent).changes
    return [
        (
            reported_change.kind,
            reported_change.field,
            reported_change.before,
            reported_change.after,
            reported_change.who,
        )
        for reported_change in reported_changes
    ]


def label(home: Home, task: EntityId, name: str, *, assigned: bool = False, **more: Any) -> EntityId:
    identifier = home.new("label", name=name, **more)
    if assigned:
        home.set(task, **{f"{names.TASK_LABELS}/{id_to_text(identifier)}": True})
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
    reported_task = context(a, agent).task
    assert (reported_task.status, reported_task.status_reason, reported_task.category) == (
        "BLOCKED",
        "no parts",
        "Home",
    )
    assert [listed_label.name for listed_label in reported_task.labels] == ["urgent"]
    (item,) = reported_task.items
    assert (item.is_checked, item.checked_by, item.checked_at_ms) == (True, "user", a.now_ms())


def test_labels_are_offered_that_fit_the_category_and_are_not_there_yet(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    work, home = a.new("category", name="Work"), a.new("category", name="Home")
    a.set(task, category_id=work)
    label(a, task, "everywhere", description="for all")
    label(a, task, "at work", **{f"{names.LABEL_CATEGORIES}/{id_to_text(work)}": True})
    label(a, task, "at home", **{f"{names.LABEL_CATEGORIES}/{id_to_text(home)}": True})
    label(a, task, "has it", assigned=True)
    labels = context(a, agent).labels
    assert [(listed_label.name, listed_label.description) for listed_label in labels] == [
        ("at work", ""),
        ("everywhere", "for all"),
    ]


async def test_a_label_that_was_denied_or_taken_off_is_not_offered_again(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    denied, taken_off = label(a, task, "denied"), label(a, task, "taken off", assigned=True)
    label(a, task, "free")
    a.set(task, **{f"{names.TASK_LABELS}/{id_to_text(taken_off)}": False})
    wanted = ("assign_task_labels", {"labels": [{"id": id_to_text(denied), "confidence": "high"}]})
    await ran(a, agent, says(wanted, reports()))
    (item,) = a.read(lambda snapshot: snapshot.items(task))
    reject(a, item.id)
    assert [listed_label.name for listed_label in context(a, agent).labels] == ["free"]


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
    assert context(a, agent).linked_tasks == ()


def test_tools_that_the_policy_denies_are_not_offered(a: Home, task: EntityId, agent: EntityId) -> None:
    a.set(agent, **{"policy/set_task_title": "denied"})
    offered = context(a, agent).allowed_tools
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
    assert [item.title for item in context(a, agent).task.items] == ["new", "old"]
    for number in range(budgets.ITEMS.members):
        a.new("checklist_item", task, checklist_id=lists, title=f"{number}", position="b")
    checklist_item_views = context(a, agent).task.items
    assert len(checklist_item_views) == budgets.ITEMS.members
    assert not any(checklist_item_view.is_archived for checklist_item_view in checklist_item_views)


def test_a_linked_task_is_told_with_what_its_agent_last_reported(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    other = a.new("task", title="Buy paper", status="OPEN")
    a.new("link", from_id=task, to_id=other, type="blocks")
    (linked_task_view,) = context(a, agent).linked_tasks
    assert (
        linked_task_view.type,
        linked_task_view.direction,
        linked_task_view.title,
        linked_task_view.status,
        linked_task_view.tldr,
    ) == (
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
    (linked_task_view,) = context(a, agent).linked_tasks
    assert (linked_task_view.direction, linked_task_view.tldr) == ("from", "Paper is here.")


def test_all_entries_are_told_and_the_new_ones_apart(a: Home, task: EntityId, agent: EntityId) -> None:
    for number in range(3):
        a.fleet.now_ms += 1000
        a.new("entry", task, task_id=task, text=f"note {number}")
    reported_context = context(a, agent)
    assert [entry.text for entry in reported_context.entries] == ["note 0", "note 1", "note 2"]
    assert reported_context.new_entries == reported_context.entries


def test_of_many_entries_the_newest_are_told_and_a_long_one_pushes_out_the_old(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    for size in (10, 3 * budgets.ENTRIES.tokens - 250, 10):
        a.fleet.now_ms += 1000
        a.new("entry", task, task_id=task, text="x" * size)
    assert [len(entry.text) for entry in context(a, agent).entries] == [3 * budgets.ENTRIES.tokens - 250, 10]


# -- what changed -------------------------------------------------------------------------------------


async def test_a_first_wake_is_told_no_changes_and_a_later_one_what_came_since(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(task, title="Write the long report")
    first = context(a, agent)
    assert (first.is_first_wake, first.changes, first.report) == (True, (), None)
    await ran(a, agent, says(reports()))
    a.set(task, due="2026-12-01")
    a.set(task, due="2026-12-02", priority="P1")
    later = context(a, agent)
    assert not later.is_first_wake
    assert changes(a, agent) == [
        ("task", "due", None, "2026-12-01", "user"),
        ("task", "due", "2026-12-01", "2026-12-02", "user"),
        ("task", "priority", "P2", "P1", "user"),
    ]


async def test_a_change_says_where_and_when_it_was_made(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    for home in (a, b):
        home.enter_device(f"the {home.name} one")
    await ran(a, agent, says(reports()))
    a.fleet.sync()
    a.fleet.now_ms += 60_000
    b.set(task, title="Report")
    a.fleet.sync()
    (change,) = context(a, agent).changes
    assert (change.device, change.at.timestamp() * 1000) == ("the b one", a.now_ms())
    assert (change.entity_title, change.before, change.after) == ("Report", "Write the report", "Report")


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
    assert [decision.prompt_line for decision in context(a, agent).decisions] == [
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
    answer = changes(a, agent)
    assert not any("Secret" in str(element) for element in answer)
    assert [element for element in answer if element[0] == "link"] == []
    assert ("entry", "task_id", "another task", "Write the report", "user") in answer


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
    for number in range(budgets.CHANGES.members + 5):
        a.set(task, title=f"{number}")
    reported_context = context(a, agent)
    assert reported_context.changes[-1].after == str(budgets.CHANGES.members + 4)
    assert len(reported_context.changes) <= budgets.CHANGES.members
    assert reported_context.changes_left_out > 0
    assert (
        sum(budgets.json_tokens([change.before, change.after]) for change in reported_context.changes)
        < budgets.CHANGES.tokens
    )


async def test_what_another_device_wrote_before_and_brings_later_is_a_change(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    a.fleet.sync()
    b.set(task, due="2026-12-01")
    await ran(a, agent, says(reports()))
    a.set(task, priority="P1")
    a.fleet.sync()
    assert sorted(change[1] for change in changes(a, agent)) == ["due", "priority"]


async def test_what_was_seen_elsewhere_is_no_change_though_it_came_here_later(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    a.fleet.sync()
    b.set(task, due="2026-12-01")
    a.set(task, title="Seen")
    await ran(a, agent, says(reports()))
    a.fleet.sync()
    assert [change[1] for change in changes(b, agent)] == ["due"]
    known_agent = b.read(lambda snapshot: load_agent(snapshot, agent))
    assert known_agent is not None
    assert b.read(lambda snapshot: unseen_changes.count_since_report(snapshot, known_agent)) == 1


# -- decisions, proposals, observations ---------------------------------------------------------------


async def test_decisions_are_told_in_lines_of_their_own(a: Home, task: EntityId, agent: EntityId) -> None:
    turn = says(
        ("set_task_title", {"title": "Fix login bug"}),
        ("update_task_estimate", {"minutes": 120}),
        ("update_task_priority", {"priority": "p1"}),
        ("add_checklist_item", {"title": "Design\nmockup"}),
        reports(),
    )
    await ran(a, agent, turn)
    title, estimate, priority, item = a.read(lambda snapshot: snapshot.items(task))
    confirm(a, title.id)
    reject(a, estimate.id, "I know better")
    confirm(a, priority.id, edit={"priority": "P0"})
    a.fleet.now_ms += 8 * DAY_MS
    assert [decision.prompt_line for decision in context(a, agent).decisions] == [
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
    lines = [decision.prompt_line for decision in context(a, agent).decisions]
    assert "124 min" in lines[-1]
    assert sum(len(line.encode()) // 3 for line in lines) <= budgets.DECISIONS.tokens
    assert len(lines) < budgets.DECISIONS.members


async def test_twenty_short_decisions_have_room(a: Home, task: EntityId, agent: EntityId) -> None:
    for number in range(25):
        confirm(a, a.estimate(task, 100 + number, run_key=f"run {number}"))
    lines = [decision.prompt_line for decision in context(a, agent).decisions]
    assert [line[25:28] for line in lines] == [str(number) for number in range(105, 125)]


async def test_what_waits_can_be_taken_back_by_its_id(a: Home, task: EntityId, agent: EntityId) -> None:
    await ran(a, agent, says(("update_task_estimate", {"minutes": 90}), reports()))
    (proposal,) = context(a, agent).proposals
    assert proposal.prompt_line == "update_task_estimate(90 min)"
    await ran(
        a, agent, says(("retract_proposals", {"itemIds": [proposal.id], "reason": "It is done."}), reports())
    )
    assert context(a, agent).proposals == ()


async def test_what_the_agent_took_back_is_no_decision_and_what_was_put_off_does_not_wait(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    turn = says(("update_task_estimate", {"minutes": 90}), ("set_task_title", {"title": "T"}), reports())
    await ran(a, agent, turn, key="one")
    a.fleet.sync()
    estimate, title = a.read(lambda snapshot: snapshot.items(task))
    back = ("retract_proposals", {"itemIds": [id_to_text(estimate.id)], "reason": "It is done."})
    await ran(a, agent, says(back), key="two")
    defer(a, title.id)
    reject(b, estimate.id)
    a.fleet.sync()
    reported_context = context(a, agent)
    assert {decision.verdict for decision in reported_context.decisions} == {"deferred", "rejected"}
    assert '- · set_task_title("T") — deferred' in [
        decision.prompt_line for decision in reported_context.decisions
    ]
    assert reported_context.proposals == ()


async def test_observations_are_told_at_every_later_wake_and_each_once(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    noted = ("record_observations", {"observations": ["Slow on Mondays.", " ", "Slow on Mondays."]})
    await ran(a, agent, says(noted, reports()), key="one")
    a.fleet.now_ms += 1000
    await ran(a, agent, says(("record_observations", {"observations": ["Likes lists."]})), key="two")
    await ran(a, agent, says(noted), key="three")
    assert [observation.text for observation in context(a, agent).observations] == [
        "Slow on Mondays.",
        "Likes lists.",
    ]


async def test_what_two_devices_noted_alike_while_apart_is_told_once(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    a.fleet.sync()
    noted = ("record_observations", {"observations": ["Slow on Mondays."]})
    await ran(a, agent, says(noted, reports()))
    b.set(agent, home_device_id=b.read(lambda snapshot: snapshot.device))
    await ran(b, agent, says(noted, reports()))
    a.fleet.sync()
    assert [observation.text for observation in context(a, agent).observations] == ["Slow on Mondays."]


def test_of_many_observations_the_newest_are_told(a: Home, task: EntityId, agent: EntityId) -> None:
    def use(tx: Transaction) -> None:
        for number in range(60):
            fields = {"agent_id": agent, "observer_id": agent, "kind": "observation", "text": "x" * 300}
            fields["text"] = f"{number} " + fields["text"]  # type: ignore[operator]
            tx.commit([EntityWrite(tx.new_id(), "message", fields)], by=AuthorKind.AGENT, agent=agent)  # type: ignore[arg-type]
            a.fleet.now_ms += 1

    a.write(use)
    observation_views = context(a, agent).observations
    assert observation_views[-1].text.startswith("59 ")
    whole = [view for view in observation_views if len(view.text) > 300]
    assert 8 < len(whole) < 20
    # Older ones are there by their beginnings: before, they were not there at all.
    beginnings = observation_views[: -len(whole)]
    assert len(beginnings) > 8
    assert all(len(view.text) < 90 for view in beginnings)
    numbers = [int(view.text.split()[0]) for view in observation_views]
    assert numbers == list(range(60 - len(numbers), 60))
    # What does not fit is counted for the model, and for people where the run ends.
    inputs = context(a, agent)
    assert inputs.observations_left_out == 60 - len(numbers)
    request_json = prompt_json_within(inputs, 50_000)
    assert request_json["observationsLeftOut"] == 60 - len(request_json["observations"])


def test_the_report_is_told_whole_or_with_shorter_lists(a: Home, task: EntityId, agent: EntityId) -> None:
    from daemon.agents.context.memory import trim_report

    content = {"title": "T", "tldr": "t", "achieved": ["x" * 400] * 25, "learnings": ["y" * 400] * 25}
    assert trim_report(content, 100_000) == content
    shorter = trim_report(content, 3_000)
    assert budgets.json_tokens(shorter) <= 3_000
    assert shorter["tldr"] == "t"
    assert shorter["achieved"]


def test_what_is_new_costs_no_look_at_the_whole_log(a: Home, task: EntityId, agent: EntityId) -> None:
    from store.queries import field_changes

    heads = a.read(lambda snapshot: snapshot.vector())
    end = a.read(lambda snapshot: snapshot.feed_end())
    assert a.read(lambda snapshot: field_changes.first_uncovered_position(snapshot, heads)) is None
    a.set(task, title="New")

    def use(snapshot: Snapshot) -> tuple[int | None, list[int]]:
        return field_changes.first_uncovered_position(snapshot, heads), field_changes.positions_touching(
            snapshot, [task], end
        )

    assert a.read(use) == (end + 1, [end + 1])


def test_a_run_knows_the_time_that_was_spent_and_which_notes_are_transcripts(a: Home, task: EntityId) -> None:
    typed = a.new("entry", task_id=task, text="typed", source="note")
    spoken = a.new("entry", task_id=task, text="spoken", source="transcript")
    a.new("time_record", task_id=task, started_at="2026-03-01T10:00:00Z", ended_at="2026-03-01T11:30:00Z")
    a.new("time_record", task_id=task, started_at="2026-03-01T11:00:00Z", ended_at="2026-03-01T12:00:00Z")

    def read(snapshot: Snapshot) -> tuple[int, dict[str, str]]:
        entity = snapshot.entity(task)
        assert entity is not None
        views = task_view.entry_views(snapshot, task, UTC)
        return task_view.view_of_task(snapshot, entity).time_spent_minutes, {
            view.id: view.source for view in views
        }

    assert a.read(read) == (120, {id_to_text(typed): "", id_to_text(spoken): "transcript"})
