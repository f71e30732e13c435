"""Asking again if that may help: how often, after which pause, and for how long in all.

Never asks again if the same answer would come, nor sooner than the server allows.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Protocol

from daemon.agents.models.openai.client import HttpReply
from daemon.agents.models.openai.endpoint import KeyRedactor
from daemon.agents.models.openai.http_errors import ServerRefusal, classify_refusal, status_within
from daemon.agents.tools.model_interface import BudgetSpent, ModelUnavailable
from daemon.backoff import Backoff, random_share
from store.sentence import sentence


class RetryClock(Protocol):
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
class RetryPolicy:
    """How long to wait for an answer, and how often to ask. `total_s` is for one turn, pauses included."""

    read_s: float = 240.0
    total_s: float = 420.0
    attempts_max: int = 5
    pause_first_s: float = 1.0
    pause_s_max: float = 30.0
    sleep: Callable[[float], Awaitable[None]] = _pause


async def post_with_retries(
    post: Callable[[], Awaitable[HttpReply]], patience: RetryPolicy, clock: RetryClock, redactor: KeyRedactor
) -> HttpReply:
    """Ask until there is an answer with status 200. Raises ModelFault if there will be none."""
    began_s = clock.monotonic_s()
    try:
        async with asyncio.timeout(patience.total_s):
            for tried in range(patience.attempts_max):
                reply = await _ask_once(post, redactor)
                if isinstance(reply, HttpReply):
                    return reply
                if not reply.refusal.may_retry or tried + 1 == patience.attempts_max:
                    raise reply.refusal.fault
                left_s = patience.total_s - (clock.monotonic_s() - began_s)
                await patience.sleep(_wait_s(reply, tried, left_s, patience, clock))
    except TimeoutError:
        raise ModelUnavailable(
            sentence(
                "model-no-answer-within",
                "the server did not answer within {seconds} s",
                seconds=f"{patience.total_s:g}",
            )
        ) from None
    raise AssertionError("no tries")


@dataclass(frozen=True, slots=True)
class _Denial:
    """A try without an answer. `reply` is None if nothing came."""

    refusal: ServerRefusal
    reply: HttpReply | None


async def _ask_once(post: Callable[[], Awaitable[HttpReply]], redactor: KeyRedactor) -> HttpReply | _Denial:
    try:
        reply = await post()
    except BudgetSpent:
        raise
    except ModelUnavailable as fault:
        return _Denial(ServerRefusal(fault, may_retry=True), None)
    status = status_within(reply.body) or 200 if reply.status == 200 else reply.status
    if status == 200:
        return reply
    return _Denial(classify_refusal(status, reply.body, redactor), reply)


def _wait_s(denial: _Denial, tried: int, left_s: float, patience: RetryPolicy, clock: RetryClock) -> float:
    """Return the pause before the next try. Raises ModelUnavailable if the server asks for too long."""
    share = random_share(clock.randomness)
    asked_s = None if denial.reply is None else retry_after_header_s(denial.reply, clock.now_ms())
    if asked_s is None:
        return Backoff(patience.pause_first_s, patience.pause_s_max).delay_s(tried + 1) * (0.5 + share / 2)
    # The pause would outlast the turn: the breaker waits instead, for all agents of the model.
    if asked_s >= left_s:
        fault = ModelUnavailable(
            sentence(
                "model-server-wants-pause",
                "{fault}; it asks to be left alone for {seconds} s",
                fault=denial.refusal.fault.words,
                seconds=f"{asked_s:.0f}",
            )
        )
        fault.retry_after_s = asked_s
        raise fault
    return asked_s + share * patience.pause_first_s


def retry_after_header_s(reply: HttpReply, now_ms: int) -> float | None:
    """Read Retry-After, as seconds or as a date; None if there is none that can be read."""
    text = reply.headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.replace(".", "", 1).isdecimal():
        return float(text[:12])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, aware.timestamp() - now_ms / 1000)
