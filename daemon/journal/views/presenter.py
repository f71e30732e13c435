"""Turns entities into what is shown: names for ids, provenance for values, conflicts in plain structure.

Never writes, and never hides a value that stands in conflict.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from daemon.journal.fields.colors import stored_color
from daemon.journal.fields.imported_provenance import original_n
from daemon.journal.fields.placement import sorted_by_position
from daemon.journal.fields.plain_values import plain_values
from daemon.journal.fields.provenance import as_proposed, author_name, written_at_iso, written_ms
from daemon.journal.fields.time_spans import MINUTE_MS, covered_ms, kept_moment_ms, span_ms
from daemon.journal.recurring.series_record import TASK_SERIES, series_id_text
from daemon.journal.references import names
from daemon.journal.views import value_origins
from daemon.journal.views.conflict_versions import ConflictPresenter
from daemon.journal.views.lookup import ChildLookup, NameLookup, clock_json, json_value
from daemon.journal.views.part_bounds import PartBounds
from daemon.journal.views.put_back import PutBackSources
from daemon.journal.views.report_facts import with_current_facts
from daemon.journal.views.structures import (
    Checklist,
    ChecklistItem,
    Conflict,
    Entry,
    Origins,
    Progress,
    Task,
    TimeRecord,
)
from daemon.journal.views.task_graph import BlockingCycles, present_task_links
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text


class JournalPresenter:
    """What one snapshot shows. It looks each name and child up once, so make one presenter per request."""

    def __init__(self, snapshot: Snapshot, *, provenance: bool = False) -> None:
        """`provenance` shows who wrote each value of a task and of what belongs to it."""
        self._snapshot = snapshot
        self._with_provenance = provenance
        self.names = NameLookup(snapshot)
        self.children = ChildLookup(snapshot)

    @cached_property
    def _put_back(self) -> PutBackSources:
        return PutBackSources(self._snapshot)

    @cached_property
    def _circles(self) -> BlockingCycles:
        return BlockingCycles(self._snapshot)

    # -- tasks ----------------------------------------------------------------------------------------

    def task(self, task: Entity, *, brief: bool = False, parts: PartBounds | None = None) -> Task:
        """Show a task; `brief` leaves out what belongs to it. `parts` counts what its length leaves out."""
        checklists = sorted_by_position(self.children.entities_pointing_at(task.id, "task_checklist"))
        items = {checklist.id: self._sorted_items(checklist.id) for checklist in checklists}
        entries = [] if brief else self.children.entities_pointing_at(task.id, "task_entry")
        times = sorted(self.children.entities_pointing_at(task.id, "task_time"), key=_record_order)
        agent = next(
            (entity.id for entity in self.children.entities_pointing_at(task.id, "agent_task")), None
        )
        labels, values = self._labels(task), plain_values(task.value)
        listed = [item for below in items.values() for item in below]
        parts = PartBounds() if parts is None else parts
        conflicts = [
            conflict
            for entity in [task, *checklists, *listed, *entries, *times]
            for conflict in self.conflicts(entity)
        ]
        return Task(
            id=id_to_text(task.id),
            **values,
            labels=sorted(labels, key=str.casefold),
            label_colors={name: color for name, color in labels.items() if color},
            category=self.names.categories.get(names.category_id_of(task) or EntityId(b"")),
            checklists=[] if brief else self._checklists_within(parts, checklists, items, task.id),
            checklist_progress=_progress(listed),
            entries=parts.last_made("entries", sorted(entries, key=_entry_order), self.entry),
            times=[] if brief else parts.last_made("times", times, lambda time: self.time_record(time, task)),
            time_spent_minutes=minutes_spent(times),
            links=[]
            if brief
            else parts.first("links", present_task_links(self._snapshot, task.id, self._circles)),
            vector_clock=clock_json(task.clock),
            conflicts=parts.first("conflicts", conflicts),
            agent_id=None if agent is None else id_to_text(agent),
            report=None if agent is None or brief else self._current_report(agent, values, listed),
            created_at=written_at_iso(self._snapshot, task.created),
            updated_at=_updated_at(self._snapshot, task),
            removed=not task.visible,
            series_id=series_id_text(task.value(TASK_SERIES)),
            unknown=parts.pairs("unknown", value_origins.unknown_field_values(self.names, task)) or UNSET,
            left_out=parts.left_out or UNSET,
        )

    def task_with_provenance(self, task: Entity) -> Task:
        """Show a task; on request, add who wrote each value and the statuses so far."""
        if not self._with_provenance:
            return self.task(task)
        parts = PartBounds()
        return replace(
            self.task(task, parts=parts),
            provenance=parts.pairs(
                "provenance", value_origins.present_origins(self.names, self._put_back, task)
            ),
            status_history=parts.last(
                "status_history", value_origins.status_steps(self.names, self._put_back, self._snapshot, task)
            ),
            left_out=parts.left_out or UNSET,
        )

    def _checklists_within(
        self, parts: PartBounds, checklists: list[Entity], items: dict[EntityId, list[Entity]], task: EntityId
    ) -> list[Checklist]:
        """Show the first checklists of a task with their first items, as many as fit."""

        def show(checklist: Entity) -> Checklist:
            shown = self._checklist(checklist, [], task)
            own_items = items[checklist.id]
            fitting = parts.first_made("items", own_items, lambda item: self.item(item, task))
            return replace(shown, items=fitting, left_out=len(own_items) - len(fitting))

        return parts.first_made("checklists", checklists, show)

    def _origins(self, entity: Entity) -> Origins | UnsetType:
        if not self._with_provenance:
            return UNSET
        return value_origins.present_origins(self.names, self._put_back, entity)

    def checklist(self, checklist: Entity) -> Checklist:
        """Show a checklist with its items in sight."""
        task = checklist.value("task_id")
        items = self._sorted_items(checklist.id)
        return self._checklist(checklist, items, EntityId(task) if isinstance(task, bytes) else None)

    def _sorted_items(self, checklist: EntityId) -> list[Entity]:
        return sorted_by_position(self.children.entities_pointing_at(checklist, "checklist_item"))

    def removed_part_of_checklist(self, checklist: Entity, task: EntityId) -> Checklist:
        """Show what of a checklist is out of sight: all of it, or else its removed items."""
        ids = self._snapshot.ids_pointing_at(checklist.id, "checklist_item", removed=True)
        all_parts = [
            entity for entity in map(self._snapshot.entity, ids) if entity is not None and entity.exists
        ]
        items = [part for part in all_parts if not (checklist.visible and part.visible)]
        return self._checklist(checklist, sorted_by_position(items), task)

    def _checklist(self, checklist: Entity, items: list[Entity], task: EntityId | None) -> Checklist:
        return Checklist(
            id=id_to_text(checklist.id),
            title=checklist.text("title"),
            items=[self.item(item, task) for item in items],
            task_id=None if task is None else id_to_text(task),
            vector_clock=clock_json(checklist.clock),
            removed=not checklist.visible,
        )

    def _labels(self, task: Entity) -> dict[str, str]:
        """Return the names of a task's labels in sight, with their colours; two of one name are one."""
        entities = (
            self.names.label_entities.get(member_id)
            for member_id in names.member_ids(task, names.TASK_LABELS)
        )
        return {names.shown_name(entity): stored_color(entity) for entity in entities if entity is not None}

    def _current_report(
        self, agent: EntityId, values: Mapping[str, Any], items: list[Entity]
    ) -> dict[str, Any] | None:
        """Return the agent's report with the facts of the task as they are now, given its plain values."""
        report = self._report(agent)
        if report is None:
            return None
        progress = _progress(items)
        facts = {
            "title": values["title"],
            "status": values["status"],
            "priority": values["priority"],
            "estimate": values["estimate_minutes"],
            "due": values["due"],
            "checklistProgress": {"total": progress.total, "completed": progress.completed},
        }
        ticks = [(item.text("title"), item.value("is_checked") is True) for item in _kept_items(items)]
        return with_current_facts(report, facts, ticks)

    def _report(self, agent: EntityId) -> dict[str, Any] | None:
        for state in self._snapshot.ids_pointing_at(agent, "agent_state"):
            entity = self._snapshot.entity(state)
            head = None if entity is None else entity.value("report_id")
            report = self._snapshot.entity(EntityId(head)) if isinstance(head, bytes) else None
            # One long report that thousands of agents named would be shown with the task of each.
            if report is not None and report.value("agent_id") == agent:
                content = json_value(report.value("content"))
                if isinstance(content, dict):
                    return content
        return None

    # -- what belongs to a task -----------------------------------------------------------------------

    def item(self, item: Entity, task: EntityId | None) -> ChecklistItem:
        """Show one item of a checklist."""
        ticked = item.version("is_checked")
        source = None if ticked is None else ticked.source
        checklist = item.value("checklist_id")
        return ChecklistItem(
            id=id_to_text(item.id),
            title=item.text("title"),
            is_checked=item.value("is_checked") is True,
            checked_by=author_name(source),
            checked_at=written_at_iso(self._snapshot, source),
            checked_on=self.names.writing_device_name(source),
            checked_as_proposed=as_proposed(source),
            is_archived=item.value("is_archived") is True,
            checklist_id=id_to_text(checklist) if isinstance(checklist, bytes) else "",
            task_id=None if task is None else id_to_text(task),
            vector_clock=clock_json(item.clock),
            removed=not item.visible,
            provenance=self._origins(item),
            unknown=value_origins.unknown_field_values(self.names, item) or UNSET,
        )

    def entries(self, task: Entity, *, removed: bool) -> list[Entry]:
        """Show the entries of a task that are in sight, or instead the `removed` ones, by their times."""
        removed_entries = self.children.entities_pointing_at(task.id, "task_entry")
        if removed:
            ids = self._snapshot.ids_pointing_at(task.id, "task_entry", removed=True)
            all_parts = [entity for entity in map(self._snapshot.entity, ids) if entity is not None]
            removed_entries = [part for part in all_parts if part.exists and not part.visible]
        return [self.entry(removed_entry) for removed_entry in sorted(removed_entries, key=_entry_order)]

    def entry(self, entry: Entity) -> Entry:
        """Show one entry."""
        task, created = entry.value("task_id"), written_at_iso(self._snapshot, entry.created)
        return Entry(
            id=id_to_text(entry.id),
            text=entry.text("text"),
            happened_at=entry.text("happened_at") or created or "",
            author=author_name(entry.created),
            as_proposed=as_proposed(entry.created),
            device_name=self.names.writing_device_name(entry.created),
            source=entry.text("source") or "note",
            task_id=id_to_text(task) if isinstance(task, bytes) else None,
            created_at=created,
            vector_clock=clock_json(entry.clock),
            removed=not entry.visible,
            provenance=self._origins(entry),
            unknown=value_origins.unknown_field_values(self.names, entry) or UNSET,
        )

    def time_record(self, record: Entity, task: Entity | None) -> TimeRecord:
        """Show one time record of a task; its device is the one that made it."""
        started, ended = record.text("started_at"), record.text("ended_at") or None
        device = None if record.created is None else self.names.device_of_replica(record.created.head.replica)
        length = span_ms(kept_moment_ms(started), kept_moment_ms(ended))
        return TimeRecord(
            id=id_to_text(record.id),
            task_id=None if task is None else id_to_text(task.id),
            task_title="" if task is None else names.shown_name(task),
            started_at=started,
            ended_at=ended,
            minutes=None if ended is None else length // MINUTE_MS,
            note=record.text("note") or None,
            is_running=ended is None,
            is_here=device == self._snapshot.device,
            device="" if record.created is None else self.names.writing_device(record.created)[0].hex(),
            device_name=self.names.writing_device_name(record.created) or "",
            vector_clock=clock_json(record.clock),
            removed=not record.visible,
        )

    # -- conflicts ------------------------------------------------------------------------------------

    def conflicts(self, entity: Entity) -> list[Conflict]:
        """Show the fields that have more than one value, and a deletion that an edit outlived."""
        return ConflictPresenter(self.names, self.children, self._snapshot).conflicts(entity)


def _entry_order(entry: Entity) -> tuple[str, str, int, EntityId]:
    """Return the key by which entries are ordered: by their time; texts of one file by their places in it."""
    created_n = 0 if entry.created is None else original_n(entry.created)
    stamped_at = "" if entry.created is None else iso_utc(written_ms(entry.created))
    return entry.text("happened_at") or stamped_at, entry.text("position"), created_n, entry.id


def _record_order(record: Entity) -> tuple[int, EntityId]:
    """Return the key by which time records are ordered: by their beginning."""
    return kept_moment_ms(record.text("started_at")) or 0, record.id


def minutes_spent(records: list[Entity]) -> int:
    """Return how many minutes records that have ended cover together."""
    stretches = [
        (kept_moment_ms(record.text("started_at")), kept_moment_ms(record.text("ended_at")))
        for record in records
    ]
    return covered_ms(stretches) // MINUTE_MS


def _kept_items(items: list[Entity]) -> list[Entity]:
    return [item for item in items if item.value("is_archived") is not True]


def _progress(items: list[Entity]) -> Progress:
    kept_items = _kept_items(items)
    return Progress(sum(item.value("is_checked") is True for item in kept_items), len(kept_items))


def _updated_at(snapshot: Snapshot, entity: Entity) -> str | None:
    winners = entity.state.fields.winning_sources()
    newest = max(map(written_ms, winners), default=None)
    return None if newest is None else iso_utc(snapshot.shown_ms(newest))
