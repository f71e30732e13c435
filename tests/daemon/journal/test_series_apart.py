"""Series that were split, ended, skipped or edited on devices that were apart, and days that stay away.

Never waits: the clock of the fleet is moved by hand.
"""

from datetime import date, timedelta

import pytest
from msgspec import structs

from daemon.dates.recurrence import Budget, BudgetSpent, Rule, read_rule, rule_days
from daemon.journal import series, tasks
from daemon.journal.recurring import occurrences
from daemon.journal.recurring.occurrences import shown_occurrences
from daemon.journal.recurring.touching import touch_occurrence
from daemon.journal.series import SeriesDay, SeriesEdit, SeriesEnd, SeriesMove, SeriesSplit
from daemon.journal.tasks import TaskEdit
from daemon.refusal import Refused
from syncproto.ids import id_from_text
from tests.daemon.journal.test_series import TODAY, add, day, days, done, listed, occurrence_text, today_of
from tests.daemon.journal.undo.acts import undo
from tests.support.fleet import DAY_MS, Fleet, Home


def split(home: Home, ref: str, on: str, **fields: object) -> str:
    wanted = structs.replace(SeriesSplit(on=on), **fields)
    return home.write(lambda tx: series.split(tx, ref, wanted, today_of(home))).id


def test_a_day_skipped_here_stays_away_after_a_split_there(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.write(lambda tx: series.skip(tx, made.id, SeriesDay(day(4)), TODAY))
    a.fleet.sync()
    a.write(lambda tx: series.skip(tx, made.id, SeriesDay(day(3)), TODAY))
    later = split(b, made.id, day(2))
    a.fleet.sync()
    a.write(lambda tx: series.remove(tx, made.id))
    a.fleet.sync()
    a.fleet.now_ms += 5 * DAY_MS
    for home in (a, b):
        assert days(home) == [day(2), day(5), day(6)]
        assert home.read(lambda s: series.show(s, later, TODAY)).skipped == [day(3), day(4)]


def test_a_clock_that_was_ahead_puts_the_next_one_off_on_no_day(fleet: Fleet) -> None:
    here, ahead = fleet.home("here"), fleet.home("ahead", skew_ms=365 * DAY_MS)
    add(here, "AFTER=7")
    fleet.sync()
    done(ahead, "Water")
    fleet.sync()
    for _ in range(3):
        fleet.now_ms += 3 * DAY_MS
        assert days(here) == [day(7)], "it becomes due, and overdue"


def test_a_removed_day_comes_back_by_no_move(a: Home) -> None:
    made = add(a, "FREQ=DAILY")
    task = occurrence_text(made, day(1))
    a.write(lambda tx: tasks.edit(tx, task, TaskEdit(title="In the person's words")))
    a.write(lambda tx: tasks.remove(tx, task))
    with pytest.raises(Refused, match="In the person's words"):
        a.write(lambda tx: series.move(tx, made.id, SeriesMove(day(5), day(1)), TODAY))
    (occurrence, *_others) = a.read(lambda snapshot: shown_occurrences(snapshot, TODAY))
    done(a, occurrence_text(made, day(0)))
    a.write(lambda tx: tasks.edit(tx, occurrence_text(made, day(0)), TaskEdit(title="Mine")))
    a.write(lambda tx: touch_occurrence(tx, occurrence))
    assert a.value(id_from_text(occurrence_text(made, day(0))), "title") == "Mine", "a touch covers no word"


def test_without_a_day_the_earliest_open_task_is_meant_also_a_touched_one(a: Home) -> None:
    made = add(a, "FREQ=DAILY")
    task = occurrence_text(made, day(0))
    a.write(lambda tx: tasks.edit(tx, task, TaskEdit(status="IN PROGRESS")))
    a.write(lambda tx: series.move(tx, made.id, SeriesMove(day(0)), TODAY))
    assert a.value(id_from_text(task), "due") == day(0)
    assert days(a) == [day(0), day(1)]
    a.write(lambda tx: series.skip(tx, made.id, SeriesDay(), TODAY))
    assert days(a) == [day(1)]


def test_a_new_rule_brings_no_past_day_back(a: Home) -> None:
    made = add(a, "FREQ=WEEKLY;BYDAY=FR")
    monthly = add(a, "FREQ=MONTHLY")
    a.fleet.now_ms += 10 * DAY_MS
    done(a, occurrence_text(made, day(0)))
    daily, second = SeriesEdit(every="FREQ=DAILY"), SeriesEdit(every="FREQ=MONTHLY;INTERVAL=2")
    a.write(lambda tx: series.edit(tx, made.id, daily, today_of(a)))
    a.write(lambda tx: series.edit(tx, monthly.id, second, today_of(a)))
    lines = listed(a)
    assert [line.due for line in lines if line.series_id == made.id] == [day(10), day(11)]
    next_days = a.read(lambda snapshot: series.show(snapshot, monthly.id, today_of(a))).next
    assert next_days[0][-2:] == day(0)[-2:], "it keeps its day of the month"
    assert undo(a).left == []
    assert next(line.due for line in listed(a) if line.series_id == monthly.id) == day(0)


def test_a_split_leaves_what_is_due_before_and_makes_no_more_than_the_count(a: Home) -> None:
    counted = add(a, "AFTER=3")
    split(a, counted.id, day(7), title="Later")
    assert [(line.due, line.title) for line in listed(a)] == [(day(0), counted.title)]
    thrice = add(a, "FREQ=DAILY;COUNT=3", "Thrice")
    with pytest.raises(Refused, match="no task of 'Thrice' is to come"):
        split(a, thrice.id, day(10))


def test_splits_with_different_rules_follow_one_another(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.fleet.sync()
    early = split(a, made.id, day(3), every="FREQ=DAILY;INTERVAL=2")
    split(a, early, day(7), every="FREQ=DAILY;INTERVAL=4")
    split(b, made.id, day(5), every="FREQ=DAILY;INTERVAL=3")
    a.fleet.sync()
    a.fleet.now_ms += 12 * DAY_MS
    for home in (a, b):
        assert days(home) == [day(number) for number in (0, 1, 2, 3, 5, 8, 11, 14)]


@pytest.mark.parametrize("last", [1, 8])
@pytest.mark.parametrize("is_split_first", [True, False])
def test_an_end_here_holds_for_a_split_there(a: Home, b: Home, last: int, *, is_split_first: bool) -> None:
    made = add(a, "FREQ=DAILY")
    a.fleet.sync()

    def end() -> None:
        a.write(lambda tx: series.end(tx, made.id, SeriesEnd(on=day(last)), TODAY))

    if not is_split_first:
        end()
        a.fleet.now_ms += 1000
    split(b, made.id, day(5))
    if is_split_first:
        a.fleet.now_ms += 1000
        end()
    a.fleet.sync()
    a.fleet.now_ms += 12 * DAY_MS
    expected = [day(number) for number in range(last + 1)]
    assert days(a) == days(b) == expected


def test_the_end_of_a_series_that_was_split_goes_on_to_what_it_became(a: Home) -> None:
    made = add(a, "FREQ=DAILY")
    split(a, split(a, made.id, day(2)), day(4))
    a.write(lambda tx: series.end(tx, made.id, SeriesEnd(on=day(5)), TODAY))
    a.fleet.now_ms += 9 * DAY_MS
    assert days(a) == [day(number) for number in range(6)]


def test_a_split_that_is_half_undone_runs_no_two_series(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.write(lambda tx: series.split(tx, made.id, SeriesSplit(on=day(2), every="FREQ=WEEKLY;BYDAY=FR"), TODAY))
    (later,) = [shown for shown in a.read(lambda s: series.list_series(s, TODAY)) if shown.follows == made.id]
    a.fleet.sync()
    b.set(id_from_text(later.id), priority="P0")
    a.fleet.sync()
    assert len(undo(a).left) == 1, "what changed since stays"
    assert a.value(id_from_text(made.id), "until") is None
    a.fleet.now_ms += 9 * DAY_MS
    assert days(a) == [day(number) for number in (0, 1, 7, 14)]


def test_a_full_id_comes_before_titles_and_what_lasts_before_what_ended(a: Home) -> None:
    made = add(a, "FREQ=DAILY")
    add(a, "FREQ=DAILY", f"As {made.id}")
    assert a.read(lambda snapshot: series.find_series(snapshot, made.id)).entity.text("title") == made.title
    later = split(a, made.id, day(1))
    a.fleet.now_ms += 3 * DAY_MS
    assert a.read(lambda snapshot: series.show(snapshot, "Water", today_of(a))).id == later


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
