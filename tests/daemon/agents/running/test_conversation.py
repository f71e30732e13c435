"""A run from its first turn to its end: what it leaves, whatever its model does, wherever it is cut off.

Never schedules anything: each test makes the run that it looks at.
"""

import asyncio
from typing import Any

import pytest

from daemon.agents.context.triggers import unseen_triggers
from daemon.agents.person import agent_overview
from daemon.agents.running import transcript
from daemon.agents.running.conversation import CALLS_MAX, INPUT_TOKENS_MAX, TURNS_MAX
from daemon.agents.tools.agent_record import load_agent, state_id
from daemon.agents.tools.model_interface import (
    ModelTurn,
    RunContext,
    TokenUsage,
)
from daemon.agents.tools.table import TOOLS
from store.fold.verdicts import DecisionStatus
from syncproto.commit import COMMIT_BYTES_MAX
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.agents.running.conversation_steps import ESTIMATE, kinds, log, report
from tests.support.decision_verbs import commits, confirm, waiting
from tests.support.fleet import Home
from tests.support.scripted_runs import (
    all_of,
    messages_of,
    ran,
    reports,
    says,
)


def since(home: Home, seq: int) -> list[list[str]]:
    """Return the kinds that each commit since a position wrote."""
    feed = home.read(lambda snapshot: snapshot.read_feed(seq, 100))
    return [sorted(operation.kind for operation in received.commit.operations) for _, received in feed]


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
