"""A person's timers: at which moments an agent is to wake on this device.

Never wakes anyone: the scheduler does when the time has come.
"""

from daemon.agents import wakes
from daemon.agents.looking import require_runs_here
from daemon.agents.records import INTERACTIVE, load
from daemon.journal.errors import Code, Refused, usage
from daemon.journal.provenance import iso
from daemon.journal.typed import Typed
from store import runs, timers
from store.timers import Timer
from store.transaction import Transaction
from syncproto.ids import EntityId

TIMERS_MAX = 20
BY_TIMER = "a timer"
TAKEN_BACK = "its timer was taken back"


def wake_at(tx: Transaction, agent: EntityId, words: str, typed: Typed) -> None:
    """Set a timer for the time that a person typed; what is set already stays one.

    Raises Refused where the agent may not run here, wakes only when asked, or has many timers, and for a
    time that is none or has passed.
    """
    at_ms, now_ms = round(typed.moment(words, "future").timestamp() * 1000), tx.now_ms()
    known = require_runs_here(tx, load(tx, agent))
    if known.mode == INTERACTIVE:
        hint = "let timers wake it: placet agent edit --mode hybrid"
        raise Refused(Code.CONFLICT, "it wakes only when asked", hint)
    if at_ms <= now_ms:
        raise usage(f"{iso(at_ms)} has passed: it is {iso(now_ms)} here", "name a time that is to come")
    if len(timers.of_agent(tx, agent)) >= TIMERS_MAX:
        hint = "take them back: placet agent wake --cancel"
        raise Refused(Code.CONFLICT, f"it has {TIMERS_MAX} timers already", hint)
    timers.put(tx, Timer(wakes.timer_key(agent, at_ms), agent, at_ms))


def cancel(tx: Transaction, agent: EntityId) -> None:
    """Take back an agent's timers, also those whose run waits to begin."""
    timers.clear(tx, agent)
    runs.take_back(tx, agent, TAKEN_BACK)
