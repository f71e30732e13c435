"""The files that a person brings along: thousands of tasks of Taskwarrior, and three small lists.

Never draws anything that does not follow from the seed.
"""

import json
import random
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

BEGAN = datetime(2025, 1, 6, 8, tzinfo=UTC)
WORDS = (
    *(
        "garden",
        "drawer",
        "passport",
        "invoice",
        "café",
        "naïve",
        "Straße",
        "señor",
        "report",
        "login",
        "bug",
    ),
    *("release", "plumber", "dentist", "książka", "電話", "shopping", "old", "new", "write", "call", "fix"),
)
PROJECTS = ("Home", "Work.Ops", "Work.Dev", "Garten", "Übung")
TAGS = ("urgent", "phone", "errand", "café", "next")
STATUSES = ("pending", "completed", "waiting", "deleted")

TODO_TXT = """\
(A) 2025-11-01 Call the plumber +Home @phone due:2031-12-01
x 2025-11-10 2025-11-01 Pay the rent +Home
Water the tomatoes
"""
MARKDOWN = """\
# Move house
The van is booked for Saturday.

- [ ] pack the books
- [x] call the movers
  - [ ] ask for the price

# Party
* cake
"""
ICALENDAR = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Somebody//Tasks//EN
BEGIN:VTODO
UID:taxes@example.org
DTSTAMP:20251101T080000Z
SUMMARY:Steuererklärung
DUE;VALUE=DATE:20311231
PRIORITY:1
STATUS:NEEDS-ACTION
CATEGORIES:büro
DESCRIPTION:Die Belege sind im Ordner.
END:VTODO
END:VCALENDAR
"""


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y%m%dT%H%M%SZ")


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _task(chance: random.Random, number: int, ids: list[str]) -> dict[str, Any]:
    """Return one task as `task export` writes it; it depends on earlier ones alone."""
    entry = BEGAN + timedelta(minutes=number * 40 % 400_000)
    words = chance.choices(WORDS, k=3)
    task: dict[str, Any] = {
        "uuid": ids[number],
        "description": f"{words[0].capitalize()} {words[1]} {words[2]} {number}",
        "entry": _stamp(entry),
        "modified": _stamp(entry + timedelta(hours=3)),
        "status": chance.choices(STATUSES, [60, 30, 5, 5])[0],
    }
    if chance.random() < 0.5:
        task["project"] = chance.choice(PROJECTS)
    if chance.random() < 0.5:
        task["tags"] = chance.sample(TAGS, chance.randint(1, 3))
    if chance.random() < 0.4:
        task["due"] = _stamp(entry + timedelta(days=chance.randint(1, 300)))
    if chance.random() < 0.4:
        task["priority"] = chance.choice("HML")
    if chance.random() < 0.2:
        task["annotations"] = [
            {
                "entry": _stamp(entry + timedelta(hours=hour)),
                "description": f"{chance.choice(WORDS)} and more",
            }
            for hour in range(chance.randint(1, 3))
        ]
    if number and chance.random() < 0.1:
        task["depends"] = [ids[chance.randrange(number)]]
    if task["status"] in {"completed", "deleted"}:
        task["end"] = _stamp(entry + timedelta(days=1))
    if task["status"] == "waiting":
        task["wait"] = _stamp(entry + timedelta(days=4000))
    return task


def taskwarrior(seed: int, count: int) -> list[dict[str, Any]]:
    """Return so many tasks, each in about every state that such a task may be in."""
    chance = random.Random(seed)
    ids = [_uuid(chance) for _ in range(count)]
    tasks = [_task(chance, number, ids) for number in range(count)]
    tasks[count // 2] |= {
        "description": "Renew the library card",
        "status": "pending",
        "annotations": [
            {"entry": _stamp(BEGAN), "description": "The old card is in the third drawer, señora"}
        ],
    }
    return tasks


@dataclass(frozen=True, slots=True)
class Files:
    """Where the files lie, and what the largest of them holds."""

    folder: Path
    tasks: list[dict[str, Any]]

    @property
    def by_format(self) -> dict[str, Path]:
        """Return each file, by the format that it is in."""
        names = {
            "taskwarrior": "tasks.json",
            "todotxt": "todo.txt",
            "markdown": "list.md",
            "icalendar": "tasks.ics",
        }
        return {format_: self.folder / name for format_, name in names.items()}

    def in_status(self, *statuses: str) -> list[dict[str, Any]]:
        """Return the tasks of Taskwarrior in one of these statuses."""
        return [task for task in self.tasks if task["status"] in statuses]


def written_files(folder: Path, seed: int, count: int) -> Files:
    """Write the files."""
    files = Files(folder, taskwarrior(seed, count))
    texts = {
        "taskwarrior": json.dumps(files.tasks, ensure_ascii=False),
        "todotxt": TODO_TXT,
        "markdown": MARKDOWN,
        "icalendar": ICALENDAR.replace("\n", "\r\n"),
    }
    for format_, path in files.by_format.items():
        path.write_text(texts[format_], "utf-8", newline="")
    return files
