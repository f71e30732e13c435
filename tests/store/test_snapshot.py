"""Reading entities: by kind, by the start of an id, and along relations, both ways.

Never reads what a transaction has not written yet.
"""

from typing import Any

import pytest

from store.fold.relations import RELATIONS, SEVERAL, TARGETS_MAX
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import EntityWrite
from syncproto.ids import EntityId, id_to_text
from tests.support.stores import StoreBench, entity_id, exchange

TASK, OTHER = entity_id(1), entity_id(2)


@pytest.fixture
def store(bench: StoreBench) -> Store:
    return bench.store("a")


def put(store: Store, entity: EntityId, kind: str, **fields: Any) -> None:
    with store.write() as tx:
        tx.commit([EntityWrite(entity, kind, fields)])


def ids(snapshot: Snapshot, kind: str, removed: bool = False) -> list[EntityId]:
    return [entity.id for entity in snapshot.entities(kind, removed=removed)]


def test_an_entity_of_which_nothing_is_held_is_none(store: Store) -> None:
    with store.read() as snapshot:
        assert snapshot.entity(TASK) is None
        assert snapshot.entities("task") == []


def test_entities_come_by_kind_and_in_order_of_id(store: Store) -> None:
    for number in (3, 1, 2):
        put(store, entity_id(number), "task", title=f"t{number}")
    put(store, entity_id(4), "entry", text="e")
    with store.read() as snapshot:
        assert ids(snapshot, "task") == [entity_id(1), entity_id(2), entity_id(3)]
        assert [task.text("title") for task in snapshot.entities("task")] == ["t1", "t2", "t3"]
        assert ids(snapshot, "entry") == [entity_id(4)]
        assert ids(snapshot, "label") == []


def test_what_is_out_of_sight_is_listed_apart(store: Store) -> None:
    put(store, TASK, "task", title="t")
    put(store, OTHER, "task", title="o")
    put(store, TASK, "task", deleted=True)
    with store.read() as snapshot:
        assert ids(snapshot, "task") == [OTHER]
        assert ids(snapshot, "task", removed=True) == [TASK]
        hidden = snapshot.entity(TASK)
    assert hidden is not None
    assert not hidden.visible
    assert hidden.exists
    assert hidden.text("title") == "t"
    put(store, TASK, "task", deleted=False)
    with store.read() as snapshot:
        assert ids(snapshot, "task") == [TASK, OTHER]
        assert ids(snapshot, "task", removed=True) == []


def test_entities_are_found_by_the_start_of_their_text_form(store: Store) -> None:
    for number in (1, 2, 0x1234):
        put(store, entity_id(number), "task", title="t")
    put(store, entity_id(0x1234 << 8), "entry", text="e")
    with store.read() as snapshot:
        assert snapshot.ids_with_prefix(["task"], id_to_text(TASK), 9) == [TASK]
        assert snapshot.ids_with_prefix(["task"], id_to_text(TASK)[:20], 9) == [TASK]
        assert snapshot.ids_with_prefix(["task"], "0000", 9) == [TASK, OTHER, entity_id(0x1234)]
        assert snapshot.ids_with_prefix(["task"], "0000", 2) == [TASK, OTHER]
        assert len(snapshot.ids_with_prefix(["task", "entry"], "00", 9)) == 4
        assert snapshot.ids_with_prefix(["entry"], id_to_text(TASK)[:14], 9) == []
        assert snapshot.ids_with_prefix([], "0", 9) == []
        assert snapshot.ids_with_prefix(["task"], "ff", 9) == []
        assert snapshot.ids_with_prefix(["task"], '0"', 9) == snapshot.ids_with_prefix(["task"], "", 9) == []


@pytest.mark.parametrize(
    ("kind", "field", "relation"),
    [(kind, field, name) for kind, fields in RELATIONS.items() for field, name in fields.items()],
)
def test_every_relation_can_be_followed_back(store: Store, kind: str, field: str, relation: str) -> None:
    def pointing(target: EntityId) -> object:
        return [target] if relation in SEVERAL else target

    put(store, OTHER, kind, **{field: pointing(TASK)})
    put(store, entity_id(3), kind, **{field: pointing(TASK)})
    with store.read() as snapshot:
        assert snapshot.ids_pointing_at(TASK, relation) == [OTHER, entity_id(3)]
        assert snapshot.ids_pointing_at(OTHER, relation) == []
    put(store, OTHER, kind, **{field: pointing(entity_id(9))})
    with store.read() as snapshot:
        assert snapshot.ids_pointing_at(TASK, relation) == [entity_id(3)]
        assert snapshot.ids_pointing_at(entity_id(9), relation) == [OTHER]


def test_a_list_leads_to_each_of_its_ids_and_what_is_none_is_left_out(store: Store) -> None:
    put(store, OTHER, "message", targets=[TASK, b"short", entity_id(9), TASK, "text", None])
    with store.read() as snapshot:
        assert snapshot.ids_pointing_at(TASK, "tool_effect") == [OTHER]
        assert snapshot.ids_pointing_at(entity_id(9), "tool_effect") == [OTHER]
        assert list(snapshot.db.execute("SELECT count(*) FROM relation")) == [(2,)]
    put(store, OTHER, "message", targets=TASK)
    with store.read() as snapshot:
        assert list(snapshot.db.execute("SELECT count(*) FROM relation")) == [(0,)]


def test_a_list_of_any_length_is_followed_so_far_and_no_further(store: Store) -> None:
    put(store, OTHER, "message", targets=[entity_id(number) for number in range(100, 300)])
    with store.read() as snapshot:
        assert list(snapshot.db.execute("SELECT count(*) FROM relation")) == [(TARGETS_MAX,)]
        assert snapshot.ids_pointing_at(entity_id(100 + TARGETS_MAX), "tool_effect") == []


def test_relations_lead_to_what_is_in_sight_unless_asked_for_all(store: Store) -> None:
    put(store, OTHER, "checklist", task_id=TASK)
    put(store, OTHER, "checklist", deleted=True)
    with store.read() as snapshot:
        assert snapshot.ids_pointing_at(TASK, "task_checklist") == []
        assert snapshot.ids_pointing_at(TASK, "task_checklist", removed=True) == [OTHER]


def test_the_newest_that_point_somewhere_come_first_page_by_page(store: Store) -> None:
    for number in range(10, 15):
        put(store, entity_id(number), "message", agent_id=TASK)
    with store.read() as snapshot:
        page = snapshot.newest_ids_pointing_at(TASK, "agent_message", 2)
        assert page == [entity_id(14), entity_id(13)]
        assert snapshot.newest_ids_pointing_at(TASK, "agent_message", 9, page[-1]) == [
            entity_id(12),
            entity_id(11),
            entity_id(10),
        ]
        assert snapshot.newest_ids_pointing_at(TASK, "agent_observation", 9) == []


def test_two_relations_may_lead_to_the_same(store: Store) -> None:
    put(store, OTHER, "link", from_id=TASK, to_id=TASK, type="basic")
    with store.read() as snapshot:
        assert (
            snapshot.ids_pointing_at(TASK, "link_from")
            == snapshot.ids_pointing_at(TASK, "link_to")
            == [OTHER]
        )


@pytest.mark.parametrize("value", [None, "text", b"short", 7, [TASK]])
def test_a_field_that_holds_no_id_is_no_relation(store: Store, value: object) -> None:
    put(store, OTHER, "checklist", task_id=TASK)
    put(store, OTHER, "checklist", task_id=value)
    with store.read() as snapshot:
        assert list(snapshot.db.execute("SELECT * FROM relation")) == []


def test_relations_follow_the_winner_of_a_conflict_on_every_device(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    put(a, OTHER, "checklist", task_id=TASK)
    exchange(a, b)
    bench.now_ms += 10
    put(a, OTHER, "checklist", task_id=entity_id(8))
    bench.now_ms += 10
    put(b, OTHER, "checklist", task_id=entity_id(9))
    exchange(a, b)
    exchange(b, a)
    for store in (a, b):
        with store.read() as snapshot:
            assert snapshot.ids_pointing_at(entity_id(9), "task_checklist") == [OTHER]
            assert list(snapshot.db.execute("SELECT count(*) FROM relation")) == [(1,)]


def test_unknown_kinds_and_fields_are_kept_and_folded_as_they_are(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    fields = {"from_the_future": [1, {"deep": b"\0"}, None, 1.5], "empty": {}}
    put(a, TASK, "kind_of_tomorrow", **fields)
    exchange(a, b)
    with b.read() as snapshot:
        (entity,) = snapshot.entities("kind_of_tomorrow")
    assert {name: entity.value(name) for name in entity.fields()} == fields


def test_what_has_something_to_settle_is_found_without_reading_the_rest(bench: StoreBench) -> None:
    only_store, other = bench.store("a"), bench.store("b")
    clash, same, identifier, quiet = (entity_id(number) for number in range(10, 14))
    for entity in (clash, same, identifier, quiet):
        put(only_store, entity, "task", title="x")
    exchange(only_store, other)
    for store, title in ((only_store, "A"), (other, "B")):
        put(store, clash, "task", title=title)
        put(store, same, "task", title="same")
    put(only_store, identifier, "task", deleted=True)
    put(other, identifier, "task", title="y")
    exchange(only_store, other)
    exchange(other, only_store)
    for store in (only_store, other):
        with store.read() as snapshot:
            assert [entity.id for entity in snapshot.disputed_entities("task")] == [clash, identifier]
            assert list(snapshot.disputed_entities("entry")) == []
            assert snapshot.disputed_kinds() == ["task"]
    put(only_store, clash, "task", title="C")
    put(only_store, identifier, "task", deleted=True)
    with only_store.read() as snapshot:
        assert list(snapshot.disputed_entities("task")) == []
        assert snapshot.disputed_kinds() == []
