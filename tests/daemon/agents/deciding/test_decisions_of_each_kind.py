"""Every row of the table of cases (docs/agents.md, section 3), for a proposal of each kind.

Never looks at how a kind is judged: only at the answers, and at the values afterwards.
"""

import pytest

from daemon.agents.deciding.decision_result import DecisionOutcome
from store.fold.verdicts import DecisionStatus
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import commits, confirm, defer, reject, reopen, undo, waiting
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.proposal_kinds import KINDS, Kind, Stage


@pytest.fixture(params=KINDS, ids=lambda kind: kind.tool)
def kind(request: pytest.FixtureRequest) -> Kind:
    param = request.param
    assert isinstance(param, Kind)
    return param


@pytest.fixture
def stage(kind: Kind, a: Home, task: EntityId) -> Stage:
    """A proposal that waits on the first device."""
    return kind.propose(a, task)


def stamps(kind: Kind, home: Home, stage: Stage) -> tuple[AuthorKind, bool]:
    """Return who stamped a visible value, and whether it is the item's own."""
    version = home.entity(kind.entity(stage)).version(kind.field(stage))
    assert version is not None
    return version.source.by, version.source.effect == stage.item


# -- one device ---------------------------------------------------------------------------------------


def test_confirmed_as_proposed_it_is_there_and_is_the_agents(kind: Kind, a: Home, stage: Stage) -> None:
    assert kind.there(a, stage) == kind.before
    before = commits(a)
    result = confirm(a, stage.item)
    assert (result.result, result.status) == (DecisionOutcome.APPLIED, "confirmed")
    assert kind.there(a, stage) == kind.after
    assert stamps(kind, a, stage) == (AuthorKind.AGENT, True)
    assert commits(a) == before + 1
    assert waiting(a) == []


def test_edited_it_is_the_persons(kind: Kind, a: Home, stage: Stage) -> None:
    assert confirm(a, stage.item, edit=kind.edit).result is DecisionOutcome.APPLIED
    assert kind.there(a, stage) == kind.edited
    assert stamps(kind, a, stage) == (AuthorKind.USER, True)


def test_one_commit_holds_the_decision_the_effect_and_messages_that_lead_to_what_was_touched(
    kind: Kind, a: Home, stage: Stage
) -> None:
    before = commits(a)
    confirm(a, stage.item)
    ((_, received),) = a.read(lambda snapshot: snapshot.read_feed(before, 10))
    writes = received.commit.operations
    assert [write.kind for write in writes].count("decision") == 1
    assert [write.entity for write in writes if write.effect == stage.item] == [kind.entity(stage)]
    action, result = (write for write in writes if write.kind == "message")
    assert [operation.fields["kind"] for operation in (action, result)] == ["action", "tool_result"]
    touched = a.read(lambda snapshot: snapshot.ids_pointing_at(kind.entity(stage), "tool_effect"))
    assert result.entity in touched
    assert all(operation.by is AuthorKind.AGENT for operation in (action, result))


def test_the_same_verdict_again_is_already_so(kind: Kind, a: Home, stage: Stage) -> None:
    confirm(a, stage.item)
    before = commits(a)
    assert confirm(a, stage.item).result is DecisionOutcome.ALREADY
    undo(a, stage.item)
    reject(a, stage.item)
    assert undo(a, stage.item).result is DecisionOutcome.ALREADY
    assert commits(a) == before + 1


def test_the_opposite_verdict_is_a_conflict_until_the_first_is_taken_back(
    kind: Kind, a: Home, stage: Stage
) -> None:
    confirm(a, stage.item)
    assert reject(a, stage.item).result is DecisionOutcome.CONFLICT
    assert undo(a, stage.item).result is DecisionOutcome.APPLIED
    assert kind.there(a, stage) == kind.before
    assert confirm(a, stage.item).result is DecisionOutcome.CONFLICT
    assert confirm(a, stage.item, again=True).result is DecisionOutcome.APPLIED
    assert kind.there(a, stage) == kind.after
    assert reopen(a, stage.item).status == "pending"
    assert kind.there(a, stage) == kind.before
    assert confirm(a, stage.item).result is DecisionOutcome.APPLIED


def test_a_rejected_one_is_confirmed_by_saying_so(kind: Kind, a: Home, stage: Stage) -> None:
    reject(a, stage.item)
    assert confirm(a, stage.item).result is DecisionOutcome.CONFLICT
    assert confirm(a, stage.item, again=True).result is DecisionOutcome.APPLIED
    assert kind.there(a, stage) == kind.after


def test_a_base_that_changed_is_stale_and_forcing_makes_it_win(kind: Kind, a: Home, stage: Stage) -> None:
    kind.make_stale(a, stage)
    before = commits(a)
    (line,) = waiting(a)
    assert line.stale
    result = confirm(a, stage.item)
    assert result.result is DecisionOutcome.STALE
    assert result.can_force
    assert (result.base, result.current, result.proposed) == (line.base, line.current, line.proposed)
    assert result.current != result.proposed
    assert (commits(a), kind.there(a, stage)) == (before, kind.over)
    assert confirm(a, stage.item, force=True).result is DecisionOutcome.APPLIED
    assert kind.there(a, stage) == kind.after


def test_a_later_edit_stays_when_it_is_undone_and_the_answer_says_so(
    kind: Kind, a: Home, stage: Stage
) -> None:
    confirm(a, stage.item)
    if kind.makes:
        a.set(stage.created, title="Mine")
    else:
        kind.write_over(a, stage)
    answer = undo(a, stage.item)
    assert answer.result is DecisionOutcome.APPLIED
    assert kind.there(a, stage) == kind.over
    if kind.tool != "assign_task_label":  # that it is off is what the undo wanted too
        assert any(words in answer.message for words in ("your later edit", "you changed it since"))


def test_undone_without_an_edit_it_says_that_all_is_as_it_was(kind: Kind, a: Home, stage: Stage) -> None:
    confirm(a, stage.item)
    answer = undo(a, stage.item)
    assert answer.message.startswith("undone: ")
    assert kind.there(a, stage) == kind.before


def test_an_overtaken_one_says_so_and_forcing_applies_it(kind: Kind, a: Home, stage: Stage) -> None:
    confirm(a, stage.item)
    if not kind.makes:
        kind.write_over(a, stage)
    else:
        a.set(stage.created, title="Mine")
    answer = confirm(a, stage.item)
    assert (answer.result, "overtaken by your edit" in answer.message) == (DecisionOutcome.ALREADY, True)
    assert confirm(a, stage.item, force=True).result is DecisionOutcome.APPLIED
    assert kind.there(a, stage) == kind.after


def test_a_task_that_was_removed_makes_it_obsolete(kind: Kind, a: Home, stage: Stage) -> None:
    a.set(stage.task, deleted=True)
    before = commits(a)
    assert waiting(a) == []
    assert confirm(a, stage.item).result is DecisionOutcome.OBSOLETE
    assert confirm(a, stage.item, force=True).result is DecisionOutcome.OBSOLETE
    assert commits(a) == before


def test_what_the_person_did_by_hand_is_obsolete(kind: Kind, a: Home, stage: Stage) -> None:
    match kind.tool:
        case "add_checklist_item":
            checklist = a.new("checklist", stage.task, task_id=stage.task, title="Todos", position="V")
            a.new("checklist_item", stage.task, checklist_id=checklist, title="buy PAPER", position="V")
        case "update_checklist_item":
            a.set(stage.target, title="Write tests", is_checked=True)
        case "set_task_status":
            a.set(stage.task, status="BLOCKED", reason="my own words")
        case _:
            a.set(stage.task, **{kind.field(stage): kind.after})
    result = confirm(a, stage.item)
    assert (result.result, result.status) == (DecisionOutcome.OBSOLETE, "obsolete")
    assert waiting(a) == []


def test_nobody_decided_in_time_but_a_deferred_one_waits_on(
    fleet: Fleet, kind: Kind, a: Home, stage: Stage
) -> None:
    fleet.now_ms += 7 * DAY_MS
    assert waiting(a) == []
    assert confirm(a, stage.item).result is DecisionOutcome.EXPIRED
    assert defer(a, stage.item).result is DecisionOutcome.APPLIED
    fleet.now_ms += 700 * DAY_MS
    assert [line.status for line in waiting(a)] == ["deferred"]
    assert confirm(a, stage.item).result is DecisionOutcome.APPLIED
    assert kind.there(a, stage) == kind.after


def test_what_the_agent_took_back_is_only_confirmed_by_saying_so(kind: Kind, a: Home, stage: Stage) -> None:
    retract(a, stage)
    assert waiting(a) == []
    assert confirm(a, stage.item).result is DecisionOutcome.CONFLICT
    assert reject(a, stage.item).result is DecisionOutcome.OBSOLETE
    assert kind.there(a, stage) == kind.before
    assert confirm(a, stage.item, again=True).result is DecisionOutcome.APPLIED
    assert kind.there(a, stage) == kind.after


# -- two devices --------------------------------------------------------------------------------------


def test_confirmed_on_two_devices_apart_it_is_one_change(
    fleet: Fleet, kind: Kind, a: Home, b: Home, stage: Stage
) -> None:
    fleet.sync()
    for home in (a, b):
        assert confirm(home, stage.item).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert kind.there(home, stage) == kind.after
        assert home.entity(kind.entity(stage)).conflicts() == {}
        assert home.entity(stage.task).conflicts() == {}
        assert len(home.item(stage.item).decisions) == 2


def test_confirmed_here_and_rejected_there_it_is_disputed_until_it_is_confirmed(
    fleet: Fleet, kind: Kind, a: Home, b: Home, stage: Stage
) -> None:
    fleet.sync()
    confirm(a, stage.item)
    reject(b, stage.item)
    fleet.sync()
    for home in (a, b):
        assert kind.there(home, stage) == kind.before
        assert [line.disputed for line in waiting(home)] == [True]
    assert confirm(b, stage.item).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert kind.there(home, stage) == kind.after
        assert waiting(home) == []


def test_a_dispute_is_settled_by_rejecting_too(
    fleet: Fleet, kind: Kind, a: Home, b: Home, stage: Stage
) -> None:
    fleet.sync()
    confirm(a, stage.item)
    reject(b, stage.item)
    fleet.sync()
    assert reject(a, stage.item).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert kind.there(home, stage) == kind.before
        assert waiting(home) == []


def test_a_persons_edit_wins_over_a_confirmation_that_did_not_know_it(
    fleet: Fleet, kind: Kind, a: Home, b: Home, stage: Stage
) -> None:
    fleet.sync()
    kind.write_over(a, stage)
    assert confirm(b, stage.item).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert kind.there(home, stage) == kind.over
    assert "overtaken by your edit" in confirm(b, stage.item).message
    assert confirm(b, stage.item, force=True).result is DecisionOutcome.APPLIED
    fleet.sync()
    assert kind.there(a, stage) == kind.after


def test_edited_there_and_confirmed_here_the_edited_one_is_in_effect(
    fleet: Fleet, kind: Kind, a: Home, b: Home, stage: Stage
) -> None:
    fleet.sync()
    confirm(a, stage.item)
    confirm(b, stage.item, edit=kind.edit)
    fleet.sync()
    for home in (a, b):
        assert kind.there(home, stage) == kind.edited
        assert stamps(kind, home, stage) == (AuthorKind.USER, True)
        assert len(home.item(stage.item).decisions) == 2
    undo(a, stage.item)
    fleet.sync()
    assert kind.there(b, stage) == kind.before


def test_a_dispute_over_edited_words_shows_them_and_confirms_them(
    fleet: Fleet, kind: Kind, a: Home, b: Home, stage: Stage
) -> None:
    fleet.sync()
    confirm(a, stage.item, edit=kind.edit)
    reject(b, stage.item)
    fleet.sync()
    (line,) = waiting(b)
    assert line.edited
    assert {**line.args, **kind.edit} == line.args
    assert confirm(b, stage.item, shown=bytes.fromhex(line.args_hash)).result is DecisionOutcome.APPLIED
    fleet.sync()
    assert kind.there(a, stage) == kind.edited


def test_undone_on_two_devices_it_is_undone_once(
    fleet: Fleet, kind: Kind, a: Home, b: Home, stage: Stage
) -> None:
    confirm(a, stage.item)
    fleet.sync()
    undo(a, stage.item)
    undo(b, stage.item)
    fleet.sync()
    for home in (a, b):
        assert kind.there(home, stage) == kind.before
        assert (home.item(stage.item).status, home.item(stage.item).disputed) == (
            DecisionStatus.REJECTED,
            False,
        )


def test_a_task_deleted_elsewhere_meanwhile_stays_deleted_with_the_effect_beneath(
    fleet: Fleet, kind: Kind, a: Home, b: Home, stage: Stage
) -> None:
    fleet.sync()
    a.set(stage.task, deleted=True)
    assert confirm(b, stage.item).result is DecisionOutcome.APPLIED
    fleet.sync()
    for home in (a, b):
        assert not home.entity(stage.task).visible
    a.set(stage.task, deleted=False)
    fleet.sync()
    assert kind.there(b, stage) == kind.after


def test_a_decision_beats_expiry_whenever_it_arrives(
    fleet: Fleet, kind: Kind, a: Home, b: Home, stage: Stage
) -> None:
    fleet.sync()
    confirm(b, stage.item)
    fleet.now_ms += 8 * DAY_MS
    assert waiting(a) == []
    fleet.sync()
    assert kind.there(a, stage) == kind.after


def test_two_runs_that_propose_the_same_make_one_item_with_one_verdict(
    fleet: Fleet, kind: Kind, a: Home, b: Home, task: EntityId
) -> None:
    target = kind.prepare(a, task)
    fleet.sync()
    only_stage, two = kind.again(a, task, target, "one"), kind.again(b, task, target, "two")
    assert only_stage == two
    fleet.sync()
    assert len(a.item(only_stage.item).occurrences) == 2
    assert len(waiting(a)) == 1
    confirm(a, only_stage.item)
    fleet.sync()
    assert waiting(b) == []
    assert kind.there(b, only_stage) == kind.after


# -- all at once --------------------------------------------------------------------------------------


def test_all_are_confirmed_in_order_each_seeing_the_one_before_and_past_failures(
    a: Home, task: EntityId
) -> None:
    (blocked,) = a.propose(task, "first", ("set_task_status", {"status": "ON HOLD", "reason": "no money"}))
    defer(a, blocked)  # so that the later proposal for the status does not replace it
    stages = [kind.propose(a, task, kind.tool) for kind in KINDS if not kind.makes]
    before = commits(a)
    results = [confirm(a, item).result for item in (*(listed_stage.item for listed_stage in stages), blocked)]
    assert results == [*(DecisionOutcome.APPLIED for _ in stages), DecisionOutcome.STALE]
    assert commits(a) == before + len(stages)


def retract(home: Home, stage: Stage) -> None:
    """Retract the item as its agent does."""
    agent = derived_id("agent", id_to_text(stage.task), time_of=stage.task)

    def use(tx: Transaction) -> None:
        fields: dict[str, Value] = {"item_id": stage.item, "verdict": "retracted", "seen": []}
        tx.commit([EntityWrite(tx.new_id(), "decision", fields)], by=AuthorKind.AGENT, agent=agent)

    home.write(use)
