"""When each agent may run: debounce, throttle, back-off, coalescing, single flight, a limit for all.

Never reads a clock or the store: it is told what happened and when, in seconds of one monotonic clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from syncproto.ids import EntityId

BACKOFF_FIRST_S = 60.0
BACKOFF_MAX_S = 6 * 3600.0
FAILURES_MAX = 5
DEBOUNCES_MAX = 5


class Pace(NamedTuple):
    """How eager agents are, and how many may run at once. Remote models are asked more seldom."""

    debounce_s: float = 2.0
    throttle_s: float = 5.0
    concurrency: int = 3
    remote_throttle_s: float = 120.0


class Start(NamedTuple):
    """An agent that may start now; `request` is the run key of a request or timer, None for what changed."""

    agent: EntityId
    request: str | None


class Outlook(NamedTuple):
    """When an agent runs next, in seconds from now (None: not by itself), and why."""

    in_s: float | None
    why: str


@dataclass(slots=True)
class _Line:
    """What is known of one agent."""

    asked: list[str] = field(default_factory=list)
    patient: list[str] = field(default_factory=list)
    throttle_s: float | None = None
    first_news_s: float | None = None
    last_news_s: float = 0.0
    ran_s: float | None = None
    not_before_s: float = 0.0
    failures: int = 0
    held: str = ""
    running: bool = False
    by_itself: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits here, runs, or is to be remembered."""
        waits = self.asked or self.patient or self.running or self.first_news_s is not None
        return not waits and not self.failures and self.ran_s is None


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

    def failed_before(self, agent: EntityId, failures: int, not_before_s: float, why: str = "") -> None:
        """Note how often the agent has failed in a row, until when it backs off, and why if not for that."""
        if agent in self._lines or failures:
            line = self._line(agent)
            line.failures, line.not_before_s, line.held = failures, not_before_s, why

    def paced(self, agent: EntityId, throttle_s: float) -> None:
        """Note how much time is to lie between the runs of an agent that nobody asked for."""
        self._line(agent).throttle_s = throttle_s

    def ask(self, agent: EntityId, request: str) -> None:
        """Note a person's request: it skips debounce, throttle and back-off."""
        line = self._line(agent)
        if request in line.patient:
            line.patient.remove(request)  # asked while a start took up what waits
        line.asked.append(request)

    def ask_patiently(self, agent: EntityId, request: str) -> None:
        """Note a timer whose time has come, or a request to try again: it heeds throttle and back-off."""
        line = self._line(agent)
        if request not in line.patient and request not in line.asked:
            line.patient.append(request)

    def hurry(self, agent: EntityId) -> str | None:
        """Return the request that stands for what a person asks now, None where there is none.

        One that was put off until it is tried again waits no longer.
        """
        line = self._lines.get(agent)
        if line is not None and not line.asked and line.patient:
            line.asked.append(line.patient.pop(0))
        return line.asked[0] if line is not None and line.asked else None

    def withdraw(self, agent: EntityId, request: str) -> None:
        """Forget a request that was answered without a run."""
        line = self._line(agent)
        for waiting in (line.asked, line.patient):
            if request in waiting:
                waiting.remove(request)

    def started(self, start: Start) -> None:
        """Note that a run has begun; news from here on make the next one."""
        line = self._line(start.agent)
        line.running = True
        line.by_itself = start.request is None or start.request in line.patient
        line.first_news_s = None
        if start.request is not None:
            self.withdraw(start.agent, start.request)

    def ended(self, start: Start, now_s: float) -> None:
        """Note that a run is over. What a person asked for does not put off what comes by itself."""
        line = self._line(start.agent)
        line.running = False
        if line.by_itself:
            line.ran_s = now_s

    def ran_before(self, agent: EntityId, at_s: float) -> None:
        """Note when an agent last ran by itself, where that was before this timetable was made."""
        line = self._line(agent)
        if line.ran_s is None:
            line.ran_s = at_s

    def forget(self, agent: EntityId) -> None:
        """Drop the line of an agent that has nothing to do here: those that sleep cost nothing."""
        line = self._lines.get(agent)
        if line is not None and line.is_empty:
            del self._lines[agent]

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
        return [*asked, *(self._start(agent) for _, agent in sorted(timed))][: max(free, 0)]

    def _start(self, agent: EntityId) -> Start:
        patient = self._lines[agent].patient
        return Start(agent, patient[0] if patient else None)

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
            return Outlook(None, f"it failed {line.failures} times in a row")
        if at is None:
            return Outlook(None, "nothing has changed since its last run")
        why = "it was asked to" if line.patient else "its task has changed"
        if line.failures:
            why = line.held or f"backing off after {line.failures} failed runs"
        return Outlook(max(at - now_s, 0.0), why)

    def _due_times(self) -> Iterator[float]:
        for line in self._lines.values():
            at = None if line.running else self._due_s(line)
            if at is not None:
                yield at

    def _due_s(self, line: _Line) -> float | None:
        """Return when an agent with news or a timer may run; None where it has none, or failed too often.

        Debounced from the newest news, though not for ever: a task that is written to all day has its turn.
        """
        if line.failures >= FAILURES_MAX or (line.first_news_s is None and not line.patient):
            return None
        waits = [line.not_before_s]
        if line.ran_s is not None:
            throttle_s = self._pace.throttle_s if line.throttle_s is None else line.throttle_s
            waits.append(line.ran_s + throttle_s)
        if not line.patient:
            assert line.first_news_s is not None
            debounce_s = self._pace.debounce_s
            waits.append(min(line.last_news_s + debounce_s, line.first_news_s + DEBOUNCES_MAX * debounce_s))
        return max(waits)

    def _line(self, agent: EntityId) -> _Line:
        return self._lines.setdefault(agent, _Line())
