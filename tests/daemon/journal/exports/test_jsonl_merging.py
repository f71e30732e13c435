"""JSON lines that come into a journal which has some of them already: what is taken, and what stays.

Never loses a person's word on either side.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from daemon.journal.errors import Refused
from daemon.journal.imports import jsonl
from daemon.journal.imports.apply import ImportResult
from daemon.journal.provenance import written_at
from daemon.journal.show import Shown
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import Snapshot
from store.transaction import Write
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import DeviceId, EntityId, text
from tests.daemon.agents.deciding import confirm, undo
from tests.daemon.agents.fleet import DAY_MS, Fleet, Home
from tests.daemon.journal.exports.files import File, exported, imported


@pytest.fixture
def task(a: Home) -> EntityId:
    return a.new("task", title="Passport", status="OPEN", estimate_minutes=60)


@pytest.fixture
def other(fleet: Fleet, a: Home, task: EntityId) -> Home:
    """Return another journal that took a's file a day later."""
    fleet.now_ms += DAY_MS
    made = fleet.home("other")
    imported(made, exported(a))
    return made


def titles(home: Home, task: EntityId) -> list[Any]:
    return [one.value for one in home.entity(task).versions("title")]


def test_an_imported_value_shows_who_wrote_it_when(a: Home, other: Home, task: EntityId):
    before, after = a.entity(task), other.entity(task)
    assert written_at(after.created) == written_at(before.created)
    devices = [home.read(partial(_device, one=one)) for home, one in ((a, before), (other, after))]
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
    assert [one.why.partition(",")[0] for one in answer.skipped] == ["changed in the file"]


def test_a_value_that_was_changed_in_the_file_itself_is_taken_once(a: Home, task: EntityId):
    file = exported(a).replace('"Passport"', '"Passeport"')
    assert imported(a, file).updated == 1
    assert titles(a, task) == ["Passeport"]
    assert imported(a, file).updated == 0


def test_a_confirmation_can_be_undone_after_the_move(fleet: Fleet, a: Home, task: EntityId):
    item = a.estimate(task, 120)
    confirm(a, item)
    made = fleet.home("moved")
    imported(made, exported(a))
    assert made.value(task, "estimate_minutes") == 120
    undo(made, item)
    assert made.value(task, "estimate_minutes") == 60


def test_a_confirmed_value_without_its_decision_is_in_effect_by_itself(fleet: Fleet, a: Home, task: EntityId):
    confirm(a, a.estimate(task, 120))
    file = "".join(one for one in exported(a).splitlines(keepends=True) if '"kind":"decision"' not in one)
    made = fleet.home("moved")
    imported(made, file)
    assert made.value(task, "estimate_minutes") == 120


def test_a_pending_proposal_moves_and_can_be_confirmed(fleet: Fleet, a: Home, task: EntityId):
    item = a.estimate(task, 120)
    made = fleet.home("moved")
    imported(made, exported(a))
    confirm(made, item, force=True)
    assert made.value(task, "estimate_minutes") == 120


def test_no_device_becomes_a_member_by_a_file(fleet: Fleet, a: Home):
    a.new("device", name="laptop", public_key=a.store._world.signer.public_key)
    assert '"kind":"device"' not in exported(a)
    a.new("label", name="Home")
    made = fleet.home("moved")
    answer = imported(made, exported(a).replace('"kind":"label"', '"kind":"device"'))
    assert "roster" in answer.skipped[0].why
    assert made.read(lambda snapshot: snapshot.entities("device")) == []
    assert '"device_name":"laptop"' in exported(a)


def test_the_name_of_a_foreign_device_is_shown(fleet: Fleet, a: Home):
    a.new("device", name="laptop", public_key=a.store._world.signer.public_key)
    entry = a.new("entry", text="words")
    made = fleet.home("moved")
    imported(made, exported(a))
    shown = made.read(lambda snapshot: Shown(snapshot).entry(snapshot.entity(entry)))  # type: ignore[arg-type]
    assert shown.device_name == "laptop"


def test_an_agent_of_another_device_stays_at_home_there(fleet: Fleet, a: Home, task: EntityId):
    agent = a.new("agent", task_id=task, home_device_id=a.store._world.signer.device)
    made = fleet.home("moved")
    imported(made, exported(a))
    assert made.value(agent, "home_device_id") == a.store._world.signer.device


Break = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("mend", "seen"),
    [
        (lambda one: one.update(made=7), "write 7 of"),
        (lambda one: one.update(id="ab"), "32 hexadecimal"),
        (lambda one: one.update(kind=""), "kind has 0 characters"),
        (lambda one: one.update(newer=1), "newer"),
        (lambda one: one["fields"].update(title={"$odd": 1}), "'$odd'"),
        (lambda one: one["fields"].update(title={"$bytes": "%"}), ""),
        (lambda one: one["fields"].update(more=1), "differ"),
        (lambda one: one["fields"].update(title=1 << 63), "64 signed bits"),
        (lambda one: one["fields"].update(title="x" * 300_000), "bytes"),
        (lambda one: one["fields"].update(title=[0] * 40_000), "items"),
        (lambda one: one["writes"][0].update(by="god"), "'god'"),
        (lambda one: one["writes"][0].update(hash="00"), "hash has 1 bytes"),
        (lambda one: one["writes"][0].update(device="00"), "device has 1 bytes"),
        (lambda one: one["writes"][0]["fields"].append("title"), "two writes"),
        (lambda one: one["writes"][0]["fields"].append("odd"), "'odd'"),
        (lambda one: one.update(conflicts={"odd": [{"value": 1, "write": 0}]}), "'odd'"),
    ],
)
def test_a_line_that_is_not_as_it_is_written_is_named(a: Home, task: EntityId, mend: Break, seen: str):
    head, line, end = exported(a).splitlines()
    told = json.loads(line)
    mend(told)
    with pytest.raises(Refused) as refused:
        jsonl.check(File("\n".join([head, line, json.dumps(told), end])))
    assert [one.line for one in refused.value.details] == [3]
    assert seen in refused.value.details[0].message


@pytest.mark.parametrize(
    ("written", "line", "seen"),
    [
        ("", 1, "first line"),
        ("# Markdown\n", 1, "first line"),
        ('{"format":"other","version":1}\n', 1, "'other'"),
        ('{"format":"placet-jsonl","version":2}\n', 1, "version is 2"),
        ('{"format":"placet-jsonl","version":1}\n', 1, "cut off"),
        ('{"format":"placet-jsonl","version":1}\n{"end":true}\n\n{"end":true}\n', 4, "behind"),
        ('{"format":"placet-jsonl","version":1}\n' + "[" * 100_000, 2, ""),
        ('{"format":"placet-jsonl","version":1}\n' + " " * (5 << 20), 2, "4 MiB"),
    ],
)
def test_a_file_that_is_none_says_on_which_line(written: str, line: int, seen: str):
    with pytest.raises(Refused) as refused:
        jsonl.check(File(written))
    assert refused.value.details[0].line == line
    assert seen in refused.value.details[0].message


def test_of_very_many_faults_the_first_are_told():
    with pytest.raises(Refused) as refused:
        jsonl.check(File('{"format":"placet-jsonl","version":1}\n' + "{}\n" * 300 + '{"end":true}\n'))
    assert len(refused.value.details) == 101
    assert "200 more" in refused.value.details[-1].message


def test_an_entity_that_a_file_has_twice_is_one(fleet: Fleet, a: Home, task: EntityId):
    head, line, end = exported(a).splitlines(keepends=True)
    made = fleet.home("moved")
    assert imported(made, head + line + line + end) == ImportResult(tasks=1, unchanged=1)
    assert exported(made) == head + line + end


def test_an_agents_word_keeps_its_rank(fleet: Fleet, a: Home, task: EntityId):
    a.write(lambda tx: tx.commit([_language(task)], by=By.AGENT))
    made = fleet.home("moved")
    imported(made, exported(a))
    version = made.entity(task).version("language")
    assert version is not None
    assert version.source.by is By.AGENT


def test_a_line_says_who_wrote_what_when_and_in_which_commit(a: Home, task: EntityId):
    told = json.loads(exported(a).splitlines()[1])
    created = a.entity(task).created
    assert created is not None
    replica, counter, hash8 = created.head
    assert told["writes"] == [
        {
            "by": "user",
            "at_ms": created.ms,
            "n": created.n,
            "device": a.signer.device.hex(),
            "replica": text(replica),
            "counter": counter,
            "hash": hash8.hex(),
            "fields": ["estimate_minutes", "status", "title"],
        }
    ]
    assert told["fields"] == {"title": "Passport", "status": "OPEN", "estimate_minutes": 60}
    assert told["seen"] == {text(replica): counter}


@pytest.mark.parametrize("edit", [{}, {"title": "Edited"}])
def test_an_agents_thing_that_a_person_touched_outlives_a_deletion_elsewhere(
    fleet: Fleet, a: Home, b: Home, edit: dict[str, Value]
):
    made = EntityId(bytes(15) + b"\1")
    a.write(lambda tx: tx.commit([Write(made, "task", {"title": "Made"})], by=By.AGENT))
    fleet.sync()
    b.set(made, **{DELETED: True})
    a.set(made, **edit)
    if edit:
        a.write(lambda tx: tx.commit([Write(made, "task", {"title": "By an agent again"})], by=By.AGENT))
    fleet.sync()
    moved = fleet.home("moved")
    imported(moved, exported(a))
    for home in (a, moved):
        held = home.entity(made)
        assert held.visible
        assert held.created is not None
        assert held.created.by is By.AGENT
        assert held.row.person
    assert exported(moved) == exported(a)


def test_what_one_device_made_while_another_removed_it_unseen_stays_in_sight(fleet: Fleet, a: Home, b: Home):
    made = EntityId(bytes(15) + b"\1")
    a.write(lambda tx: tx.commit([Write(made, "task", {"title": "Made"})]))
    fleet.now_ms += 1
    b.write(lambda tx: tx.commit([Write(made, "task", {DELETED: True})]))
    fleet.sync()
    moved = fleet.home("moved")
    imported(moved, exported(a))
    assert a.entity(made).visible
    assert moved.entity(made).visible
    assert exported(moved) == exported(a)


def _device(snapshot: Snapshot, one: Entity) -> DeviceId:
    assert one.created is not None
    return Shown(snapshot).wrote_on(one.created)[0]


def _language(task: EntityId) -> Any:
    return Write(task, "task", {"language": "de"})
