"""Turns entities into what is shown: names for ids, provenance for values, conflicts in plain structure.

Never writes, and never hides a value that stands in conflict.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from daemon.journal import disputes, names, origins
from daemon.journal.colors import color_kept
from daemon.journal.provenance import author, iso, written_at, written_ms
from daemon.journal.spans import MINUTE_MS, length_ms, moment_ms, together_ms
from daemon.journal.ties import Circles, links_of
from daemon.journal.values import PRIORITY_DEFAULT
from daemon.journal.views import (
    Checklist,
    ChecklistItem,
    Conflict,
    Entry,
    Origins,
    Progress,
    Task,
    TimeRecord,
    VectorClock,
)
from daemon.journal.was import was_of, written_n
from store.entity import Entity
from store.fold import Source
from store.shown import counters
from store.snapshot import Snapshot
from syncproto.codec import Redacted
from syncproto.heads import Clock
from syncproto.ids import ID_BYTES, DeviceId, EntityId, ReplicaId, text
from syncproto.keys import device_id


def vector_clock(clock: Clock) -> VectorClock:
    """Show a clock: replica, as text, to counter."""
    return {text(replica): counter for replica, counter in counters(clock).items()}


DROPPED = "(dropped)"
"""What is shown of a value that a compaction has dropped."""


def plain(value: object) -> Any:
    """Show any value that a field may hold as JSON; ids as text."""
    if isinstance(value, bytes):
        return text(value) if len(value) == ID_BYTES else value.hex()
    if isinstance(value, Redacted):
        return DROPPED
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


_BELOW_TASKS = ("agent_task", "task_time")


class Shown:
    """What one snapshot shows. It looks names up once, so make one for each request."""

    def __init__(self, snapshot: Snapshot, *, provenance: bool = False) -> None:
        """`provenance` shows who wrote each value of a task and of what belongs to it."""
        self._snapshot = snapshot
        self._with_provenance = provenance
        self._devices: dict[ReplicaId, DeviceId] = {}
        self._families: dict[str, dict[EntityId, list[Entity]]] = {}

    @cached_property
    def labels(self) -> dict[EntityId, str]:
        """Names of labels."""
        return {one: held.text("name") for one, held in self._labels_held.items()}

    @cached_property
    def _labels_held(self) -> dict[EntityId, Entity]:
        return {one.id: one for one in self._snapshot.entities("label")}

    @cached_property
    def categories(self) -> dict[EntityId, str]:
        """Names of categories."""
        return names.by_id(self._snapshot, "category")

    @cached_property
    def _circles(self) -> Circles:
        return Circles(self._snapshot)

    @cached_property
    def device_names(self) -> dict[DeviceId, str]:
        """Names of the devices in the roster, also of those that were removed."""
        held = [*self._snapshot.entities("device"), *self._snapshot.entities("device", removed=True)]
        keys = [(one.value("public_key"), one.text("name")) for one in held]
        return {device_id(key): name for key, name in keys if isinstance(key, bytes)}

    def device(self, replica: ReplicaId) -> DeviceId:
        """Return the device that writes as a replica."""
        if replica not in self._devices:
            self._devices[replica] = self._snapshot.device_of(replica)
        return self._devices[replica]

    # -- tasks ----------------------------------------------------------------------------------------

    def task(self, task: Entity, *, brief: bool = False) -> Task:
        """Show a task; `brief` leaves out what belongs to it."""
        checklists = sorted(self.children(task.id, "task_checklist"), key=place)
        items = {one.id: sorted(self.children(one.id, "checklist_item"), key=place) for one in checklists}
        entries = [] if brief else self.children(task.id, "task_entry")
        times = sorted(self.children(task.id, "task_time"), key=_begun)
        agent = next((one.id for one in self.children(task.id, "agent_task")), None)
        labels = self._labels(task)
        listed = [item for below in items.values() for item in below]
        return Task(
            id=text(task.id),
            title=task.text("title"),
            status=task.text("status") or "OPEN",
            reason=task.text("reason") or None,
            priority=task.text("priority") or PRIORITY_DEFAULT,
            estimate_minutes=_number(task.value("estimate_minutes")),
            due=task.text("due") or None,
            language=task.text("language") or None,
            labels=sorted(labels, key=str.casefold),
            label_colors={name: color for name, color in labels.items() if color},
            category=self.categories.get(names.category_of(task) or EntityId(b"")),
            checklists=[] if brief else [self._checklist(one, items[one.id], task.id) for one in checklists],
            checklist_progress=_progress(listed),
            entries=[self.entry(one) for one in sorted(entries, key=_told)],
            times=[] if brief else [self.time_record(one, task) for one in times],
            time_spent_minutes=minutes_spent(times),
            links=[] if brief else links_of(self._snapshot, task.id, self._circles),
            vector_clock=vector_clock(task.clock),
            conflicts=[
                found
                for one in [task, *checklists, *listed, *entries, *times]
                for found in self.conflicts(one)
            ],
            agent_id=None if agent is None else text(agent),
            report=None if agent is None or brief else self._report(agent),
            created_at=written_at(task.created),
            updated_at=_updated_at(task),
            removed=not task.visible,
            unknown=origins.unknown(self, task) or UNSET,
        )

    def whole_task(self, task: Entity) -> Task:
        """Show a task, where it was asked for with who wrote what and the statuses so far."""
        return replace(
            self.task(task),
            provenance=self._origins(task),
            status_history=origins.statuses(self, self._snapshot, task) if self._with_provenance else UNSET,
        )

    def _origins(self, entity: Entity) -> Origins | UnsetType:
        return origins.origins(self, entity) if self._with_provenance else UNSET

    def checklist(self, checklist: Entity) -> Checklist:
        """Show a checklist with its items in sight."""
        task = checklist.value("task_id")
        items = sorted(self.children(checklist.id, "checklist_item"), key=place)
        return self._checklist(checklist, items, EntityId(task) if isinstance(task, bytes) else None)

    def removed_of(self, checklist: Entity, task: EntityId) -> Checklist:
        """Show what of a checklist is out of sight: all of it, or else its removed items."""
        ids = self._snapshot.referring(checklist.id, "checklist_item", removed=True)
        every = [one for one in map(self._snapshot.entity, ids) if one is not None and one.exists]
        items = [one for one in every if not (checklist.visible and one.visible)]
        return self._checklist(checklist, sorted(items, key=place), task)

    def _checklist(self, checklist: Entity, items: list[Entity], task: EntityId | None) -> Checklist:
        return Checklist(
            id=text(checklist.id),
            title=checklist.text("title"),
            items=[self.item(item, task) for item in items],
            task_id=None if task is None else text(task),
            vector_clock=vector_clock(checklist.clock),
            removed=not checklist.visible,
        )

    def _labels(self, task: Entity) -> dict[str, str]:
        """Return the names of a task's labels in sight, with their colours; two of one name are one."""
        held = (self._labels_held.get(one) for one in names.members(task, names.SET))
        return {one.text("name"): color_kept(one) for one in held if one is not None}

    def _report(self, agent: EntityId) -> dict[str, Any] | None:
        for state in self._snapshot.referring(agent, "agent_state"):
            held = self._snapshot.entity(state)
            head = None if held is None else held.value("report_id")
            report = self._snapshot.entity(EntityId(head)) if isinstance(head, bytes) else None
            content = None if report is None else plain(report.value("content"))
            if isinstance(content, dict):
                return content
        return None

    # -- what belongs to a task -----------------------------------------------------------------------

    def expect(self, tasks: Sequence[EntityId], *, texts: bool) -> "Shown":
        """Read what belongs to these tasks at once, which is cheaper from a few on; texts if asked for."""
        checklists = self._read_below(tasks, "task_checklist")
        self._read_below([one.id for one in checklists], "checklist_item")
        for relation in _BELOW_TASKS:
            self._read_below(tasks, relation)
        if texts:
            self._read_below(tasks, "task_entry")
        return self

    def _read_below(self, targets: Sequence[EntityId], relation: str) -> list[Entity]:
        family: dict[EntityId, list[Entity]] = {target: [] for target in targets}
        for target, one in self._snapshot.below(targets, relation):
            family[target].append(one)
        self._families[relation] = family
        return [one for below in family.values() for one in below]

    def children(self, target: EntityId, relation: str) -> list[Entity]:
        """Return what in sight points at an entity; read once, however often it is asked for."""
        family = self._families.setdefault(relation, {})
        if target not in family:
            found = (self._snapshot.entity(one) for one in self._snapshot.referring(target, relation))
            family[target] = [one for one in found if one is not None]
        return family[target]

    def item(self, item: Entity, task: EntityId | None) -> ChecklistItem:
        """Show one item of a checklist."""
        ticked = item.version("is_checked")
        source = None if ticked is None else ticked.source
        checklist = item.value("checklist_id")
        return ChecklistItem(
            id=text(item.id),
            title=item.text("title"),
            is_checked=item.value("is_checked") is True,
            checked_by=author(source),
            checked_at=written_at(source),
            checked_on=self._device_name(source),
            is_archived=item.value("is_archived") is True,
            checklist_id=text(checklist) if isinstance(checklist, bytes) else "",
            task_id=None if task is None else text(task),
            vector_clock=vector_clock(item.clock),
            removed=not item.visible,
            provenance=self._origins(item),
            unknown=origins.unknown(self, item) or UNSET,
        )

    def entries(self, task: Entity, *, removed: bool) -> list[Entry]:
        """Show the entries of a task that are in sight, or instead the `removed` ones, by their times."""
        held = self.children(task.id, "task_entry")
        if removed:
            ids = self._snapshot.referring(task.id, "task_entry", removed=True)
            every = [one for one in map(self._snapshot.entity, ids) if one is not None]
            held = [one for one in every if one.exists and not one.visible]
        return [self.entry(one) for one in sorted(held, key=_told)]

    def entry(self, entry: Entity) -> Entry:
        """Show one entry."""
        task, created = entry.value("task_id"), written_at(entry.created)
        return Entry(
            id=text(entry.id),
            text=entry.text("text"),
            happened_at=_happened_at(entry),
            author=author(entry.created),
            device_name=self._device_name(entry.created),
            source=entry.text("source") or "note",
            task_id=text(task) if isinstance(task, bytes) else None,
            created_at=created,
            vector_clock=vector_clock(entry.clock),
            removed=not entry.visible,
            provenance=self._origins(entry),
            unknown=origins.unknown(self, entry) or UNSET,
        )

    def time_record(self, record: Entity, task: Entity | None) -> TimeRecord:
        """Show one time record of a task; its device is the one that made it."""
        started, ended = record.text("started_at"), record.text("ended_at") or None
        device = None if record.created is None else self.device(record.created.head.replica)
        length = length_ms(moment_ms(started), moment_ms(ended))
        return TimeRecord(
            id=text(record.id),
            task_id=None if task is None else text(task.id),
            task_title="" if task is None else task.text("title"),
            started_at=started,
            ended_at=ended,
            minutes=None if ended is None else length // MINUTE_MS,
            note=record.text("note") or None,
            is_running=ended is None,
            is_here=device == self._snapshot.device,
            device="" if record.created is None else self.wrote_on(record.created)[0].hex(),
            device_name=self._device_name(record.created) or "",
            vector_clock=vector_clock(record.clock),
            removed=not record.visible,
        )

    def _device_name(self, source: Source | None) -> str | None:
        return None if source is None else self.wrote_on(source)[1] or None

    def wrote_on(self, source: Source) -> tuple[DeviceId, str]:
        """Return the device on which a value was written at first, and its name, empty if it is not known."""
        was = was_of(source)
        if was is not None:
            return was.device, was.device_name
        device = self.device(source.head.replica)
        return device, self.device_names.get(device, "")

    # -- conflicts ------------------------------------------------------------------------------------

    def conflicts(self, entity: Entity) -> list[Conflict]:
        """Show the fields that have more than one value, and a deletion that an edit outlived."""
        return disputes.conflicts(self, self._snapshot, entity)

    def value(self, field: str, value: object) -> Any:
        """Show the value of a field, a category by its name."""
        if field == "category_id" and isinstance(value, bytes):
            return self.categories.get(EntityId(value), plain(value))
        return plain(value)


def place(entity: Entity) -> tuple[str, EntityId]:
    """Return the key by which checklists and items are ordered."""
    return entity.text("position"), entity.id


def _happened_at(entry: Entity) -> str:
    return entry.text("happened_at") or written_at(entry.created) or ""


def _told(entry: Entity) -> tuple[str, str, int, EntityId]:
    """Return the key by which entries are ordered: by their time; texts of one file by their places in it."""
    made = 0 if entry.created is None else written_n(entry.created)
    return _happened_at(entry), entry.text("position"), made, entry.id


def _begun(record: Entity) -> tuple[int, EntityId]:
    """Return the key by which time records are ordered: by their beginning."""
    return moment_ms(record.text("started_at")) or 0, record.id


def minutes_spent(records: list[Entity]) -> int:
    """Return how many minutes records that have ended cover together."""
    stretches = [(moment_ms(one.text("started_at")), moment_ms(one.text("ended_at"))) for one in records]
    return together_ms(stretches) // MINUTE_MS


def _progress(items: list[Entity]) -> Progress:
    kept = [one for one in items if one.value("is_archived") is not True]
    return Progress(sum(one.value("is_checked") is True for one in kept), len(kept))


def _number(value: object) -> int | None:
    return value if type(value) is int else None


def _updated_at(entity: Entity) -> str | None:
    winners = (versions[0].source for versions in entity.row.fields.values())
    newest = max(map(written_ms, winners), default=None)
    return None if newest is None else iso(newest)
