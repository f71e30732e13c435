"""What `placet today` asks, and how it shows a day.

Never groups tasks: answers are scripted.
"""

from typing import Any

import pytest

from tests.daemon.cli.examples import OTHER, TASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

TODAY = "GET /v1/today"


def line(name: str, title: str, **values: Any) -> dict[str, Any]:
    progress = {"completed": 1, "total": 3}
    plain: dict[str, Any] = {"labels": [], "category": None, "estimate_minutes": None, "waiting": 0}
    fields = {"status": "OPEN", "priority": "P2", "due": None, "checklist_progress": progress}
    return {"id": name, "title": title, **plain, **fields, **values}


def group(name: str, day: str | None, count: int = 0, *tasks: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "day": day, "count": count, "tasks": list(tasks)}


DAY: dict[str, Any] = {
    "day": "2026-03-04",
    "today": "2026-03-04",
    "groups": [
        group("overdue", None, 12, line(TASK, "Renew the passport", due="2026-03-01", labels=["family"])),
        group("today", "2026-03-04"),
        group("tomorrow", "2026-03-05", 1, line(OTHER, "Call\x1b[2J", due="2026-03-05", waiting=2)),
        group("day", "2026-03-06"),
        group("in_progress", None, 1, line("a" * 32, "Write", status="IN PROGRESS", priority="P1")),
    ],
    "begin_later": 3,
}


def test_a_day_is_its_groups_with_their_counts_and_their_first_tasks(placet: Placet, control: FakeControl):
    control.answers(TODAY, DAY)
    came = placet("today", COLUMNS="78")
    assert came.out == (
        "Overdue · 12\n"
        "3f2a  P2  open         1 Mar     Renew the passport  #family  1/3\n"
        "and 11 more\n"
        "\n"
        "Tomorrow · 1\n"
        "77ab  P2  open         tomorrow  Call\\x1b[2J                  1/3  2 wait\n"
        "\n"
        "In progress without a day · 1\n"
        "aaaa  P1  in progress            Write                        1/3\n"
    )
    assert came.err == "3 begin later: --later\n"
    assert control.requests[-1].line == f"{TODAY}?limit=20"


def test_another_day_has_its_dates_in_its_heads(placet: Placet, control: FakeControl):
    groups = [
        group("today", "2026-03-09", 1, line(TASK, "x")),
        group("day", "2026-03-11", 1, line(OTHER, "y")),
    ]
    control.answers(TODAY, {"day": "2026-03-09", "groups": groups, "begin_later": 0})
    came = placet("today", "--day", "next monday", "--limit", "5")
    assert [row for row in came.out.split("\n") if " · " in row] == [
        "Mon 9 Mar 2026 · 1",
        "Wed 11 Mar 2026 · 1",
    ]
    assert (came.err, control.requests[-1].line) == ("", f"{TODAY}?day=next%20monday&limit=5")


def test_what_is_today_is_what_the_daemon_says_in_whatever_zone_the_terminal_is(
    placet: Placet, control: FakeControl
):
    groups = [
        group("today", "2026-03-09", 1, line(TASK, "x", due="2026-03-09")),
        group("tomorrow", "2026-03-10", 1, line(OTHER, "y", due="2026-03-10")),
    ]
    control.answers(TODAY, {"day": "2026-03-09", "today": "2026-03-09", "groups": groups, "begin_later": 0})
    rows = placet("today").out.split("\n")
    assert [rows[0], rows[3]] == ["Today · 1", "Tomorrow · 1"]
    assert ["today" in rows[1], "tomorrow" in rows[4]] == [True, True]


def test_an_empty_day_says_so_in_a_line(placet: Placet, control: FakeControl):
    control.answers(TODAY, {"day": "2026-03-04", "groups": [group("today", "2026-03-04")], "begin_later": 0})
    came = placet("today")
    assert (came.out, came.err) == (
        "",
        "Nothing is due by then. Add a task: placet add TITLE --due DATE\n",
    )


def test_the_plain_day_has_stable_columns(placet: Placet, control: FakeControl):
    control.answers(TODAY, DAY)
    assert placet("today", "--plain").out.split("\n")[:2] == [
        f"overdue\t\t{TASK}\tOPEN\tP2\t2026-03-01\tRenew the passport\tfamily\t1/3\t0",
        f"tomorrow\t2026-03-05\t{OTHER}\tOPEN\tP2\t2026-03-05\tCall\\x1b[2J\t\t1/3\t2",
    ]


@pytest.mark.parametrize("limit", ["0", "501", "many"])
def test_a_limit_that_is_none_is_refused_before_anything_is_asked(
    placet: Placet, control: FakeControl, limit: str
):
    assert placet("today", "--limit", limit).status == 2
    assert not control.requests
