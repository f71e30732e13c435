"""Whether a server may be asked now: if it is away or refuses, all agents of a device wait together.

Never gives up: after a while one of them asks again, ever more rarely.
"""

from typing import Generic, NamedTuple, TypeVar

from daemon.agents.tools.model_interface import ModelFault, ModelUnavailable
from daemon.backoff import Backoff

PAUSES = Backoff(first_s=60.0, max_s=900.0)
SERVER_PAUSE_MAX_S = 6 * 3600.0
"""What a server may ask to be left alone for."""


FaultT_co = TypeVar("FaultT_co", bound=ModelFault, covariant=True)


class Outage(NamedTuple, Generic[FaultT_co]):
    """What keeps a server from answering, since when (Unix milliseconds), how often, and until when."""

    fault: FaultT_co
    since_ms: int
    failures: int
    until_s: float


class CircuitBreaker:
    """The breaker of one endpoint. Times are seconds of one monotonic clock, except `since_ms`."""

    def __init__(self) -> None:
        self.outage: Outage[ModelUnavailable] | None = None

    def record_answer(self) -> None:
        """Note that the server answers."""
        self.outage = None

    def record_failure(self, fault: ModelUnavailable, now_s: float, now_ms: int) -> None:
        """Record why the server does not answer, and set how long to wait in the fault.

        Requests that were already under way during a pause do not make the pause longer.
        """
        before = self.outage
        if before is None or now_s >= before.until_s:
            times = 1 if before is None else before.failures + 1
            pause_s = max(PAUSES.delay_s(times), min(fault.retry_after_s or 0.0, SERVER_PAUSE_MAX_S))
            since_ms = now_ms if before is None else before.since_ms
            self.outage = before = Outage(fault, since_ms, times, now_s + pause_s)
        self.outage = before._replace(fault=fault)
        fault.retry_after_s = before.until_s - now_s

    def require_askable(self, now_s: float) -> None:
        """Raise the last fault again while it is too early to ask."""
        if self.outage is not None and now_s < self.outage.until_s:
            model_unavailable = type(self.outage.fault)(self.outage.fault.words)
            model_unavailable.retry_after_s, model_unavailable.is_already_reported = (
                self.outage.until_s - now_s,
                True,
            )
            raise model_unavailable
