"""Imports beside a person's own work: what both changed, and what either removed.

Never looks at ids: tasks are found by their titles.
"""

from daemon.formats.core.importer import ImportResult
from daemon.journal import checklist_items, tasks
from daemon.journal.checklist_items import ItemEdit
from daemon.journal.references.names import TASK_LABELS, id_from_name
from syncproto.ids import id_from_text
from tests.daemon.formats.core.imported_lists import GARDEN, PAPERS, bring, commits, edit, lines, show, titles
from tests.daemon.formats.plans import export, record
from tests.support.fleet import Home

# --- beside a person's own work ---------------------------------------------------------------------


def test_what_a_person_changed_here_stays_when_the_file_says_the_same_as_before(a: Home):
    bring(a, export(PAPERS))
    edit(a, "passport", title="renew it", priority="P0", due=None, category=None, add_labels=["mine"])
    edit(a, "renew it", remove_labels=["errand"], status="DONE")
    before = commits(a)
    assert bring(a, export(PAPERS)) == ImportResult(unchanged=1)
    assert commits(a) == before
    task = show(a, "renew it")
    assert (task.priority, task.due, task.category, task.labels) == ("P0", None, None, ["mine"])
    assert task.status == "DONE"


def test_a_tick_of_a_person_stays_when_another_line_of_the_file_changes(a: Home):
    bring(a, GARDEN)
    item = show(a, "Beds").checklists[0].items[0].id
    a.write(lambda tx: checklist_items.edit_item(tx, item, ItemEdit(is_checked=True, title="dig deep")))
    bring(a, GARDEN.replace("[x] rake", "[ ] rake"))
    assert lines(show(a, "Beds")) == [(True, "dig deep"), (False, "rake")]


def test_where_file_and_person_changed_different_fields_both_stay(a: Home):
    bring(a, export(PAPERS))
    edit(a, "passport", title="renew it")
    bring(a, export(PAPERS | {"due": "20261224T000000Z"}))
    task = show(a, "renew it")
    assert task.due == "2026-12-24"


def test_where_both_changed_the_same_field_the_newer_word_of_the_file_is_taken_once(a: Home):
    bring(a, export(PAPERS))
    edit(a, "passport", due="2026-11-11")
    changed = export(PAPERS | {"due": "20261224T000000Z"})
    bring(a, changed)
    assert show(a, "passport").due == "2026-12-24"
    edit(a, "passport", due="2026-11-11")
    assert bring(a, changed).unchanged == 1
    assert show(a, "passport").due == "2026-11-11"


def test_a_person_who_came_first_with_the_files_new_word_may_leave_it_again(a: Home):
    bring(a, export(PAPERS))
    edit(a, "passport", due="2026-12-24")
    changed = export(PAPERS | {"due": "20261224T000000Z"})
    bring(a, changed)
    edit(a, "passport", due="2026-11-11")
    bring(a, changed)
    assert show(a, "passport").due == "2026-11-11"


def test_a_renamed_label_is_still_the_files(a: Home):
    bring(a, export(PAPERS))
    a.set(id_from_name("label", "errand"), name="Errands")
    assert bring(a, export(PAPERS, record(2, tags=["ERRAND"]))) == ImportResult(tasks=1, unchanged=1)
    assert show(a, "task 2").labels == show(a, "passport").labels == ["Errands"]


def test_a_label_that_was_made_by_hand_is_used(a: Home):
    edit_task = a.write(lambda tx: tasks.add(tx, tasks.NewTask(title="own", labels=["Errand"])))
    bring(a, export(PAPERS))
    assert show(a, "passport").labels == show(a, edit_task.id).labels == ["Errand"]


def test_a_label_that_was_renamed_to_the_files_word_is_used(a: Home):
    own = a.write(lambda tx: tasks.add(tx, tasks.NewTask(title="own", labels=["chores"])))
    a.set(id_from_name("label", "chores"), name="errand")
    bring(a, export(PAPERS))
    assert a.entity(id_from_text(show(a, "passport").id)).members(TASK_LABELS) == a.entity(
        id_from_text(own.id)
    ).members(TASK_LABELS)


def test_another_label_that_takes_the_old_name_of_the_files_is_another(a: Home):
    bring(a, export(PAPERS))
    a.set(id_from_name("label", "errand"), name="trips")
    a.write(lambda tx: tasks.add(tx, tasks.NewTask(title="own", labels=["chores"])))
    a.set(id_from_name("label", "chores"), name="errand")
    assert bring(a, export(PAPERS)) == ImportResult(unchanged=1)
    assert show(a, "passport").labels == ["trips"]


def test_a_label_that_was_removed_comes_back_where_it_is_given_anew(a: Home):
    bring(a, export(PAPERS))
    a.set(id_from_name("label", "errand"), deleted=True)
    assert bring(a, export(PAPERS)).unchanged == 1
    assert show(a, "passport").labels == []
    bring(a, export(record(2, tags=["errand"])))
    assert show(a, "task 2").labels == ["errand"]


def test_an_item_that_a_person_removed_stays_removed(a: Home):
    bring(a, GARDEN)
    a.set(id_from_text(show(a, "Beds").checklists[0].items[0].id), deleted=True)
    bring(a, GARDEN.replace("[ ] dig", "[x] dig"))
    assert lines(show(a, "Beds")) == [(True, "rake")]


# --- removal ----------------------------------------------------------------------------------------


def test_a_task_that_is_deleted_in_the_file_is_there_and_removed(a: Home):
    note = [{"entry": "20260105T101112Z", "description": "why"}]
    assert bring(a, export(record(status="deleted", annotations=note))).tasks == 1
    assert (titles(a), titles(a, removed=True)) == ([], ["task 1"])


def test_a_task_follows_the_file_out_of_sight_and_back(a: Home):
    bring(a, export(record()))
    bring(a, export(record(status="deleted")))
    assert titles(a) == []
    note = [{"entry": "20260105T101112Z", "description": "why"}]
    assert bring(a, export(record(status="deleted", annotations=note))).updated == 1
    assert titles(a) == []
    bring(a, export(record()))
    assert titles(a) == ["task 1"]


def test_a_task_that_a_person_restored_stays_in_sight(a: Home):
    bring(a, export(record(status="deleted")))
    task = a.read(lambda snapshot: tasks.list_tasks(snapshot, closed=True, removed=True, brief=True))[0]
    a.write(lambda tx: tasks.restore(tx, task.id))
    bring(a, export(record(status="deleted", description="reworded")))
    assert titles(a) == ["reworded"]


def test_a_task_that_a_person_removed_stays_removed_and_is_named_only_if_the_file_changed_it(a: Home):
    bring(a, GARDEN)
    a.write(lambda tx: tasks.remove(tx, "Beds"))
    before = commits(a)
    assert bring(a, GARDEN) == ImportResult(unchanged=1, removed=1)
    result = bring(a, GARDEN.replace("[ ] dig", "[x] dig"))
    assert (result.updated, result.unchanged) == (0, 1)
    assert [(skipped.line, skipped.what) for skipped in result.skipped] == [(1, "Beds")]
    assert commits(a) == before
    assert titles(a) == ["Shed"]
