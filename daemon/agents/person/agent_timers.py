"""A person's timers: the times at which an agent wakes on this device.

Never wakes an agent: the scheduler does when the time has come.
"""

from daemon.agents.running import wakes
from daemon.agents.running.due_agents import require_runnable_here
from daemon.agents.tools.agent_record import INTERACTIVE, load_agent
from daemon.journal.human_input import HumanInput
from daemon.refusal import RefusalCode, Refused, usage_error
from daemon.timestamps import iso_utc
from store.local import run_log, timers
from store.local.recurring_timers import RecurringTimer, put_recurring
from store.local.timers import Timer
from store.sentence import sentence
from store.transaction import Transaction
from syncproto.ids import EntityId

TIMERS_MAX = 20
TIMER_CANCELLED = "its timer was taken back"


def set_timer(
    tx: Transaction, agent: EntityId, words: str, typed: HumanInput, every: str | None = None
) -> None:
    """Set a timer for the time that a person typed; a timer for the same time exists once.

    `every` is how often it recurs (`PERIODS`), beginning with that time; None if it does not.

    Raises Refused if the agent may not run here, wakes only when asked, or has too many timers, and for words
    that are no time or a time that has passed.
    """
    at_ms = future_ms(words, typed, tx.now_ms())
    known_agent = require_runnable_here(tx, load_agent(tx, agent))
    if known_agent.mode == INTERACTIVE:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("agent-wakes-when-asked", "it wakes only when asked"),
            sentence("use-agent-mode-hybrid", "let timers wake it: placet agent edit --mode hybrid"),
        )
    if len(timers.times_of_agent(tx, agent)) >= TIMERS_MAX:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("too-many-timers", "it has {count} timers already", count=TIMERS_MAX),
            sentence("use-agent-wake-cancel", "cancel them: placet agent wake --cancel"),
        )
    timers.add_timer(tx, Timer(wakes.timer_key(agent, at_ms), agent, at_ms))
    if every is not None:
        put_recurring(tx, RecurringTimer(agent, at_ms, every, at_ms))


def future_ms(words: str, typed: HumanInput, now_ms: int) -> int:
    """Return a time as a person types it, Unix time in milliseconds.

    Raises Refused for words that are no time, and for a time that has passed.
    """
    at_ms = round(typed.moment(words, "future").timestamp() * 1000)
    if at_ms <= now_ms:
        raise usage_error(
            sentence(
                "timer-has-passed",
                "{time} has passed: it is {now} here",
                time=iso_utc(at_ms),
                now=iso_utc(now_ms),
            ),
            sentence("name-future-time", "name a time in the future"),
        )
    return at_ms


def cancel_timers(tx: Transaction, agent: EntityId) -> None:
    """Cancel an agent's timers, and the queued runs of timers that have already fired."""
    timers.clear_timers(tx, agent)
    run_log.cancel_timer_runs(tx, agent, TIMER_CANCELLED)
