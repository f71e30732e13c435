"""A person's use cases on tasks.

Never goes below the use cases, but for what another device or an agent wrote.
"""

import pytest

from daemon.journal import tasks
from daemon.journal.references.names import id_from_name
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.views.structures import Task
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text
from tests.support.fleet import Fleet, Home


def add(home: Home, title: str = "Renew the passport", **fields) -> Task:
    return home.write(lambda tx: tasks.add(tx, NewTask(title=title, **fields)))


def edit(home: Home, ref: str, **fields) -> Task:
    return home.write(lambda tx: tasks.edit(tx, ref, TaskEdit(**fields)))


def show(home: Home, ref: str) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, ref))


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


def refusal(use, *args, **fields) -> Refused:
    with pytest.raises(Refused) as error:
        use(*args, **fields)
    return error.value


def test_a_new_task_has_what_was_said_and_defaults_for_the_rest(a: Home):
    task = add(a, "  Renew the passport ", due="2026-03-06", labels=["family"], category="admin")
    assert (task.title, task.status, task.priority) == ("Renew the passport", "OPEN", "P2")
    assert (task.due, task.labels, task.category) == ("2026-03-06", ["family"], "admin")
    assert (task.estimate_minutes, task.reason, task.language) == (None, None, None)
    assert (task.checklists, task.entries, task.conflicts, task.agent_id) == ([], [], [], None)
    assert task == show(a, task.id)


def test_a_task_with_its_labels_is_one_commit(a: Home):
    before = commits(a)
    add(a, labels=["one", "two"], category="three")
    assert commits(a) == before + 1


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "  "},
        {"title": "x" * 401},
        {"title": "x", "status": "DOING"},
        {"title": "x", "priority": "P4"},
        {"title": "x", "due": "2026-02-30"},
        {"title": "x", "due": "20260301"},
        {"title": "x", "due": "friday"},
        {"title": "x", "estimate_minutes": 0},
        {"title": "x", "estimate_minutes": -5},
        {"title": "x", "language": "English"},
        {"title": "x", "labels": [""]},
        {"title": "x", "category": "c" * 101},
        {"title": "x", "status": "BLOCKED"},
        {"title": "x", "status": "ON HOLD", "reason": "  "},
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(a: Home, fields):
    before = commits(a)
    refused = refusal(add, a, **fields)
    assert (refused.code, bool(refused.message)) == (RefusalCode.USAGE, True)
    assert commits(a) == before


def test_a_title_of_400_characters_is_taken_and_its_line_breaks_become_spaces(a: Home):
    assert len(add(a, "x" * 400).title) == 400
    assert add(a, "one\ntwo\tthree").title == "one two three"


@pytest.mark.parametrize("document", ["in progress", "IN_PROGRESS", "In-Progress"])
def test_a_status_is_understood_however_it_is_spelt(a: Home, document):
    assert add(a, status=document).status == "IN PROGRESS"


def test_a_reason_goes_with_the_status_that_needed_it(a: Home):
    task = add(a, status="BLOCKED", reason="no photos")
    assert task.reason == "no photos"
    assert edit(a, task.id, title="Renew it").reason == "no photos"
    assert edit(a, task.id, status="OPEN").reason is None
    assert refusal(edit, a, task.id, status="BLOCKED").code is RefusalCode.USAGE
    assert refusal(edit, a, task.id, status="ON HOLD").code is RefusalCode.USAGE


def test_a_reason_that_was_given_before_stays_with_the_status_that_it_is_given_for_now(
    fleet: Fleet, a: Home, b: Home
):
    task = add(a, status="BLOCKED", reason="no photos")
    fleet.sync()
    edit(b, task.id, status="OPEN")
    fleet.now_ms += 60_000
    edit(a, task.id, status="ON HOLD", reason="no photos")
    fleet.sync()
    assert (show(b, task.id).status, show(b, task.id).reason) == ("ON HOLD", "no photos")
    before = commits(a)
    edit(a, task.id, reason="no photos")
    assert commits(a) == before + 1, "it settled what was in conflict"
    edit(a, task.id, status="ON HOLD", reason="no photos")
    assert commits(a) == before + 2, "the status was still in conflict"
    edit(a, task.id, status="ON HOLD", reason="no photos")
    assert commits(a) == before + 2


def test_the_reason_of_a_blocked_task_cannot_be_taken_away(a: Home):
    task = add(a, status="BLOCKED", reason="no photos")
    assert refusal(edit, a, task.id, reason=None).code is RefusalCode.USAGE
    assert edit(a, task.id, reason="no form").reason == "no form"


def test_a_blocked_task_without_a_reason_from_elsewhere_can_still_be_edited(a: Home):
    task = a.new("task", title="From elsewhere", status="BLOCKED")
    assert edit(a, show(a, "elsewhere").id, title="Renamed").title == "Renamed"
    assert a.value(task, "title") == "Renamed"


def test_null_empties_a_field_and_what_is_left_out_stays(a: Home):
    task = add(a, due="2026-03-06", estimate_minutes=30, category="admin")
    changed = edit(a, task.id, due=None, category=None)
    assert (changed.due, changed.category, changed.estimate_minutes) == (None, None, 30)


def test_labels_come_and_go_one_by_one(a: Home):
    task = add(a, labels=["one", "two"])
    assert edit(a, task.id, add_labels=["three"], remove_labels=["ONE", "unknown"]).labels == ["three", "two"]
    assert edit(a, task.id, labels=["one"]).labels == ["one"]
    assert edit(a, task.id, labels=[]).labels == []


def test_a_label_is_made_once_whatever_its_case_and_on_both_devices(fleet: Fleet, a: Home, b: Home):
    add(a, "On a", labels=["Family"])
    add(b, "On b", labels=["family", "FAMILY"])
    fleet.sync()
    entities = a.read(lambda snapshot: snapshot.entities("label"))
    assert [entity.id for entity in entities] == [id_from_name("label", "family")]
    assert len(show(a, "On b").labels) == 1


def test_labels_added_on_two_devices_at_once_both_stay(fleet: Fleet, a: Home, b: Home):
    task = add(a)
    fleet.sync()
    edit(a, task.id, add_labels=["from a"])
    edit(b, task.id, add_labels=["from b"])
    fleet.sync()
    assert show(a, task.id).labels == show(b, task.id).labels == ["from a", "from b"]


def test_a_name_whose_label_was_renamed_makes_another_label(a: Home):
    task = add(a, labels=["home"])
    a.set(id_from_name("label", "home"), name="house")
    assert show(a, task.id).labels == ["house"]
    other = add(a, "Other", labels=["home"])
    assert (other.labels, show(a, task.id).labels) == (["home"], ["house"])


def test_done_twice_is_done_once(a: Home):
    task = add(a)
    assert a.write(lambda tx: tasks.finish(tx, task.id, tasks.Shift())).status == "DONE"
    before = commits(a)
    assert a.write(lambda tx: tasks.finish(tx, task.id, tasks.Shift())).status == "DONE"
    assert commits(a) == before


def test_writing_again_what_an_agent_wrote_makes_it_the_persons_own(a: Home):
    new_task = add(a)
    task = id_from_text(new_task.id)
    a.write(lambda tx: tx.commit([EntityWrite(task, "task", {"priority": "P1"})], by=AuthorKind.AGENT))
    edit(a, new_task.id, priority="P1")
    version = a.entity(task).version("priority")
    assert version is not None
    assert version.source.by is AuthorKind.USER


def test_lists_hold_open_tasks_unless_asked_for_more(a: Home):
    add(a, "Open")
    add(a, "Done", status="DONE")
    add(a, "Rejected", status="REJECTED")
    removed_task = add(a, "Gone")
    a.write(lambda tx: tasks.remove(tx, removed_task.id))

    def titles(*, closed: bool = False, removed: bool = False) -> list[str]:
        stored_tasks = a.read(
            lambda snapshot: tasks.list_tasks(snapshot, closed=closed, removed=removed, brief=False)
        )
        return [task.title for task in stored_tasks]

    assert titles() == ["Open"]
    assert titles(closed=True) == ["Open", "Done", "Rejected"]
    assert titles(removed=True) == ["Gone"]


def test_a_list_shows_a_task_just_as_the_task_is_shown(a: Home):
    task = add(a, labels=["one"], category="two", due="2026-03-06")
    (listed,) = a.read(lambda snapshot: tasks.list_tasks(snapshot, closed=False, removed=False, brief=False))
    assert listed == show(a, task.id)


def test_a_removed_task_is_gone_until_it_is_restored(a: Home):
    task = add(a)
    a.write(lambda tx: tasks.remove(tx, task.id))
    assert refusal(show, a, task.id).code is RefusalCode.NOT_FOUND
    assert refusal(edit, a, task.id, title="x").code is RefusalCode.NOT_FOUND
    back = a.write(lambda tx: tasks.restore(tx, task.id))
    assert (back.removed, back.conflicts, show(a, task.id).title) == (False, [], task.title)


def test_removing_twice_is_removing_once(a: Home):
    task = add(a)
    a.write(lambda tx: tasks.remove(tx, task.id))
    before = commits(a)
    assert a.write(lambda tx: tasks.remove(tx, task.id)).removed
    assert commits(a) == before


def test_a_task_edited_while_it_was_removed_elsewhere_stays_with_the_conflict_named(
    fleet: Fleet, a: Home, b: Home
):
    task = add(a)
    fleet.sync()
    a.write(lambda tx: tasks.remove(tx, task.id))
    edit(b, task.id, title="Renew it now")
    fleet.sync()
    kept_task = show(a, task.id)
    assert kept_task.title == "Renew it now"
    assert [conflict.field for conflict in kept_task.conflicts] == ["deleted"]
    assert a.write(lambda tx: tasks.restore(tx, task.id)).conflicts == []


def test_edits_apart_show_as_a_conflict_until_someone_writes_over_it(fleet: Fleet, a: Home, b: Home):
    task = add(a)
    fleet.sync()
    edit(a, task.id, title="From a")
    fleet.now_ms += 1000
    edit(b, task.id, title="From b")
    fleet.sync()
    (conflict,) = show(a, task.id).conflicts
    assert (conflict.entity, conflict.kind, conflict.field) == (task.id, "task", "title")
    assert [version.value for version in conflict.versions] == ["From b", "From a"]
    assert conflict.versions[0].by == "user"
    assert conflict.versions[0].device == b.signer.device.hex()
    assert edit(a, task.id, title="From b").conflicts == []


def test_a_write_with_the_clock_that_was_shown_is_concurrent_with_what_came_since(a: Home):
    task = add(a)
    edit(a, task.id, title="Since then")
    late = edit(a, task.id, title="From an old page", base=task.vector_clock)
    assert {version.value for version in late.conflicts[0].versions} == {"Since then", "From an old page"}


def test_a_write_with_the_current_clock_overwrites(a: Home):
    task = add(a)
    now = edit(a, task.id, title="Since then")
    assert edit(a, task.id, title="Newest", base=now.vector_clock).conflicts == []


@pytest.mark.parametrize(
    ("base", "code"),
    [
        ({"00" * 16: 1}, RefusalCode.STALE),
        ({}, RefusalCode.STALE),
        ({"nonsense": 1}, RefusalCode.USAGE),
    ],
)
def test_a_clock_that_was_never_shown_is_refused(a: Home, base, code):
    task = add(a)
    assert refusal(edit, a, task.id, title="x", base=base).code is code


def test_a_clock_beyond_what_is_held_is_refused(a: Home):
    task = add(a)
    base = {replica: counter + 5 for replica, counter in task.vector_clock.items()}
    assert refusal(edit, a, task.id, title="x", base=base).code is RefusalCode.STALE


def test_unknown_fields_of_a_newer_version_do_no_harm(a: Home):
    task = a.new("task", title="From the future", shape={"round": True}, priority="P1")
    shown_task = show(a, "future")
    assert (shown_task.title, shown_task.priority, shown_task.status) == ("From the future", "P1", "OPEN")
    edit(a, shown_task.id, title="From here")
    assert a.value(EntityId(task), "shape") == {"round": True}
