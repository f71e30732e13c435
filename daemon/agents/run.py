"""One run of an agent: context, model, tool calls, and one commit at the end.

Never changes the journal: what a model proposes waits in change sets; only its report is written at once.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from daemon.agents.context import Gathered
from daemon.agents.models.interface import Exchange, Model, RunContext, ToolCall, Turn, Usage
from daemon.agents.proposals import Desk, Limits, Run
from daemon.agents.records import load, state_id
from daemon.agents.tools import UPDATE_REPORT
from store import runs
from store.item import clock_as_value
from store.runs import RunStatus
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.heads import Clock, union
from syncproto.ids import EntityId, derived_id, text

TURNS_MAX = 10
CALLS_MAX = 100
ASK_FOR_REPORT = "You have not reported yet. Call update_report now, and nothing else."

T = TypeVar("T")


class Database(Protocol):
    """The store as asyncio sees it."""

    def read(self, use: Callable[[Snapshot], T]) -> Awaitable[T]:
        """Run on a snapshot."""

    def write(self, use: Callable[[Transaction], T]) -> Awaitable[T]:
        """Run in a transaction; return when it is durable."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run brought about."""

    proposals: int
    reported: bool


@dataclass(slots=True)
class _Talk:
    """The conversation of one run."""

    desk: Desk
    context: RunContext
    usage: Usage
    calls: int = 0


async def run(
    database: Database, model: Model, gathered: Gathered, *, limits: Limits, timeout_s: float, now_ms: int
) -> Ended:
    """Let the model have its turns, then write everything in one commit that also ends the run.

    Raises ModelFault where the model cannot answer, TimeoutError past `timeout_s`, and what the store raises;
    then nothing has been written.
    """
    agent = gathered.agent
    desk = Desk(Run(agent.id, agent.task, gathered.run_key, now_ms), gathered.seen, limits)
    talk = _Talk(desk, gathered.context, Usage())
    async with asyncio.timeout(timeout_s):
        await _converse(database, model, talk)
    return await database.write(lambda tx: _finish(tx, model.name, gathered, talk))


async def _converse(database: Database, model: Model, talk: _Talk) -> None:
    """Take turns until the model has nothing more to call; ask once for a report that it forgot."""
    for _ in range(TURNS_MAX):
        if not await _turn(database, model, talk):
            break
    if talk.desk.report is None:
        talk.context = replace(talk.context, instruction=ASK_FOR_REPORT, must_call=UPDATE_REPORT)
        await _turn(database, model, talk)


async def _turn(database: Database, model: Model, talk: _Talk) -> bool:
    """Let the model answer once and answer its calls; False where it made none."""
    turn = await model.turn(talk.context)
    talk.usage = _sum(talk.usage, turn.usage)
    if turn.calls:
        answers = await database.read(lambda snapshot: _answers(snapshot, talk, turn))
        talk.context = replace(talk.context, exchanges=talk.context.exchanges + answers)
    return bool(turn.calls)


def _answers(snapshot: Snapshot, talk: _Talk, turn: Turn) -> tuple[Exchange, ...]:
    number = talk.context.exchanges[-1].turn + 1 if talk.context.exchanges else 1
    return tuple(Exchange(call, _answer(snapshot, talk, call), number) for call in turn.calls)


def _answer(snapshot: Snapshot, talk: _Talk, call: ToolCall) -> str:
    talk.calls += 1
    if talk.calls > CALLS_MAX:
        return f"Refused: a run makes at most {CALLS_MAX} calls."
    return talk.desk.take(call.name, call.arguments, snapshot).text


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input + other.input,
        one.output + other.output,
        one.cached + other.cached,
        one.reasoning + other.reasoning,
    )


# -- the end of a run ---------------------------------------------------------------------------------


def _finish(tx: Transaction, model: str, gathered: Gathered, talk: _Talk) -> Ended:
    """Write change sets, report, state and usage in one commit, and end the run in the same transaction."""
    agent, ours = gathered.agent, talk.desk.writes(tx)
    report = _report(gathered, talk.desk.report)
    state: dict[str, Value] = {
        "agent_id": agent.id,
        "watermark": clock_as_value(_seen(tx, gathered)),
        "last_wake_at": tx.now_ms(),
    }
    if report is not None:
        state["report_id"] = report.entity
    writes = [*ours, Write(state_id(agent.id), "agent_state", state), _usage(model, gathered, talk.usage)]
    tx.commit(writes if report is None else [*writes, report], by=By.AGENT, agent=agent.id)
    runs.end(tx, gathered.run_key, RunStatus.COMPLETED)
    sets = [one for one in ours if one.kind == "change_set"]
    return Ended(sum(len(_items(one)) for one in sets), report is not None)


def _seen(tx: Transaction, gathered: Gathered) -> Clock:
    """Return the new watermark. One that another device's run moved meanwhile must not be lost with it."""
    now = load(tx, gathered.agent.id)
    return gathered.vector if now is None else union(gathered.vector, now.watermark, tx.log)


def _items(change_set: Write) -> list[Any]:
    items = change_set.fields["items"]
    assert isinstance(items, list)
    return items


def _report(gathered: Gathered, content: dict[str, Any] | None) -> Write | None:
    """Return the write of a new report; None where it says nothing new."""
    old = gathered.context.report or {}
    if content is None or _told(content) == _told(old):
        return None
    fields: dict[str, Value] = {
        "agent_id": gathered.agent.id,
        "scope": "task",
        "content": content,
        "rests_on": clock_as_value(gathered.vector),
    }
    return Write(_of_run("report", gathered), "report", fields)


def _told(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != "lastUpdated"}


def _usage(model: str, gathered: Gathered, usage: Usage) -> Write:
    fields: dict[str, Value] = {
        "agent_id": gathered.agent.id,
        "run_key": gathered.run_key,
        "model": model,
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
    }
    return Write(_of_run("usage", gathered), "usage", fields)


def _of_run(tag: str, gathered: Gathered) -> EntityId:
    """Return an id that follows from the run, so that a replay makes nothing twice."""
    agent = gathered.agent.id
    return derived_id(tag, text(agent), gathered.run_key, time_of=agent)
