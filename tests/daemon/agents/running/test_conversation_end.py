"""How a run ends: the report, what a failed run keeps, and what a run without rights leaves.

Never asks a real model.
"""

import asyncio
from typing import Any

import pytest

from daemon.agents.context import unseen_changes
from daemon.agents.context.triggers import unseen_triggers
from daemon.agents.tools import budgets
from daemon.agents.tools.agent_record import AgentHindered, load_agent, state_id
from daemon.agents.tools.model_interface import (
    AnswerFault,
    ModelFault,
    ModelTurn,
    ModelUnavailable,
    RunContext,
    TokenUsage,
)
from store.sentence import foreign_text
from store.snapshot import Snapshot
from syncproto.ids import EntityId
from tests.daemon.agents.running.conversation_steps import ESTIMATE, kinds, log, report
from tests.support.decision_verbs import commits, confirm, waiting
from tests.support.fleet import Home
from tests.support.patience import LIMIT_S
from tests.support.scripted_runs import (
    Script,
    all_of,
    messages_of,
    ran,
    reports,
    run_script,
    says,
)


def changes_since(home: Home, agent: EntityId) -> int:
    def use(snapshot: Snapshot) -> int:
        known_agent = load_agent(snapshot, agent)
        assert known_agent is not None
        return unseen_changes.count_since_report(snapshot, known_agent)

    return home.read(use)


# -- the end ------------------------------------------------------------------------------------------


async def test_the_report_says_what_it_rests_on_and_by_whom(a: Home, task: EntityId, agent: EntityId) -> None:
    heads = a.read(lambda snapshot: snapshot.vector())
    await ran(a, agent, says(ESTIMATE, reports()))
    (entity,) = all_of(a, "report")
    entities = messages_of(a, agent)
    assert a.value(state_id(agent), "report_id") == entity.id
    assert entity.value("source_span") == [entities[0].id, entities[-1].id]
    assert entity.value("provenance") == {"model": "scripted", "run_key": "run"}
    assert (entity.value("confidence"), entity.value("scope")) == ("high", "task")
    assert entity.value("rests_on") == [[head.replica, head.counter, head.hash] for head in heads]
    assert a.read(lambda snapshot: snapshot.ids_pointing_at(entities[0].id, "report_source_span")) == [
        entity.id
    ]


async def test_a_report_that_could_not_rest_on_all_that_changed_is_trusted_less(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await ran(a, agent, says(reports("One.")), key="one")
    for number in range(2 * budgets.CHANGES.members):
        a.set(task, title=f"{number}")
    await ran(a, agent, says(reports("Two.")), key="two")
    trusted = {str(entity.value("content")): entity.value("confidence") for entity in all_of(a, "report")}
    assert ["One" in content for content, how in trusted.items() if how == "high"] == [True]
    assert len(trusted) == 2


async def test_changes_since_the_report_count_until_a_run_has_seen_them(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await ran(a, agent, says(ESTIMATE, reports()))
    assert changes_since(a, agent) == 0
    a.set(task, title="Another")
    a.new("entry", task, task_id=task, text="A note.")
    (item,) = a.read(lambda snapshot: snapshot.items(task))
    confirm(a, item.id)
    assert changes_since(a, agent) == 3
    await ran(a, agent, says(reports()), key="two")
    # The model's words are the same, but the estimate was confirmed since, and code fills it in.
    assert len(all_of(a, "report")) == 2
    assert changes_since(a, agent) == 0
    a.new("entry", task, task_id=task, text="Another note.")
    await ran(a, agent, says(reports()), key="three")
    assert len(all_of(a, "report")) == 2
    assert changes_since(a, agent) == 0


async def test_code_fills_in_the_facts_of_a_report_whatever_the_model_writes(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    checklist = a.new("checklist", task, task_id=task, title="Todos")
    a.new("checklist_item", task, checklist_id=checklist, title="One", is_checked=True, position="V")
    wrong = {"status": "DONE", "estimate": 5, "due": "1999-01-01", "checklistProgress": {"total": 9}}
    await ran(a, agent, says(reports("Half done.", **wrong)))
    (stored,) = all_of(a, "report")
    content = stored.value("content")
    assert isinstance(content, dict)
    assert (content["status"], content["estimate"], content["due"]) == ("OPEN", 60, None)
    assert content["checklistProgress"] == {"total": 1, "completed": 1}
    assert content["tldr"] == "Half done."


async def test_what_the_agent_writes_itself_is_no_change_since_its_report(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    german = ("set_task_language", {"languageCode": "de", "confidence": "high"})
    await ran(a, agent, says(german, reports()))
    assert a.value(task, "language") == "de"
    assert changes_since(a, agent) == 0


async def test_of_two_reports_made_apart_the_changes_since_the_one_that_shows_are_counted(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    a.fleet.sync()
    a.set(task, title="Another")
    await ran(a, agent, says(reports("here")), key="one")
    a.fleet.now_ms += 1000
    b.set(agent, home_device_id=b.read(lambda snapshot: snapshot.device))
    await ran(b, agent, says(reports("there")), key="two")
    a.fleet.sync()
    fields = report(a, agent)
    assert fields is not None
    assert fields["tldr"] == "there"
    assert changes_since(a, agent) == changes_since(b, agent) == 1


async def test_no_changes_are_counted_where_nothing_was_reported(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(task, title="Another")
    assert changes_since(a, agent) == 0


async def test_what_a_failed_run_has_cost_is_kept_and_why_it_failed(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    with pytest.raises(AnswerFault):
        await ran(
            a,
            agent,
            says(("no_such_tool", {}), usage=TokenUsage(100, 20)),
            AnswerFault(foreign_text("the server answered nonsense")),
        )
    (usage,) = all_of(a, "usage")
    assert (usage.value("input"), usage.value("output")) == (100, 20)
    assert log(a, agent)[-1].text == "the server answered nonsense"
    assert (waiting(a), report(a, agent)) == ([], None)
    assert a.read(lambda snapshot: snapshot.entity(state_id(agent))) is None


NONSENSE = AnswerFault(foreign_text("the server answered nonsense"))


REFUSED_KEY = ModelUnavailable(foreign_text("the key was refused (401)"))


@pytest.mark.parametrize(
    ("turns", "fault"),
    [
        ([says(ESTIMATE, usage=TokenUsage(100, 20))], NONSENSE),
        ([says(ESTIMATE, usage=TokenUsage(100, 20))], REFUSED_KEY),
        # The forced report is a turn like any other.
        ([says(ESTIMATE, usage=TokenUsage(100, 20)), says()], REFUSED_KEY),
    ],
)
async def test_what_was_proposed_before_a_fault_is_kept_and_the_run_says_that_it_was_cut_short(
    a: Home, task: EntityId, agent: EntityId, turns: list[ModelTurn], fault: ModelFault
) -> None:
    receipt = await ran(a, agent, *turns, fault)
    assert (receipt.proposals, receipt.reported, receipt.cut_short) == (1, False, str(fault))
    assert [item.tool for item in waiting(a)] == ["update_task_estimate"]
    assert all_of(a, "usage")[0].value("input") == 100
    assert log(a, agent)[-1].ended["cut_short"] == str(fault)
    # What the model has read is not new to the next run.
    known_agent = a.read(lambda snapshot: load_agent(snapshot, agent))
    assert known_agent is not None
    assert a.read(lambda snapshot: unseen_triggers(snapshot, known_agent)) == []


async def test_what_was_proposed_before_the_time_was_up_is_kept(
    a: Home, agent: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    plain_time = loop.time

    class FallsSilent(Script):
        async def turn(self, context: RunContext) -> ModelTurn:
            if not self.steps:
                monkeypatch.setattr(loop, "time", lambda: plain_time() + LIMIT_S)
                await asyncio.Event().wait()
            return await super().turn(context)

    receipt = await run_script(a, agent, FallsSilent([says(ESTIMATE)]), timeout_s=LIMIT_S)
    assert (receipt.proposals, receipt.cut_short) == (1, f"the run took longer than {LIMIT_S:g} s")


async def test_what_was_proposed_before_a_defect_is_kept_and_the_journal_is_not_told_what_it_said(
    a: Home, agent: EntityId
) -> None:
    receipt = await ran(a, agent, says(ESTIMATE), RuntimeError("words of a note"))
    reason = "a defect ended the run (RuntimeError); the daemon's log has the details"
    assert (receipt.proposals, receipt.cut_short) == (1, reason)
    with pytest.raises(RuntimeError):
        await ran(a, agent, RuntimeError("words of a note"), key="again")
    assert len(all_of(a, "change_set")) == 1


async def test_a_report_is_kept_if_the_turn_after_it_fails(a: Home, task: EntityId, agent: EntityId) -> None:
    refused = ("update_task_estimate", {"minutes": "soon"})
    receipt = await ran(a, agent, says(reports("Half done."), refused), NONSENSE)
    assert (receipt.reported, receipt.cut_short) == (True, str(NONSENSE))
    (kept,) = all_of(a, "report")
    assert kept.value("confidence") == "low"


async def test_a_report_ends_the_run_unless_a_call_beside_it_was_refused(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    model = Script([says(ESTIMATE, reports()), says()])
    await run_script(a, agent, model)
    assert len(model.seen) == 1
    malformed = ("update_task_estimate", {"minutes": "soon"})
    batch = ("add_multiple_checklist_items", {"items": [{"title": "One"}, {"name": "Two"}]})
    for number, call in enumerate((malformed, batch)):
        model = Script([says(call, reports("Again.")), says()])
        await run_script(a, agent, model, key=f"again {number}")
        assert len(model.seen) == 2, call


async def test_a_run_that_fails_after_its_agent_was_destroyed_says_no_more(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    def fails(context: RunContext) -> ModelTurn:
        a.set(agent, lifecycle="destroyed")
        raise AnswerFault(foreign_text("nonsense"))

    with pytest.raises(AgentHindered):
        await ran(a, agent, says(ESTIMATE, usage=TokenUsage(100, 20)), fails)
    assert kinds(a, agent) == ["system", "action", "tool_result"]
    assert all_of(a, "usage") == []
    assert waiting(a) == []


async def test_a_model_that_never_answers_leaves_nothing(a: Home, task: EntityId, agent: EntityId) -> None:
    before = commits(a)
    with pytest.raises(AnswerFault):
        await ran(a, agent, AnswerFault(foreign_text("no answer")))
    assert commits(a) == before


@pytest.mark.parametrize(
    "hindered",
    [
        {"lifecycle": "destroyed"},
        {"lifecycle": "dormant"},
        {"home_device_id": bytes(32)},
    ],
)
async def test_an_agent_that_may_not_run_any_more_ends_nothing(
    a: Home, task: EntityId, agent: EntityId, hindered: dict[str, Any]
) -> None:
    def meanwhile(context: Any) -> ModelTurn:
        a.set(agent, **hindered)
        return says(reports())

    with pytest.raises(AgentHindered):
        await ran(a, agent, says(ESTIMATE), meanwhile)
    assert (waiting(a), report(a, agent)) == ([], None)
    assert kinds(a, agent) == ["system", "action", "tool_result"]
    with pytest.raises(AgentHindered):
        await ran(a, agent, key="two")


async def test_a_run_without_tokens_books_none(a: Home, task: EntityId, agent: EntityId) -> None:
    await ran(a, agent, says(reports()))
    assert all_of(a, "usage") == []
