"""What remote models may cost a day: counted as it is spent, across runs, failures and restarts.

Never lets a turn begin that would go beyond the limit, and never counts what came back as nothing for free.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Protocol

from daemon.agents.models.interface import BudgetSpent, Usage
from daemon.agents.run import Database
from store import models
from store.models import Spent

MICRO = 1_000_000
TOKENS_MAX = 1 << 31
FIRST_TURN_TOKENS = 2000
"""What even a short first turn takes: a run for which less is left does not begin."""
LOOK_AGAIN_S = 3600.0
"""The clock may be set, and machines sleep: until midnight is waited in pieces."""


class Clock(Protocol):
    """What a day is reckoned by."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds."""


@dataclass(frozen=True, slots=True)
class Tariff:
    """Prices per million tokens, and the limit a day; None where there is none. `cached` is part of input."""

    input: float = 0.0
    output: float = 0.0
    cached: float = 0.0
    cost_per_day: float | None = None

    def cost_micro(self, usage: Usage) -> int:
        """Return what tokens cost, in millionths, rounded up."""
        cached = min(usage.cached, usage.input)
        cost = (usage.input - cached) * self.input + cached * self.cached + usage.output * self.output
        return -int(-cost // 1)


@dataclass(frozen=True, slots=True)
class Day:
    """What was asked of models today, by the device's own calendar, and when the next day begins."""

    day: str
    spent: Spent
    limit_micro: int | None
    ends: datetime


class Account:
    """What one device spends on one model. The clock says which day it is; set to another, that counts."""

    def __init__(
        self, database: Database, clock: Clock, model: str, tariff: Tariff, zone: Callable[[], tzinfo]
    ) -> None:
        self._database = database
        self._clock = clock
        self._model = model
        self._tariff = tariff
        self._zone = zone
        self._day = ""
        self._spent = Spent()
        self._held_micro = 0
        self._said = ""

    async def today(self) -> Day:
        """Return how things stand today."""
        now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).astimezone(self._zone())
        day = now.date().isoformat()
        if day != self._day:
            found = await self._database.read(lambda snapshot: models.spent(snapshot, day))
            if day != self._day:
                self._day, self._spent = day, found
        limit = self._tariff.cost_per_day
        ends = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
        return Day(day, self._spent, None if limit is None else round(limit * MICRO), ends)

    async def require(self, prompt_tokens: int = FIRST_TURN_TOKENS) -> None:
        """Raise BudgetSpent where a turn of so many tokens would go beyond what a day may cost."""
        today = await self.today()
        fault = self._refusal(today, prompt_tokens)
        if fault is not None:
            fault.is_known, self._said = self._said == today.day, today.day
            raise fault

    async def refusal(self) -> str:
        """Say why no run may begin, without counting as told; empty where one may."""
        fault = self._refusal(await self.today(), FIRST_TURN_TOKENS)
        return "" if fault is None else str(fault)

    def _refusal(self, today: Day, prompt_tokens: int) -> BudgetSpent | None:
        next_micro = self._tariff.cost_micro(Usage(prompt_tokens))
        if today.limit_micro is None:
            return None
        if today.spent.cost_micro + self._held_micro + next_micro <= today.limit_micro:
            return None
        fault = BudgetSpent(_why(today, next_micro))
        left_s = (today.ends - datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)).total_seconds()
        fault.again_s = min(left_s, LOOK_AGAIN_S)
        return fault

    @asynccontextmanager
    async def asking(self, prompt_tokens: int) -> AsyncIterator[None]:
        """Set aside what a turn costs while it is under way. Raises BudgetSpent."""
        await self.require(prompt_tokens)
        held_micro = self._tariff.cost_micro(Usage(prompt_tokens))
        self._held_micro += held_micro
        try:
            yield
        finally:
            self._held_micro -= held_micro

    async def book(self, usage: Usage) -> None:
        """Count what a turn took, at once and durably; a server's count has an end."""
        day = (await self.today()).day
        counted = Usage(*(min(one, TOKENS_MAX) for one in (usage.input, usage.output, usage.cached)))
        reasoning = min(usage.reasoning, TOKENS_MAX)
        cost_micro = self._tariff.cost_micro(counted)
        more = Spent(1, counted.input, counted.output, counted.cached, reasoning, cost_micro)
        self._spent = Spent(*(old + new for old, new in zip(self._spent, more, strict=True)))
        await self._database.write(lambda tx: models.book(tx, day, self._model, more))


def _why(today: Day, next_micro: int) -> str:
    assert today.limit_micro is not None
    limit, on = _amount(today.limit_micro), f"{today.ends:%Y-%m-%d %H:%M}"
    if next_micro > today.limit_micro:
        return f"one turn costs some {_amount(next_micro)}, and budget.cost_per_day is {limit}: raise it"
    spent = _amount(today.spent.cost_micro)
    return f"today's budget for models is spent ({spent} of {limit}); agents go on at {on}"


def _amount(micro: int) -> str:
    return f"{micro / MICRO:.4f}".rstrip("0").rstrip(".")
