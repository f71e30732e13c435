"""What `placet times` asks, and how it shows totals: for people, for scripts and for spreadsheets.

Never adds anything up: answers are scripted.
"""

import csv
import io
from typing import Any

from tests.daemon.cli.examples import TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

TOTALS = "GET /v1/time-totals"
ANSWER: dict[str, Any] = {
    "from_day": "2026-11-23",
    "to_day": "2026-11-29",
    "zone": "Europe/Berlin",
    "by": "task",
    "minutes": 150,
    "records": 4,
    "totals": [
        {"name": '=HYPERLINK("http://evil")', "task_id": TASK, "minutes": 90, "records": 3},
        {"name": 'Call "Ana",\x1b[2J', "task_id": None, "minutes": 60, "records": 1},
        {"name": "", "task_id": None, "minutes": 5, "records": 1},
    ],
}


def test_totals_are_shown_beneath_their_days(placet: Placet, control: FakeControl):
    control.answers(TOTALS, ANSWER)
    came = placet("times", "--week", "--by", "task", COLUMNS="70")
    first, *rest = came.out.splitlines()
    assert first == "2026-11-23 to 2026-11-29: 2 h 30 min"
    assert [line.split()[0] for line in rest] == ["TIME", "1", "1", "5"]
    assert "\x1b[2J" not in came.out


def test_a_file_for_spreadsheets_runs_nothing_and_ends_with_the_whole(placet: Placet, control: FakeControl):
    control.answers(TOTALS, ANSWER)
    came = placet("times", "--from", "2026-11-23", "--to", "2026-11-29", "--csv")
    rows = list(csv.reader(io.StringIO(came.out)))
    assert rows[0] == ["task", "minutes", "records", "from", "to"]
    assert rows[1][:2] == ['\'=HYPERLINK("http://evil")', "90"]
    assert "\x1b" not in came.out
    assert rows[-1] == ["", "150", "4", "2026-11-23", "2026-11-29"]


def test_a_week_and_days_at_once_are_refused(placet: Placet, control: FakeControl):
    del control
    came = placet("times", "--week", "--from", "monday")
    assert (came.status, "--week, or --from and --to" in came.err) == (2, True)


def test_days_without_time_say_how_to_begin(placet: Placet, control: FakeControl):
    control.answers(TOTALS, {**ANSWER, "totals": [], "minutes": 0, "records": 0})
    assert "placet timer start" in placet("times").err
