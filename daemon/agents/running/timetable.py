"""When each agent may run: debounce, throttle, back-off, one run per agent at a time, a limit for all.

Never reads a clock or the store: callers report events with their time, in seconds of one monotonic clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from daemon.backoff import Backoff
from store.sentence import Sentence, sentence
from syncproto.ids import EntityId

FAILURE_BACKOFF = Backoff(first_s=60.0, max_s=6 * 3600.0)
FAILURES_MAX = 5
DEBOUNCE_EXTENSIONS_MAX = 5


class RunPace(NamedTuple):
    """How often agents run, and how many at once. Remote models are used less often."""

    debounce_s: float = 2.0
    throttle_s: float = 5.0
    concurrency: int = 3
    remote_throttle_s: float = 120.0


class RunStart(NamedTuple):
    """An agent that may start now. `request` is the run key of a request or timer; None for changes."""

    agent: EntityId
    request: str | None


class Outlook(NamedTuple):
    """When an agent runs next, in seconds from now (None: not by itself), and why."""

    in_s: float | None
    reason: Sentence

    @property
    def why(self) -> str:
        """Return the reason in English."""
        return self.reason.text


@dataclass(slots=True)
class _Line:
    """What is known of one agent. `asked` and `patient` are the run keys of requests, in order of arrival."""

    asked: list[str] = field(default_factory=list)
    patient: list[str] = field(default_factory=list)
    throttle_s: float | None = None
    first_news_s: float | None = None
    last_news_s: float = 0.0
    ran_s: float | None = None
    not_before_s: float = 0.0
    failures: int = 0
    held_reason: Sentence | None = None
    running: bool = False
    by_itself: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits or runs here, and nothing has to be remembered."""
        waits = self.asked or self.patient or self.running or self.first_news_s is not None
        return not waits and not self.failures and self.ran_s is None


class Timetable:
    """One line per agent that waits, runs, backs off or ran lately."""

    def __init__(self, pace: RunPace) -> None:
        self._pace = pace
        self._lines: dict[EntityId, _Line] = {}

    # -- what happened --------------------------------------------------------------------------------

    def note_news(self, agent: EntityId, now_s: float) -> None:
        """Note a change that the agent has not seen. However many there are, they make one run."""
        line = self._line(agent)
        line.last_news_s = now_s
        if line.first_news_s is None:
            line.first_news_s = now_s

    def clear_news(self, agent: EntityId) -> None:
        """Note that the agent has seen everything, or does not run by itself."""
        if agent in self._lines:
            self._lines[agent].first_news_s = None

    def note_failures(
        self, agent: EntityId, failures: int, not_before_s: float, reason: Sentence | None = None
    ) -> None:
        """Note how often the agent failed in a row and until when it backs off.

        `reason` is why it is held back, if not for the failures themselves.
        """
        if agent in self._lines or failures:
            line = self._line(agent)
            line.failures, line.not_before_s, line.held_reason = failures, not_before_s, reason

    def set_throttle(self, agent: EntityId, throttle_s: float) -> None:
        """Set the time between two runs of an agent that nobody asked for."""
        self._line(agent).throttle_s = throttle_s

    def add_urgent_request(self, agent: EntityId, request: str) -> None:
        """Add a person's request: it skips debounce, throttle and back-off."""
        line = self._line(agent)
        if request in line.patient:
            line.patient.remove(request)  # a person asked while a start took up the waiting requests
        line.asked.append(request)

    def add_patient_request(self, agent: EntityId, request: str) -> None:
        """Add a timer that has fired, or a request to try again: it observes throttle and back-off."""
        line = self._line(agent)
        if request not in line.patient and request not in line.asked:
            line.patient.append(request)

    def urgent_request(self, agent: EntityId) -> str | None:
        """Return the waiting request that also serves a person's new request; None if there is none.

        A request that was put off for another attempt becomes urgent.
        """
        line = self._lines.get(agent)
        if line is not None and not line.asked and line.patient:
            # The waiting request serves the person too, so one run answers both.
            line.asked.append(line.patient.pop(0))
        return line.asked[0] if line is not None and line.asked else None

    def drop_request(self, agent: EntityId, request: str) -> None:
        """Forget a request that was answered without a run."""
        line = self._line(agent)
        for waiting in (line.asked, line.patient):
            if request in waiting:
                waiting.remove(request)

    def note_start(self, start: RunStart) -> None:
        """Note that a run has begun; later news make the next one."""
        line = self._line(start.agent)
        line.running = True
        line.by_itself = start.request is None or start.request in line.patient
        line.first_news_s = None
        if start.request is not None:
            self.drop_request(start.agent, start.request)

    def note_end(self, start: RunStart, now_s: float) -> None:
        """Note that a run is over. A run that a person asked for does not put off the next one."""
        line = self._line(start.agent)
        line.running = False
        if line.by_itself:
            line.ran_s = now_s

    def note_last_run(self, agent: EntityId, at_s: float) -> None:
        """Note when an agent last ran by itself, if that was before this timetable existed."""
        line = self._line(agent)
        if line.ran_s is None:
            line.ran_s = at_s

    def forget(self, agent: EntityId) -> None:
        """Drop the line of an agent that has nothing to do here, so that such agents cost nothing."""
        line = self._lines.get(agent)
        if line is not None and line.is_empty:
            del self._lines[agent]

    # -- what follows ---------------------------------------------------------------------------------

    def take_ready(self, now_s: float) -> list[RunStart]:
        """Return what may start now: people's requests first, and as many as the limit allows."""
        free = self._pace.concurrency - self.running_count()
        idle = [(agent, line) for agent, line in self._lines.items() if not line.running]
        run_starts = [RunStart(agent, line.asked[0]) for agent, line in idle if line.asked]
        timed = [
            (due_s, agent)
            for agent, line in idle
            if not line.asked and (due_s := self._due_s(line)) is not None and due_s <= now_s
        ]
        return [*run_starts, *(self._start(agent) for _, agent in sorted(timed))][: max(free, 0)]

    def _start(self, agent: EntityId) -> RunStart:
        patient = self._lines[agent].patient
        return RunStart(agent, patient[0] if patient else None)

    def next_s(self, now_s: float) -> float | None:
        """Return in how many seconds something may become ready by itself; None if nothing will."""
        waits = [due_s - now_s for due_s in self._due_times() if due_s > now_s]
        return min(waits, default=None)

    def running_count(self) -> int:
        """Return how many agents are running."""
        return sum(line.running for line in self._lines.values())

    def waiting_count(self) -> int:
        """Return how many agents wait for their turn."""
        return sum(bool(line.asked) or self._due_s(line) is not None for line in self._lines.values())

    def outlook(self, agent: EntityId, now_s: float) -> Outlook:
        """Return when an agent runs next, and why."""
        line = self._lines.get(agent, _Line())
        if line.running:
            return Outlook(0.0, sentence("agent-is-running", "it is running"))
        if line.asked:
            return Outlook(0.0, sentence("agent-asked-by-person", "a person asked"))
        due_s = self._due_s(line)
        if line.failures >= FAILURES_MAX:
            failed = sentence("agent-failed-often", "it failed {count} times in a row", count=line.failures)
            return Outlook(None, failed)
        if due_s is None:
            return Outlook(None, sentence("agent-without-news", "nothing has changed since its last run"))
        return Outlook(max(due_s - now_s, 0.0), _waiting_reason(line))

    def _due_times(self) -> Iterator[float]:
        for line in self._lines.values():
            due_s = None if line.running else self._due_s(line)
            if due_s is not None:
                yield due_s

    def _due_s(self, line: _Line) -> float | None:
        """Return when an agent with news or a timer may run; None if it has none, or failed too often.

        News are debounced, though not without end: a task that changes all day has its turn too.
        """
        if line.failures >= FAILURES_MAX or (line.first_news_s is None and not line.patient):
            return None
        waits = [line.not_before_s]
        if line.ran_s is not None:
            throttle_s = self._pace.throttle_s if line.throttle_s is None else line.throttle_s
            waits.append(line.ran_s + throttle_s)
        # A timer or a request skips the debounce, which waits for a burst of edits to end.
        if not line.patient:
            assert line.first_news_s is not None
            debounce_s = self._pace.debounce_s
            waits.append(
                min(line.last_news_s + debounce_s, line.first_news_s + DEBOUNCE_EXTENSIONS_MAX * debounce_s)
            )
        return max(waits)

    def _line(self, agent: EntityId) -> _Line:
        return self._lines.setdefault(agent, _Line())


def _waiting_reason(line: _Line) -> Sentence:
    """Return why an agent waits for its turn."""
    if line.failures and line.held_reason:
        return line.held_reason
    if line.failures:
        return sentence("agent-backing-off", "backing off after {count} failed runs", count=line.failures)
    if line.patient:
        return sentence("agent-was-asked", "it was asked to")
    return sentence("agent-task-changed", "its task has changed")
