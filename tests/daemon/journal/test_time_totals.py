"""Totals of time: whose days they are, what counts once, and what a week is in each language.

Never waits for time to pass: records are written with the times that they have.
"""

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from daemon.journal import tasks
from daemon.journal.human_input import HumanInput
from daemon.journal.tasks import NewTask
from daemon.journal.time_totals import TimeTotals, TotalsQuery, sum_time
from daemon.journal.views.structures import Task
from daemon.refusal import Refused
from daemon.timestamps import iso_utc
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import id_from_text
from tests.support.fleet import Home

BERLIN = ZoneInfo("Europe/Berlin")


def make(home: Home, title: str, *labels: str) -> Task:
    return home.write(lambda tx: tasks.add(tx, NewTask(title=title, labels=list(labels))))


def spend(home: Home, task: Task, started_at: str, ended_at: str | None) -> None:
    fields: dict[str, Value] = {"task_id": id_from_text(task.id), "started_at": started_at}
    if ended_at is not None:
        fields["ended_at"] = ended_at
    home.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "time_record", fields)]))


def typed(home: Home, language: str = "de") -> HumanInput:
    return HumanInput(home.now_ms, BERLIN, language)


def totals(home: Home, begin: str, end: str, by: str = "task") -> TimeTotals:
    query = TotalsQuery(begin, end, by)  # type: ignore[arg-type]
    return home.read(lambda snapshot: sum_time(snapshot, query, typed(home)))


def minutes(answer: TimeTotals) -> dict[str, int]:
    return {total.name: total.minutes for total in answer.totals}


def test_days_are_those_of_the_zone_also_when_its_clocks_are_changed(a: Home) -> None:
    task = make(a, "Report")
    spend(a, task, "2025-03-28T12:00:00Z", "2025-04-01T12:00:00Z")
    assert minutes(totals(a, "2025-03-29", "2025-03-29")) == {"Report": 24 * 60}
    assert minutes(totals(a, "2025-03-30", "2025-03-30")) == {"Report": 23 * 60}
    spend(a, task, "2024-10-26T00:00:00Z", "2024-10-28T00:00:00Z")
    assert minutes(totals(a, "2024-10-27", "2024-10-27")) == {"Report": 25 * 60}


def test_what_overlaps_counts_once_and_a_task_with_two_labels_for_both(a: Home) -> None:
    report, call = make(a, "Report", "work", "home"), make(a, "Call", "work")
    spend(a, report, "2025-03-03T08:00:00Z", "2025-03-03T09:00:00Z")
    spend(a, report, "2025-03-03T08:30:00Z", "2025-03-03T09:30:00Z")
    spend(a, call, "2025-03-03T09:00:00Z", "2025-03-03T10:00:00Z")
    by_task = totals(a, "2025-03-03", "2025-03-03")
    assert [(total.name, total.minutes, total.records) for total in by_task.totals] == [
        ("Report", 90, 2),
        ("Call", 60, 1),
    ]
    assert (by_task.minutes, by_task.records) == (120, 3)
    by_label = totals(a, "2025-03-03", "2025-03-03", "label")
    assert (minutes(by_label), by_label.minutes) == ({"work": 120, "home": 90}, 120)
    assert minutes(totals(a, "2025-03-03", "2025-03-03", "category")) == {"": 120}
    assert minutes(totals(a, "2025-03-04", "2025-03-04")) == {}


def test_a_running_timer_counts_as_far_as_now_and_a_removed_task_too(a: Home) -> None:
    task = make(a, "Report")
    began = a.now_ms() - 30 * 60_000
    spend(a, task, iso_utc(began), None)
    a.write(lambda tx: tasks.remove(tx, task.id))
    today = typed(a).today().isoformat()
    assert minutes(totals(a, today, today))["Report"] in (30, 31)


@pytest.mark.parametrize(
    ("language", "begins"),
    [
        ("en", "2026-11-22"),
        ("de", "2026-11-23"),
        ("es", "2026-11-23"),
        ("fr", "2026-11-23"),
        ("ro", "2026-11-23"),
    ],
)
def test_a_week_begins_as_in_the_language(language: str, begins: str) -> None:
    words = HumanInput(lambda: 0, BERLIN, language)
    for day in range(23, 29):
        assert words.week_of(date(2026, 11, day)) == date.fromisoformat(begins)
    assert words.week_of(date(2026, 11, 29)) == (
        date(2026, 11, 29) if language == "en" else date(2026, 11, 23)
    )


def test_without_days_it_is_the_week_of_today(a: Home) -> None:
    answer = totals(a, "", "")
    first = typed(a).week_of(typed(a).today())
    assert (answer.from_day, answer.zone) == (first.isoformat(), "Europe/Berlin")
    assert (date.fromisoformat(answer.to_day) - first).days == 6


@pytest.mark.parametrize(
    ("begin", "end", "words"),
    [
        ("", "2025-03-03", "no first one"),
        ("2025-03-03", "2025-03-02", "not between"),
        ("1925-03-03", "2025-03-03", "not between"),
    ],
)
def test_days_that_make_no_span_are_refused_by_name(a: Home, begin: str, end: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        totals(a, begin, end)
