"""The JSON of the control API as the command line reads it; only type checkers import it.

Generated from the daemon's structures by `make shapes`, and never edited by hand. Keys may be missing from an
older daemon and added by a newer one, so views read with `get`.
"""

from __future__ import annotations

from typing import TypedDict

from daemon.shapes.answers import (
    TimeRecordJson,
)


class ReadDayJson(TypedDict, total=False):
    day: str
    weekday: str
    days_ahead: int


class DayReadingJson(TypedDict, total=False):
    words: str
    readings: list[ReadDayJson]


class TimeReadingJson(TypedDict, total=False):
    words: str
    clock: str | None
    readings: list[str]


class SeriesReadingJson(TypedDict, total=False):
    words: str
    rule: str
    days: list[str]


class DatesReadJson(TypedDict, total=False):
    moment: str
    weekday: str
    zone: str
    days: list[DayReadingJson]
    times: list[TimeReadingJson]
    lengths: list[int]
    series: list[SeriesReadingJson]
    unread: bool


class StartedJson(TypedDict, total=False):
    id: str
    task_id: str | None
    task_title: str
    started_at: str
    ended_at: str | None
    minutes: int | None
    note: str | None
    is_running: bool
    is_here: bool
    device: str
    device_name: str
    vector_clock: dict[str, int]
    removed: bool
    stopped: list[TimeRecordJson]
    already: bool


class TimeTotalJson(TypedDict, total=False):
    name: str
    task_id: str | None
    minutes: int
    records: int


class TimeTotalsJson(TypedDict, total=False):
    from_day: str
    to_day: str
    zone: str
    by: str
    minutes: int
    records: int
    totals: list[TimeTotalJson]
