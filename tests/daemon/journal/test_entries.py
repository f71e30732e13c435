"""A person's notes.

Never goes below the use cases, but for what an import wrote.
"""

import pytest

from daemon.journal import entries, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.errors import Code, Refused
from daemon.journal.tasks import NewTask
from daemon.journal.views import Entry, Task
from store.transaction import Write
from syncproto.codec import Value
from syncproto.ids import EntityId, from_text
from tests.daemon.agents.fleet import Home

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
    assert [one.text for one in show(a, task).entries] == ["then", "now"]


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
    with pytest.raises(Refused) as caught:
        add(a, task, **fields)
    assert caught.value.code is Code.USAGE
    assert show(a, task).entries == []


def test_a_note_of_128_kib_is_taken(a: Home, task: Task):
    assert len(add(a, task, "x" * LIMIT).text) == LIMIT


def test_an_imported_note_shows_its_own_time(a: Home, task: Task):
    entry = EntityId(bytes(range(16)))
    fields: dict[str, Value] = {"task_id": from_text(task.id), "text": "old", "source": "import"}
    write = Write(entry, "entry", fields, origin={"at_ms": 1_000_000_000_000})
    a.write(lambda tx: tx.commit([write]))
    (shown,) = show(a, task).entries
    assert (shown.happened_at, shown.source) == ("2001-09-09T01:46:40.000Z", "import")


def test_notes_of_the_same_moment_stay_in_the_order_in_which_they_were_written(a: Home, task: Task):
    texts = [f"note {n}" for n in range(20)]
    for text in texts:
        add(a, task, text)
    assert [one.text for one in show(a, task).entries] == texts
