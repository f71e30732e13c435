"""What the store says of agents when the scheduler looks: whether they are due, and how they failed lately.

Never decides when an agent runs, and writes nothing but a person's request.
"""

from collections.abc import Iterable
from typing import NamedTuple

from daemon.agents.context.all_notes import request_all_notes
from daemon.agents.deciding import orphans
from daemon.agents.running import wakes
from daemon.agents.tools.agent_record import DESTROYED, DORMANT, Agent, hindrance, load_agent
from daemon.refusal import RefusalCode, Refused
from store.local import run_log
from store.local.run_log import RunRequest, WakeCause
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId

_NO_FAILURES = run_log.FailureStreak(0, 0)


class AgentCheck(NamedTuple):
    """What the store says of an agent: whether it has news, how it failed lately, and its model.

    `paused_until_ms` is when its pause ends by itself, None if it does not.
    `last_run_ms` is when it last ran by itself. `has_orphaned_items` is True if it was destroyed and left
    proposals.
    """

    has_news: bool
    failures: run_log.FailureStreak
    model: str = ""
    last_run_ms: int | None = None
    has_orphaned_items: bool = False
    paused_until_ms: int | None = None


def check_agents(snapshot: Snapshot, agents: Iterable[EntityId], now_ms: int) -> list[AgentCheck | Exception]:
    """Look at several agents. The answer for an agent that cannot be read is the exception."""
    return [_check_safely(snapshot, agent, now_ms) for agent in agents]


def _check_safely(snapshot: Snapshot, agent: EntityId, now_ms: int) -> AgentCheck | Exception:
    try:
        return _check(snapshot, agent, now_ms)
    except Exception as fault:  # noqa: BLE001 - one agent that cannot be read must not stop the others
        return fault


def _check(snapshot: Snapshot, agent: EntityId, now_ms: int) -> AgentCheck:
    known_agent = load_agent(snapshot, agent)
    if known_agent is None or known_agent.home != snapshot.device:
        return AgentCheck(False, _NO_FAILURES)
    if known_agent.lifecycle == DESTROYED:
        return AgentCheck(
            False,
            _NO_FAILURES,
            has_orphaned_items=bool(orphans.undecided_items_of(snapshot, known_agent, now_ms)),
        )
    failures = run_log.failure_streak(snapshot, agent, known_agent.lifecycle_write)
    if not wakes.has_news(snapshot, known_agent):
        until_ms = known_agent.paused_until_ms if known_agent.lifecycle == DORMANT else None
        return AgentCheck(False, failures, known_agent.model, paused_until_ms=until_ms)
    return AgentCheck(True, failures, known_agent.model, run_log.last_unrequested_ms(snapshot, agent))


def queue_request(tx: Transaction, agent: EntityId, key: str, *, all_notes: bool = False) -> None:
    """Store a person's request, with `all_notes` for a run that reads all notes anew.

    Raises Refused if the agent may not run here.
    """
    require_runnable_here(tx, load_agent(tx, agent))
    if all_notes:
        request_all_notes(tx, agent)
    run_log.queue(tx, RunRequest(key, agent, WakeCause.SESSION, wakes.ASKED_BY_PERSON.text))


def require_runnable_here(snapshot: Snapshot, agent: Agent | None) -> Agent:
    """Return an agent that may run on this device.

    Raises Refused for any other, with a hint that says what makes it run.
    """
    reason = hindrance(snapshot, agent)
    if reason is not None:
        code = RefusalCode.NOT_FOUND if agent is None else RefusalCode.CONFLICT
        raise Refused(code, reason, _remedy(snapshot, agent))
    assert agent is not None
    return agent


def _remedy(snapshot: Snapshot, agent: Agent | None) -> Sentence | None:
    """Return what a person can do so that the agent may run again; None if nothing helps."""
    if agent is None or agent.lifecycle == DESTROYED:
        return None
    if agent.home != snapshot.device:
        return sentence("use-agent-move", "wake it there, or bring it here: placet agent move")
    task = snapshot.entity(agent.task)
    if task is None or not task.visible:
        return sentence("restore-task-first", "restore the task first")
    if agent.lifecycle == DORMANT:
        return sentence("use-agent-resume", "wake it up: placet agent resume")
    return sentence("use-agent-policy-allow", "allow it: placet agent policy --allow")
