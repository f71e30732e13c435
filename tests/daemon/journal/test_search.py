"""Search as a person sees it: which task, where in it, and what is left out.

Never tests the index itself; the store's tests do.
"""

import pytest

from daemon.journal import search
from daemon.journal.search import Found
from daemon.refusal import RefusalCode, Refused
from syncproto.ids import EntityId, id_to_text
from tests.support.fleet import Home


def search_page(home: Home, query: str, *, removed: bool = False, after: int = 0, limit: int = 20) -> Found:
    return home.read(
        lambda snapshot: search.search_tasks(snapshot, query, removed=removed, after=after, limit=limit)
    )


def places(home: Home, query: str, *, removed: bool = False) -> list[tuple[str, str, str]]:
    """Return title of the task, kind and field of each place."""
    tasks = search_page(home, query, removed=removed).tasks
    return [(task.title, place.kind, place.field) for task in tasks for place in task.places]


@pytest.fixture
def journey(a: Home) -> EntityId:
    task = a.new("task", title="Plan the journey")
    checklist = a.new("checklist", task_id=task, title="Luggage")
    a.new("checklist_item", checklist_id=checklist, title="Passport and tickets")
    a.new("entry", task_id=task, text="The passport is in the drawer")
    return task


def test_what_belongs_to_a_task_is_found_under_it(a: Home, journey: EntityId):
    (task,) = search_page(a, "passport").tasks
    assert (task.id, task.title, task.status) == (id_to_text(journey), "Plan the journey", "OPEN")
    assert {place.kind for place in task.places} == {"entry", "checklist_item"}
    assert places(a, "luggage") == [("Plan the journey", "checklist", "title")]
    assert places(a, "journ") == [("Plan the journey", "task", "title")]


def test_the_matched_words_of_a_place_are_marked(a: Home, journey: EntityId):
    ((place,),) = [task.places for task in search_page(a, "drawer").tasks]
    assert [(piece.text, piece.hit) for piece in place.snippet] == [
        ("The passport is in the ", False),
        ("drawer", True),
    ]


@pytest.mark.parametrize("query", ["strasse", "Straße", "STRAẞE", "stras"])
def test_an_eszett_is_found_as_ss_and_marked_as_it_is_written(a: Home, query: str):
    a.new("task", title="Fix the Straße sign")
    a.new("task", title="Sweep the Strasse")
    both = [task.places[0].snippet for task in search_page(a, query).tasks]
    assert sorted(piece.text for pieces in both for piece in pieces if piece.hit) == ["Strasse", "Straße"]


def test_labels_and_categories_find_their_tasks_by_name(a: Home):
    label, category = a.new("label", name="garden"), a.new("category", name="House")
    mow = a.new("task", title="Mow", category_id=category)
    a.set(mow, **{f"label_ids/{id_to_text(label)}": True})
    assert places(a, "garden") == [("Mow", "label", "name")]
    assert places(a, "house garden") == [("Mow", "label", "name"), ("Mow", "category", "name")]


@pytest.mark.parametrize("kind", ["task", "checklist", "checklist_item"])
def test_what_is_beneath_something_removed_is_found_only_when_asked_for(
    a: Home, journey: EntityId, kind: str
):
    (identifier,) = [entity.id for entity in a.read(lambda snapshot: snapshot.entities(kind))]
    a.set(identifier, deleted=True)
    assert ("Plan the journey", "checklist_item", "title") not in places(a, "tickets")
    ((place,),) = [task.places for task in search_page(a, "tickets", removed=True).tasks]
    assert (place.kind, place.removed) == ("checklist_item", True)


def test_a_page_has_so_many_tasks_and_says_where_the_next_begins(a: Home):
    for number in range(5):
        task = a.new("task", title=f"apple {number}")
        a.new("entry", task_id=task, text="an apple a day")
    texts: list[str] = []
    after: int | None = 0
    while after is not None:
        page = search_page(a, "apple", after=after, limit=2)
        assert len(page.tasks) <= 2
        texts += [found_task.title for found_task in page.tasks]
        after = page.next
    assert set(texts) == {f"apple {number}" for number in range(5)}


def test_no_more_than_three_places_of_a_task_are_shown(a: Home):
    task = a.new("task", title="Read")
    for number in range(5):
        a.new("entry", task_id=task, text=f"page {number}")
    (only,) = search_page(a, "page").tasks
    assert len(only.places) == search.PLACES_MAX


def test_what_belongs_to_no_task_here_is_left_out(a: Home):
    a.new("entry", task_id=EntityId(bytes(16)), text="lost words")
    a.new("entry", text="lost words")
    assert search_page(a, "lost") == Found([], None)


@pytest.mark.parametrize("query", ["", "  ", "...", "-no", '-"no no"', '"'])
def test_a_query_without_a_word_is_refused(a: Home, query: str):
    with pytest.raises(Refused) as refused:
        search_page(a, query)
    assert refused.value.code is RefusalCode.USAGE
