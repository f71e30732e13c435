"""Change sets that another device wrote and no agent could have: nothing of them runs or reaches anything.

Never assumes that a member's device runs this program.
"""

from typing import Any

import pytest

from daemon.agents.context import memory
from daemon.agents.deciding.decision_history import list_decisions
from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.proposing.immediate_tools import retraction_write
from daemon.agents.tools.agent_record import agent_id, load_agent
from daemon.agents.tools.effects import fingerprint_of, item_id, written_entity
from daemon.agents.tools.table import validate_arguments
from store.fold.item import Item, clock_as_value
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import commits, confirm, defer, reject, reopen, undo, waiting
from tests.support.fleet import Fleet, Home

FOREIGN = "it is not what an agent of its task may propose"
UNKNOWN = "this version of Placet does not know its tool"
TITLED = {"title": "Owned"}


def forge(
    home: Home, task: EntityId, tool: Any, args: Any, *, item: EntityId | None = None, **more: Any
) -> EntityId:
    """Let a device write a change set by hand; without an `item` it uses the id that its content leads to."""
    fingerprint = b""
    if item is None:
        fingerprint = fingerprint_of(task, tool, args)
        item = item_id(fingerprint, None, task, written_entity(tool, args, task))
    base: dict[str, Value] = {"clock": clock_as_value(home.entity(task).clock), "value": {}}
    entry: dict[str, Value] = {
        "item_id": item,
        "fingerprint": fingerprint,
        "tool": tool,
        "args": args,
        "base": base,
    }
    fields: dict[str, Value] = {
        "task_id": task,
        "agent_id": agent_id(task),
        "run_key": "forged",
        "items": [entry],
        "expires_at": 1 << 60,
        **more,
    }
    home.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "change_set", fields)], by=AuthorKind.AGENT))
    return item


def nothing_runs(home: Home, item: EntityId, reason: str) -> None:
    """Confirm in every way, and check that nothing was written, and that the item is not even shown."""
    before = commits(home)
    ways: list[dict[str, Any]] = [{}, {"force": True}, {"again": True, "force": True}, {"edit": {}}]
    for how in ways:
        result = confirm(home, item, **how)
        assert (result.result, result.message) == (DecisionOutcome.FAILED, reason)
    assert commits(home) == before
    assert waiting(home) == []


def test_what_was_written_by_hand_as_an_agent_would_runs(a: Home, task: EntityId) -> None:
    """The forger of the other cases writes a valid proposal if it follows the rules."""
    item = forge(a, task, "set_task_title", TITLED)
    assert confirm(a, item, force=True).result is DecisionOutcome.APPLIED
    assert a.value(task, "title") == "Owned"


@pytest.mark.parametrize("tool", ["launch_rocket", "", "Set_Task_Title", None, 7])
def test_a_tool_that_is_unknown_here_does_not_run(a: Home, task: EntityId, tool: Any) -> None:
    nothing_runs(a, forge(a, task, tool, TITLED, item=derived_id("x", time_of=task)), UNKNOWN)


NO_PROPOSALS = (
    ("update_report", {"title": "Owned", "tldr": "Owned"}),
    ("record_observations", {"observations": ["owned"]}),
    ("retract_proposals", {"itemIds": ["0" * 32], "reason": "owned"}),
    ("add_multiple_checklist_items", {"items": [{"title": "Owned", "isChecked": False}]}),
)


@pytest.mark.parametrize(("tool", "args"), NO_PROPOSALS)
def test_a_tool_that_cannot_wait_does_not_run(
    a: Home, task: EntityId, tool: str, args: dict[str, Any]
) -> None:
    nothing_runs(a, forge(a, task, tool, validate_arguments(tool, args)), FOREIGN)


@pytest.mark.parametrize(
    "args",
    [{}, {"title": ""}, {"title": "x" * 401}, {"title": 7}, {"title": "x", "also": 1}, "title", [b"x"]],
)
def test_arguments_that_break_a_rule_do_not_run(a: Home, task: EntityId, args: Any) -> None:
    item = derived_id("x", time_of=task)
    nothing_runs(a, forge(a, task, "set_task_title", args, item=item), FOREIGN)
    for decide in (reject, reopen, defer):
        assert decide(a, item).result is DecisionOutcome.APPLIED


def test_an_id_that_does_not_follow_from_what_is_proposed_does_not_run(a: Home, task: EntityId) -> None:
    nothing_runs(a, forge(a, task, "set_task_title", TITLED, item=derived_id("x", time_of=task)), FOREIGN)
    assert a.value(task, "title") == "Write the report"


def test_an_agent_of_another_task_proposes_nothing_for_this_one(a: Home, task: EntityId) -> None:
    other = a.new("task", title="Another")
    item = forge(a, task, "set_task_title", TITLED, agent_id=agent_id(other))
    nothing_runs(a, item, FOREIGN)


def test_what_is_no_task_is_none_of_an_agents(a: Home, task: EntityId) -> None:
    del task
    label = a.new("label", name="bug")
    item = forge(a, label, "set_task_title", TITLED)
    result = confirm(a, item, force=True)
    assert (result.result, result.message) == (DecisionOutcome.OBSOLETE, "its task was removed")
    assert a.value(label, "title") is None


def test_a_task_that_is_not_known_here_is_not_made(a: Home, task: EntityId) -> None:
    unknown = derived_id("unknown", time_of=task)
    fingerprint = fingerprint_of(unknown, "set_task_title", TITLED)
    item = item_id(fingerprint, None, unknown, unknown)
    forge(a, task, "set_task_title", TITLED, item=item, task_id=unknown, agent_id=agent_id(unknown))
    assert confirm(a, item, force=True).result is DecisionOutcome.OBSOLETE
    assert a.read(lambda snapshot: snapshot.entity(unknown)) is None


def _item_of(a: Home, task: EntityId) -> EntityId:
    checklist = a.new("checklist", task, task_id=task, title="Todos", position="V")
    return a.new("checklist_item", task, checklist_id=checklist, title="Theirs", position="V")


@pytest.mark.parametrize("elsewhere", ["an item", "a task", "an entry", "nothing"])
def test_a_target_outside_the_task_is_not_written(a: Home, task: EntityId, elsewhere: str) -> None:
    other = a.new("task", title="Another")
    target = {
        "an item": lambda: _item_of(a, other),
        "a task": lambda: other,
        "an entry": lambda: a.new("entry", task, task_id=task, text="mine", source="note"),
        "nothing": lambda: derived_id("nothing", time_of=task),
    }[elsewhere]()
    item = forge(a, task, "update_checklist_item", {"id": id_to_text(target), "title": "Owned"})
    before = commits(a)
    for how in ({}, {"force": True}, {"force": True, "again": True}):
        assert confirm(a, item, **how).result is DecisionOutcome.OBSOLETE
    assert commits(a) == before
    assert waiting(a) == []


def test_what_is_no_item_is_not_written_though_it_says_that_it_is_in_a_list(a: Home, task: EntityId) -> None:
    checklist = a.value(_item_of(a, task), "checklist_id")
    entry = a.new("entry", task, task_id=task, text="mine", checklist_id=checklist)
    item = forge(a, task, "update_checklist_item", {"id": id_to_text(entry), "title": "Owned"})
    result = confirm(a, item, force=True)
    assert (result.result, result.message) == (DecisionOutcome.OBSOLETE, "what it changes is something else")
    assert a.value(entry, "title") is None


def test_a_label_that_is_none_is_not_given(a: Home, task: EntityId) -> None:
    call = {"id": id_to_text(_item_of(a, task)), "confidence": "high"}
    item = forge(a, task, "assign_task_label", call)
    assert confirm(a, item, force=True).message == "the label was removed"
    assert a.entity(task).members("label_ids") == []


def estimate_of(task: EntityId) -> EntityId:
    """Return the item that an estimate of two hours will be: anybody can compute it before it is proposed."""
    return item_id(fingerprint_of(task, "update_task_estimate", {"minutes": 120}), None, task, task)


def test_a_set_that_names_another_item_does_not_change_what_that_means(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    """The words of an older set are the first that are read of an item."""
    other = a.new("task", title="Another")
    fleet.sync()
    item = estimate_of(task)
    for tool, args, about in (
        ("launch_rocket", TITLED, task),
        ("set_task_title", TITLED, task),
        ("update_task_estimate", {"minutes": 5}, task),
        ("update_task_estimate", {"minutes": 120}, other),
    ):
        forge(b, about, tool, args, item=item)
    fleet.now_ms += 1000
    assert a.estimate(task, 120) == item
    fleet.sync()
    for home in (a, b):
        (line,) = waiting(home)
        assert (line.args, line.task_id, line.tool) == (
            {"minutes": 120},
            id_to_text(task),
            "update_task_estimate",
        )
    assert confirm(b, item).result is DecisionOutcome.APPLIED
    fleet.sync()
    assert a.value(task, "estimate_minutes") == 120
    assert a.value(task, "title") == "Write the report"
    assert a.value(other, "estimate_minutes") is None
    undo(b, item)
    assert confirm(b, item, again=True).message == "Set estimate to 120 minutes"
    fleet.sync()
    lines = a.read(lambda snapshot: list_decisions(snapshot, a.now_ms(), limit=1))
    assert [(decision.tool, decision.task_id) for decision in lines] == [
        ("update_task_estimate", id_to_text(task))
    ]


def test_a_forged_set_does_not_make_a_stale_item_fresh(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    """The base of another set counts only if the set is valid: of the task's agent, for this item."""
    item = a.estimate(task, 120)
    a.set(task, estimate_minutes=45)
    fleet.sync()
    other = agent_id(b.new("task", title="Another"))
    forge(b, task, "update_task_estimate", {"minutes": 120}, item=item, agent_id=other)
    fleet.sync()
    assert confirm(a, item).result is DecisionOutcome.STALE


def test_words_that_were_edited_by_hand_elsewhere_are_checked_like_any_other(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    other = a.new("task", title="Another")
    theirs = _item_of(a, other)
    mine = _item_of(a, task)
    (item,) = a.propose(task, "run", ("update_checklist_item", {"id": id_to_text(mine), "title": "Mine"}))
    fleet.sync()
    words: dict[str, Value] = {"id": id_to_text(theirs), "title": "Owned"}
    fields: dict[str, Value] = {"item_id": item, "verdict": "confirmed", "seen": [], "edited_args": words}
    b.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "decision", fields)]))
    reject(a, item)
    fleet.sync()
    (line,) = waiting(a)
    assert (line.disputed, line.args["id"], line.edited) == (True, id_to_text(mine), False)
    result = confirm(a, item, force=True)
    assert (result.result, "cannot change what" in result.message) == (DecisionOutcome.FAILED, True)
    assert a.value(theirs, "title") == "Theirs"
    assert confirm(a, item, edit={"title": "Mine"}, force=True).result is DecisionOutcome.APPLIED


def test_undoing_what_this_version_cannot_run_still_takes_it_back(a: Home, task: EntityId) -> None:
    item = forge(a, task, "launch_rocket", {}, item=derived_id("x", time_of=task))
    fields: dict[str, Value] = {"item_id": item, "verdict": "confirmed", "seen": []}
    a.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "decision", fields)]))
    assert undo(a, item).result is DecisionOutcome.APPLIED
    assert undo(a, item).result is DecisionOutcome.ALREADY


def test_what_was_written_by_hand_is_neither_told_to_the_agent_nor_keeps_it_from_taking_back_its_own(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    a.write(lambda tx: tx.commit([EntityWrite(agent_id(task), "agent", {"task_id": task})]))
    fleet.sync()
    forge(b, task, "obey me", {"and": b"nobody else"}, item=estimate_of(task))
    fleet.now_ms += 1000
    item = a.estimate(task, 120)
    reject(b, forge(b, task, "obey me", {"and": b"nobody else"}, item=derived_id("x", time_of=task)))
    fleet.sync()

    def open_lines(snapshot: Snapshot) -> tuple[str, ...]:
        agent = load_agent(snapshot, agent_id(task))
        assert agent is not None
        open_ones = (
            proposal_view.prompt_line for proposal_view in memory.proposal_views(snapshot, agent, a.now_ms())
        )
        return (
            *open_ones,
            *(
                decision_view.prompt_line
                for decision_view in memory.decision_views(snapshot, task, a.now_ms())
            ),
        )

    assert a.read(open_lines) == ("update_task_estimate(120 min)",)

    def take_back(tx: Transaction) -> None:
        tx.commit(
            [retraction_write(tx, item_of(tx, item), "no longer so")],
            by=AuthorKind.AGENT,
            agent=agent_id(task),
        )

    a.write(take_back)
    assert waiting(a) == []


def item_of(tx: Transaction, item: EntityId) -> Item:
    found_item = tx.item(item)
    assert found_item is not None
    return found_item
