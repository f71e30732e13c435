"""JSON lines that come into a journal which has some of them already: what is taken, and what stays.

Never loses a person's word on either side.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from daemon.formats.jsonl import reader
from daemon.journal.fields.provenance import written_at_iso
from daemon.journal.views.lookup import NameLookup
from daemon.journal.views.presenter import JournalPresenter
from daemon.refusal import Refused
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId, EntityId, id_to_text
from tests.daemon.formats.jsonl.files import File, exported, imported
from tests.support.decision_verbs import confirm, undo
from tests.support.fleet import DAY_MS, Fleet, Home


@pytest.fixture
def task(a: Home) -> EntityId:
    return a.new("task", title="Passport", status="OPEN", estimate_minutes=60)


@pytest.fixture
def other(fleet: Fleet, a: Home, task: EntityId) -> Home:
    """Return another journal that took a's file a day later."""
    fleet.now_ms += DAY_MS
    home = fleet.home("other")
    imported(home, exported(a))
    return home


def titles(home: Home, task: EntityId) -> list[Any]:
    return [version.value for version in home.entity(task).versions("title")]


def test_an_imported_value_shows_who_wrote_it_when(a: Home, other: Home, task: EntityId):
    before, after = a.entity(task), other.entity(task)
    made = [
        home.read(partial(written_at_iso, source=part.created))
        for home, part in ((a, before), (other, after))
    ]
    assert made[0] == made[1]
    devices = [home.read(partial(_device, entity=entity)) for home, entity in ((a, before), (other, after))]
    assert devices == [a.store._world.signer.device] * 2


def test_what_was_edited_there_comes_back_as_the_newer_word(a: Home, other: Home, task: EntityId):
    other.set(task, title="Passport, soon")
    assert imported(a, exported(other)).updated == 1
    assert titles(a, task) == ["Passport, soon"]
    assert exported(a) == exported(other)


def test_what_was_edited_here_since_stays(a: Home, other: Home, task: EntityId):
    old = exported(a)
    a.set(task, title="Passport, now")
    for file in (old, exported(other)):
        assert imported(a, file).updated == 0
        assert titles(a, task) == ["Passport, now"]


def test_what_was_edited_on_both_sides_stands_beside_each_other(a: Home, other: Home, task: EntityId):
    a.set(task, title="Here")
    other.set(task, title="There")
    imported(a, exported(other))
    assert sorted(titles(a, task)) == ["Here", "There"]
    assert imported(a, exported(other)).updated == 0
    imported(other, exported(a))
    assert sorted(titles(other, task)) == ["Here", "There"]


def test_what_was_removed_there_is_removed_here(a: Home, other: Home, task: EntityId):
    other.set(task, **{DELETED: True})
    imported(a, exported(other))
    assert not a.entity(task).visible


def test_what_was_removed_there_and_edited_here_stays_in_sight(a: Home, other: Home, task: EntityId):
    a.set(task, status="DONE")
    other.set(task, **{DELETED: True})
    imported(a, exported(other))
    assert a.entity(task).visible
    assert a.value(task, "status") == "DONE"


def test_what_was_removed_here_is_not_brought_back_by_a_change_there(a: Home, other: Home, task: EntityId):
    a.set(task, **{DELETED: True})
    other.set(task, title="Passport, soon")
    answer = imported(a, exported(other))
    assert not a.entity(task).visible
    assert [skipped.why.partition(",")[0] for skipped in answer.skipped] == ["changed in the file"]


def test_a_value_that_was_changed_in_the_file_itself_is_taken_once(a: Home, task: EntityId):
    file = exported(a).replace('"Passport"', '"Passeport"')
    assert imported(a, file).updated == 1
    assert titles(a, task) == ["Passeport"]
    assert imported(a, file).updated == 0


def test_a_confirmation_can_be_undone_after_the_move(fleet: Fleet, a: Home, task: EntityId):
    item = a.estimate(task, 120)
    confirm(a, item)
    home = fleet.home("moved")
    imported(home, exported(a))
    assert home.value(task, "estimate_minutes") == 120
    undo(home, item)
    assert home.value(task, "estimate_minutes") == 60


def test_a_confirmed_value_without_its_decision_is_in_effect_by_itself(fleet: Fleet, a: Home, task: EntityId):
    confirm(a, a.estimate(task, 120))
    file = "".join(line for line in exported(a).splitlines(keepends=True) if '"kind":"decision"' not in line)
    home = fleet.home("moved")
    imported(home, file)
    assert home.value(task, "estimate_minutes") == 120


def test_a_pending_proposal_moves_and_can_be_confirmed(fleet: Fleet, a: Home, task: EntityId):
    item = a.estimate(task, 120)
    home = fleet.home("moved")
    imported(home, exported(a))
    confirm(home, item, force=True)
    assert home.value(task, "estimate_minutes") == 120


def test_no_device_becomes_a_member_by_a_file(fleet: Fleet, a: Home):
    a.enter_device("laptop")
    assert '"kind":"device"' not in exported(a)
    a.new("label", name="Home")
    home = fleet.home("moved")
    answer = imported(home, exported(a).replace('"kind":"label"', '"kind":"device"'))
    assert "roster" in answer.skipped[0].why
    assert home.read(lambda snapshot: snapshot.entities("device")) == []
    assert '"device_name":"laptop"' in exported(a)


def test_the_name_of_a_foreign_device_is_shown(fleet: Fleet, a: Home):
    a.enter_device("laptop")
    entry = a.new("entry", text="words")
    home = fleet.home("moved")
    imported(home, exported(a))
    shown_entry = home.read(lambda snapshot: JournalPresenter(snapshot).entry(snapshot.entity(entry)))  # type: ignore[arg-type]
    assert shown_entry.device_name == "laptop"


def test_an_agent_of_another_device_stays_at_home_there(fleet: Fleet, a: Home, task: EntityId):
    agent = a.new("agent", task_id=task, home_device_id=a.store._world.signer.device)
    home = fleet.home("moved")
    imported(home, exported(a))
    assert home.value(agent, "home_device_id") == a.store._world.signer.device


Break = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("mend", "text"),
    [
        (lambda line: line.update(made=7), "write 7 of"),
        (lambda line: line.update(id="ab"), "32 hexadecimal"),
        (lambda line: line.update(kind=""), "kind has 0 characters"),
        (lambda line: line.update(newer=1), "newer"),
        (lambda line: line["fields"].update(title={"$odd": 1}), "'$odd'"),
        (lambda line: line["fields"].update(title={"$bytes": "%"}), ""),
        (lambda line: line["fields"].update(more=1), "differ"),
        (lambda line: line["fields"].update(title=1 << 63), "64 signed bits"),
        (lambda line: line["fields"].update(title="x" * 300_000), "bytes"),
        (lambda line: line["fields"].update(title=[0] * 40_000), "items"),
        (lambda line: line["writes"][0].update(by="god"), "'god'"),
        (lambda line: line["writes"][0].update(hash="00"), "hash has 1 bytes"),
        (lambda line: line["writes"][0].update(device="00"), "device has 1 bytes"),
        (lambda line: line["writes"][0]["fields"].append("title"), "two writes"),
        (lambda line: line["writes"][0]["fields"].append("odd"), "'odd'"),
        (lambda line: line.update(conflicts={"odd": [{"value": 1, "write": 0}]}), "'odd'"),
    ],
)
def test_a_line_that_is_not_as_it_is_written_is_named(a: Home, task: EntityId, mend: Break, text: str):
    head, line, end = exported(a).splitlines()
    document = json.loads(line)
    mend(document)
    with pytest.raises(Refused) as refused:
        reader.count_checked(File("\n".join([head, line, json.dumps(document), end])))
    assert [detail.line for detail in refused.value.details] == [3]
    assert text in refused.value.details[0].sentence.text


@pytest.mark.parametrize(
    ("text", "line", "observed"),
    [
        ("", 1, "first line"),
        ("# Markdown\n", 1, "first line"),
        ('{"format":"other","version":1}\n', 1, "'other'"),
        ('{"format":"placet-jsonl","version":2}\n', 1, "version is 2"),
        ('{"format":"placet-jsonl","version":1}\n', 1, "cut off"),
        ('{"format":"placet-jsonl","version":1}\n{"end":true}\n\n{"end":true}\n', 4, "after the line"),
        ('{"format":"placet-jsonl","version":1}\n' + "[" * 100_000, 2, ""),
        ('{"format":"placet-jsonl","version":1}\n' + " " * (5 << 20), 2, "4 MiB"),
    ],
)
def test_a_file_that_is_none_says_on_which_line(text: str, line: int, observed: str):
    with pytest.raises(Refused) as refused:
        reader.count_checked(File(text))
    assert refused.value.details[0].line == line
    assert observed in refused.value.details[0].sentence.text


def test_of_very_many_faults_the_first_are_told():
    with pytest.raises(Refused) as refused:
        reader.count_checked(
            File('{"format":"placet-jsonl","version":1}\n' + "{}\n" * 300 + '{"end":true}\n')
        )
    assert len(refused.value.details) == 101
    assert "200 more" in refused.value.details[-1].sentence.text


def test_an_entity_that_a_file_has_twice_is_a_fault(a: Home, task: EntityId):
    head, line, end = exported(a).splitlines(keepends=True)
    later = line.replace(id_to_text(task), "f" * 32)
    with pytest.raises(Refused) as refused:
        reader.count_checked(File(head + line + line + later + line + end))
    assert [detail.line for detail in refused.value.details] == [3, 5]
    assert "an entity again" in refused.value.details[0].sentence.text


def test_an_agents_word_keeps_its_rank(fleet: Fleet, a: Home, task: EntityId):
    a.write(lambda tx: tx.commit([_language(task)], by=AuthorKind.AGENT))
    home = fleet.home("moved")
    imported(home, exported(a))
    version = home.entity(task).version("language")
    assert version is not None
    assert version.source.by is AuthorKind.AGENT


def test_a_line_says_who_wrote_what_when_and_in_which_commit(a: Home, task: EntityId):
    document = json.loads(exported(a).splitlines()[1])
    created = a.entity(task).created
    assert created is not None
    replica, counter, digest = created.head
    assert document["writes"] == [
        {
            "by": "user",
            "at_ms": created.ms,
            "n": created.n,
            "device": a.signer.device.hex(),
            "replica": id_to_text(replica),
            "counter": counter,
            "hash": digest.hex(),
            "fields": ["estimate_minutes", "status", "title"],
        }
    ]
    assert document["fields"] == {"title": "Passport", "status": "OPEN", "estimate_minutes": 60}
    assert document["seen"] == {id_to_text(replica): counter}


@pytest.mark.parametrize("edit", [{}, {"title": "Edited"}])
def test_an_agents_thing_that_a_person_touched_outlives_a_deletion_elsewhere(
    fleet: Fleet, a: Home, b: Home, edit: dict[str, Value]
):
    identifier = EntityId(bytes(15) + b"\1")
    a.write(lambda tx: tx.commit([EntityWrite(identifier, "task", {"title": "Made"})], by=AuthorKind.AGENT))
    fleet.sync()
    b.set(identifier, **{DELETED: True})
    a.set(identifier, **edit)
    if edit:
        a.write(
            lambda tx: tx.commit(
                [EntityWrite(identifier, "task", {"title": "By an agent again"})], by=AuthorKind.AGENT
            )
        )
    fleet.sync()
    moved = fleet.home("moved")
    imported(moved, exported(a))
    for home in (a, moved):
        entity = home.entity(identifier)
        assert entity.visible
        assert entity.created is not None
        assert entity.created.by is AuthorKind.AGENT
        assert entity.state.person
    assert exported(moved) == exported(a)


def test_what_one_device_made_while_another_removed_it_unseen_stays_in_sight(fleet: Fleet, a: Home, b: Home):
    identifier = EntityId(bytes(15) + b"\1")
    a.write(lambda tx: tx.commit([EntityWrite(identifier, "task", {"title": "Made"})]))
    fleet.now_ms += 1
    b.write(lambda tx: tx.commit([EntityWrite(identifier, "task", {DELETED: True})]))
    fleet.sync()
    moved = fleet.home("moved")
    imported(moved, exported(a))
    assert a.entity(identifier).visible
    assert moved.entity(identifier).visible
    assert exported(moved) == exported(a)


def _device(snapshot: Snapshot, entity: Entity) -> DeviceId:
    assert entity.created is not None
    return NameLookup(snapshot).writing_device(entity.created)[0]


def _language(task: EntityId) -> Any:
    return EntityWrite(task, "task", {"language": "de"})


def test_a_deletion_beneath_a_confirmed_one_hides_again_once_that_is_undone(
    fleet: Fleet, a: Home, task: EntityId
):
    item = a.estimate(task, 120)
    confirm(a, item)
    note = a.new("entry", text="words")
    a.set(note, text="later words")
    a.set(note, deleted=True)
    write_effect(a, item, note)
    home = fleet.home("moved")
    imported(home, exported(a))
    for device in (a, home):
        undo(device, item)
        assert not visible(device, note)


def test_what_outlived_a_deletion_beneath_a_confirmed_one_comes_back_once_that_is_undone(
    fleet: Fleet, a: Home, b: Home, task: EntityId
):
    item = a.estimate(task, 120)
    confirm(a, item)
    note = a.new("entry", text="words")
    fleet.sync()
    a.set(note, deleted=True)
    b.set(note, text="beside")
    fleet.sync()
    write_effect(a, item, note)
    home = fleet.home("moved")
    imported(home, exported(a))
    for device in (a, home):
        undo(device, item)
        assert visible(device, note)


def test_what_outlived_a_confirmed_deletion_is_in_no_other_conflict_for_it(
    fleet: Fleet, a: Home, b: Home, task: EntityId
):
    item = a.estimate(task, 120)
    confirm(a, item)
    note = a.new("entry", text="words", deleted=False)
    fleet.sync()
    write_effect(a, item, note)
    b.set(note, text="beside")
    fleet.sync()
    home = fleet.home("moved")
    imported(home, exported(a))
    for device in (a, home):
        stored = device.read(lambda snapshot: snapshot.entity(note))
        assert stored is not None
        assert stored.visible
        assert [version.value for version in stored.versions(DELETED)] == [True]


def write_effect(home: Home, item: EntityId, entity: EntityId) -> None:
    """Let a confirmed item delete something, as a client of a newer version may."""
    write = EntityWrite(entity, "entry", {DELETED: True}, effect=item, by=AuthorKind.AGENT)
    home.write(lambda tx: tx.commit([write]))


def visible(home: Home, entity: EntityId) -> bool:
    stored = home.read(lambda snapshot: snapshot.entity(entity))
    return stored is not None and stored.visible
