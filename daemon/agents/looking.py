"""What the store says of agents when the scheduler looks: whether they are due, and how they failed lately.

Never decides when one runs, and writes nothing but a person's request.
"""

from collections.abc import Iterable
from typing import NamedTuple

from daemon.agents import lifecycle, wakes
from daemon.agents.records import DESTROYED, DORMANT, Agent, hindrance, load
from daemon.journal.errors import Code, Refused
from store import runs
from store.runs import Cause, Wanted
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId

ASKED = "asked by a person"
_NONE = runs.Failures(0, 0)


class Due(NamedTuple):
    """What the store says of an agent: whether it has news, how it failed lately, and its model.

    `ran_ms` is when it last ran by itself; `orphaned` says that it was destroyed and left proposals behind.
    """

    news: bool
    failures: runs.Failures
    model: str = ""
    ran_ms: int | None = None
    orphaned: bool = False


def looked(snapshot: Snapshot, agents: Iterable[EntityId], now_ms: int) -> list[Due | Exception]:
    """Look at several agents; one that cannot be read is answered by what kept it from that."""
    return [_looked(snapshot, agent, now_ms) for agent in agents]


def _looked(snapshot: Snapshot, agent: EntityId, now_ms: int) -> Due | Exception:
    try:
        return _due(snapshot, agent, now_ms)
    except Exception as fault:  # noqa: BLE001 - one agent that cannot be read must not stop the others
        return fault


def _due(snapshot: Snapshot, agent: EntityId, now_ms: int) -> Due:
    known = load(snapshot, agent)
    if known is None or known.home != snapshot.device:
        return Due(False, _NONE)
    if known.lifecycle == DESTROYED:
        return Due(False, _NONE, orphaned=bool(lifecycle.leftovers(snapshot, known, now_ms)))
    failures = runs.failures(snapshot, agent, known.life)
    if not wakes.has_news(snapshot, known):
        return Due(False, failures, known.model)
    return Due(True, failures, known.model, runs.ran_ms(snapshot, agent))


def queue_request(tx: Transaction, agent: EntityId, key: str) -> None:
    """Note a person's request. Raises Refused where it cannot be met here."""
    require_runs_here(tx, load(tx, agent))
    runs.queue(tx, Wanted(key, agent, Cause.SESSION, ASKED))


def require_runs_here(snapshot: Snapshot, agent: Agent | None) -> Agent:
    """Return an agent that may run on this device. Raises Refused, with what makes it run, for another."""
    why = hindrance(snapshot, agent)
    if why is not None:
        code = Code.NOT_FOUND if agent is None else Code.CONFLICT
        raise Refused(code, why, _remedy(snapshot, agent))
    assert agent is not None
    return agent


def _remedy(snapshot: Snapshot, agent: Agent | None) -> str:
    """Say what makes an agent run again that may not."""
    if agent is None or agent.lifecycle == DESTROYED:
        return ""
    if agent.home != snapshot.device:
        return "wake it there, or bring it here: placet agent move"
    task = snapshot.entity(agent.task)
    if task is None or not task.visible:
        return "restore the task first"
    if agent.lifecycle == DORMANT:
        return "wake it up: placet agent resume"
    return "allow it: placet agent policy --allow"
