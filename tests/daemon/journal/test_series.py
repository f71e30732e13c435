"""Series: one task per day on all devices, whatever they did while apart, and none lost.

Never waits: the clock of the fleet is moved by hand.
"""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec import structs

from daemon.journal import checklist_items, entries, search, series, tasks
from daemon.journal.checklist_items import ItemEdit
from daemon.journal.entries import NewEntry
from daemon.journal.human_input import HumanInput
from daemon.journal.recurring.occurrences import occurrence_id, shown_occurrences
from daemon.journal.series import (
    NewSeries,
    SeriesDay,
    SeriesEdit,
    SeriesEnd,
    SeriesMove,
    SeriesSplit,
)
from daemon.journal.tasks import Shift, TaskEdit
from daemon.journal.typed_series import read_typed, series_of_line
from daemon.journal.views.day import read_day
from daemon.journal.views.series_view import Series
from daemon.journal.views.sorted_tasks import TaskOrder
from daemon.journal.views.task_lines import TaskLine, task_lines_page
from daemon.refusal import RefusalCode, Refused
from store.fold.entity_state import DELETED
from store.fold.list_columns import ListOrder
from store.transaction import Transaction
from syncproto.ids import id_from_text, id_to_text
from tests.daemon.formats.jsonl.files import exported, imported
from tests.daemon.journal.undo.acts import undo
from tests.support.fleet import DAY_MS, START_MS, Fleet, Home

TODAY = datetime.fromtimestamp(START_MS / 1000, UTC).date()
"""A Friday."""
RULES = ("FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TH", "FREQ=MONTHLY;BYMONTHDAY=-1", "AFTER=3")


def today_of(home: Home) -> date:
    return datetime.fromtimestamp(home.now_ms() / 1000, UTC).date()


def add(home: Home, rule: str, title: str = "Water the plants", **fields: object) -> Series:
    new = structs.replace(NewSeries(title=title, every=rule), **fields)
    return home.write(lambda tx: series.add(tx, new, today_of(home), "UTC"))


def listed(home: Home, *, everything: bool = False, order: ListOrder = ListOrder.DUE) -> list[TaskLine]:
    return home.read(
        lambda snapshot: task_lines_page(
            snapshot, closed=everything, removed=False, order=order, today=today_of(home)
        )
    )


def days(home: Home, *, everything: bool = False) -> list[str | None]:
    return [line.due for line in listed(home, everything=everything)]


def done(home: Home, ref: str) -> None:
    home.write(lambda tx: tasks.finish(tx, ref, Shift()))


def day(number: int) -> str:
    return (TODAY + timedelta(number)).isoformat()


def test_what_comes_is_listed_and_only_written_when_it_is_touched(a: Home) -> None:
    made = add(a, "FREQ=WEEKLY;BYDAY=FR", priority="P1", steps=["Cactus", "Fern"])
    assert made.next == [day(0), day(7), day(14)]
    assert days(a) == [day(0), day(7)]
    assert a.read(lambda snapshot: snapshot.counts().entities) == 1
    (first, _second) = listed(a)
    shown = a.read(lambda snapshot: tasks.show(snapshot, first.id))
    assert (shown.title, shown.due, shown.priority, shown.status) == (made.title, day(0), "P1", "OPEN")
    assert a.read(lambda snapshot: snapshot.counts().entities) == 1, "looking touches nothing"
    a.write(lambda tx: entries.add(tx, first.id, NewEntry("the fern is dry")))
    shown = a.read(lambda snapshot: tasks.show(snapshot, first.id))
    assert [item.title for checklist in shown.checklists for item in checklist.items] == ["Cactus", "Fern"]
    done(a, first.id)
    assert days(a) == [day(7)], "done, and the next one is there"
    done(a, "water the")
    assert days(a) == [day(14)], "a title means the earliest open one"


def test_two_devices_apart_for_weeks_have_one_task_a_day(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.fleet.sync()
    a.fleet.now_ms += 21 * DAY_MS
    assert days(a) == days(b) == [day(number) for number in range(23)]
    for home, numbers in ((a, (0, 1, 2, 5)), (b, (1, 2, 3, 21))):
        for number in numbers:
            done(home, occurrence_text(made, day(number)))
    a.fleet.sync()
    left = [day(number) for number in range(23) if number not in (0, 1, 2, 3, 5, 21)]
    assert days(a) == days(b) == left
    assert len(days(a, everything=True)) == 23
    for home in (a, b):
        task = home.entity(id_from_text(occurrence_text(made, day(1))))
        assert task.conflicts() == {}, "done twice is done once"


def occurrence_text(made: Series, token: str) -> str:
    return id_to_text(occurrence_id(id_from_text(made.id), token))


def test_a_series_is_edited_here_while_a_task_is_done_there(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.fleet.sync()
    a.write(lambda tx: series.edit(tx, made.id, SeriesEdit(title="Feed the cat"), TODAY))
    done(b, occurrence_text(made, day(0)))
    a.write(lambda tx: tasks.edit(tx, occurrence_text(made, day(0)), TaskEdit(due=day(3))))
    a.fleet.sync()
    for home in (a, b):
        assert [line.title for line in listed(home)] == ["Feed the cat"]
        task = home.entity(id_from_text(occurrence_text(made, day(0))))
        assert task.conflicts() == {}, "what followed from the series competes with nobody's word"
        assert (task.value("status"), task.value("due")) == ("DONE", day(3))


def test_a_tick_stays_on_its_step_whatever_the_steps_become(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY", steps=["Cactus", "Fern", "Cactus"])
    a.fleet.sync()
    task = occurrence_text(made, day(0))
    a.write(lambda tx: entries.add(tx, task, NewEntry("the cactus is dry")))
    items = a.read(lambda snapshot: tasks.show(snapshot, task)).checklists[0].items
    a.write(lambda tx: checklist_items.edit_item(tx, items[0].id, ItemEdit(is_checked=True)))
    b.write(lambda tx: series.edit(tx, made.id, SeriesEdit(steps=["Buy soil", "Cactus", "Fern"]), TODAY))
    b.write(lambda tx: entries.add(tx, task, NewEntry("no soil left")))
    a.fleet.sync()
    for home in (a, b):
        shown = home.read(lambda snapshot: tasks.show(snapshot, task))
        assert sorted((item.title, item.is_checked) for item in shown.checklists[0].items) == [
            ("Buy soil", False),
            ("Cactus", False),
            ("Cactus", True),
            ("Fern", False),
        ]


def test_a_series_that_was_split_on_both_devices_is_one(a: Home, b: Home) -> None:
    made = add(a, "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR")
    a.fleet.sync()
    done(b, occurrence_text(made, day(14)))
    split = SeriesSplit(on=day(10), priority="P0")
    ids = {home.write(lambda tx: series.split(tx, made.id, split, TODAY)).id for home in (a, b)}
    assert len(ids) == 1
    a.fleet.sync()
    a.fleet.now_ms += 30 * DAY_MS
    for home in (a, b):
        assert days(home) == [day(0), day(28), day(42)], "in step, and what was done stays done"
        assert [line.priority for line in listed(home)] == ["P2", "P0", "P0"]
        assert home.read(lambda snapshot: list(snapshot.disputed_kinds())) == []


def test_a_rule_with_a_gap_begins_with_the_next_of_its_days(a: Home) -> None:
    assert add(a, "FREQ=WEEKLY;INTERVAL=2;BYDAY=TH").next == [day(6), day(20), day(34)]
    with pytest.raises(Refused, match="is no rule of days"):
        add(a, "FREQ=SECONDLY")


def test_split_at_two_days_gives_no_day_twice(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.fleet.sync()
    a.write(lambda tx: series.split(tx, made.id, SeriesSplit(on=day(3), title="early"), TODAY))
    b.write(lambda tx: series.split(tx, made.id, SeriesSplit(on=day(5), title="late"), TODAY))
    a.fleet.sync()
    a.fleet.now_ms += 8 * DAY_MS
    for home in (a, b):
        assert days(home) == [day(number) for number in range(10)]


def test_ended_on_both_and_removed_here_while_done_there(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.fleet.sync()
    for home in (a, b):
        home.write(lambda tx: series.end(tx, made.id, SeriesEnd(on=day(2)), TODAY))
    a.fleet.sync()
    a.fleet.now_ms += 5 * DAY_MS
    assert days(a) == days(b) == [day(0), day(1), day(2)]
    done(b, occurrence_text(made, day(1)))
    a.write(lambda tx: series.remove(tx, made.id))
    a.fleet.sync()
    assert (days(a), days(a, everything=True)) == ([], [day(1)]), "what was done stays"
    a.write(lambda tx: series.restore(tx, made.id))
    assert days(a) == [day(0), day(2)]


def test_skip_and_move_one(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.fleet.sync()
    assert a.write(lambda tx: series.skip(tx, made.id, SeriesDay(), TODAY)).skipped == [day(0)]
    b.write(lambda tx: series.skip(tx, made.id, SeriesDay(day(1)), TODAY))
    b.write(lambda tx: series.move(tx, made.id, SeriesMove(day(5), day(2)), TODAY))
    a.fleet.sync()
    for home in (a, b):
        assert days(home) == [day(3), day(5)]
        assert home.read(lambda snapshot: series.show(snapshot, made.id, TODAY)).next[0] == day(3)
    a.write(lambda tx: series.skip(tx, made.id, SeriesDay(day(2)), TODAY))
    assert days(a) == [day(3)], "what was touched is removed, and can be restored"
    a.write(lambda tx: tasks.restore(tx, occurrence_text(made, day(2))))
    assert days(a) == [day(3), day(5)]
    add(a, "FREQ=WEEKLY;BYDAY=FR", "Other")
    with pytest.raises(Refused, match="is no day of this series"):
        a.write(lambda tx: series.skip(tx, "Other", SeriesDay(day(1)), TODAY))


def test_a_task_that_moves_takes_its_hour_along(a: Home) -> None:
    made = add(a, "FREQ=DAILY")
    task = occurrence_text(made, day(1))
    hour = f"{day(1)}T09:00[Europe/Berlin]"
    a.write(lambda tx: tasks.edit(tx, task, tasks.TaskEdit(due_time=hour)))
    a.write(lambda tx: series.move(tx, made.id, SeriesMove(day(5), day(1)), TODAY))
    shown = a.read(lambda snapshot: tasks.show(snapshot, task))
    assert (shown.due, shown.due_time) == (day(5), f"{day(5)}T09:00[Europe/Berlin]")


def test_the_hour_of_a_series_is_that_of_each_of_its_tasks_in_their_order(a: Home, b: Home) -> None:
    typed = HumanInput(a.now_ms, ZoneInfo("Europe/Berlin"), "en")
    captured = a.read(lambda snapshot: typed.captured_line(snapshot, "Standup every day at 9:30"))
    new = series_of_line(captured)
    assert new is not None
    made = a.write(lambda tx: series.add(tx, read_typed(typed, new), TODAY, "Europe/Berlin"))
    add(a, "FREQ=DAILY", "Water")
    a.fleet.sync()
    for home in (a, b):
        of_today = [(line.title, line.due_time) for line in listed(home) if line.due == day(0)]
        assert of_today == [("Water", None), ("Standup", f"{day(0)}T09:30[Europe/Berlin]")]
    b.write(lambda tx: tasks.edit(tx, occurrence_text(made, day(0)), tasks.TaskEdit(priority="P0")))
    a.write(lambda tx: series.edit(tx, made.id, SeriesEdit(due_time="10:00[Europe/Berlin]"), TODAY))
    a.fleet.sync()
    for home in (a, b):
        lines = [line for line in listed(home) if line.title == "Standup"]
        clocks = [None if line.due_time is None else line.due_time[11:16] for line in lines]
        assert clocks == ["09:30", "10:00"], "what was touched keeps its hour"


def test_what_was_missed_is_skipped_at_once(a: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.fleet.now_ms += 21 * DAY_MS
    done(a, occurrence_text(made, day(4)))
    a.write(lambda tx: series.skip(tx, made.id, SeriesDay(through=day(20)), today_of(a)))
    assert days(a) == [day(21), day(22)]
    assert day(4) in days(a, everything=True), "what was done stays"
    assert undo(a).left == []
    assert len(days(a)) == 22


def test_after_it_was_done_the_next_one_counts_from_that_day(a: Home, b: Home) -> None:
    made = add(a, "AFTER=10", "Cut the hair")
    a.fleet.sync()
    assert days(a) == days(b) == [day(0)]
    a.fleet.now_ms += 3 * DAY_MS
    done(a, "Cut")
    a.fleet.now_ms += DAY_MS
    done(b, "Cut")
    a.fleet.sync()
    assert days(a) == days(b) == [day(14)], "done on two devices is done once, and the later word counts"
    a.write(lambda tx: series.skip(tx, made.id, SeriesDay(), today_of(a)))
    assert days(a) == [day(14)], "skipped on day 4: the next one is ten days later"
    a.write(lambda tx: tasks.edit(tx, listed(a)[0].id, TaskEdit(status="IN PROGRESS")))
    assert days(a) == [day(14)], "none is behind one that is open"


def test_a_clock_a_year_ahead_puts_nothing_off(fleet: Fleet) -> None:
    here, ahead = fleet.home("here"), fleet.home("ahead", skew_ms=365 * DAY_MS)
    add(here, "AFTER=7")
    fleet.sync()
    done(ahead, "Water")
    fleet.sync()
    assert days(here) == [day(7)]


def test_day_view_counts_what_comes(a: Home) -> None:
    add(a, "FREQ=WEEKLY;BYDAY=FR,SA")
    a.fleet.now_ms += 7 * DAY_MS
    shown = a.read(lambda snapshot: read_day(snapshot, today_of(a), limit=1, waiting={}, today=today_of(a)))
    assert {group.name: (group.count, len(group.tasks)) for group in shown.groups if group.count} == {
        "overdue": (2, 1),
        "today": (1, 1),
        "tomorrow": (1, 1),
    }


@pytest.mark.parametrize("order", list(ListOrder))
def test_pages_of_a_list_have_each_task_once(a: Home, order: ListOrder) -> None:
    for number in range(7):
        a.new("task", title=f"plain {number}", due=day(number * 2), priority=f"P{number % 4}")
    add(a, "FREQ=DAILY", priority="P1")
    a.fleet.now_ms += 6 * DAY_MS
    whole = [line.id for line in listed(a, order=order)]
    pages, after = list[str](), None

    def page_behind(task: str | None) -> list[TaskLine]:
        return a.read(
            lambda snapshot: task_lines_page(
                snapshot, closed=False, removed=False, order=order, after=task, limit=3, today=today_of(a)
            )
        )

    while page := page_behind(after):
        pages += [line.id for line in page]
        after = page[-1].id
    assert pages == whole
    assert len(set(whole)) == len(whole) == 15


def test_what_a_peer_wrote_as_a_rule_shows_nothing_and_breaks_nothing(a: Home) -> None:
    rules: tuple[Any, ...] = (
        "FREQ=SECONDLY",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "",
        7,
        b"x",
        ["FREQ=DAILY"],
        "x" * 9999,
    )
    for rule in rules:
        a.new("series", title="hostile", rule=rule, first=day(0))
    for first in (None, "2026-02-30", 3, "9999-12-31"):
        a.new(
            "series", title="hostile", rule="FREQ=DAILY", first=first, steps=[1, {}], zone="../../etc/passwd"
        )
    a.new("series", title=["no"], rule="FREQ=DAILY", first=day(0), root_id=b"short", until=4, label_ids=True)
    assert len(listed(a)) == 3
    shown = a.read(lambda snapshot: series.list_series(snapshot, TODAY))
    assert sum(shown_series.is_understood for shown_series in shown) == 2


def test_a_removed_day_stays_away_and_names_are_told_apart(a: Home) -> None:
    made = add(a, "FREQ=DAILY", "Stretch")
    add(a, "FREQ=DAILY", "Stretch the truth")
    a.write(lambda tx: tasks.remove(tx, occurrence_text(made, day(0))))
    assert day(0) not in [line.due for line in listed(a) if line.title == "Stretch"]
    with pytest.raises(Refused) as refused:
        a.write(lambda tx: tasks.finish(tx, "stretc", Shift()))
    assert refused.value.code is RefusalCode.AMBIGUOUS


def _act(home: Home, made: Series, when: str, dice: random.Random) -> str | None:
    """Do anything to a series; return the id of the task that was done, if one was."""
    match dice.randrange(6):
        case 3:
            home.write(lambda tx: series.skip(tx, made.id, SeriesDay(when), TODAY))
        case 4:
            home.write(lambda tx: series.split(tx, made.id, SeriesSplit(on=when), TODAY))
        case 5:
            home.write(lambda tx: series.edit(tx, made.id, SeriesEdit(title=f"t{when}"), TODAY))
        case _:
            lines = [line for line in listed(home) if line.status == "OPEN"]
            if lines:
                line = dice.choice(lines)
                done(home, line.id)
                return line.id
    return None


def run_history(fleet: Fleet, dice: random.Random, steps: int) -> None:
    """Let three devices do anything to two series while apart, then compare what they show."""
    homes = [
        fleet.home(f"{dice.random()}", skew_ms=dice.choice((0, 0, -365, 365)) * DAY_MS) for _ in range(3)
    ]
    rules = [dice.choice(RULES) for _ in range(2)]
    made = [add(homes[0], rule, title=f"s{number}", first=day(0)) for number, rule in enumerate(rules)]
    fleet.sync()
    done_tasks: set[str | None] = set()
    for _ in range(steps):
        match dice.randrange(5):
            case 0:
                fleet.pull(*dice.sample(homes, 2))
            case 1:
                fleet.now_ms += dice.choice((1, 1, 1, 30)) * DAY_MS
            case _:
                with suppress(Refused):
                    done_tasks.add(_act(dice.choice(homes), dice.choice(made), day(dice.randrange(20)), dice))
    fleet.sync()
    require_one_task_a_day(homes, done_tasks)


def require_one_task_a_day(homes: list[Home], done_tasks: set[str | None]) -> None:
    for home in homes:
        home.skew_ms = 0
    views = [listed(home, everything=True) for home in homes]
    assert views[0] == views[1] == views[2], "the same commits show the same tasks"
    shown = {line.id: line for line in views[0]}
    assert len(shown) == len(views[0])
    for task in done_tasks - {None}:
        entity = homes[0].entity(id_from_text(str(task)))
        assert entity.value("status") == "DONE", "what was done is done, once"
        assert str(task) in shown or entity.value(DELETED) is True
    dates = Counter((line.due, line.series_id) for line in views[0] if line.status == "OPEN")
    assert all(count == 1 for count in dates.values()), "one task per day of a series"


@pytest.mark.parametrize("seed", range(8))
def test_any_history_shows_one_task_a_day(fleet: Fleet, seed: int) -> None:
    run_history(fleet, random.Random(seed), 40)


def test_a_search_finds_the_first_task_of_a_series_that_nobody_has_touched(a: Home) -> None:
    made = add(a, "FREQ=DAILY")
    a.fleet.now_ms += 2 * DAY_MS

    def found_tasks() -> list[str]:
        return [
            task.id
            for task in a.read(
                lambda s: search.search_tasks(s, "plants", removed=False, after=0, limit=9)
            ).tasks
        ]

    def found_rows() -> list[str]:
        states = a.read(lambda s: search.found_states(s, "plants", TaskOrder.DUE, wanted=None, count=9))
        return [id_to_text(task) for task, _state in states]

    assert found_tasks() == found_rows() == [occurrence_text(made, day(0))]
    done(a, occurrence_text(made, day(0)))
    assert (
        set(found_tasks()) == set(found_rows()) == {occurrence_text(made, day(number)) for number in (0, 1)}
    )
    a.write(lambda tx: series.remove(tx, made.id))
    assert found_tasks() == [occurrence_text(made, day(0))]


def test_json_lines_carry_series_and_what_was_touched(a: Home, b: Home) -> None:
    made = add(a, "FREQ=DAILY", steps=["Cactus"])
    done(a, occurrence_text(made, day(0)))
    a.write(lambda tx: series.skip(tx, made.id, SeriesDay(day(2)), TODAY))
    a.fleet.now_ms += 3 * DAY_MS
    imported(b, exported(a))
    assert days(b) == days(a) == [day(1), day(3), day(4)]
    assert days(b, everything=True) == days(a, everything=True)
    assert exported(b) == exported(a)


def test_a_long_text_of_a_peer_is_there_once_and_not_for_each_day(a: Home) -> None:
    labels: dict[str, Any] = {f"label_ids/{number:032}": True for number in range(500)}
    fields: dict[str, Any] = {
        "title": "x" * 60_000,
        "language": "y" * 60_000,
        "category_id": b"z" * 60_000,
    }
    a.new("series", rule="FREQ=DAILY", first=day(-365), **fields, **labels)
    (line, *_others) = lines = listed(a)
    assert (len(lines), len(line.title), line.category) == (367, 400, None)
    stored = a.read(lambda snapshot: shown_occurrences(snapshot, TODAY))[0]
    assert len(stored.state()) < 8_000


UNDONE = {
    "add": lambda tx, _made: series.add(tx, NewSeries(title="Other", every="FREQ=DAILY"), TODAY, "UTC"),
    "done": lambda tx, made: tasks.finish(tx, occurrence_text(made, day(0)), Shift()),
    "edit": lambda tx, made: series.edit(tx, made.id, SeriesEdit(every="FREQ=WEEKLY;BYDAY=MO"), TODAY),
    "skip": lambda tx, made: series.skip(tx, made.id, SeriesDay(), TODAY),
    "move": lambda tx, made: series.move(tx, made.id, SeriesMove(day(9)), TODAY),
    "end": lambda tx, made: series.end(tx, made.id, SeriesEnd(day(0)), TODAY),
    "split": lambda tx, made: series.split(tx, made.id, SeriesSplit(on=day(1), title="Later"), TODAY),
    "remove": lambda tx, made: series.remove(tx, made.id),
    "removed task": lambda tx, made: tasks.remove(tx, occurrence_text(made, day(0))),
}


@pytest.mark.parametrize("act", UNDONE.values(), ids=UNDONE)
def test_an_undo_shows_the_days_that_were_before(a: Home, act: Callable[[Transaction, Series], Any]) -> None:
    made = add(a, "FREQ=DAILY")

    def view() -> list[tuple[str | None, str, str]]:
        return sorted((line.due, line.title, line.status) for line in listed(a, everything=True))

    before = view()
    a.write(lambda tx: act(tx, made))
    after = view()
    assert after != before
    undone = undo(a)
    # What was touched is written by now: of it, the next one is shown too.
    assert set(view()) >= set(before)
    assert undone.left == []
    assert undone.undo is not None
    undo(a, undone.undo)
    assert view() == after
