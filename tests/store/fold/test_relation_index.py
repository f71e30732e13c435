"""Tests of the index of relations: a version that follows other fields finds what came before it.

Never writes a relation that the fold would not write.
"""

from typing import Any

import apsw
import pytest

from store.fold.relations import RELATIONS
from store.transaction import EntityWrite
from tests.simulation.laws import refold_is_the_same
from tests.support.stores import StoreBench, entity_id

AGENT, TASK, OTHER = (entity_id(number) for number in (1, 2, 3))


@pytest.fixture
def bench_with_messages(bench: StoreBench) -> StoreBench:
    """A closed store with two messages that put words to an agent, and one that is not for it."""
    store = bench.store("a")
    with store.write() as tx:
        for number in (4, 5):
            fields: dict[str, Any] = {"agent_id": AGENT, "asked_agent_id": AGENT, "text": "break this down"}
            tx.commit([EntityWrite(entity_id(number), "message", fields)])
        targets: dict[str, Any] = {"agent_id": OTHER, "targets": [TASK]}
        tx.commit([EntityWrite(entity_id(6), "message", targets)])
        tx.commit([EntityWrite(entity_id(7), "entry", {"task_id": TASK, "text": "a note"})])
    store.close()
    return bench


def relations(file: apsw.Connection) -> list[Any]:
    return file.execute("SELECT * FROM relation ORDER BY 1, 2, 3").fetchall()


def test_fields_that_an_older_version_did_not_follow_are_indexed(bench_with_messages: StoreBench) -> None:
    path = bench_with_messages.folder / "a.db"
    with apsw.Connection(str(path)) as file:
        expected = relations(file)
        # As a version left it that did not know wishes, and followed a field that is no relation any more.
        file.execute("DELETE FROM relation WHERE name = 'agent_wish'")
        file.execute("INSERT INTO relation VALUES (?, 'former', ?)", (TASK, entity_id(6)))
        fields = "agent_id=agent_message former_id=former targets=tool_effect"
        file.execute("UPDATE indexed_fields SET fields = ? WHERE kind = 'message'", (fields,))
        file.execute("INSERT INTO indexed_fields VALUES ('forgotten', 'other_id=other')")
    file.close()
    store = bench_with_messages.store("a", path)
    with store.read() as snapshot:
        assert snapshot.newest_ids_pointing_at(AGENT, "agent_wish", 9) == [entity_id(5), entity_id(4)]
        assert relations(snapshot.db) == expected
        kinds: Any = snapshot.db.execute("SELECT kind FROM indexed_fields")
        assert {kind for (kind,) in kinds} == RELATIONS.keys()
        refold_is_the_same(snapshot)


def test_nothing_is_indexed_again_if_the_fields_are_the_same(
    bench_with_messages: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench_with_messages.folder / "a.db"
    monkeypatch.setattr("store.fold.relation_index.load_state", None)
    bench_with_messages.store("a", path).close()


def test_an_opening_that_ends_midway_begins_again(
    bench_with_messages: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bench_with_messages.folder / "a.db"
    with apsw.Connection(str(path)) as file:
        expected = relations(file)
        file.execute("UPDATE indexed_fields SET fields = ''")
    file.close()
    with monkeypatch.context() as patched:
        patched.setattr("store.fold.relation_index.load_state", None)
        with pytest.raises(TypeError):
            bench_with_messages.store("a", path)
    store = bench_with_messages.store("a", path)
    with store.read() as snapshot:
        assert relations(snapshot.db) == expected
