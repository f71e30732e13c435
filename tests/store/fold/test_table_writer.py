"""The tables kept up to date as commits land: several in one transaction, verdicts and effects among them.

Never folds by hand: a store that took the same commits one by one says what is right.
"""

from typing import Any

import pytest

from store.file.errors import DamagedDatabase
from store.fold.entity_state import dump_state
from store.fold.operations import operations_on
from store.fold.table_writer import TableWriter
from store.log.commit_log import CommitLog
from store.store import Store
from store.transaction import EntityWrite
from store.upkeep.verification import verify_store
from syncproto.commit import AuthorKind
from syncproto.errors import LocalProtocolError
from syncproto.ids import EntityId, derived_id, id_to_text
from syncproto.vector_clock import EMPTY_CLOCK, Head
from tests.support.stores import StoreBench, entity_id, exchange, feed, log_and_state, write

TASK, OTHER, THIRD = entity_id(1), entity_id(2), entity_id(3)
ONE, TWO = entity_id(50), entity_id(51)


def decided(number: int, item: EntityId, verdict: str, *identifiers: EntityId) -> EntityWrite:
    return EntityWrite(
        entity_id(number), "decision", {"item_id": item, "verdict": verdict, "seen": [*identifiers]}
    )


def effect(entity: EntityId, item: EntityId, **fields: Any) -> EntityWrite:
    return EntityWrite(entity, "task", fields, effect=item, by=AuthorKind.AGENT)


def one_by_one(bench: StoreBench, store: Store) -> Store:
    """Return a store that took the same commits, each in a transaction of its own."""
    other = bench.store("reader")
    with store.read() as snapshot:
        pages = [feed_commit.signed for feed_commit in snapshot.log.feed_commits(0, 99)]
    assert all(page.signature for page in pages), "written in one transaction each"
    for signed in pages:
        with other.write() as tx:
            tx.accept_page([signed])
    return other


def value(store: Store, entity: EntityId, field: str) -> object:
    with store.read() as snapshot:
        found_entity = snapshot.entity(entity)
    return None if found_entity is None else found_entity.value(field)


def test_a_commit_folds_all_that_it_touches_also_beside_what_must_be_folded_anew(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write(a, TASK, title="old")
    with a.write() as tx:
        tx.commit([effect(TASK, ONE, title="new"), effect(OTHER, ONE, title="made")])
    with a.write() as tx:
        # The verdict has TASK and OTHER folded anew; what comes behind them in this commit is folded too.
        tx.commit(
            [
                decided(60, ONE, "confirmed"),
                EntityWrite(TASK, "task", {"notes": "n"}),
                EntityWrite(THIRD, "task", {"title": "third"}),
            ]
        )
    exchange(a, b)
    taken_store = one_by_one(bench, a)
    assert log_and_state(a)[:3] == log_and_state(b)[:3] == log_and_state(taken_store)[:3]
    for store in (a, b, taken_store):
        assert (value(store, TASK, "title"), value(store, TASK, "notes")) == ("new", "n")
        assert (value(store, OTHER, "title"), value(store, THIRD, "title")) == ("made", "third")


def test_verdicts_on_two_items_in_one_commit_fold_the_effects_of_both(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    with a.write() as tx:
        tx.commit([EntityWrite(identifier, "task", {"title": "old"}) for identifier in (TASK, OTHER)])
    with a.write() as tx:
        tx.commit([effect(TASK, ONE, title="new")])
        tx.commit([effect(OTHER, TWO, title="new")])
    exchange(a, b)
    with a.write() as tx:
        tx.commit([decided(60, ONE, "confirmed"), decided(61, TWO, "confirmed")])
    exchange(a, b)
    for store in (a, b):
        assert (value(store, TASK, "title"), value(store, OTHER, "title")) == ("new", "new")
    assert log_and_state(a)[:3] == log_and_state(b)[:3]


def test_an_undo_takes_back_what_was_confirmed_and_only_that(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write(a, TASK, title="old")
    with a.write() as tx:
        tx.commit(
            [decided(60, ONE, "confirmed"), effect(TASK, ONE, title="new"), effect(OTHER, ONE, title="made")]
        )
        tx.commit([decided(61, TWO, "confirmed"), effect(TASK, TWO, notes="n")])
    with a.write() as tx:
        tx.commit([decided(62, ONE, "undone", entity_id(60))])
    exchange(a, b)
    for store in (a, b):
        assert (value(store, TASK, "title"), value(store, TASK, "notes")) == ("old", "n")
        with store.read() as snapshot:
            entity = snapshot.entity(OTHER)
        assert entity is not None
        assert not entity.visible
    assert log_and_state(a)[:3] == log_and_state(b)[:3]


def test_verdicts_in_one_transaction_count_each_on_what_came_before(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write(a, TASK, title="old")
    verdicts = ("confirmed", "undone", "reopened", "confirmed")
    with a.write() as tx:
        tx.commit([effect(TASK, ONE, title="new")])
        for number, verdict in enumerate(verdicts):
            tx.commit(
                [decided(60 + number, ONE, verdict, *(entity_id(60 + index) for index in range(number)))]
            )
    exchange(a, b)
    assert value(a, TASK, "title") == value(b, TASK, "title") == "new"
    assert log_and_state(a)[:3] == log_and_state(b)[:3]


def test_an_effect_in_the_transaction_of_its_verdict_is_live_at_once(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write(a, TASK, title="old")
    with a.write() as tx:
        tx.commit([decided(60, ONE, "confirmed"), effect(TASK, ONE, title="new")])
        tx.commit([decided(61, ONE, "undone", entity_id(60))])
        tx.commit([decided(62, ONE, "reopened", entity_id(61))])
        tx.commit([decided(63, ONE, "confirmed", entity_id(62))])
        tx.commit([effect(OTHER, ONE, title="made")])
    exchange(a, b)
    assert [value(b, identifier, "title") for identifier in (TASK, OTHER)] == ["new", "made"]
    assert log_and_state(a)[:3] == log_and_state(b)[:3]


def test_a_page_goes_on_from_what_the_transaction_wrote_before_it(bench: StoreBench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    write(a, TASK, title="t")
    exchange(a, b)
    for number in range(3):
        write(a, TASK, notes=f"{number}")
    page = feed(a)
    with b.write() as tx:
        tx.commit([EntityWrite(TASK, "task", {"priority": "P1"})])
        assert tx.accept_page(page).new_commits == 3
    assert (value(b, TASK, "priority"), value(b, TASK, "notes")) == ("P1", "2")
    exchange(b, c)
    assert log_and_state(b)[:3] == log_and_state(c)[:3]


def test_the_rows_of_a_transaction_say_when_they_changed_last_and_others_stay_as_they_are(
    bench: StoreBench,
) -> None:
    store = bench.store("a")
    with store.write() as tx:
        tx.commit([EntityWrite(OTHER, "task", {"title": "o"})])
        tx.commit([EntityWrite(TASK, "task", {"title": "t"})])
        tx.commit([EntityWrite(TASK, "task", {"title": "u"})])
    with store.write() as tx:
        # Read, and so held, but not changed.
        with pytest.raises(LocalProtocolError, match="not held"):
            tx.commit([EntityWrite(OTHER, "task", {}, base=(tx.vector()[0]._replace(counter=9),))])
        tx.commit([EntityWrite(THIRD, "task", {"title": "v"})])
    with store.read() as snapshot:
        rows: Any = snapshot.db.execute("SELECT id, changed FROM entity")
        changed = dict(rows.fetchall())
    assert changed == {OTHER: 1, TASK: 3, THIRD: 4}


def test_relations_of_several_are_gained_and_lost_in_one_transaction(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    notes = [entity_id(number) for number in range(10, 14)]

    def point(*targets: EntityId) -> None:
        with a.write() as tx:
            for note, target in zip(notes, targets, strict=True):
                tx.commit([EntityWrite(note, "entry", {"task_id": target})])
        exchange(a, b)

    def pointing(target: EntityId) -> list[list[EntityId]]:
        with a.read() as local_snapshot, b.read() as existing_snapshot:
            return [
                snapshot.ids_pointing_at(target, "task_entry")
                for snapshot in (local_snapshot, existing_snapshot)
            ]

    point(TASK, TASK, TASK, OTHER)
    assert pointing(TASK) == [notes[:3]] * 2
    assert pointing(OTHER) == [notes[3:]] * 2
    point(OTHER, OTHER, TASK, OTHER)
    assert pointing(TASK) == [notes[2:3]] * 2
    assert pointing(OTHER) == [[*notes[:2], notes[3]]] * 2


def test_the_operations_on_one_entity_are_what_the_whole_commits_say(bench: StoreBench) -> None:
    store = bench.store("a")
    with store.write() as tx:
        tx.commit(
            [EntityWrite(TASK, "task", {"title": "t"}, origin={"file": "x"}), effect(OTHER, ONE, title="o")]
        )
        tx.commit([effect(TASK, ONE, title="u"), EntityWrite(OTHER, "task", {"notes": "n"})])
        tx.commit([EntityWrite(TASK, "task", {"deleted": True})])
    with store.read() as snapshot:
        log = snapshot.log
        for entity in (TASK, OTHER):
            expected = [
                (received.head, received.commit.stamp.ms, received.commit.stamp.n, listed_operation)
                for received in map(log.commit_at, range(1, 4))
                for listed_operation in received.commit.operations
                if listed_operation.entity == entity
            ]
            sourced_operations = list(operations_on(snapshot.db, entity, log))
            assert [
                (
                    sourced_operation.head,
                    sourced_operation.source.ms,
                    sourced_operation.source.n,
                    sourced_operation.operation,
                )
                for sourced_operation in sourced_operations
            ] == expected
            for listed_sourced_operation in sourced_operations:
                operation = listed_sourced_operation.operation
                words = (operation.by, operation.effect, operation.origin)
                assert (
                    listed_sourced_operation.source.by,
                    listed_sourced_operation.source.effect,
                    listed_sourced_operation.source.origin,
                ) == words
                assert listed_sourced_operation.source.base == (operation.base if operation.deletes else None)
        row = TableWriter(snapshot.db, log).refold_entity(TASK)
        state = snapshot.db.execute("SELECT state FROM entity WHERE id = ?", (TASK,)).fetchone()
        assert state == (dump_state(row),)
        assert (row.clock != EMPTY_CLOCK, row.born is not None and row.born.origin) == (True, {"file": "x"})


@pytest.mark.parametrize("body", [b"\0", b"", b"\x98"])
def test_a_damaged_commit_is_told_in_words_where_an_entity_is_folded_anew(
    bench: StoreBench, body: bytes
) -> None:
    store = bench.store("a")
    write(store, TASK, title="t")
    with store.write() as tx:
        tx.db.execute("UPDATE feed SET body = ?", (body,))
        with pytest.raises(DamagedDatabase, match=r"^commit 1 of the log cannot be read: "):
            list(operations_on(tx.db, TASK, tx.log))


def test_what_an_earlier_version_folded_is_folded_from_its_history_once(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    write(a, TASK, title="old")
    with a.write() as tx:
        tx.commit([effect(TASK, ONE, title="new"), effect(OTHER, ONE, title="made")])
    exchange(a, b)
    with b.write() as tx:
        tx.db.execute("UPDATE conditional SET form = x''")
    with b.read() as snapshot:
        assert verify_store(snapshot, lambda *_: None).is_sound
    with a.write() as tx:
        tx.commit([decided(60, ONE, "confirmed"), EntityWrite(TASK, "task", {"notes": "n"})])
    exchange(a, b)
    for store in (a, b):
        assert (value(store, TASK, "title"), value(store, OTHER, "title")) == ("new", "made")
        with store.read() as snapshot:
            assert verify_store(snapshot, lambda *_: None).is_sound
    assert log_and_state(a)[:3] == log_and_state(b)[:3]
    with b.read() as snapshot:
        assert snapshot.db.execute("SELECT count(*) FROM conditional WHERE form = x''").fetchone() == (0,)


def test_what_no_verdict_can_change_any_more_has_no_conditional_fold(bench: StoreBench) -> None:
    a = bench.store("a")
    write(a, TASK, title="old")
    with a.write() as tx:
        tx.commit([effect(TASK, ONE, title="new")])
    counts = []
    for title in ("own", "own again"):
        with a.read() as snapshot:
            counts.append(snapshot.db.execute("SELECT count(*) FROM conditional").fetchone())
        write(a, TASK, title=title)
    assert counts == [(1,), (0,)]


def test_a_damaged_conditional_fold_is_found(bench: StoreBench) -> None:
    a = bench.store("a")
    write(a, TASK, title="old")
    with a.write() as tx:
        tx.commit([effect(TASK, ONE, title="new")])
        tx.db.execute("UPDATE conditional SET form = x'00'")
    with a.read() as snapshot:
        (finding,) = verify_store(snapshot, lambda *_: None).findings
    assert finding.what.id == "verify-columns-differ"


def test_one_more_creation_of_an_agent_reads_one_commit(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = bench.store("a")
    agent = derived_id("agent", id_to_text(TASK), time_of=TASK)
    with a.write() as tx:
        tx.commit([EntityWrite(agent, "agent", {"task_id": TASK}, by=AuthorKind.AGENT)])
    for number in range(5):
        write(a, agent, mode=f"{number}")
    read: list[int] = []
    body_at = CommitLog.body_at

    def noted(log: CommitLog, seq: int) -> tuple[Head, bytes]:
        read.append(seq)
        return body_at(log, seq)

    monkeypatch.setattr(CommitLog, "body_at", noted)
    with a.write() as tx:
        tx.commit([EntityWrite(agent, "task", {"title": "mine"}, base=EMPTY_CLOCK)])
    assert read == [1]
    with a.read() as snapshot:
        entity = snapshot.entity(agent)
    assert entity is not None
    assert entity.kind == "agent"
