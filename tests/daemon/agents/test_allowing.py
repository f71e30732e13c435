"""What is asked again when a person confirms: policy, category, sovereignty, labels, targets.

Never takes for granted that the agent asked: each case changed after it proposed.
"""

from typing import Any

import pytest

from daemon.agents import allowing
from daemon.agents.decisions import Outcome, Result
from daemon.journal import tasks
from daemon.journal.views import ChecklistItem
from store.transaction import Write
from syncproto.commit import By
from syncproto.ids import EntityId, derived_id, text
from tests.daemon.agents.deciding import commits, confirm, reject, reopen, undo, waiting
from tests.daemon.agents.fleet import Fleet, Home
from tests.daemon.agents.kinds import KINDS, Kind

REASON = "Bob wrote that they all pass now"


def agent_of(home: Home, task: EntityId, **fields: Any) -> EntityId:
    agent = derived_id("agent", text(task), time_of=task)
    home.write(lambda tx: tx.commit([Write(agent, "agent", {"task_id": task, **fields})]))
    return agent


def refused(home: Home, item: EntityId, why: str, **how: Any) -> Result:
    """Confirm what must be refused for this reason, and hold that nothing was written and it waits on."""
    before = commits(home)
    result = confirm(home, item, **how)
    assert (result.result, result.message) == (Outcome.FAILED, why)
    assert commits(home) == before
    assert text(item) in [line.item_id for line in waiting(home)]
    return result


# -- policy and category ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.tool)
@pytest.mark.parametrize("force", [False, True])
def test_a_tool_that_was_denied_since_is_refused_also_to_who_insists(
    a: Home, task: EntityId, kind: Kind, force: bool
) -> None:
    stage = kind.propose(a, task)
    agent_of(a, task, **{f"policy/{kind.tool}": "denied"})
    refused(a, stage.item, allowing.DENIED, force=force)
    assert kind.there(a, stage) == kind.before
    assert reject(a, stage.item).result is Outcome.APPLIED


def test_a_batch_that_was_denied_since_denies_its_elements(a: Home, task: EntityId) -> None:
    item = a.add(task, "Buy paper")
    agent_of(a, task, **{"policy/add_multiple_checklist_items": "denied"})
    refused(a, item, allowing.DENIED)


def test_a_policy_that_this_version_cannot_read_denies(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    agent_of(a, task, **{"policy/update_task_estimate": "ask twice"})
    refused(a, item, allowing.DENIED)


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
        refused(home, item, allowing.DENIED)


@pytest.mark.parametrize("force", [False, True])
def test_a_task_that_came_into_another_category_is_not_the_agents_any_more(
    a: Home, task: EntityId, force: bool
) -> None:
    private = a.new("category", name="Private")
    agent_of(a, task)
    item = a.estimate(task, 120)
    a.set(task, category_id=private)
    refused(a, item, allowing.CATEGORY, force=force)
    a.set(task, category_id=None)
    assert confirm(a, item).result is Outcome.APPLIED


def test_undoing_and_reopening_need_no_permission(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item)
    agent_of(a, task, **{"policy/update_task_estimate": "denied"})
    assert undo(a, item).result is Outcome.APPLIED
    assert reopen(a, item).result is Outcome.APPLIED


# -- sovereignty --------------------------------------------------------------------------------------


def ticked_by_person(a: Home, task: EntityId) -> tuple[EntityId, EntityId]:
    """Return an item that the person ticked, and the proposal to untick it with good evidence."""
    checklist = a.new("checklist", task, task_id=task, title="Todos", position="V")
    item = a.new("checklist_item", task, checklist_id=checklist, title="Tests", is_checked=True, position="V")
    a.fleet.now_ms += 1000
    entry = a.new("entry", task, task_id=task, text="Bob: the tests fail again", source="note")
    a.fleet.now_ms += 1000
    arguments = {"id": text(item), "isChecked": False, "reason": REASON, "evidenceIds": [text(entry)]}
    (proposed,) = a.propose(task, "run", ("update_checklist_item", arguments))
    return item, proposed


def test_evidence_that_counts_lets_a_confirmation_through(a: Home, task: EntityId) -> None:
    item, proposed = ticked_by_person(a, task)
    assert confirm(a, proposed).result is Outcome.APPLIED
    assert a.value(item, "is_checked") is False


def test_how_long_a_reason_must_be_is_the_setting_of_the_device_where_it_is_confirmed(
    a: Home, task: EntityId
) -> None:
    _, proposed = ticked_by_person(a, task)
    refused(a, proposed, allowing.OWN_TICK, reason_min=len(REASON) + 1)
    assert confirm(a, proposed, reason_min=len(REASON)).result is Outcome.APPLIED


def test_evidence_that_was_removed_since_counts_no_more_and_a_person_may_insist(
    a: Home, task: EntityId
) -> None:
    item, proposed = ticked_by_person(a, task)
    entry = a.item(proposed).args["evidenceIds"][0]
    a.set(next(one for one in _entries(a, task) if text(one) == entry), deleted=True)
    refused(a, proposed, allowing.OWN_TICK)
    assert confirm(a, proposed, force=True).result is Outcome.APPLIED
    assert a.value(item, "is_checked") is False


def _entries(home: Home, task: EntityId) -> list[EntityId]:
    return home.read(lambda snapshot: snapshot.referring(task, "task_entry"))


def test_what_the_person_sets_in_an_edit_needs_no_evidence(a: Home, task: EntityId) -> None:
    checklist = a.new("checklist", task, task_id=task, title="Todos", position="V")
    item = a.new("checklist_item", task, checklist_id=checklist, title="Tests", is_checked=True, position="V")
    call = {"id": text(item), "title": "Write tests"}
    (proposed,) = a.propose(task, "run", ("update_checklist_item", call))
    assert confirm(a, proposed, edit={"isChecked": False}).result is Outcome.APPLIED
    assert (a.value(item, "title"), a.value(item, "is_checked")) == ("Write tests", False)
    version = a.entity(item).version("is_checked")
    assert version is not None
    assert version.source.by is By.USER


def test_a_tick_that_is_left_out_of_an_edit_is_not_set(a: Home, task: EntityId) -> None:
    checklist = a.new("checklist", task, task_id=task, title="Todos", position="V")
    item = a.new("checklist_item", task, checklist_id=checklist, title="Tests", position="V")
    made = a.add(task, "Own", "earlier")
    confirm(a, made)
    own = derived_id("entity", text(made), time_of=made)
    call = {"id": text(own), "title": "Owned", "isChecked": True}
    (proposed,) = a.propose(task, "run", ("update_checklist_item", call))
    assert confirm(a, proposed, edit={"isChecked": None}).result is Outcome.APPLIED
    assert (a.value(own, "title"), a.value(own, "is_checked")) == ("Owned", False)
    assert a.value(item, "title") == "Tests"


def test_a_tick_of_the_persons_since_is_stale_and_the_agents_reason_is_not_asked_for(
    a: Home, task: EntityId
) -> None:
    item, proposed = ticked_by_person(a, task)
    a.set(item, is_checked=True)
    result = confirm(a, proposed)
    assert (result.result, result.base, result.current, result.proposed) == (Outcome.STALE, True, True, False)


# -- labels -------------------------------------------------------------------------------------------


def label_proposed(home: Home, task: EntityId, name: str = "bug") -> tuple[EntityId, EntityId]:
    label = home.new("label", name=name)
    call = {"id": text(label), "confidence": "high"}
    (item,) = home.propose(task, f"run {name}", ("assign_task_label", call))
    return label, item


def test_a_sixth_label_is_refused_also_to_who_insists(a: Home, task: EntityId) -> None:
    label, item = label_proposed(a, task)
    for number in range(5):
        a.set(task, **{f"label_ids/{text(a.new('label', name=f'own {number}'))}": True})
    refused(a, item, allowing.FULL)
    refused(a, item, allowing.FULL, force=True)
    own = next(one for one in a.entity(task).members("label_ids") if one != text(label))
    a.set(task, **{f"label_ids/{own}": False})
    assert confirm(a, item).result is Outcome.APPLIED


def test_a_label_that_nobody_spoke_of_is_shown_as_not_there(a: Home, task: EntityId) -> None:
    label_proposed(a, task)
    (line,) = waiting(a)
    assert (line.base, line.current, line.proposed, line.subject) == (False, False, True, "bug")


def test_labels_confirmed_one_after_the_other_end_at_five(a: Home, task: EntityId) -> None:
    items = [label_proposed(a, task, f"label {number}")[1] for number in range(6)]
    results = [confirm(a, item) for item in items]
    assert [one.result for one in results] == [Outcome.APPLIED] * 5 + [Outcome.FAILED]
    assert results[-1].message == allowing.FULL


def test_a_label_that_was_scoped_away_from_the_task_is_refused(a: Home, task: EntityId) -> None:
    label, item = label_proposed(a, task)
    elsewhere = a.new("category", name="Elsewhere")
    a.set(label, **{f"category_ids/{text(elsewhere)}": True})
    refused(a, item, allowing.SCOPE, force=True)


def test_a_label_that_was_removed_makes_its_proposal_obsolete(a: Home, task: EntityId) -> None:
    label, item = label_proposed(a, task)
    a.set(label, deleted=True)
    assert (confirm(a, item).result, confirm(a, item).message) == (Outcome.OBSOLETE, "the label was removed")
    assert waiting(a) == []
    a.set(label, deleted=False)
    assert confirm(a, item).result is Outcome.APPLIED


def test_a_label_that_was_denied_since_in_another_proposal_is_refused_unless_insisted(
    a: Home, task: EntityId
) -> None:
    label, first = label_proposed(a, task)
    confirm(a, first)
    a.set(task, **{f"label_ids/{text(label)}": False})
    a.set(task, **{f"label_ids/{text(label)}": None})
    call = {"id": text(label), "confidence": "high"}
    (second,) = a.propose(task, "later", ("assign_task_label", call))
    undo(a, first)
    assert second != first
    refused(a, second, allowing.SUPPRESSED)
    assert confirm(a, second, force=True).result is Outcome.APPLIED


def test_the_rejection_that_is_taken_back_does_not_suppress_the_label(a: Home, task: EntityId) -> None:
    label, item = label_proposed(a, task)
    reject(a, item)
    assert confirm(a, item, again=True).result is Outcome.APPLIED
    assert a.value(task, f"label_ids/{text(label)}") is True


# -- what an update is about --------------------------------------------------------------------------


def item_proposed(a: Home, task: EntityId, **change: Any) -> tuple[EntityId, EntityId]:
    made = a.add(task, "Tests", "earlier")
    confirm(a, made)
    item = derived_id("entity", text(made), time_of=made)
    call = {"id": text(item), **(change or {"isChecked": True})}
    (proposed,) = a.propose(task, "run", ("update_checklist_item", call))
    return item, proposed


def test_updating_an_item_moves_the_tasks_clock_but_is_no_word_of_the_persons_on_it(
    a: Home, task: EntityId
) -> None:
    _, proposed = item_proposed(a, task)
    before = a.entity(task).clock
    confirm(a, proposed)
    assert a.entity(task).clock != before
    ((_, received),) = a.read(lambda snapshot: snapshot.feed(snapshot.feed_end() - 1, 1))
    assert [one.by for one in received.commit.operations if one.entity == task] == [By.AGENT]


def test_an_item_that_was_removed_makes_its_update_obsolete(a: Home, task: EntityId) -> None:
    item, proposed = item_proposed(a, task)
    a.set(item, deleted=True)
    result = confirm(a, proposed, force=True)
    assert (result.result, result.message) == (Outcome.OBSOLETE, "what it changes was removed")
    assert waiting(a) == []


def test_an_item_whose_list_was_removed_makes_its_update_obsolete(a: Home, task: EntityId) -> None:
    _, proposed = item_proposed(a, task)
    a.set(derived_id("checklist", text(task), time_of=task), deleted=True)
    assert confirm(a, proposed).message == "what it changes was removed"


def test_an_item_that_was_archived_can_be_updated_still(a: Home, task: EntityId) -> None:
    item, proposed = item_proposed(a, task)
    a.set(item, is_archived=True)
    assert confirm(a, proposed).result is Outcome.APPLIED
    assert (a.value(item, "is_checked"), a.value(item, "is_archived")) == (True, True)


def test_an_item_that_was_moved_within_the_task_can_be_updated_still(a: Home, task: EntityId) -> None:
    item, proposed = item_proposed(a, task)
    other = a.new("checklist", task, task_id=task, title="Later", position="X")
    a.set(item, checklist_id=other, position="V")
    assert confirm(a, proposed).result is Outcome.APPLIED
    assert (a.value(item, "is_checked"), a.value(item, "checklist_id")) == (True, other)


@pytest.mark.parametrize("force", [False, True])
def test_an_item_that_was_moved_to_another_task_is_out_of_reach(a: Home, task: EntityId, force: bool) -> None:
    item, proposed = item_proposed(a, task)
    other = a.new("task", title="Another")
    theirs = a.new("checklist", other, task_id=other, title="Theirs", position="V")
    a.set(item, checklist_id=theirs)
    result = confirm(a, proposed, force=force)
    assert (result.result, result.message) == (Outcome.OBSOLETE, "what it changes is on another task now")
    assert a.value(item, "is_checked") is False


def test_a_made_item_that_was_moved_to_another_task_is_not_written_again(a: Home, task: EntityId) -> None:
    made = a.add(task, "Tests")
    confirm(a, made)
    item = derived_id("entity", text(made), time_of=made)
    other = a.new("task", title="Another")
    theirs = a.new("checklist", other, task_id=other, title="Theirs", position="V")
    a.set(item, checklist_id=theirs, title="Theirs now")
    result = confirm(a, made, force=True)
    assert result.message == "what it changes is on another task now"
    assert a.value(item, "title") == "Theirs now"


def test_an_edit_cannot_turn_a_label_into_another(a: Home, task: EntityId) -> None:
    _, item = label_proposed(a, task)
    other = a.new("label", name="other")
    result = confirm(a, item, edit={"id": text(other)})
    assert (result.result, "cannot change what" in result.message) == (Outcome.FAILED, True)


def test_an_edit_cannot_turn_an_update_to_another_item(a: Home, task: EntityId) -> None:
    _, proposed = item_proposed(a, task)
    a.fleet.now_ms += 1
    other, _ = item_proposed(a, a.new("task", title="Another"))
    before = commits(a)
    assert confirm(a, proposed, edit={"id": text(other)}, force=True).result is Outcome.FAILED
    assert commits(a) == before


def test_a_reason_goes_with_the_status_that_it_was_given_for(a: Home, task: EntityId) -> None:
    call = ("set_task_status", {"status": "BLOCKED", "reason": "waits for Ann"})
    (item,) = a.propose(task, "run", call)
    assert confirm(a, item, edit={"status": "ON HOLD"}).result is Outcome.APPLIED
    assert (a.value(task, "status"), a.value(task, "reason")) == ("ON HOLD", "waits for Ann")
    undo(a, item)
    assert confirm(a, item, again=True, edit={"status": "GROOMED"}).result is Outcome.APPLIED
    assert (a.value(task, "status"), a.value(task, "reason")) == ("GROOMED", None)


@pytest.mark.parametrize("status", ["DONE", "REJECTED"])
def test_no_edit_closes_a_task_through_an_agents_proposal(a: Home, task: EntityId, status: str) -> None:
    (item,) = a.propose(task, "run", ("set_task_status", {"status": "GROOMED"}))
    assert confirm(a, item, edit={"status": status}).result is Outcome.FAILED
    assert a.value(task, "status") == "OPEN"


# -- whose it is --------------------------------------------------------------------------------------


def shown_item(home: Home, task: EntityId, item: EntityId) -> ChecklistItem:
    shown = home.read(lambda snapshot: tasks.show(snapshot, text(task)))
    return next(one for listed in shown.checklists for one in listed.items if one.id == text(item))


def test_a_tick_as_proposed_is_shown_as_the_agents_and_an_agent_may_change_it_later(
    a: Home, task: EntityId
) -> None:
    item, proposed = item_proposed(a, task)
    confirm(a, proposed)
    assert shown_item(a, task, item).checked_by == "agent"
    a.fleet.now_ms += 1
    (back,) = a.propose(task, "later", ("update_checklist_item", {"id": text(item), "isChecked": False}))
    assert confirm(a, back).result is Outcome.APPLIED
    assert (a.value(item, "is_checked"), shown_item(a, task, item).checked_by) == (False, "agent")


def test_a_tick_that_was_edited_is_shown_as_the_persons_and_an_agent_must_argue_against_it(
    a: Home, task: EntityId
) -> None:
    item, proposed = item_proposed(a, task, isChecked=True, title="Write tests")
    confirm(a, proposed, edit={"title": "Write all tests"})
    assert shown_item(a, task, item).checked_by == "user"
    a.fleet.now_ms += 1
    call = {"id": text(item), "isChecked": False}
    assert a.propose(task, "later", ("update_checklist_item", call)) == []


def test_a_value_that_was_changed_and_changed_back_is_not_told_as_another_one(
    a: Home, task: EntityId
) -> None:
    item, proposed = item_proposed(a, task, title="Write tests")
    a.set(item, title="Test it")
    a.set(item, title="Tests")
    result = confirm(a, proposed)
    assert result.result is Outcome.STALE
    assert result.message.startswith(
        "title was set again since: it is Tests as before, and would be Write tests;"
    )


# -- several fields in one item -----------------------------------------------------------------------


def test_one_field_that_changed_makes_the_whole_item_stale_and_all_of_it_is_compared(
    a: Home, task: EntityId
) -> None:
    item, proposed = item_proposed(a, task, title="Write tests", isChecked=True)
    a.set(item, title="Test it")
    result = confirm(a, proposed)
    assert result.result is Outcome.STALE
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
    assert confirm(a, proposed).result is Outcome.APPLIED
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
    """The other device's run has another reason for the same: it is the one that is shown by now."""
    fleet.sync()
    call = {"status": "BLOCKED", "reason": "waits for Ann"}
    (item,) = a.propose(task, "one", ("set_task_status", call))
    (line,) = waiting(a)
    fleet.now_ms += 1000
    b.propose(task, "two", ("set_task_status", {**call, "reason": "waits for Bob"}))
    fleet.sync()
    result = confirm(a, item, shown=bytes.fromhex(line.args_hash))
    assert (result.result, "not what you were shown" in result.message) == (Outcome.STALE, True)
    (line,) = waiting(a)
    assert line.args["reason"] == "waits for Bob"
    assert confirm(a, item, shown=bytes.fromhex(line.args_hash)).result is Outcome.APPLIED
    assert a.value(task, "reason") == "waits for Bob"


def test_an_edited_confirmation_that_is_sent_twice_is_answered_as_made_already(
    a: Home, task: EntityId
) -> None:
    """What would run by now are the person's own words: they are not what was shown before."""
    (item,) = a.propose(task, "run", ("set_task_title", {"title": "Report"}))
    (line,) = waiting(a)
    asked: dict[str, Any] = {"edit": {"title": "My report"}, "shown": bytes.fromhex(line.args_hash)}
    assert confirm(a, item, **asked).result is Outcome.APPLIED
    before = commits(a)
    assert confirm(a, item, **asked).result is Outcome.ALREADY
    assert commits(a) == before
