"""Markdown of other programs: boxes with other signs, outlines, dates in signs; and lists edited there.

Never goes below the use cases.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.formats.core.importer import ImportResult
from daemon.journal.views.structures import Task
from tests.daemon.formats.transfers import bring, commits, export, stored_tasks, task_contents, without_ids
from tests.support.fleet import Fleet, Home

LINES = {
    # What the file has: the title, the tick, and whether it is archived.
    "- [ ] Pack": ("Pack", False, False),
    "* [x] Pack": ("Pack", True, False),
    "+ [X] Pack": ("Pack", True, False),
    "1. [ ] Pack": ("Pack", False, False),
    "3) [x] Pack": ("Pack", True, False),
    "- Pack": ("Pack", False, False),
    "1. Pack": ("Pack", False, False),
    "- [-] Pack oven": ("Pack oven", False, True),
    "1. [-] Pack oven": ("Pack oven", False, True),
    "- [/] Pack": ("[/] Pack", False, False),
    "- [>] Pack": ("[>] Pack", False, False),
    "- [ ]Pack": ("[ ]Pack", False, False),
    "- [] Pack": ("[] Pack", False, False),
    "- [ ] [-] Pack": ("[-] Pack", False, False),
    "- DONE Pack": ("DONE Pack", True, False),
    "- [ ] DONE Pack": ("DONE Pack", False, False),
    "- CANCELED Pack": ("CANCELED Pack", False, True),
    "- CANCELLED Pack": ("CANCELLED Pack", False, True),
    "- [ ] CANCELLED Pack": ("CANCELLED Pack", False, False),
    "- DONEGAL": ("DONEGAL", False, False),
    "- TODO Pack": ("TODO Pack", False, False),
    "- [ ] c #tag 📅 2026-12-01 ⏫ 🔁 every week ✅ 2026-11-01": (
        "c #tag 📅 2026-12-01 ⏫ 🔁 every week ✅ 2026-11-01",
        False,
        False,
    ),
    "- [ ] due [due:: 2026-12-05] dataview": ("due [due:: 2026-12-05] dataview", False, False),
}
HEADINGS = {
    # The title and the status, and the heading of an export.
    "[x] Pack (P1)": ("Pack", "DONE", "[x] Pack (P1)"),
    "[-] Pack": ("Pack", "REJECTED", "Pack (REJECTED)"),
    "[ ] [-] Pack": ("[-] Pack", "OPEN", "[ ] [-] Pack"),
    "[/] Pack": ("[/] Pack", "OPEN", "[/] Pack"),
    "DONE Pack": ("DONE Pack", "DONE", "[x] DONE Pack"),
    "[ ] DONE Pack": ("DONE Pack", "OPEN", "[ ] DONE Pack"),
    "CANCELED Pack": ("CANCELED Pack", "REJECTED", "[ ] CANCELED Pack (REJECTED)"),
    "CANCELLED Pack": ("CANCELLED Pack", "REJECTED", "[ ] CANCELLED Pack (REJECTED)"),
    "TODO Pack 📅 2026-12-01": ("TODO Pack 📅 2026-12-01", "OPEN", "TODO Pack 📅 2026-12-01"),
}
OUTLINE = """- TODO Water plants
  SCHEDULED: <2026-12-01 Tue .+1w>
  :LOGBOOK:
  CLOCK: [2026-11-01 Sun 10:00:00]--[2026-11-01 Sun 10:20:00] => 00:20:00
  :END:
\t- sub block
\t  id:: 6500-aa
- DONE Old one
"""
BEFORE = """# Garage

- [ ] sweep
- [ ] call the plumber about the leak
- [ ] buy 3 screws
- [ ] mail Kim
"""


def items(task: Task) -> list[tuple[str, bool, bool]]:
    return [
        (item.title, item.is_checked, item.is_archived) for list_ in task.checklists for item in list_.items
    ]


def bring_list(home: Home, text: str) -> ImportResult:
    return bring(home, "markdown", text, name="list.md")


def test_each_kind_of_line_is_what_its_program_means(fleet: Fleet):
    wrong: list[tuple[str, object]] = []
    for line, wanted in LINES.items():
        home = fleet.home(f"device {len(fleet.homes)}")
        bring_list(home, f"# Move\n\n{line}\n")
        (task,) = stored_tasks(home)
        if items(task) != [wanted] or bring_list(home, f"# Move\n\n{line}\n") != ImportResult(unchanged=1):
            wrong.append((line, items(task)))
        # What was read comes back as it was written, behind a box.
        shown = [text for text in without_ids(export(home, "markdown")).splitlines() if text.startswith("-")]
        if shown != ([] if wanted[2] else [f"- [{'x' if wanted[1] else ' '}] {wanted[0]}"]):
            wrong.append((line, shown))
    assert wrong == []


def test_each_kind_of_heading_is_what_its_program_means(fleet: Fleet, subtests: pytest.Subtests):
    for number, (heading, wanted) in enumerate(HEADINGS.items()):
        with subtests.test(heading):
            home, second = (fleet.home(f"{name} {number}") for name in ("first", "second"))
            bring_list(home, f"# {heading}\n")
            written = export(home, "markdown")
            (task,) = stored_tasks(home)
            assert (task.title, task.status, without_ids(written).strip()) == (*wanted[:2], f"# {wanted[2]}")
            for text in (f"# {heading}\n", written):
                assert bring_list(home, text) == ImportResult(unchanged=1)
            bring_list(second, written)
            assert task_contents(second) == task_contents(home)


def test_what_is_cancelled_in_the_file_and_taken_up_again_is_here_again(a: Home):
    bring_list(a, BEFORE)
    for sign, is_archived in (("-", True), (" ", False)):
        assert bring_list(a, BEFORE.replace("[ ] sweep", f"[{sign}] sweep")).updated == 1
        assert items(stored_tasks(a)[0])[0] == ("sweep", False, is_archived)
    text = export(a, "markdown").replace("[ ] sweep", "[-] sweep")
    assert bring_list(a, text) == ImportResult(updated=1)
    assert items(stored_tasks(a)[0])[0] == ("sweep", False, True)
    assert bring_list(a, text) == ImportResult(unchanged=1)


def test_the_properties_of_an_outline_are_notes_and_no_titles(a: Home):
    bring_list(a, OUTLINE)
    (task,) = stored_tasks(a)
    assert items(task) == [
        ("TODO Water plants", False, False),
        ("TODO Water plants: sub block", False, False),
        ("DONE Old one", True, False),
    ]
    notes = [note.text for note in task.entries]
    assert notes[0].startswith("TODO Water plants\n\nSCHEDULED: <2026-12-01 Tue .+1w>\n:LOGBOOK:\nCLOCK:")
    assert notes[1] == "sub block\n\nid:: 6500-aa"
    assert bring_list(a, OUTLINE) == ImportResult(unchanged=1)


def test_a_line_that_gained_words_where_it_stood_is_the_same_line(a: Home):
    bring_list(a, BEFORE)
    before = [item.id for item in stored_tasks(a)[0].checklists[0].items]
    after = """# Garage

- [ ] sweep the floor
- [ ] ring the plumber about the leaking tap
- [ ] buy 4 screws
- [ ] e-mail Kim
"""
    assert bring_list(a, after) == ImportResult(updated=1)
    assert [item.id for item in stored_tasks(a)[0].checklists[0].items] == before
    assert bring_list(a, after) == ImportResult(unchanged=1)


@pytest.mark.parametrize(
    ("format_", "before", "after", "gone"),
    [
        ("markdown", BEFORE, BEFORE.replace("mail Kim", "write a letter to the notary"), "mail Kim"),
        ("markdown", BEFORE + "\n# Roof\n", BEFORE + "\n# Cellar\n", "Roof"),
        ("todotxt", "sweep\nmail Kim\n", "sweep\nwrite a letter\n", "mail Kim"),
    ],
)
def test_what_may_be_the_same_in_other_words_is_named_once(
    a: Home, format_: str, before: str, after: str, gone: str
):
    bring(a, format_, before)
    result = bring(a, format_, after)
    assert [(left.what, left.why_id) for left in result.gone] == [(gone, "import-gone-from-file")]
    count = commits(a)
    assert bring(a, format_, after).gone == ()
    assert commits(a) == count
    # What is only gone is not named.
    assert bring(a, format_, "# Garage\n" if format_ == "markdown" else "sweep\n").gone == ()


def test_what_was_done_before_it_went_is_not_named(a: Home):
    bring_list(a, BEFORE.replace("[ ] mail", "[x] mail") + "\n# Roof\n\n# [x] Walls\n")
    assert bring_list(a, BEFORE.replace("mail Kim", "write a letter") + "\n# Roof\n\n# Cellar\n").gone == ()


signs = st.sampled_from(
    ["- [ ] ", "- [x] ", "- [-] ", "- [/] ", "* ", "1. ", "2) [x] ", "  - ", "- DONE ", "> "]
)
ends = st.sampled_from(["", " 📅 2026-12-01", " (P1)", " [due:: 2026-12-05]", " <b>", "\\*", " `a`", ":: x"])
heads = st.sampled_from(
    ["# ", "## ", "# [x] ", "# [-] ", "> ", "\n", "SCHEDULED: <", "  id:: ", "    ", "| a |"]
)
words = st.sampled_from(["sweep", "mail Kim", "é", "---", "title: x", "C++", "(P1, due 2026-12-01)", "a_b"])
lines = st.builds("{}{}{}".format, signs | heads, words, ends)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.lists(lines, max_size=12).map("\n".join))
def test_a_file_of_any_program_is_the_same_ever_after_its_first_export(fleet: Fleet, text: str):
    a, b, c = (fleet.home(f"device {len(fleet.homes)}") for _ in range(3))
    bring_list(a, text)
    assert bring_list(a, text) == ImportResult(unchanged=len(stored_tasks(a)))
    first = export(a, "markdown")
    bring_list(b, without_ids(first))
    second = export(b, "markdown")
    assert without_ids(second) == without_ids(first)
    bring_list(c, second)
    assert (without_ids(export(c, "markdown")), task_contents(c)) == (without_ids(second), task_contents(b))
    count = commits(a)
    assert bring_list(a, first).updated == 0
    assert commits(a) == count
