"""Undo of each kind of change, and what it leaves and refuses."""

from collections.abc import Callable, Iterator
from datetime import UTC
from functools import partial

import pytest

from daemon.agents.deciding import decisions
from daemon.formats import readers
from daemon.formats.core.importer import PlanImport
from daemon.journal import (
    conflicts,
    entries,
    labels,
    links,
    tasks,
    time_records,
)
from daemon.journal.change_log import feed_events, list_changes
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.labels import NewLabel
from daemon.journal.links import NewLink
from daemon.journal.references.change_names import commit_name
from daemon.journal.references.undo_marks import undone_in
from daemon.journal.tasks import NewTask, TaskEdit
from daemon.journal.time_records import NewTimer, Stop
from daemon.journal.undo.changes import last_change, show_change
from daemon.refusal import RefusalCode, Refused
from daemon.timestamps import iso_utc
from store.transaction import EntityWrite, Transaction
from store.upkeep.compaction import Retention, compact_step
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text, id_to_text
from tests.daemon.journal.undo.acts import ACTS, TYPED, Act, Parts, change, make_parts, undo
from tests.daemon.journal.undo.whole_journal import last_head, whole_journal
from tests.support.fleet import DAY_MS, START_MS, Fleet, Home


@pytest.fixture
def parts(a: Home) -> Parts:
    return a.write(make_parts)


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_undo_shows_what_was_before_and_a_second_one_what_was_after(a: Home, parts: Parts, act: Act) -> None:
    before = a.read(whole_journal)
    a.write(lambda tx: act(tx, parts))
    after = a.read(whole_journal)
    undone = undo(a)
    assert undone.left == []
    assert undone.undo is not None
    assert a.read(whole_journal) == before
    redone = undo(a, undone.undo)
    assert redone.left == []
    assert a.read(whole_journal) == after
    assert redone.undo is not None
    undo(a, redone.undo)
    assert a.read(whole_journal) == before


def test_changes_are_undone_one_after_another_the_last_first(a: Home, parts: Parts) -> None:
    views = [a.read(whole_journal)]
    for act in ("title", "new note", "tick", "new task", "done", "title", "removed task"):
        a.write(lambda tx, act=act: ACTS[act](tx, parts))  # type: ignore[misc]
        if a.read(whole_journal) != views[-1]:
            views.append(a.read(whole_journal))
    while len(views) > 1:
        assert a.read(whole_journal) == views.pop()
        assert undo(a).left == []
    assert a.read(whole_journal) == views.pop()


def test_a_task_that_was_made_goes_after_what_was_added_to_it(a: Home) -> None:
    task = a.write(lambda tx: tasks.add(tx, NewTask(title="Call Ana"))).id
    a.write(lambda tx: entries.add(tx, task, NewEntry(text="On Monday")))
    undo(a)
    assert undo(a).left == []
    assert a.read(whole_journal) == [[], [], [], [], []]


def test_a_task_to_which_somebody_added_since_stays(fleet: Fleet, a: Home, b: Home) -> None:
    a.enter_device("Laptop")
    b.enter_device("Phone")
    made = change(a, lambda tx: tasks.add(tx, NewTask(title="Call Ana")))
    fleet.sync()
    (task,) = b.read(lambda snapshot: snapshot.entities("task"))
    b.write(lambda tx: entries.add(tx, id_to_text(task.id), NewEntry(text="On Monday")))
    fleet.sync()
    undone = undo(a, made)
    assert undone.undo is None
    assert [(left.title, left.field, left.why_id) for left in undone.left] == [
        ("Call Ana", "deleted", "added-to-since")
    ]
    assert "Phone" in undone.left[0].why


def test_a_task_to_which_another_device_adds_meanwhile_stays_in_sight(fleet: Fleet, a: Home, b: Home) -> None:
    made = change(a, lambda tx: tasks.add(tx, NewTask(title="Call Ana")))
    fleet.sync()
    (task,) = b.read(lambda snapshot: snapshot.entities("task"))
    b.write(lambda tx: entries.add(tx, id_to_text(task.id), NewEntry(text="On Monday")))
    undo(a, made)
    fleet.sync()
    assert [home.entity(task.id).visible for home in (a, b)] == [True, True]


def test_a_value_that_was_changed_since_is_left_and_named(fleet: Fleet, a: Home, b: Home) -> None:
    b.enter_device("Phone")
    task = a.write(lambda tx: tasks.add(tx, NewTask(title="Call Ana"))).id
    edit = change(a, lambda tx: tasks.edit(tx, task, TaskEdit(title="Call Bea", priority="P1")))
    fleet.sync()
    b.write(lambda tx: tasks.edit(tx, task, TaskEdit(title="Call Carl")))
    fleet.sync()
    undone = undo(a, edit)
    assert [(left.field, left.why_id) for left in undone.left] == [("title", "changed-since")]
    assert undone.left[0].why == "it was changed since, on Phone"
    assert [(row.field, row.before, row.after) for row in undone.written] == [("priority", "P1", "P2")]
    assert a.value(id_from_text(task), "title") == "Call Carl"


def test_what_another_device_writes_meanwhile_stands_beside_what_is_put_back(
    fleet: Fleet, a: Home, b: Home
) -> None:
    task = a.write(lambda tx: tasks.add(tx, NewTask(title="Call Ana"))).id
    a.write(lambda tx: tasks.edit(tx, task, TaskEdit(title="Call Bea")))
    fleet.sync()
    b.write(lambda tx: tasks.edit(tx, task, TaskEdit(title="Call Carl")))
    undo(a)
    fleet.sync()
    for home in (a, b):
        values = [version.value for version in home.entity(id_from_text(task)).versions("title")]
        assert sorted(map(str, values)) == ["Call Ana", "Call Carl"]


def test_two_devices_that_undo_the_same_make_no_conflict(fleet: Fleet, a: Home, b: Home) -> None:
    task = a.write(lambda tx: tasks.add(tx, NewTask(title="Call Ana"))).id
    edit = change(a, lambda tx: tasks.edit(tx, task, TaskEdit(title="Call Bea")))
    fleet.sync()
    undo(a, edit)
    undo(b, edit)
    fleet.sync()
    for home in (a, b):
        assert home.entity(id_from_text(task)).conflicts() == {}
        assert home.value(id_from_text(task), "title") == "Call Ana"
        assert undo(home, edit).already
    undo(a, undo_name(a))
    fleet.sync()
    assert b.value(id_from_text(task), "title") == "Call Bea"


def test_an_undo_that_is_asked_for_twice_is_done_once(a: Home, parts: Parts) -> None:
    edit = change(a, lambda tx: ACTS["due"](tx, parts))
    assert not undo(a, edit).already
    commits = a.read(lambda snapshot: snapshot.feed_end())
    again = undo(a, edit)
    assert again.already
    assert again.undo is None
    assert a.read(lambda snapshot: snapshot.feed_end()) == commits


def test_nothing_of_an_undo_is_dated_by_a_clock_that_was_ahead(fleet: Fleet, a: Home, parts: Parts) -> None:
    fleet.now_ms += DAY_MS
    edit = change(a, lambda tx: ACTS["due"](tx, parts))
    fleet.now_ms -= DAY_MS
    now = iso_utc(fleet.now_ms)
    view, undone = a.read(lambda snapshot: show_change(snapshot, edit)), undo(a, edit)
    changes = a.read(lambda snapshot: list_changes(snapshot, parts.task, limit=2))
    event = a.read(lambda snapshot: feed_events(snapshot, snapshot.feed_end() - 1, 1))[0]
    rows = [*view.changes, *undone.written, *changes, *event.changes]
    assert {row.at for row in rows} | {view.at, event.at} == {now}


def test_a_redo_does_not_come_over_an_earlier_undo(a: Home) -> None:
    task = a.write(lambda tx: tasks.add(tx, NewTask(title="Ana"))).id
    first = change(a, lambda tx: tasks.edit(tx, task, TaskEdit(title="Bea")))
    second = change(a, lambda tx: tasks.edit(tx, task, TaskEdit(title="Carl")))
    redo = undo(a, second).undo
    assert redo is not None
    undo(a, first)
    assert [left.why_id for left in undo(a, redo).left] == ["changed-since"]
    assert a.value(id_from_text(task), "title") == "Ana"


def test_a_change_of_an_agent_is_refused_with_what_to_do(a: Home, parts: Parts) -> None:
    task = id_from_text(parts.task)
    agent = change(
        a, lambda tx: tx.commit([EntityWrite(task, "task", {"due": "2026-03-05"})], by=AuthorKind.AGENT)
    )
    placet = change(
        a, lambda tx: tx.commit([EntityWrite(task, "task", {"due": "2026-03-06"})], by=AuthorKind.SYSTEM)
    )
    device = change(a, lambda tx: tx.commit([EntityWrite(tx.new_id(), "device", {"name": "x"})]))
    touch = change(a, lambda tx: tx.commit([EntityWrite(task, "task", {})]))
    for name in (agent, placet, device, touch):
        with pytest.raises(Refused) as refused:
            undo(a, name)
        assert refused.value.code is RefusalCode.FORBIDDEN
        assert refused.value.hint


@pytest.mark.parametrize(
    "name", ["", "7", "x-y", "1-", "99-aaaa", "5..3-aaaa", "9" * 30 + "-aaaa", "-aaaa", "0..1-aaaa", "1-ZZZZ"]
)
def test_a_name_of_no_change_is_refused(a: Home, parts: Parts, name: str) -> None:
    with pytest.raises(Refused) as refused:
        undo(a, name)
    assert refused.value.code in (RefusalCode.USAGE, RefusalCode.NOT_FOUND)


def test_a_part_of_a_removed_task_is_left(a: Home, parts: Parts) -> None:
    tick = change(a, lambda tx: ACTS["tick"](tx, parts))
    a.write(lambda tx: tasks.remove(tx, parts.task))
    undone = undo(a, tick)
    assert [left.why_id for left in undone.left] == ["above-was-removed"]
    assert "Renew the passport" in undone.left[0].why


def test_a_name_that_was_given_away_since_is_left(a: Home, parts: Parts) -> None:
    renamed = change(a, lambda tx: ACTS["label"](tx, parts))
    a.write(lambda tx: labels.add(tx, NewLabel(name="home")))
    assert [left.why_id for left in undo(a, renamed).left] == ["name-of-another"]


def test_a_link_that_would_close_a_circle_is_left(a: Home, parts: Parts) -> None:
    removed = change(a, lambda tx: links.remove(tx, parts.link))
    a.write(lambda tx: links.add(tx, parts.other, NewLink("blocks", parts.task)))
    assert [left.why_id for left in undo(a, removed).left] == ["would-close-circle"]


def test_a_label_that_others_use_by_now_stays(a: Home, parts: Parts) -> None:
    made = change(a, lambda tx: tasks.add(tx, NewTask(title="New", labels=["fresh"])))
    a.write(lambda tx: tasks.edit(tx, parts.other, TaskEdit(add_labels=["fresh"])))
    assert undo(a, made).left == []
    assert a.read(lambda snapshot: tasks.show(snapshot, parts.other)).labels == ["fresh"]


def test_a_timer_that_was_stopped_runs_again_unless_another_does(a: Home, parts: Parts) -> None:
    a.write(lambda tx: time_records.start(tx, parts.task, NewTimer(), TYPED))
    stopped = change(a, lambda tx: time_records.stop(tx, Stop(), TYPED))
    undo(a, stopped)
    (running,) = a.read(time_records.list_running)
    assert running.task_id == parts.task
    changed = change(a, lambda tx: time_records.start(tx, parts.other, NewTimer(), TYPED))
    undo(a, changed)
    assert [record.id for record in a.read(time_records.list_running)] == [running.id]
    again = change(a, lambda tx: time_records.stop(tx, Stop(), TYPED))
    a.write(lambda tx: time_records.start(tx, parts.other, NewTimer(), TYPED))
    assert [left.why_id for left in undo(a, again).left] == ["record-stays-ended"]


def test_a_timer_that_was_started_comes_back_ended(a: Home, parts: Parts) -> None:
    undone = undo(a, change(a, lambda tx: time_records.start(tx, parts.task, NewTimer(), TYPED)))
    assert a.read(time_records.list_running) == []
    assert undone.undo is not None
    undo(a, undone.undo)
    task = a.read(lambda snapshot: tasks.show(snapshot, parts.task))
    assert [record.is_running for record in task.times] == [False, False]


def test_two_devices_that_undo_a_started_timer_agree(a: Home, b: Home, fleet: Fleet, parts: Parts) -> None:
    started = change(a, lambda tx: time_records.start(tx, parts.task, NewTimer(), TYPED))
    fleet.sync()
    undo(a, started)
    fleet.now_ms += 90_000
    undo(b, started)
    fleet.sync()
    assert a.read(lambda snapshot: conflicts.list_conflicts(snapshot, None)) == []
    (record,) = a.read(lambda snapshot: snapshot.entities("time_record", removed=True))
    assert len({version.value for version in record.versions("ended_at")}) == 1


def test_a_change_that_was_changed_again_is_not_the_last_one(
    a: Home, b: Home, fleet: Fleet, parts: Parts
) -> None:
    first = change(a, lambda tx: tasks.edit(tx, parts.other, TaskEdit(priority="P0")))
    a.write(lambda tx: tasks.edit(tx, parts.task, TaskEdit(title="Here")))
    fleet.sync()
    b.write(lambda tx: tasks.edit(tx, parts.task, TaskEdit(title="There")))
    fleet.sync()
    assert a.read(last_change) == first


def test_the_last_change_may_be_that_of_one_task(a: Home, parts: Parts) -> None:
    a.write(lambda tx: ACTS["tick"](tx, parts))
    a.write(lambda tx: tasks.edit(tx, parts.other, TaskEdit(title="Take new photos")))
    undo(a, a.read(lambda snapshot: last_change(snapshot, parts.task)))
    task = a.read(lambda snapshot: tasks.show(snapshot, parts.task))
    assert not task.checklists[0].items[0].is_checked
    assert a.read(lambda snapshot: tasks.show(snapshot, parts.other)).title == "Take new photos"


def test_nothing_is_left_to_undo_on_a_device_that_wrote_nothing(b: Home) -> None:
    with pytest.raises(Refused) as refused:
        b.read(last_change)
    assert refused.value.code is RefusalCode.NOT_FOUND


def undo_name(home: Home) -> str:
    """Return the name of the commit that was made last."""
    return home.read(lambda snapshot: commit_name(last_head(snapshot)))


def import_lines(home: Home, lines: list[str]) -> None:
    """Import a list in parts, as the daemon does."""
    work = PlanImport(readers.read_plan("todotxt", "todo.txt", "\n".join(lines), UTC, START_MS))
    home.press([partial(work.import_part, part=part) for part in work.parts])


def test_an_import_is_one_change_that_is_undone_as_a_whole_and_redone(fleet: Fleet, a: Home, b: Home) -> None:
    mine = a.write(lambda tx: tasks.add(tx, NewTask(title="Mine"))).id
    before = a.read(whole_journal)
    import_lines(a, [f"Task {number} +home" for number in range(700)])
    after = a.read(whole_journal)
    end = a.read(lambda snapshot: snapshot.feed_end())
    undone = undo(a)
    assert (undone.left, len(undone.written)) == ([], 100)
    assert undone.written_count == 701
    assert a.read(whole_journal) == before
    assert a.read(lambda snapshot: snapshot.feed_end()) - end < 10
    fleet.sync()
    assert b.read(whole_journal) == before
    assert undone.undo is not None
    assert undo(a, undone.undo).left == []
    assert a.read(whole_journal) == after
    assert undo(a).written_count == 701
    assert a.value(id_from_text(mine), "title") == "Mine"


def test_two_imports_at_once_are_two_changes(a: Home) -> None:
    import_lines(a, ["One +home", "Two"])
    before = a.read(whole_journal)
    import_lines(a, ["Three +away", "Four"])
    undo(a)
    assert a.read(whole_journal) == before
    undo(a)
    assert a.read(lambda snapshot: snapshot.entities("task")) == []


def test_a_change_is_named_without_what_was_written_between_its_parts(a: Home) -> None:
    def add(title: str) -> Callable[[Transaction], object]:
        return lambda tx: tasks.add(tx, NewTask(title=title))

    def parts() -> Iterator[Callable[[Transaction], object]]:
        yield add("One")
        a.write(add("Mine"))
        yield add("Two")

    a.press(parts())
    name = a.read(last_change)
    assert name.count(", ") == 1
    undo(a, name)
    assert [task.text("title") for task in a.read(lambda snapshot: snapshot.entities("task"))] == ["Mine"]


def test_an_undo_that_needs_several_commits_is_one_undo_and_is_redone(a: Home) -> None:
    lines = ["- [ ] Trip", "  - [ ] First", *(f"  - [ ] Item {number}" for number in range(600))]
    before, end = a.read(whole_journal), 0
    for count in (2, len(lines)):
        text = "\n".join(lines[:count])
        work = PlanImport(readers.read_plan("markdown", "trip.md", text, UTC, START_MS))
        before = a.read(whole_journal)
        end = a.read(lambda snapshot: snapshot.feed_end())
        a.press([partial(work.import_part, part=part) for part in work.parts])
    after = a.read(whole_journal)
    name = a.read(lambda snapshot: commit_name(last_head(snapshot)))
    undone = undo(a, name)
    assert a.read(whole_journal) == before
    assert a.read(lambda snapshot: snapshot.feed_end()) == end + 3
    for seq in (end + 2, end + 3):
        commit = a.read(lambda snapshot, seq=seq: snapshot.log.commit_at(seq)).commit  # type: ignore[misc]
        assert undone_in(commit)
    assert undone.undo is not None
    undo(a, undone.undo)
    assert a.read(whole_journal) == after
    undo(a, name)
    assert a.read(whole_journal) == before


def test_of_an_import_what_somebody_added_to_stays(a: Home) -> None:
    import_lines(a, ["One", "Two", "Three"])
    a.write(lambda tx: entries.add(tx, "Two", NewEntry(text="Soon")))
    name = change(a, lambda tx: tasks.add(tx, NewTask(title="Mine")))
    undo(a, name)
    noted = undo(a)
    assert [(row.kind, row.field) for row in noted.written] == [("entry", "deleted")]
    assert noted.undo is not None
    undo(a, noted.undo)
    imported = a.read(lambda snapshot: commit_name(snapshot.log.head_at(1))).split("-")[0]
    last = a.read(lambda snapshot: commit_name(snapshot.log.head_at(3)))
    undone = undo(a, f"{imported}..{last}")
    assert [(left.title, left.why_id) for left in undone.left] == [("Two", "added-to-since")]
    assert [task.text("title") for task in a.read(lambda snapshot: snapshot.entities("task"))] == ["Two"]


def test_what_a_compaction_dropped_is_left_and_named(a: Home) -> None:
    long = "A text that is much longer than what a commit keeps for ever. " * 4
    task = a.write(lambda tx: tasks.add(tx, NewTask(title="Call Ana"))).id
    note = a.write(lambda tx: entries.add(tx, task, NewEntry(text=long))).id
    edit = change(a, lambda tx: entries.edit(tx, note, EntryEdit(text="Short")))
    dropped = a.write(lambda tx: compact_step(tx, Retention(START_MS + DAY_MS)))
    assert dropped.freed.values == 1
    undone = undo(a, edit)
    assert [left.why_id for left in undone.left] == ["earlier-value-dropped"]
    assert a.value(id_from_text(note), "text") == "Short"


def test_a_confirmation_since_keeps_what_it_wrote_to(a: Home) -> None:
    task = id_from_text(a.write(lambda tx: tasks.add(tx, NewTask(title="Call Ana"))).id)
    made = a.read(lambda snapshot: commit_name(last_head(snapshot)))
    item = a.estimate(EntityId(task), 30)
    a.write(lambda tx: decisions.confirm(tx, item, via="cli"))
    assert [left.why_id for left in undo(a, made).left] == ["added-to-since"]
    a.write(lambda tx: decisions.undo(tx, item, via="cli"))
    assert undo(a, made).left == []
