"""What a clause says of the task's state: blocked, on hold, begun, going on again.

Never says that a task is done: that is the person's alone.
"""

import re
from typing import NamedTuple

from daemon.agents.models.cues import Cues, Phrases
from daemon.agents.models.plain import phrases
from daemon.agents.models.segments import Clause, after, before, is_meant, is_stated

BLOCKED = "BLOCKED"
ON_HOLD = "ON HOLD"
IN_PROGRESS = "IN PROGRESS"
RESUMED = "resumed"
_BEFORE_BEGIN = frozenset({"OPEN", "GROOMED"})
_STANDING_STILL = frozenset({BLOCKED, ON_HOLD})
_OVER = frozenset({"DONE", "REJECTED"})


class State(NamedTuple):
    """A status, and where in the clause it is said."""

    status: str
    start: int


def state(clause: Clause, cues: Cues) -> State | None:
    """Return the state that a clause tells of, the last one said; None if it tells of none."""
    found = [State(BLOCKED, at) for at in _blocked(clause, cues)]
    found += [State(ON_HOLD, at) for at in _meant(clause, cues.on_hold, cues)]
    found += [State(IN_PROGRESS, at) for at in _stated(clause, cues.started, cues)]
    # "No longer blocked" is the negation itself.
    found += [State(RESUMED, match.start()) for match in _found(clause, cues.resumed)]
    return max(found, key=lambda one: one.start, default=None)


def next_status(told: str, status: str) -> str | None:
    """Return the status that a task goes to when this is told of it; None where it stays as it is."""
    if status in _OVER or told == status:
        return None
    if told == IN_PROGRESS:
        return told if status in _BEFORE_BEGIN else None
    if told == RESUMED:
        return IN_PROGRESS if status in _STANDING_STILL else None
    return told


def _found(clause: Clause, cue: Phrases) -> list[re.Match[str]]:
    return [] if clause.asks else list(phrases(cue).finditer(clause.own))


def _meant(clause: Clause, cue: Phrases, cues: Cues) -> list[int]:
    return [match.start() for match in _found(clause, cue) if _holds(clause, match, cues)]


def _holds(clause: Clause, match: re.Match[str], cues: Cues) -> bool:
    following = after(clause.own, match.end(), cues)[:1]
    return is_meant(clause, match.start(), cues) and not cues.negations.intersection(following)


def _stated(clause: Clause, cue: Phrases, cues: Cues) -> list[int]:
    return [match.start() for match in _found(clause, cue) if is_stated(clause, match.start(), cues)]


def _blocked(clause: Clause, cues: Cues) -> list[int]:
    """Find what holds the task up; that others wait for the writer, or the writer for the bus, does not."""
    return [
        match.start()
        for match in _found(clause, cues.blocked)
        if is_meant(clause, match.start(), cues)
        and cues.blocked_not_before.isdisjoint(_beside(clause, match, cues))
        and cues.blocked_not_with.isdisjoint(after(clause.own, match.end(), cues))
    ]


def _beside(clause: Clause, match: re.Match[str], cues: Cues) -> list[str]:
    return before(clause.own, match.start(), cues)[-2:] + after(clause.own, match.end(), cues)[:1]
