"""A run from its first turn to its end: what it leaves, whatever its model does, wherever it is cut off.

Never schedules anything: each test makes the run that it looks at.
"""

import asyncio
from typing import Any

import pytest

from daemon.agents.context import unseen_changes
from daemon.agents.context.triggers import unseen_triggers
from daemon.agents.person import agent_overview
from daemon.agents.person.activity import AgentMessage, agent_messages
from daemon.agents.running import transcript
from daemon.agents.running.conversation import CALLS_MAX, INPUT_TOKENS_MAX, TURNS_MAX
from daemon.agents.tools import budgets
from daemon.agents.tools.agent_record import AgentHindered, current_report, load_agent, state_id
from daemon.agents.tools.model_interface import (
    AnswerFault,
    ModelFault,
    ModelTurn,
    ModelUnavailable,
    RunContext,
    TokenUsage,
)
from daemon.agents.tools.table import TOOLS
from store.fold.verdicts import DecisionStatus
from store.sentence import foreign_text
from store.snapshot import Snapshot
from syncproto.commit import COMMIT_BYTES_MAX
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.support.decision_verbs import commits, confirm, waiting
from tests.support.fleet import Home
from tests.support.scripted_runs import (
    Script,
    all_of,
    messages_of,
    new_agent,
    ran,
    reports,
    run_script,
    says,
)

ESTIMATE = ("update_task_estimate", {"minutes": 90})


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return new_agent(a, task)


def kinds(home: Home, agent: EntityId) -> list[str]:
    return [message.text("kind") for message in messages_of(home, agent)]


def since(home: Home, seq: int) -> list[list[str]]:
    """Return the kinds that each commit since a position wrote."""
    feed = home.read(lambda snapshot: snapshot.read_feed(seq, 100))
    return [sorted(operation.kind for operation in received.commit.operations) for _, received in feed]


def report(home: Home, agent: EntityId) -> dict[str, Any] | None:
    def use(snapshot: Snapshot) -> dict[str, Any] | None:
        known_agent = load_agent(snapshot, agent)
        assert known_agent is not None
        return current_report(snapshot, known_agent)

    return home.read(use)


def changes_since(home: Home, agent: EntityId) -> int:
    def use(snapshot: Snapshot) -> int:
        known_agent = load_agent(snapshot, agent)
        assert known_agent is not None
        return unseen_changes.count_since_report(snapshot, known_agent)

    return home.read(use)


def log(home: Home, agent: EntityId, **how: Any) -> list[AgentMessage]:
    request = {"tools": True, "limit": 100} | how
    return home.read(lambda snapshot: agent_messages(snapshot, agent, **request))


# -- turns --------------------------------------------------------------------------------------------


async def test_each_turn_is_a_commit_of_its_own_and_the_end_is_one(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    before = commits(a)
    noted = ("record_observations", {"observations": ["Slow on Mondays."]})
    await ran(a, agent, says(ESTIMATE, words="Let me see."), says(noted, reports(), usage=TokenUsage(5, 1)))
    assert since(a, before) == [
        ["message"] * 4,
        ["message"] * 4,
        ["agent_state", "change_set", "message", "message", "report", "usage"],
    ]
    assert kinds(a, agent) == [
        "system",
        "thought",
        *["action", "tool_result"] * 3,
        "observation",
        "summary",
    ]


async def test_messages_form_one_chain_from_the_first_run_to_the_head(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await ran(a, agent, says(ESTIMATE, reports()), key="one")
    await ran(a, agent, says(reports("More.")), key="two")
    entities = messages_of(a, agent)
    assert [entity.value("prev_message_id") for entity in entities] == [
        None,
        *(entity.id for entity in entities[:-1]),
    ]
    assert a.value(state_id(agent), "head_message_id") == entities[-1].id
    assert [entity.text("thread_id") for entity in entities] == ["one"] * 6 + ["two"] * 4


async def test_a_call_and_its_answer_say_which_operation_and_what_became_of_it(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    turn = says(ESTIMATE, ("Update.Task-Priority", {"priority": "P2"}), ("delete_task", {}), reports())
    await ran(a, agent, turn)
    messages = [message for message in log(a, agent) if message.kind == "tool_result"]
    assert [(message.tool, message.outcome, message.error) for message in messages] == [
        ("update_task_estimate", "queued", False),
        ("update_task_priority", "skipped", False),
        ("delete_task", "refused", True),
        ("update_report", "done", False),
    ]
    (item,) = waiting(a)
    assert messages[0].item_ids == [item.item_id]
    first = next(message for message in messages_of(a, agent) if message.text("kind") == "action")
    about = first.value("metadata")
    assert isinstance(about, dict)
    assert len(str(about["operation_id"])) == 64


async def test_a_denied_call_is_kept_as_denied(a: Home, task: EntityId, agent: EntityId) -> None:
    a.set(agent, **{"policy/update_task_estimate": "denied"})
    await ran(a, agent, says(ESTIMATE, reports()))
    message = next(listed_message for listed_message in log(a, agent) if listed_message.kind == "tool_result")
    assert (message.denied, message.outcome) == (True, "denied")
    assert waiting(a) == []


async def test_a_process_that_dies_between_turns_leaves_the_turns_and_its_replay_doubles_nothing(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    def dies(context: Any) -> ModelTurn:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await ran(a, agent, says(ESTIMATE), dies)
    assert kinds(a, agent) == ["system", "action", "tool_result"]
    assert (waiting(a), report(a, agent), all_of(a, "usage")) == ([], None, [])
    await ran(a, agent, says(ESTIMATE, reports(), usage=TokenUsage(5, 1)))
    await ran(a, agent, says(ESTIMATE, reports(), usage=TokenUsage(5, 1)))
    assert [len(all_of(a, kind)) for kind in ("change_set", "report", "usage")] == [1, 1, 1]
    assert len(waiting(a)) == 1


async def test_turns_of_megabytes_are_kept_in_part_and_in_commits_that_fit(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    before = commits(a)
    huge = [("set_task_title", '{"title": "' + "ä" * 300_000 + '"}')] * 20
    await ran(a, agent, says(*huge, words="ü" * 1_000_000), says(reports()))
    sizes = [
        len(received.signed.body) for _, received in a.read(lambda snapshot: snapshot.read_feed(before, 1000))
    ]
    assert max(sizes) <= COMMIT_BYTES_MAX
    assert sum(sizes) < transcript.RUN_BYTES_MAX + 100_000
    (thought,) = [message for message in log(a, agent) if message.kind == "thought"]
    assert (thought.text[:3], thought.cut) == ("üüü", True)


async def test_what_no_text_can_hold_is_kept_as_what_it_can(a: Home, task: EntityId, agent: EntityId) -> None:
    await ran(a, agent, says(("set_task_title", {"title": "\ud800"}), words="\udfff"), says(reports()))
    assert report(a, agent) is not None


async def test_the_end_fits_into_one_commit_however_much_there_is_to_say(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    smile, line = "😀", "😀" * 400
    lists = a.new("checklist", task, task_id=task, title="Todos", position="a")
    ids = [
        id_to_text(
            a.new("checklist_item", task, checklist_id=lists, title=f"{n:02}" + smile * 398, position="a")
        )
        for n in range(30)
    ]
    adding = [{"title": f"{number}"} for number in range(20)]
    await ran(a, agent, says(("add_multiple_checklist_items", {"items": adding})), key="before")
    taken_back = [id_to_text(item.id) for item in a.read(lambda snapshot: snapshot.items(task))]
    words: dict[str, Any] = {
        "reason": smile * 400,
        "rationale": smile * 300,
        "evidenceIds": [id_to_text(a.new("entry", task, task_id=task, text=f"{n}")) for n in range(10)],
    }
    items = [
        {"id": text, "title": text + smile * 368, "isArchived": True, "isChecked": True, **words}
        for text in ids
    ]
    batches = [("update_checklist_items", {"items": items[start : start + 15]}) for start in (0, 15)]
    noted = ("record_observations", {"observations": [f"{n}" + smile * 990 for n in range(20)]})
    answer = reports(
        "😀" * 1000, goal="😀" * 1000, achieved=[line] * 25, remaining=[line] * 25, learnings=[line] * 25
    )
    retracted = ("retract_proposals", {"itemIds": taken_back, "reason": smile * 400})
    before = commits(a)
    ended = await ran(
        a, agent, says(*batches, noted, retracted, answer), ModelTurn((), smile * 20_000), key="after"
    )
    assert (ended.proposals, ended.reported) == (30, True)
    assert {a.item(id_from_text(text)).status for text in taken_back} == {DecisionStatus.RETRACTED}
    sizes = [
        len(commit.signed.body) for _, commit in a.read(lambda snapshot: snapshot.read_feed(before, 100))
    ]
    assert max(sizes) <= COMMIT_BYTES_MAX
    assert len(all_of(a, "change_set")) == 2 + 3


# -- budgets ------------------------------------------------------------------------------------------


async def test_a_report_is_asked_for_beyond_the_turns_and_nothing_else_is_taken_then(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    forced = says(("update_task_priority", {"priority": "P0"}), reports("Asked."))
    await ran(a, agent, *[says(ESTIMATE)] * TURNS_MAX, forced)
    assert [item.tool for item in waiting(a)] == ["update_task_estimate"]
    fields = report(a, agent)
    assert fields is not None
    assert fields["tldr"] == "Asked."
    assert all_of(a, "report")[0].value("confidence") == "low"


async def test_calls_beyond_the_limit_are_not_looked_at(a: Home, task: EntityId, agent: EntityId) -> None:
    turn = says(*[("add_checklist_item", {"title": f"{number}"}) for number in range(5 * CALLS_MAX)])
    await ran(a, agent, turn, says(reports()))
    assert kinds(a, agent).count("action") == CALLS_MAX + 1
    assert f"{4 * CALLS_MAX} further calls were not looked at" in [message.text for message in log(a, agent)]


async def test_a_run_that_has_read_too_much_takes_no_turn_but_for_the_report(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    more = says(("update_task_priority", {"priority": "P0"}), reports())
    await ran(a, agent, says(ESTIMATE, usage=TokenUsage(INPUT_TOKENS_MAX)), more)
    assert [item.tool for item in waiting(a)] == ["update_task_estimate"]
    assert report(a, agent) is not None


async def test_an_agent_that_may_not_report_is_not_asked_to(a: Home, task: EntityId, agent: EntityId) -> None:
    a.set(agent, **{"policy/update_report": "denied"})

    def never(context: RunContext) -> ModelTurn:
        raise AssertionError(context.instruction)

    await ran(a, agent, says(ESTIMATE), ModelTurn(()), never)
    assert report(a, agent) is None
    assert len(waiting(a)) == 1


async def test_no_model_is_asked_for_an_agent_that_may_call_nothing(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(agent, **{f"policy/{tool}": "denied" for tool in TOOLS})

    def never(context: RunContext) -> ModelTurn:
        raise AssertionError(context.allowed_tools)

    assert not (await ran(a, agent, never)).reported


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
    a.set(task, title="Yet another")
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
    a: Home, task: EntityId, agent: EntityId
) -> None:
    class FallsSilent(Script):
        async def turn(self, context: RunContext) -> ModelTurn:
            if not self.steps:
                await asyncio.Event().wait()
            return await super().turn(context)

    receipt = await run_script(a, agent, FallsSilent([says(ESTIMATE)]), timeout_s=0.5)
    assert (receipt.proposals, receipt.cut_short) == (1, "the run took longer than 0.5 s")


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


# -- what messages must not do ------------------------------------------------------------------------


async def test_what_an_agent_writes_while_it_runs_wakes_nobody_and_is_no_history(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    from daemon.journal import change_log as history

    await ran(a, agent, says(ESTIMATE, ("record_observations", {"observations": ["Hm."]}), reports()))
    known_agent = a.read(lambda snapshot: load_agent(snapshot, agent))
    assert known_agent is not None
    assert a.read(lambda snapshot: unseen_triggers(snapshot, known_agent)) == []
    changes = a.read(lambda snapshot: history.list_changes(snapshot, None, limit=100))
    assert {change.kind for change in changes} <= {"task", "agent"}
    assert a.read(lambda snapshot: list(snapshot.disputed_entities("message"))) == []


# -- the log ------------------------------------------------------------------------------------------


async def test_the_log_tells_what_woke_the_agent_what_it_said_and_how_it_ended(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await ran(a, agent, says(ESTIMATE, words="Let me see.", usage=TokenUsage(100, 20)), says(reports()))
    messages = log(a, agent, tools=False)
    assert [(message.kind, message.trigger, message.text, message.tokens) for message in messages] == [
        ("system", "one change", "", None),
        ("thought", None, "Let me see.", 120),
        ("summary", None, "", None),
    ]
    assert messages[-1].ended == {
        "model": "scripted",
        "turns": 2,
        "calls": 2,
        "proposals": 1,
        "observations": 0,
        "reported": True,
    }


async def test_a_confirmation_is_in_the_log_with_what_it_did(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await ran(a, agent, says(ESTIMATE, reports()))
    (item,) = a.read(lambda snapshot: snapshot.items(task))
    a.fleet.now_ms += 1000
    confirm(a, item.id, edit={"minutes": 45})
    *_, action, result = log(a, agent, tools=False)
    assert (action.kind, result.kind) == ("action", "tool_result")
    assert (result.item_id, result.args, result.targets) == (
        id_to_text(item.id),
        {"minutes": 45},
        [id_to_text(task)],
    )


async def test_the_log_goes_back_page_by_page(a: Home, task: EntityId, agent: EntityId) -> None:
    for number in range(3):
        await ran(a, agent, says(ESTIMATE, reports(f"{number}")), key=f"{number}")
        a.fleet.now_ms += 1000
    messages = log(a, agent)
    last = log(a, agent, limit=4)
    before = log(a, agent, limit=500, before=last[0].id)
    assert before + last == messages
    assert len(messages) == 18


async def test_a_long_log_is_told_whole_and_each_message_once(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    several = [("add_checklist_item", {"title": f"{number}"}) for number in range(CALLS_MAX)]
    await ran(a, agent, says(*several), says(reports()))
    texts = [message.id for message in log(a, agent, limit=500)]
    assert len(texts) == len(set(texts)) == len(messages_of(a, agent)) > 200


async def test_two_homes_that_ran_the_same_change_leave_one_of_each(
    a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    a.fleet.sync()
    await ran(a, agent, says(ESTIMATE, reports("here")))
    b.write(lambda tx: None)
    b.set(agent, home_device_id=b.read(lambda snapshot: snapshot.device))
    await ran(b, agent, says(ESTIMATE, reports("there")))
    a.fleet.sync()
    assert len(waiting(a)) == 1
    assert [len(all_of(a, kind)) for kind in ("change_set", "report")] == [1, 1]
    assert report(a, agent) == report(b, agent)
    assert agent_overview is not None
