"""The budget of attention: how much of an agent's day is put before a person at once, and what waits behind.

Never measures how long a list takes.
"""

from msgspec.structs import replace

from daemon.agents.deciding.attention import mark_held_back
from daemon.agents.deciding.waiting_items import PendingItem, waiting_count
from daemon.agents.person.inbox import list_cards, without_held_back
from syncproto.ids import EntityId
from tests.support import outside
from tests.support.decision_verbs import confirm, defer, reject, waiting
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.questions import asked


def titles(items: list[PendingItem], *, held_back: bool) -> list[str]:
    return [str(item.proposed) for item in items if item.held_back is held_back]


def add(home: Home, task: EntityId, *wanted: str) -> list[EntityId]:
    """Propose checklist items one after the other, each in a run of its own."""
    items = []
    for title in wanted:
        home.fleet.now_ms += 1
        items.append(home.add(task, title, title))
    return items


def marked(home: Home, open_per_day: int) -> list[PendingItem]:
    return mark_held_back(waiting(home), open_per_day)


def test_of_an_agents_day_the_first_are_shown_and_the_rest_waits_behind(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    items = add(a, task, "one", "two", "three", "four")
    fleet.sync()
    for home in (a, b):
        assert titles(marked(home, 2), held_back=False) == ["one", "two"]
        assert titles(marked(home, 2), held_back=True) == ["three", "four"]
        assert titles(marked(home, 4), held_back=True) == []
    confirm(b, items[0])
    assert titles(marked(b, 2), held_back=False) == ["two", "three"]


def test_what_is_held_back_can_be_decided_and_is_counted(a: Home, task: EntityId) -> None:
    items = add(a, task, "one", "two", "three")
    assert waiting_count(marked(a, 1)) == 3
    confirm(a, items[2])
    assert titles(marked(a, 1), held_back=False) == ["one"]
    assert titles(marked(a, 1), held_back=True) == ["two"]


def test_each_agent_and_each_day_has_a_budget_of_its_own(fleet: Fleet, a: Home, task: EntityId) -> None:
    other = a.new("task", title="other")
    add(a, task, "one", "two")
    add(a, other, "other one", "other two")
    fleet.now_ms += DAY_MS
    add(a, task, "next day", "next day too")
    assert titles(marked(a, 1), held_back=True) == ["two", "next day too", "other two"]


def test_what_a_person_has_in_hand_is_never_held_back(fleet: Fleet, a: Home, b: Home, task: EntityId) -> None:
    items = add(a, task, "one", "two", "three")
    fleet.sync()
    defer(a, items[2])
    confirm(a, items[1])
    reject(b, items[1])
    fleet.sync()
    assert titles(marked(a, 1), held_back=False) == ["one", "two", "three"]


def test_the_answers_of_a_question_count_once_and_stay_together(a: Home, task: EntityId) -> None:
    asked(a, task)
    add(a, task, "after it")
    (first, *rest) = marked(a, 1)
    assert first.question is not None
    answers = [item for item in rest if item.question is not None]
    assert len(answers) == len(first.question.answers) - 1
    assert not any(item.held_back for item in (first, *answers))
    assert titles(rest, held_back=True) == ["after it"]


def test_a_card_without_what_is_held_back_counts_what_is_left(a: Home, task: EntityId) -> None:
    add(a, task, "one", "two", "three")
    (card,) = a.read(lambda snapshot: list_cards(snapshot, a.now_ms(), open_per_day=2))
    cut = without_held_back(card)
    assert cut is not None
    assert (card.count, cut.count, len(cut.items)) == (3, 2, 2)
    assert without_held_back(replace(card, items=card.items[2:])) is None


def test_proposals_on_a_task_stand_agent_by_agent_with_their_names(a: Home, task: EntityId) -> None:
    """Old: those of two agents were mixed in the order in which they were made."""
    claude, codex = outside.added(a), outside.added(a, "Codex")
    for number, agent in enumerate((claude, codex, claude)):
        a.fleet.now_ms += 1
        outside.proposed(
            a, agent, task, ("add_checklist_item", {"title": f"step {number}"}), key=f"k{number}"
        )
    assert [item.agent_name for item in waiting(a, task)] == ["Claude", "Claude", "Codex"]
