"""The checks that are repeated when a person confirms: policy, category, sovereignty, labels, targets.

Never relies on a check at the proposal: each case changed after the agent proposed.
"""

from typing import Any

import pytest

from daemon.agents.deciding import recheck
from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.journal import tasks
from daemon.journal.views.structures import ChecklistItem
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.daemon.agents.deciding.recheck_steps import label_proposed, refused
from tests.support.decision_verbs import commits, confirm, reject, reopen, undo, waiting
from tests.support.fleet import Fleet, Home
from tests.support.proposal_kinds import KINDS, Kind

REASON = "Bob wrote that they all pass now"


def agent_of(home: Home, task: EntityId, **fields: Any) -> EntityId:
    agent = derived_id("agent", id_to_text(task), time_of=task)
    home.write(lambda tx: tx.commit([EntityWrite(agent, "agent", {"task_id": task, **fields})]))
    return agent


# -- policy and category ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.tool)
@pytest.mark.parametrize("force", [False, True])
def test_a_tool_that_was_denied_since_is_refused_also_to_who_insists(
    a: Home, task: EntityId, kind: Kind, force: bool
) -> None:
    stage = kind.propose(a, task)
    agent_of(a, task, **{f"policy/{kind.tool}": "denied"})
    refused(a, stage.item, recheck.DENIED_BY_POLICY, force=force)
    assert kind.there(a, stage) == kind.before
    assert reject(a, stage.item).result is DecisionOutcome.APPLIED


def test_a_batch_that_was_denied_since_denies_its_elements(a: Home, task: EntityId) -> None:
    item = a.add(task, "Buy paper")
    agent_of(a, task, **{"policy/add_multiple_checklist_items": "denied"})
    refused(a, item, recheck.DENIED_BY_POLICY)


def test_a_policy_that_this_version_cannot_read_denies(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    agent_of(a, task, **{"policy/update_task_estimate": "ask twice"})
    refused(a, item, recheck.DENIED_BY_POLICY)


def test_a_policy_of_two_devices_that_differ_is_the_tighter_one(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    item = a.estimate(task, 120)
    agent = agent_of(a, task)
    fleet.sync()
    b.set(agent, **{"policy/update_task_estimate": "denied"})
    a.set(agent, **{"policy/update_task_estimate": "deferred"})
    fleet.sync()
    for home in (a, b):
        refused(home, item, recheck.DENIED_BY_POLICY)


@pytest.mark.parametrize("force", [False, True])
def test_a_task_that_came_into_another_category_is_not_the_agents_any_more(
    a: Home, task: EntityId, force: bool
) -> None:
    private = a.new("category", name="Private")
    agent_of(a, task)
    item = a.estimate(task, 120)
    a.set(task, category_id=private)
    refused(a, item, recheck.CATEGORY_NOT_ALLOWED, force=force)
    a.set(task, category_id=None)
    assert confirm(a, item).result is DecisionOutcome.APPLIED


def test_undoing_and_reopening_need_no_permission(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item)
    agent_of(a, task, **{"policy/update_task_estimate": "denied"})
    assert undo(a, item).result is DecisionOutcome.APPLIED
    assert reopen(a, item).result is DecisionOutcome.APPLIED


# -- sovereignty --------------------------------------------------------------------------------------


def ticked_by_person(a: Home, task: EntityId) -> tuple[EntityId, EntityId]:
    """Return an item that the person ticked, and the proposal to untick it with good evidence."""
    checklist = a.new("checklist", task, task_id=task, title="Todos", position="V")
    item = a.new("checklist_item", task, checklist_id=checklist, title="Tests", is_checked=True, position="V")
    a.fleet.now_ms += 1000
    entry = a.new("entry", task, task_id=task, text="Bob: the tests fail again", source="note")
    a.fleet.now_ms += 1000
    arguments = {
        "id": id_to_text(item),
        "isChecked": False,
        "reason": REASON,
        "evidenceIds": [id_to_text(entry)],
    }
    (proposed,) = a.propose(task, "run", ("update_checklist_item", arguments))
    return item, proposed


def test_evidence_that_counts_lets_a_confirmation_through(a: Home, task: EntityId) -> None:
    item, proposed = ticked_by_person(a, task)
    assert confirm(a, proposed).result is DecisionOutcome.APPLIED
    assert a.value(item, "is_checked") is False


def test_how_long_a_reason_must_be_is_the_setting_of_the_device_where_it_is_confirmed(
    a: Home, task: EntityId
) -> None:
    _, proposed = ticked_by_person(a, task)
    refused(a, proposed, recheck.PERSON_TICKED, reason_min=len(REASON) + 1)
    assert confirm(a, proposed, reason_min=len(REASON)).result is DecisionOutcome.APPLIED


def test_evidence_that_was_removed_since_counts_no_more_and_a_person_may_insist(
    a: Home, task: EntityId
) -> None:
    item, proposed = ticked_by_person(a, task)
    entry = a.item(proposed).args["evidenceIds"][0]
    a.set(
        next(identifier for identifier in _entries(a, task) if id_to_text(identifier) == entry), deleted=True
    )
    refused(a, proposed, recheck.PERSON_TICKED)
    assert confirm(a, proposed, force=True).result is DecisionOutcome.APPLIED
    assert a.value(item, "is_checked") is False


def _entries(home: Home, task: EntityId) -> list[EntityId]:
    return home.read(lambda snapshot: snapshot.ids_pointing_at(task, "task_entry"))


def test_what_the_person_sets_in_an_edit_needs_no_evidence(a: Home, task: EntityId) -> None:
    checklist = a.new("checklist", task, task_id=task, title="Todos", position="V")
    item = a.new("checklist_item", task, checklist_id=checklist, title="Tests", is_checked=True, position="V")
    call = {"id": id_to_text(item), "title": "Write tests"}
    (proposed,) = a.propose(task, "run", ("update_checklist_item", call))
    assert confirm(a, proposed, edit={"isChecked": False}).result is DecisionOutcome.APPLIED
    assert (a.value(item, "title"), a.value(item, "is_checked")) == ("Write tests", False)
    version = a.entity(item).version("is_checked")
    assert version is not None
    assert version.source.by is AuthorKind.USER


def test_a_tick_that_is_left_out_of_an_edit_is_not_set(a: Home, task: EntityId) -> None:
    checklist = a.new("checklist", task, task_id=task, title="Todos", position="V")
    item = a.new("checklist_item", task, checklist_id=checklist, title="Tests", position="V")
    identifier = a.add(task, "Own", "earlier")
    confirm(a, identifier)
    own = derived_id("entity", id_to_text(identifier), time_of=identifier)
    call = {"id": id_to_text(own), "title": "Owned", "isChecked": True}
    (proposed,) = a.propose(task, "run", ("update_checklist_item", call))
    assert confirm(a, proposed, edit={"isChecked": None}).result is DecisionOutcome.APPLIED
    assert (a.value(own, "title"), a.value(own, "is_checked")) == ("Owned", False)
    assert a.value(item, "title") == "Tests"


def test_a_tick_of_the_persons_since_is_stale_and_the_agents_reason_is_not_asked_for(
    a: Home, task: EntityId
) -> None:
    item, proposed = ticked_by_person(a, task)
    a.set(item, is_checked=True)
    result = confirm(a, proposed)
    assert (result.result, result.base, result.current, result.proposed) == (
        DecisionOutcome.STALE,
        True,
        True,
        False,
    )


# -- what an update is about --------------------------------------------------------------------------


def item_proposed(a: Home, task: EntityId, **change: Any) -> tuple[EntityId, EntityId]:
    identifier = a.add(task, "Tests", "earlier")
    confirm(a, identifier)
    item = derived_id("entity", id_to_text(identifier), time_of=identifier)
    call = {"id": id_to_text(item), **(change or {"isChecked": True})}
    (proposed,) = a.propose(task, "run", ("update_checklist_item", call))
    return item, proposed


def test_updating_an_item_moves_the_tasks_clock_but_is_no_word_of_the_persons_on_it(
    a: Home, task: EntityId
) -> None:
    _, proposed = item_proposed(a, task)
    before = a.entity(task).clock
    confirm(a, proposed)
    assert a.entity(task).clock != before
    ((_, received),) = a.read(lambda snapshot: snapshot.read_feed(snapshot.feed_end() - 1, 1))
    assert [operation.by for operation in received.commit.operations if operation.entity == task] == [
        AuthorKind.AGENT
    ]


def test_an_item_that_was_removed_makes_its_update_obsolete(a: Home, task: EntityId) -> None:
    item, proposed = item_proposed(a, task)
    a.set(item, deleted=True)
    result = confirm(a, proposed, force=True)
    assert (result.result, result.message) == (DecisionOutcome.OBSOLETE, "what it changes was removed")
    assert waiting(a) == []


def test_an_item_whose_list_was_removed_makes_its_update_obsolete(a: Home, task: EntityId) -> None:
    _, proposed = item_proposed(a, task)
    a.set(derived_id("checklist", id_to_text(task), time_of=task), deleted=True)
    assert confirm(a, proposed).message == "what it changes was removed"


def test_an_item_that_was_archived_can_be_updated_still(a: Home, task: EntityId) -> None:
    item, proposed = item_proposed(a, task)
    a.set(item, is_archived=True)
    assert confirm(a, proposed).result is DecisionOutcome.APPLIED
    assert (a.value(item, "is_checked"), a.value(item, "is_archived")) == (True, True)


def test_an_item_that_was_moved_within_the_task_can_be_updated_still(a: Home, task: EntityId) -> None:
    item, proposed = item_proposed(a, task)
    other = a.new("checklist", task, task_id=task, title="Later", position="X")
    a.set(item, checklist_id=other, position="V")
    assert confirm(a, proposed).result is DecisionOutcome.APPLIED
    assert (a.value(item, "is_checked"), a.value(item, "checklist_id")) == (True, other)


@pytest.mark.parametrize("force", [False, True])
def test_an_item_that_was_moved_to_another_task_is_out_of_reach(a: Home, task: EntityId, force: bool) -> None:
    item, proposed = item_proposed(a, task)
    other = a.new("task", title="Another")
    theirs = a.new("checklist", other, task_id=other, title="Theirs", position="V")
    a.set(item, checklist_id=theirs)
    result = confirm(a, proposed, force=force)
    assert (result.result, result.message) == (
        DecisionOutcome.OBSOLETE,
        "what it changes is on another task now",
    )
    assert a.value(item, "is_checked") is False


def test_a_made_item_that_was_moved_to_another_task_is_not_written_again(a: Home, task: EntityId) -> None:
    identifier = a.add(task, "Tests")
    confirm(a, identifier)
    item = derived_id("entity", id_to_text(identifier), time_of=identifier)
    other = a.new("task", title="Another")
    theirs = a.new("checklist", other, task_id=other, title="Theirs", position="V")
    a.set(item, checklist_id=theirs, title="Theirs now")
    result = confirm(a, identifier, force=True)
    assert result.message == "what it changes is on another task now"
    assert a.value(item, "title") == "Theirs now"


def test_an_edit_cannot_turn_a_label_into_another(a: Home, task: EntityId) -> None:
    _, item = label_proposed(a, task)
    other = a.new("label", name="other")
    result = confirm(a, item, edit={"id": id_to_text(other)})
    assert (result.result, "cannot change what" in result.message) == (DecisionOutcome.FAILED, True)


def test_an_edit_cannot_turn_an_update_to_another_item(a: Home, task: EntityId) -> None:
    _, proposed = item_proposed(a, task)
    a.fleet.now_ms += 1
    other, _ = item_proposed(a, a.new("task", title="Another"))
    before = commits(a)
    assert confirm(a, proposed, edit={"id": id_to_text(other)}, force=True).result is DecisionOutcome.FAILED
    assert commits(a) == before


def test_a_reason_goes_with_the_status_that_it_was_given_for(a: Home, task: EntityId) -> None:
    call = ("set_task_status", {"status": "BLOCKED", "reason": "waits for Ann"})
    (item,) = a.propose(task, "run", call)
    assert confirm(a, item, edit={"status": "ON HOLD"}).result is DecisionOutcome.APPLIED
    assert (a.value(task, "status"), a.value(task, "reason")) == ("ON HOLD", "waits for Ann")
    undo(a, item)
    assert confirm(a, item, again=True, edit={"status": "GROOMED"}).result is DecisionOutcome.APPLIED
    assert (a.value(task, "status"), a.value(task, "reason")) == ("GROOMED", None)


@pytest.mark.parametrize("status", ["DONE", "REJECTED"])
def test_no_edit_closes_a_task_through_an_agents_proposal(a: Home, task: EntityId, status: str) -> None:
    (item,) = a.propose(task, "run", ("set_task_status", {"status": "GROOMED"}))
    assert confirm(a, item, edit={"status": status}).result is DecisionOutcome.FAILED
    assert a.value(task, "status") == "OPEN"


# -- whose it is --------------------------------------------------------------------------------------


def shown_item(home: Home, task: EntityId, item: EntityId) -> ChecklistItem:
    shown_task = home.read(lambda snapshot: tasks.show(snapshot, id_to_text(task)))
    return next(
        checklist_item
        for listed in shown_task.checklists
        for checklist_item in listed.items
        if checklist_item.id == id_to_text(item)
    )


def test_a_tick_as_proposed_is_shown_as_the_agents_and_an_agent_may_change_it_later(
    a: Home, task: EntityId
) -> None:
    item, proposed = item_proposed(a, task)
    confirm(a, proposed)
    assert shown_item(a, task, item).checked_by == "agent"
    a.fleet.now_ms += 1
    (back,) = a.propose(
        task, "later", ("update_checklist_item", {"id": id_to_text(item), "isChecked": False})
    )
    assert confirm(a, back).result is DecisionOutcome.APPLIED
    assert (a.value(item, "is_checked"), shown_item(a, task, item).checked_by) == (False, "agent")


def test_a_tick_that_was_edited_is_shown_as_the_persons_and_an_agent_must_argue_against_it(
    a: Home, task: EntityId
) -> None:
    item, proposed = item_proposed(a, task, isChecked=True, title="Write tests")
    confirm(a, proposed, edit={"title": "Write all tests"})
    assert shown_item(a, task, item).checked_by == "user"
    a.fleet.now_ms += 1
    call = {"id": id_to_text(item), "isChecked": False}
    assert a.propose(task, "later", ("update_checklist_item", call)) == []


def test_a_value_that_was_changed_and_changed_back_is_not_told_as_another_one(
    a: Home, task: EntityId
) -> None:
    item, proposed = item_proposed(a, task, title="Write tests")
    a.set(item, title="Test it")
    a.set(item, title="Tests")
    result = confirm(a, proposed)
    assert result.result is DecisionOutcome.STALE
    assert result.message == "title was set again since: it is Tests as before, and would be Write tests"


# -- several fields in one item -----------------------------------------------------------------------


def test_one_field_that_changed_makes_the_whole_item_stale_and_all_of_it_is_compared(
    a: Home, task: EntityId
) -> None:
    item, proposed = item_proposed(a, task, title="Write tests", isChecked=True)
    a.set(item, title="Test it")
    result = confirm(a, proposed)
    assert result.result is DecisionOutcome.STALE
    assert result.message.startswith(
        "title changed since: it was Tests, is Test it, and would be Write tests"
    )
    assert result.base == {"title": "Tests", "is_checked": False}
    assert result.current == {"title": "Test it", "is_checked": False}
    assert result.proposed == {"title": "Write tests", "is_checked": True}
    a.set(item, is_checked=True)
    assert confirm(a, proposed).message.startswith("several of its values changed since")


def test_a_field_that_the_item_does_not_write_leaves_it_fresh(a: Home, task: EntityId) -> None:
    item, proposed = item_proposed(a, task)
    a.set(item, title="Test it", is_archived=True)
    assert confirm(a, proposed).result is DecisionOutcome.APPLIED
    assert (a.value(item, "title"), a.value(item, "is_checked")) == ("Test it", True)


def test_undoing_several_fields_tells_whether_all_is_as_it_was(a: Home, task: EntityId) -> None:
    item, proposed = item_proposed(a, task, title="Write tests", isChecked=True)
    confirm(a, proposed)
    assert undo(a, proposed).message == "undone: all that it changed is as it was"
    assert (a.value(item, "title"), a.value(item, "is_checked")) == ("Tests", False)
    confirm(a, proposed, again=True)
    a.set(item, title="Test it")
    assert undo(a, proposed).message == "undone, but your later edits stay"
    assert (a.value(item, "title"), a.value(item, "is_checked")) == ("Test it", False)


def test_a_reason_that_nobody_gave_is_not_compared(a: Home, task: EntityId) -> None:
    a.propose(task, "run", ("set_task_status", {"status": "GROOMED"}))
    (line,) = waiting(a)
    assert (line.base, line.current, line.proposed) == ("OPEN", "OPEN", "GROOMED")


def test_what_is_not_shown_any_more_does_not_run(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    """The other device's run has another reason for the same proposal, and by now its reason is shown."""
    fleet.sync()
    call = {"status": "BLOCKED", "reason": "waits for Ann"}
    (item,) = a.propose(task, "one", ("set_task_status", call))
    (line,) = waiting(a)
    fleet.now_ms += 1000
    b.propose(task, "two", ("set_task_status", {**call, "reason": "waits for Bob"}))
    fleet.sync()
    result = confirm(a, item, shown=bytes.fromhex(line.args_hash))
    assert (result.result, result.message_id) == (DecisionOutcome.STALE, "proposal-not-as-shown")
    (line,) = waiting(a)
    assert line.args["reason"] == "waits for Bob"
    assert confirm(a, item, shown=bytes.fromhex(line.args_hash)).result is DecisionOutcome.APPLIED
    assert a.value(task, "reason") == "waits for Bob"


def test_an_edited_confirmation_that_is_sent_twice_is_answered_as_made_already(
    a: Home, task: EntityId
) -> None:
    """By now the person's own words would be applied, and they are not what was shown before."""
    (item,) = a.propose(task, "run", ("set_task_title", {"title": "Report"}))
    (line,) = waiting(a)
    fields: dict[str, Any] = {"edit": {"title": "My report"}, "shown": bytes.fromhex(line.args_hash)}
    assert confirm(a, item, **fields).result is DecisionOutcome.APPLIED
    before = commits(a)
    assert confirm(a, item, **fields).result is DecisionOutcome.ALREADY
    assert commits(a) == before
