"""Every fault that a model's server is known for, through a whole run: what ends it, and what goes on.

Never sleeps: pauses and days pass because clocks are moved.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from daemon.agents.models.openai.device_services import DeviceServices
from daemon.agents.person import lifecycle
from daemon.agents.running.spending import SpendingAccount, Tariff
from daemon.agents.running.timetable import FAILURES_MAX
from daemon.refusal import Refused
from store.local import model_usage, run_log
from store.local.run_log import RunStatus
from syncproto.ids import EntityId, id_to_text
from tests.daemon.agents.models.openai.connected_model import (
    KEY,
    NOTE,
    REPORT,
    ConnectedModel,
    connected_model,
)
from tests.daemon.agents.models.openai.fake_server import (
    Step,
    acts,
    answers,
    call,
    calls,
    cuts,
    drips,
    raw,
    refuses,
    replays,
    says,
)
from tests.daemon.agents.models.openai.remote_runs import ended, report_of, running, standing
from tests.support.decision_verbs import waiting
from tests.support.fleet import DAY_MS, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_service import Serving, serving

ESTIMATE = ("update_task_estimate", {"minutes": 90})
REPORTED = ("update_report", REPORT)
RECORDED = {
    file.stem: json.loads(file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parent / "recorded").glob("*.json"))
}


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    a.new("entry", task, task_id=task, text="Long ago. " * 2000, source="note")
    a.new("entry", task, task_id=task, text=f"{NOTE}: 90 minutes", source="note")
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


# -- what a run lives through -------------------------------------------------------------------------

OVERFLOW = refuses(400, code="context_length_exceeded", message="This model's maximum context length is 8192")
LIVED_THROUGH: dict[str, tuple[Step, ...]] = {
    "429 with Retry-After": (refuses(429, after="3"), calls(ESTIMATE, REPORTED)),
    "503, and then a broken connection": (refuses(503), cuts(), calls(ESTIMATE, REPORTED)),
    "context overflow": (OVERFLOW, calls(ESTIMATE, REPORTED)),
    "no ids": (answers({"tool_calls": [call(*ESTIMATE, None), call(*REPORTED, None)]}),),
    "one id for all": (answers({"tool_calls": [call(*ESTIMATE, "x"), call(*REPORTED, "x")]}),),
    "garbled names": (calls(("functions.Update-Task-ESTIMATE", {"minutes": 90}), REPORTED),),
    "unknown tools": (calls(("delete_task", {"taskId": "all"}), ESTIMATE, REPORTED),),
    "arguments that are no JSON": (
        calls(("update_task_priority", '{"priority": "P1"'), ("set_task_title", "title"), ESTIMATE, REPORTED),
    ),
    "a report with raw line breaks": (
        calls(ESTIMATE, ("update_report", '{"title": "A title", "tldr": "Two\nlines."}')),
    ),
    "a report that is none": (calls(ESTIMATE), says("Done."), raw(b"{")),
}


@pytest.mark.parametrize("fault", LIVED_THROUGH)
async def test_a_run_lives_through(a: Home, task: EntityId, agent: EntityId, fault: str):
    async with running(a, *LIVED_THROUGH[fault]) as (far, service):
        await service.completed(agent, 1)
        assert not far.server.script
        assert [run.status for run in await service.runs(agent)] == [RunStatus.COMPLETED]
    assert [item.summary for item in waiting(a)] == ["Set estimate to 90 minutes"]
    assert a.value(task, "estimate_minutes") == 60


async def test_a_report_with_raw_line_breaks_is_one(a: Home, agent: EntityId):
    async with running(a, *LIVED_THROUGH["a report with raw line breaks"]) as (_, service):
        await service.completed(agent, 1)
    assert "Two\\nlines" in repr(report_of(a, agent))


async def test_a_server_that_asks_for_time_gets_it(a: Home, agent: EntityId):
    async with running(a, refuses(429, after="7"), calls(REPORTED)) as (far, service):
        await service.completed(agent, 1)
        assert 7 <= sum(far.world.pauses) < 9


async def test_after_an_overflow_less_is_told(a: Home, agent: EntityId):
    async with running(a, OVERFLOW, calls(REPORTED)) as (far, service):
        await service.completed(agent, 1)
        first, second = (len(request.written) for request in far.server.asked[:2])
    assert second < first


# -- what ends it -------------------------------------------------------------------------------------

ENDED: dict[str, tuple[tuple[Step, ...], dict[str, Any], RunStatus, str]] = {
    "no JSON": ((raw(b"{"),), {}, RunStatus.FAILED, "no JSON"),
    "an answer by schema that is cut off": (
        (says('{"actions": [', "length"),),
        {"mode": "actions"},
        RunStatus.FAILED,
        "was cut off",
    ),
    "500 with a validation error": (
        (refuses(500, message="1 validation error"),),
        {},
        RunStatus.FAILED,
        "model.mode (500)",
    ),
    "overflow without end": ((OVERFLOW,) * 9, {}, RunStatus.FAILED, "too long"),
    "a slow stream": ((drips(),), {"attempts_max": 1, "total_s": 0.2}, RunStatus.ABANDONED, "within 0.2 s"),
    "a cut connection": ((cuts(),), {"attempts_max": 1}, RunStatus.ABANDONED, "broke"),
    "a wrong key": ((refuses(401),), {}, RunStatus.ABANDONED, "refused the key"),
    "a wrong name": ((refuses(404),), {}, RunStatus.ABANDONED, "no such model"),
}


@pytest.mark.parametrize("fault", ENDED)
async def test_a_run_is_ended_by(a: Home, agent: EntityId, fault: str):
    script, how, status, words = ENDED[fault]
    before = standing(a, agent)
    async with running(a, *script, **how) as (_, service):
        run = await ended(service, agent)
    assert (run.status, waiting(a), standing(a, agent)) == (status, [], before)
    assert words in run.error
    assert KEY not in run.error


# -- what concerns all agents alike -------------------------------------------------------------------


async def until_waiting(service: Serving, agent: EntityId, words: str) -> None:
    """Wait until an agent is held back for a reason."""

    async def holds() -> bool:
        await service.runs(agent)  # lets the loop go on
        return words in service.scheduler.outlook(agent).why

    await service.until(holds)


def later(a: Home, far: ConnectedModel, service: Serving, span_s: int) -> None:
    a.fleet.now_ms += span_s * 1000
    far.world.now_s += span_s
    service.scheduler.on_store_growth()


async def test_a_wrong_key_makes_no_agent_dormant_and_they_go_on_once_it_is_right(a: Home, agent: EntityId):
    async with running(a) as (far, service):
        far.server.always = refuses(401)
        for number in range(1, FAILURES_MAX + 3):
            await until_asked(service, far, agent, number)
            await until_waiting(service, agent, "refused the key")
            later(a, far, service, 3600)
        far.server.always = calls(REPORTED)
        later(a, far, service, 3600)
        await service.completed(agent, 1)
    assert a.read(lambda snapshot: run_log.failure_streak(snapshot, agent)).number == 0


async def until_asked(service: Serving, far: ConnectedModel, agent: EntityId, number: int) -> None:
    async def holds() -> bool:
        await service.runs(agent)
        return len(far.server.asked) >= number

    await service.until(holds)


async def test_of_two_agents_one_asks_while_the_key_is_wrong(a: Home, agent: EntityId):
    other = a.new("task", title="Another", status="OPEN", priority="P2")
    a.new("entry", other, task_id=other, text="90 minutes", source="note")
    async with running(a) as (far, service):
        far.server.always = refuses(401)
        await until_waiting(service, agent, "refused the key")
        second = await service.threads.write(
            lambda tx: lifecycle.create_agent(tx, id_to_text(other), "rules")
        )
        await until_waiting(service, second, "refused the key")
        assert len(far.server.asked) == 1
        assert await service.runs(second) == []


# -- money --------------------------------------------------------------------------------------------


@asynccontextmanager
async def paying(
    home: Home, cost_per_day: float, *script: Step
) -> AsyncIterator[tuple[ConnectedModel, Serving]]:
    """Run the agents of a device whose model takes one a million tokens."""
    threads = home.threads()
    account = SpendingAccount(threads, home, "fake-1", Tariff(1.0, 1.0, 1.0, cost_per_day), lambda: UTC)
    around = DeviceServices(account)
    async with (
        connected_model(*script, around=around) as far,
        serving(home, far.model, threads=threads) as service,
    ):
        yield far, service


def dear(tokens: int, *called: tuple[str, object]) -> Step:
    usage = {"prompt_tokens": tokens, "completion_tokens": 0}
    return answers({"tool_calls": [call(*arguments) for arguments in called]}, "tool_calls", usage)


async def test_what_was_proposed_before_the_budget_was_spent_waits(a: Home, agent: EntityId):
    async with paying(a, 0.05, dear(49_000, ESTIMATE)) as (far, service):
        await service.completed(agent, 1)
        assert "today's budget for models is spent" in (await service.runs(agent))[0].error
        assert len(far.server.asked) == 1
    assert [item.summary for item in waiting(a)] == ["Set estimate to 90 minutes"]


async def test_a_run_that_would_go_beyond_the_budget_ends_and_begins_again_the_next_day(
    a: Home, task: EntityId, agent: EntityId
):
    async with paying(a, 0.05, dear(49_000, ("delete_task", {})), calls(ESTIMATE, REPORTED)) as (
        far,
        service,
    ):
        await until_waiting(service, agent, "today's budget for models is spent")
        run = (await service.runs(agent))[0]
        assert run.status is RunStatus.ABANDONED
        assert "it begins anew at" in run.error
        assert far.world.pauses == []
        later(a, far, service, 3600)
        await until_waiting(service, agent, "today's budget for models is spent")
        assert len(far.server.asked) == 1
        later(a, far, service, DAY_MS // 1000)
        await service.completed(agent, 1)
    assert [item.summary for item in waiting(a)] == ["Set estimate to 90 minutes"]
    assert a.value(task, "estimate_minutes") == 60


async def test_a_run_does_not_begin_on_a_day_whose_budget_is_spent_not_even_when_asked(
    a: Home, agent: EntityId
):
    today = datetime.fromtimestamp(a.now_ms() / 1000, UTC).date().isoformat()
    a.write(
        lambda tx: model_usage.add_usage(tx, today, "fake-1", model_usage.ModelUsage(1, 9000, 0, 0, 0, 9000))
    )
    async with paying(a, 0.01) as (far, service):
        await until_waiting(service, agent, "today's budget for models is spent (0.009 of 0.01)")
        assert await service.runs(agent) == []
        with pytest.raises(Refused, match="did not complete: today's budget for models is spent"):
            await service.scheduler.wake(agent, wait_s=LIMIT_S)
        assert far.server.asked == []


# -- what a real server answered ----------------------------------------------------------------------


def test_there_are_recordings_of_both_modes():
    assert list(RECORDED) == ["actions", "tools"]


@pytest.mark.parametrize("mode", RECORDED)
async def test_what_a_real_small_model_says_changes_nothing_unconfirmed(
    a: Home, task: EntityId, agent: EntityId, mode: str
):
    fields = ("title", "status", "priority", "estimate_minutes")
    before = [a.value(task, name) for name in fields]
    async with running(a, *replays(RECORDED[mode]), mode=mode) as (far, service):
        await service.completed(agent, 1)
        assert far.server.asked
    assert [a.value(task, name) for name in fields] == before
    assert a.titles(task) == []
    assert report_of(a, agent) is not None


async def test_a_model_without_end_is_cut_after_ten_turns(a: Home, agent: EntityId):
    async with running(a, mode="actions") as (far, service):
        far.server.always = acts({"actions": [{"tool": "nonsense", "arguments": {}}] * 40})
        run = await ended(service, agent)
        assert len(far.server.asked) <= 2
    assert (run.status, waiting(a)) == (RunStatus.FAILED, [])
    assert "nothing that the model called could be used" in run.error
