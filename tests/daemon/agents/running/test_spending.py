"""What remote models may cost per day: what is counted, when asking stops, and when it goes on.

Never sleeps: days pass because a clock is set.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.agents.running.spending import RECHECK_S, SpendingAccount, Tariff
from daemon.agents.tools.model_interface import BudgetSpent, TokenUsage
from store.local import model_usage
from store.store import Store
from store.threads import StoreThreads
from syncproto.keys import Signer

BERLIN = ZoneInfo("Europe/Berlin")
TARIFF = Tariff(input=2.0, output=10.0, cached=0.5, cost_per_day=0.05)
DEAR = TokenUsage(input=10_000, output=2000, cached=4000)
"""6 000 at 2, 4 000 at 0.5 and 2 000 at 10 a million: 0.034."""


class Clock:
    """A wall clock that is set by hand."""

    def __init__(self, spending: datetime) -> None:
        self.at = spending

    def now_ms(self) -> int:
        return round(self.at.timestamp() * 1000)


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 3, 9, 23, 30, tzinfo=BERLIN))


@pytest.fixture
async def database(tmp_path: Path, clock: Clock) -> AsyncIterator[StoreThreads]:
    signer = Signer(bytes(32))
    store = Store.open(tmp_path / "a.db", signer=signer, now_ms=clock.now_ms, randomness=bytes)
    threads = StoreThreads(store)
    yield threads
    threads.close()


def account(database: StoreThreads, clock: Clock, tariff: Tariff = TARIFF) -> SpendingAccount:
    return SpendingAccount(database, clock, "m", tariff, lambda: BERLIN)


async def test_what_was_asked_counts_by_its_prices(database: StoreThreads, clock: Clock):
    spending = account(database, clock)
    await spending.record_usage(DEAR)
    assert (await spending.today()).spent.cost_micro == 34_000


async def test_a_turn_that_would_go_beyond_is_not_begun_and_says_when_it_goes_on(
    database: StoreThreads, clock: Clock
):
    spending = account(database, clock)
    await spending.record_usage(DEAR)
    await spending.require_budget(7000)
    with pytest.raises(BudgetSpent) as error:
        await spending.require_budget(9000)
    assert str(error.value) == (
        "today's budget for models is spent (0.034 of 0.05); it begins anew at 2026-03-10 00:00"
    )
    assert error.value.retry_after_s == 1800
    assert not error.value.is_already_reported
    with pytest.raises(BudgetSpent) as again:
        await spending.require_budget(9000)
    assert again.value.is_already_reported


async def test_what_is_under_way_counts_already(database: StoreThreads, clock: Clock):
    spending = account(database, clock)
    async with spending.reserve(20_000):
        with pytest.raises(BudgetSpent):
            await spending.require_budget(6000)
    await spending.require_budget(6000)


async def test_a_turn_dearer_than_a_whole_day_says_what_to_change(database: StoreThreads, clock: Clock):
    with pytest.raises(
        BudgetSpent, match=r"one turn costs some 0\.06, and budget\.cost_per_day is 0\.05: raise"
    ):
        await account(database, clock).require_budget(30_000)


async def test_the_next_day_begins_at_midnight_where_the_device_is(database: StoreThreads, clock: Clock):
    spending = account(database, clock)
    await spending.record_usage(DEAR)
    clock.at = datetime(2026, 3, 10, 0, 0, tzinfo=BERLIN)
    await spending.require_budget(20_000)
    assert (await spending.today()).spent.requests == 0


async def test_a_restart_forgets_nothing_and_neither_does_a_clock_that_comes_back(
    database: StoreThreads, clock: Clock
):
    await account(database, clock).record_usage(DEAR)
    spending = account(database, clock)
    with pytest.raises(BudgetSpent):
        await spending.require_budget(9000)
    clock.at = datetime(2027, 3, 9, 12, 0, tzinfo=BERLIN)
    await spending.require_budget(9000)
    clock.at = datetime(2026, 3, 9, 12, 0, tzinfo=BERLIN)
    with pytest.raises(BudgetSpent) as error:
        await spending.require_budget(9000)
    assert error.value.retry_after_s == RECHECK_S


async def test_days_of_23_and_25_hours_end_at_their_midnight(database: StoreThreads, clock: Clock):
    spending = account(database, clock)
    ends = []
    for day in (datetime(2026, 3, 29, 1, tzinfo=BERLIN), datetime(2026, 10, 25, 1, tzinfo=BERLIN)):
        clock.at = day
        ends.append((await spending.today()).ends.astimezone(UTC) - day.astimezone(UTC))
    assert [end.total_seconds() / 3600 for end in ends] == [22, 24]


async def test_without_a_limit_all_is_counted_and_nothing_is_refused(database: StoreThreads, clock: Clock):
    spending = account(database, clock, Tariff())
    await spending.record_usage(DEAR)
    await spending.require_budget(1 << 30)
    spent = await database.read(lambda snapshot: model_usage.usage_of_day(snapshot, "2026-03-09"))
    assert spent == (1, 10_000, 2000, 4000, 0, 0)


async def test_a_free_model_is_asked_also_where_nothing_may_be_spent(database: StoreThreads, clock: Clock):
    spending = account(database, clock, Tariff(cost_per_day=0.0))
    await spending.record_usage(DEAR)
    await spending.require_budget()


async def test_a_server_that_counts_wildly_fills_the_day_and_breaks_nothing(
    database: StoreThreads, clock: Clock
):
    spending = account(database, clock, Tariff(1e5, 1e5, 1e5, 1e9))
    for _ in range(100):
        await spending.record_usage(TokenUsage((1 << 40) - 1, (1 << 40) - 1, 0, (1 << 40) - 1))
    with pytest.raises(BudgetSpent):
        await spending.require_budget()


@given(st.integers(0, 1 << 20), st.integers(0, 1 << 20), st.integers(0, 1 << 20))
def test_no_tokens_cost_less_than_nothing_and_more_cost_more(number: int, output: int, cached: int):
    cost = TARIFF.cost_micro(TokenUsage(number, output, cached))
    assert 0 <= cost <= TARIFF.cost_micro(TokenUsage(number + 1, output, cached))
    assert cost <= TARIFF.cost_micro(TokenUsage(number, output + 1, cached))


async def test_who_looks_is_not_who_is_told(database: StoreThreads, clock: Clock):
    spending = account(database, clock)
    assert await spending.refusal() is None
    await spending.record_usage(TokenUsage(24_500))
    refused = await spending.refusal()
    assert refused is not None
    assert "is spent (0.049 of 0.05)" in refused.text
    with pytest.raises(BudgetSpent) as first:
        await spending.require_budget()
    assert not first.value.is_already_reported
