"""Bringing plans into real stores: once, again, and beside a person's own work.

Never goes below the use cases, but for what only a tombstone or another device would do.
"""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from daemon.formats.core.importer import PART_ELEMENTS, ImportResult
from daemon.formats.readers import read_plan
from daemon.journal import checklist_items, entries, tasks
from daemon.journal.checklist_items import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.views.structures import Task
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite
from syncproto.commit import COMMIT_BYTES_MAX
from syncproto.ids import id_from_text
from tests.daemon.formats.core.imported_lists import (
    GARDEN,
    PAPERS,
    bring,
    bring_part,
    commits,
    edit,
    lines,
    show,
    titles,
    work_of,
)
from tests.daemon.formats.plans import export, record
from tests.support.fleet import Fleet, Home


def in_order(home: Home, task: Task) -> list[str]:
    """Return the texts of a task's entries by their places, which stand for the file's order."""
    placed = [(home.entity(id_from_text(entry.id)).text("position"), entry.text) for entry in task.entries]
    return [text for _, text in sorted(placed)]


def test_a_markdown_file_is_in_the_journal_after_one_import(a: Home):
    result = bring(a, GARDEN)
    assert result == ImportResult(tasks=2, entries=3, checklist_items=2)
    beds = show(a, "Beds")
    assert lines(beds) == [(False, "dig"), (True, "rake")]
    assert in_order(a, beds) == ["For spring.", "And autumn."]
    assert {entry.source for entry in beds.entries} == {"import"}
    assert commits(a) == 2


def test_an_export_is_in_the_journal_after_one_import(a: Home):
    blocked = record(2, depends=[PAPERS["uuid"]], status="waiting", wait="20260801T000000Z")
    assert bring(a, export(PAPERS, blocked)) == ImportResult(tasks=2, entries=1)
    task = show(a, "passport")
    assert (task.priority, task.due, task.category, task.labels) == ("P1", "2026-12-01", "Home", ["errand"])
    assert (task.created_at, task.entries[0].happened_at) == (
        "2026-01-02T03:04:05.000Z",
        "2026-01-05T10:11:12.000Z",
    )
    other = show(a, "task 2")
    assert (other.status, other.reason) == ("ON HOLD", "waiting until 2026-08-01")
    (link,) = a.read(lambda snapshot: snapshot.ids_pointing_at(id_from_text(other.id), "link_to"))
    assert a.value(link, "from_id") == id_from_text(task.id)
    assert a.value(link, "type") == "blocks"


@pytest.mark.parametrize(
    "text", [GARDEN, export(PAPERS, record(2, status="deleted"), record(3, status="completed"))]
)
def test_the_same_file_again_writes_no_commit(a: Home, text):
    first = bring(a, text)
    before = commits(a)
    assert bring(a, text) == ImportResult(unchanged=first.tasks)
    assert commits(a) == before


def test_a_dry_run_says_the_same_and_writes_nothing(a: Home):
    assert bring(a, GARDEN, dry_run=True) == ImportResult(tasks=2, entries=3, checklist_items=2)
    assert commits(a) == 0
    assert bring(a, export(PAPERS), dry_run=True).tasks == 1
    assert commits(a) == 0


def test_a_file_with_faults_writes_nothing(a: Home):
    with pytest.raises(Refused) as refusal:
        bring(a, export(PAPERS, record(2, status="odd")))
    assert refusal.value.code is RefusalCode.FAILED
    assert [detail.line for detail in refusal.value.details] == [3]
    assert commits(a) == 0


def chained_records(count: int) -> str:
    """Return a list whose tasks are linked to the one before and share a label."""
    uuids = [record(n)["uuid"] for n in range(count)]
    return export(*(record(n, depends=uuids[max(0, n - 1) : n], tags=["bulk"]) for n in range(count)))


def test_a_large_file_comes_in_parts_that_add_up(a: Home):
    text = chained_records(PART_ELEMENTS)
    work = work_of(text)
    assert len(work.parts) >= 2
    assert [task for part in work.parts for task in part] == list(read_plan("taskwarrior", "x", text).tasks)
    assert bring(a, text, dry_run=True) == ImportResult(tasks=PART_ELEMENTS)
    assert bring(a, text) == ImportResult(tasks=PART_ELEMENTS)
    before = commits(a)
    assert before == PART_ELEMENTS + 1  # the label comes once
    assert bring(a, text) == ImportResult(unchanged=PART_ELEMENTS)
    assert commits(a) == before


def test_what_an_end_half_way_left_out_comes_with_the_next_import(a: Home, b: Home):
    text = chained_records(PART_ELEMENTS)
    work = work_of(text)
    result = bring_part(a, work, work.parts[0])
    assert 0 < result.tasks < PART_ELEMENTS
    assert bring(a, text) == ImportResult(tasks=PART_ELEMENTS - result.tasks, unchanged=result.tasks)
    bring(b, text)
    assert titles(a) == titles(b)
    links = a.read(lambda snapshot: [link.id for link in snapshot.entities("link")])
    assert links == b.read(lambda snapshot: [link.id for link in snapshot.entities("link")])
    assert len(links) == PART_ELEMENTS - 1


def test_what_one_transaction_takes_is_bounded_by_lines_and_notes_too():
    long = "".join(f"- [ ] line {n}\n" for n in range(PART_ELEMENTS))
    work = work_of(f"# First\n\n{long}\n# Second\n\n{long}\n# Third\n\nshort\n")
    assert [[task.title for task in part] for part in work.parts] == [["First"], ["Second"], ["Third"]]


def test_times_before_1970_are_kept_as_they_are(a: Home):
    old = record(
        entry="19550112T131415Z", annotations=[{"entry": "19690720T201740Z", "description": "landed"}]
    )
    bring(a, export(old))
    task = show(a, "task 1")
    assert (task.created_at, task.entries[0].happened_at) == (
        "1955-01-12T13:14:15.000Z",
        "1969-07-20T20:17:40.000Z",
    )


def test_a_format_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(Refused) as refusal:
        read_plan("org", "garden.org", "* dig")
    assert (refusal.value.code, refusal.value.hint) == (
        RefusalCode.USAGE,
        "one of icalendar, markdown, taskwarrior, todotxt",
    )


# --- what the file changed --------------------------------------------------------------------------


def test_what_the_file_changed_is_updated_and_nothing_else_is_written(a: Home):
    bring(a, export(PAPERS, record(2)))
    before = commits(a)
    changed = PAPERS | {"description": "renew both passports", "due": None, "priority": "L", "tags": ["city"]}
    changed |= {"project": None, "modified": "20260301T000000Z"}
    assert bring(a, export(changed, record(2))) == ImportResult(updated=1, unchanged=1)
    task = show(a, "passports")
    assert (task.title, task.due, task.priority) == ("renew both passports", None, "P3")
    assert (task.labels, task.category) == (["city"], None)
    assert task.updated_at == "2026-03-01T00:00:00.000Z"
    assert commits(a) == before + 2  # the new label, and the task


def test_a_line_ticked_in_the_file_is_ticked_here(a: Home):
    bring(a, GARDEN)
    assert bring(a, GARDEN.replace("[ ] dig", "[x] dig")).updated == 1
    assert lines(show(a, "Beds")) == [(True, "dig"), (True, "rake")]


def test_a_new_line_gets_its_place_between_its_neighbours(a: Home):
    bring(a, GARDEN)
    home = a.write(lambda tx: checklist_items.add_item(tx, "Beds", NewItem(title="mine")))
    assert home.checklist_id
    grown = GARDEN.replace("- [ ] dig\n", "- [ ] measure\n- [ ] dig\n- [ ] turn\n- [ ] sieve\n")
    result = bring(a, grown)
    assert (result.updated, result.checklist_items) == (1, 3)
    assert [title for _, title in lines(show(a, "Beds"))] == [
        "measure",
        "dig",
        "turn",
        "sieve",
        "rake",
        "mine",
    ]


def test_a_new_paragraph_gets_its_place_among_the_others(a: Home):
    bring(a, GARDEN)
    bring(a, GARDEN.replace("For spring.\n", "For spring.\n\nAnd summer.\n"))
    assert in_order(a, show(a, "Beds")) == ["For spring.", "And summer.", "And autumn."]


def test_what_the_file_no_longer_has_stays(a: Home):
    bring(a, GARDEN)
    bring(a, "# Beds\n\n- [x] rake\n")
    assert titles(a) == ["Beds", "Shed"]
    assert lines(show(a, "Beds")) == [(False, "dig"), (True, "rake")]


# --- more than one device, more than one commit -----------------------------------------------------


def test_two_devices_that_import_the_same_file_apart_have_one_journal_without_conflicts(
    fleet: Fleet, a: Home, b: Home
):
    for text in (GARDEN, export(PAPERS, record(2, status="deleted"))):
        bring(a, text)
        bring(b, text)
    fleet.sync()
    assert titles(a) == titles(b) == ["Beds", "Shed", "renew passport"]
    task = show(a, "Beds")
    assert lines(task) == [(False, "dig"), (True, "rake")]
    assert task.conflicts == show(a, "passport").conflicts == []
    before = commits(a)
    bring(a, GARDEN)
    bring(a, export(PAPERS))
    assert commits(a) == before


def test_another_device_knows_what_was_imported_here(fleet: Fleet, a: Home, b: Home):
    bring(a, export(PAPERS))
    fleet.sync()
    edit(b, "passport", title="renew it", due=None)
    bring(b, export(PAPERS | {"priority": "L"}))
    task = show(b, "renew it")
    assert (task.due, task.priority) == (None, "P3")


def test_the_usual_checklist_is_shared_with_what_people_add(fleet: Fleet, a: Home, b: Home):
    bring(a, "# Beds\n")
    fleet.sync()
    a.write(lambda tx: checklist_items.add_item(tx, "Beds", NewItem(title="mine")))
    bring(b, "# Beds\n- dig\n")
    fleet.sync()
    (todos,) = show(a, "Beds").checklists
    assert sorted(item.title for item in todos.items) == ["dig", "mine"]


def test_a_task_too_large_for_one_commit_comes_in_several(a: Home):
    note = "é" * 60_000
    notes = [{"entry": f"2026010{n}T101112Z", "description": f"{n}{note}"} for n in range(1, 6)]
    assert bring(a, export(record(annotations=notes))).entries == 5
    assert 3 <= commits(a) <= 5
    sizes = a.read(lambda s: [len(received.signed.body) for _, received in s.read_feed(0, 10)])
    assert max(sizes) <= COMMIT_BYTES_MAX
    before = commits(a)
    assert bring(a, export(record(annotations=notes))).unchanged == 1
    assert commits(a) == before


def test_a_list_too_long_for_one_commit_keeps_its_order(a: Home):
    wanted = [f"line {n}" for n in range(2_000)]
    bring(a, "".join(f"- {title}\n" for title in wanted))
    assert [title for _, title in lines(show(a, "garden"))] == wanted
    assert commits(a) > 1


def test_every_commit_of_an_import_rests_on_its_task(a: Home):
    bring(a, "".join(f"- line {n}\n" for n in range(1_200)))
    bring(a, "".join(f"- line {n}\n" for n in range(1_201)))
    operation_groups = a.read(lambda s: [commit.commit.operations for _, commit in s.read_feed(0, 10)])
    on_task = [
        next(operation for operation in operations if operation.kind == "task")
        for operations in operation_groups
    ]
    assert len(on_task) > 2
    assert [bool(operation.fields) for operation in on_task] == [True, *[False] * (len(on_task) - 1)]


def test_imported_writes_say_where_they_come_from(a: Home):
    bring(a, export(PAPERS))
    version = a.entity(id_from_text(show(a, "passport").id)).version("title")
    assert version is not None
    assert version.source.origin == {
        "by": "import",
        "format": "taskwarrior",
        "at_ms": 1_767_323_045_000,
        "source": PAPERS["uuid"],
    }


def test_a_note_reworded_in_the_file_is_reworded_here_with_its_time(a: Home):
    note = {"entry": "20260105T101112Z", "description": "photo is here"}
    bring(a, export(PAPERS))
    bring(a, export(PAPERS | {"annotations": [note], "modified": "20260301T000000Z"}))
    (entry,) = show(a, "passport").entries
    assert (entry.text, entry.happened_at) == ("photo is here", "2026-01-05T10:11:12.000Z")
    version = a.entity(id_from_text(entry.id)).version("text")
    assert version is not None
    assert version.source.origin == {"by": "import", "format": "taskwarrior", "at_ms": 1_772_323_200_000}


def test_notes_of_a_person_stay_beside_the_files(a: Home):
    bring(a, GARDEN)
    a.write(lambda tx: entries.add(tx, "Beds", NewEntry(text="own")))
    assert bring(a, GARDEN).unchanged == 2
    assert {entry.text for entry in show(a, "Beds").entries} == {"For spring.", "And autumn.", "own"}


# --- laws -------------------------------------------------------------------------------------------

small_files = st.lists(
    st.sampled_from(["# A\n", "## B\n", "- x\n", "- [x] x\n", "  - y\n", "\np\n\n", "q\n", "- z\n"]),
    max_size=12,
).map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(st.lists(small_files, min_size=1, max_size=4))
# The key of a heading that is new must not be the one that the next heading with these words has.
@example(["# A\n## B\n", "# A\n## B\n## B\n- x\n"])
@example(["# A\n  - y\n- x\n", "  - y\n- x\n", "# A\n# A\n## B\n"])
def test_any_file_imported_twice_in_a_row_writes_once(fleet: Fleet, files):
    home = fleet.home(f"device {len(fleet.homes)}")
    for text in files:
        bring(home, text)
        before = commits(home)
        again = bring(home, text)
        assert (again.tasks, again.entries, again.checklist_items, again.updated) == (0, 0, 0, 0)
        assert commits(home) == before


choices = st.fixed_dictionaries(
    {},
    optional={
        "description": st.sampled_from(["one", "two"]),
        "priority": st.sampled_from(["H", "L"]),
        "due": st.sampled_from(["20261201T000000Z", "20261202T000000Z"]),
        "tags": st.lists(st.sampled_from(["a", "b"]), unique=True),
        "status": st.sampled_from(["pending", "completed"]),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(choices, choices, st.sampled_from(["title", "priority", "due", "status"]))
def test_the_file_writes_only_what_it_changed_itself(fleet: Fleet, before, after, own):
    mine = {"title": "mine", "priority": "P0", "due": "2030-01-01", "status": "GROOMED"}
    home = fleet.home(f"device {len(fleet.homes)}")
    bring(home, export(record(**before)))
    (task,) = home.read(lambda s: tasks.list_tasks(s, closed=True, removed=False, brief=True))
    edit(home, task.id, **{own: mine[own]})
    old_task = show(home, task.id)
    bring(home, export(record(**after)))
    now = show(home, task.id)
    attribute = {"title": "description"}.get(own, own)
    unchanged = record(**before).get(attribute) == record(**after).get(attribute)
    assert (getattr(now, own) == mine[own]) is unchanged
    for field, name in (
        ("labels", "tags"),
        ("title", "description"),
        ("due", "due"),
        ("priority", "priority"),
    ):
        if record(**before).get(name) == record(**after).get(name):
            assert getattr(old_task, field) == getattr(now, field)


def test_an_import_leaves_what_another_wrote_at_the_same_time_alone(fleet: Fleet, a: Home, b: Home):
    bring(a, export(PAPERS))
    fleet.sync()
    task = id_from_text(show(a, "passport").id)
    b.set(task, title="renew it")
    bring(a, export(PAPERS | {"priority": "L"}))
    fleet.sync()
    assert a.value(task, "title") == b.value(task, "title") == "renew it"
    assert a.entity(task).conflicts() == {}
    a.write(lambda tx: tx.commit([EntityWrite(task, "task", {"estimate_minutes": 5})]))
    assert bring(a, export(PAPERS | {"priority": "L"})).unchanged == 1
