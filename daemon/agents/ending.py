"""The end of a run: one commit with what it proposes, its report, what it noted, and how far it has seen.

Never ends the run of an agent that may not run here any more: then nothing is written.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from daemon.agents import memory, room
from daemon.agents.context import Gathered
from daemon.agents.diary import Diary, commit_in_parts
from daemon.agents.models.interface import Usage
from daemon.agents.proposals import Desk
from daemon.agents.records import hindrance, load, require_able, state_id
from store import runs
from store.item import clock_as_value
from store.runs import RunStatus
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.faults import CommitTooLarge
from syncproto.heads import Clock, union
from syncproto.ids import EntityId, derived_id, text

OBSERVATIONS_TOKENS_MAX = 6_000
WORDS_CHARS_MAX = 2_000
REPORT_TOKENS = (30_000, 6_000, 1_500)
"""How long a report may be; a shorter one is kept where the commit of the run would be too large."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run brought about."""

    proposals: int
    reported: bool


@dataclass(slots=True)
class Done:
    """What a run has done when it ends. `forced` says that the report had to be asked for by name."""

    model: str
    desk: Desk
    diary: Diary
    usage: Usage
    words: str = ""
    turns: int = 0
    calls: int = 0
    forced: bool = False


def finish(tx: Transaction, gathered: Gathered, done: Done) -> Ended:
    """Write all that a run leaves in one commit, and end the run in the same transaction. Raises Hindered.

    What it takes back goes before, in the same transaction.
    """
    agent = gathered.agent
    require_able(tx, agent.id)
    own = done.desk.writes(tx)
    # Each stands for itself, and together they may be longer than a commit may be.
    commit_in_parts(tx, agent.id, [one for one in own if one.kind == "decision"])
    own = [one for one in own if one.kind != "decision"]
    proposals = sum(len(_items(one)) for one in own if one.kind == "change_set")
    closing = _closing(tx, gathered, done, proposals)
    reported = _commit(tx, gathered, done, [*own, *closing])
    runs.end(tx, gathered.run_key, RunStatus.COMPLETED)
    return Ended(proposals, reported)


def book_failed(tx: Transaction, gathered: Gathered, done: Done, error: str) -> None:
    """Write what a run has cost that did not come to its end, and why; nothing for one that never began.

    Nor for an agent that may not run here any more.
    """
    if hindrance(tx, load(tx, gathered.agent.id)) is not None:
        return
    if done.diary.first is not None:
        done.diary.keep_end(tx, error)
    usage = _usage(gathered, done, tx.new_id())
    if usage is not None:
        tx.commit([usage], by=By.AGENT, agent=gathered.agent.id)


# -- the commit ---------------------------------------------------------------------------------------


def _commit(tx: Transaction, gathered: Gathered, done: Done, writes: list[Write]) -> bool:
    """Commit with the report and the state that names it; say whether there is a new report."""
    for tokens_max in REPORT_TOKENS:
        report = _report(tx, gathered, done, tokens_max)
        made = [*writes, _state(tx, gathered, done, report), *([] if report is None else [report])]
        try:
            tx.commit(made, by=By.AGENT, agent=gathered.agent.id)
        except CommitTooLarge:
            if tokens_max == REPORT_TOKENS[-1]:
                raise
        else:
            return report is not None
    raise AssertionError("unreachable")


def _closing(tx: Transaction, gathered: Gathered, done: Done, proposals: int) -> Iterator[Write]:
    """Yield what the agent noted for itself, the last message of the run, and what the run cost."""
    told = _observations(tx, gathered, done)
    yield from told
    metadata: dict[str, Value] = {
        "model": done.model,
        "turns": done.turns,
        "calls": done.calls,
        "proposals": proposals,
        "observations": len(told),
        "reported": done.desk.report is not None,
    }
    yield from done.diary.message(tx, "summary", room.shortened(done.words, WORDS_CHARS_MAX), metadata)
    usage = _usage(gathered, done, _of_run("usage", gathered))
    if usage is not None:
        yield usage


def _state(tx: Transaction, gathered: Gathered, done: Done, report: Write | None) -> Write:
    """Return the new state; the report that stands is named again, so that its watermark is known."""
    now = load(tx, gathered.agent.id)
    head = report.entity if report is not None else None if now is None else now.report_id
    fields: dict[str, Value] = {
        "agent_id": gathered.agent.id,
        "watermark": clock_as_value(_seen(tx, gathered)),
        "last_wake_at": tx.now_ms(),
    }
    pointed: dict[str, Value] = {"head_message_id": done.diary.last, "report_id": head}
    return Write(state_id(gathered.agent.id), "agent_state", fields | {k: v for k, v in pointed.items() if v})


def _seen(tx: Transaction, gathered: Gathered) -> Clock:
    """Return the new watermark. One that another device's run moved meanwhile must not be lost with it."""
    now = load(tx, gathered.agent.id)
    return gathered.vector if now is None else union(gathered.vector, now.watermark, tx.log)


def _items(change_set: Write) -> list[Any]:
    items = change_set.fields["items"]
    assert isinstance(items, list)
    return items


# -- report, observations, usage ----------------------------------------------------------------------


def _report(tx: Transaction, gathered: Gathered, done: Done, tokens_max: int) -> Write | None:
    """Return the write of a new report; None where it says nothing new."""
    content, old = done.desk.report, memory.report(tx, gathered.agent) or {}
    if content is None:
        return None
    told = memory.within_room(content, tokens_max)
    if _told(told) == _told(old):
        return None
    span: list[Value] = [one for one in (done.diary.first, done.diary.last) if one is not None]
    fields: dict[str, Value] = {
        "agent_id": gathered.agent.id,
        "scope": "task",
        "content": told,
        "confidence": _confidence(gathered, done),
        "provenance": {"model": done.model, "run_key": gathered.run_key},
        "rests_on": clock_as_value(gathered.vector),
        "source_span": span,
    }
    return Write(_of_run("report", gathered), "report", fields)


def _confidence(gathered: Gathered, done: Done) -> str:
    """Say how far a report can be trusted: less where it was asked for, or where not all could be told."""
    return "low" if done.forced or gathered.context.changes_left_out else "high"


def _told(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != "lastUpdated"}


def _observations(tx: Transaction, gathered: Gathered, done: Done) -> list[Write]:
    """Return what the agent noted and does not know yet, a message each."""
    known = {one.text for one in memory.observations(tx, gathered.agent, None)}
    left, writes = OBSERVATIONS_TOKENS_MAX, list[Write]()
    for words in dict.fromkeys(done.desk.observations):
        left -= room.tokens(words)
        if left >= 0 and words not in known:
            writes += done.diary.observation(tx, words)
    return writes


def _usage(gathered: Gathered, done: Done, identifier: EntityId) -> Write | None:
    """Return what a run took in tokens; None for a model that takes none."""
    usage = done.usage
    if not (usage.input or usage.output):
        return None
    fields: dict[str, Value] = {
        "agent_id": gathered.agent.id,
        "run_key": gathered.run_key,
        "model": done.model,
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
    }
    return Write(identifier, "usage", fields)


def _of_run(tag: str, gathered: Gathered) -> EntityId:
    """Return an id that follows from the run, so that a replay makes nothing twice."""
    agent = gathered.agent.id
    return derived_id(tag, text(agent), gathered.run_key, time_of=agent)
