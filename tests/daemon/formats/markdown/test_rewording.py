"""Markdown files whose headings, items and notes are worded anew: they stay the things that they were.

Never goes below the use cases: files are edited and imported, as a person would.
"""

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.formats.core.importer import ImportResult
from daemon.formats.markdown.reader import parse
from daemon.journal import checklist_items, entries, tasks
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.entries import EntryEdit
from daemon.journal.item_moves import ItemMove, move_item
from daemon.journal.tasks import TaskEdit
from daemon.journal.views.structures import ChecklistItem, Task
from store.upkeep.compaction import Retention, compact_step
from syncproto.ids import id_from_text
from tests.daemon.formats.transfers import bring as bring_as
from tests.daemon.formats.transfers import commits, stored_tasks
from tests.support.fleet import Fleet, Home

GARDEN = """# Order the seeds

- [ ] Look for the old catalogue
- [ ] Ask the neighbours for beans
- [ ] Pay the invoice

Last year they came late.

Carrots did not grow at all.

# Repair the fence

- [ ] Buy nails
- [ ] Paint the gate
"""


def bring(home: Home, text: str) -> ImportResult:
    return bring_as(home, "markdown", text, name="garden.md")


def items(task: Task) -> list[ChecklistItem]:
    return [item for checklist in task.checklists for item in checklist.items]


def ids(task: Task) -> list[str]:
    return [*(item.id for item in items(task)), *sorted(entry.id for entry in task.entries)]


def texts(task: Task) -> list[str]:
    return [item.title for item in items(task)]


def settled(home: Home, text: str) -> bool:
    before = commits(home)
    return not bring(home, text).updated and commits(home) == before


def test_a_reworded_heading_keeps_its_task_with_all_that_it_holds(a: Home) -> None:
    bring(a, GARDEN)
    before = stored_tasks(a)
    after = GARDEN.replace("# Order the seeds", "# Order all the seeds")
    assert bring(a, after) == ImportResult(updated=1, unchanged=1)
    assert [task.title for task in stored_tasks(a)] == ["Order all the seeds", "Repair the fence"]
    assert [(task.id, ids(task)) for task in stored_tasks(a)] == [(task.id, ids(task)) for task in before]
    assert settled(a, after)


def test_a_section_under_a_quite_new_heading_is_known_by_what_it_holds(a: Home) -> None:
    bring(a, GARDEN)
    before = stored_tasks(a)
    after = GARDEN.replace("# Order the seeds", "# Spring")
    assert bring(a, after) == ImportResult(updated=1, unchanged=1)
    assert [(task.id, task.title, ids(task)) for task in stored_tasks(a)] == [
        (before[0].id, "Spring", ids(before[0])),
        (before[1].id, "Repair the fence", ids(before[1])),
    ]
    assert settled(a, after)


def test_a_section_that_gave_way_to_another_is_two_tasks(a: Home) -> None:
    bring(a, GARDEN)
    start = GARDEN.index("# Repair")
    after = GARDEN[:start] + "# Visit grandmother\n\n- [ ] Bake a cake\n"
    result = bring(a, after)
    assert replace(result, gone=()) == ImportResult(tasks=1, checklist_items=1, unchanged=1)
    assert [gone.what for gone in result.gone] == ["Repair the fence"]
    assert [task.title for task in stored_tasks(a)] == [
        "Order the seeds",
        "Repair the fence",
        "Visit grandmother",
    ]


def test_a_reworded_item_keeps_its_tick_and_its_place(a: Home) -> None:
    bring(a, GARDEN)
    before = items(stored_tasks(a)[0])
    a.write(lambda tx: checklist_items.edit_item(tx, before[1].id, ItemEdit(is_checked=True)))
    after = GARDEN.replace("Ask the neighbours for beans", "Ask the neighbours for some beans")
    assert bring(a, after) == ImportResult(updated=1, unchanged=1)
    now = items(stored_tasks(a)[0])
    assert [checklist_item.id for checklist_item in now] == [checklist_item.id for checklist_item in before]
    assert (now[1].title, now[1].is_checked) == ("Ask the neighbours for some beans", True)
    assert settled(a, after)


def test_an_item_that_gave_way_to_another_unlike_it_is_two_items(a: Home) -> None:
    bring(a, GARDEN)
    after = GARDEN.replace("Ask the neighbours for beans", "Sharpen both spades")
    result = bring(a, after)
    assert replace(result, gone=()) == ImportResult(checklist_items=1, updated=1, unchanged=1)
    assert [gone.what for gone in result.gone] == ["Ask the neighbours for beans"]
    assert texts(stored_tasks(a)[0]) == [
        "Look for the old catalogue",
        "Sharpen both spades",
        "Ask the neighbours for beans",
        "Pay the invoice",
    ]
    assert settled(a, after)


def test_a_reworded_note_is_the_same_note(a: Home) -> None:
    bring(a, GARDEN)
    before = stored_tasks(a)[0]
    after = GARDEN.replace("they came late", "they came very late")
    assert bring(a, after) == ImportResult(updated=1, unchanged=1)
    now = stored_tasks(a)[0]
    assert ids(now) == ids(before)
    assert sorted(entry.text for entry in now.entries) == [
        "Carrots did not grow at all.",
        "Last year they came very late.",
    ]
    assert settled(a, after)


def test_sections_that_changed_places_are_the_same_tasks_also_reworded(a: Home) -> None:
    bring(a, GARDEN)
    before = stored_tasks(a)
    start = GARDEN.index("# Repair")
    after = f"{GARDEN[start:]}\n{GARDEN[:start]}".replace("# Repair the fence", "# Repair the old fence")
    assert bring(a, after) == ImportResult(updated=1, unchanged=1)
    assert [(task.id, ids(task)) for task in stored_tasks(a)] == [(task.id, ids(task)) for task in before]
    assert settled(a, after)


def test_a_section_that_went_under_another_is_linked_with_it(a: Home) -> None:
    bring(a, GARDEN)
    before = stored_tasks(a)
    after = GARDEN.replace("# Repair", "## Repair")
    assert bring(a, after) == ImportResult(updated=1, unchanged=1)
    seeds, fence = stored_tasks(a)
    assert (seeds.id, fence.id) == (before[0].id, before[1].id)
    (link,) = a.read(lambda snapshot: snapshot.entities("link"))
    assert (link.value("from_id"), link.value("to_id")) == (id_from_text(fence.id), id_from_text(seeds.id))
    assert settled(a, after)


def test_a_heading_reworded_above_others_keeps_them_and_their_links(a: Home) -> None:
    text = "# House\n\n## Kitchen work\n\n- Sink\n\n# Garden\n\n## Kitchen work\n\n- Herbs\n"
    bring(a, text)
    before = [task.id for task in stored_tasks(a)]
    after = text.replace("# Garden", "# Gardens")
    assert bring(a, after) == ImportResult(updated=2, unchanged=2)
    assert [task.id for task in stored_tasks(a)] == before
    assert stored_tasks(a)[3].title == "Gardens: Kitchen work"
    assert settled(a, after)


def test_the_first_words_of_a_reworded_item_may_come_back_as_another(a: Home) -> None:
    bring(a, "# One\n\n- Call Ann about the boat\n")
    (checklist_item,) = items(stored_tasks(a)[0])
    bring(a, "# One\n\n- Call Ann about the boats\n")
    after = "# One\n\n- Call Ann about the boats\n- Call Ann about the boat\n"
    assert bring(a, after) == ImportResult(checklist_items=1, updated=1)
    now = items(stored_tasks(a)[0])
    assert [listed_checklist_item.title for listed_checklist_item in now] == [
        "Call Ann about the boats",
        "Call Ann about the boat",
    ]
    assert now[0].id == checklist_item.id
    assert settled(a, after)


def test_what_a_person_wrote_or_reworded_here_stays_theirs(a: Home) -> None:
    bring(a, GARDEN)
    task = stored_tasks(a)[1]
    a.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(title="Fence")))
    nails, _ = items(task)
    a.write(lambda tx: checklist_items.edit_item(tx, nails.id, ItemEdit(title="Screws")))
    a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="Paint the gates")))
    after = GARDEN.replace("Paint the gate", "Paint the gate green")
    assert bring(a, after) == ImportResult(updated=1, unchanged=1)
    now = stored_tasks(a)[1]
    assert (now.id, now.title) == (task.id, "Fence")
    assert texts(now) == ["Screws", "Paint the gate green", "Paint the gates"]
    assert settled(a, after)


def test_an_item_removed_here_is_not_taken_for_what_the_file_says_now(a: Home) -> None:
    bring(a, GARDEN)
    nails, _ = items(stored_tasks(a)[1])
    a.write(lambda tx: checklist_items.remove_item(tx, nails.id))
    assert settled(a, GARDEN)
    after = GARDEN.replace("Buy nails", "Buy nails!")
    assert bring(a, after) == ImportResult(checklist_items=1, updated=1, unchanged=1)
    assert texts(stored_tasks(a)[1]) == ["Buy nails!", "Paint the gate"]
    assert settled(a, after)


def test_an_item_that_a_person_put_elsewhere_is_reworded_there(a: Home) -> None:
    bring(a, GARDEN)
    task = stored_tasks(a)[1]
    nails, gate = items(task)
    a.write(lambda tx: move_item(tx, gate.id, ItemMove(before=nails.id)))
    after = GARDEN.replace("Buy nails", "Buy long nails")
    assert bring(a, after) == ImportResult(updated=1, unchanged=1)
    assert [checklist_item.id for checklist_item in items(stored_tasks(a)[1])] == [gate.id, nails.id]
    assert settled(a, after)


def test_a_reworded_file_is_known_again_after_a_compaction(a: Home) -> None:
    note = "write to everybody who came to the house last summer and thank them for it " * 2
    text = f"# Thank the guests\n\n- [ ] Find their addresses\n\n{note}\n"
    bring(a, text)
    after = text.replace("summer", "winter").replace("Find their", "Find all their")
    bring(a, after.replace("# Thank", "# Please thank"))
    (task,) = stored_tasks(a)
    a.write(lambda tx: entries.edit(tx, task.entries[0].id, EntryEdit(text="done")))
    a.write(lambda tx: compact_step(tx, Retention(a.now_ms() + 10**9)))
    assert settled(a, after.replace("# Thank", "# Please thank"))
    assert bring(a, after) == ImportResult(updated=1)
    (now,) = stored_tasks(a)
    assert (now.id, ids(now)) == (task.id, ids(task))
    assert [entry.text for entry in now.entries] == ["done"]


def test_two_devices_that_import_the_same_reworded_file_agree(fleet: Fleet, a: Home, b: Home) -> None:
    bring(a, GARDEN)
    fleet.sync()
    after = GARDEN.replace("# Order the seeds", "# Order seeds").replace("Buy nails", "Buy long nails")
    bring(a, after)
    assert bring(b, after) == ImportResult(updated=2)
    fleet.sync()
    assert len(stored_tasks(a)) == len(stored_tasks(b)) == 2
    assert settled(a, after)


words = st.sampled_from(["buy", "sell", "paint", "gate", "fence", "bean", "seed"])
phrases = st.lists(words, min_size=1, max_size=4).map(" ".join)
marks = st.sampled_from(["# ", "## ", "- ", "- [x] ", "\n"])
files_of = st.lists(st.tuples(marks, phrases).map("".join), max_size=8).map("\n".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.lists(files_of, min_size=2, max_size=4))
def test_whatever_a_file_was_all_that_it_says_now_is_here_and_settled(fleet: Fleet, files: list[str]) -> None:
    home = fleet.home(f"device {len(fleet.homes)}")
    for text in files:
        bring(home, text)
        plan = parse("garden.md", text)
        local_tasks = stored_tasks(home)
        assert Counter(task.title for task in plan.tasks) <= Counter(
            local_task.title for local_task in local_tasks
        )
        counter = Counter(
            item.title for task in plan.tasks for list_ in task.checklists for item in list_.items
        )
        assert counter <= Counter(title for local_task in local_tasks for title in texts(local_task))
        assert settled(home, text)
