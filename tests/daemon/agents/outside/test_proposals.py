"""What an agent of another maker proposes: it waits like all proposals, and nobody proposes in its name.

Never goes through a socket: `tests/daemon/control/routes/test_outside.py` does.
"""

from datetime import date
from typing import Any

import pytest

from daemon.agents.deciding.decision_result import DecisionOutcome
from daemon.agents.outside import proposal_views, proposals, readable_tasks
from daemon.agents.person import external_agents, lifecycle, policy_edits, presence_edits
from daemon.agents.proposing.authenticity import authentic_item
from daemon.agents.tools.agent_record import agent_id, external_agent_id
from daemon.journal import series, tasks
from daemon.journal.references import entities
from daemon.journal.series import NewSeries
from daemon.journal.tasks import TaskEdit
from daemon.refusal import RefusalCode, Refused
from store.fold.verdicts import DecisionStatus
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.support.decision_verbs import commits, confirm, defer, reject, reopen, waiting
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.outside import ESTIMATE, added, proposed

TITLE: tuple[str, dict[str, Any]] = ("set_task_title", {"title": "Write the long report"})


@pytest.fixture
def agent(fleet: Fleet, a: Home, b: Home, task: EntityId) -> EntityId:
    """An agent of another maker that works on `a`, known to `b` as well."""
    identifier = added(a)
    fleet.sync()
    return identifier


def item_of(result: proposal_views.ProposedSet, number: int = 0) -> EntityId:
    identifier = result.items[number].item
    assert identifier is not None
    return id_from_text(identifier)


def again(home: Home, agent: EntityId, result: proposal_views.ProposedSet) -> proposal_views.ProposedSet:
    """Return a set as the agent reads it later."""
    stored, now_ms = home.entity(id_from_text(result.set)), home.now_ms()
    found_set = home.read(lambda snapshot: proposal_views.set_of_agent(snapshot, stored, agent, now_ms))
    assert found_set is not None
    return found_set


def test_a_task_of_a_series_is_none_for_an_agent_until_a_person_touched_it(a: Home, agent: EntityId) -> None:
    new = NewSeries(title="Water the plants", every="FREQ=DAILY", first="2026-03-20")
    a.write(lambda tx: series.add(tx, new, date(2026, 3, 20), "UTC"))
    untouched = a.read(lambda snapshot: entities.find_task(snapshot, "Water"))
    for ref in ("Water", id_to_text(untouched.id)):
        with pytest.raises(Refused) as refused, a.store.write() as tx:
            readable_tasks.find_task_in_scope(tx, agent, ref)
        assert refused.value.code is RefusalCode.NOT_FOUND
    assert a.read(lambda snapshot: snapshot.entity(untouched.id)) is None, "nothing was touched"
    a.write(lambda tx: tasks.edit(tx, "Water", TaskEdit(status="IN PROGRESS")))
    task = a.write(lambda tx: readable_tasks.find_task_in_scope(tx, agent, "Water"))
    assert task.id == untouched.id


def test_a_proposal_waits_on_every_device_until_a_person_decides(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, task: EntityId
) -> None:
    result = proposed(a, agent, task, ESTIMATE, TITLE)
    assert (result.state, [item.state for item in result.items]) == ("pending", ["pending", "pending"])
    assert result.items[0].summary == "Set estimate to 90 minutes"
    fleet.sync()
    assert {item.agent_id for item in waiting(b)} == {id_to_text(agent)}
    assert confirm(b, item_of(result)).result is DecisionOutcome.APPLIED
    assert reject(b, item_of(result, 1), "The title is fine.").result is DecisionOutcome.APPLIED
    fleet.sync()
    decided = again(a, agent, result)
    assert (decided.state, decided.poll_after_ms) == ("decided", None)
    assert [(item.state, item.reason) for item in decided.items] == [
        ("confirmed", None),
        ("rejected", "The title is fine."),
    ]
    assert a.value(task, "estimate_minutes") == 90
    assert result.expires_at is not None
    reopen(a, item_of(result))
    waits_for_ever = again(a, agent, result)
    assert (waits_for_ever.state, waits_for_ever.expires_at) == ("pending", None)


def test_what_a_person_edited_comes_back_edited(a: Home, agent: EntityId, task: EntityId) -> None:
    result = proposed(a, agent, task)
    confirm(a, item_of(result), edit={"minutes": 30})
    (item,) = again(a, agent, result).items
    assert (item.args, item.edited) == ({"minutes": 30}, True)
    assert item.args_hash != result.items[0].args_hash


def test_a_retry_is_the_same_set_and_another_request_under_its_key_is_refused(
    a: Home, agent: EntityId, task: EntityId
) -> None:
    result, before = proposed(a, agent, task), commits(a)
    assert proposed(a, agent, task) == result
    assert commits(a) == before
    with pytest.raises(Refused, match="proposed something else"):
        proposed(a, agent, task, TITLE)
    # A request of which nothing waits is answered the same, too.
    refused = proposed(a, agent, task, ("fly", {}), key="other")
    assert (refused.state, proposed(a, agent, task, ("fly", {}), key="other")) == ("refused", refused)


def test_a_key_on_another_task_is_another_request(a: Home, agent: EntityId, task: EntityId) -> None:
    """Old: of tasks that were made at once, as by an import, the second was answered with the first's set."""
    others = [a.new("task", title="Write to Ben", status="OPEN", estimate_minutes=60) for _ in range(2)]
    assert task[:6] == others[0][:6] == others[1][:6]
    sets = [proposed(a, agent, subject) for subject in (task, *others)]
    assert [result.task for result in sets] == [id_to_text(subject) for subject in (task, *others)]
    assert len({item.task_id for item in waiting(a)}) == 3


def test_one_bad_change_leaves_the_others(a: Home, agent: EntityId, task: EntityId) -> None:
    result = proposed(
        a,
        agent,
        task,
        ("update_task_estimate", {"minutes": "soon"}),
        TITLE,
        ("update_report", {"tldr": "All done."}),
        ("retract_proposals", {"itemIds": ["1" * 32], "reason": "No."}),
        ("answer_question", {"number": 1}),
        ("set_task_language", {"languageCode": "de"}),
        ("no_such_tool", {}),
    )
    states = [item.state for item in result.items]
    assert states == ["refused", "pending", "refused", "refused", "refused", "refused", "refused"]
    assert all(item.reason for item in result.items if item.item is None)
    assert len(waiting(a)) == 1
    assert a.value(task, "language") is None


def test_a_later_word_replaces_the_agents_own_open_proposal_alone(
    a: Home, agent: EntityId, task: EntityId
) -> None:
    other = added(a, "Codex")
    first = proposed(a, agent, task)
    others = proposed(a, other, task, ("update_task_priority", {"priority": "P0"}))
    second = proposed(a, agent, task, ("update_task_estimate", {"minutes": 45}), key="second")
    assert [again(a, agent, result).items[0].state for result in (first, second)] == ["retracted", "pending"]
    assert again(a, other, others).items[0].state == "pending"
    with pytest.raises(AssertionError):
        again(a, other, first)


@pytest.mark.parametrize("admitted_by", [None, AuthorKind.AGENT, AuthorKind.SYSTEM])
def test_nobody_works_who_was_not_let_in(a: Home, task: EntityId, admitted_by: AuthorKind | None) -> None:
    agent = a.write(lambda tx: external_agents.register_external_agent(tx, "Claude"))
    if admitted_by is not None:
        fields: dict[str, Any] = {"lifecycle": "active", "scope": "all"}
        a.write(lambda tx: tx.commit([EntityWrite(agent, "agent", fields)], by=admitted_by))
    with pytest.raises(Refused, match="a person has to let this agent in"):
        proposed(a, agent, task)
    a.write(lambda tx: external_agents.admit_external_agent(tx, agent))
    assert proposed(a, agent, task).state == "pending"


def test_no_other_device_proposes_in_its_name(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, task: EntityId
) -> None:
    with pytest.raises(Refused, match="home is another device"):
        proposed(b, agent, task)
    forged = b.propose(task, "forged", TITLE)
    change_set = b.item(forged[0]).occurrences[0].change_set
    fields: dict[str, Any] = {name: b.value(change_set, name) for name in b.entity(change_set).fields()}
    write = EntityWrite(EntityId(bytes(15) + b"7"), "change_set", fields | {"agent_id": agent})
    b.write(lambda tx: tx.commit([write], by=AuthorKind.AGENT, agent=agent))
    fleet.sync()
    forged_item = a.item(forged[0])
    assert agent in {proposal.agent for proposal in forged_item.occurrences}
    genuine = a.read(lambda snapshot: authentic_item(snapshot, forged_item))
    assert genuine is not None
    assert {proposal.agent for proposal in genuine.item.occurrences} == {agent_id(task)}
    # An agent of the same name on another device is another agent.
    assert external_agent_id(b.signer.device, "Claude") != agent


@pytest.mark.parametrize("scope", ["none", "categories"])
def test_what_is_beyond_its_scope_is_denied_in_words(
    a: Home, agent: EntityId, task: EntityId, scope: str
) -> None:
    category = a.new("category", name="Health")
    a.set(task, category_id=category)
    a.write(lambda tx: external_agents.set_scope(tx, agent, scope))
    (item,) = proposed(a, agent, task).items
    assert item.state == "denied"
    a.write(lambda tx: policy_edits.edit_allowed_categories(tx, agent, allow=["Health"], disallow=[]))
    (item,) = proposed(a, agent, task, key="second").items
    assert item.state == ("denied" if scope == "none" else "pending")


def test_what_the_policy_denies_by_now_is_not_confirmed(a: Home, agent: EntityId, task: EntityId) -> None:
    result = proposed(a, agent, task)
    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "update_task_estimate", "denied"))
    assert confirm(a, item_of(result)).result is DecisionOutcome.FAILED
    assert a.value(task, "estimate_minutes") == 60
    assert (
        proposed(a, agent, task, ("update_task_estimate", {"minutes": 20}), key="2").items[0].state
        == "denied"
    )


def test_an_agent_with_a_shell_gets_nothing_past_another_device(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, task: EntityId
) -> None:
    set_presence = presence_edits.set_presence
    a.write(lambda tx: set_presence(tx, agent, "all", "other_device", has_other_devices=True))
    result = proposed(a, agent, task)
    assert confirm(a, item_of(result)).result is DecisionOutcome.NOT_COUNTED
    with pytest.raises(Refused):
        a.write(lambda tx: set_presence(tx, agent, "all", "any", has_other_devices=True))
    fleet.sync()
    assert a.value(task, "estimate_minutes") == 60
    assert confirm(b, item_of(result)).result is DecisionOutcome.APPLIED
    fleet.sync()
    assert a.value(task, "estimate_minutes") == 90


def test_daily_limits_hold_until_the_next_day_and_nothing_is_half_done(
    fleet: Fleet, a: Home, agent: EntityId, task: EntityId
) -> None:
    a.write(lambda tx: external_agents.set_daily_limits(tx, agent, {"proposals": 2}))
    proposed(a, agent, task)
    before = commits(a)
    with pytest.raises(Refused, match="1 of 2 proposals"):
        proposed(a, agent, task, TITLE, ("update_task_priority", {"priority": "P0"}), key="2")
    assert commits(a) == before
    assert proposed(a, agent, task, TITLE, key="3").state == "pending"
    fleet.now_ms += DAY_MS
    assert proposed(a, agent, task, ("update_task_priority", {"priority": "P0"}), key="4").state == "pending"


def test_a_flood_of_words_is_refused(a: Home, agent: EntityId, task: EntityId) -> None:
    bell = "\x07" * 2_000
    with pytest.raises(Refused, match="bytes at most"):
        proposed(a, agent, task, *[("set_task_title", {"title": "x" * 8_000})] * 9, why=bell)
    a.write(lambda tx: external_agents.set_daily_limits(tx, agent, {"bytes": 10}))
    with pytest.raises(Refused, match="of 10 bytes"):
        proposed(a, agent, task)


@pytest.mark.parametrize("title", [b"bytes", 1 << 70, [[[[]]]] * 3, float("nan")])
def test_values_that_no_log_can_have_are_refused(
    a: Home, agent: EntityId, task: EntityId, title: object
) -> None:
    try:
        state = proposed(a, agent, task, ("set_task_title", {"title": title})).state
    except Refused:
        state = "refused"
    assert (state, waiting(a)) == ("refused", [])


def test_two_that_propose_the_same_have_one_item_and_the_end_of_one_leaves_it(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, task: EntityId
) -> None:
    other = added(b, "Codex")
    mine, theirs = proposed(a, agent, task), proposed(b, other, task)
    assert item_of(mine) == item_of(theirs)
    fleet.sync()
    a.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    fleet.sync()
    assert b.item(item_of(mine)).status is DecisionStatus.PENDING
    # What one of them may not do any more, the other still may.
    assert confirm(b, item_of(mine)).result is DecisionOutcome.APPLIED
    fleet.sync()
    states = [again(a, agent, mine).items[0].state, again(b, other, theirs).items[0].state]
    assert states == ["confirmed", "confirmed"]


def test_the_end_of_an_agent_takes_back_what_waits_and_nobody_works_under_its_name(
    a: Home, agent: EntityId, task: EntityId
) -> None:
    result = proposed(a, agent, task, ESTIMATE, TITLE)
    defer(a, item_of(result, 1))
    a.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    assert [item.state for item in again(a, agent, result).items] == ["retracted", "deferred"]
    assert a.write(lambda tx: external_agents.register_external_agent(tx, "CLAUDE")) == agent
    with pytest.raises(Refused, match="destroyed"):
        added(a, "CLAUDE")
    with pytest.raises(Refused, match="destroyed"):
        proposed(a, agent, task, key="2")


def test_a_paused_agent_proposes_nothing_until_resumed(a: Home, agent: EntityId, task: EntityId) -> None:
    a.write(lambda tx: lifecycle.pause_agent(tx, agent))
    with pytest.raises(Refused, match="paused"):
        proposed(a, agent, task)
    a.write(lambda tx: lifecycle.resume_agent(tx, agent))
    assert proposed(a, agent, task).state == "pending"


def test_an_agent_takes_back_what_nobody_decided_and_it_alone_proposed(
    fleet: Fleet, a: Home, b: Home, agent: EntityId, task: EntityId
) -> None:
    result = proposed(a, agent, task, ESTIMATE, TITLE, ("update_task_priority", {"priority": "P0"}))
    proposed(b, added(b, "Codex"), task, ESTIMATE)
    fleet.sync()
    confirm(a, item_of(result, 1))
    items = [item_of(result, number) for number in range(3)]
    withdrawn = a.write(lambda tx: proposals.withdraw(tx, agent, [*items, EntityId(bytes(16))], "Outdated."))
    assert withdrawn == [items[2]]
    assert [item.state for item in again(a, agent, result).items] == ["pending", "confirmed", "retracted"]


def test_programs_that_rename_themselves_fill_no_list(a: Home) -> None:
    def register(name: str) -> EntityId:
        return a.write(lambda tx: external_agents.register_external_agent(tx, name))

    agents = [register(f"agent {number}") for number in range(external_agents.PENDING_MAX)]
    with pytest.raises(Refused, match="wait to be let in"):
        register("one more")
    # One that is known is no other one.
    assert register(" AGENT   3") == agents[3]


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\u202eb", "bell\x07", "zero\u200bwidth"])
def test_a_name_is_one_that_people_can_read(a: Home, name: str) -> None:
    with pytest.raises(Refused, match="all of which can be seen"):
        added(a, name)


def test_an_agent_of_another_maker_proposes_tasks_of_their_own(
    a: Home, agent: EntityId, task: EntityId
) -> None:
    new_task = ("add_task", {"title": "Buy stamps"})
    result = proposed(a, agent, task, new_task)
    assert result.items[0].state == "pending"
    assert confirm(a, item_of(result)).result is DecisionOutcome.APPLIED
    titles = {
        a.value(entity, "title")
        for entity in a.read(lambda snapshot: [e.id for e in snapshot.entities("task")])
    }
    assert "Buy stamps" in titles
    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "add_task", "denied"))
    assert proposed(a, agent, task, ("add_task", {"title": "Buy ink"}), key="2").items[0].state == "denied"


def test_an_agent_of_another_device_is_found_by_its_name_unless_two_have_it(fleet: Fleet, a: Home, b: Home):
    """Old: away from its home, an agent of another maker was known by its id alone."""
    on_a = added(a)
    fleet.sync()
    assert b.read(lambda snapshot: external_agents.find_any_agent(snapshot, "claude")) == on_a
    on_b = added(b)
    fleet.sync()
    for home, own in ((a, on_a), (b, on_b)):
        assert home.read(lambda snapshot: external_agents.find_any_agent(snapshot, "Claude")) == own
    third = fleet.home("third")
    fleet.sync()
    with pytest.raises(Refused) as refused:
        third.read(lambda snapshot: external_agents.find_any_agent(snapshot, "Claude"))
    assert refused.value.code is RefusalCode.AMBIGUOUS
    assert {candidate.id for candidate in refused.value.candidates} == {id_to_text(on_a), id_to_text(on_b)}
