"""Tasks that grow: an answer shows a bounded part of each of their parts, and counts what it leaves out.

Never leaves out anything without a word.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.journal import checklist_items, conflicts, entries, tasks
from daemon.journal.checklist_items import NewItem
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask
from daemon.journal.views import part_bounds
from daemon.journal.views.part_bounds import PART_BYTES_MAX, PartBounds
from daemon.journal.views.structures import Task
from store.transaction import Transaction
from syncproto.ids import id_from_text
from tests.support.fleet import Fleet, Home

BYTES_MAX = 2000


@pytest.fixture
def task(a: Home) -> Task:
    return a.write(lambda tx: tasks.add(tx, NewTask(title="Renew the passport")))


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow_bounds = dict.fromkeys(PART_BYTES_MAX, BYTES_MAX)
    monkeypatch.setattr(part_bounds.PartBounds.__init__, "__defaults__", (narrow_bounds,))


def add_note(task: Task, text: str, tx: Transaction) -> None:
    entries.add(tx, task.id, NewEntry(text=text))


def add_item(task: Task, title: str, tx: Transaction) -> None:
    checklist_items.add_item(tx, task.id, NewItem(title=title))


def shown(home: Home, task: Task) -> Task:
    return home.read(lambda snapshot: tasks.show(snapshot, task.id, provenance=True))


def left_out(task: Task) -> Mapping[str, int]:
    return {} if isinstance(task.left_out, msgspec.UnsetType) else task.left_out


def size_of(thing: Any) -> int:
    return len(msgspec.json.encode(thing))


@given(st.lists(st.text(max_size=10), max_size=20), st.integers(0, 100))
def test_what_fits_comes_in_its_order_and_the_rest_is_counted(texts: list[str], bytes_max: int):
    parts = PartBounds({"first": bytes_max, "last": bytes_max})
    first, last = parts.first("first", texts), parts.last("last", texts)
    assert first == texts[: len(first)]
    assert last == texts[len(texts) - len(last) :]
    assert size_of(first) <= bytes_max + 2
    assert parts.left_out.get("first", 0) == len(texts) - len(first)
    assert parts.left_out.get("last", 0) == len(texts) - len(last)


@pytest.mark.usefixtures("narrow")
def test_the_newest_notes_are_shown_and_the_others_counted(fleet: Fleet, a: Home, task: Task):
    for number in range(20):
        fleet.now_ms += 1000
        a.write(partial(add_note, task, f"{number} {'x' * 100}"))
    answer = shown(a, task)
    assert [entry.text.split()[0] for entry in answer.entries] == [
        str(number) for number in range(20 - len(answer.entries), 20)
    ]
    assert left_out(answer) == {"entries": 20 - len(answer.entries)}
    assert 0 < len(answer.entries) < 20
    assert size_of(answer.entries) <= BYTES_MAX
    # The list of notes has all.
    whole = a.read(lambda snapshot: entries.list_entries(snapshot, task.id, removed=False))
    assert len(whole) == 20


@pytest.mark.usefixtures("narrow")
def test_the_first_items_are_shown_and_progress_is_that_of_all(a: Home, task: Task):
    for number in range(30):
        a.write(partial(add_item, task, str(number)))
    answer = shown(a, task)
    (checklist,) = answer.checklists
    assert [item.title for item in checklist.items] == [str(n) for n in range(len(checklist.items))]
    assert left_out(answer) == {"items": checklist.left_out}
    assert checklist.left_out == 30 - len(checklist.items)
    assert answer.checklist_progress.total == 30


@pytest.mark.usefixtures("narrow")
def test_statuses_authors_and_fields_of_a_newer_version_are_bounded_too(a: Home, task: Task):
    identifier = id_from_text(task.id)
    for number in range(30):
        a.set(identifier, status="OPEN", **{f"newer_{number}": "x" * 100})
    answer = shown(a, task)
    counts = left_out(answer)
    assert set(counts) == {"status_history", "provenance", "unknown"}
    assert isinstance(answer.unknown, dict)
    assert len(answer.unknown) + counts["unknown"] == 30
    assert size_of(answer) < 6 * BYTES_MAX


@pytest.mark.usefixtures("narrow")
def test_the_clock_of_an_entity_is_given_once_for_all_its_conflicts(
    fleet: Fleet, a: Home, b: Home, task: Task
):
    identifier = id_from_text(task.id)
    fleet.sync()
    for home in (a, b):
        home.set(identifier, **{f"field_{number}": home.name for number in range(12)}, title=home.name)
    fleet.sync()
    everything = a.read(lambda snapshot: conflicts.list_conflicts(snapshot, None))
    assert len(everything) == 13
    clocks = [conflict.vector_clock for conflict in everything]
    assert clocks[0] == shown(a, task).vector_clock
    assert set(map(type, clocks[1:])) == {msgspec.UnsetType}
    answer = shown(a, task)
    assert left_out(answer)["conflicts"] == 13 - len(answer.conflicts)


def test_an_ordinary_task_is_shown_whole(a: Home, task: Task):
    a.write(lambda tx: entries.add(tx, task.id, NewEntry(text="The photos are here")))
    assert shown(a, task).left_out is msgspec.UNSET
