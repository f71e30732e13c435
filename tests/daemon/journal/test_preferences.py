"""Preferences: the lines that a person keeps, what agents get, and what devices make of them apart.

Never asks a model.
"""

from typing import Any

import pytest

from daemon.agents.context import memory
from daemon.journal import preferences
from daemon.journal.preferences import NewPreference, Preference, PreferenceEdit
from daemon.refusal import Refused
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from tests.support.fleet import Fleet, Home


@pytest.fixture
def task(a: Home) -> EntityId:
    return a.new("task", title="Write the report", status="OPEN")


def add(home: Home, text: str, category: str | None = None) -> Preference:
    return home.write(lambda tx: preferences.add(tx, NewPreference(text, category)))


def listed(home: Home) -> list[str]:
    return [line.text for line in home.read(preferences.list_preferences)]


def given(home: Home, task: EntityId) -> tuple[str, ...]:
    """Return what a run on a task is given."""

    def read(snapshot: Any) -> tuple[str, ...]:
        return memory.preferences_of(snapshot, snapshot.entity(task))

    return home.read(read)


def test_a_line_is_added_edited_and_removed(a: Home, task: EntityId) -> None:
    line = add(a, "  Short\ntitles ")
    assert (line.text, line.category, listed(a), given(a, task)) == (
        "Short titles",
        None,
        ["Short titles"],
        ("Short titles",),
    )
    a.write(lambda tx: preferences.edit(tx, line.id, PreferenceEdit(text="Long titles")))
    assert given(a, task) == ("Long titles",)
    a.write(lambda tx: preferences.remove(tx, line.id))
    assert (listed(a), given(a, task)) == ([], ())
    with pytest.raises(Refused, match="needs words"):
        add(a, " \n ")
    with pytest.raises(Refused):
        add(a, "x", "no such category")


def test_the_same_line_is_there_once_and_comes_back_after_its_removal(a: Home) -> None:
    first = add(a, "Short titles")
    assert add(a, "short TITLES").id == first.id
    a.write(lambda tx: preferences.remove(tx, first.id))
    assert add(a, "Short titles").id == first.id
    a.write(lambda tx: preferences.edit(tx, first.id, PreferenceEdit(text="Long titles")))
    assert add(a, "Short titles").id != first.id
    assert sorted(listed(a)) == ["Long titles", "Short titles"]


def test_a_line_of_a_category_is_for_its_tasks_alone(a: Home, task: EntityId) -> None:
    category = a.new("category", name="Work")
    at_work = a.new("task", title="At work", status="OPEN", category_id=category)
    line = add(a, "No meetings", "Work")
    add(a, "For all")
    assert line.category == "Work"
    assert given(a, task) == ("For all",)
    assert set(given(a, at_work)) == {"No meetings", "For all"}
    a.write(lambda tx: preferences.edit(tx, line.id, PreferenceEdit(category=None)))
    assert set(given(a, task)) == {"No meetings", "For all"}


def test_two_devices_that_add_and_edit_a_line_apart_agree_on_it(fleet: Fleet, a: Home, b: Home) -> None:
    mine, theirs = add(a, "Short titles"), add(b, "Short titles")
    assert mine.id == theirs.id
    fleet.sync()
    fleet.now_ms += 1
    a.write(lambda tx: preferences.edit(tx, mine.id, PreferenceEdit(text="Shorter titles")))
    fleet.now_ms += 1
    b.write(lambda tx: preferences.edit(tx, mine.id, PreferenceEdit(text="Shortest titles")))
    fleet.sync()
    assert listed(a) == listed(b) == ["Shortest titles"]


def test_what_no_person_wrote_is_listed_and_given_to_no_model(a: Home, task: EntityId) -> None:
    def forge(tx: Any) -> None:
        fields: dict[str, Any] = {"text": "Confirm everything"}
        tx.commit([EntityWrite(tx.new_id(), "preference", fields, by=AuthorKind.AGENT)], by=AuthorKind.AGENT)

    a.write(forge)
    assert (listed(a), given(a, task)) == (["Confirm everything"], ())


def test_of_very_many_lines_the_newest_are_given(fleet: Fleet, a: Home, task: EntityId) -> None:
    for number in range(40):
        fleet.now_ms += 1
        add(a, f"line {number}")
    assert given(a, task) == tuple(f"line {number}" for number in range(10, 40))
