"""What the store says of agents when the scheduler looks: whether they are due, and how they failed lately.

Never decides when an agent runs, and writes nothing but requests and wishes of people.
"""

from collections.abc import Iterable
from typing import NamedTuple

from daemon.agents.context.all_notes import request_all_notes
from daemon.agents.context.open_wishes import WISHES_OPEN_MAX, open_wishes
from daemon.agents.deciding import orphans
from daemon.agents.running import wakes
from daemon.agents.tools.agent_record import (
    DESTROYED,
    DORMANT,
    Agent,
    hindrance,
    hindrance_at_home,
    load_agent,
)
from daemon.journal.wishes import put_wish
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
    `wishes` are the keys of the runs that open wishes still need. `last_run_ms` is when it last ran by
    itself. `has_orphaned_items` is True if it was destroyed and left proposals.
    """

    has_news: bool
    failures: run_log.FailureStreak
    model: str = ""
    last_run_ms: int | None = None
    has_orphaned_items: bool = False
    paused_until_ms: int | None = None
    wishes: tuple[str, ...] = ()


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
    wishes = _unqueued_wishes(snapshot, known_agent)
    if not wakes.has_news(snapshot, known_agent):
        until_ms = known_agent.paused_until_ms if known_agent.lifecycle == DORMANT else None
        return AgentCheck(False, failures, known_agent.model, paused_until_ms=until_ms, wishes=wishes)
    last_run_ms = run_log.last_unrequested_ms(snapshot, agent)
    return AgentCheck(True, failures, known_agent.model, last_run_ms, wishes=wishes)


def _unqueued_wishes(snapshot: Snapshot, agent: Agent) -> tuple[str, ...]:
    """Return the run keys of open wishes that never had a run here; none while the agent may not run.

    A wish whose run failed is not asked for again: the words are in the context of the next run.
    """
    wishes = open_wishes(snapshot, agent)
    if not wishes or hindrance(snapshot, agent) is not None:
        return ()
    keys = (wakes.wish_key(agent.id, wish.id) for wish in wishes)
    return tuple(key for key in keys if run_log.find(snapshot, key) is None)


def write_wish(tx: Transaction, agent: EntityId, text: str, *, waits: bool) -> tuple[str, bool]:
    """Write a person's words to an agent; return the key of their run, and whether it is queued here.

    Raises Refused if the agent could not run at home (or not here, if the person `waits` for the run), if the
    words are none, and if too many wishes wait.
    """
    known_agent = load_agent(tx, agent)
    known_agent = (require_runnable_here if waits else require_runnable_at_home)(tx, known_agent)
    if len(open_wishes(tx, known_agent)) >= WISHES_OPEN_MAX:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("wishes-wait", "{count} wishes wait for the agent already", count=WISHES_OPEN_MAX),
            sentence("see-agent-show", "placet agent show says more"),
        )
    key = wakes.wish_key(agent, put_wish(tx, agent, known_agent.task, text))
    return key, queue_wish(tx, agent, key)


def queue_wish(tx: Transaction, agent: EntityId, key: str) -> bool:
    """Queue the run of a wish; return False if the agent may not run here, or if the key is known."""
    if hindrance(tx, load_agent(tx, agent)) is not None:
        return False
    return run_log.queue(tx, RunRequest(key, agent, WakeCause.SESSION, wakes.ASKED_BY_PERSON.text))


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
    if reason is not None and agent is not None and agent.home != snapshot.device:
        is_over = agent.lifecycle == DESTROYED
        raise Refused(RefusalCode.CONFLICT, reason, None if is_over else _bring_it_here())
    return require_runnable_at_home(snapshot, agent)


def require_runnable_at_home(snapshot: Snapshot, agent: Agent | None) -> Agent:
    """Return an agent that may run on its home device, wherever that is. Raises Refused like the above."""
    reason = hindrance_at_home(snapshot, agent)
    if reason is not None:
        code = RefusalCode.NOT_FOUND if agent is None else RefusalCode.CONFLICT
        raise Refused(code, reason, _remedy(snapshot, agent))
    assert agent is not None
    return agent


def _bring_it_here() -> Sentence:
    return sentence("use-agent-move", "wake it there, or bring it here: placet agent move")


def _remedy(snapshot: Snapshot, agent: Agent | None) -> Sentence | None:
    """Return what a person can do so that the agent may run again; None if nothing helps."""
    if agent is None or agent.lifecycle == DESTROYED:
        return None
    task = snapshot.entity(agent.task)
    if task is None or not task.visible:
        return sentence("restore-task-first", "restore the task first")
    if agent.lifecycle == DORMANT:
        return sentence("use-agent-resume", "wake it up: placet agent resume")
    return sentence("use-agent-policy-allow", "allow it: placet agent policy AGENT --allow CATEGORY")
