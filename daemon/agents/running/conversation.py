"""One run of an agent: context, model, tool calls. Each turn is stored as it happens, the end in one commit.

Never changes the journal: proposals wait in change sets, and the agent's own records are written at the end.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import structlog

from daemon.agents.context.run_inputs import RunInputs
from daemon.agents.proposing.call_handler import ToolCallHandler
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.proposing.run_identity import RunIdentity
from daemon.agents.proposing.tool_answers import CallOutcome, ToolAnswer
from daemon.agents.running.refuted_calls import refutation_by_notes
from daemon.agents.running.run_end import RunProgress, RunReceipt, finish_run, record_failed_run
from daemon.agents.running.run_language import is_in_other_language
from daemon.agents.running.transcript import Transcript
from daemon.agents.tools.agent_record import AgentHindered, require_unhindered
from daemon.agents.tools.model_interface import (
    Model,
    ModelFault,
    ModelTurn,
    RunContext,
    StandInAnswers,
    TokenUsage,
    ToolCall,
    ToolExchange,
    all_refused,
    anything_taken,
    total_usage,
)
from daemon.agents.tools.short_ids import short_ids_of
from daemon.agents.tools.table import UPDATE_REPORT, normalised_name
from store.file.errors import StoreError
from store.snapshot import Snapshot
from store.transaction import Transaction

TURNS_MAX = 10
CALLS_MAX = 100
INPUT_TOKENS_MAX = 400_000
"""How many tokens a model may read in all turns of a run."""
ASK_FOR_REPORT = "You have not reported yet. Call update_report now, and nothing else."

_log = structlog.get_logger(__name__)
T = TypeVar("T")


class AsyncDatabase(Protocol):
    """The store as asyncio sees it."""

    def read(self, use: Callable[[Snapshot], T]) -> Awaitable[T]:
        """Run a function on a snapshot."""

    def write(self, use: Callable[[Transaction], T]) -> Awaitable[T]:
        """Run a function in a transaction; return when it is durable."""


@dataclass(slots=True)
class _Conversation:
    """The conversation of one run. `language_asked_for`: the model was asked for the task's language."""

    database: AsyncDatabase
    model: Model
    agent: RunInputs
    context: RunContext
    done: RunProgress
    language_asked_for: bool = False


async def run_agent(
    database: AsyncDatabase,
    model: Model,
    run_inputs: RunInputs,
    *,
    limits: ProposalLimits,
    timeout_s: float,
    now_ms: int,
) -> RunReceipt:
    """Let the model have its turns, then write the end of the run in one commit.

    If the model fails, a defect shows or `timeout_s` pass after the model has brought something about, the
    run is cut short: what it queued is written all the same. Otherwise raises ModelFault, TimeoutError or the
    error of the defect. Also raises AgentHindered
    if the agent may not run here any more, and what the store raises. Then the messages of the turns so far
    remain, and their cost.
    """
    agent = run_inputs.agent
    handler = ToolCallHandler(
        RunIdentity(agent.id, agent.task, run_inputs.run_key, now_ms),
        run_inputs.baseline,
        limits,
        short_ids_of(run_inputs.context),
        refutation_by_notes(run_inputs.context),
    )
    transcript = Transcript(agent, run_inputs.run_key, run_inputs.reason)
    progress = RunProgress(model.name, handler, transcript, TokenUsage())
    conversation = _Conversation(database, model, run_inputs, run_inputs.context, progress)
    try:
        async with asyncio.timeout(timeout_s):
            await _converse(conversation)
    except (AgentHindered, StoreError):
        raise
    except Exception as fault:
        reason = _failure_reason(fault, timeout_s)
        if handler.has_results:
            progress.cut_short = reason
            return await database.write(lambda tx: finish_run(tx, run_inputs, progress))
        await database.write(lambda tx: record_failed_run(tx, run_inputs, progress, reason))
        raise
    return await database.write(lambda tx: finish_run(tx, run_inputs, progress))


def _failure_reason(fault: Exception, timeout_s: float) -> str:
    """Return in one line why a run could not go on; that of a defect names no words of the journal."""
    if isinstance(fault, TimeoutError):
        return f"the run took longer than {timeout_s:g} s"
    if isinstance(fault, ModelFault):
        return str(fault)
    _log.error("a defect ended an agent's run", exc_info=fault)
    return f"a defect ended the run ({type(fault).__name__}); the daemon's log has the details"


async def _converse(conversation: _Conversation) -> None:
    """Take turns until the model has reported or calls nothing more; ask once for a report if it is missing.

    No model is asked for an agent whose policy denies it every tool. Raises AnswerFault if nothing that the
    model called could be used.
    """
    tools = conversation.context.allowed_tools
    while tools and _may_continue(conversation.done):
        if not await _take_turn(conversation):
            break
    if conversation.done.call_handler.report is None and UPDATE_REPORT in tools:
        conversation.done.report_forced = True
        conversation.context = replace(
            conversation.context, instruction=ASK_FOR_REPORT, required_tool=UPDATE_REPORT
        )
        await _take_turn(conversation)
    if conversation.done.calls and not anything_taken(conversation.context):
        await _let_another_begin(conversation)


async def _let_another_begin(conversation: _Conversation) -> None:
    """Let the model's stand-in, if it has one, answer a run of whose calls none could be used.

    Raises AnswerFault if nobody answers in its place.
    """
    model, done = conversation.model, conversation.done
    if not isinstance(model, StandInAnswers):
        raise all_refused()
    conversation.context = conversation.agent.context
    turn = await model.stand_in_turn(conversation.context, all_refused())
    done.calls, done.report_forced = 0, False
    await _answer_turn(conversation, turn)


def _may_continue(run_progress: RunProgress) -> bool:
    return (
        run_progress.turns < TURNS_MAX
        and run_progress.calls < CALLS_MAX
        and run_progress.usage.input < INPUT_TOKENS_MAX
    )


async def _take_turn(conversation: _Conversation) -> bool:
    """Let the model answer once, answer its calls, and record the turn; return whether to go on.

    It has nothing more to do if it called nothing, or if it reported and none of its calls was refused: to
    ask again would send everything once more.
    """
    return await _answer_turn(conversation, await conversation.model.turn(conversation.context))


async def _answer_turn(conversation: _Conversation, turn: ModelTurn) -> bool:
    """Answer the calls of a turn, and record it; return whether to go on."""
    run_progress = conversation.done
    run_progress.usage = total_usage(run_progress.usage, turn.usage)
    run_progress.turns += 1
    if turn.answered_by:
        run_progress.model, run_progress.stood_in_because = turn.answered_by, turn.stood_in_because
    if not turn.calls:
        run_progress.last_words = turn.text
        return False
    handled = turn.calls[: CALLS_MAX if run_progress.report_forced else CALLS_MAX - run_progress.calls]
    answered = await conversation.database.write(lambda tx: _record_turn(tx, conversation, turn, handled))
    exchanges = tuple(
        ToolExchange(call, answer.text, run_progress.turns, _is_useless(answer)) for call, answer in answered
    )
    conversation.context = replace(
        conversation.context, tool_exchanges=conversation.context.tool_exchanges + exchanges
    )
    reported = any(answer.tool == UPDATE_REPORT for _, answer in answered)
    return not reported or any(answer.has_refusal for _, answer in answered)


def _is_useless(answer: ToolAnswer) -> bool:
    """Return whether nothing of a call could be used; a report that is asked for anew is kept."""
    is_kept = answer.tool == UPDATE_REPORT and answer.args is not None
    return answer.outcome is CallOutcome.REFUSED and not is_kept


def _record_turn(
    tx: Transaction, conversation: _Conversation, turn: ModelTurn, calls: tuple[ToolCall, ...]
) -> list[tuple[ToolCall, ToolAnswer]]:
    """Answer the calls of a turn and write them, in one transaction. Raises AgentHindered."""
    require_unhindered(tx, conversation.agent.agent.id)
    answered = [(call, _answer(tx, conversation, call)) for call in calls]
    short_ids = short_ids_of(conversation.agent.context)
    # A person who reads the log was shown no short ids.
    readable = [(short_ids.call_with_full_ids(call), answer) for call, answer in answered]
    conversation.done.transcript.record_turn(tx, turn, readable, len(turn.calls) - len(calls))
    return answered


def _answer(snapshot: Snapshot, conversation: _Conversation, call: ToolCall) -> ToolAnswer:
    conversation.done.calls += 1
    if conversation.done.report_forced and normalised_name(call.name) != UPDATE_REPORT:
        return ToolAnswer(f"Refused: {ASK_FOR_REPORT}", None, None, CallOutcome.REFUSED)
    answer = conversation.done.call_handler.answer_call(call.name, call.arguments, snapshot)
    return _with_word_on_language(conversation, answer)


def _with_word_on_language(conversation: _Conversation, answer: ToolAnswer) -> ToolAnswer:
    """Ask once for a report in the task's language; the one that came is kept in case no other comes."""
    language = conversation.context.writing_language
    if (
        answer.tool != UPDATE_REPORT
        or answer.args is None
        or conversation.language_asked_for
        or not is_in_other_language(answer.args, language)
    ):
        return answer
    conversation.language_asked_for = True
    text = (
        f"Refused: write the report in the language of the task ({language}), and call {UPDATE_REPORT} again."
    )
    return replace(answer, text=text, outcome=CallOutcome.REFUSED)
