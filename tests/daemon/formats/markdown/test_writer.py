"""Markdown that leaves is read back to the same tasks, and goes out again as the same text.

Never takes what is in a title or a note for structure.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from daemon.formats.core.exported_tasks import ExportedTasks
from daemon.formats.core.importer import PlanImport
from daemon.formats.markdown import reader
from daemon.formats.markdown import writer as exporting
from daemon.formats.markdown.marks import HeadingMarks, marks_text, split_marks
from daemon.journal import checklist_items, entries, tasks
from tests.daemon.formats.transfers import without_ids
from tests.support.fleet import Fleet, Home

CASES = itertools.count()

SIGNS = [
    "#",
    "##",
    "-",
    "[x]",
    "[ ]",
    "\\",
    "`",
    "```",
    "(P1)",
    "(due 2026-03-15)",
    ">",
    "1.",
    "*",
    "<!--",
    "=",
    "---",
]
words = st.lists(st.sampled_from([*SIGNS, "a", "Ünd", "\\#", "(BLOCKED: x)"]), min_size=1, max_size=4).map(
    " ".join
)
free = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
titles = (words | free).filter(lambda text: " ".join(text.split()))
lines = st.lists(
    words | st.just("") | st.sampled_from(["    x", "```", "~~~", "- a", "[x] done"]), min_size=1, max_size=4
)
notes = (lines.map("\n".join) | free).filter(lambda text: text.strip())


class Drawn(NamedTuple):
    title: str
    status: str
    priority: str
    due: str | None
    items: list[tuple[str, bool]]
    notes: list[str]


drawn = st.builds(
    Drawn,
    titles,
    st.sampled_from(["OPEN", "GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD", "DONE", "REJECTED"]),
    st.sampled_from(["P0", "P1", "P2", "P3"]),
    st.none() | st.dates().map(str),
    st.lists(st.tuples(titles, st.booleans()), max_size=3),
    st.lists(notes, max_size=3),
)


@contextmanager
def fleet_in(folder: Path) -> Iterator[Fleet]:
    path = folder / f"markdown {next(CASES)}"
    path.mkdir()
    fleet = Fleet(path)
    try:
        yield fleet
    finally:
        fleet.close()


def fill(home: Home, wanted: list[Drawn]) -> None:
    for listed_drawn in wanted:
        home.fleet.now_ms += 1
        reason = "for Bob" if listed_drawn.status in ("BLOCKED", "ON HOLD") else None
        new = tasks.NewTask(
            listed_drawn.title,
            status=listed_drawn.status,
            reason=reason,
            priority=listed_drawn.priority,
            due=listed_drawn.due,
        )
        task = home.write(partial(tasks.add, new=new))
        for title, is_checked in listed_drawn.items:
            item = checklist_items.NewItem(title, is_checked=is_checked)
            home.write(partial(checklist_items.add_item, ref=task.id, new=item))
        for text in listed_drawn.notes:
            home.fleet.now_ms += 1
            home.write(partial(entries.add, ref=task.id, new=entries.NewEntry(text)))


def exported(home: Home) -> str:
    return home.read(lambda snapshot: "".join(exporting.write(snapshot, UTC)))


def brought(home: Home, text: str) -> None:
    work = PlanImport(reader.parse("journal.md", text))
    for part in work.parts:
        home.write(partial(work.import_part, part=part))


def exported_contents(home: Home) -> list[Any]:
    """Return what Markdown has a place for."""

    def use(snapshot: Any) -> list[Any]:
        return [
            (
                exported_task.title,
                exported_task.status,
                exported_task.reason,
                exported_task.priority or "P2",
                exported_task.due,
                exported_task.start,
                [(checklist.title, checklist.lines) for checklist in exported_task.lists],
                [note.text for note in exported_task.notes],
            )
            for exported_task in ExportedTasks(snapshot)
        ]

    return home.read(use)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(wanted=st.lists(drawn, max_size=3))
@example(
    wanted=[Drawn("a  b\u00a0c", "OPEN", "P0", None, [], []), Drawn("a b c", "DONE", "P0", None, [], [])]
)
def test_what_is_exported_is_read_back_and_exported_as_the_same_text(
    tmp_path_factory: Any, wanted: list[Drawn]
):
    with fleet_in(tmp_path_factory.getbasetemp()) as fleet:
        first, second = fleet.home("a"), fleet.home("b")
        fill(first, wanted)
        text = exported(first)
        brought(second, text)
        assert exported_contents(second) == exported_contents(first)
        assert without_ids(exported(second)) == without_ids(text)


def test_it_reads_like_what_a_person_would_write(a: Home):
    fill(
        a,
        [
            Drawn(
                "Renew passport",
                "ON HOLD",
                "P1",
                "2026-03-15",
                [("Photos", True), ("Form", False)],
                ["Call first."],
            )
        ],
    )
    fill(a, [Drawn("Old", "DONE", "P2", None, [], ["Two\n\nparagraphs"])])
    assert without_ids(exported(a)) == (
        "# Renew passport (P1, due 2026-03-15, ON HOLD: for Bob)\n\n- [x] Photos\n- [ ] Form\n\nCall first.\n"
        "\n# [x] Old\n\n```note\nTwo\n\nparagraphs\n```\n"
    )


def test_what_could_steer_a_terminal_stays_behind(a: Home):
    fill(a, [Drawn("A\x1b[31m\x9b2Jb", "OPEN", "P2", None, [], ["c\x07\x84\x7fd\x85e"])])
    assert without_ids(exported(a)) == "# A[31m2Jb\n\ncd\x85e\n"


@pytest.mark.parametrize(
    ("heading", "title", "marks"),
    [
        ("A (P1)", "A", HeadingMarks("P1")),
        ("A (due 2026-02-30)", "A (due 2026-02-30)", HeadingMarks()),
        ("A (P1, P2)", "A (P1, P2)", HeadingMarks()),
        ("A (due 2026-03-15, start 2026-03-01)", "A", HeadingMarks(due="2026-03-15", start="2026-03-01")),
        ("A (start 2026-03-01, start 2026-03-02)", "A (start 2026-03-01, start 2026-03-02)", HeadingMarks()),
        ("A (P1, soon)", "A (P1, soon)", HeadingMarks()),
        ("A (P1) (REJECTED)", "A (P1)", HeadingMarks(status="REJECTED")),
        ("A (BLOCKED: by B, P1)", "A", HeadingMarks(status="BLOCKED", reason="by B, P1")),
        ("A(P1)", "A(P1)", HeadingMarks()),
    ],
)
def test_brackets_are_marks_only_where_all_in_them_is(heading: str, title: str, marks: HeadingMarks):
    assert split_marks(heading) == (title, marks)
    assert split_marks(title + marks_text(marks)) == (title, marks)


def test_a_heading_whose_marks_change_is_the_same_task(a: Home):
    brought(a, "# Passport (P1)\n")
    brought(a, "# Passport (due 2026-03-15)\n")
    assert [contents[:6] for contents in exported_contents(a)] == [
        ("Passport", "OPEN", None, "P2", "2026-03-15", None)
    ]
    brought(a, "# Passport (due 2026-03-15, start 2026-03-01)\n")
    (contents,) = exported_contents(a)
    assert contents[4:6] == ("2026-03-15", "2026-03-01")
