"""Who wrote each value: shown with it, for people, agents, imports and newer versions alike.

Never reads what is kept, only what is shown.
"""

from typing import Any

import pytest
from msgspec import UNSET, to_builtins

from daemon.agents.deciding import decisions
from daemon.cli.terminal.display import Display
from daemon.cli.views.journal.history import change_list
from daemon.cli.views.journal.origins import origin_words
from daemon.journal import checklist_items, entries, tasks
from daemon.journal.change_log import list_changes
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.fields.imported_provenance import OriginalWrite, encode_origin
from daemon.journal.references.undo_marks import mark_write
from daemon.journal.task_timeline import task_timeline
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.views.structures import Origin, Task
from daemon.words.task_parts import tick_words
from store.transaction import EntityWrite
from syncproto.ids import DeviceId, EntityId, ReplicaId, id_from_text, id_to_text
from syncproto.vector_clock import Head
from tests.daemon.journal.undo.acts import undo
from tests.support.fleet import START_MS, Fleet, Home


@pytest.fixture
def task(a: Home) -> Task:
    return a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the passport", labels=["home"])))


def show(home: Home, task: Task, *, provenance: bool = False) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id, provenance=provenance))


def origin(home: Home, task: Task, field: str) -> Origin:
    answer: Any = show(home, task, provenance=True).provenance
    result = answer[field]
    assert isinstance(result, Origin)
    return result


def edit(home: Home, task: Task, **fields) -> Task:
    return home.write(lambda tx: tasks.edit(tx, task.id, TaskEdit(**fields)))


def test_each_field_says_who_wrote_it_when_and_where(fleet: Fleet, a: Home, b: Home, task: Task):
    fleet.sync()
    fleet.now_ms += 60_000
    edit(b, task, priority="P0")
    fleet.sync()
    title, priority = origin(a, task, "title"), origin(a, task, "priority")
    assert (title.by, title.at, title.device) == ("user", "2026-03-20T09:46:40.000Z", a.signer.device.hex())
    assert (priority.at, priority.device) == ("2026-03-20T09:47:40.000Z", b.signer.device.hex())
    assert (priority.item_id, priority.imported_from) == (None, None)
    assert origin(a, task, "label_ids/home").by == "user"


@pytest.mark.parametrize("edited", [False, True])
def test_what_was_proposed_is_shown_as_what_a_person_confirmed_or_edited(a: Home, task: Task, edited: bool):
    ref = EntityId(id_from_text(task.id))
    (item,) = a.propose(ref, "wake", ("add_checklist_item", {"title": "Two photos"}))
    more: dict[str, Any] = {"edit": {"title": "Three photos"}} if edited else {}
    a.write(lambda tx: decisions.confirm(tx, item, via="cli", **more))
    shown_item: Any = show(a, task, provenance=True).checklists[0].items[0]
    title = shown_item.provenance["title"]
    change = next(
        change for change in a.read(lambda now: list_changes(now, shown_item.id, limit=9)) if change.after
    )
    moment = a.read(lambda now: task_timeline(now, task.id)).moments[0]
    by = "user" if edited else "agent"
    assert (title.by, title.item_id, moment.by) == (by, id_to_text(item), "user")
    assert {title.as_proposed, change.as_proposed, shown_item.checked_as_proposed} == {not edited}
    who = "you, with edits to a proposal" if edited else "you, as an agent proposed"
    display = Display(width=100)
    assert tick_words(to_builtins(shown_item), None).startswith(f"set by {who}, ")
    assert origin_words(to_builtins(title), display).startswith(f"{who}, ")
    assert who.removeprefix("you") in next(change_list([to_builtins(change)], display))


def confirmed_estimate(home: Home, task: Task, minutes: int) -> EntityId:
    item = home.estimate(EntityId(id_from_text(task.id)), minutes)
    home.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    return item


def test_a_confirmed_value_that_an_undo_puts_back_says_what_it_was(a: Home, task: Task):
    item = confirmed_estimate(a, task, 120)
    edit(a, task, estimate_minutes=45)
    undone = undo(a)
    reported = origin(a, task, "estimate_minutes")
    assert (reported.item_id, reported.as_proposed, reported.is_put_back) == (id_to_text(item), True, True)
    words = origin_words(to_builtins(reported), Display(width=100))
    assert words.startswith("you, as an agent proposed, ")
    assert words.endswith(", put back by an undo")
    # What counts is the person's own word all the same, and no verdict takes it away.
    assert reported.by == "user"
    a.write(lambda tx: decisions.undo(tx, item, via="cli"))
    assert show(a, task).estimate_minutes == 120
    undo(a, undone.undo)
    reported = origin(a, task, "estimate_minutes")
    assert (reported.item_id, reported.is_put_back) == (None, UNSET)


def test_what_undos_of_undos_put_back_says_what_it_was_at_first(a: Home, task: Task):
    item = confirmed_estimate(a, task, 120)
    edit(a, task, estimate_minutes=45)
    name = undo(a).undo
    for _turn in ("redo", "undo", "redo", "undo"):
        name = undo(a, name).undo
    assert origin(a, task, "estimate_minutes").item_id == id_to_text(item)


def test_a_value_that_was_never_proposed_is_not_taken_for_one(a: Home, task: Task):
    confirmed_estimate(a, task, 120)
    edit(a, task, estimate_minutes=45, title="Another")
    undo(a)
    assert origin(a, task, "title").is_put_back is UNSET
    # A device that marks another value as put back is not believed.
    change = a.read(lambda snapshot: snapshot.log.head_at(snapshot.feed_end() - 1))
    forged = EntityWrite(id_from_text(task.id), "task", {"estimate_minutes": 7})
    a.write(lambda tx: tx.commit([forged, mark_write(tx, change, 0)]))
    assert origin(a, task, "estimate_minutes").item_id is None


def test_what_was_imported_keeps_its_time_and_says_when_it_came_in(a: Home, task: Task):
    index = START_MS - 1_000_000
    write = EntityWrite(
        id_from_text(task.id), "task", {"due": "2026-04-01"}, origin={"format": "todotxt", "at_ms": index}
    )
    a.write(lambda tx: tx.commit([write]))
    reported_origin = origin(a, task, "due")
    assert (reported_origin.at, reported_origin.imported_from) == ("2026-03-20T09:30:00.000Z", "todotxt")
    assert reported_origin.imported_at == "2026-03-20T09:46:40.000Z"


def test_what_came_from_another_journal_names_the_device_that_wrote_it_there(a: Home, task: Task):
    head = Head(ReplicaId(bytes(16)), 1, bytes(32))
    original_write = OriginalWrite(START_MS - 1000, 0, DeviceId(bytes(32)), "old laptop", head, None, None)
    write = EntityWrite(
        id_from_text(task.id), "task", {"due": "2026-04-01"}, origin=encode_origin(original_write)
    )
    a.write(lambda tx: tx.commit([write]))
    reported_origin = origin(a, task, "due")
    assert (reported_origin.imported_from, reported_origin.imported_device, reported_origin.at) == (
        "jsonl",
        "old laptop",
        "2026-03-20T09:46:39.000Z",
    )


def test_what_belongs_to_a_task_says_it_where_it_is_asked_for(fleet: Fleet, a: Home, task: Task):
    item = a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="Photos")))
    a.write(lambda tx: entries.add(tx, task.id, NewEntry(text="x")))
    fleet.now_ms += 60_000
    a.write(lambda tx: checklist_items.edit_item(tx, item.id, ItemEdit(is_checked=True)))
    brief, full_task = show(a, task), show(a, task, provenance=True)
    assert (brief.checklists[0].items[0].provenance, brief.entries[0].provenance) == (UNSET, UNSET)
    answer: Any = full_task.checklists[0].items[0].provenance
    assert (answer["title"].at, answer["is_checked"].at) == (
        "2026-03-20T09:46:40.000Z",
        "2026-03-20T09:47:40.000Z",
    )
    of_entry: Any = full_task.entries[0].provenance
    assert of_entry["text"].by == "user"


def test_the_statuses_of_a_task_are_its_history(fleet: Fleet, a: Home, task: Task):
    edit(a, task, status="BLOCKED", reason="no form")
    fleet.now_ms += 60_000
    edit(a, task, title="T")
    edit(a, task, status="DONE")
    assert show(a, task).status_history is UNSET
    steps: Any = show(a, task, provenance=True).status_history
    assert [(step.status, step.reason, step.origin.by) for step in steps] == [
        ("OPEN", None, "user"),
        ("BLOCKED", "no form", "user"),
        ("DONE", None, "user"),
    ]
    assert steps[-1].origin.at == "2026-03-20T09:47:40.000Z"


def test_a_status_that_was_undone_is_none_that_the_task_has_had(a: Home, task: Task):
    item = a.estimate(id_from_text(task.id), 120)
    write = EntityWrite(id_from_text(task.id), "task", {"status": "GROOMED"}, effect=item)
    a.write(lambda tx: tx.commit([write]))
    steps: Any = show(a, task, provenance=True).status_history
    assert [step.status for step in steps] == ["OPEN"]
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    steps = show(a, task, provenance=True).status_history
    assert [step.status for step in steps] == ["OPEN", "GROOMED"]


def test_what_a_newer_version_wrote_is_shown_as_unknown(a: Home, task: Task):
    item = a.write(lambda tx: checklist_items.add_item(tx, task.id, NewItem(title="Photos")))
    assert show(a, task).unknown is UNSET
    a.set(id_from_text(task.id), mood="sunny", friend=EntityId(bytes(range(16))))
    a.set(id_from_text(item.id), weight=3)
    shown_task = show(a, task)
    assert shown_task.unknown == {"mood": "sunny", "friend": id_to_text(EntityId(bytes(range(16))))}
    assert shown_task.checklists[0].items[0].unknown == {"weight": 3}
    assert origin(a, task, "mood").by == "user"
