"""A person's notes.

Never goes below the use cases, but for what an import wrote.
"""

import pytest

from daemon.journal import entries, tasks
from daemon.journal.entries import EntryEdit, NewEntry
from daemon.journal.tasks import NewTask
from daemon.journal.views.structures import Entry, Task
from daemon.refusal import RefusalCode, Refused
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import EntityId, id_from_text
from tests.support.fleet import Fleet, Home

LIMIT = 128 * 1024


@pytest.fixture
def task(a: Home) -> Task:
    return a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the passport")))


def add(home: Home, task: Task, text: str, **fields) -> Entry:
    return home.write(lambda tx: entries.add(tx, task.id, NewEntry(text=text, **fields)))


def show(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id))


def test_a_note_keeps_its_text_as_it_is(a: Home, task: Task):
    text = "  two lines,\n\tand a tab \u202e\x00 "
    entry = add(a, task, text)
    assert (entry.text, entry.author, entry.source) == (text, "user", "note")
    assert show(a, task).entries == [entry]


def test_a_note_touches_its_task_in_the_same_commit(a: Home, task: Task):
    before = a.read(lambda snapshot: snapshot.counts().commits)
    add(a, task, "x")
    assert a.read(lambda snapshot: snapshot.counts().commits) == before + 1
    assert show(a, task).vector_clock != task.vector_clock


def test_a_note_happens_now_unless_it_says_when(a: Home, task: Task):
    assert add(a, task, "now").happened_at == "2026-03-20T09:46:40.000Z"
    assert (
        add(a, task, "then", happened_at="2026-03-01T10:00:00+02:00").happened_at
        == "2026-03-01T08:00:00.000Z"
    )
    assert [entry.text for entry in show(a, task).entries] == ["then", "now"]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"text": " \n"},
        {"text": "x" * (LIMIT + 1)},
        {"text": "ä" * (LIMIT // 2 + 1)},
        {"text": "x", "happened_at": "yesterday"},
        {"text": "x", "happened_at": "2026-03-01T10:00:00"},
        {"text": "x", "happened_at": "2026-02-30T10:00:00Z"},
    ],
)
def test_what_is_no_note_is_refused(a: Home, task: Task, fields):
    with pytest.raises(Refused) as refusal:
        add(a, task, **fields)
    assert refusal.value.code is RefusalCode.USAGE
    assert show(a, task).entries == []


def test_a_note_of_128_kib_is_taken(a: Home, task: Task):
    assert len(add(a, task, "x" * LIMIT).text) == LIMIT


def test_an_imported_note_shows_its_own_time(a: Home, task: Task):
    entry = EntityId(bytes(range(16)))
    fields: dict[str, Value] = {"task_id": id_from_text(task.id), "text": "old", "source": "import"}
    write = EntityWrite(entry, "entry", fields, origin={"at_ms": 1_000_000_000_000})
    a.write(lambda tx: tx.commit([write]))
    (shown_entry,) = show(a, task).entries
    assert (shown_entry.happened_at, shown_entry.source) == ("2001-09-09T01:46:40.000Z", "import")


def test_notes_of_the_same_moment_stay_in_the_order_in_which_they_were_written(a: Home, task: Task):
    texts = [f"note {n}" for n in range(20)]
    for text in texts:
        add(a, task, text)
    assert [entry.text for entry in show(a, task).entries] == texts


def edit(home: Home, entry: Entry, **fields) -> Entry:
    return home.write(lambda tx: entries.edit(tx, entry.id, EntryEdit(**fields)))


def listed(home: Home, task: Task, *, removed: bool = False) -> list[str]:
    reported_entries = home.read(lambda snapshot: entries.list_entries(snapshot, task.id, removed=removed))
    return [reported_entry.text for reported_entry in reported_entries]


def commits(home: Home) -> int:
    return home.read(lambda snapshot: snapshot.counts().commits)


def test_an_entry_is_reworded_moved_in_time_and_made_a_transcript(a: Home, task: Task):
    entry = add(a, task, "x")
    changed = edit(
        a, entry, text="y\n", source="transcript", happened_at="2026-03-01T10:00:00Z", base=entry.vector_clock
    )
    assert (changed.text, changed.source, changed.happened_at) == (
        "y\n",
        "transcript",
        "2026-03-01T10:00:00.000Z",
    )
    before = commits(a)
    edit(a, entry, text="y\n", source="transcript")
    assert commits(a) == before


def test_a_transcript_is_told_from_a_note(a: Home, task: Task):
    assert add(a, task, "um, hello", source="transcript").source == "transcript"


@pytest.mark.parametrize("fields", [{"text": " "}, {"text": "x" * (LIMIT + 1)}, {"happened_at": "then"}])
def test_a_change_into_no_note_is_refused_and_the_limit_is_named(a: Home, task: Task, fields):
    entry = add(a, task, "x")
    with pytest.raises(Refused) as refusal:
        edit(a, entry, **fields)
    assert refusal.value.code is RefusalCode.USAGE
    assert len(fields.get("text", "")) < LIMIT or "128 KiB (131072 bytes)" in refusal.value.message
    assert listed(a, task) == ["x"]


def test_a_removed_entry_is_out_of_sight_until_it_is_restored(a: Home, task: Task):
    entry, _ = add(a, task, "one"), add(a, task, "two")
    assert a.write(lambda tx: entries.remove(tx, entry.id)).removed
    assert (listed(a, task), listed(a, task, removed=True)) == (["two"], ["one"])
    with pytest.raises(Refused, match="was removed"):
        edit(a, entry, text="x")
    assert a.read(lambda snapshot: entries.show(snapshot, entry.id)).text == "one"
    assert not a.write(lambda tx: entries.restore(tx, entry.id)).removed
    assert listed(a, task) == ["one", "two"]
    before = commits(a)
    a.write(lambda tx: entries.restore(tx, entry.id))
    assert commits(a) == before


def test_the_entry_of_a_removed_task_is_left_alone(a: Home, task: Task):
    entry = add(a, task, "one")
    a.write(lambda tx: tasks.remove(tx, task.id))
    with pytest.raises(Refused, match="'Renew the passport' was removed"):
        a.write(lambda tx: entries.restore(tx, entry.id))
    with pytest.raises(Refused, match="'Renew the passport' was removed"):
        edit(a, entry, text="x")
    assert [listed_entry.text for listed_entry in a.write(lambda tx: tasks.restore(tx, task.id)).entries] == [
        "one"
    ]


def test_an_entry_reworded_on_two_devices_keeps_both_texts(fleet: Fleet, a: Home, b: Home, task: Task):
    entry = add(a, task, "x")
    fleet.sync()
    edit(a, entry, text="from a")
    edit(b, entry, text="from b")
    fleet.sync()
    (conflict,) = show(a, task).conflicts
    assert {version.value for version in conflict.versions} == {"from a", "from b"}


def test_an_entry_edited_while_it_was_removed_elsewhere_stays(fleet: Fleet, a: Home, b: Home, task: Task):
    entry = add(a, task, "x")
    fleet.sync()
    a.write(lambda tx: entries.remove(tx, entry.id))
    edit(b, entry, text="y")
    fleet.sync()
    assert listed(a, task) == listed(b, task) == ["y"]


def test_an_edit_of_an_entry_keeps_a_task_that_was_removed_elsewhere(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    entry = add(a, task, "x")
    fleet.sync()
    a.write(lambda tx: tasks.remove(tx, task.id))
    edit(b, entry, text="y")
    fleet.sync()
    shown_task = show(a, task)
    assert (
        [listed_entry.text for listed_entry in shown_task.entries],
        [conflict.field for conflict in shown_task.conflicts],
    ) == (
        ["y"],
        ["deleted"],
    )
