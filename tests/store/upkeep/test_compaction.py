"""Tests of what compaction drops and what it leaves: by age, by who wrote over it, and by who holds it.

Never asks the compaction itself what it should have done: logs and folds are compared.
"""

import sys
from types import FrameType
from typing import Any

import pytest

from store.file.errors import DamagedDatabase
from store.fold.verdicts import Verdict
from store.queries import field_changes
from store.store import Store
from store.transaction import EntityWrite
from store.upkeep import compaction
from store.upkeep.compaction import CompactionStep, Retention, SpaceFreed, compact_step, estimate_step
from syncproto import commit as commits
from syncproto.codec import Redacted
from syncproto.commit import AuthorKind, SignedCommit
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock
from tests.simulation.laws import contents, refold_is_the_same
from tests.support.stores import NOW_MS, StoreBench, entity_id, exchange, feed

TASK, OTHER, ITEM = entity_id(1), entity_id(2), entity_id(3)
LATE = NOW_MS + 1_000_000
ALL = Retention(LATE)


def words(letter: str, count: int = 300) -> str:
    """Return a long text."""
    return letter * count


def wrote(store: Store, by: AuthorKind = AuthorKind.USER, entity: EntityId = TASK, **fields: Any) -> Head:
    """Write one operation in a commit of its own, with `kind`, `base` and `effect` among the fields."""
    kind, base, effect = (fields.pop(name, None) for name in ("kind", "base", "effect"))
    with store.write() as tx:
        return tx.commit([EntityWrite(entity, kind or "task", fields, base=base, effect=effect)], by=by)


def compacted(store: Store, retention: Retention = ALL) -> SpaceFreed:
    """Compact to the end, and hold what is folded to what it was before."""
    with store.read() as snapshot:
        before, vector = contents(snapshot), snapshot.vector()
        foreseen = estimate_step(snapshot, retention)
    total = SpaceFreed()
    after: EntityId | None = compaction.BEFORE_FIRST_ENTITY
    while after is not None:
        with store.write() as tx:
            freed, after = compact_step(tx, retention, after)
        total = SpaceFreed(*(sum(both) for both in zip(total, freed, strict=True)))
    with store.read() as snapshot:
        assert (contents(snapshot), snapshot.vector()) == (before, vector)
        refold_is_the_same(snapshot)
    assert foreseen == CompactionStep(total, None)
    return total


def take(store: Store, page: list[SignedCommit]) -> int:
    """Accept a page; return how many commits were new."""
    with store.write() as tx:
        return tx.accept_page(page).new_commits


def values(store: Store, field: str, entity: EntityId = TASK) -> list[Any]:
    """Return the values of a field in the log, in feed order."""
    with store.read() as snapshot:
        sourced_operations = list(field_changes.operations_touching(snapshot, entity))
    return [
        sourced_operation.operation.fields[field]
        for sourced_operation in sourced_operations
        if field in sourced_operation.operation.fields
    ]


def is_dropped(values: list[Any]) -> list[bool]:
    """Return which of some values are dropped."""
    return [isinstance(value, Redacted) for value in values]


def test_what_a_person_wrote_over_goes_and_what_stands_stays(bench: StoreBench) -> None:
    store = bench.store("a")
    for letter in "abc":
        wrote(store, text=words(letter), title="short")
    freed = compacted(store)
    assert freed == SpaceFreed(2, 2, 2 * (303 - 35))
    assert is_dropped(values(store, "text")) == [True, True, False]
    assert values(store, "title") == ["short"] * 3
    assert compacted(store) == SpaceFreed()


def test_what_is_younger_than_the_retention_stays(bench: StoreBench) -> None:
    store = bench.store("a")
    wrote(store, text=words("a"))
    bench.now_ms += 1000
    wrote(store, text=words("b"))
    wrote(store, text=words("c"))
    assert compacted(store, Retention(NOW_MS)) == SpaceFreed()
    assert compacted(store, Retention(NOW_MS + 1)).values == 1
    assert is_dropped(values(store, "text")) == [True, False, False]


def test_what_an_agent_or_the_system_wrote_over_stays(bench: StoreBench) -> None:
    store = bench.store("a")
    wrote(store, text=words("a"))
    wrote(store, AuthorKind.AGENT, text=words("b"))
    wrote(store, AuthorKind.SYSTEM, text=words("c"))
    assert compacted(store) == SpaceFreed()
    wrote(store, text="mine")
    assert compacted(store).values == 3


def test_what_a_confirmation_wrote_over_stays_and_shows_again_after_the_undo(bench: StoreBench) -> None:
    store = bench.store("a")
    wrote(store, text=words("a"))
    with store.write() as tx:
        decision: dict[str, Any] = {"item_id": ITEM, "verdict": Verdict.CONFIRMED.value, "seen": []}
        effect = EntityWrite(TASK, "task", {"text": words("b")}, effect=ITEM, by=AuthorKind.USER)
        tx.commit([EntityWrite(entity_id(4), "decision", decision), effect])
    assert compacted(store) == SpaceFreed()
    undone: dict[str, Any] = {"item_id": ITEM, "verdict": Verdict.UNDONE.value, "seen": [entity_id(4)]}
    with store.write() as tx:
        tx.commit([EntityWrite(entity_id(5), "decision", undone)])
        entity = tx.entity(TASK)
        assert entity is not None
        assert entity.text("text") == words("a")
    assert compacted(store) == SpaceFreed()


def test_what_a_confirmation_wrote_goes_once_a_person_wrote_over_it(bench: StoreBench) -> None:
    store = bench.store("a")
    wrote(store, text="short")
    with store.write() as tx:
        decision: dict[str, Any] = {"item_id": ITEM, "verdict": Verdict.CONFIRMED.value, "seen": []}
        effect = EntityWrite(TASK, "task", {"text": words("b")}, effect=ITEM, by=AuthorKind.AGENT)
        tx.commit([EntityWrite(entity_id(4), "decision", decision), effect])
    wrote(store, text="mine")
    assert compacted(store).values == 1


def test_concurrent_words_stay_until_a_person_has_seen_them_all(bench: StoreBench) -> None:
    store = bench.store("a")
    first = wrote(store, text=words("a"))
    wrote(store, text=words("b"), base=(first,))
    wrote(store, text=words("c"), base=(first,))
    wrote(store, title="another field")
    assert compacted(store).values == 1
    assert is_dropped(values(store, "text")) == [True, False, False]
    wrote(store, text="settled")
    assert compacted(store).values == 2


def test_a_value_goes_too_where_what_covers_it_was_itself_overwritten(bench: StoreBench) -> None:
    store = bench.store("a")
    first = wrote(store, text=words("a"))
    wrote(store, text="mine", base=(first,))
    wrote(store, AuthorKind.AGENT, text="the agent's")
    assert compacted(store).values == 1


def test_nothing_goes_that_another_member_is_not_known_to_hold(bench: StoreBench) -> None:
    store = bench.store("a")
    first = wrote(store, text=words("a"))
    second = wrote(store, text=words("b"))
    third = wrote(store, text="c")
    unknown = Head(first.replica, 9, bytes(32))
    observed: list[tuple[tuple[VectorClock, ...], int]] = [
        ((EMPTY_CLOCK,), 0),
        (((first,),), 0),
        (((unknown,),), 0),
        (((third,), EMPTY_CLOCK), 0),
        (((second,), (third,)), 1),
        (((third,), (third,)), 1),
    ]
    for clocks, count in observed:
        assert compacted(store, Retention(LATE, clocks)).values == count, clocks


@pytest.mark.parametrize("kind", ["decision", "change_set", "report", "agent_state", "from-tomorrow"])
def test_what_is_read_from_the_log_and_not_only_folded_stays(bench: StoreBench, kind: str) -> None:
    store = bench.store("a")
    wrote(store, text=words("a"), seen=[entity_id(n) for n in range(20)], items=[words("i")], kind=kind)
    wrote(store, text="", seen=[], items=[], kind=kind)
    assert compacted(store) == SpaceFreed()


def test_a_decisions_own_words_stay_even_where_a_person_writes_over_them(bench: StoreBench) -> None:
    store = bench.store("a")
    entity_ids = [entity_id(n) for n in range(20)]
    decision: dict[str, Any] = {"item_id": ITEM, "verdict": "confirmed", "seen": entity_ids}
    wrote(store, entity=entity_id(4), kind="decision", **decision)
    wrote(store, entity=entity_id(4), kind="task", seen=[])
    assert compacted(store) == SpaceFreed()


def test_the_log_goes_on_to_others_in_either_form_and_everyone_agrees(bench: StoreBench) -> None:
    a, b, c = bench.store("a"), bench.store("b"), bench.store("c")
    wrote(a, text=words("a"), title=words("t"))
    exchange(a, b)
    wrote(b, text=words("b"))
    wrote(b, text="c")
    exchange(b, a)
    assert compacted(a).values == 2
    assert take(c, feed(a)) == 3
    assert take(b, feed(a)) == 0
    assert is_dropped(values(a, "text")) == is_dropped(values(c, "text")) == [True, True, False]
    assert is_dropped(values(b, "text")) == [False, False, False]
    assert take(c, feed(b)) == 0
    assert is_dropped(values(c, "text")) == [False, False, False]
    wrote(c, text="and on")
    exchange(c, b)
    exchange(c, a)
    stands = set()
    for store in (a, b, c):
        with store.read() as snapshot:
            stands.add((snapshot.vector(), snapshot.state_hash()))
    assert len(stands) == 1


def test_it_may_be_stopped_after_any_step(bench: StoreBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_VALUES_MAX", 3)
    monkeypatch.setattr(compaction, "_READ_MAX", 25)
    monkeypatch.setattr(compaction, "_PAGE", 2)
    store = bench.store("a")
    for number in range(6):
        for letter in "abcdefgh":
            wrote(store, entity=entity_id(number + 1), text=words(letter))
    start, dropped = 0, 0
    while (compaction_step := _first_that_frees(store)).freed.values:
        assert compaction_step.freed.values <= 3
        dropped += compaction_step.freed.values
        start += 1
    assert start >= 6 * 7 / 3
    assert dropped == 6 * 7
    assert compacted(store) == SpaceFreed()


def _first_that_frees(store: Store) -> CompactionStep:
    """Compact from the beginning, as after a kill, up to the first step that frees something."""
    after = compaction.BEFORE_FIRST_ENTITY
    while True:
        with store.write() as tx:
            step = compact_step(tx, ALL, after)
        if step.freed.values or step.after is None:
            return step
        after = step.after


def test_entities_that_were_touched_once_are_passed_over_a_step_at_a_time(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "_ENTITIES_MAX", 4)
    monkeypatch.setattr(compaction, "_PAGE", 3)
    store = bench.store("a")
    with store.write() as tx:
        tx.commit([EntityWrite(entity_id(number), "task", {"text": words("a")}) for number in range(1, 10)])
    wrote(store, entity=entity_id(9), text="b")
    with store.write() as tx:
        steps = [compact_step(tx, ALL)]
        while (after := steps[-1].after) is not None:
            steps.append(compact_step(tx, ALL, after))
    assert [step.after for step in steps] == [entity_id(4), entity_id(8), None]
    assert [step.freed.values for step in steps] == [0, 0, 1]


def test_a_step_reads_no_more_than_some_commits_and_an_entity(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "_READ_MAX", 5)
    store = bench.store("a")
    for number in range(1, 5):
        for _ in range(3):
            wrote(store, entity=entity_id(number), title="short")
    with store.write() as tx:
        assert compact_step(tx, ALL) == CompactionStep(SpaceFreed(), entity_id(2))
        assert compact_step(tx, ALL, entity_id(2)) == CompactionStep(SpaceFreed(), None)


def calls_to_compact(bench: StoreBench, writes: int) -> int:
    """Count the calls of functions in a step over one entity of which a member holds nothing."""
    store = bench.store(f"of-{writes}")
    with store.write() as tx:
        for number in range(writes):
            tx.commit([EntityWrite(TASK, "task", {"text": words(str(number), 50)})])
    called = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal called
        called += event == "call"

    with store.write() as tx:
        sys.setprofile(note)
        try:
            assert compact_step(tx, Retention(LATE, (EMPTY_CLOCK,))) == CompactionStep(SpaceFreed(), None)
        finally:
            sys.setprofile(None)
    return called


def test_an_entity_of_many_writes_costs_as_many_where_nothing_of_it_may_go(bench: StoreBench) -> None:
    assert calls_to_compact(bench, 400) < 5 * calls_to_compact(bench, 100)


def test_a_commit_is_counted_once_however_often_it_loses_something(bench: StoreBench) -> None:
    store = bench.store("a")
    wrote(store, text=words("a"), note=words("n"))
    wrote(store, text="b")
    assert compacted(store)[:2] == (1, 1)
    wrote(store, note="b")
    assert compacted(store)[:2] == (0, 1)


def test_the_history_tells_what_was_dropped(bench: StoreBench) -> None:
    store = bench.store("a")
    wrote(store, text=words("a"))
    wrote(store, text="b")
    compacted(store)
    with store.read() as snapshot:
        received = snapshot.log.commit_at(2)
        (over,) = field_changes.PreviousValues(snapshot).changes_of(
            2, received, received.commit.operations[0]
        )
    assert isinstance(over.before, Redacted)
    assert over.after == "b"


def test_a_damaged_commit_stops_it_in_words(bench: StoreBench) -> None:
    store = bench.store("a")
    wrote(store, text=words("a"))
    wrote(store, text="b")
    with store.write() as tx:
        tx.db.execute("UPDATE feed SET body = x'00' WHERE seq = 1")
    with pytest.raises(DamagedDatabase, match="commit 1 of the log"), store.write() as tx:
        compact_step(tx, ALL)


def test_only_the_same_commit_takes_the_place_of_one(bench: StoreBench) -> None:
    store = bench.store("a")
    wrote(store, text=words("a"))
    wrote(store, text=words("b"))
    with store.write() as tx:
        tx.log.replace_body(1, commits.redact_values(tx.log.commit_at(1).commit, {TASK: {"text"}}))
    other = feed(store)[1].body
    with pytest.raises(AssertionError), store.write() as tx:
        tx.log.replace_body(1, other)
