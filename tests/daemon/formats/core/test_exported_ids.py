"""Files that name the ids of the journal that they were exported from: imported again, they are exact.

Never goes below the use cases: files are exported, edited as text, and imported.
"""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.file_formats import list_formats
from daemon.formats.core.importer import ImportResult
from daemon.journal import checklist_items, checklists, entries, tasks
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.checklists import NewChecklist
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask, TaskEdit
from tests.daemon.formats.transfers import (
    bring,
    commits,
    export,
    fill,
    journals,
    stored_tasks,
    task_contents,
    without_ids,
)
from tests.support.fleet import Fleet, Home

FORMATS = [row.name for row in list_formats() if not row.keeps_ids]
UNKNOWN = "0123456789abcdef" * 2
TRIALS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)


def garden(home: Home) -> None:
    """Make a task with what people add to it, and a second one."""
    new = NewTask("Order the seeds", priority="P1", due="2026-04-01", category="Garden", labels=["my shop"])
    task = home.write(lambda tx: tasks.add(tx, new)).id
    home.write(lambda tx: checklists.add(tx, task, NewChecklist("Shop")))
    for title, checklist in (("Beans", "Shop"), ("Peas", "Shop"), ("Pay", "Todos")):
        item = NewItem(title, checklist=checklist)
        home.write(lambda tx, item=item: checklist_items.add_item(tx, task, item))  # type: ignore[misc]
    for text in ("Last year they came late.", "Two\n\nparagraphs", "- a list"):
        home.write(lambda tx, text=text: entries.add(tx, task, NewEntry(text)))  # type: ignore[misc]
    home.write(lambda tx: tasks.add(tx, NewTask("Repair the fence", status="BLOCKED", reason="rain")))


def parts(home: Home) -> list[tuple[str, str]]:
    """Return the ids and words of all items and notes."""
    items = [(i.id, i.title) for task in stored_tasks(home) for list_ in task.checklists for i in list_.items]
    return [*items, *((note.id, note.text) for task in stored_tasks(home) for note in task.entries)]


def ids(home: Home) -> list[str]:
    return [*(task.id for task in stored_tasks(home)), *(part for part, _ in parts(home))]


def edited(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@TRIALS
@given(journals)
@pytest.mark.parametrize("format_", FORMATS)
def test_an_export_that_nobody_edited_changes_nothing(fleet: Fleet, format_: str, journal: Any) -> None:
    home = fleet.home(f"device {len(fleet.homes)}")
    fill(home, journal)
    text, before, count = export(home, format_), stored_tasks(home), commits(home)
    assert bring(home, format_, text) == ImportResult(unchanged=len(journal))
    assert (stored_tasks(home), commits(home), export(home, format_)) == (before, count, text)


@TRIALS
@given(journals, st.data())
def test_headings_items_and_notes_keep_their_ids_in_any_order_and_under_any_words(
    fleet: Fleet, journal: Any, data: st.DataObject
) -> None:
    home = fleet.home(f"device {len(fleet.homes)}")
    fill(home, journal)
    before = ids(home)
    sections = re.split(r"(?m)^(?=# .*placet:[0-9a-f]{32} -->$)", export(home, "markdown"))
    wanted = []
    for number, section in enumerate(
        data.draw(st.permutations([listed_section for listed_section in sections if listed_section]))
    ):
        words = iter(range(len(section)))
        # Every line with a comment is worded anew; what stands in fences keeps its words.
        wanted.append(
            re.sub(
                r"(?m)^(# |- \[[ x]\] |(?=[^#\-`]))(?:(?!<!--).)* <!--",
                lambda match: f"{match[1]}word {number} {next(words)} <!--",  # noqa: B023
                section,
            )
        )
    bring(home, "markdown", "\n".join(wanted))
    assert sorted(ids(home)) == sorted(before)


def test_an_edited_markdown_export_updates_what_it_was_exported_from(a: Home) -> None:
    garden(a)
    before, text = ids(a), export(a, "markdown")
    text = edited(text, "# Order the seeds (P1, due 2026-04-01)", "# [x] Buy bulbs (due 2026-05-01)")
    text = edited(text, "- [ ] Shop: Beans", "- [x] Shop: Runner beans")
    text = edited(text, "- [ ] Pay ", "- [ ] Pay at once ")
    text = edited(text, "came late.", "came in May.")
    text = edited(text, "Two\n\nparagraphs", "Three\n\nlong\n\nparagraphs")
    text = edited(text, "(BLOCKED: rain)", "(ON HOLD: snow)")
    assert bring(a, "markdown", text) == ImportResult(updated=2)
    first, second = stored_tasks(a)
    assert ids(a) == before
    assert (first.title, first.status, first.priority, first.due) == ("Buy bulbs", "DONE", "P2", "2026-05-01")
    assert (first.category, first.labels) == ("Garden", ["my shop"])
    assert [checklist.title for checklist in first.checklists] == ["Shop", "Todos"]
    assert [(i.title, i.is_checked) for checklist in first.checklists for i in checklist.items] == [
        *(("Runner beans", True), ("Peas", False), ("Pay at once", False)),
    ]
    assert [note.text for note in first.entries] == [
        *("Last year they came in May.", "Three\n\nlong\n\nparagraphs", "- a list"),
    ]
    assert (second.status, second.reason) == ("ON HOLD", "snow")
    assert export(a, "markdown") == text
    count = commits(a)
    assert bring(a, "markdown", text) == ImportResult(unchanged=2)
    assert commits(a) == count


def test_an_edited_todotxt_export_updates_what_it_was_exported_from(a: Home) -> None:
    garden(a)
    before, text = ids(a), export(a, "todotxt")
    text = edited(text, "(B) 2026-03-20 Order the seeds +Garden @my_shop", "2026-03-20 Buy bulbs +House @new")
    text = edited(text, "status:blocked reason:rain", "estimate:30min")
    assert bring(a, "todotxt", "\n".join(reversed(text.splitlines()))) == ImportResult(updated=2)
    first, second = stored_tasks(a)
    assert ids(a) == before
    assert (first.title, first.category, first.labels) == ("Buy bulbs", "House", ["new"])
    assert first.due == "2026-04-01"
    assert (second.status, second.reason, second.estimate_minutes) == ("OPEN", None, 30)
    assert len(first.entries) == 3


def test_what_is_new_in_an_exported_file_is_added_beside_the_rest(a: Home) -> None:
    garden(a)
    before, text = ids(a), export(a, "markdown")
    text = edited(text, "- [ ] Pay ", "- [ ] Compare prices\n- [ ] Pay ")
    text += "\nA new note.\n\n# A third task\n\n- [ ] its item\n"
    assert bring(a, "markdown", text) == ImportResult(tasks=1, entries=1, checklist_items=2, updated=2)
    assert set(before) < set(ids(a))
    assert [task.title for task in stored_tasks(a)] == ["Order the seeds", "Repair the fence", "A third task"]
    assert [i.title for checklist in stored_tasks(a)[0].checklists for i in checklist.items] == [
        *("Beans", "Peas", "Compare prices", "Pay"),
    ]


@pytest.mark.parametrize("format_", FORMATS)
def test_an_export_of_another_journal_makes_new_tasks_once(a: Home, b: Home, format_: str) -> None:
    garden(a)
    text = export(a, format_)
    assert bring(b, format_, text).tasks == 2
    assert not set(ids(a)) & set(ids(b))
    count = commits(b)
    assert bring(b, format_, text) == ImportResult(unchanged=2)
    assert commits(b) == count


@pytest.mark.parametrize("format_", FORMATS)
def test_an_export_without_ids_is_known_by_its_words_as_before(a: Home, b: Home, format_: str) -> None:
    garden(a)
    text = without_ids(export(a, format_))
    assert bring(b, format_, text) == bring(a, format_, text)
    assert bring(b, format_, text) == ImportResult(unchanged=2)
    assert bring(b, format_, edited(text, "Order the seeds", "Order all the seeds")).updated == 1
    assert [task.title for task in stored_tasks(b)] == ["Order all the seeds", "Repair the fence"]


def test_an_id_of_another_kind_or_task_or_of_nothing_changes_nothing_there(a: Home) -> None:
    garden(a)
    first, second = stored_tasks(a)
    item, note = first.checklists[0].items[0].id, first.entries[0].id
    before = stored_tasks(a)
    hostile = "".join(
        f"# Taken {number} <!-- placet:{id_} -->\n\n- [x] taken <!-- placet:{first.id} -->\n\n"
        f"taken <!-- placet:{item} -->\n\n"
        for number, id_ in enumerate((item, note, UNKNOWN, "0" * 32, "f" * 32))
    )
    assert bring(a, "markdown", hostile) == ImportResult(tasks=5, checklist_items=5, entries=5)
    assert stored_tasks(a)[:2] == before
    mixed = f"# Repair the fence (BLOCKED: rain) <!-- placet:{second.id} -->\n\n"
    mixed += (
        f"- [x] taken <!-- placet:{item} -->\n- [x] x <!-- placet:{note} -->\n\ny <!-- placet:{note} -->\n"
    )
    assert bring(a, "markdown", mixed) == ImportResult(checklist_items=2, entries=1, updated=1)
    assert stored_tasks(a)[0] == before[0]


@pytest.mark.parametrize("text", ["ABCDEF" * 5 + "AB", "1" * 31, "1" * 33, "x" * 32, "", "../" * 10])
def test_what_is_no_id_stays_text(a: Home, text: str) -> None:
    bring(a, "markdown", f"# One <!-- placet:{text} -->\n")
    bring(a, "todotxt", f"Two placet:{text} words\n")
    assert [task.title for task in stored_tasks(a)] == [
        f"One <!-- placet:{text} -->",
        f"Two placet:{text} words",
    ]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_removed_task_is_not_brought_back_by_its_id(a: Home, format_: str) -> None:
    garden(a)
    text = export(a, format_)
    a.write(lambda tx: tasks.remove(tx, "Order the seeds"))
    assert bring(a, format_, text) == ImportResult(unchanged=1, removed=1)
    result = bring(a, format_, edited(text, "Order the seeds", "Order bulbs"))
    assert [(skipped.what, skipped.why.split(",")[0]) for skipped in result.skipped] == [
        ("Order bulbs", "changed in the file"),
    ]
    assert [task.title for task in stored_tasks(a)] == ["Repair the fence"]
    assert [task.title for task in stored_tasks(a, removed=True)] == ["Order the seeds"]


def test_removed_and_archived_parts_stay_out_of_sight(a: Home) -> None:
    garden(a)
    text = export(a, "markdown")
    by_words, note = {words: part for part, words in parts(a)}, stored_tasks(a)[0].entries[0]
    a.write(lambda tx: checklist_items.remove_item(tx, by_words["Beans"]))
    a.write(lambda tx: checklist_items.edit_item(tx, by_words["Peas"], ItemEdit(is_archived=True)))
    a.write(lambda tx: entries.remove(tx, note.id))
    before = stored_tasks(a)
    text = edited(edited(text, "Shop: Beans", "Shop: All beans"), "came late", "came in May")
    assert bring(a, "markdown", text) == ImportResult(unchanged=2)
    assert stored_tasks(a) == before


def test_an_id_that_a_file_has_twice_counts_the_first_time(a: Home) -> None:
    garden(a)
    text = export(a, "markdown")
    line = next(listed_line for listed_line in text.splitlines() if "Beans" in listed_line)
    text = edited(text, line, f"{line}\n{line.replace('Shop: Beans', 'Radishes')}")
    assert bring(a, "markdown", text) == ImportResult(checklist_items=1, updated=1, unchanged=1)
    assert sorted(i.title for checklist in stored_tasks(a)[0].checklists for i in checklist.items) == [
        *("Beans", "Pay", "Peas", "Radishes"),
    ]
    count = commits(a)
    assert bring(a, "markdown", text) == ImportResult(unchanged=2)
    assert commits(a) == count


def test_a_task_that_a_file_has_twice_is_updated_by_the_first(a: Home) -> None:
    garden(a)
    text = export(a, "todotxt")
    twice = text + edited(text.splitlines()[0], "Order the seeds", "Dig the beds") + "\n"
    assert bring(a, "todotxt", twice) == ImportResult(tasks=1, unchanged=2)
    assert [task.title for task in stored_tasks(a)] == ["Order the seeds", "Repair the fence", "Dig the beds"]


def test_what_a_person_changed_since_the_file_was_imported_stays(a: Home) -> None:
    garden(a)
    text = edited(export(a, "markdown"), "Order the seeds", "Buy bulbs")
    bring(a, "markdown", text)
    a.write(lambda tx: tasks.edit(tx, "Buy bulbs", TaskEdit(title="Buy tulips")))
    bring(a, "markdown", text)
    assert stored_tasks(a)[0].title == "Buy tulips"


def test_a_title_that_ends_in_a_comment_of_its_own_is_kept(a: Home, b: Home) -> None:
    odd = f"Mind <!-- placet:{UNKNOWN} --> this <!-- placet:{UNKNOWN} -->"
    task = a.write(lambda tx: tasks.add(tx, NewTask(odd))).id
    a.write(lambda tx: entries.add(tx, task, NewEntry(odd)))
    a.write(lambda tx: checklist_items.add_item(tx, task, NewItem(odd)))
    text, count = export(a, "markdown"), commits(a)
    assert bring(a, "markdown", text) == ImportResult(unchanged=1)
    assert commits(a) == count
    bring(b, "markdown", text)
    assert task_contents(b) == task_contents(a)
