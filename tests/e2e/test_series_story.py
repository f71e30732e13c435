"""Two machines apart for weeks, with a task that comes again: taskwarrior#1290's story, without a double.

Never moves a clock: the series began three weeks ago, and neither machine has touched it since.
"""

import re
import shlex
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.devices import Device, MakeDevice
from tests.support.source_tree import text_of

pytestmark = pytest.mark.e2e


def due_days(device: Device, *options: str) -> list[str]:
    return due_days_of(device, "Water the plants", *options)


def due_days_of(device: Device, title: str, *options: str) -> list[str]:
    return sorted(task["due"] for task in device.do("list", *options) if task["title"] == title)


def test_what_comes_again_has_no_double_after_weeks_apart(device: MakeDevice) -> None:
    laptop, desktop = device("laptop"), device("desktop")
    token = laptop.do("pair", "--invite")["token"]
    desktop.do("join", typed=token)
    began = date.fromisoformat(laptop.do("today")["day"]) - timedelta(21)
    laptop.do("add", "Water the plants", "--every", "day", "--due", began.isoformat(), "--step", "Fern")
    for either in (laptop, desktop):
        either.do("sync", "--wait", "60")
    days = due_days(laptop)
    assert days == due_days(desktop)
    assert len(days) == 23, "each day up to today, and the next one"

    # Apart, both do the same three days, and each some of its own; one series is changed meanwhile.
    desktop.stop()
    for number in (0, 1, 2, 5):
        laptop.do("done", task_on(laptop, days[number]))
    laptop.do("series", "edit", "plants", "--priority", "P1")
    laptop.do("series", "skip", "plants", "--day", days[7])
    laptop.stop()
    desktop.start()
    for number in (0, 1, 2, 9):
        desktop.do("done", task_on(desktop, days[number]))
    desktop.do("note", task_on(desktop, days[10]), "the fern is dry")
    laptop.start()
    for either in (laptop, desktop):
        either.do("sync", "--wait", "60")

    gone = {days[number] for number in (0, 1, 2, 5, 7, 9)}
    for either in (laptop, desktop):
        assert due_days(either) == [day for day in days if day not in gone], "none lost, none doubled"
        everything = Counter(due_days(either, "--all"))
        assert everything == Counter(day for day in days if day != days[7])
        assert either.do("conflicts") == []
        assert either.run("verify").status == 0
        shown = either.do("show", task_on(either, days[10]))
        assert [item["title"] for part in shown["checklists"] for item in part["items"]] == ["Fern"]
    assert laptop.do("status")["state_hash"] == desktop.do("status")["state_hash"]


def task_on(device: Device, day: str) -> str:
    (task,) = [task["id"] for task in device.do("list") if task["due"] == day]
    return str(task)


def test_the_page_of_the_guide_does_what_it_says(device: MakeDevice) -> None:
    section = (
        text_of(Path("docs/guide/tasks.md")).partition("## Tasks that come again")[2].partition("\n## ")[0]
    )
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    laptop = device("laptop")
    for line in "".join(blocks).splitlines():
        program, *words = shlex.split(line)
        assert program == "placet"
        result = laptop.run(*words)
        assert result.status == 0, f"{line}: {result.out} {result.err}"
    by_title: dict[str, list[dict[str, Any]]] = {}
    for shown_series in laptop.do("series", "list"):
        by_title.setdefault(shown_series["title"], []).append(shown_series)
    whole, split_off = by_title["Water the plants"]
    assert len(whole["skipped"]) == 1
    assert (split_off["follows"], split_off["rule"]) == (whole["id"], "FREQ=WEEKLY;INTERVAL=3;BYDAY=FR")
    assert split_off["steps"] == ["Cactus", "Fern"]
    (hair,) = by_title["Cut the hair"]
    assert hair["until"] is None, "the last command takes the end back"

    # What is removed comes back with all that it showed.
    shown = due_days_of(laptop, "Pay the rent")
    laptop.do("series", "remove", "rent")
    assert due_days_of(laptop, "Pay the rent") != shown
    laptop.do("series", "restore", by_title["Pay the rent"][0]["id"])
    assert due_days_of(laptop, "Pay the rent") == shown
    assert laptop.do("conflicts") == []
