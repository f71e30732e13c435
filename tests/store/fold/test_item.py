"""Change items and decisions as readers see them, also if another version wrote what this one cannot read.

Never decides whether a decision was allowed.
"""

from base64 import b64encode
from typing import Any

import pytest

from store.fold.conditional import ConditionalFold, InEffect
from store.fold.entity_state import EntityState
from store.fold.item import Item, clock_as_value, clock_from_value
from store.fold.verdicts import DecisionStatus, ItemStatus, Verdict
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, ReplicaId
from syncproto.vector_clock import EMPTY_CLOCK, Chains, Head
from tests.support.stores import StoreBench, entity_id, exchange, log_and_state, signer_of, write

TASK, AGENT, SET, OTHER_SET = entity_id(1), entity_id(2), entity_id(3), entity_id(4)
ONE, TWO = entity_id(101), entity_id(102)
PRINT = b"f" * 32


def proposed(item: EntityId = ONE, **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "item_id": item,
        "fingerprint": PRINT,
        "tool": "set_task_title",
        "args": {"title": "New"},
        "base": {"clock": [], "value": "Old"},
        "rationale": "because",
    }
    return fields | more


def propose(store: Store, items: object, change_set: EntityId = SET, **more: Any) -> None:
    fields: dict[str, Any] = {
        "task_id": TASK, "agent_id": AGENT, "run_key": "run", "items": items, "expires_at": 99,
    }  # fmt: skip
    with store.write() as tx:
        tx.commit([EntityWrite(change_set, "change_set", fields | more)], by=AuthorKind.AGENT)


def decide(store: Store, verdict: object, number: int, seen: object = (), **more: Any) -> Head:
    fields: dict[str, Any] = {"item_id": ONE, "verdict": verdict, "seen": seen if seen != () else [], **more}
    with store.write() as tx:
        return tx.commit([EntityWrite(entity_id(200 + number), "decision", fields)])


def the_item(store: Store, item: EntityId = ONE) -> Item:
    with store.read() as snapshot:
        found_item = snapshot.item(item)
    assert found_item is not None
    return found_item


def state_hash(store: Store) -> bytes:
    with store.read() as snapshot:
        return snapshot.state_hash()


def items(snapshot: Snapshot) -> list[EntityId]:
    return [item.id for item in snapshot.items()]


@pytest.fixture
def store(bench: StoreBench) -> Store:
    return bench.store("a")


def test_an_item_is_read_as_it_was_proposed(store: Store, bench: StoreBench) -> None:
    head = write(store, TASK, title="Old")
    propose(
        store, [proposed(base={"clock": clock_as_value((head,)), "value": "Old"}), proposed(TWO, tool="x")]
    )
    item = the_item(store)
    assert (item.tool, item.args, item.task, item.fingerprint) == (
        "set_task_title",
        {"title": "New"},
        TASK,
        PRINT,
    )
    assert (item.status, item.disputed, item.decisions, item.expires_ms) == (
        DecisionStatus.PENDING,
        False,
        (),
        99,
    )
    (occurrence,) = item.occurrences
    assert (occurrence.change_set, occurrence.position, occurrence.agent) == (SET, 0, AGENT)
    assert (occurrence.base, occurrence.value) == ((head,), "Old")
    assert (occurrence.run_key, occurrence.rationale, occurrence.created_ms) == (
        "run",
        "because",
        bench.now_ms,
    )
    assert the_item(store, TWO).occurrences[0].position == 1


def test_an_item_that_was_never_proposed_is_none(store: Store) -> None:
    decide(store, "rejected", 1)
    with store.read() as snapshot:
        assert snapshot.item(ONE) is None
        assert snapshot.items() == []


def test_two_runs_that_propose_the_same_propose_one_item(store: Store) -> None:
    propose(store, [proposed(TWO), proposed()])
    propose(store, [proposed(rationale="again")], OTHER_SET, expires_at=100)
    item = the_item(store)
    assert [
        (occurrence.change_set, occurrence.position, occurrence.rationale) for occurrence in item.occurrences
    ] == [
        (SET, 1, "because"),
        (OTHER_SET, 0, "again"),
    ]
    assert item.expires_ms == 100
    with store.read() as snapshot:
        assert items(snapshot) == [TWO, ONE]
        assert [listed_item.id for listed_item in snapshot.items(TASK)] == [TWO, ONE]
        assert snapshot.items(AGENT) == []
        assert [listed_item.id for listed_item in snapshot.items_of_set(SET)] == [TWO, ONE]
        assert [listed_item.id for listed_item in snapshot.items_of_set(OTHER_SET)] == [ONE]
        assert set(snapshot.items_with_fingerprint(PRINT)) == {ONE, TWO}
        assert snapshot.items_with_fingerprint(b"other") == []


def test_items_are_found_by_what_their_decisions_amount_to(store: Store) -> None:
    propose(store, [proposed(), proposed(TWO)])
    decide(store, "rejected", 1)
    with store.read() as snapshot:
        assert [item.id for item in snapshot.items_with_status(DecisionStatus.REJECTED, TASK)] == [ONE]
        assert [item.id for item in snapshot.items_with_status(DecisionStatus.PENDING, TASK)] == [TWO]
        assert snapshot.items_with_status(DecisionStatus.CONFIRMED, TASK) == []
        assert snapshot.items_with_status(DecisionStatus.REJECTED, AGENT) == []
        assert snapshot.item_status(ONE) == ItemStatus(DecisionStatus.REJECTED, disputed=False)
        assert snapshot.item_status(entity_id(999)) == ItemStatus(DecisionStatus.PENDING, disputed=False)


def test_decisions_are_read_in_full(store: Store, bench: StoreBench) -> None:
    propose(store, [proposed()])
    head = decide(store, "deferred", 1, via="cli", reason="not now")
    decide(store, "confirmed", 2, [entity_id(201)], edited_args={"title": "Mine"})
    item = the_item(store)
    decision, two = item.decisions
    assert (decision.id, decision.verdict, decision.by, decision.head) == (
        entity_id(201),
        Verdict.DEFERRED,
        AuthorKind.USER,
        head,
    )
    assert (decision.device, decision.stamp_ms, decision.n) == (signer_of("a").device, bench.now_ms, 1)
    assert (decision.reason, decision.via, decision.edited_args, decision.seen) == (
        "not now",
        "cli",
        None,
        frozenset(),
    )
    assert (two.reason, two.via, two.edited_args) == ("", "", {"title": "Mine"})
    assert two.opinion.seen == {entity_id(201)}
    assert item.status is DecisionStatus.CONFIRMED


def test_a_decision_names_the_device_that_made_it(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    propose(a, [proposed()])
    exchange(a, b)
    decide(b, "rejected", 1)
    exchange(b, a)
    assert the_item(a).decisions[0].device == signer_of("b").device
    assert the_item(a).status is DecisionStatus.REJECTED


def test_a_decision_may_come_before_the_proposal(bench: StoreBench) -> None:
    store = bench.store("a")
    decide(store, "rejected", 1)
    propose(store, [proposed()])
    assert the_item(store).status is DecisionStatus.REJECTED


def test_effects_that_come_before_or_after_their_decision_fold_to_the_same(bench: StoreBench) -> None:
    results = set()
    for name, decision_first in (("a", True), ("b", False)):
        store = bench.store(name)
        write(store, TASK, title="Old")
        steps = [
            [EntityWrite(entity_id(201), "decision", {"item_id": ONE, "verdict": "confirmed", "seen": []})],
            [EntityWrite(TASK, "task", {"title": "New"}, effect=ONE, by=AuthorKind.AGENT)],
        ]
        with store.write() as tx:
            for step in steps if decision_first else steps[::-1]:
                tx.commit(step)
            task = tx.entity(TASK)
        assert task is not None
        results.add(str(task.value("title")))
    assert results == {"New"}


@pytest.mark.parametrize(
    "fields",
    [
        {"item_id": ONE, "verdict": "postponed", "seen": []},
        {"item_id": ONE, "verdict": ["confirmed"], "seen": []},
        {"item_id": ONE, "seen": []},
        {"item_id": b"short", "verdict": "confirmed", "seen": []},
        {"item_id": "text", "verdict": "confirmed", "seen": []},
        {"verdict": "confirmed", "seen": []},
    ],
)
def test_a_decision_that_this_version_cannot_read_is_kept_and_decides_nothing(
    bench: StoreBench, fields: dict[str, Any]
) -> None:
    a, b = bench.store("a"), bench.store("b")
    propose(a, [proposed()])
    with a.write() as tx:
        tx.commit([EntityWrite(entity_id(201), "decision", fields)])
    assert the_item(a).status is DecisionStatus.PENDING
    exchange(a, b)
    assert log_and_state(a)[:3] == log_and_state(b)[:3]
    with b.read() as snapshot:
        entity = snapshot.entity(entity_id(201))
    assert entity is not None
    assert {name: entity.value(name) for name in entity.fields()} == fields


@pytest.mark.parametrize("observed", [None, "text", 5, [None, 5, b"short", [], "x"], {"a": 1}])
def test_what_a_decision_says_it_saw_is_read_as_far_as_it_is_ids(store: Store, observed: object) -> None:
    propose(store, [proposed()])
    decide(store, "confirmed", 1, observed)
    assert the_item(store).decisions[0].seen == frozenset()
    assert the_item(store).status is DecisionStatus.CONFIRMED


def test_writing_on_a_decision_later_changes_no_verdict(store: Store) -> None:
    propose(store, [proposed()])
    decide(store, "rejected", 1)
    decide(store, "confirmed", 1)
    item = the_item(store)
    assert (item.status, len(item.decisions)) == (DecisionStatus.REJECTED, 1)


def test_writing_on_a_change_set_later_proposes_nothing(store: Store) -> None:
    propose(store, [proposed()])
    propose(store, [proposed(TWO)])
    with store.read() as snapshot:
        assert items(snapshot) == [ONE]


@pytest.mark.parametrize(
    "listed",
    [None, "text", 7, {}, [], ["text"], [None], [{}], [{"item_id": b"short"}], [{"item_id": "x" * 16}]],
)
def test_items_that_this_version_cannot_read_are_left_out_and_kept(bench: StoreBench, listed: object) -> None:
    a, b = bench.store("a"), bench.store("b")
    propose(a, listed)
    with a.read() as snapshot:
        assert snapshot.items() == []
    exchange(a, b)
    assert log_and_state(a)[:3] == log_and_state(b)[:3]
    with b.read() as snapshot:
        entity = snapshot.entity(SET)
    assert entity is not None
    assert entity.value("items") == listed


def test_items_behind_one_that_this_version_cannot_read_are_proposed(store: Store) -> None:
    propose(store, ["text", {"item_id": b"short"}, proposed(), {}, proposed(TWO)])
    with store.read() as snapshot:
        assert items(snapshot) == [ONE, TWO]
    assert [the_item(store, identifier).occurrences[0].position for identifier in (ONE, TWO)] == [2, 4]


def test_an_item_that_a_set_names_again_is_proposed_there_once(store: Store) -> None:
    propose(store, [proposed(), proposed(TWO), proposed(args={"title": "Other"}), proposed()])
    (occurrence,) = the_item(store).occurrences
    assert (occurrence.position, occurrence.args) == (0, {"title": "New"})
    with store.read() as snapshot:
        assert [item.id for item in snapshot.items_of_set(SET)] == [ONE, TWO]


def test_an_item_whose_end_cannot_be_read_has_expired(store: Store) -> None:
    propose(store, [proposed()], expires_at="tomorrow")
    assert (waiting(store, -1), waiting(store, 0)) == ([ONE], [])


@pytest.mark.parametrize("odd", [b"short", b"x" * 17, "x" * 16, list(range(16))])
def test_an_agents_id_that_is_none_is_read_as_empty(store: Store, odd: object) -> None:
    propose(store, [proposed()], agent_id=odd)
    assert the_item(store).occurrences[0].agent == bytes(16)


@pytest.mark.parametrize("odd", ["text", [1], 7, True, b"x"])
def test_odd_edits_of_a_decision_are_read_as_none(store: Store, odd: object) -> None:
    propose(store, [proposed()])
    decide(store, "confirmed", 1, edited_args=odd, reason=odd, via=odd)
    (decision,) = the_item(store).decisions
    assert decision.edited_args is None
    assert (decision.reason, decision.via) == (("text", "text") if odd == "text" else ("", ""))


def test_a_change_set_of_no_task_proposes_nothing(store: Store) -> None:
    propose(store, [proposed()], task_id="nowhere")
    with store.read() as snapshot:
        assert snapshot.items() == []


@pytest.mark.parametrize(
    "odd",
    [
        {"tool": 5, "args": [], "base": None, "rationale": {}, "fingerprint": "text"},
        {"tool": None, "args": "x", "base": {"clock": "x"}, "rationale": 1, "fingerprint": None},
        {"base": {"clock": [[b"r" * 16, 0, b"h" * 32]]}},
        {"base": {"clock": [[b"r" * 16, True, b"h" * 32]]}},
        {"base": {"clock": [["r" * 16, 1, "h" * 32]]}},
        {"base": {"clock": [[b64encode(b"r" * 16).decode(), 1, b64encode(b"h" * 32).decode()]]}},
        {"base": {"clock": [[b"r" * 16, 1.5, b"h" * 32]]}},
        {"base": {"clock": [[1, 1, 1]]}},
        {"base": {"clock": [[b"r" * 16, 1]]}},
        {"base": {"clock": [7]}},
        {"base": {"clock": [[b"r" * 16, 1, b"h" * 32]] * 2}},
    ],
)
def test_odd_parts_of_an_item_are_read_as_empty(store: Store, odd: dict[str, Any]) -> None:
    propose(store, [proposed(**odd)], expires_at=True, agent_id="x", run_key=7)
    (occurrence,) = the_item(store).occurrences
    assert occurrence.base == EMPTY_CLOCK
    assert occurrence.expires_ms == 0
    assert occurrence.agent == bytes(16)
    assert occurrence.run_key == ""
    if "tool" in odd:
        assert (occurrence.tool, occurrence.args, occurrence.rationale) == ("", {}, "")
        assert the_item(store).fingerprint == b""


def test_a_clock_as_a_value_is_read_back() -> None:
    clock = (Head(ReplicaId(b"a" * 16), 3, b"1" * 32), Head(ReplicaId(b"b" * 16), 1, b"2" * 32))
    assert clock_from_value(clock_as_value(clock)) == clock
    assert clock_from_value(clock_as_value(clock[::-1])) == EMPTY_CLOCK
    assert clock_from_value([]) == EMPTY_CLOCK


def test_a_change_set_made_twice_at_once_shows_the_same_item_whoever_came_first(bench: StoreBench) -> None:
    a, b = bench.store("a"), bench.store("b")
    propose(a, [proposed(args={"title": "X"})])
    propose(b, [proposed(args={"title": "Y"})])
    exchange(a, b)
    exchange(b, a)
    assert state_hash(a) == state_hash(b)
    displayed = [[occurrence.args for occurrence in the_item(store).occurrences] for store in (a, b)]
    assert displayed[0] == displayed[1]
    assert len(displayed[0]) == 2
    with a.read() as snapshot:
        assert [item.id for item in snapshot.items_of_set(SET)] == [ONE]


def test_many_verdicts_on_one_item_fold_what_they_changed_once(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = bench.store("a"), bench.store("b")
    write(a, TASK, title="t")
    propose(a, [proposed()])
    identifiers: list[EntityId] = []
    for number in range(40):
        decide(a, "confirmed" if number % 2 else "rejected", number, seen=list(identifiers))
        identifiers = [entity_id(200 + number)]
        with a.write() as tx:
            tx.commit([EntityWrite(TASK, "task", {"title": f"t{number}"}, effect=ONE, by=AuthorKind.AGENT)])
    folded: list[EntityState] = []
    fold = ConditionalFold.row

    def noted(conditional: ConditionalFold, in_effect: InEffect, chains: Chains) -> EntityState:
        folded.append(fold(conditional, in_effect, chains))
        return folded[-1]

    monkeypatch.setattr(ConditionalFold, "row", noted)
    exchange(a, b)
    assert state_hash(a) == state_hash(b)
    assert len(folded) == 1


def test_a_rejection_that_meets_a_confirmation_is_a_dispute_until_one_has_seen_the_other(
    bench: StoreBench,
) -> None:
    a, b = bench.store("a"), bench.store("b")
    propose(a, [proposed(), proposed(TWO)])
    exchange(a, b)
    decide(a, "confirmed", 1)
    assert not the_item(a).disputed
    decide(b, "rejected", 2)
    exchange(a, b)
    exchange(b, a)
    for store in (a, b):
        assert (the_item(store).status, the_item(store).disputed) == (DecisionStatus.REJECTED, True)
        assert not the_item(store, TWO).disputed
    decide(a, "confirmed", 3, [entity_id(202)])
    assert (the_item(a).status, the_item(a).disputed) == (DecisionStatus.CONFIRMED, False)


def waiting(store: Store, now_ms: int, task: EntityId | None = None) -> list[EntityId]:
    with store.read() as snapshot:
        return [item.id for item in snapshot.open_items(now_ms, task)]


def test_what_waits_is_what_nobody_has_decided_in_time(store: Store) -> None:
    propose(store, [proposed(), proposed(TWO)])
    propose(store, [proposed(TWO)], OTHER_SET, expires_at=200)
    assert waiting(store, 98) == waiting(store, 98, TASK) == [ONE, TWO]
    assert waiting(store, 99) == [TWO]
    assert waiting(store, 200) == []
    assert waiting(store, 98, AGENT) == []


@pytest.mark.parametrize(
    ("verdicts", "waits"),
    [
        ([("deferred", [])], True),
        ([("confirmed", [])], False),
        ([("rejected", [])], False),
        ([("rejected", []), ("reopened", [1])], True),
        ([("confirmed", []), ("rejected", [])], True),
        ([("retracted", [])], False),
    ],
)
@pytest.mark.parametrize("decided_first", [False, True])
def test_what_a_person_put_off_reopened_or_disputed_waits_for_ever(
    verdicts: list[tuple[str, list[int]]], waits: bool, decided_first: bool, store: Store
) -> None:
    if not decided_first:
        propose(store, [proposed()])
    for number, (verdict, observed) in enumerate(verdicts, 1):
        decide(store, verdict, number, [entity_id(200 + element) for element in observed])
    if decided_first:
        propose(store, [proposed()])
    assert waiting(store, 10_000) == [ONE] * waits


def test_what_was_settled_is_what_people_decided_last_and_what_expired_last(store: Store) -> None:
    def settled(now_ms: int, limit: int = 9, task: EntityId = TASK) -> list[EntityId]:
        with store.read() as snapshot:
            return [item.id for item in snapshot.settled_items(task, now_ms, limit)]

    propose(store, [proposed(), proposed(TWO)])
    assert settled(98) == []
    assert settled(99) == [ONE, TWO]
    decide(store, "confirmed", 1, item_id=TWO)
    decide(store, "rejected", 2)
    assert settled(98) == [ONE, TWO]
    assert settled(98, limit=1) == [ONE]
    assert settled(98, task=AGENT) == []


def test_what_was_never_proposed_here_does_not_wait(store: Store) -> None:
    decide(store, "deferred", 1)
    assert waiting(store, 0) == []


def test_what_a_transaction_did_is_seen_by_its_own_reads(store: Store) -> None:
    with store.write() as tx:
        before = tx.state_hash()
        for number in range(3):
            tx.commit([EntityWrite(TASK, "task", {"title": str(number)})])
        entity = tx.entity(TASK)
        assert entity is not None
        assert entity.text("title") == "2"
        assert (tx.counts().entities, len(tx.read_feed(0, 9)), tx.replica) == (1, 3, tx.vector()[0].replica)
        assert tx.state_hash() != before
        tx.commit([EntityWrite(TASK, "task", {"title": "3"})])
    with store.read() as snapshot:
        assert snapshot.state_hash() == state_hash(store)
        entity = snapshot.entity(TASK)
        assert entity is not None
        assert entity.text("title") == "3"
