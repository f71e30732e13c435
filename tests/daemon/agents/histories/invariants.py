"""The laws that apply to a device at any moment, for its folds and for what it shows.

Never trusts a base, a clock or a `seen` list: those are what is being judged.
"""

from collections import Counter
from collections.abc import Iterable

from daemon.agents.deciding import item_state
from daemon.agents.deciding.waiting_items import PendingItem, list_waiting_items
from store.fold.entity import Entity
from store.fold.item import Item
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text
from tests.daemon.agents.histories.reference import Reference
from tests.daemon.agents.histories.witness import Witness
from tests.simulation import laws


class DeviceView(Snapshot):
    """A snapshot that reads each thing once, because every law reads all of them."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(snapshot.db)
        self._known_items: dict[EntityId, Item | None] = {}
        self._known: dict[EntityId, Entity | None] = {}

    def item(self, item: EntityId) -> Item | None:
        if item not in self._known_items:
            self._known_items[item] = super().item(item)
        return self._known_items[item]

    def entity(self, entity: EntityId) -> Entity | None:
        if entity not in self._known:
            self._known[entity] = super().entity(entity)
        return self._known[entity]


def judge(home: Witness, reference: Reference, *, whole: bool) -> None:
    """Judge one device by each law; `whole` if nobody has judged its state."""
    with home.store.read() as read:
        snapshot = DeviceView(read)
        if whole:
            laws.check_against_oracle(snapshot, reference.oracle)
            laws.nothing_lost(snapshot, reference.oracle)
            laws.nothing_rejected_in_effect(snapshot, reference.oracle)
            laws.checklists_stand(snapshot, reference.oracle)
            one_effect_an_item(reference)
            one_undecided_item_a_proposal(reference)
            shows_what_is_so(snapshot, reference, home.now_ms())
        lists_what_waits(snapshot, reference, home.now_ms())


def equal_vectors_equal_hashes(homes: Iterable[Witness]) -> None:
    """Law 3: two stores with equal vectors have equal state hashes."""
    met: dict[object, bytes] = {}
    for home in homes:
        vector, state = home.read(lambda snapshot: (snapshot.vector(), snapshot.state_hash()))
        assert met.setdefault(vector, state) == state, "equal vectors, different state hashes"


def one_effect_an_item(reference: Reference) -> None:
    """However often and wherever an item is confirmed, it writes one entity, with the same fields."""
    oracle = reference.oracle
    for item, effects in oracle.effects.items():
        assert len({deed.operation.entity for deed in effects}) == 1, "one item in effect at two places"
        entity = effects[0].operation.entity
        if not oracle.confirmed(item) or not oracle.exists(entity):
            continue
        for name in oracle.fields(entity):
            tops = [deed for deed in oracle.maximal(entity, name) if deed.operation.effect == item]
            plain = {repr(deed.value(name)) for deed in tops if deed.rank == 1}
            assert len(plain) <= 1 or name in PLACES, (
                f"confirmed twice, and written differently: {name} {plain}"
            )


PLACES = ("checklist_id", "position")
"""Where an item goes depends on which lists and runs are known; what it says does not."""


def one_undecided_item_a_proposal(reference: Reference) -> None:
    """Two runs that propose the same create one item."""
    met = Counter(reference.says(item) for item in reference.proposals if not reference.decided(item))
    assert all(count == 1 for count in met.values()), "one proposal waits as two items"


def shows_what_is_so(snapshot: Snapshot, reference: Reference, now_ms: int) -> None:
    """Every item is shown as the reference shows it, whether it waits or not."""
    pending_items = _lines(list_waiting_items(snapshot, now_ms, closed=True))
    assert set(pending_items) == set(reference.proposals), "items that nobody proposed, or not shown"
    for item, line in pending_items.items():
        _told_rightly(reference, item, line)
        if reference.status(item) == "confirmed":
            _overtaken(snapshot, reference, item)


def lists_what_waits(snapshot: Snapshot, reference: Reference, now_ms: int) -> None:
    """What waits for a person, and what is disputed, is listed on every device; nothing else is."""
    listed = _lines(list_waiting_items(snapshot, now_ms))
    assert set(listed) == {item for item in reference.proposals if reference.waits(item)}, "listed wrongly"
    for item, line in listed.items():
        _told_rightly(reference, item, line)


def _told_rightly(reference: Reference, item: EntityId, line: PendingItem) -> None:
    assert (line.status, line.disputed) == (reference.shown(item), reference.disputed(item)), line.summary
    assert line.stale == reference.stale(item), f"stale: {line.summary}"


def _lines(lines: list[PendingItem]) -> dict[EntityId, PendingItem]:
    pending_items = {EntityId(id_from_text(line.item_id)): line for line in lines}
    assert len(pending_items) == len(lines), "one item on two lines"
    return pending_items


def _overtaken(snapshot: Snapshot, reference: Reference, item: EntityId) -> None:
    stored_item = snapshot.item(item)
    case = None if stored_item is None else item_state.item_state_of(snapshot, stored_item)
    assert case is not None
    assert item_state.is_overwritten(case) == reference.overtaken(item), "overtaken"


def at_the_end(homes: Iterable[Witness]) -> None:
    """All devices show the same, and the incremental path gives what the full one gives."""
    views = set()
    for home in homes:
        with home.store.read() as snapshot:
            laws.refold_is_the_same(snapshot)
            lines = list_waiting_items(snapshot, home.fleet.now_ms, closed=True)
            views.add(repr(sorted((line.item_id, line.status, line.disputed, line.stale) for line in lines)))
    assert len(views) == 1, "they hold the same, and show different things"
