"""A journal that leaves as JSON lines and comes back is the same journal, however odd its history.

Never compares with a stored file: what goes out twice is held against itself.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.journal.views import presenter
from daemon.journal.views.structures import Task
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto import codec
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock
from tests.daemon.formats.jsonl.files import exported, imported
from tests.support.decision_verbs import confirm, defer, reject, reopen, undo
from tests.support.fleet import Fleet, Home
from tests.support.growth import assert_linear
from tests.support.proposal_kinds import KINDS

LONG = "as long as an entry may be"
CASES = itertools.count()
QUICK = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["\0", "\x1b[31m", "a\u2028b\n", "é" * 300, LONG, "$id", "\u202e"]
)
numbers = st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(allow_nan=False, allow_infinity=False)
ids = st.binary(min_size=16, max_size=16)
plain = st.none() | st.booleans() | numbers | texts | st.binary(max_size=20) | ids
names = st.sampled_from(["$id", "$bytes", "$map", "a", "b"]) | texts
values: Any = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=2), max_leaves=5
)
fields = st.dictionaries(st.sampled_from(["title", "status", "x/y", "newer field", "é"]), values, max_size=3)
kinds = st.sampled_from(["task", "entry", "checklist_item", "a kind of the future", "decision", "change_set"])
origins = (
    st.none()
    | st.just({"by": "import", "format": "taskwarrior", "at_ms": 5})
    | st.dictionaries(st.sampled_from(["by", "format", "was", "at_ms", "seen"]), values, max_size=3)
)


class Act(msgspec.Struct):
    """What one device does: write on one of few entities, resting on some of what it knows."""

    home: int
    entity: int
    kind: str
    fields: dict[str, Any]
    by: AuthorKind
    rests: int
    origin: dict[str, Any] | None
    deletes: bool | None
    skips_ms: int
    syncs: bool


acts = st.builds(
    Act,
    home=st.integers(0, 1),
    entity=st.integers(0, 2),
    kind=kinds,
    fields=fields,
    by=st.sampled_from([AuthorKind.USER, AuthorKind.USER, AuthorKind.AGENT, AuthorKind.SYSTEM]),
    rests=st.integers(0, 3),
    origin=origins,
    deletes=st.sampled_from([None, None, None, True, False]),
    skips_ms=st.sampled_from([0, 1, 1000]),
    syncs=st.booleans(),
)


def entity_of(number: int) -> EntityId:
    return EntityId(bytes([1, number]) + bytes(14))


def perform(fleet: Fleet, act: Act) -> None:
    fleet.now_ms += act.skips_ms
    identifier = entity_of(act.entity)
    wanted = {name: "é" * 65_536 if value == LONG else value for name, value in act.fields.items()}
    wanted |= {} if act.deletes is None else {DELETED: act.deletes}

    def use(tx: Transaction) -> None:
        entity = tx.entity(identifier)
        base = _base(entity, act)
        tx.commit([EntityWrite(identifier, act.kind, wanted, base=base, by=act.by, origin=act.origin)])

    fleet.homes[act.home].write(use)
    if act.syncs:
        fleet.sync()


def _base(entity: Entity | None, act: Act) -> VectorClock | None:
    """Rest on nothing, on the creation alone, or on all that is known."""
    if entity is None or act.rests == 0:
        return EMPTY_CLOCK
    if act.rests == 1 and entity.created is not None:
        return (entity.created.head,)
    return None


@contextmanager
def journal(folder: Path, done_acts: list[Act]) -> Iterator[Fleet]:
    path = folder / f"lines {next(CASES)}"
    path.mkdir()
    fleet = Fleet(path)
    for name in "ab":
        fleet.home(name)
    for act in done_acts:
        perform(fleet, act)
    fleet.sync()
    try:
        yield fleet
    finally:
        fleet.close()


def fresh(fleet: Fleet, name: str = "fresh") -> Home:
    fleet.now_ms += 86_400_000
    return fleet.home(name)


def state(home: Home) -> dict[EntityId, Any]:
    """Return what every existing entity is, free of where it was folded from."""

    def use(snapshot: Any) -> dict[EntityId, Any]:
        ids = [
            EntityId(bytes(element))
            for (element,) in snapshot.db.execute("SELECT id FROM entity ORDER BY id")
        ]
        result = [(identifier, snapshot.entity(identifier)) for identifier in ids]
        return {identifier: _state(stored) for identifier, stored in result if stored.exists}

    return home.read(use)


def _state(entity: Entity) -> Any:
    answer = {
        name: [(codec.encode(version.value), version.source.by, version.source.rank) for version in versions]
        for name, versions in entity.state.fields.items()
    }
    assert entity.created is not None
    return entity.kind, entity.visible, entity.created.by, answer


def test_what_an_import_last_said_is_one_whatever_order_devices_heard_it_in(tmp_path_factory: Any):
    def act(home: int, title: str, rests: int, origin: dict[str, Any] | None) -> Act:
        return Act(home, 0, "task", {"title": title}, AuthorKind.USER, rests, origin, None, 0, False)

    answer = {"by": "import", "format": "taskwarrior", "at_ms": 5}
    done_acts = [act(0, "here", 0, answer), act(0, "edited", 2, None), act(1, "there", 0, answer)]
    with journal(tmp_path_factory.getbasetemp(), done_acts) as fleet:
        assert exported(fleet.homes[0]) == exported(fleet.homes[1])


def test_what_outlived_an_imported_deletion_stays_in_sight(tmp_path_factory: Any):
    def act(home: int, rests: int, origin: dict[str, Any] | None, deletes: bool | None) -> Act:
        return Act(home, 0, "task", {}, AuthorKind.USER, rests, origin, deletes, 0, False)

    origin = {"by": "import", "format": "taskwarrior", "at_ms": 5}
    done_acts = [act(0, 0, None, None), act(1, 0, origin, True), act(1, 1, None, True)]
    with journal(tmp_path_factory.getbasetemp(), done_acts) as fleet:
        text = exported(fleet.homes[0])
        home = fresh(fleet)
        imported(home, text)
        assert state(home) == state(fleet.homes[0])
        assert exported(home) == text
        # An earlier version also wrote what the import had said.
        home = fresh(fleet, "older")
        imported(home, text.replace('"made":0', '"imported":{"deleted":{"value":true,"write":0}},"made":0'))
        assert state(home) == state(fleet.homes[0])


@QUICK
@given(done_acts=st.lists(acts, min_size=1, max_size=8))
def test_what_is_exported_and_imported_is_exported_as_the_same_bytes(
    tmp_path_factory: Any, done_acts: list[Act]
):
    with journal(tmp_path_factory.getbasetemp(), done_acts) as fleet:
        text = exported(fleet.homes[0])
        assert exported(fleet.homes[1]) == text
        home = fresh(fleet)
        imported(home, text)
        assert exported(home) == text
        assert state(home) == state(fleet.homes[0])
        for again in (home, fleet.homes[0]):
            commits = again.read(lambda snapshot: snapshot.feed_end())
            imported(again, text)
            assert again.read(lambda snapshot: snapshot.feed_end()) == commits


@pytest.mark.parametrize("seed", range(8))
def test_decided_proposals_come_through_with_what_they_did(tmp_path: Path, seed: int):
    fleet, task = decided(tmp_path, Random(seed))
    reported_home = fleet.homes[0]
    text = exported(reported_home)
    home = fresh(fleet)
    imported(home, text)
    assert exported(home) == text

    def presented(other_home: Home) -> Any:
        def present(snapshot: Snapshot) -> Task:
            return presenter.JournalPresenter(snapshot).task(snapshot.entity(task))  # type: ignore[arg-type]

        return _stripped(msgspec.to_builtins(other_home.read(present)))

    assert presented(home) == presented(reported_home)
    statuses = [
        {item.id: item.item_status for item in listed_home.read(lambda snapshot: snapshot.items())}
        for listed_home in (reported_home, home)
    ]
    assert statuses[0] == statuses[1]
    assert len(statuses[0]) >= len(KINDS)
    fleet.close()


def decided(folder: Path, dice: Random) -> tuple[Fleet, EntityId]:
    """Return two devices that decided on a proposal of each kind while apart, and wrote over some."""
    fleet = Fleet(folder)
    homes = [fleet.home("one"), fleet.home("other")]
    task = homes[0].new("task", title="Write the report", status="OPEN", estimate_minutes=60)
    stages = []
    for kind in KINDS:
        fleet.now_ms += 1000
        stages.append((kind, kind.propose(homes[0], task, kind.tool)))
    fleet.sync()
    for _ in range(30):
        kind, stage = dice.choice(stages)
        home = dice.choice(homes)
        fleet.now_ms += dice.choice([1, 60_000])
        match dice.randrange(8):
            case 0 | 1:
                confirm(home, stage.item, again=True, force=True)
            case 2:
                confirm(home, stage.item, edit=kind.edit, again=True)
            case 3:
                dice.choice([reject, undo, reopen, defer])(home, stage.item)
            case 4 | 5:
                undo(home, stage.item)
            case 6 if not kind.makes:
                fleet.sync()
                kind.write_over(home, stage)
                fleet.sync()
            case _:
                fleet.sync()
    fleet.sync()
    return fleet, task


def _stripped(answer: Any) -> Any:
    """Take out the clocks, which name commits of this journal."""
    if isinstance(answer, dict):
        return {key: _stripped(nested) for key, nested in answer.items() if key != "vector_clock"}
    return [_stripped(nested) for nested in answer] if isinstance(answer, list) else answer


def test_what_is_exported_costs_in_proportion_to_what_was_written(tmp_path: Path):
    """A commit may write to thousands of entities: it is read once for all of them, and not once for each."""
    fleet = Fleet(tmp_path)

    def writing(count: int) -> Callable[[], object]:
        home = fleet.home(f"wide {count}")
        for _ in range(4):
            tasks = [EntityId(number.to_bytes(16)) for number in range(count)]
            writes = [EntityWrite(task, "task", {}) for task in tasks]
            home.write(partial(Transaction.commit, writes=writes))
        return lambda: exported(home)

    assert_linear(writing, 100)
    fleet.close()
