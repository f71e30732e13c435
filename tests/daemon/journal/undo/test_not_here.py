"""What an undo leaves because of how things are now, although nobody wrote to the value itself."""

import pytest

from daemon.journal import categories, labels, preferences, tasks, time_records
from daemon.journal.categories import NewCategory
from daemon.journal.labels import LabelEdit, NewLabel
from daemon.journal.preferences import NewPreference, PreferenceEdit
from daemon.journal.tasks import TaskEdit
from daemon.journal.time_records import TimeEdit
from store.transaction import EntityWrite
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.journal.undo.acts import TYPED, Parts, change, make_parts, undo
from tests.daemon.journal.undo.whole_journal import whole_journal
from tests.support.fleet import Fleet, Home


@pytest.fixture
def parts(a: Home) -> Parts:
    return a.write(make_parts)


def edit_time(home: Home, record: str, started: str | None = None, ended: str | None = None) -> str:
    times = {"started_at": started, "ended_at": ended}
    fields = {name: value for name, value in times.items() if value is not None}
    return change(home, lambda tx: time_records.edit(tx, record, TimeEdit(**fields), TYPED))  # type: ignore[arg-type]


def bounds(home: Home, record: str) -> tuple[object, ...]:
    entity = home.entity(EntityId(id_from_text(record)))
    return entity.text("started_at")[11:16], entity.text("ended_at")[11:16]


def test_a_record_is_not_made_to_end_before_it_begins(fleet: Fleet, a: Home, parts: Parts) -> None:
    edit_time(a, parts.record, "2026-03-01T10:00Z", "2026-03-01T11:00Z")
    earlier = edit_time(a, parts.record, started="2026-03-01T08:00Z")
    edit_time(a, parts.record, ended="2026-03-01T09:00Z")
    undone = undo(a, earlier)
    assert [(left.field, left.why_id) for left in undone.left] == [("started_at", "would-end-before-start")]
    assert bounds(a, parts.record) == ("08:00", "09:00")


def test_a_note_of_a_record_comes_back_where_its_times_do_not(a: Home, parts: Parts) -> None:
    edit_time(a, parts.record, "2026-03-01T10:00Z", "2026-03-01T11:00Z")
    both = TimeEdit(started_at="2026-03-01T08:00Z", note="Queue")
    earlier = change(a, lambda tx: time_records.edit(tx, parts.record, both, TYPED))
    edit_time(a, parts.record, ended="2026-03-01T09:00Z")
    undone = undo(a, earlier)
    assert ([row.field for row in undone.written], len(undone.left)) == (["note"], 1)


def test_a_stretch_that_was_moved_is_not_put_back_by_half(
    fleet: Fleet, a: Home, b: Home, parts: Parts
) -> None:
    b.enter_device("Phone")
    edit_time(a, parts.record, "2026-03-01T10:00Z", "2026-03-01T11:00Z")
    moved = edit_time(a, parts.record, "2026-03-01T14:00Z", "2026-03-01T15:00Z")
    fleet.sync()
    edit_time(b, parts.record, ended="2026-03-01T16:00Z")
    fleet.sync()
    undone = undo(a, moved)
    assert {left.field: left.why for left in undone.left} == {
        "started_at": "it was changed since, on Phone",
        "ended_at": "it was changed since, on Phone",
    }
    assert bounds(a, parts.record) == ("14:00", "16:00")


def test_a_status_and_its_reason_come_back_together_or_not_at_all(a: Home, parts: Parts) -> None:
    blocked = change(a, lambda tx: tasks.edit(tx, parts.task, TaskEdit(status="BLOCKED", reason="photo")))
    a.write(lambda tx: tasks.edit(tx, parts.task, TaskEdit(reason="rain")))
    assert {left.field for left in undo(a, blocked).left} == {"status", "reason"}
    shown = a.read(lambda snapshot: tasks.show(snapshot, parts.task))
    assert (shown.status, shown.reason) == ("BLOCKED", "rain")


def test_a_label_or_category_that_was_removed_since_is_not_put_back_unseen(a: Home, parts: Parts) -> None:
    taken = change(
        a, lambda tx: tasks.edit(tx, parts.task, TaskEdit(labels=[], category=None, priority="P0"))
    )
    a.write(lambda tx: labels.remove(tx, "home"))
    a.write(lambda tx: categories.remove(tx, "Papers"))
    undone = undo(a, taken)
    assert [row.field for row in undone.written] == ["priority"]
    assert sorted((left.field, left.why) for left in undone.left) == [
        ("category_id", "the category 'Papers' was removed since; bring it back first"),
        ("label_ids/home", "the label 'home' was removed since; bring it back first"),
    ]
    a.write(lambda tx: labels.restore(tx, "home"))
    a.write(lambda tx: categories.restore(tx, "Papers"))
    assert undo(a, taken).left == []
    shown = a.read(lambda snapshot: tasks.show(snapshot, parts.task))
    assert (shown.labels, shown.category) == (["home"], "Papers")


def test_what_is_for_a_category_that_was_removed_since_is_not_put_back_unseen(a: Home, parts: Parts) -> None:
    a.write(lambda tx: categories.add(tx, NewCategory(name="Trips")))
    a.write(lambda tx: labels.add(tx, NewLabel(name="far", categories=["Trips"])))
    text = a.write(lambda tx: preferences.add(tx, NewPreference(text="Be kind", category="Trips"))).id
    changes = [
        change(a, lambda tx: labels.edit(tx, "far", LabelEdit(categories=[]))),
        change(a, lambda tx: preferences.edit(tx, text, PreferenceEdit(category=None))),
    ]
    a.write(lambda tx: categories.remove(tx, "Trips"))
    assert [[left.why_id for left in undo(a, name).left] for name in changes] == [["above-was-removed"]] * 2


def test_a_label_that_comes_back_with_what_has_it_is_put_back(a: Home, parts: Parts) -> None:
    before = a.read(whole_journal)
    first = change(a, lambda tx: tasks.edit(tx, parts.task, TaskEdit(labels=[])))
    last = change(a, lambda tx: labels.remove(tx, "home"))
    assert undo(a, f"{first}, {last}").left == []
    assert a.read(whole_journal) == before


def test_a_label_that_cannot_come_back_is_not_given_to_what_comes_back(a: Home, parts: Parts) -> None:
    task = EntityId(id_from_text(parts.task))
    label = a.read(lambda snapshot: snapshot.entities("label"))[0].id
    both = [
        EntityWrite(task, "task", {f"label_ids/{id_to_text(label)}": False}),
        EntityWrite(label, "label", {"deleted": True}),
    ]
    taken = change(a, lambda tx: tx.commit(both))
    a.write(lambda tx: labels.add(tx, NewLabel(name="other")))
    a.write(lambda tx: labels.edit(tx, "other", LabelEdit(name="HOME")))
    undone = undo(a, taken)
    assert [(left.kind, left.why_id) for left in undone.left] == [
        ("label", "name-of-another"),
        ("task", "above-was-removed"),
    ]
