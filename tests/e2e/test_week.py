"""A week of real use: ten thousand tasks brought along, searched, changed, exported, saved and brought back.

Never looks into a store: what a device holds, the installed command says.
"""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.devices import START_S, Device, Shifted, agree, pair, wait_until
from tests.e2e.week_files import Files, written

# The first test waits for ten thousand tasks on two devices, also where other work has the processors.
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

SEED = int(os.environ.get("PLACET_TEST_SEED", "20261121"))
TASKS = int(os.environ.get("PLACET_TEST_WEEK_TASKS", "10000"))
DAY_MS = 86_400_000
LONG = "The quick brown fox is late again. " * 40


@dataclass
class Week:
    """Two devices, and the files that came in on the first."""

    files: Files
    laptop: Shifted
    phone: Device
    imported: dict[str, Any] = field(default_factory=dict)
    at_first: dict[str, set[str]] = field(default_factory=dict)
    made: list[Device] = field(default_factory=list)

    def device(self, name: str, folder: Path) -> Device:
        """Return one more device; its daemon ends with the week."""
        one = Device(name, folder / name)
        self.made.append(one)
        return one


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
    laptop, phone = Shifted("laptop", folder / "laptop"), Device("phone", folder / "phone")
    week = Week(written(folder, SEED, TASKS), laptop, phone)
    week.made += [laptop, phone]
    try:
        bring_along(week)
        yield week
    finally:
        for one in week.made:
            if one.daemon is not None and one.daemon.poll() is None:
                one.kill()


def titles(tasks: list[dict[str, Any]]) -> set[str]:
    return {task["title"] for task in tasks}


def described(tasks: list[dict[str, Any]]) -> set[str]:
    return {task["description"] for task in tasks}


def search(one: Device, *words: str) -> set[str]:
    """Return the titles of all that is found, page by page."""
    found: set[str] = set()
    after: int | None = 0
    while after is not None:
        done = one.run("--json", "search", "--limit", "100", "--after", str(after), "--", *words)
        assert done.status == 0, done
        page = done.json
        found |= titles(page["tasks"])
        after = page["next"]
    return found


# -- brought along ----------------------------------------------------------------------------------------


def test_all_that_was_brought_along_is_there_on_both_devices(week: Week):
    came = week.imported["taskwarrior"]
    notes = sum(len(task.get("annotations", ())) for task in week.files.tasks)
    assert (came["tasks"], came["updated"], came["skipped"]) == (TASKS, 0, [])
    assert came["entries"] >= notes
    assert (week.imported["todotxt"]["tasks"], week.imported["icalendar"]["tasks"]) == (3, 1)
    assert (week.imported["markdown"]["tasks"], week.imported["markdown"]["checklist_items"]) == (2, 4)
    assert agree(week.laptop, week.phone)
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

    def held(holds: Callable[[dict[str, Any]], bool], *statuses: str) -> set[str]:
        kept = week.files.in_status(*(statuses or ("pending", "waiting")))
        return {task["description"] for task in kept if holds(task)} & imported

    assert listed() == held(lambda task: True)
    assert listed("--label", "urgent") == held(lambda task: "urgent" in task.get("tags", ()))
    assert listed("--label", "none") == held(lambda task: not task.get("tags"))
    assert listed("--category", "übung") == held(lambda task: task.get("project") == "Übung")
    assert listed("--priority", "P1", "--all") == held(
        lambda task: task.get("priority") == "H", "pending", "waiting", "completed"
    )
    assert listed("--status", "on hold") == held(lambda task: True, "waiting")
    assert listed("--status", "done") == held(lambda task: True, "completed")
    early = held(lambda task: task.get("due", "9") < "20250601")
    assert early
    assert listed("--due-before", "2025-06-01") == early
    human = week.laptop.run("list").out.splitlines()
    assert len(human) == len(week.laptop.do("list")) + 1
    assert human[0].split()[:4] == ["ID", "P", "STATUS", "DUE"]


# -- changed ----------------------------------------------------------------------------------------------


def test_a_day_of_editing_is_remembered_value_by_value(week: Week):
    one = week.laptop
    task = one.do("add", "Zahnarzt", "anrufen", "--due", "today")
    changed = one.do("task", "edit", task["id"], "--due", "in zwei Wochen", "--label", "büro")
    assert date.fromisoformat(changed["due"]) - date.fromisoformat(task["due"]) == timedelta(days=14)
    assert one.run("task", "edit", task["id"], "--status", "blocked").status == 2
    one.do("task", "edit", task["id"], "--status", "blocked", "--reason", "Ferien", "--estimate", "1h30")
    one.do("task", "edit", "zahnarzt anr", "--priority", "P0", "--category", "Privat")
    shown = one.do("show", task["id"][:8])
    assert (shown["status"], shown["reason"], shown["estimate_minutes"]) == ("BLOCKED", "Ferien", 90)
    assert (shown["labels"], shown["priority"], shown["category"]) == (["büro"], "P0", "Privat")
    history = one.do("log", task["id"], "--field", "status", "--by", "user", "--device", "laptop")
    assert [(change["before"], change["after"]) for change in history[-1:]] == [("OPEN", "BLOCKED")]
    assert one.do("log", task["id"], "--device", "phone") == []
    one.do("done", task["id"])
    one.do("done", task["id"])
    assert one.do("show", task["id"])["status"] == "DONE"


def test_checklists_notes_time_and_links_hang_together(week: Week):
    one = week.laptop
    task, other = one.do("add", "Fahrrad putzen")["id"], one.do("add", "Schwamm kaufen")["id"]
    items = [one.do("check", "add", task, word, "--list", "Schritte")["id"] for word in ("a", "b", "c")]
    one.do("check", "tick", items[0], items[1])
    one.do("check", "move", items[2], "--first")
    one.do("check", "untick", items[1])
    (shown,) = one.do("check", "list", task)
    assert [(item["title"], item["is_checked"]) for item in shown["items"]] == [
        ("c", False),
        ("a", True),
        ("b", False),
    ]
    note = one.do("note", task, "-", typed="Zwei Zeilen,\nund ein 🚲")["id"]
    one.do("entry", "edit", note, "Eine Zeile 🚲")
    one.do("timer", "start", task, "--at", "20 minutes ago")
    one.do("timer", "start", other)
    one.do("timer", "stop")
    one.do("link", "add", other, "blocks", task)
    assert one.run("link", "add", task, "blocks", other).status == 6
    shown = one.do("show", task)
    assert [entry["text"] for entry in shown["entries"]] == ["Eine Zeile 🚲"]
    assert shown["time_spent_minutes"] == 20
    assert [(link["type"], link["direction"], link["title"]) for link in shown["links"]] == [
        ("blocks", "from", "Schwamm kaufen")
    ]
    one.do("task", "remove", task)
    assert search(one, "fahrrad") == set()
    one.do("task", "restore", task)
    assert one.do("show", task)["checklists"] == shown["checklists"]
    assert search(one, "fahrrad") == {"Fahrrad putzen"}


# -- two devices ------------------------------------------------------------------------------------------


def test_what_two_devices_say_apart_stays_until_a_person_keeps_one(week: Week):
    laptop, phone = week.laptop, week.phone
    task = laptop.do("add", "Holiday")["id"]
    laptop.do("sync", "--wait")
    for one in (laptop, phone):
        one.do("sync", "--pause")
    laptop.do("task", "edit", task, "--title", "Holiday in Brittany", "--label", "sea")
    phone.do("task", "edit", task, "--title", "Holiday in Tyrol", "--label", "mountains")
    for one in (laptop, phone):
        one.do("sync", "--resume")
    wait_until("both hold the same", lambda: agree(laptop, phone), START_S)
    (conflict,) = laptop.do("conflicts", task)
    assert phone.do("conflicts", task) == [conflict]
    values = [version["value"] for version in conflict["versions"]]
    phone.do("conflicts", "keep", task, "title", str(values.index("Holiday in Brittany") + 1))
    wait_until("both hold the same", lambda: agree(laptop, phone), START_S)
    for one in (laptop, phone):
        shown = one.do("show", task)
        assert (shown["title"], shown["conflicts"]) == ("Holiday in Brittany", [])
        assert set(shown["labels"]) == {"sea", "mountains"}


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
    wait_until("something is being written", lambda: len(writer.added) > 2, START_S)
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
    held = titles(laptop.do("list"))
    assert acknowledged <= held
    laptop.do("add", "Since it was restored")
    laptop.do("sync", "--wait")
    wait_until("both hold the same", lambda: agree(laptop, phone), START_S)
    after = laptop.do("status")
    assert (after["device_id"] == before["device_id"], after["replica"] == before["replica"]) == (True, False)
    assert {"After the backup", "Since it was restored", *writer.added} <= titles(laptop.do("list"))
    elsewhere = week.device("elsewhere", tmp_path)
    known = {one["device_id"] for one in phone.do("devices")}
    assert elsewhere.do("restore", str(file))["device_id"] not in known
    elsewhere.start()
    assert acknowledged <= titles(elsewhere.do("list"))
    assert elsewhere.do("verify")["sound"]
    assert {one["name"] for one in elsewhere.do("devices")} == {"laptop", "phone", "elsewhere"}
    assert elsewhere.stop() == 0


def test_compaction_frees_what_was_overwritten_and_the_journal_stays_sound(week: Week):
    laptop, phone = week.laptop, week.phone
    laptop.do("sync", "--pause")  # a link that ends leaves a note of what the other side held
    laptop.do("sync", "--resume")
    laptop.do("sync", "--wait")
    wait_until("both hold the same", lambda: agree(laptop, phone), START_S)
    before = laptop.do("status")["state_hash"]
    assert laptop.do("verify")["sound"]
    freed = laptop.do("compact", "--older-than", "1")
    assert freed["values"] >= 1, freed
    assert freed["bytes"] > 1000
    found = laptop.do("verify")
    assert (found["sound"], found["findings"]) == (True, [])
    assert laptop.do("status")["state_hash"] == before
    (entry,) = [one for one in laptop.do("entry", "list", "Renew the library card") if LONG in one["text"]]
    assert entry["text"].endswith("second")
    assert agree(laptop, phone)
    assert phone.do("verify")["sound"]
