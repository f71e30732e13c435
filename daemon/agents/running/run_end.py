"""The end of a run: one commit with its proposals, its report, its observations and its watermark.

Never ends the run of an agent that may not run here any more: then nothing is written.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from daemon.agents.context import memory
from daemon.agents.context.run_inputs import RunInputs
from daemon.agents.models.rules.embedded_model import RulesModel
from daemon.agents.proposing.call_handler import ToolCallHandler
from daemon.agents.running.observation_summary import reads_observations
from daemon.agents.running.report_claims import without_contradictions
from daemon.agents.running.report_facts import with_facts
from daemon.agents.running.run_language import is_in_other_language
from daemon.agents.running.transcript import Transcript, commit_in_parts
from daemon.agents.running.wakes import wish_key
from daemon.agents.tools import budgets
from daemon.agents.tools.agent_record import hindrance, load_agent, require_unhindered, state_id
from daemon.agents.tools.model_interface import ObservationsSummary, TokenUsage
from store.fold.item import clock_as_value
from store.local import run_log
from store.local.run_log import RunStatus
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.errors import CommitTooLarge
from syncproto.ids import EntityId, derived_id, id_to_text
from syncproto.vector_clock import VectorClock, merge_clocks

OBSERVATIONS_TOKENS_MAX = 6_000
WORDS_CHARS_MAX = 2_000
REPORT_TOKENS = (30_000, 6_000, 1_500)
"""How long a report may be; a shorter one is stored if the commit of the run would be too large."""


@dataclass(frozen=True, slots=True)
class RunReceipt:
    """What a run brought about. `cut_short` is the reason if it ended before the model had its say."""

    proposals: int
    reported: bool
    cut_short: str = ""


@dataclass(slots=True)
class RunProgress:
    """What a run has done so far. `report_forced` is True if the report had to be asked for by name.

    `cut_short` is why the run ended before the model had its say; empty if it did not. `stood_in_because`
    is why another model answered than the agent's own; empty if none did.
    """

    model: str
    call_handler: ToolCallHandler
    transcript: Transcript
    usage: TokenUsage
    last_words: str = ""
    turns: int = 0
    calls: int = 0
    report_forced: bool = False
    cut_short: str = ""
    stood_in_because: str = ""


def finish_run(tx: Transaction, run_inputs: RunInputs, run_progress: RunProgress) -> RunReceipt:
    """Write the end of a run in one commit, and end it in the run log in the same transaction.

    Retractions go before it, in the same transaction. Raises AgentHindered.
    """
    agent = run_inputs.agent
    require_unhindered(tx, agent.id)
    writes = run_progress.call_handler.run_end_writes(tx)
    # Each retraction is complete by itself, and together they may be longer than a commit may be.
    commit_in_parts(tx, agent.id, [write for write in writes if write.kind == "decision"])
    writes = [write for write in writes if write.kind != "decision"]
    proposals = sum(len(_items(write)) for write in writes if write.kind == "change_set")
    closing = _closing_writes(tx, run_inputs, run_progress, proposals)
    reported = _commit(tx, run_inputs, run_progress, [*writes, *closing])
    # What waits for the same words is answered with this run.
    for key in (run_inputs.run_key, *(wish_key(agent.id, wish) for wish in run_inputs.wishes)):
        run_log.end(tx, key, RunStatus.COMPLETED, run_progress.cut_short)
    return RunReceipt(proposals, reported, run_progress.cut_short)


def record_failed_run(tx: Transaction, run_inputs: RunInputs, run_progress: RunProgress, error: str) -> None:
    """Write what a failed run has cost, and why it failed.

    Nothing is written for a run without a turn, nor for an agent that may not run here any more.
    """
    if hindrance(tx, load_agent(tx, run_inputs.agent.id)) is not None:
        return
    if run_progress.transcript.first_message is not None:
        run_progress.transcript.record_failure(tx, error)
    usage = _usage(run_inputs, run_progress, tx.new_id())
    if usage is not None:
        tx.commit([usage], by=AuthorKind.AGENT, agent=run_inputs.agent.id)


# -- the commit ---------------------------------------------------------------------------------------


def _commit(
    tx: Transaction, run_inputs: RunInputs, run_progress: RunProgress, writes: list[EntityWrite]
) -> bool:
    """Commit with the report and the state that names it; return whether there is a new report."""
    for tokens_max in REPORT_TOKENS:
        report = _report(tx, run_inputs, run_progress, tokens_max)
        all_writes = [
            *writes,
            _state(tx, run_inputs, run_progress, report),
            *([] if report is None else [report]),
        ]
        try:
            tx.commit(all_writes, by=AuthorKind.AGENT, agent=run_inputs.agent.id)
        except CommitTooLarge:
            # Even with the shortest report it is too large, so it is not the report that must be cut.
            if tokens_max == REPORT_TOKENS[-1]:
                raise
        else:
            return report is not None
    raise AssertionError("unreachable")


def _closing_writes(
    tx: Transaction, run_inputs: RunInputs, run_progress: RunProgress, proposals: int
) -> Iterator[EntityWrite]:
    """Yield the observations, the last message of the run, and its usage."""
    observations = _observations(tx, run_inputs, run_progress)
    yield from observations
    metadata: dict[str, Value] = {
        "model": run_progress.model,
        "turns": run_progress.turns,
        "calls": run_progress.calls,
        "proposals": proposals,
        "observations": len(observations),
        "reported": run_progress.call_handler.report is not None,
    }
    if run_inputs.context.observations_left_out and reads_observations(run_progress.model):
        metadata["observations_left_out"] = run_inputs.context.observations_left_out
        metadata |= _left_out_in_short(run_inputs.context.observations_summary)
    if run_progress.cut_short:
        metadata["cut_short"] = run_progress.cut_short
    if run_progress.stood_in_because:
        metadata["stood_in_because"] = run_progress.stood_in_because
    yield from run_progress.transcript.message_writes(
        tx, "summary", budgets.truncate(run_progress.last_words, WORDS_CHARS_MAX), metadata
    )
    usage = _usage(run_inputs, run_progress, _id_of_run("usage", run_inputs))
    if usage is not None:
        yield usage


def _left_out_in_short(summary: ObservationsSummary | None) -> dict[str, Value]:
    """Return the days and the frequent words of the observations that the run was not told."""
    if summary is None:
        return {}
    words: list[Value] = [word for word, _ in summary.words]
    days: list[Value] = [summary.first_day.isoformat(), summary.last_day.isoformat()]
    return {"observations_left_out_days": days, "observations_left_out_words": words}


def _state(
    tx: Transaction, run_inputs: RunInputs, run_progress: RunProgress, report: EntityWrite | None
) -> EntityWrite:
    """Return the new state. An unchanged report is named again, so that its watermark is known."""
    agent = load_agent(tx, run_inputs.agent.id)
    head = report.entity if report is not None else None if agent is None else agent.report_id
    fields: dict[str, Value] = {
        "agent_id": run_inputs.agent.id,
        "watermark": clock_as_value(_watermark(tx, run_inputs)),
        "last_wake_at": tx.now_ms(),
    }
    pointed: dict[str, Value] = {"head_message_id": run_progress.transcript.last_message, "report_id": head}
    return EntityWrite(
        state_id(run_inputs.agent.id), "agent_state", fields | {k: v for k, v in pointed.items() if v}
    )


def _watermark(tx: Transaction, run_inputs: RunInputs) -> VectorClock:
    """Return the new watermark, merged with that of a run on another device that arrived meanwhile."""
    agent = load_agent(tx, run_inputs.agent.id)
    return (
        run_inputs.log_clock if agent is None else merge_clocks(run_inputs.log_clock, agent.watermark, tx.log)
    )


def _items(change_set: EntityWrite) -> list[Any]:
    items = change_set.fields["items"]
    assert isinstance(items, list)
    return items


# -- report, observations, usage ----------------------------------------------------------------------


def _report(
    tx: Transaction, run_inputs: RunInputs, run_progress: RunProgress, tokens_max: int
) -> EntityWrite | None:
    """Return the write of a new report; None if it is the same as the old one."""
    content, old = run_progress.call_handler.report, memory.trimmed_report(tx, run_inputs.agent) or {}
    if content is None:
        return None
    supported = _supported_content(content, run_inputs, run_progress)
    trimmed = memory.trim_report(with_facts(supported, run_inputs.context), tokens_max)
    if _comparable(trimmed) == _comparable(old):
        return None
    span: list[Value] = [
        message
        for message in (run_progress.transcript.first_message, run_progress.transcript.last_message)
        if message is not None
    ]
    fields: dict[str, Value] = {
        "agent_id": run_inputs.agent.id,
        "scope": "task",
        "content": trimmed,
        "confidence": _confidence(run_inputs, run_progress, is_corrected=supported != content),
        "provenance": {"model": run_progress.model, "run_key": run_inputs.run_key},
        "rests_on": clock_as_value(run_inputs.log_clock),
        "source_span": span,
    }
    return EntityWrite(_id_of_run("report", run_inputs), "report", fields)


def _supported_content(
    content: dict[str, Any], run_inputs: RunInputs, run_progress: RunProgress
) -> dict[str, Any]:
    """Return a report without what contradicts its task; one that the rules wrote is the task's own words."""
    return (
        content
        if run_progress.model == RulesModel.name
        else without_contradictions(content, run_inputs.context)
    )


def _confidence(run_inputs: RunInputs, run_progress: RunProgress, *, is_corrected: bool) -> str:
    """Return the confidence of a report.

    It is low if it had to be asked for or corrected, if it is in another language than the task, if some
    changes were left out, or if the run was cut short.
    """
    report = run_progress.call_handler.report or {}
    doubtful = (
        is_corrected
        or is_in_other_language(report, run_inputs.context.writing_language)
        or run_progress.report_forced
        or run_progress.cut_short
        or run_inputs.context.changes_left_out
    )
    return "low" if doubtful else "high"


def _comparable(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != "lastUpdated"}


def _observations(tx: Transaction, run_inputs: RunInputs, run_progress: RunProgress) -> list[EntityWrite]:
    """Return the writes of observations that the agent does not know yet, one message each."""
    texts = memory.known_observations(tx, run_inputs.agent)
    tokens_left, writes = OBSERVATIONS_TOKENS_MAX, list[EntityWrite]()
    for words in dict.fromkeys(run_progress.call_handler.observations):
        tokens_left -= budgets.estimated_tokens(words)
        if tokens_left >= 0 and words not in texts:
            writes += run_progress.transcript.observation_writes(tx, words)
    return writes


def _usage(run_inputs: RunInputs, run_progress: RunProgress, identifier: EntityId) -> EntityWrite | None:
    """Return the usage of a run in tokens; None for a model that takes none."""
    usage = run_progress.usage
    if not (usage.input or usage.output):
        return None
    fields: dict[str, Value] = {
        "agent_id": run_inputs.agent.id,
        "run_key": run_inputs.run_key,
        "model": run_progress.model,
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
    }
    return EntityWrite(identifier, "usage", fields)


def _id_of_run(tag: str, run_inputs: RunInputs) -> EntityId:
    """Return an id that follows from the run, so that a replay creates nothing twice."""
    agent = run_inputs.agent.id
    return derived_id(tag, id_to_text(agent), run_inputs.run_key, time_of=agent)
