"""An undo that left something, asked for again: it does the rest, or says what is left and why."""

import pytest

from daemon.journal import entries, preferences, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.preferences import NewPreference
from daemon.journal.references.change_names import find_changes
from daemon.journal.references.undo_marks import mark_of
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.undo.changes import last_change
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.journal.undo.acts import change, undo
from tests.daemon.journal.undo.whole_journal import whole_journal
from tests.support.fleet import Fleet, Home


class Scene:
    """A change of title and priority; another device changed the title since."""

    def __init__(self, fleet: Fleet, a: Home, b: Home) -> None:
        self.fleet, self.a, self.b = fleet, a, b
        a.enter_device("Laptop")
        b.enter_device("Phone")
        a.write(lambda tx: preferences.add(tx, NewPreference(text="Be short")))
        self.task = a.write(lambda tx: tasks.add(tx, NewTask(title="Call Ana"))).id
        self.edit = change(a, lambda tx: tasks.edit(tx, self.task, TaskEdit(title="Call Bea", priority="P1")))
        fleet.sync()
        self.later = change(b, lambda tx: tasks.edit(tx, self.task, TaskEdit(title="Call Carl")))
        fleet.sync()

    def seen(self, home: Home) -> tuple[object, object]:
        task = EntityId(id_from_text(self.task))
        return home.value(task, "title"), home.value(task, "priority")

    def left_in_mark(self) -> int | None:
        def read(snapshot: Snapshot) -> int | None:
            (span,) = find_changes(snapshot, self.edit)
            mark = mark_of(snapshot, span.last)
            return None if mark is None else mark.left

        return self.a.read(read)


@pytest.fixture
def scene(fleet: Fleet, a: Home, b: Home) -> Scene:
    return Scene(fleet, a, b)


def test_asked_again_it_says_what_is_still_left_and_writes_nothing(scene: Scene) -> None:
    undo(scene.a, scene.edit)
    end = scene.a.read(lambda snapshot: snapshot.feed_end())
    again = undo(scene.a, scene.edit)
    assert [(left.field, left.why) for left in again.left] == [("title", "it was changed since, on Phone")]
    assert (again.already, again.undo, again.written) == (False, None, [])
    assert scene.a.read(lambda snapshot: snapshot.feed_end()) == end


def test_asked_again_it_does_the_rest_once_nothing_stands_in_its_way(scene: Scene) -> None:
    undo(scene.a, scene.edit)
    undo(scene.b, scene.later)
    scene.fleet.sync()
    rest = undo(scene.a, scene.edit)
    assert ([row.field for row in rest.written], rest.left) == (["title"], [])
    assert scene.seen(scene.a) == ("Call Ana", "P2")
    assert scene.left_in_mark() == 0
    assert undo(scene.a, scene.edit).already


def test_the_rest_is_undone_without_what_was_changed_again_after_the_first_undo(scene: Scene) -> None:
    undo(scene.a, scene.edit)
    scene.a.write(lambda tx: tasks.edit(tx, scene.task, TaskEdit(priority="P3")))
    undo(scene.b, scene.later)
    scene.fleet.sync()
    rest = undo(scene.a, scene.edit)
    assert ([row.field for row in rest.written], rest.left) == (["title"], [])
    assert scene.seen(scene.a) == ("Call Ana", "P3")


def test_what_came_to_the_same_by_hand_is_not_left(scene: Scene) -> None:
    undo(scene.a, scene.edit)
    scene.a.write(lambda tx: tasks.edit(tx, scene.task, TaskEdit(title="Call Ana")))
    assert undo(scene.a, scene.edit).left == []
    assert undo(scene.a, scene.edit).already


def test_the_undo_of_the_rest_leaves_the_first_part_undone(scene: Scene) -> None:
    first = undo(scene.a, scene.edit)
    undo(scene.b, scene.later)
    scene.fleet.sync()
    rest = undo(scene.a, scene.edit)
    assert rest.undo is not None
    undo(scene.a, rest.undo)
    assert scene.seen(scene.a) == ("Call Bea", "P2")
    assert scene.left_in_mark() == 1
    assert first.undo is not None
    undo(scene.a, first.undo)
    assert scene.seen(scene.a) == ("Call Bea", "P1")
    assert scene.left_in_mark() is None


def test_a_change_that_is_undone_in_part_is_the_last_one_once_its_rest_can_be_undone(scene: Scene) -> None:
    undo(scene.a, scene.edit)
    assert scene.a.read(last_change) != scene.edit
    undo(scene.b, scene.later)
    scene.fleet.sync()
    assert scene.a.read(last_change) == scene.edit


def test_two_devices_that_do_the_rest_make_no_conflict(scene: Scene) -> None:
    undo(scene.a, scene.edit)
    scene.fleet.sync()
    undo(scene.b, scene.later)
    undo(scene.b, scene.edit)
    undo(scene.a, scene.edit)
    scene.fleet.sync()
    assert scene.a.read(whole_journal) == scene.b.read(whole_journal)
    assert scene.seen(scene.a) == ("Call Ana", "P2")
    assert scene.a.entity(EntityId(id_from_text(scene.task))).conflicts() == {}
    assert [undo(home, scene.edit).already for home in (scene.a, scene.b)] == [True, True]


def test_of_what_a_change_made_the_rest_goes_later(fleet: Fleet, a: Home) -> None:
    a.write(lambda tx: preferences.add(tx, NewPreference(text="Be short")))
    before = a.read(whole_journal)
    made = change(a, lambda tx: tasks.add(tx, NewTask(title="Call Ana", labels=["phone"])))
    task = id_to_text(a.read(lambda snapshot: snapshot.entities("task"))[0].id)
    noted = change(a, lambda tx: entries.add(tx, task, NewEntry(text="On Monday")))
    assert [left.why_id for left in undo(a, made).left] == ["added-to-since"]
    undo(a, noted)
    assert undo(a, made).left == []
    assert a.read(whole_journal) == before
