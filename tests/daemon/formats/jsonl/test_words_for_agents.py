"""What people say to agents in a JSON Lines file: preferences come back, and what was asked is asked no more.

Never asks a model.
"""

import pytest

from daemon.agents.context.open_wishes import newest_wishes, open_wishes
from daemon.agents.person import lifecycle
from daemon.agents.running.due_agents import write_wish
from daemon.agents.tools.agent_record import agent_id, load_agent
from daemon.journal import named_entities, preferences
from daemon.journal.preferences import NewPreference, Preference, PreferenceEdit
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.daemon.formats.jsonl.files import exported, imported
from tests.support.fleet import Fleet, Home


@pytest.fixture
def task(a: Home) -> EntityId:
    return a.new("task", title="Write the report", status="OPEN")


def add_line(home: Home, new: NewPreference) -> Preference:
    return home.write(lambda tx: preferences.add(tx, new))


def lines_for(home: Home, task: EntityId) -> list[str]:
    def read(snapshot: Snapshot) -> list[str]:
        entity = snapshot.entity(task)
        assert entity is not None
        return preferences.lines_for_task(snapshot, entity)

    return home.read(read)


def open_words(home: Home, agent: EntityId) -> list[str]:
    def read(snapshot: Snapshot) -> list[str]:
        known_agent = load_agent(snapshot, agent)
        assert known_agent is not None
        return [wish.text("text") for wish in open_wishes(snapshot, known_agent)]

    return home.read(read)


def test_preferences_come_back_as_they_were_and_can_be_edited(fleet: Fleet, a: Home, task: EntityId) -> None:
    category = a.write(lambda tx: named_entities.add(tx, "category", "work", {}))
    a.set(task, category_id=category)
    add_line(a, NewPreference("Short titles"))
    fleet.now_ms += 1000
    add_line(a, NewPreference("No due dates on Fridays", "work"))
    gone = add_line(a, NewPreference("Gone"))
    a.write(lambda tx: preferences.remove(tx, gone.id))
    a.write(
        lambda tx: tx.commit(
            [EntityWrite(tx.new_id(), preferences.KIND, {"text": "An agent's own"})],
            by=AuthorKind.AGENT,
            agent=agent_id(task),
        )
    )
    text = exported(a)
    other = fleet.home("other")
    imported(other, text)
    assert lines_for(other, task) == lines_for(a, task) == ["Short titles", "No due dates on Fridays"]
    assert exported(other) == text
    line, *_ = other.read(preferences.list_preferences)
    other.write(lambda tx: preferences.edit(tx, line.id, PreferenceEdit(text="Long titles")))
    imported(other, text)
    assert lines_for(other, task)[0] == "Long titles"
    # The same words have the same id in every journal, so a line that is added again is there once.
    add_line(other, NewPreference("No due dates on Fridays", "work"))
    assert len(other.read(preferences.list_preferences)) == len(a.read(preferences.list_preferences))


def test_what_was_asked_in_another_journal_is_not_asked_again(fleet: Fleet, a: Home, task: EntityId) -> None:
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "interactive"))
    a.write(lambda tx: write_wish(tx, agent, "Break this down.", waits=False))
    assert open_words(a, agent) == ["Break this down."]
    other = fleet.home("other")
    imported(other, exported(a))
    assert open_words(other, agent) == []
    assert other.read(lambda snapshot: newest_wishes(snapshot, agent)) == []
