"""Short scripts for what a random walk seldom meets: each plays on whatever the devices hold by then.

Never asserts: a scene that does not fit the moment simply comes to less.
"""

from collections.abc import Callable

from store.fold.verdicts import Verdict
from syncproto.ids import EntityId
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
    Tool,
    label_field,
)
from tests.simulation.device import SimulatedDevice
from tests.simulation.fleet import HistoryStep, StoreFleet
from tests.simulation.mishaps import cloned

ACTS = {
    Verdict.REJECTED: "reject",
    Verdict.UNDONE: "undo",
    Verdict.REOPENED: "reopen",
    Verdict.DEFERRED: "defer",
    Verdict.RETRACTED: "retract",
}


class Cast:
    """Three roles, played by the devices of a fleet in some order."""

    def __init__(self, fleet: StoreFleet, first: SimulatedDevice, step: HistoryStep) -> None:
        self.fleet = fleet
        place = fleet.devices.index(first)
        count = len(fleet.devices)
        way = 1 + step.two % 2
        self.one = first
        self.two = fleet.devices[(place + way) % count]
        self.three = fleet.devices[(place + 2 * way) % count]
        self.step = step

    def meet(self) -> None:
        """Bring everyone to the same commits."""
        self.fleet.sync_all()

    def proposed(self, tool: Tool = SET_TITLE, field: str = TITLE) -> EntityId:
        """Let the agent at the first device propose something new, and let everyone know it."""
        with self.fleet.at(self.one) as author:
            _in_sight(author)
            value = True if tool is ASSIGN_LABEL else f"{field} {self.fleet.word()}"
            item = author.proposal(tool, TASK, field, value)
            if item is not None:
                author.propose([item])
        self.meet()
        return item["item_id"] if item else EntityId(bytes(16))

    def confirm(
        self, device: SimulatedDevice, item: EntityId, *, edit: bool = False, force: bool = False
    ) -> None:
        """Confirm an item."""
        with self.fleet.at(device) as author:
            found_item = author.tx.item(item)
            if found_item is not None:
                outcome = author.confirm(found_item, force=force, edit=self.fleet.word() if edit else None)
                self.fleet.counts[f"confirm: {outcome}"] += 1

    def decide(self, device: SimulatedDevice, item: EntityId, verdict: Verdict) -> None:
        """Decide on an item."""
        with self.fleet.at(device) as author:
            found_item = author.tx.item(item)
            if found_item is not None:
                act = ACTS[verdict]
                self.fleet.counts[f"{act}: {author.decide(found_item, verdict)}"] += 1

    def edit(self, device: SimulatedDevice, field: str, value: object = None) -> None:
        """Write on the task as a person."""
        with self.fleet.at(device) as author:
            if author.shown(TASK):
                author.write(TASK, "task", {field: self.fleet.word() if value is None else value})

    def delete(self, device: SimulatedDevice) -> None:
        """Delete the task."""
        with self.fleet.at(device) as author:
            if author.shown(TASK):
                author.write(TASK, "task", {"deleted": True})

    def write_on_created(self, device: SimulatedDevice, item: EntityId) -> None:
        """Write as a person on what an item created."""
        with self.fleet.at(device) as author:
            found_item = author.tx.item(item)
            target = None if found_item is None else author.target(found_item)
            if target is not None and author.shown(target):
                author.write(target, "checklist_item", {TITLE: self.fleet.word()}, touch=True)


def _in_sight(author: Author) -> None:
    if not author.shown(TASK):
        author.write(TASK, "task", {"deleted": False})


def two_creations(cast: Cast) -> None:
    """Create one thing on two devices, write on it while only one creation is known, then undo."""
    item = cast.proposed(ADD_ITEM)
    cast.confirm(cast.one, item)
    cast.confirm(cast.two, item)
    cast.write_on_created(cast.one, item)
    if cast.step.one % 2:
        cast.meet()
    cast.decide(cast.two if cast.step.three % 2 else cast.one, item, Verdict.UNDONE)


def kept_and_asked_again(cast: Cast) -> None:
    """Undo a creation that a person wrote on, reopen it, and confirm it again."""
    item = cast.proposed(ADD_ITEM)
    cast.confirm(cast.one, item)
    cast.meet()
    cast.write_on_created(cast.two, item)
    cast.decide(cast.one, item, Verdict.UNDONE)
    cast.meet()
    cast.decide(cast.three, item, Verdict.REOPENED)
    cast.confirm(cast.three, item)
    cast.confirm(cast.three, item, force=cast.step.one % 2 == 0)


def edit_in_dispute(cast: Cast) -> None:
    """Edit and confirm here, reject there, and settle it on a third device."""
    item = cast.proposed(SET_ESTIMATE, ESTIMATE)
    cast.confirm(cast.one, item, edit=cast.step.one % 3 > 0)
    cast.decide(cast.two, item, Verdict.REJECTED)
    cast.meet()
    if cast.step.three % 3:
        cast.confirm(cast.three, item, force=True)
    else:
        cast.decide(cast.three, item, Verdict.REJECTED)


def edited_and_plain(cast: Cast) -> None:
    """Edit and confirm here, confirm as it is there; perhaps a person writes at the same time."""
    item = cast.proposed(SET_TITLE, TITLE)
    cast.confirm(cast.one, item, edit=True)
    if cast.step.one % 2:
        cast.confirm(cast.two, item)
    else:
        cast.edit(cast.two, TITLE)


def overtaken(cast: Cast) -> None:
    """Confirm, write over it elsewhere, and put it through again."""
    item = cast.proposed()
    cast.confirm(cast.one, item)
    cast.meet()
    cast.edit(cast.two, TITLE)
    cast.meet()
    cast.confirm(cast.one, item)
    cast.confirm(cast.one, item, force=True)


def deleted_twice(cast: Cast) -> None:
    """Write and delete on two devices apart: neither deletion saw everything."""
    cast.meet()
    cast.edit(cast.one, TITLE)
    cast.edit(cast.two, ESTIMATE)
    cast.delete(cast.one)
    cast.delete(cast.two)
    cast.meet()


def deleted_and_confirmed(cast: Cast) -> None:
    """Delete the task here while an item of it is confirmed, or a child written, there."""
    item = cast.proposed()
    note = None
    if cast.step.one % 3 == 0:
        cast.fleet.note(cast.one, cast.step)
        note = cast.step
        cast.meet()
    cast.delete(cast.one)
    if note is not None:
        cast.fleet.child(cast.two, note)
    else:
        cast.confirm(cast.two, item)
    cast.meet()


def retracted_and_decided(cast: Cast) -> None:
    """Let the agent take an item back here while a person decides on it, or decides and reopens it, there."""
    item = cast.proposed()
    cast.decide(cast.one, item, Verdict.RETRACTED)
    for verdict in (
        (Verdict.DEFERRED,),
        (Verdict.REJECTED,),
        (Verdict.REJECTED, Verdict.REOPENED),
        (Verdict.REJECTED, Verdict.REOPENED),
    )[cast.step.one % 4]:
        cast.decide(cast.two, item, verdict)
    cast.meet()


def ticked_and_undone(cast: Cast) -> None:
    """Confirm a creation, then a change to what it created, and undo the creation alone."""
    item = cast.proposed(ADD_ITEM)
    cast.confirm(cast.one, item)
    with cast.fleet.at(cast.one) as author:
        new_item = author.tx.item(item)
        target = None if new_item is None else author.target(new_item)
        tick = author.proposal(CHECK_ITEM, target, CHECKED, True) if target and author.shown(target) else None
        if tick is not None:
            author.propose([tick])
    cast.meet()
    if tick is not None:
        cast.confirm(cast.two, tick["item_id"])
        cast.meet()
    cast.decide(cast.three, item, Verdict.UNDONE)
    cast.meet()


def languages(cast: Cast) -> None:
    """Let the agent write at once here while a person writes the same field there."""
    cast.meet()
    with cast.fleet.at(cast.one) as author:
        task = author.tx.entity(TASK)
        if (
            task
            and task.visible
            and not any(version.source.rank == 3 for version in task.versions("language"))
        ):
            author.agent_writes(TASK, "task", {"language": "de"})
    cast.edit(cast.two, "language")


def labelled_apart(cast: Cast) -> None:
    """Add two labels on two devices at once."""
    cast.meet()
    cast.edit(cast.one, label_field(LABELS[0]), True)
    cast.edit(cast.two, label_field(LABELS[1]), True)


def all_at_once(cast: Cast) -> None:
    """Propose a set of items and confirm all of it."""
    with cast.fleet.at(cast.one) as author:
        _in_sight(author)
        wishes = [
            author.proposal(ADD_ITEM, TASK, TITLE, cast.fleet.word()),
            author.proposal(ADD_ITEM, TASK, TITLE, cast.fleet.word()),
        ]
        change_set = author.propose([wish for wish in wishes if wish is not None])
    with cast.fleet.at(cast.one) as author:
        for item in author.tx.items_of_set(change_set):
            now = author.tx.item(item.id)
            assert now is not None
            cast.fleet.counts[f"confirm all: {author.confirm(now)}"] += 1
        cast.fleet.counts["confirm all: several at once"] += 1


def lost_and_restored(cast: Cast) -> None:
    """Copy a file away, go on, tell the others or not, and put the copy back."""
    cast.one.keep_backup()
    cast.edit(cast.one, TITLE)
    if cast.step.one % 2:
        cast.meet()
    cast.fleet.counts["restored: done"] += cast.one.roll_back(noticed=True)
    cast.edit(cast.one, ESTIMATE)


def counters_used_twice(cast: Cast) -> None:
    """Put a copy back unnoticed, once or twice, and write on; the others hold what was lost, or do not."""
    cast.meet()
    cast.one.keep_backup()
    for again in range(1 + cast.step.three % 3):
        cast.edit(cast.one, TITLE)
        if cast.step.one % (again + 2):
            cast.fleet.pull(cast.two, cast.one)
        cast.fleet.counts["rolled back: done"] += cast.one.roll_back(noticed=False)
        cast.fleet.forks = True
        cast.edit(cast.one, ESTIMATE)


def met_from_the_short_side(cast: Cast) -> None:
    """Let one device hold the long branch, and another write on the short one, unaware; then they meet."""
    cast.meet()
    cast.one.keep_backup()
    for _ in range(2 + cast.step.one % 2):
        cast.edit(cast.one, TITLE)
    cast.fleet.pull(cast.two, cast.one)
    cast.one.roll_back(noticed=False)
    cast.fleet.forks = True
    cast.edit(cast.one, ESTIMATE)
    cast.fleet.pull(cast.three, cast.one)
    cast.edit(cast.three, TITLE)
    cast.fleet.pull(cast.two, cast.three)


def twins_decide(cast: Cast) -> None:
    """Run a copy beside the device, and let both decide on the same item."""
    item = cast.proposed(ADD_ITEM)
    cloned(cast.fleet, cast.one, cast.step)
    twin = cast.fleet.devices[-1]
    cast.confirm(cast.one, item)
    cast.write_on_created(cast.one, item)
    if cast.step.three % 2:
        cast.confirm(twin, item, edit=True)
        cast.decide(twin, item, Verdict.UNDONE)
    else:
        cast.decide(twin, item, Verdict.REJECTED)


FORKING: tuple[Callable[[Cast], None], ...] = (
    counters_used_twice,
    counters_used_twice,
    met_from_the_short_side,
    twins_decide,
)

SCENES: tuple[Callable[[Cast], None], ...] = (
    two_creations,
    kept_and_asked_again,
    edit_in_dispute,
    edited_and_plain,
    overtaken,
    deleted_twice,
    deleted_and_confirmed,
    retracted_and_decided,
    ticked_and_undone,
    languages,
    labelled_apart,
    all_at_once,
    lost_and_restored,
)


def scene(fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep) -> str:
    """Play one scene."""
    return _played(SCENES, fleet, device, step)


def fork(fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep) -> str:
    """Play one scene in which a replica may fork."""
    return _played(FORKING, fleet, device, step)


def _played(
    scenes: tuple[Callable[[Cast], None], ...], fleet: StoreFleet, device: SimulatedDevice, step: HistoryStep
) -> str:
    chosen = scenes[step.one % len(scenes)]
    chosen(Cast(fleet, device, step._replace(one=step.one // len(scenes))))
    return chosen.__name__
