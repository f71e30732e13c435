"""What must hold at any moment of any history: the laws, each judged by what really happened.

Never trusts a base, a clock or a `seen` list: those are what is being judged.
"""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from store.fold import word_index
from store.fold.entity_state import dump_state
from store.fold.list_columns import ListColumns, columns_of
from store.fold.relations import relations_of
from store.fold.table_writer import HASH_MODULUS, TableWriter, entity_hash
from store.fold.verdicts import DecisionStatus
from store.snapshot import Snapshot
from store.store import Store
from syncproto import commit as commits
from syncproto.commit import AuthorKind, SignedCommit
from syncproto.ids import EntityId
from syncproto.keys import Signer
from syncproto.vector_clock import Head
from tests.simulation.author import TASK
from tests.simulation.device import GroundTruth, HeldCommits
from tests.simulation.oracle import FoldOracle, WitnessedOperation
from tests.support.empty_database import lay_empty_database

Contents = dict[str, list[Any]]


class JudgedDevice(Protocol):
    """A device, as far as it is judged: what it really holds, and what its store makes of that."""

    @property
    def truth(self) -> GroundTruth: ...
    @property
    def held(self) -> HeldCommits: ...
    @property
    def store(self) -> Store: ...


def entities_of(snapshot: Snapshot) -> list[EntityId]:
    """Return every entity of which an operation is held."""
    rows: Any = snapshot.db.execute("SELECT id FROM entity ORDER BY id")
    return [entity for (entity,) in rows]


def contents(snapshot: Snapshot) -> Contents:
    """Return everything folded, byte for byte, apart from local places in the feed."""
    queries = {
        "entity": "SELECT id, kind, visible, state FROM entity ORDER BY id",
        "relation": "SELECT target, name, owner FROM relation ORDER BY 1, 2, 3",
        "item": "SELECT id, status, disputed FROM item ORDER BY id",
        "proposal": "SELECT item, change_set, position, task, fingerprint FROM proposal ORDER BY 1, 2, 3",
        "opinion": "SELECT item, decision, verdict, by, seen FROM opinion ORDER BY 1, 2",
        "named": "SELECT item, entity FROM named ORDER BY 1, 2",
        "overruled": "SELECT item, whose, decision FROM overruled ORDER BY 1, 2, 3",
        "tally": "SELECT item, whose, verdict, number FROM tally ORDER BY 1, 2, 3",
        "effect": "SELECT item, entity FROM effect ORDER BY 1, 2",
        "conditional": "SELECT entity, form FROM conditional ORDER BY 1",
        "standing": "SELECT state_sum, entities FROM standing",
    }
    return {name: list(snapshot.db.execute(query)) for name, query in queries.items()}


# -- the incremental path and the full one ---------------------------------------------------------------


def refold_is_the_same(snapshot: Snapshot) -> None:
    """Fold every entity from its history: the same bytes, the same relations, the same sum."""
    folding, total, relations = TableWriter(snapshot.db, snapshot.log), 0, set()
    entities = entities_of(snapshot)
    for entity in entities:
        found_entity = snapshot.entity(entity)
        assert found_entity is not None
        row = folding.refold_entity(entity)
        assert dump_state(row) == dump_state(found_entity.state), (
            "the incremental path and the full one differ"
        )
        total += entity_hash(entity, dump_state(row))
        relations |= {(target, name, entity) for target, name in relations_of(row)}
    assert total % HASH_MODULUS == int.from_bytes(snapshot.state_hash(), "big")
    assert snapshot.counts().entities == len(entities)
    assert relations == set(snapshot.db.execute("SELECT target, name, owner FROM relation"))
    columns: Any = snapshot.db.execute(f"SELECT id, {', '.join(ListColumns._fields)} FROM entity")
    for entity, *remaining in columns:
        assert tuple(remaining) == columns_of(folding.refold_entity(entity), snapshot.log), (
            "a column not of its state"
        )
    assert word_index.index_faults(snapshot.db) == []


def check_against_oracle(snapshot: Snapshot, oracle: FoldOracle) -> None:
    """Compare a store with what the documents say that these commits fold to."""
    assert set(entities_of(snapshot)) == set(oracle.deeds)
    for entity in oracle.deeds:
        found_entity = snapshot.entity(entity)
        assert found_entity is not None
        assert found_entity.clock == oracle.clock(entity), "the clock is not what touched the entity"
        assert found_entity.exists == oracle.exists(entity)
        assert found_entity.visible == oracle.visible(entity)
        assert set(found_entity.fields()) == oracle.fields(entity)
        for field in found_entity.fields():
            displayed = [(version.source.head, version.value) for version in found_entity.versions(field)]
            meant = [(deed.head, deed.value(field)) for deed in oracle.maximal(entity, field)]
            assert displayed == meant, f"{found_entity.kind}.{field}"
        creations = [deed for deed in oracle.live(entity) if deed.creates]
        if not creations:
            assert (found_entity.kind, found_entity.created) == ("", None)
            continue
        born = min(creations, key=lambda deed: (-deed.rank, deed.stamp, deed.head))
        assert found_entity.created is not None
        assert (found_entity.kind, found_entity.created.head) == (born.operation.kind, born.head)
    for item in snapshot.items():
        assert item.item_status == oracle.item_status(item.id)
        assert {decision.head for decision in item.all_decisions} == {
            deed.head for deed in oracle.decisions.get(item.id, [])
        }
        assert {decision.head for decision in item.decisions} == {
            deed.head for deed in oracle.counting(item.id)
        }


# -- law 4 -----------------------------------------------------------------------------------------------


def nothing_lost(snapshot: Snapshot, oracle: FoldOracle) -> None:
    """Every value that a person wrote is current, in a conflict, or covered by someone who had seen it."""
    for entity, deeds in oracle.deeds.items():
        found_entity = snapshot.entity(entity)
        assert found_entity is not None
        for deed in deeds:
            if not deed.person or deed.deletes:
                continue
            assert found_entity.exists, "a person wrote on it, but it does not exist"
            assert found_entity.visible or _buried(oracle, deed, entity), (
                "hidden by a deletion that had not seen it"
            )
            _under_its_task(snapshot, oracle, deed, found_entity.visible)
            for field in deed.operation.fields:
                _kept(oracle, deed, field, [v.source.head for v in found_entity.versions(field)])


def _buried(oracle: FoldOracle, deed: WitnessedOperation, entity: EntityId) -> bool:
    """Return whether a deletion had seen what a person did."""
    return any(other.deletes and deed.head in other.past for other in oracle.deeds[entity])


def _under_its_task(snapshot: Snapshot, oracle: FoldOracle, deed: WitnessedOperation, visible: bool) -> None:
    kind = deed.operation.kind
    if kind not in ("checklist_item", "entry") or not visible:
        return
    task = snapshot.entity(TASK)
    assert task is not None
    assert task.visible or _buried(oracle, deed, TASK), "hidden with a task whose deletion had not seen it"


def _kept(oracle: FoldOracle, deed: WitnessedOperation, field: str, maximal: list[Head]) -> None:
    entity = deed.operation.entity
    assert maximal, "a field that a person wrote is gone"
    if deed.head in maximal:
        winner = next(operation for operation in oracle.deeds[entity] if operation.head == maximal[0])
        assert winner.rank == 3, "a person's word lies beneath a concurrent word of an agent's"
        return
    if oracle.is_overtaken(deed, field):
        return
    covering = [
        other for other in oracle.live(entity) if field in other.operation.fields and deed.head in other.past
    ]
    assert covering, "neither current, nor in conflict, nor covered by anyone who saw it"
    if any(other.person for other in covering):
        return
    assert any(_had_shown(oracle, other, deed) for other in covering), (
        "a person's value is covered by a confirmation that never showed it"
    )


def _had_shown(oracle: FoldOracle, effect: WitnessedOperation, deed: WitnessedOperation) -> bool:
    """Return if the proposal of an effect had seen a person's write, or was forced through over it."""
    if effect.head in oracle.truth.forced:
        return True
    item = effect.operation.effect
    return any(
        deed.head in other.past
        for deeds in oracle.deeds.values()
        for other in deeds
        if other.operation.kind == "change_set" and item in _proposed(other)
    )


def _proposed(deed: WitnessedOperation) -> list[bytes]:
    items: Any = deed.operation.fields["items"]
    return [item["item_id"] for item in items]


# -- law 5 -----------------------------------------------------------------------------------------------


def nothing_rejected_in_effect(snapshot: Snapshot, oracle: FoldOracle) -> None:
    """What is not confirmed shows nowhere, unless a person's own write rests on it."""
    for entity in oracle.deeds:
        found_entity = snapshot.entity(entity)
        assert found_entity is not None
        heads = {
            version.source.head for name in found_entity.fields() for version in found_entity.versions(name)
        }
        for deed in oracle.deeds[entity]:
            item = deed.operation.effect
            if item is None or deed.head not in heads or oracle.confirmed(item):
                continue
            assert deed.creates, "not confirmed, yet in effect"
            assert oracle.rested_on(deed), "not confirmed, yet in effect, and nobody wrote on it"
    for known_item in snapshot.items():
        if known_item.status is DecisionStatus.CONFIRMED:
            _confirmed_rightly(oracle, known_item.id)
        if any(decision.by is AuthorKind.USER for decision in known_item.decisions):
            assert known_item.status is not DecisionStatus.RETRACTED, (
                "an agent took back what a person had decided"
            )


def _confirmed_rightly(oracle: FoldOracle, item: EntityId) -> None:
    persons = [deed for deed in oracle.counting(item) if deed.operation.by is AuthorKind.USER]
    for refusal in persons:
        if refusal.value("verdict") in ("rejected", "undone"):
            assert any(refusal.head in other.past for other in persons), "rejected, and nobody took it back"
    effects = oracle.effects.get(item, [])
    assert effects, "confirmed without any effect"
    for effect in effects:
        entity = effect.operation.entity
        if not oracle.exists(entity):
            continue
        for field in effect.operation.fields:
            tops = oracle.maximal(entity, field)
            assert effect in tops or any(effect.head in top.past for top in oracle.live(entity)), (
                "confirmed, yet overtaken by nobody who saw it"
            )


def checklists_stand(snapshot: Snapshot, oracle: FoldOracle) -> None:
    """No undo takes the common checklist from the others, and nobody gets two without having deleted one."""
    lists = snapshot.entities("checklist")
    deleted = any(
        deed.deletes
        for deeds in oracle.deeds.values()
        for deed in deeds
        if deed.operation.kind == "checklist"
    )
    assert len(lists) <= 1 or deleted
    for item in snapshot.entities("checklist_item"):
        holder = item.value("checklist_id")
        assert isinstance(holder, bytes)
        entity = snapshot.entity(EntityId(holder))
        assert entity is not None
        assert entity.exists


# -- law 3 -----------------------------------------------------------------------------------------------


def equal_vectors_equal_states(devices: Iterable[JudgedDevice]) -> int:
    """Compare devices that hold the same; return how many pairs there were."""
    met: dict[object, Contents] = {}
    pairs = 0
    for device in devices:
        with device.store.read() as snapshot:
            now, vector = contents(snapshot), snapshot.vector()
            assert {entry.head for entry in snapshot.log.feed_commits(0, 1 << 30)} == device.held
        pairs += vector in met
        assert met.setdefault(vector, now) == now, "equal vectors, different states"
    return pairs


def any_order_of_arrival(
    truth: GroundTruth, heads: Iterable[Head], folder: Path, dice: random.Random
) -> Contents:
    """Bring commits to a fresh store in some order that keeps causes first, in pages of any size."""
    fresh = Store.open(
        lay_empty_database(folder / f"fresh{dice.getrandbits(64)}.db"),
        signer=Signer(bytes([9]) * 32),
        now_ms=lambda: 0,
        randomness=bytes,
    )
    try:
        for page in _pages(truth, _causal_order(truth, list(heads), dice), dice):
            with fresh.write() as tx:
                assert tx.accept_page(page).new_commits == len(page)
        with fresh.read() as snapshot:
            refold_is_the_same(snapshot)
            return contents(snapshot)
    finally:
        fresh.close()


def _causal_order(truth: GroundTruth, heads: Sequence[Head], dice: random.Random) -> list[Head]:
    waiting = {head: _causes(truth, head) for head in heads}
    order: list[Head] = []
    while waiting:
        ready = sorted(head for head, causes in waiting.items() if not causes & waiting.keys())
        order.append(dice.choice(ready))
        del waiting[order[-1]]
    return order


def _causes(truth: GroundTruth, head: Head) -> set[Head]:
    """Return the commit before, and every commit that an operation names in its base."""
    parent = truth.parent(head)
    bases = {cause for operation in truth.received[head].commit.operations for cause in operation.base}
    return bases | ({parent} if parent else set())


def _pages(truth: GroundTruth, order: list[Head], dice: random.Random) -> list[list[SignedCommit]]:
    """Cut an order into pages; inside a page only the ends of chains keep their signatures."""
    pages = []
    while order:
        size = dice.choice((1, 1, 2, 5, 20))
        page, order = order[:size], order[size:]
        pages.append([_signed(truth, head, page) for head in page])
    return pages


def _signed(truth: GroundTruth, head: Head, page: list[Head]) -> SignedCommit:
    received = truth.received[head]
    children = [listed_head for listed_head in page if truth.parent(listed_head) == head]
    if len(children) == 1 and page.index(children[0]) > page.index(head):
        return SignedCommit(received.signed.body, b"")
    return SignedCommit(received.signed.body, commits.sign_commit(received, truth.signers[head.replica]))


# -- all of them -----------------------------------------------------------------------------------------


def check_laws(device: JudgedDevice) -> FoldOracle:
    """Judge one device by every law; return the judge."""
    oracle = FoldOracle(device.truth, device.held)
    with device.store.read() as snapshot:
        refold_is_the_same(snapshot)
        check_against_oracle(snapshot, oracle)
        nothing_lost(snapshot, oracle)
        nothing_rejected_in_effect(snapshot, oracle)
        checklists_stand(snapshot, oracle)
    return oracle
