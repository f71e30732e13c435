"""Files of which a part cannot be read: refused whole, unless a person takes the rest.

Never looks at one format alone: what holds, holds for each of them.
"""

import json
from typing import NamedTuple

import pytest

from daemon.formats.core.importer import FaultyFile
from tests.daemon.formats.transfers import bring, stored_tasks
from tests.support.fleet import Fleet


class Case(NamedTuple):
    """A file, its text once it is mended, the lines with faults, and the titles of the others."""

    format: str
    text: str
    mended: str
    lines: list[int]
    titles: list[str]
    loose: int = 0


def _calendar(*lines: str) -> str:
    return "\n".join(["BEGIN:VCALENDAR", *lines, "END:VCALENDAR", ""])


def _todo(uid: str, *lines: str) -> list[str]:
    return ["BEGIN:VTODO", f"UID:{uid}", f"SUMMARY:{uid}", *lines, "END:VTODO"]


def _record(uuid: str, **attributes: object) -> str:
    return json.dumps({"uuid": uuid, "description": uuid, "status": "pending"} | attributes)


CALENDAR = _calendar(
    *_todo("a", "DUE:20261201"),
    *_todo("b", "DUE:20260231"),
    *_todo("c", "RELATED-TO:b", "RELATED-TO:a"),
    *_todo("d", "no property"),
    *_todo("e", "STATUS:ODD"),
    *_todo("a", "DUE:20261202"),
    *_todo("f"),
)
CASES = [
    Case(
        "icalendar",
        CALENDAR,
        CALENDAR.replace("20260231", "20260228")
        .replace("no property", "LOCATION:x")
        .replace(":ODD", ":COMPLETED")
        .replace("UID:a\nSUMMARY:a\nDUE:20261202", "UID:g\nSUMMARY:g"),
        [10, 21, 26, 28],
        ["a", "c", "f"],
        loose=1,
    ),
    Case(
        "icalendar",
        _calendar(*_todo("a"), *_todo("b"))[:-40],
        _calendar(*_todo("a"), *_todo("b")),
        [6],
        ["a"],
    ),
    Case(
        "taskwarrior",
        "\n".join(
            [_record("a"), '{"uuid": 3}', _record("c", due="soon"), _record("d", depends=["c", "a"]), ""]
        ),
        "\n".join([_record("a"), _record("b"), _record("c"), _record("d", depends=["c", "a"]), ""]),
        [2, 3],
        ["a", "d"],
        loose=1,
    ),
    Case(
        "todotxt",
        "rake\ndig due:2026-02-31\n(A) sow\nx 2026-13-01 mow\n",
        "rake\ndig due:2026-02-28\n(A) sow\nx 2026-12-01 mow\n",
        [2, 4],
        ["rake", "sow"],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.format}-{len(case.lines)}" for case in CASES])
def test_what_has_no_fault_comes_in_if_a_person_says_so_and_the_rest_once_it_is_mended(
    fleet: Fleet, case: Case
) -> None:
    a = fleet.home("a")
    with pytest.raises(FaultyFile) as refusal:
        bring(a, case.format, case.text)
    assert ([detail.line for detail in refusal.value.details], refusal.value.has_more) == (case.lines, True)
    assert "--skip-faulty" in refusal.value.hint
    result = bring(a, case.format, case.text, skip_faulty=True)
    assert ([faulty.line for faulty in result.faulty], len(result.skipped)) == (case.lines, case.loose)
    assert sorted(task.title for task in stored_tasks(a)) == case.titles
    bring(a, case.format, case.mended)
    b = fleet.home("b")
    bring(b, case.format, case.mended)
    assert sorted(map(_told, stored_tasks(a))) == sorted(map(_told, stored_tasks(b)))


def _told(task: object) -> tuple[str, ...]:
    return tuple(str(getattr(task, name)) for name in ("title", "status", "due", "priority"))


def test_a_file_of_which_nothing_can_be_read_is_refused_whatever_a_person_says(fleet: Fleet) -> None:
    a = fleet.home("a")
    for format_, text in (
        ("taskwarrior", '[{"uuid": 1}]'),
        ("icalendar", "BEGIN:VEVENT"),
        ("todotxt", "x 2026-13-01 mow"),
        ("markdown", "\0"),
    ):
        with pytest.raises(FaultyFile) as refusal:
            bring(a, format_, text, skip_faulty=True)
        assert (refusal.value.has_more, "--skip-faulty" in refusal.value.hint) == (False, False)
