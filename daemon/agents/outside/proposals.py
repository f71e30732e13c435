"""What an agent of another maker proposes: changes to the journal, which wait for a person like all others.

Never changes anything at once, and never proposes the same twice: a retry under the same key is the same set.
"""

from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from daemon.agents.deciding.decision_commit import person_decision_write
from daemon.agents.deciding.orphans import is_proposed_by
from daemon.agents.outside.proposal_views import ProposedSet, proposed_set, set_ids
from daemon.agents.proposing.baseline import baseline_of
from daemon.agents.proposing.call_handler import ToolCallHandler
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.proposing.run_identity import RunIdentity
from daemon.agents.proposing.tool_answers import CallOutcome, ToolAnswer
from daemon.agents.tools.agent_record import ExternalAgent, load_external_agent, refusal_of_hindered
from daemon.agents.tools.daily_limits import BYTES, PROPOSALS, spend_within_limits
from daemon.agents.tools.table import ANSWER_QUESTION, TOOLS, CallMode, WriteTarget, normalised_name
from daemon.refusal import RefusalCode, Refused, usage_error
from store.fold.verdicts import DecisionStatus, Verdict
from store.sentence import sentence
from store.transaction import EntityWrite, Transaction
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text, tagged_digest

CHANGES_MAX: Final = 10
KEY_CHARS_MAX: Final = 200
WHY_CHARS_MAX: Final = 2_000
TOOL_CHARS_MAX: Final = 100
REQUEST_BYTES_MAX: Final = 64 * 1024
ANSWER_CHARS_MAX: Final = 1_000


class ProposedChange(Struct, frozen=True, forbid_unknown_fields=True):
    """A call of a tool with its arguments, and in `why` the agent's reason in its own words."""

    tool: Annotated[str, Meta(min_length=1, max_length=TOOL_CHARS_MAX)]
    args: dict[str, Any]
    why: Annotated[str, Meta(max_length=WHY_CHARS_MAX)] = ""


class NewProposals(Struct, frozen=True, forbid_unknown_fields=True):
    """Changes that an agent proposes on a task; `agent` is its name on this device.

    Without a task, each of them is a new task.

    On a task, the same `key` with the same changes is the same set, however often it is sent. So draw it at
    random for each request, and keep it for a retry.
    """

    agent: str
    changes: Annotated[list[ProposedChange], Meta(min_length=1, max_length=CHANGES_MAX)]
    key: Annotated[str, Meta(min_length=1, max_length=KEY_CHARS_MAX)]
    task: str | None = None


def propose(
    tx: Transaction, agent: EntityId, task: EntityId | None, request: NewProposals, limits: ProposalLimits
) -> ProposedSet:
    """Queue changes for a person, in one commit; return what became of each.

    Without a task the set is about the agent itself, and only new tasks are queued.

    Raises Refused for an agent that may not work here, for a key that it used for something else, and for a
    request that is too long or beyond its daily limits.
    """
    known_agent = load_external_agent(tx, agent)
    refused = refusal_of_hindered(tx, known_agent)
    if refused is not None:
        raise refused
    assert known_agent is not None
    content = _content_of(request)
    subject = agent if task is None else task
    run = RunIdentity(agent, subject, _run_key(known_agent, subject, request.key), tx.now_ms())
    stored = tx.entity(set_ids(run.run_key, subject)[0])
    if stored is not None:
        if stored.value("request_hash") != content.digest:
            raise Refused(
                RefusalCode.CONFLICT,
                sentence(
                    "proposal-key-reused",
                    "the agent proposed something else as {key!r}",
                    key=request.key[:80],
                ),
            )
        return proposed_set(tx, agent, run.run_key, subject, tx.now_ms())
    handler = ToolCallHandler(run, baseline_of(tx, subject), limits)
    answers = [_answer(handler, run, change, tx) for change in request.changes]
    queued = sum(len(answer.items) for answer in answers)
    spend_within_limits(tx, agent, {PROPOSALS: queued, BYTES: content.length})
    writes = handler.run_end_writes(tx)
    retractions = [write for write in writes if write.kind == "decision"]
    if retractions:
        tx.commit(retractions, by=AuthorKind.AGENT, agent=agent)
    first, *others = [write for write in writes if write.kind == "change_set"] or [_set_without_items(run)]
    more: dict[str, Value] = {"request_hash": content.digest, "answers": _stored_answers(answers)}
    first = EntityWrite(first.entity, first.kind, {**first.fields, **more})
    tx.commit([first, *others], by=AuthorKind.AGENT, agent=agent)
    return proposed_set(tx, agent, run.run_key, subject, tx.now_ms())


class _Content(Struct, frozen=True):
    """What a request says, without its key: a hash of 32 bytes, and how many bytes it has."""

    digest: bytes
    length: int


def _content_of(request: NewProposals) -> _Content:
    """Measure a request. Raises Refused if it is too long, or has values that no log can have."""
    changes: list[Any] = [[change.tool, change.args, change.why] for change in request.changes]
    try:
        packed = codec.encode(changes)
    except (ValueError, TypeError, RecursionError, OverflowError) as fault:
        raise usage_error(
            sentence(
                "proposal-args-unreadable", "its arguments cannot be kept: {fault}", fault=str(fault)[:200]
            )
        ) from fault
    if len(packed) > REQUEST_BYTES_MAX:
        raise usage_error(
            sentence("proposals-too-long", "a request has {most} bytes at most", most=REQUEST_BYTES_MAX)
        )
    return _Content(tagged_digest("proposals", packed.hex()), len(packed))


def _run_key(agent: ExternalAgent, subject: EntityId, key: str) -> str:
    """Return the key under which the sets of a request are known; two agents, or two tasks, never share one.

    The id of a set has no more of its task than when that was made, and an import makes many at once.
    """
    return tagged_digest("outside", id_to_text(agent.id), id_to_text(subject), key).hex()


def _answer(
    handler: ToolCallHandler, run: RunIdentity, change: ProposedChange, tx: Transaction
) -> ToolAnswer:
    """Handle one change. A report or its like is refused: only a task's own agent has those."""
    tool = TOOLS.get(normalised_name(change.tool))
    if tool is not None and (tool.mode is CallMode.IMMEDIATE or tool.name == ANSWER_QUESTION):
        words = f"Refused: {tool.name} is not for agents of other makers."
        return ToolAnswer(words, tool.name, None, CallOutcome.REFUSED)
    if tool is not None and run.task == run.agent and tool.writes is not WriteTarget.NEW_TASK:
        words = f"Refused: {tool.name} needs a task."
        return ToolAnswer(words, tool.name, None, CallOutcome.REFUSED)
    arguments = change.args | ({"rationale": change.why} if change.why else {})
    return handler.answer_call(change.tool, arguments, tx)


def _set_without_items(run: RunIdentity) -> EntityWrite:
    """Return the write of a set in which nothing waits: a retry has to be answered the same."""
    fields: dict[str, Value] = {
        "agent_id": run.agent,
        "task_id": run.task,
        "thread_id": run.run_key,
        "run_key": run.run_key,
        "items": [],
        "expires_at": run.now_ms,
    }
    return EntityWrite(set_ids(run.run_key, run.task)[0], "change_set", fields)


def _stored_answers(answers: list[ToolAnswer]) -> list[Value]:
    return [
        {
            "tool": answer.tool,
            "outcome": answer.outcome.value,
            "text": answer.text[:ANSWER_CHARS_MAX],
            "items": list(answer.items),
        }
        for answer in answers
    ]


def withdraw(tx: Transaction, agent: EntityId, items: list[EntityId], reason: str) -> list[EntityId]:
    """Take proposals back on which nobody decided; return those that were taken back.

    What another agent proposes too stays, and so does what a person deferred.
    """
    withdrawn = [
        item
        for name in dict.fromkeys(items)
        if (item := tx.item(name)) is not None
        and item.status is DecisionStatus.PENDING
        and not item.decisions
        and is_proposed_by(tx, item, agent)
    ]
    writes = [
        person_decision_write(tx, item, Verdict.RETRACTED, reason=reason or None, via="agent")
        for item in withdrawn
    ]
    if writes:
        tx.commit(writes, by=AuthorKind.AGENT, agent=agent)
    return [item.id for item in withdrawn]
