"""What remote models may cost per day: counted as it is spent, across runs, failures and restarts.

Never lets a turn begin that would exceed the limit, and never treats a turn without a count as free.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Protocol

from daemon.agents.running.conversation import AsyncDatabase
from daemon.agents.tools.model_interface import BudgetSpent, TokenUsage
from store.local import model_usage
from store.local.model_usage import ModelUsage
from store.sentence import Sentence, sentence

MICRO_PER_UNIT = 1_000_000
TOKENS_MAX = 1 << 31
FIRST_TURN_TOKENS_MIN = 2000
"""The tokens of even a short first turn: a run does not begin if the budget has less left."""
RECHECK_S = 3600.0
"""The longest single wait until midnight, because the clock may be set and machines sleep."""


class CalendarClock(Protocol):
    """The clock that decides which day it is."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds."""


@dataclass(frozen=True, slots=True)
class Tariff:
    """Prices per million tokens, and the limit per day; None without a limit.

    `cached` tokens are a part of the input tokens.
    """

    input: float = 0.0
    output: float = 0.0
    cached: float = 0.0
    cost_per_day: float | None = None

    def cost_micro(self, usage: TokenUsage) -> int:
        """Return what tokens cost, in millionths of the currency unit, rounded up."""
        cached = min(usage.cached, usage.input)
        cost = (usage.input - cached) * self.input + cached * self.cached + usage.output * self.output
        return -int(-cost // 1)


@dataclass(frozen=True, slots=True)
class DailySpending:
    """What models took today, by the device's own calendar, and when the next day begins."""

    day: str
    spent: ModelUsage
    limit_micro: int | None
    ends: datetime


@dataclass(slots=True)
class Ledger:
    """What the accounts of one device share: the day, what it has cost so far, and what is under way."""

    day: str = ""
    spent: ModelUsage = field(default_factory=ModelUsage)
    reserved_micro: int = 0


class SpendingAccount:
    """What one device spends on one model, of a limit for all that share a ledger.

    If the clock is set to another day, that day's sum counts.
    """

    def __init__(
        self,
        database: AsyncDatabase,
        clock: CalendarClock,
        model: str,
        tariff: Tariff,
        zone: Callable[[], tzinfo],
        *,
        ledger: Ledger | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._model = model
        self._tariff = tariff
        self._zone = zone
        self._ledger = ledger or Ledger()
        self._reported_day = ""

    def cost_micro(self, usage: TokenUsage) -> int | None:
        """Return what tokens cost at the prices that are set, in millionths of the unit; None without any."""
        tariff = self._tariff
        return tariff.cost_micro(usage) if tariff.input or tariff.output else None

    async def today(self) -> DailySpending:
        """Return today's spending."""
        now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).astimezone(self._zone())
        day = now.date().isoformat()
        if day != self._ledger.day:
            stored = await self._database.read(lambda snapshot: model_usage.usage_of_day(snapshot, day))
            if day != self._ledger.day:
                self._ledger.day, self._ledger.spent = day, stored
        limit = self._tariff.cost_per_day
        ends = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
        return DailySpending(
            day, self._ledger.spent, None if limit is None else round(limit * MICRO_PER_UNIT), ends
        )

    async def require_budget(self, prompt_tokens: int = FIRST_TURN_TOKENS_MIN) -> None:
        """Raise BudgetSpent if a turn of so many tokens would exceed what a day may cost."""
        today = await self.today()
        fault = self._refusal(today, prompt_tokens)
        if fault is not None:
            fault.is_already_reported, self._reported_day = self._reported_day == today.day, today.day
            raise fault

    async def refusal(self) -> Sentence | None:
        """Return why no run may begin, None if one may. This does not count as reported."""
        fault = self._refusal(await self.today(), FIRST_TURN_TOKENS_MIN)
        return None if fault is None else fault.words

    def _refusal(self, today: DailySpending, prompt_tokens: int) -> BudgetSpent | None:
        next_micro = self._tariff.cost_micro(TokenUsage(prompt_tokens))
        if today.limit_micro is None:
            return None
        if today.spent.cost_micro + self._ledger.reserved_micro + next_micro <= today.limit_micro:
            return None
        fault = BudgetSpent(_budget_fault(today, next_micro))
        left_s = (today.ends - datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)).total_seconds()
        fault.retry_after_s = min(left_s, RECHECK_S)
        return fault

    @asynccontextmanager
    async def reserve(self, prompt_tokens: int) -> AsyncIterator[None]:
        """Reserve the cost of a turn while it is under way. Raises BudgetSpent."""
        await self.require_budget(prompt_tokens)
        reserved_micro = self._tariff.cost_micro(TokenUsage(prompt_tokens))
        self._ledger.reserved_micro += reserved_micro
        try:
            yield
        finally:
            self._ledger.reserved_micro -= reserved_micro

    async def record_usage(self, usage: TokenUsage) -> None:
        """Count what a turn took, at once and durably. Numbers of a server are capped."""
        day = (await self.today()).day
        counted = TokenUsage(*(min(count, TOKENS_MAX) for count in (usage.input, usage.output, usage.cached)))
        reasoning = min(usage.reasoning, TOKENS_MAX)
        cost_micro = self._tariff.cost_micro(counted)
        more = ModelUsage(1, counted.input, counted.output, counted.cached, reasoning, cost_micro)
        self._ledger.spent = ModelUsage(
            *(old + new for old, new in zip(self._ledger.spent, more, strict=True))
        )
        await self._database.write(lambda tx: model_usage.add_usage(tx, day, self._model, more))


def _budget_fault(today: DailySpending, next_micro: int) -> Sentence:
    assert today.limit_micro is not None
    limit, next_day = _amount(today.limit_micro), f"{today.ends:%Y-%m-%d %H:%M}"
    if next_micro > today.limit_micro:
        return sentence(
            "turn-beyond-budget",
            "one turn costs some {cost}, and budget.cost_per_day is {limit}: raise it",
            cost=_amount(next_micro),
            limit=limit,
        )
    return sentence(
        "budget-spent",
        "today's budget for models is spent ({spent} of {limit}); it begins anew at {next_day}",
        spent=_amount(today.spent.cost_micro),
        limit=limit,
        next_day=next_day,
    )


def _amount(micro: int) -> str:
    return f"{micro / MICRO_PER_UNIT:.4f}".rstrip("0").rstrip(".")
