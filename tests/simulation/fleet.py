"""A fleet of devices that live through a random history, one step at a time, all from one seed.

Never judges: what must hold is asked by the laws.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from store.fold.item import Item
from store.fold.verdicts import DecisionStatus, Verdict
from syncproto.errors import RemoteProtocolError
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock
from tests.simulation.author import (
    ADD_ITEM,
    ASSIGN_LABEL,
    CHECK_ITEM,
    CHECKED,
    ESTIMATE,
    LABELS,
    SET_ESTIMATE,
    SET_TITLE,
    TASK,
    TITLE,
    Author,
    label_field,
    rendered,
)
from tests.simulation.device import GroundTruth, OpenPage, SimulatedDevice, SimulatedWorld
from tests.simulation.page_exchange import pages_for, take_pages

SKEWS_MS = (0, 0, -300_000, 400_000, 5_000_000, -86_400_000)
PAGE_BYTES = (300, 900, 3_000, 1 << 20)
TITLES = ("Buy milk", "Call Ana")
FAR = 10_000


class HistoryStep(NamedTuple):
    """One step of a history: what, on which device, with which dice, and how long after the step before."""

    action: str
    device: int
    one: int
    two: int
    three: int
    seconds: int


class UndoRecord(NamedTuple):
    """What an entity looked like before a confirmation, to compare with after its undo."""

    entity: EntityId
    before: Any
    clock: VectorClock
    statuses: dict[EntityId, DecisionStatus]


class StoreFleet:
    """Devices, their common truth, and a count of what they did."""

    def __init__(self, folder: Path, skews: Sequence[int], more: "Mapping[str, Action]") -> None:
        self._actions = {**ACTIONS, **more}
        self.world = SimulatedWorld(len(skews))
        self.truth = GroundTruth()
        self.counts: Counter[str] = Counter()
        self.folder = folder
        self.forks = False
        self.devices = [
            SimulatedDevice("ABCDE"[place], folder, self.world, self.truth, SKEWS_MS[skew])
            for place, skew in enumerate(skews)
        ]
        self._words = 0
        self.padding = ""
        self._undoing: dict[tuple[str, EntityId], UndoRecord] = {}
        with self.at(self.devices[0]) as author:
            author.write(TASK, "task", {TITLE: "Plan the trip", ESTIMATE: 30})
        self.sync_all()

    def close(self) -> None:
        """Close every store."""
        for device in self.devices:
            device.store.close()

    @contextmanager
    def at(self, device: SimulatedDevice) -> Iterator[Author]:
        """Act at a device, in one transaction."""
        with device.transaction() as tx:
            yield Author(device, tx)

    def play(self, step: HistoryStep) -> None:
        """Take one step."""
        self.world.now_ms += step.seconds * 1000
        device = self.devices[step.device % len(self.devices)]
        outcome = self._actions[step.action](self, device, step)
        if outcome:
            self.counts[f"{step.action}: {outcome}"] += 1

    def word(self) -> str:
        """Return words that nobody has written yet."""
        self._words += 1
        return f"U{self._words}{self.padding}"

    # -- a person's own writes --------------------------------------------------------------------------

    def edit(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Change a field of the task."""
        with self.at(device) as author:
            if not author.shown(TASK):
                return ""
            field = (TITLE, ESTIMATE)[step.one % 2]
            author.write(TASK, "task", {field: self.word()})
            return "done" if step.three % 2 else self._doubt(author)

    def _doubt(self, author: Author) -> str:
        entity = author.tx.entity(TASK)
        assert entity is not None
        assert entity.visible, "a person's own edit hides the task"
        return "done"

    def label(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Put a label on the task or take it off."""
        with self.at(device) as author:
            if not author.shown(TASK):
                return ""
            author.write(TASK, "task", {label_field(LABELS[step.one % 2]): bool(step.two % 3)})
            return "done"

    def child(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Change an item or an entry."""
        with self.at(device) as author:
            children = author.children()
            if not children:
                return ""
            child = children[step.one % len(children)]
            entity = author.tx.entity(child)
            assert entity is not None
            field = (TITLE, CHECKED)[step.two % 2]
            author.write(child, entity.kind, {field: self.word()}, touch=True)
            return "done"

    def note(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Add an entry."""
        del step
        with self.at(device) as author:
            if not author.shown(TASK):
                return ""
            fields = {"task_id": TASK, TITLE: self.word()}
            author.write(author.tx.new_id(), "entry", fields, touch=True)
            return "done"

    def delete(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Delete the task, an item, an entry or a checklist."""
        with self.at(device) as author:
            lists = [checklist.id for checklist in author.tx.entities("checklist")]
            identifiers = [
                identifier for identifier in (TASK, *author.children(), *lists) if author.shown(identifier)
            ]
            if not identifiers:
                return ""
            chosen = identifiers[step.one % len(identifiers)]
            entity = author.tx.entity(chosen)
            assert entity is not None
            author.write(chosen, entity.kind, {"deleted": True})
            after = author.tx.entity(chosen)
            assert after is not None
            assert not after.visible, "a deletion does not hide"
            return entity.kind

    def restore(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Undo a deletion."""
        with self.at(device) as author:
            hidden = [
                entity
                for kind in ("task", "checklist_item", "entry", "checklist")
                for entity in author.tx.entities(kind, removed=True)
                if entity.exists
            ]
            if not hidden:
                return ""
            chosen = hidden[step.one % len(hidden)]
            author.write(chosen.id, chosen.kind, {"deleted": False}, touch=chosen.id != TASK)
            after = author.tx.entity(chosen.id)
            assert after is not None
            assert after.visible, "a restored entity does not show"
            return chosen.kind

    def agent(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Write the language at once as the agent, never over what a person set; or as the person."""
        with self.at(device) as author:
            task = author.tx.entity(TASK)
            if task is None or not task.visible:
                return ""
            if step.two % 4 == 0:
                author.write(TASK, "task", {"language": self.word()})
                return "by the person"
            if any(version.source.rank == 3 for version in task.versions("language")):
                return ""
            author.agent_writes(TASK, "task", {"language": f"a{step.one % 5}"})
            return "by the agent"

    def open_page(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Open the task's page, and leave it open."""
        del step
        with device.store.read() as snapshot:
            task = snapshot.entity(TASK)
        assert task is not None
        device.view = OpenPage(TASK, task.clock, device.held)
        return "done"

    def write_page(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Write on a page that was left open, with the clock that it showed."""
        view, device.view = device.view, None
        if view is None or not view.held <= device.held:
            return ""
        with self.at(device) as author:
            field = (TITLE, ESTIMATE)[step.one % 2]
            author.write(TASK, "task", {field: self.word()}, view=view)
            self._doubt(author)
            return "what it showed was old" if view.held != device.held else "done"

    # -- proposals and decisions ------------------------------------------------------------------------

    def propose(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Let the agent propose one or two changes."""
        with self.at(device) as author:
            if not author.shown(TASK):
                return ""
            result: dict[bytes, dict[str, Any]] = {}
            for nth in range(1 + step.three % 2):
                item = self._wish(author, step.one // 7**nth, step.two // 5**nth)
                if item is not None:
                    result.setdefault(item["item_id"], item)
            if not result:
                return ""
            author.propose(list(result.values()))
            return "done"

    def _wish(self, author: Author, number: int, two: int) -> dict[str, Any] | None:
        match number % 6:
            case 0:
                return author.proposal(SET_TITLE, TASK, TITLE, f"Title {two % 2}")
            case 1:
                return author.proposal(SET_ESTIMATE, TASK, ESTIMATE, 60 * (1 + two % 2))
            case 2:
                return author.proposal(ASSIGN_LABEL, TASK, label_field(LABELS[two % 2]), True)
            case 3 | 4:
                titles = [item.text(TITLE) for item in author.tx.entities("checklist_item")]
                title = TITLES[two % 2]
                return None if title in titles else author.proposal(ADD_ITEM, TASK, TITLE, title)
        items = [item.id for item in author.tx.entities("checklist_item")]
        return author.proposal(CHECK_ITEM, items[two % len(items)], CHECKED, True) if items else None

    def _pick(self, author: Author, number: int, *statuses: DecisionStatus) -> Item | None:
        """Choose an item, the newest ones more often."""
        items = [item for item in author.tx.items() if not statuses or item.status in statuses]
        items.sort(key=lambda item: (-min(occurrence.created_ms for occurrence in item.occurrences), item.id))
        return items[min(number % (2 * len(items)), number % len(items))] if items else None

    def confirm(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Confirm an item as it is, edited, or by force."""
        with self.at(device) as author:
            item = self._pick(author, step.one)
            return "" if item is None else self._confirm(author, item, step)

    def _confirm(self, author: Author, item: Item, step: HistoryStep) -> str:
        target = author.target(item)
        first = not any(decision.verdict is Verdict.CONFIRMED for decision in item.decisions)
        before = rendered(author.tx.entity(target))
        statuses = _statuses(author, item.id)
        outcome = author.confirm(
            item,
            force=step.two % 4 == 0,
            again=step.two % 4 == 1,
            edit=self.word() if step.three % 4 == 0 and item.tool != ASSIGN_LABEL.name else None,
        )
        after = author.tx.entity(target)
        if outcome in ("done", "edited") and first and after is not None:
            undo_record = UndoRecord(target, before, after.clock, statuses)
            self._undoing[author.device.name, item.id] = undo_record
        return outcome

    def confirm_all(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Confirm the open items of a set in order, one commit each."""
        with self.at(device) as author:
            item = self._pick(author, step.one)
            if item is None:
                return ""
            items = author.tx.items_of_set(item.occurrences[0].change_set)
            outcomes = []
            for listed_item in items:
                now = author.tx.item(listed_item.id)
                assert now is not None
                outcomes.append(author.confirm(now))
            return "several at once" if outcomes.count("done") > 1 else "done"

    def _decides(
        self, verdict: Verdict, *statuses: DecisionStatus
    ) -> Callable[[SimulatedDevice, HistoryStep], str]:
        def act(device: SimulatedDevice, step: HistoryStep) -> str:
            with self.at(device) as author:
                item = self._pick(author, step.one, *statuses)
                return "" if item is None else author.decide(item, verdict)

        return act

    def reject(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Reject an item."""
        return self._decides(Verdict.REJECTED)(device, step)

    def reopen(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Reopen a rejected item."""
        return self._decides(Verdict.REOPENED, DecisionStatus.REJECTED)(device, step)

    def defer(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Put an item off."""
        return self._decides(Verdict.DEFERRED)(device, step)

    def retract(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Let the agent take an item back."""
        return self._decides(Verdict.RETRACTED)(device, step)

    def undo(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Undo a confirmation: what it covered shows again."""
        with self.at(device) as author:
            item = self._pick(author, step.one, DecisionStatus.CONFIRMED)
            if item is None:
                return ""
            undo_record = self._undoing.pop((device.name, item.id), None)
            entity = author.tx.entity(author.target(item))
            untouched = undo_record and entity and entity.clock == undo_record.clock
            same = undo_record and _statuses(author, item.id) == undo_record.statuses
            outcome = author.decide(item, Verdict.UNDONE)
            if undo_record and untouched and same:
                now = rendered(author.tx.entity(undo_record.entity))
                assert now == undo_record.before, "an undo does not bring back what was covered"
                return "what it covered shows again"
            return outcome

    # -- apart and together -----------------------------------------------------------------------------

    def apart(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Let everyone know the same, then let each act alone on the newest item."""
        self.sync_all()
        with device.store.read() as snapshot:
            items = snapshot.items()
        if not items:
            return ""
        dice = step.one + 1000 * step.two
        for nth, simulated_device in enumerate(self.devices):
            self._act_apart(
                simulated_device, dice // 9**nth, step._replace(one=0, three=step.three // 3**nth)
            )
        if step.three % 3 == 0:
            self.sync_all()
        return "done"

    def _act_apart(self, device: SimulatedDevice, dice: int, step: HistoryStep) -> None:
        edited, plain = step._replace(two=0, three=0), step._replace(two=1, three=1)
        for act, how in (
            ((self.confirm, plain),),
            ((self.confirm, edited),),
            ((self.reject, plain),),
            ((self.undo, plain),),
            ((self.confirm, plain), (self.child, step)),
            ((self.edit, step), (self.edit, step._replace(one=1))),
            ((self.delete, step),),
            ((self.child, step), (self.undo, plain)),
            (),
        )[dice % 9]:
            act(device, how)

    def sync(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Exchange pages with another device, perhaps not all, perhaps one way."""
        others = [simulated_device for simulated_device in self.devices if simulated_device is not device]
        peer = others[step.one % len(others)]
        pages = FAR if step.two % 3 else 1 + step.three % 3
        size = PAGE_BYTES[step.three % len(PAGE_BYTES)]
        took = self.pull(device, peer, size, pages)
        if step.two % 2:
            took += self.pull(peer, device, size, pages)
        return "partly" if pages != FAR and took else "done"

    def sync_all(self) -> None:
        """Bring every device to the same commits."""
        for _ in range(2):
            for device in self.devices[1:]:
                self.pull(self.devices[0], device)
                self.pull(device, self.devices[0])

    def pull(
        self, device: SimulatedDevice, peer: SimulatedDevice, page_bytes: int = 1 << 20, pages: int = FAR
    ) -> int:
        """Accept what a peer has beyond the vector of this device, page by page.

        A peer that has not met a fork yet may leave out commits that its others rest on: what it sends is
        refused, and it is asked again as by one that holds nothing.
        """
        with device.store.read() as snapshot:
            vector = snapshot.vector()
        try:
            return take_pages(device, peer, vector, page_bytes, pages)
        except RemoteProtocolError:
            if not self.forks:
                raise
            self.counts["pull: refused for a fork, then asked for everything"] += 1
            return take_pages(device, peer, EMPTY_CLOCK, page_bytes, pages)

    def two_links(self, device: SimulatedDevice, step: HistoryStep) -> str:
        """Accept pages of two peers at once, both of which received the same vector."""
        others = [simulated_device for simulated_device in self.devices if simulated_device is not device]
        if len(others) < 2:
            return ""
        size = PAGE_BYTES[step.three % len(PAGE_BYTES)]
        plans = [pages_for(device, simulated_device, size) for simulated_device in others[:2]]
        dice, duplicates = step.one + 1000 * step.two + 1, 0
        while any(plans):
            dice = (dice * 1103515245 + 12345) % 2**31
            chosen = plans[dice // 65536 % 2] or plans[0] or plans[1]
            page = chosen.pop(0)
            duplicates += len(page) - device.take(page).new_commits
        return "both brought the same" if duplicates else "done"


def _statuses(author: Author, apart_from: EntityId) -> dict[EntityId, DecisionStatus]:
    return {item.id: item.status for item in author.tx.items() if item.id != apart_from}


Action = Callable[[StoreFleet, SimulatedDevice, HistoryStep], str]

ACTIONS: dict[str, Action] = {
    "edit": StoreFleet.edit,
    "label": StoreFleet.label,
    "child": StoreFleet.child,
    "note": StoreFleet.note,
    "delete": StoreFleet.delete,
    "restore": StoreFleet.restore,
    "agent": StoreFleet.agent,
    "open page": StoreFleet.open_page,
    "write page": StoreFleet.write_page,
    "propose": StoreFleet.propose,
    "confirm": StoreFleet.confirm,
    "confirm all": StoreFleet.confirm_all,
    "reject": StoreFleet.reject,
    "undo": StoreFleet.undo,
    "reopen": StoreFleet.reopen,
    "defer": StoreFleet.defer,
    "retract": StoreFleet.retract,
    "apart": StoreFleet.apart,
    "sync": StoreFleet.sync,
    "two links": StoreFleet.two_links,
}
