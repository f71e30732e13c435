"""A run from its first turn to its end: what it leaves, whatever its model does, wherever it is cut off.

Never schedules anything: each test makes the run that it looks at.
"""

import asyncio
from typing import Any

import pytest

from daemon.agents import agents, changed, diary, room
from daemon.agents.activity import Activity, activity
from daemon.agents.models.interface import AnswerFault, RunContext, Turn, Usage
from daemon.agents.records import Hindered, load, report_of, state_id
from daemon.agents.run import CALLS_MAX, INPUT_TOKENS_MAX, TURNS_MAX
from daemon.agents.tools import TOOLS
from daemon.agents.wakes import triggers
from store.snapshot import Snapshot
from store.verdicts import Status
from syncproto.commit import COMMIT_BYTES_MAX
from syncproto.ids import EntityId, from_text, text
from tests.daemon.agents.deciding import commits, confirm, waiting
from tests.daemon.agents.fleet import Home
from tests.daemon.agents.running import all_of, messages_of, new_agent, ran, reports, says

ESTIMATE = ("update_task_estimate", {"minutes": 90})


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return new_agent(a, task)


def kinds(home: Home, agent: EntityId) -> list[str]:
    return [one.text("kind") for one in messages_of(home, agent)]


def since(home: Home, seq: int) -> list[list[str]]:
    """Return the kinds that each commit since a position wrote."""
    feed = home.read(lambda snapshot: snapshot.feed(seq, 100))
    return [sorted(one.kind for one in received.commit.operations) for _, received in feed]


def report(home: Home, agent: EntityId) -> dict[str, Any] | None:
    def use(snapshot: Snapshot) -> dict[str, Any] | None:
        known = load(snapshot, agent)
        assert known is not None
        return report_of(snapshot, known)

    return home.read(use)


def changes_since(home: Home, agent: EntityId) -> int:
    def use(snapshot: Snapshot) -> int:
        known = load(snapshot, agent)
        assert known is not None
        return changed.since_report(snapshot, known)

    return home.read(use)


def log(home: Home, agent: EntityId, **how: Any) -> list[Activity]:
    asked = {"tools": True, "limit": 100} | how
    return home.read(lambda snapshot: activity(snapshot, agent, **asked))


# -- turns --------------------------------------------------------------------------------------------


async def test_each_turn_is_a_commit_of_its_own_and_the_end_is_one(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    before = commits(a)
    noted = ("record_observations", {"observations": ["Slow on Mondays."]})
    await ran(a, agent, says(ESTIMATE, words="Let me see."), says(noted, reports(), usage=Usage(5, 1)))
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
    said = messages_of(a, agent)
    assert [one.value("prev_message_id") for one in said] == [None, *(one.id for one in said[:-1])]
    assert a.value(state_id(agent), "head_message_id") == said[-1].id
    assert [one.text("thread_id") for one in said] == ["one"] * 6 + ["two"] * 4


async def test_a_call_and_its_answer_say_which_operation_and_what_became_of_it(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    made = says(ESTIMATE, ("Update.Task-Priority", {"priority": "P2"}), ("delete_task", {}), reports())
    await ran(a, agent, made)
    told = [one for one in log(a, agent) if one.kind == "tool_result"]
    assert [(one.tool, one.outcome, one.error) for one in told] == [
        ("update_task_estimate", "queued", False),
        ("update_task_priority", "skipped", False),
        ("delete_task", "refused", True),
        ("update_report", "done", False),
    ]
    (item,) = waiting(a)
    assert told[0].item_ids == [item.item_id]
    first = next(one for one in messages_of(a, agent) if one.text("kind") == "action")
    about = first.value("metadata")
    assert isinstance(about, dict)
    assert len(str(about["operation_id"])) == 64


async def test_a_denied_call_is_kept_as_denied(a: Home, task: EntityId, agent: EntityId) -> None:
    a.set(agent, **{"policy/update_task_estimate": "denied"})
    await ran(a, agent, says(ESTIMATE, reports()))
    told = next(one for one in log(a, agent) if one.kind == "tool_result")
    assert (told.denied, told.outcome) == (True, "denied")
    assert waiting(a) == []


async def test_a_process_that_dies_between_turns_leaves_the_turns_and_its_replay_doubles_nothing(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    def dies(context: Any) -> Turn:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await ran(a, agent, says(ESTIMATE), dies)
    assert kinds(a, agent) == ["system", "action", "tool_result"]
    assert (waiting(a), report(a, agent), all_of(a, "usage")) == ([], None, [])
    await ran(a, agent, says(ESTIMATE, reports(), usage=Usage(5, 1)))
    await ran(a, agent, says(ESTIMATE, reports(), usage=Usage(5, 1)))
    assert [len(all_of(a, kind)) for kind in ("change_set", "report", "usage")] == [1, 1, 1]
    assert len(waiting(a)) == 1


async def test_turns_of_megabytes_are_kept_in_part_and_in_commits_that_fit(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    before = commits(a)
    huge = [("set_task_title", '{"title": "' + "ä" * 300_000 + '"}')] * 20
    await ran(a, agent, says(*huge, words="ü" * 1_000_000), says(reports()))
    sizes = [
        len(received.signed.body) for _, received in a.read(lambda snapshot: snapshot.feed(before, 1000))
    ]
    assert max(sizes) <= COMMIT_BYTES_MAX
    assert sum(sizes) < diary.RUN_BYTES_MAX + 100_000
    (thought,) = [one for one in log(a, agent) if one.kind == "thought"]
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
        text(a.new("checklist_item", task, checklist_id=lists, title=f"{n:02}" + smile * 398, position="a"))
        for n in range(30)
    ]
    adding = [{"title": f"{number}"} for number in range(20)]
    await ran(a, agent, says(("add_multiple_checklist_items", {"items": adding})), key="before")
    taken_back = [text(one.id) for one in a.read(lambda snapshot: snapshot.items(task))]
    words: dict[str, Any] = {
        "reason": smile * 400,
        "rationale": smile * 300,
        "evidenceIds": [text(a.new("entry", task, task_id=task, text=f"{n}")) for n in range(10)],
    }
    items = [
        {"id": one, "title": one + smile * 368, "isArchived": True, "isChecked": True, **words} for one in ids
    ]
    batches = [("update_checklist_items", {"items": items[at : at + 15]}) for at in (0, 15)]
    noted = ("record_observations", {"observations": [f"{n}" + smile * 990 for n in range(20)]})
    told = reports(
        "😀" * 1000, goal="😀" * 1000, achieved=[line] * 25, remaining=[line] * 25, learnings=[line] * 25
    )
    retracted = ("retract_proposals", {"itemIds": taken_back, "reason": smile * 400})
    before = commits(a)
    ended = await ran(a, agent, says(*batches, noted, retracted, told), Turn((), smile * 20_000), key="after")
    assert (ended.proposals, ended.reported) == (30, True)
    assert {a.item(from_text(one)).status for one in taken_back} == {Status.RETRACTED}
    sizes = [len(one.signed.body) for _, one in a.read(lambda snapshot: snapshot.feed(before, 100))]
    assert max(sizes) <= COMMIT_BYTES_MAX
    assert len(all_of(a, "change_set")) == 2 + 3


# -- budgets ------------------------------------------------------------------------------------------


async def test_a_report_is_asked_for_beyond_the_turns_and_nothing_else_is_taken_then(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    forced = says(("update_task_priority", {"priority": "P0"}), reports("Asked."))
    await ran(a, agent, *[says(ESTIMATE)] * TURNS_MAX, forced)
    assert [item.tool for item in waiting(a)] == ["update_task_estimate"]
    told = report(a, agent)
    assert told is not None
    assert told["tldr"] == "Asked."
    assert all_of(a, "report")[0].value("confidence") == "low"


async def test_calls_beyond_the_limit_are_not_looked_at(a: Home, task: EntityId, agent: EntityId) -> None:
    many = says(*[("add_checklist_item", {"title": f"{number}"}) for number in range(5 * CALLS_MAX)])
    await ran(a, agent, many, says(reports()))
    assert kinds(a, agent).count("action") == CALLS_MAX + 1
    assert f"{4 * CALLS_MAX} further calls were not looked at" in [one.text for one in log(a, agent)]


async def test_a_run_that_has_read_too_much_takes_no_turn_but_for_the_report(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    more = says(("update_task_priority", {"priority": "P0"}), reports())
    await ran(a, agent, says(ESTIMATE, usage=Usage(INPUT_TOKENS_MAX)), more)
    assert [item.tool for item in waiting(a)] == ["update_task_estimate"]
    assert report(a, agent) is not None


async def test_an_agent_that_may_not_report_is_not_asked_to(a: Home, task: EntityId, agent: EntityId) -> None:
    a.set(agent, **{"policy/update_report": "denied"})

    def never(context: RunContext) -> Turn:
        raise AssertionError(context.instruction)

    await ran(a, agent, says(ESTIMATE), Turn(()), never)
    assert report(a, agent) is None
    assert len(waiting(a)) == 1


async def test_no_model_is_asked_for_an_agent_that_may_call_nothing(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(agent, **{f"policy/{tool}": "denied" for tool in TOOLS})

    def never(context: RunContext) -> Turn:
        raise AssertionError(context.tools)

    assert not (await ran(a, agent, never)).reported


# -- the end ------------------------------------------------------------------------------------------


async def test_the_report_says_what_it_rests_on_and_by_whom(a: Home, task: EntityId, agent: EntityId) -> None:
    seen = a.read(lambda snapshot: snapshot.vector())
    await ran(a, agent, says(ESTIMATE, reports()))
    (held,) = all_of(a, "report")
    said = messages_of(a, agent)
    assert a.value(state_id(agent), "report_id") == held.id
    assert held.value("source_span") == [said[0].id, said[-1].id]
    assert held.value("provenance") == {"model": "scripted", "run_key": "run"}
    assert (held.value("confidence"), held.value("scope")) == ("high", "task")
    assert held.value("rests_on") == [[one.replica, one.counter, one.hash8] for one in seen]
    assert a.read(lambda snapshot: snapshot.referring(said[0].id, "report_source_span")) == [held.id]


async def test_a_report_that_could_not_rest_on_all_that_changed_is_trusted_less(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await ran(a, agent, says(reports("One.")), key="one")
    for number in range(2 * room.CHANGES.members):
        a.set(task, title=f"{number}")
    await ran(a, agent, says(reports("Two.")), key="two")
    trusted = {str(one.value("content")): one.value("confidence") for one in all_of(a, "report")}
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
    assert len(all_of(a, "report")) == 1
    assert changes_since(a, agent) == 0


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
    told = report(a, agent)
    assert told is not None
    assert told["tldr"] == "there"
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
        await ran(a, agent, says(ESTIMATE, usage=Usage(100, 20)), AnswerFault("the server answered nonsense"))
    (usage,) = all_of(a, "usage")
    assert (usage.value("input"), usage.value("output")) == (100, 20)
    assert log(a, agent)[-1].text == "the server answered nonsense"
    assert (waiting(a), report(a, agent)) == ([], None)
    assert a.read(lambda snapshot: snapshot.entity(state_id(agent))) is None


async def test_a_run_that_fails_after_its_agent_was_destroyed_says_no_more(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    def fails(context: RunContext) -> Turn:
        a.set(agent, lifecycle="destroyed")
        raise AnswerFault("nonsense")

    with pytest.raises(AnswerFault):
        await ran(a, agent, says(ESTIMATE, usage=Usage(100, 20)), fails)
    assert kinds(a, agent) == ["system", "action", "tool_result"]
    assert all_of(a, "usage") == []


async def test_a_model_that_never_answers_leaves_nothing(a: Home, task: EntityId, agent: EntityId) -> None:
    before = commits(a)
    with pytest.raises(AnswerFault):
        await ran(a, agent, AnswerFault("no answer"))
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
    def meanwhile(context: Any) -> Turn:
        a.set(agent, **hindered)
        return says(reports())

    with pytest.raises(Hindered):
        await ran(a, agent, says(ESTIMATE), meanwhile)
    assert (waiting(a), report(a, agent)) == ([], None)
    assert kinds(a, agent) == ["system", "action", "tool_result"]
    with pytest.raises(Hindered):
        await ran(a, agent, key="two")


async def test_a_run_without_tokens_books_none(a: Home, task: EntityId, agent: EntityId) -> None:
    await ran(a, agent, says(reports()))
    assert all_of(a, "usage") == []


# -- what messages must not do ------------------------------------------------------------------------


async def test_what_an_agent_writes_while_it_runs_wakes_nobody_and_is_no_history(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    from daemon.journal import log as history

    await ran(a, agent, says(ESTIMATE, ("record_observations", {"observations": ["Hm."]}), reports()))
    known = a.read(lambda snapshot: load(snapshot, agent))
    assert known is not None
    assert a.read(lambda snapshot: triggers(snapshot, known)) == []
    told = a.read(lambda snapshot: history.log(snapshot, None, limit=100))
    assert {one.kind for one in told} <= {"task", "agent"}
    assert a.read(lambda snapshot: list(snapshot.disputed("message"))) == []


# -- the log ------------------------------------------------------------------------------------------


async def test_the_log_tells_what_woke_the_agent_what_it_said_and_how_it_ended(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await ran(a, agent, says(ESTIMATE, words="Let me see.", usage=Usage(100, 20)), says(reports()))
    told = log(a, agent, tools=False)
    assert [(one.kind, one.trigger, one.text, one.tokens) for one in told] == [
        ("system", "one change", "", None),
        ("thought", None, "Let me see.", 120),
        ("summary", None, "", None),
    ]
    assert told[-1].ended == {
        "model": "scripted",
        "turns": 3,
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
    assert (result.item_id, result.args, result.targets) == (text(item.id), {"minutes": 45}, [text(task)])


async def test_the_log_goes_back_page_by_page(a: Home, task: EntityId, agent: EntityId) -> None:
    for number in range(3):
        await ran(a, agent, says(ESTIMATE, reports(f"{number}")), key=f"{number}")
        a.fleet.now_ms += 1000
    whole = log(a, agent)
    last = log(a, agent, limit=4)
    before = log(a, agent, limit=500, before=last[0].id)
    assert before + last == whole
    assert len(whole) == 18


async def test_a_long_log_is_told_whole_and_each_message_once(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    many = [("add_checklist_item", {"title": f"{number}"}) for number in range(CALLS_MAX)]
    await ran(a, agent, says(*many), says(reports()))
    told = [one.id for one in log(a, agent, limit=500)]
    assert len(told) == len(set(told)) == len(messages_of(a, agent)) > 200


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
    assert agents is not None
