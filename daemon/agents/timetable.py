"""When each agent may run: debounce, throttle, back-off, coalescing, single flight, a limit for all.

Never reads a clock or the store: it is told what happened and when, in seconds of one monotonic clock.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from syncproto.ids import EntityId

BACKOFF_FIRST_S = 60.0
BACKOFF_MAX_S = 6 * 3600.0
FAILURES_MAX = 5
DEBOUNCES_MAX = 5


class Pace(NamedTuple):
    """How eager agents are, and how many may run at once."""

    debounce_s: float = 2.0
    throttle_s: float = 5.0
    concurrency: int = 3


class Start(NamedTuple):
    """An agent that may start now; `session` is the key of a person's request, None for what changed."""

    agent: EntityId
    session: str | None


class Outlook(NamedTuple):
    """When an agent runs next, in seconds from now (None: not by itself), and why."""

    in_s: float | None
    why: str


@dataclass(slots=True)
class _Line:
    """What is known of one agent."""

    asked: deque[str] = field(default_factory=deque)
    first_news_s: float | None = None
    last_news_s: float = 0.0
    ran_s: float | None = None
    not_before_s: float = 0.0
    failures: int = 0
    running: bool = False


def backoff_s(failures: int) -> float:
    """Return how long to wait after so many failures in a row."""
    return min(BACKOFF_FIRST_S * 2 ** (failures - 1), BACKOFF_MAX_S) if failures else 0.0


class Timetable:
    """One line an agent."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._lines: dict[EntityId, _Line] = {}

    # -- what happened --------------------------------------------------------------------------------

    def news(self, agent: EntityId, now_s: float) -> None:
        """Note that something that the agent has not seen touched its task: one due run, however often."""
        line = self._line(agent)
        line.last_news_s = now_s
        if line.first_news_s is None:
            line.first_news_s = now_s

    def no_news(self, agent: EntityId) -> None:
        """Note that the agent has seen everything, or does not run by itself."""
        if agent in self._lines:
            self._lines[agent].first_news_s = None

    def failed_before(self, agent: EntityId, failures: int, not_before_s: float) -> None:
        """Note how often the agent has failed in a row, and until when it backs off."""
        line = self._line(agent)
        line.failures, line.not_before_s = failures, not_before_s

    def ask(self, agent: EntityId, session: str) -> None:
        """Note a person's request: it skips debounce, throttle and back-off."""
        self._line(agent).asked.append(session)

    def withdraw(self, agent: EntityId, session: str) -> None:
        """Forget a person's request that was answered without a run."""
        self._line(agent).asked.remove(session)

    def started(self, start: Start) -> None:
        """Note that a run has begun; news from here on make the next one."""
        line = self._line(start.agent)
        line.running = True
        line.first_news_s = None
        if start.session is not None:
            line.asked.remove(start.session)

    def ended(self, agent: EntityId, now_s: float) -> None:
        """Note that a run is over."""
        line = self._line(agent)
        line.running = False
        line.ran_s = now_s

    # -- what follows ---------------------------------------------------------------------------------

    def ready(self, now_s: float) -> list[Start]:
        """Return what may start now: people's requests first, at most as many as the limit leaves."""
        free = self._pace.concurrency - self.running()
        idle = [(agent, line) for agent, line in self._lines.items() if not line.running]
        asked = [Start(agent, line.asked[0]) for agent, line in idle if line.asked]
        timed = [
            (at, agent)
            for agent, line in idle
            if not line.asked and (at := self._due_s(line)) is not None and at <= now_s
        ]
        return [*asked, *(Start(agent, None) for _, agent in sorted(timed))][: max(free, 0)]

    def next_s(self, now_s: float) -> float | None:
        """Return in how many seconds something may become ready by itself; None where nothing will."""
        waits = [at - now_s for at in self._due_times() if at > now_s]
        return min(waits, default=None)

    def running(self) -> int:
        """Return how many agents are running."""
        return sum(line.running for line in self._lines.values())

    def due(self) -> int:
        """Return how many agents wait for their turn."""
        return sum(bool(line.asked) or self._due_s(line) is not None for line in self._lines.values())

    def outlook(self, agent: EntityId, now_s: float) -> Outlook:
        """Say when an agent runs next, and why then."""
        line = self._lines.get(agent, _Line())
        if line.running:
            return Outlook(0.0, "it is running")
        if line.asked:
            return Outlook(0.0, "a person asked")
        at = self._due_s(line)
        if line.failures >= FAILURES_MAX:
            return Outlook(None, f"it failed {line.failures} times in a row: wake it to try again")
        if at is None:
            return Outlook(None, "nothing has changed since its last run")
        why = f"backing off after {line.failures} failed runs" if line.failures else "its task has changed"
        return Outlook(max(at - now_s, 0.0), why)

    def _due_times(self) -> Iterator[float]:
        for line in self._lines.values():
            at = None if line.running else self._due_s(line)
            if at is not None:
                yield at

    def _due_s(self, line: _Line) -> float | None:
        """Return when an agent with news may run; None where it has none, or has failed too often.

        Debounced from the newest news, though not for ever: a task that is written to all day has its turn.
        """
        if line.first_news_s is None or line.failures >= FAILURES_MAX:
            return None
        pace = self._pace
        quiet_s = min(line.last_news_s + pace.debounce_s, line.first_news_s + DEBOUNCES_MAX * pace.debounce_s)
        throttled_s = quiet_s if line.ran_s is None else line.ran_s + pace.throttle_s
        return max(quiet_s, throttled_s, line.not_before_s)

    def _line(self, agent: EntityId) -> _Line:
        return self._lines.setdefault(agent, _Line())
