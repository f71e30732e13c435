"""A week of real use: thousands of tasks brought along, searched, changed, exported, saved and brought back.

Never looks into a store: what a device holds, the installed command says. `make week` brings ten thousand
tasks.
"""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.week_files import Files, written_files
from tests.support.devices import ClockShiftedDevice, Device, have_equal_state, pair
from tests.support.patience import LIMIT_S, wait_until

# The first test waits for all tasks on two devices.
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

SEED = int(os.environ.get("SEED", "20261121"))
TASKS = int(os.environ.get("WEEK_TASKS", "2500"))
DAY_MS = 86_400_000
LONG = "The quick brown fox is late again. " * 40


@dataclass
class Week:
    """Two devices, and the files that came in on the first."""

    files: Files
    laptop: ClockShiftedDevice
    phone: Device
    imported: dict[str, Any] = field(default_factory=dict)
    at_first: dict[str, set[str]] = field(default_factory=dict)
    made: list[Device] = field(default_factory=list)

    def device(self, name: str, folder: Path) -> Device:
        """Return one more device; its daemon ends with the week."""
        device = Device(name, folder / name)
        self.made.append(device)
        return device


def bring_along(week: Week) -> None:
    """Import everything on the laptop, three days ago; then let the phone in."""
    week.laptop.set_clock(-3 * DAY_MS)
    week.laptop.start()
    for format_, path in week.files.by_format.items():
        week.imported[format_] = week.laptop.do("import", format_, str(path))
    note = week.laptop.do("note", "Renew the library card", f"{LONG} first")["id"]
    week.laptop.do("entry", "edit", note, f"{LONG} second")
    week.laptop.set_clock(0)
    week.phone.start()
    pair(week.laptop, week.phone)
    for which in ("--all", "--removed"):
        week.at_first[which] = titles(week.phone.do("list", which))


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Week]:
    print(f"seed {SEED}")
    folder = tmp_path_factory.mktemp("week")
    laptop, phone = ClockShiftedDevice("laptop", folder / "laptop"), Device("phone", folder / "phone")
    week = Week(written_files(folder, SEED, TASKS), laptop, phone)
    week.made += [laptop, phone]
    try:
        bring_along(week)
        yield week
    finally:
        for device in week.made:
            if device.daemon is not None and device.daemon.poll() is None:
                device.kill()


def titles(tasks: list[dict[str, Any]]) -> set[str]:
    return {task["title"] for task in tasks}


def described(tasks: list[dict[str, Any]]) -> set[str]:
    return {task["description"] for task in tasks}


def search(device: Device, *words: str) -> set[str]:
    """Return the titles of all that is found, page by page."""
    names: set[str] = set()
    after: int | None = 0
    while after is not None:
        result = device.run("--json", "search", "--limit", "100", "--after", str(after), "--", *words)
        assert result.status == 0, result
        page = result.json
        names |= titles(page["tasks"])
        after = page["next"]
    return names


# -- brought along ----------------------------------------------------------------------------------------


def test_all_that_was_brought_along_is_there_on_both_devices(week: Week):
    came = week.imported["taskwarrior"]
    notes = sum(len(task.get("annotations", ())) for task in week.files.tasks)
    assert (came["tasks"], came["updated"], came["skipped"]) == (TASKS, 0, [])
    assert came["entries"] >= notes
    assert (week.imported["todotxt"]["tasks"], week.imported["icalendar"]["tasks"]) == (3, 1)
    assert (week.imported["markdown"]["tasks"], week.imported["markdown"]["checklist_items"]) == (2, 4)
    assert have_equal_state(week.laptop, week.phone)
    expected = described(week.files.in_status("pending", "waiting", "completed"))
    lists = {
        "Call the plumber", "Pay the rent", "Water the tomatoes", "Move house", "Party", "Steuererklärung"
    }  # fmt: skip
    assert week.at_first["--all"] == expected | lists
    assert week.at_first["--removed"] == described(week.files.in_status("deleted"))


def test_the_same_files_a_second_time_change_nothing(week: Week):
    before = week.laptop.do("status")
    for format_, path in week.files.by_format.items():
        again = week.laptop.do("import", format_, str(path))
        assert (again["tasks"], again["entries"], again["updated"]) == (0, 0, 0), format_
        assert again["unchanged"] == week.imported[format_]["tasks"]
    after = week.laptop.do("status")
    assert (after["state_hash"], after["commits"]) == (before["state_hash"], before["commits"])


# -- found ------------------------------------------------------------------------------------------------


def test_search_finds_words_wherever_they_stand_and_however_they_are_accented(week: Week):
    expected = {
        task["description"]
        for task in week.files.in_status("pending", "waiting", "completed")
        if "passport" in task["description"].lower()
        or any("passport" in note["description"] for note in task.get("annotations", ()))
    }
    assert len(expected) > 20
    assert search(week.laptop, "passport") == expected
    for words in (["SENORA"], ["Señora"], ['"third drawer"'], ["library", "ren"], ["brown", "fox"]):
        assert search(week.laptop, *words) == {"Renew the library card"}, words
    assert search(week.laptop, '"drawer third"') == set()
    assert search(week.laptop, "library", "-card") == set()
    assert search(week.laptop, "books") == {"Move house"}
    assert search(week.laptop, "qwertz") == set()
    nothing = week.laptop.run("search", "qwertz")
    assert (nothing.status, nothing.out, nothing.err) == (0, "", "Nothing found.\n")


def test_lists_hold_exactly_what_their_filters_say(week: Week):
    imported = described(week.files.tasks) - {"Renew the library card"}

    def listed(*words: str) -> set[str]:
        return titles(week.laptop.do("list", *words)) & imported

    def expected_titles(holds: Callable[[dict[str, Any]], bool], *statuses: str) -> set[str]:
        remaining = week.files.in_status(*(statuses or ("pending", "waiting")))
        return {task["description"] for task in remaining if holds(task)} & imported

    assert listed() == expected_titles(lambda task: True)
    assert listed("--label", "urgent") == expected_titles(lambda task: "urgent" in task.get("tags", ()))
    assert listed("--label", "none") == expected_titles(lambda task: not task.get("tags"))
    assert listed("--category", "übung") == expected_titles(lambda task: task.get("project") == "Übung")
    assert listed("--priority", "P1", "--all") == expected_titles(
        lambda task: task.get("priority") == "H", "pending", "waiting", "completed"
    )
    assert listed("--status", "on hold") == expected_titles(lambda task: True, "waiting")
    assert listed("--status", "done") == expected_titles(lambda task: True, "completed")
    early = expected_titles(lambda task: task.get("due", "9") < "20250601")
    assert early
    assert listed("--due-before", "2025-06-01") == early
    human = week.laptop.run("list").out.splitlines()
    assert len(human) == len(week.laptop.do("list")) + 1
    assert human[0].split()[:4] == ["ID", "P", "STATUS", "DUE"]


# -- changed ----------------------------------------------------------------------------------------------


def test_a_day_of_editing_is_remembered_value_by_value(week: Week):
    clock_shifted_device = week.laptop
    task = clock_shifted_device.do("add", "Zahnarzt", "anrufen", "--due", "today")
    changed = clock_shifted_device.do(
        "task", "edit", task["id"], "--due", "in zwei Wochen", "--label", "büro"
    )
    assert date.fromisoformat(changed["due"]) - date.fromisoformat(task["due"]) == timedelta(days=14)
    assert clock_shifted_device.run("task", "edit", task["id"], "--status", "blocked").status == 2
    clock_shifted_device.do(
        "task", "edit", task["id"], "--status", "blocked", "--reason", "Ferien", "--estimate", "1h30"
    )
    clock_shifted_device.do("task", "edit", "zahnarzt anr", "--priority", "P0", "--category", "Privat")
    displayed = clock_shifted_device.do("show", task["id"][:8])
    assert (displayed["status"], displayed["reason"], displayed["estimate_minutes"]) == (
        "BLOCKED",
        "Ferien",
        90,
    )
    assert (displayed["labels"], displayed["priority"], displayed["category"]) == (["büro"], "P0", "Privat")
    history = clock_shifted_device.do(
        "log", task["id"], "--field", "status", "--by", "user", "--device", "laptop"
    )
    assert [(change["before"], change["after"]) for change in history[-1:]] == [("OPEN", "BLOCKED")]
    assert clock_shifted_device.do("log", task["id"], "--device", "phone") == []
    clock_shifted_device.do("done", task["id"])
    clock_shifted_device.do("done", task["id"])
    assert clock_shifted_device.do("show", task["id"])["status"] == "DONE"


def test_checklists_notes_time_and_links_hang_together(week: Week):
    clock_shifted_device = week.laptop
    task, other = (
        clock_shifted_device.do("add", "Fahrrad putzen")["id"],
        clock_shifted_device.do("add", "Schwamm kaufen")["id"],
    )
    items = [
        clock_shifted_device.do("check", "add", task, word, "--list", "Schritte")["id"]
        for word in ("a", "b", "c")
    ]
    clock_shifted_device.do("check", "tick", items[0], items[1])
    clock_shifted_device.do("check", "move", items[2], "--first")
    clock_shifted_device.do("check", "untick", items[1])
    (displayed,) = clock_shifted_device.do("check", "list", task)
    assert [(item["title"], item["is_checked"]) for item in displayed["items"]] == [
        ("c", False),
        ("a", True),
        ("b", False),
    ]
    note = clock_shifted_device.do("note", task, "-", typed="Zwei Zeilen,\nund ein 🚲")["id"]
    clock_shifted_device.do("entry", "edit", note, "Eine Zeile 🚲")
    clock_shifted_device.do("timer", "start", task, "--at", "20 minutes ago")
    clock_shifted_device.do("timer", "start", other)
    clock_shifted_device.do("timer", "stop")
    clock_shifted_device.do("link", "add", other, "blocks", task)
    assert clock_shifted_device.run("link", "add", task, "blocks", other).status == 6
    displayed = clock_shifted_device.do("show", task)
    assert [entry["text"] for entry in displayed["entries"]] == ["Eine Zeile 🚲"]
    assert displayed["time_spent_minutes"] == 20
    assert [(link["type"], link["direction"], link["title"]) for link in displayed["links"]] == [
        ("blocks", "from", "Schwamm kaufen")
    ]
    clock_shifted_device.do("task", "remove", task)
    assert search(clock_shifted_device, "fahrrad") == set()
    clock_shifted_device.do("task", "restore", task)
    assert clock_shifted_device.do("show", task)["checklists"] == displayed["checklists"]
    assert search(clock_shifted_device, "fahrrad") == {"Fahrrad putzen"}


# -- two devices ------------------------------------------------------------------------------------------


def test_what_two_devices_say_apart_stays_until_a_person_keeps_one(week: Week):
    laptop, phone = week.laptop, week.phone
    task = laptop.do("add", "Holiday")["id"]
    laptop.do("sync", "--wait")
    for device in (laptop, phone):
        device.do("sync", "--pause")
    laptop.do("task", "edit", task, "--title", "Holiday in Brittany", "--label", "sea")
    phone.do("task", "edit", task, "--title", "Holiday in Tyrol", "--label", "mountains")
    for device in (laptop, phone):
        device.do("sync", "--resume")
    wait_until("both hold the same", lambda: have_equal_state(laptop, phone), LIMIT_S)
    (conflict,) = laptop.do("conflicts", task)
    assert phone.do("conflicts", task) == [conflict]
    values = [version["value"] for version in conflict["versions"]]
    phone.do("conflicts", "keep", task, "title", str(values.index("Holiday in Brittany") + 1))
    wait_until("both hold the same", lambda: have_equal_state(laptop, phone), LIMIT_S)
    for device in (laptop, phone):
        displayed = device.do("show", task)
        assert (displayed["title"], displayed["conflicts"]) == ("Holiday in Brittany", [])
        assert set(displayed["labels"]) == {"sea", "mountains"}


# -- out and in again -------------------------------------------------------------------------------------


def test_everything_goes_out_and_comes_into_an_empty_journal_as_the_same_bytes(week: Week, tmp_path: Path):
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    week.laptop.do("export", "jsonl", "--output", str(first))
    empty = week.device("empty", tmp_path)
    empty.start()
    empty.do("import", "jsonl", str(first))
    empty.do("export", "jsonl", "--output", str(second))
    assert first.read_bytes() == second.read_bytes()
    assert empty.do("import", "jsonl", str(first))["tasks"] == 0
    assert titles(empty.do("list", "--all")) == titles(week.laptop.do("list", "--all"))
    assert empty.stop() == 0


@pytest.mark.parametrize("format_", ["taskwarrior", "icalendar", "todotxt", "markdown"])
def test_other_programs_get_every_task_and_their_own_come_back_unchanged(
    week: Week, tmp_path: Path, format_: str
):
    file = tmp_path / "out"
    week.laptop.do("export", format_, "--output", str(file))
    text = file.read_text("utf-8")
    assert "Renew the library card" in text
    assert text.count("電話") >= sum(
        task["description"].count("電話") for task in week.files.in_status("pending")
    )
    if format_ in {"taskwarrior", "icalendar"}:
        back = week.laptop.do("import", format_, str(file), "--dry-run")
        assert (back["tasks"], back["updated"], back["entries"]) == (0, 0, 0)


# -- saved and brought back -------------------------------------------------------------------------------


class Writer(threading.Thread):
    """Somebody who adds tasks without pause, and remembers which were acknowledged."""

    def __init__(self, device: Device) -> None:
        super().__init__(daemon=True)
        self.device = device
        self.added: list[str] = []
        self.over = threading.Event()

    def run(self) -> None:
        """Add tasks until told to stop."""
        while not self.over.is_set():
            self.added.append(self.device.do("add", f"While it was saved {len(self.added)}")["title"])


def test_a_backup_of_a_journal_in_use_brings_it_back_here_and_elsewhere(week: Week, tmp_path: Path):
    laptop, phone, file = week.laptop, week.phone, tmp_path / "backup"
    writer = Writer(laptop)
    writer.start()
    wait_until("something is being written", lambda: len(writer.added) > 2, LIMIT_S)
    acknowledged = set(writer.added)
    saved = laptop.do("backup", str(file))
    writer.over.set()
    writer.join()
    assert saved["entities"] > TASKS
    assert laptop.do("verify", str(file))["sound"]
    assert laptop.do("config", "set", "wake.run_max_s", "90")["value"] == 90
    laptop.do("add", "After the backup")
    laptop.do("sync", "--wait")
    before = laptop.do("status")
    assert laptop.stop() == 0
    assert laptop.do("restore", str(file))["device_id"] == before["device_id"]
    laptop.start()
    names = titles(laptop.do("list"))
    assert acknowledged <= names
    laptop.do("add", "Since it was restored")
    laptop.do("sync", "--wait")
    wait_until("both hold the same", lambda: have_equal_state(laptop, phone), LIMIT_S)
    after = laptop.do("status")
    assert (after["device_id"] == before["device_id"], after["replica"] == before["replica"]) == (True, False)
    assert {"After the backup", "Since it was restored", *writer.added} <= titles(laptop.do("list"))
    elsewhere = week.device("elsewhere", tmp_path)
    device_ids = {listed_device["device_id"] for listed_device in phone.do("devices")}
    assert elsewhere.do("restore", str(file))["device_id"] not in device_ids
    elsewhere.start()
    assert acknowledged <= titles(elsewhere.do("list"))
    assert elsewhere.do("verify")["sound"]
    assert {listed_device["name"] for listed_device in elsewhere.do("devices")} == {
        "laptop",
        "phone",
        "elsewhere",
    }
    assert elsewhere.stop() == 0


def test_compaction_frees_what_was_overwritten_and_the_journal_stays_sound(week: Week):
    laptop, phone = week.laptop, week.phone
    laptop.do("sync", "--pause")  # a link that ends leaves a note of what the other side held
    laptop.do("sync", "--resume")
    laptop.do("sync", "--wait")
    wait_until("both hold the same", lambda: have_equal_state(laptop, phone), LIMIT_S)
    before = laptop.do("status")["state_hash"]
    assert laptop.do("verify")["sound"]
    freed = laptop.do("compact", "--older-than", "1")
    assert freed["values"] >= 1, freed
    assert freed["bytes"] > 1000
    result = laptop.do("verify")
    assert (result["sound"], result["findings"]) == (True, [])
    assert laptop.do("status")["state_hash"] == before
    (entry,) = [
        element for element in laptop.do("entry", "list", "Renew the library card") if LONG in element["text"]
    ]
    assert entry["text"].endswith("second")
    assert have_equal_state(laptop, phone)
    assert phone.do("verify")["sound"]
