"""One run of an agent: context, model, tool calls, each turn kept as it happens, one commit at the end.

Never changes the journal: what a model proposes waits in change sets; what is its own is written at the end.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from daemon.agents.context import Gathered
from daemon.agents.diary import Diary
from daemon.agents.ending import Done, Ended, book_failed, finish
from daemon.agents.models.interface import Exchange, Model, ModelFault, RunContext, ToolCall, Turn, Usage
from daemon.agents.proposals import Answer, Desk, Limits, Run, Taken
from daemon.agents.records import require_able
from daemon.agents.tools import UPDATE_REPORT, normalised_name
from store.snapshot import Snapshot
from store.transaction import Transaction

TURNS_MAX = 10
CALLS_MAX = 100
INPUT_TOKENS_MAX = 400_000
"""How much a run may have a model read in all its turns."""
ASK_FOR_REPORT = "You have not reported yet. Call update_report now, and nothing else."

T = TypeVar("T")


class Database(Protocol):
    """The store as asyncio sees it."""

    def read(self, use: Callable[[Snapshot], T]) -> Awaitable[T]:
        """Run on a snapshot."""

    def write(self, use: Callable[[Transaction], T]) -> Awaitable[T]:
        """Run in a transaction; return when it is durable."""


@dataclass(slots=True)
class _Talk:
    """The conversation of one run."""

    database: Database
    model: Model
    agent: Gathered
    context: RunContext
    done: Done


async def run(
    database: Database, model: Model, gathered: Gathered, *, limits: Limits, timeout_s: float, now_ms: int
) -> Ended:
    """Let the model have its turns, then write everything in one commit that also ends the run.

    Raises ModelFault where the model cannot answer, TimeoutError past `timeout_s`, Hindered where the agent
    may not run here any more, and what the store raises: then nothing is left but the messages of the turns
    that there were, and what they cost.
    """
    agent = gathered.agent
    desk = Desk(Run(agent.id, agent.task, gathered.run_key, now_ms), gathered.seen, limits)
    diary = Diary(agent, gathered.run_key, gathered.reason)
    talk = _Talk(database, model, gathered, gathered.context, Done(model.name, desk, diary, Usage()))
    try:
        async with asyncio.timeout(timeout_s):
            await _converse(talk)
    except (ModelFault, TimeoutError) as fault:
        why = str(fault) or "the run took too long"
        await database.write(lambda tx: book_failed(tx, gathered, talk.done, why))
        raise
    return await database.write(lambda tx: finish(tx, gathered, talk.done))


async def _converse(talk: _Talk) -> None:
    """Take turns until the model has nothing more to call; ask once for a report that it forgot.

    A model is not asked for an agent whose policy denies it every tool.
    """
    tools = talk.context.tools
    while tools and _has_room(talk.done):
        if not await _turn(talk):
            break
    if talk.done.desk.report is None and UPDATE_REPORT in tools:
        talk.done.forced = True
        talk.context = replace(talk.context, instruction=ASK_FOR_REPORT, must_call=UPDATE_REPORT)
        await _turn(talk)


def _has_room(done: Done) -> bool:
    return done.turns < TURNS_MAX and done.calls < CALLS_MAX and done.usage.input < INPUT_TOKENS_MAX


async def _turn(talk: _Talk) -> bool:
    """Let the model answer once, answer its calls, and keep the turn; False where it called nothing."""
    turn, done = await talk.model.turn(talk.context), talk.done
    done.usage = _sum(done.usage, turn.usage)
    done.turns += 1
    if not turn.calls:
        done.words = turn.text
        return False
    looked_at = turn.calls[: CALLS_MAX if done.forced else CALLS_MAX - done.calls]
    made = await talk.database.write(lambda tx: _keep(tx, talk, turn, looked_at))
    exchanges = tuple(Exchange(call, answer.text, done.turns) for call, answer in made)
    talk.context = replace(talk.context, exchanges=talk.context.exchanges + exchanges)
    return True


def _keep(
    tx: Transaction, talk: _Talk, turn: Turn, calls: tuple[ToolCall, ...]
) -> list[tuple[ToolCall, Answer]]:
    """Answer the calls of a turn and write it, in one transaction. Raises Hindered."""
    require_able(tx, talk.agent.agent.id)
    made = [(call, _answer(tx, talk, call)) for call in calls]
    talk.done.diary.keep_turn(tx, turn, made, len(turn.calls) - len(calls))
    return made


def _answer(snapshot: Snapshot, talk: _Talk, call: ToolCall) -> Answer:
    talk.done.calls += 1
    if talk.done.forced and normalised_name(call.name) != UPDATE_REPORT:
        return Answer(f"Refused: {ASK_FOR_REPORT}", None, None, Taken.REFUSED)
    return talk.done.desk.take(call.name, call.arguments, snapshot)


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input + other.input,
        one.output + other.output,
        one.cached + other.cached,
        one.reasoning + other.reasoning,
    )
