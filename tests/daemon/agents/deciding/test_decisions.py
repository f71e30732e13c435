"""Decisions on one device: confirm, reject, undo, reopen, defer; and what is stale, obsolete or expired.

Never looks at the inside of a decision: only at the answers, and at what people see.
"""

from typing import Any

import pytest

from daemon.agents.deciding.decision_result import DecisionOutcome
from store.fold.verdicts import DecisionStatus
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import Author, AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import commits, confirm, defer, reject, reopen, undo, waiting
from tests.support.fleet import DAY_MS, Fleet, Home

# -- one device ---------------------------------------------------------------------------------------


def test_confirming_puts_the_value_into_effect_and_stamps_the_agent(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    result = confirm(a, item)
    assert (result.result, result.status) == (DecisionOutcome.APPLIED, "confirmed")
    version = a.entity(task).version("estimate_minutes")
    assert version is not None
    assert (version.value, version.source.by, version.source.effect) == (120, AuthorKind.AGENT, item)
    assert waiting(a) == []


def test_a_confirmation_is_one_commit_with_decision_effect_and_messages(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    before = commits(a)
    confirm(a, item)
    assert commits(a) == before + 1
    ((_, received),) = a.read(lambda snapshot: snapshot.read_feed(before, 10))
    kinds = [operation.kind for operation in received.commit.operations]
    assert kinds == ["decision", "task", "message", "message"]
    assert received.commit.author == Author(
        AuthorKind.USER, derived_id("agent", id_to_text(task), time_of=task)
    )


def test_confirming_with_an_edit_stamps_the_person(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    assert confirm(a, item, edit={"minutes": 90}).result is DecisionOutcome.APPLIED
    version = a.entity(task).version("estimate_minutes")
    assert version is not None
    assert (version.value, version.source.by, version.source.effect) == (90, AuthorKind.USER, item)
    assert a.item(item).decisions[0].edited_args == {"minutes": 90}


def test_an_edit_that_changes_nothing_confirms_as_proposed(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item, edit={"minutes": "120"})
    assert a.item(item).decisions[0].edited_args is None


@pytest.mark.parametrize("edit", [{"minutes": 0}, {"minutes": 5000}, {"hours": 2}, {"minutes": None}])
def test_an_edit_that_the_tool_refuses_writes_nothing(
    a: Home, task: EntityId, edit: dict[str, Value]
) -> None:
    item = a.estimate(task, 120)
    before = commits(a)
    result = confirm(a, item, edit=edit)
    assert (result.result, result.status) == (DecisionOutcome.FAILED, "pending")
    assert commits(a) == before


def test_the_decision_records_what_was_shown_and_known(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    reject(a, item, "I know better")
    first = a.item(item).decisions[0]
    reopen(a, item)
    confirm(a, item)
    last = a.item(item).decisions[-1]
    assert first.reason == "I know better"
    assert first.id in last.seen
    assert len(last.seen) == 2
    raw = a.entity(last.id)
    assert raw.value("via") == "cli"
    assert isinstance(raw.value("args_hash"), bytes)


@pytest.mark.parametrize("decide", [confirm, reject, undo, reopen, defer])
def test_an_unknown_item_is_not_found(a: Home, task: EntityId, decide: Any) -> None:
    assert decide(a, task).result is DecisionOutcome.NOT_FOUND


def test_the_same_verdict_again_is_already_so_and_writes_nothing(a: Home, task: EntityId) -> None:
    confirmed, rejected = a.estimate(task, 120), a.add(task, "Buy paper", "other")
    confirm(a, confirmed)
    reject(a, rejected)
    before = commits(a)
    assert confirm(a, confirmed).result is DecisionOutcome.ALREADY
    assert reject(a, rejected).result is DecisionOutcome.ALREADY
    assert commits(a) == before


def test_the_opposite_verdict_is_a_conflict_until_the_first_is_taken_back(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item)
    assert reject(a, item).result is DecisionOutcome.CONFLICT
    assert undo(a, item).result is DecisionOutcome.APPLIED
    assert a.value(task, "estimate_minutes") == 60
    assert confirm(a, item).result is DecisionOutcome.CONFLICT
    assert reopen(a, item).result is DecisionOutcome.APPLIED
    assert confirm(a, item).result is DecisionOutcome.APPLIED
    assert a.value(task, "estimate_minutes") == 120


def test_confirm_again_confirms_what_was_rejected(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    reject(a, item)
    assert confirm(a, item, again=True).result is DecisionOutcome.APPLIED
    assert a.value(task, "estimate_minutes") == 120


def test_reopening_takes_back_a_confirmation_too(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item)
    assert reopen(a, item).status == "pending"
    assert a.value(task, "estimate_minutes") == 60
    assert reopen(a, item).result is DecisionOutcome.ALREADY


def test_undoing_what_was_never_confirmed_is_a_conflict(a: Home, task: EntityId) -> None:
    assert undo(a, a.estimate(task, 120)).result is DecisionOutcome.CONFLICT


def test_undo_is_already_so_the_second_time(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item)
    undo(a, item)
    assert undo(a, item).result is DecisionOutcome.ALREADY


def test_a_confirmed_item_edited_otherwise_is_a_conflict_and_the_same_edit_is_not(
    a: Home, task: EntityId
) -> None:
    item = a.estimate(task, 120)
    confirm(a, item, edit={"minutes": 90})
    assert confirm(a, item, edit={"minutes": 30}).result is DecisionOutcome.CONFLICT
    assert confirm(a, item, edit={"minutes": 90}).result is DecisionOutcome.ALREADY
    assert confirm(a, item).result is DecisionOutcome.ALREADY


# -- stale, obsolete, expired, overtaken --------------------------------------------------------------


def test_a_changed_base_is_stale_and_shows_base_current_and_proposed(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    a.set(task, estimate_minutes=45)
    before = commits(a)
    result = confirm(a, item)
    assert result.result is DecisionOutcome.STALE
    assert (result.base, result.current, result.proposed) == (60, 45, 120)
    assert commits(a) == before


def test_forcing_makes_a_stale_item_win(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    a.set(task, estimate_minutes=45)
    assert confirm(a, item, force=True).result is DecisionOutcome.APPLIED
    assert a.value(task, "estimate_minutes") == 120


def test_an_edit_of_another_field_leaves_an_item_fresh(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    a.set(task, title="Write the long report", priority="P0")
    assert confirm(a, item).result is DecisionOutcome.APPLIED


def test_a_value_written_anew_with_the_same_content_is_stale(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    a.set(task, estimate_minutes=60)
    assert confirm(a, item).result is DecisionOutcome.STALE


def test_a_base_covered_but_showing_another_value_is_stale(a: Home, task: EntityId) -> None:
    """The run saw the value of a confirmation. Its undo brings back an older value, which is in the base."""
    first = a.estimate(task, 90, "one")
    confirm(a, first)
    second = a.estimate(task, 120, "two")
    undo(a, first)
    assert confirm(a, second).result is DecisionOutcome.STALE


def test_what_the_person_did_by_hand_meanwhile_is_obsolete(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    a.set(task, estimate_minutes=120)
    result = confirm(a, item)
    assert (result.result, result.status) == (DecisionOutcome.OBSOLETE, "obsolete")
    assert waiting(a) == []


def test_a_checklist_item_that_the_person_added_meanwhile_is_obsolete_unless_forced(
    a: Home, task: EntityId
) -> None:
    item = a.add(task, "Buy paper")
    checklist = a.new("checklist", task, task_id=task, title="Shopping", position="V")
    a.new("checklist_item", task, checklist_id=checklist, title="buy paper ", is_checked=False, position="V")
    assert confirm(a, item).result is DecisionOutcome.OBSOLETE
    assert confirm(a, item, force=True).result is DecisionOutcome.APPLIED
    assert a.titles(task) == ["buy paper ", "Buy paper"]


def test_an_undecided_item_expires_when_read_and_a_deferred_one_does_not(
    fleet: Fleet, a: Home, task: EntityId
) -> None:
    left, deferred = a.estimate(task, 120), a.add(task, "Buy paper", "other")
    defer(a, deferred)
    fleet.now_ms += 7 * DAY_MS
    assert [line.item_id for line in waiting(a)] == [id_to_text(deferred)]
    assert (confirm(a, left).result, confirm(a, left).status) == (DecisionOutcome.EXPIRED, "expired")
    assert confirm(a, deferred).result is DecisionOutcome.APPLIED
    assert confirm(a, left, force=True).result is DecisionOutcome.APPLIED


def test_a_decision_beats_expiry_whenever_it_arrives(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    fleet.sync()
    confirm(b, item)
    fleet.now_ms += 8 * DAY_MS
    assert waiting(a) == []
    fleet.sync()
    assert a.item(item).status is DecisionStatus.CONFIRMED
    assert a.value(task, "estimate_minutes") == 120


def test_a_reopened_item_does_not_expire(fleet: Fleet, a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    reject(a, item)
    fleet.now_ms += 8 * DAY_MS
    reopen(a, item)
    assert [line.expires_at for line in waiting(a)] == [None]
    assert confirm(a, item).result is DecisionOutcome.APPLIED


def test_a_confirmed_item_that_was_written_over_says_so_and_force_applies_it(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item, edit={"minutes": 90})
    a.set(task, estimate_minutes=45)
    result = confirm(a, item)
    assert result.result is DecisionOutcome.ALREADY
    assert "overtaken by your edit" in result.message
    assert confirm(a, item, force=True).result is DecisionOutcome.APPLIED
    assert a.value(task, "estimate_minutes") == 90


def test_a_confirmation_on_a_removed_task_is_obsolete(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    a.set(task, deleted=True)
    assert confirm(a, item, force=True).result is DecisionOutcome.OBSOLETE
    assert waiting(a) == []


def test_arguments_are_checked_again_when_confirmed(a: Home, task: EntityId) -> None:
    """A set that another version (or a hostile member) wrote need not have been checked there."""

    def hostile(tx: Transaction) -> EntityId:
        item = tx.new_id()
        entry: dict[str, Value] = {"item_id": item, "tool": "update_task_estimate", "args": {"minutes": -5}}
        fields: dict[str, Value] = {
            "task_id": task,
            "agent_id": task,
            "items": [entry],
            "expires_at": 1 << 60,
        }
        tx.commit([EntityWrite(tx.new_id(), "change_set", fields)], by=AuthorKind.AGENT)
        return item

    item = a.write(hostile)
    assert confirm(a, item).result is DecisionOutcome.FAILED
    assert a.value(task, "estimate_minutes") == 60
    assert waiting(a) == []


# -- creations ----------------------------------------------------------------------------------------


def test_confirming_an_added_item_makes_todos_where_there_is_no_checklist(a: Home, task: EntityId) -> None:
    confirm(a, a.add(task, "Buy paper"))
    todos = derived_id("checklist", id_to_text(task), time_of=task)
    assert a.value(todos, "title") == "Todos"
    version = a.entity(todos).version("title")
    assert version is not None
    assert (version.source.by, version.source.effect) == (AuthorKind.AGENT, None)
    assert a.titles(task) == ["Buy paper"]


def test_the_tasks_first_checklist_takes_the_item(a: Home, task: EntityId) -> None:
    second = a.new("checklist", task, task_id=task, title="Later", position="X")
    first = a.new("checklist", task, task_id=task, title="Now", position="V")
    item = a.add(task, "Buy paper")
    confirm(a, item)
    created = derived_id("entity", id_to_text(item), time_of=item)
    assert a.value(created, "checklist_id") == first != second


def test_a_removed_todos_is_not_brought_back_but_followed_by_the_next(a: Home, task: EntityId) -> None:
    confirm(a, a.add(task, "One", "one"))
    a.set(derived_id("checklist", id_to_text(task), time_of=task), deleted=True)
    item = a.add(task, "Two", "two")
    confirm(a, item)
    created = derived_id("entity", id_to_text(item), time_of=item)
    assert a.value(created, "checklist_id") == derived_id("checklist", id_to_text(task), 1, time_of=task)
    assert a.titles(task) == ["Two"]


def test_undoing_one_item_leaves_the_checklist_to_the_others(a: Home, task: EntityId) -> None:
    first, second = a.add(task, "One", "one"), a.add(task, "Two", "two")
    confirm(a, first)
    confirm(a, second)
    result = undo(a, first)
    assert result.message == "undone: the item is gone"
    assert a.titles(task) == ["Two"]


def test_an_undone_creation_that_the_person_ticked_stays_and_the_answer_says_so(
    a: Home, task: EntityId
) -> None:
    item = a.add(task, "One")
    confirm(a, item)
    created = derived_id("entity", id_to_text(item), time_of=item)
    a.set(created, is_checked=True)
    result = undo(a, item)
    assert "stays" in result.message
    assert a.titles(task) == ["One"]
    assert a.value(created, "is_checked") is True


def test_a_creation_that_a_person_touched_is_stale_after_reopening_and_force_wins(
    a: Home, task: EntityId
) -> None:
    item = a.add(task, "One")
    confirm(a, item)
    created = derived_id("entity", id_to_text(item), time_of=item)
    a.set(created, title="Number one")
    undo(a, item)
    reopen(a, item)
    assert confirm(a, item).result is DecisionOutcome.STALE
    assert confirm(a, item, force=True).result is DecisionOutcome.APPLIED
    assert a.titles(task) == ["One"]


@pytest.mark.parametrize(
    ("touched", "words"),
    [
        ({"title": "Number one"}, ("title changed since", "Number one", "One")),
        ({"is_checked": True}, ("checked changed since", True, False)),
    ],
)
def test_a_stale_creation_names_and_shows_only_what_changed(
    a: Home, task: EntityId, touched: dict[str, Value], words: tuple[str, Value, Value]
) -> None:
    item = a.add(task, "One")
    confirm(a, item)
    a.set(derived_id("entity", id_to_text(item), time_of=item), **touched)
    undo(a, item)
    reopen(a, item)
    result = confirm(a, item)
    assert result.result is DecisionOutcome.STALE
    assert result.message.startswith(words[0])
    assert (result.current, result.proposed) == words[1:]


def test_a_creation_that_a_person_only_moved_is_confirmed_again_where_it_is(a: Home, task: EntityId) -> None:
    item = a.add(task, "One")
    confirm(a, item)
    created = derived_id("entity", id_to_text(item), time_of=item)
    other = a.new("checklist", task, task_id=task, title="Other", position="z1")
    a.set(created, checklist_id=other)
    undo(a, item)
    assert a.titles(task) == ["One"]
    reopen(a, item)
    assert confirm(a, item).result is DecisionOutcome.APPLIED
    assert a.value(created, "checklist_id") == other


def test_ticking_a_confirmed_item_is_its_use_and_not_a_correction(a: Home, task: EntityId) -> None:
    item = a.add(task, "One")
    confirm(a, item)
    created = derived_id("entity", id_to_text(item), time_of=item)
    a.set(created, is_checked=True)
    result = confirm(a, item, force=True)
    assert (result.result, result.message) == (DecisionOutcome.ALREADY, "it is confirmed already")
    assert a.value(created, "is_checked") is True


def test_forcing_what_is_confirmed_and_stands_writes_nothing(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item)
    before = commits(a)
    assert confirm(a, item, force=True).result is DecisionOutcome.ALREADY
    assert commits(a) == before


def test_adding_an_item_moves_the_tasks_clock(a: Home, task: EntityId) -> None:
    item = a.add(task, "One")
    before = a.entity(task).clock
    confirm(a, item)
    assert a.entity(task).clock != before


def test_a_creation_confirmed_again_after_undo_stands_once(a: Home, task: EntityId) -> None:
    item = a.add(task, "One")
    confirm(a, item)
    undo(a, item)
    assert a.titles(task) == []
    confirm(a, item, again=True)
    assert a.titles(task) == ["One"]


def test_an_item_whose_creation_a_person_removed_is_obsolete(a: Home, task: EntityId) -> None:
    item = a.add(task, "One")
    confirm(a, item)
    a.set(derived_id("entity", id_to_text(item), time_of=item), deleted=True)
    undo(a, item)
    reopen(a, item)
    assert confirm(a, item).result is DecisionOutcome.OBSOLETE


def test_a_batch_keeps_its_order(a: Home, task: EntityId) -> None:
    titles = ["c", "a", "b"]
    items = a.propose(
        task, "run", ("add_multiple_checklist_items", {"items": [{"title": title} for title in titles]})
    )
    for item in reversed(items):
        confirm(a, item)
    created = [a.entity(derived_id("entity", id_to_text(item), time_of=item)) for item in items]
    places = [entity.text("position") for entity in created]
    assert places == sorted(places)
    assert len(set(places)) == 3


# -- undo ---------------------------------------------------------------------------------------------


def test_undo_lets_what_was_covered_show_again(a: Home, task: EntityId) -> None:
    first = a.estimate(task, 90, "one")
    confirm(a, first)
    second = a.estimate(task, 120, "two")
    confirm(a, second)
    assert undo(a, second).message == "undone: estimate in minutes is 90"
    assert undo(a, first).message == "undone: estimate in minutes is 60"


def test_a_later_edit_of_the_persons_stays_and_the_answer_says_so(a: Home, task: EntityId) -> None:
    item = a.estimate(task, 120)
    confirm(a, item)
    a.set(task, estimate_minutes=45)
    assert "your later edit stays" in undo(a, item).message
    assert a.value(task, "estimate_minutes") == 45


# -- sets ---------------------------------------------------------------------------------------------


def test_a_set_is_confirmed_in_order_each_seeing_the_one_before(a: Home, task: EntityId) -> None:
    items = a.propose(
        task,
        "run",
        ("update_task_estimate", {"minutes": 90}),
        ("update_task_due_date", {"dueDate": "2027-03-01"}),
        ("update_task_priority", {"priority": "P1"}),
    )
    a.set(task, due="2027-02-01")
    before = commits(a)
    results = [confirm(a, item).result for item in items]
    assert results == [DecisionOutcome.APPLIED, DecisionOutcome.STALE, DecisionOutcome.APPLIED]
    assert commits(a) == before + 2
    assert a.value(task, "priority") == "P1"
