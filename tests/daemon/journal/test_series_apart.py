"""Series that were split, ended, skipped or edited on devices that were apart, and days that stay away.

Never waits: the clock of the fleet is moved by hand.
"""

from datetime import date, timedelta

import pytest

from daemon.dates.recurrence import Budget, BudgetSpent, Rule, read_rule, rule_days
from daemon.journal.recurring import occurrences
from daemon.journal.recurring.occurrences import shown_occurrences
from tests.daemon.journal.test_series import TODAY, add, day, days
from tests.support.fleet import Home


def test_costly_series_hold_up_no_list_and_hide_no_other(a: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    steps_max, spent = 10_000, list[int]()
    spend = Budget.spend

    def counting_spend(budget: Budget, steps: int) -> None:
        spent.append(min(steps, max(budget.left, 0) + 1))
        spend(budget, steps)

    monkeypatch.setattr(occurrences, "_STEPS_MAX", steps_max)
    monkeypatch.setattr(Budget, "spend", counting_spend)
    for number in range(40):
        # A Friday every seven days is never a Monday.
        a.new("series", title="costly", rule="FREQ=DAILY;INTERVAL=7;BYDAY=MO", first=day(-7 * number))
    add(a, "FREQ=DAILY", "Honest")
    spent.clear()
    assert days(a) == [day(0), day(1)]
    # What the newest days cost is counted once where they are looked for, and once for all series.
    assert sum(spent) < 2 * steps_max
    a.read(lambda snapshot: shown_occurrences(snapshot, TODAY + timedelta(1)))
    remembered = a.read(lambda snapshot: snapshot.recall("occurrences"))
    assert remembered is not None
    assert isinstance(remembered[1], dict)
    assert {TODAY, TODAY + timedelta(1)} <= set(remembered[1]), "a list and a name ask for two days in turns"


def test_a_place_that_no_period_has_costs_nothing() -> None:
    budget = Budget(20_000)
    for rule in ("FREQ=DAILY;BYDAY=MO;BYSETPOS=5", "FREQ=MONTHLY;BYDAY=2MO;BYSETPOS=2"):
        parsed = read_rule(rule)
        assert isinstance(parsed, Rule)
        assert list(rule_days(parsed, TODAY, TODAY, date.max, budget=budget)) == []
    assert budget.left == 20_000 - 28 * 12 * 31
    daily = read_rule("FREQ=DAILY")
    assert isinstance(daily, Rule)
    with pytest.raises(BudgetSpent):
        list(rule_days(daily, TODAY, TODAY, date.max, budget=Budget(100)))
