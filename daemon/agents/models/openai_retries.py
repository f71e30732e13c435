"""Asking again where that may help: how often, after which pause, and for how long in all.

Never asks again where the same answer would come, nor sooner than the server allows.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Protocol

from daemon.agents.models.interface import BudgetSpent, ModelUnavailable
from daemon.agents.models.openai_endpoint import Redactor
from daemon.agents.models.openai_refusals import Refusal, refusal
from daemon.agents.models.openai_wire import Reply


class Clock(Protocol):
    """What asking again needs of the world's clock."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds."""

    def monotonic_s(self) -> float:
        """Return seconds since some moment."""

    def randomness(self, count: int) -> bytes:
        """Return random bytes."""


async def _pause(duration_s: float) -> None:
    await asyncio.sleep(duration_s)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an answer, and how often to ask. `total_s` is for one turn, pauses included."""

    read_s: float = 240.0
    total_s: float = 420.0
    tries: int = 5
    pause_s: float = 1.0
    pause_s_max: float = 30.0
    sleep: Callable[[float], Awaitable[None]] = _pause


async def answered(
    post: Callable[[], Awaitable[Reply]], patience: Patience, clock: Clock, redactor: Redactor
) -> Reply:
    """Ask until there is an answer with status 200. Raises ModelFault where there will be none."""
    began_s = clock.monotonic_s()
    try:
        async with asyncio.timeout(patience.total_s):
            for tried in range(patience.tries):
                reply = await _asked(post, redactor)
                if isinstance(reply, Reply):
                    return reply
                if not reply.refusal.may_retry or tried + 1 == patience.tries:
                    raise reply.refusal.fault
                left_s = patience.total_s - (clock.monotonic_s() - began_s)
                await patience.sleep(_wait_s(reply, tried, left_s, patience, clock))
    except TimeoutError:
        raise ModelUnavailable(f"the server did not answer within {patience.total_s:g} s") from None
    raise AssertionError("no tries")


@dataclass(frozen=True, slots=True)
class _No:
    """A try without an answer. `reply` is None where nothing came."""

    refusal: Refusal
    reply: Reply | None


async def _asked(post: Callable[[], Awaitable[Reply]], redactor: Redactor) -> Reply | _No:
    try:
        reply = await post()
    except BudgetSpent:
        raise
    except ModelUnavailable as fault:
        return _No(Refusal(fault, may_retry=True), None)
    if reply.status == 200:
        return reply
    return _No(refusal(reply.status, reply.body, redactor), reply)


def _wait_s(no: _No, tried: int, left_s: float, patience: Patience, clock: Clock) -> float:
    """Return the pause before the next try. Raises ModelUnavailable where the server wants too long a one."""
    share: float = int.from_bytes(clock.randomness(2)) / 65536
    asked_s = None if no.reply is None else retry_after_s(no.reply, clock.now_ms())
    if asked_s is None:
        return float(min(patience.pause_s * 2**tried, patience.pause_s_max) * (0.5 + share / 2))
    if asked_s >= left_s:
        fault = ModelUnavailable(f"{no.refusal.fault}; it asks to be left alone for {asked_s:.0f} s")
        fault.again_s = asked_s
        raise fault
    return asked_s + share * patience.pause_s


def retry_after_s(reply: Reply, now_ms: int) -> float | None:
    """Read Retry-After, as seconds or as a date; None where there is none that can be read."""
    written = reply.headers.get("retry-after", "").strip()
    if not written:
        return None
    if written.replace(".", "", 1).isdecimal():
        return float(written[:12])
    try:
        at = parsedate_to_datetime(written)
    except ValueError:
        return None
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, aware.timestamp() - now_ms / 1000)
