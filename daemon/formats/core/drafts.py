"""What the journal still lacks of one planned task: the writes that would bring it in.

Never makes a commit, and never touches what a person changed or removed since the file said the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from daemon.formats.core import child_matching
from daemon.formats.core.import_history import ImportHistory, import_origin
from daemon.formats.core.line_positions import LinePositions
from daemon.formats.core.plan import (
    VALUE_FIELDS,
    PlannedChecklist,
    PlannedEntry,
    PlannedItem,
    PlannedTask,
    joined_line,
)
from daemon.formats.core.round_trip import FORMATS_THAT_RETURN as RETURNING
from daemon.formats.core.round_trip import ReturnedElements
from daemon.formats.core.similarity import keys_of
from daemon.journal.checklist_items import TODOS_TITLE, todos_id
from daemon.journal.fields.imported_provenance import is_from_import
from daemon.journal.fields.validation import CLOSED
from daemon.journal.references.name_registry import KnownNames, NameRegistry
from daemon.journal.references.names import TASK_LABELS, NamedKind, id_from_name, member_ids
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, id_to_text

FieldValues = dict[str, Value]

_EDITABLE = ("title", "status", "reason", *(field.name for field in VALUE_FIELDS))
"""The fields of a task whose values a plan contains as they are stored."""


class FileLabelIds:
    """The ids behind the names, and the writes for those that are needed and not in sight."""

    def __init__(self, snapshot: Snapshot, known_names: KnownNames) -> None:
        self._snapshot = snapshot
        self.registries: dict[NamedKind, NameRegistry] = {
            "label": NameRegistry(snapshot, "label", known_names),
            "category": NameRegistry(snapshot, "category", known_names),
        }
        self._ids: dict[tuple[NamedKind, str], EntityId] = {}

    @property
    def writes(self) -> list[EntityWrite]:
        """Return the writes for what was asked for by `require` and is not there."""
        return [write for names in self.registries.values() for write in names.writes]

    def id_of(self, kind: NamedKind, name: str) -> EntityId:
        """Return the id for a name, whether or not there is such a thing yet."""
        if (kind, name) not in self._ids:
            derived = id_from_name(kind, name)
            identifier = None if self._snapshot.entity(derived) else self.registries[kind].id_in_use(name)
            self._ids[kind, name] = identifier or derived
        return self._ids[kind, name]

    def require(self, kind: NamedKind, name: str) -> None:
        """Have it made, or brought back, if it is not in sight."""
        entity = self._snapshot.entity(self.id_of(kind, name))
        if entity is None or not entity.visible:
            self.registries[kind].id_to_use(name)


@dataclass(slots=True)
class TaskDraft:
    """The writes that a task needs. `closing_write`: its last state, if the source wrote it at another time.

    `made` counts what is new of each kind. `removes_last`: it is removed after all other writes.
    """

    task: EntityWrite
    is_new: bool
    children: list[EntityWrite] = field(default_factory=list)
    made: dict[str, int] = field(default_factory=dict)
    closing_write: EntityWrite | None = None
    removes_last: bool = False
    removed_ms: int | None = None
    is_removed_here: bool = False
    gone: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Report whether the journal has everything that the file contains."""
        return not (self.task.fields or self.children or self.closing_write or self.removes_last)


class TaskDrafter:
    """Compares the tasks of one file with the journal; `ids` are those of all its tasks, by key."""

    def __init__(
        self, snapshot: Snapshot, format_: str, ids: Mapping[str, EntityId], known_names: KnownNames
    ) -> None:
        self._snapshot = snapshot
        self._format = format_
        self._ids = ids
        self.catalogue = FileLabelIds(snapshot, known_names)

    def draft(self, task: PlannedTask) -> TaskDraft:
        """Return what the journal lacks of a task."""
        identifier = self._ids[task.key]
        entity = self._snapshot.entity(identifier)
        fields = self._task_fields(task, entity)
        ends = self._ends(task, fields)
        write = EntityWrite(identifier, "task", fields, origin=self._origin(task, is_new=entity is None))
        draft = TaskDraft(write, is_new=entity is None, removed_ms=task.ended_ms)
        if ends:
            draft.closing_write = EntityWrite(
                identifier, "task", ends, origin=import_origin(self._format, task.ended_ms)
            )
        _Children(self._snapshot, self._format, task, draft, self._ids).collect()
        if entity is not None and task.current is not None:
            # The id of a removed task in a file does not bring it back, whoever removed it.
            draft.is_removed_here = not entity.visible
            return draft
        was_buried = entity is not None and ImportHistory(self._snapshot, entity).last_value(DELETED) is True
        if was_buried and not task.removed:
            write.fields[DELETED] = False
        if entity is not None and not entity.visible:
            draft.is_removed_here = not _is_imports(entity, DELETED)
            # A write to a removed task brings it back into sight, so the file's removal is said again.
            draft.removes_last = task.removed and not draft.is_empty
        else:
            draft.removes_last = task.removed and not was_buried
        return draft

    def _origin(self, task: PlannedTask, *, is_new: bool) -> FieldValues:
        if not is_new:
            return import_origin(self._format, task.changed_ms)
        changed_ms = None if task.changed_ms == task.made_ms else task.changed_ms
        return import_origin(self._format, task.made_ms, task.source, changed_ms)

    def _ends(self, task: PlannedTask, fields: FieldValues) -> FieldValues:
        """Take out of the fields what the source wrote when it finished the task."""
        if task.ended_ms is None or task.status not in CLOSED or "status" not in fields:
            return {}
        return {"status": fields.pop("status")}

    def _task_fields(self, task: PlannedTask, entity: Entity | None) -> FieldValues:
        if task.current is not None and entity is not None:
            return self._edited_fields(task, task.current, entity)
        category = self.catalogue.id_of("category", task.category) if task.category else None
        wanted: FieldValues = {
            **{name: getattr(task, name) for name in _EDITABLE},
            "category_id": category,
        }
        if task.due_moves and entity and not (_is_imports(entity, "due") and _is_imports(entity, "status")):
            # The file may say the same as ever: a day that has passed is no reason to touch a person's word.
            del wanted["due"]
        for name in task.unsaid:
            del wanted[name]
        fields = _difference(self._snapshot, entity, wanted)
        if task.category and fields.get("category_id"):
            self.catalogue.require("category", task.category)
        return fields | self._label_fields(task, entity)

    def _edited_fields(self, task: PlannedTask, current: PlannedTask, stored_entity: Entity) -> FieldValues:
        """Return the fields of an exported task that were edited in its file."""
        history = ImportHistory(self._snapshot, stored_entity)
        names = [name for name in _EDITABLE if name not in task.unsaid]
        edited = {name for name in names if getattr(task, name) != getattr(current, name)}
        wanted: FieldValues = {name: getattr(task, name) for name in edited}
        if task.category != current.category:
            wanted["category_id"] = self.catalogue.id_of("category", task.category) if task.category else None
        gained = {self._label_field(name): name for name in task.labels if name not in current.labels}
        lost = {_in_file(name) for name in current.labels if name not in task.labels}
        for label in member_ids(stored_entity, TASK_LABELS):
            entity = self._snapshot.entity(label)
            if entity is not None and _in_file(entity.text("name")) in lost:
                wanted[f"{TASK_LABELS}/{id_to_text(label)}"] = False
        wanted |= dict.fromkeys(gained, True)
        fields = {name: value for name, value in wanted.items() if not history.was_last_said(name, value)}
        # A status and its reason are one word: whichever status wins, it wins with its own reason.
        if "status" in fields and task.reason is not None:
            fields["reason"] = task.reason
        if task.category and fields.get("category_id"):
            self.catalogue.require("category", task.category)
        for name in gained.keys() & fields.keys():
            self.catalogue.require("label", gained[name])
        return fields

    def _label_field(self, name: str) -> str:
        return f"{TASK_LABELS}/{id_to_text(self.catalogue.id_of('label', name))}"

    def _label_fields(self, task: PlannedTask, entity: Entity | None) -> FieldValues:
        """Return the labels that the file gained or lost; those that a person gave or took stay."""
        wanted = {self._label_field(name): name for name in task.labels}
        memory = ImportHistory(self._snapshot, entity) if entity else None
        names = [name for name in entity.fields() if name.startswith(f"{TASK_LABELS}/")] if entity else []
        fields: FieldValues = {}
        for name in dict.fromkeys([*wanted, *names]):
            was_in = memory is not None and memory.last_value(name) is True
            if was_in != (name in wanted):
                fields[name] = name in wanted
        for name in wanted.keys() & fields.keys():
            self.catalogue.require("label", wanted[name])
        return fields


class _Children:
    """Adds to a draft what belongs to its task."""

    def __init__(
        self,
        snapshot: Snapshot,
        format_: str,
        task: PlannedTask,
        draft: TaskDraft,
        ids: Mapping[str, EntityId],
    ) -> None:
        self._snapshot = snapshot
        self._format = format_
        self._task = task
        self._draft = draft
        self._owner = draft.task.entity
        self._ids = ids
        may_return = format_ in RETURNING and not draft.is_new
        self._exported_ids = frozenset(self._named_ids())
        self._returned = ReturnedElements(snapshot, frozenset(self._file_ids())) if may_return else None

    def _named_ids(self) -> Iterator[EntityId]:
        """Yield the ids that the file has of what this journal exported."""
        items = (item for checklist in self._task.checklists for item in checklist.items)
        yield from filter(None, map(self._exported_id, items))
        yield from filter(None, map(self._exported_id, self._task.entries))

    def _file_ids(self) -> Iterator[EntityId]:
        """Yield the ids of all that the file says of the task."""
        for checklist in self._task.checklists:
            yield self._derive_id(checklist.key)
            yield from (self._derive_id(item.key) for item in checklist.items)
        yield from (self._derive_id(entry.key) for entry in self._task.entries)
        yield from (self._derive_id(link.key) for link in self._task.links)

    def collect(self) -> None:
        """Add checklists with their items, entries and links."""
        if self._task.checklists:
            places = self._places(self._owner, "task_checklist")
            for checklist in self._task.checklists:
                self._checklist(checklist, places)
        self._entries()
        for link in self._task.links:
            ends: FieldValues = {
                "from_id": self._ids[link.from_key],
                "to_id": self._ids[link.to_key],
                "type": link.type,
            }
            line, at_ms = self._derive_id(link.key), self._task.changed_ms
            back = partial(ReturnedElements.matching_link, says=ends)
            self._child("link", line, says=ends, fields_if_new={}, at_ms=at_ms, back=back)

    def _checklist(self, checklist: PlannedChecklist, among: LinePositions) -> None:
        # People and agents add to this same list if a task has none.
        shared = checklist.title == TODOS_TITLE
        identifier = todos_id(self._owner) if shared else self._derive_id(checklist.key)
        field_values: FieldValues = {"task_id": self._owner}
        at_ms = self._task.made_ms
        exported = [item for item in checklist.items if self._exported_id(item) is not None]
        if exported and len(exported) == len(checklist.items):
            # No item is new, so a checklist for new ones is not needed.
            for item in exported:
                self._edit_exported_item(item)
            return
        is_ours = shared and self._snapshot.entity(identifier) is not None
        says: FieldValues = {} if is_ours else {"title": checklist.title}
        back = partial(
            ReturnedElements.matching_titled,
            owner=self._owner,
            relation="task_checklist",
            title=checklist.title,
        )
        identifier = self._child(
            "checklist",
            identifier,
            says=says,
            fields_if_new=field_values,
            at_ms=at_ms,
            places=among,
            back=back,
        )
        places = self._places(identifier, "checklist_item")
        new = [item for item in checklist.items if self._exported_id(item) is None]
        identifiers = self._match_ids("checklist_item", [(item.key, item.title) for item in new])
        for item in checklist.items:
            if item.key not in identifiers:
                self._edit_exported_item(item, identifier, places)
                continue
            line = identifiers[item.key]
            says = {"title": item.title, "is_checked": item.is_checked}
            says |= child_matching.archived_as_said(self._snapshot, line, item.is_archived)
            field_values = {"checklist_id": identifier, "is_archived": item.is_archived}
            back = partial(
                ReturnedElements.matching_titled,
                owner=identifier,
                relation="checklist_item",
                title=item.title,
            )
            self._child(
                "checklist_item",
                line,
                says=says,
                fields_if_new=field_values,
                at_ms=at_ms,
                places=places,
                back=back,
            )

    def _entries(self) -> None:
        places = self._places(self._owner, "task_entry")
        new = [entry for entry in self._task.entries if not self._is_in_journal(entry)]
        identifiers = self._match_ids("entry", [(entry.key, entry.text) for entry in new])
        for entry in self._task.entries:
            if entry.key not in identifiers:
                self._edit_exported_entry(entry, places)
                continue
            field_values: FieldValues = {"task_id": self._owner, "source": "import"}
            at_ms = entry.happened_ms
            if at_ms is not None:
                field_values["happened_at"] = iso_utc(at_ms)
            # What has no time of its own keeps the file's order by its place.
            self._child(
                "entry",
                identifiers[entry.key],
                says={"text": entry.text},
                fields_if_new=field_values,
                at_ms=at_ms,
                places=places if at_ms is None else None,
                back=partial(
                    ReturnedElements.matching_entry, task=self._owner, text=entry.text, happened_ms=at_ms
                ),
            )
        self._remove_what_is_gone()

    def _remove_what_is_gone(self) -> None:
        """Remove the entries that an import made of what the file no longer has, and their words."""
        for key in self._task.gone:
            entity = self._snapshot.entity(self._derive_id(key))
            if entity is not None and entity.visible and _is_imports(entity, "text") and entity.text("text"):
                origin = import_origin(self._format, self._task.changed_ms)
                self._draft.children.append(
                    EntityWrite(entity.id, entity.kind, {"text": "", DELETED: True}, origin=origin)
                )

    def _exported_id(self, element: PlannedItem | PlannedEntry) -> EntityId | None:
        """Return the id of an item or entry that this journal exported."""
        return None if self._task.current is None else element.exported_id

    @cached_property
    def _items_now(self) -> dict[EntityId | None, PlannedItem]:
        lists = self._task.current.checklists if self._task.current else ()
        return {item.exported_id: item for checklist in lists for item in checklist.items}

    @cached_property
    def _entries_now(self) -> dict[EntityId | str, str]:
        """Return the texts of an export that is made now, by id, or else by the end of the key."""
        current = self._task.current
        if current is None:
            return {}
        return {entry.exported_id or entry.key[len(current.key) :]: entry.text for entry in current.entries}

    def _is_in_journal(self, entry: PlannedEntry) -> bool:
        """Say whether an entry was exported, or is one that every reading of an unchanged task makes."""
        beneath = entry.key[len(self._task.key) :]
        return self._exported_id(entry) is not None or self._entries_now.get(beneath) == entry.text

    def _edit_exported_item(
        self, item: PlannedItem, checklist: EntityId | None = None, places: LinePositions | None = None
    ) -> None:
        """Add what the file changed in an item that this journal exported; its place stays."""
        assert item.exported_id is not None
        entity = self._snapshot.entity(item.exported_id)
        assert entity is not None
        now = self._items_now[item.exported_id]
        says: FieldValues = {}
        if item.title != now.title:
            # An item of another checklist than "Todos" is exported with the checklist's title before its own.
            before = now.title.removesuffix(joined_line(entity.text("title")))
            says["title"] = item.title.removeprefix(before) or item.title
        if item.is_checked != now.is_checked:
            says["is_checked"] = item.is_checked
        says |= {"is_archived": True} if item.is_archived else {}
        self._edit(entity, says)
        if places and entity.value("checklist_id") == checklist:
            places.advance_past(entity.text("position"))

    def _edit_exported_entry(self, entry: PlannedEntry, places: LinePositions) -> None:
        """Add what was edited in the file of an entry that this journal exported."""
        entity = None if entry.exported_id is None else self._snapshot.entity(entry.exported_id)
        if entity is None or entry.exported_id is None:
            return
        self._edit(entity, {} if self._entries_now[entry.exported_id] == entry.text else {"text": entry.text})
        places.advance_past(entity.text("position"))

    def _edit(self, entity: Entity, says: FieldValues) -> None:
        history = ImportHistory(self._snapshot, entity)
        fields = {name: value for name, value in says.items() if not history.was_last_said(name, value)}
        if fields and entity.visible:
            origin = import_origin(self._format, self._task.changed_ms)
            self._draft.children.append(EntityWrite(entity.id, entity.kind, fields, origin=origin))

    def _child(
        self,
        kind: str,
        identifier: EntityId,
        *,
        says: FieldValues,
        fields_if_new: FieldValues,
        at_ms: int | None,
        back: Callable[[ReturnedElements], Entity | None],
        places: LinePositions | None = None,
    ) -> EntityId:
        """Add the write that a child needs: what the file `says`, and if it is new what it is `made` with.

        It needs none if it was written here and came `back`. Returns the id that it has.
        """
        entity = self._snapshot.entity(identifier)
        if entity is None and self._returned and (ours := back(self._returned)):
            if places:
                places.advance_past(ours.text("position"))
            return ours.id
        if entity is not None:
            if places:
                places.advance_past(entity.text("position"))
            # What an import removed comes back with the words of the file.
            is_followed = entity.visible or _is_imports(entity, DELETED)
            fields = _difference(self._snapshot, entity, says) if is_followed else {}
            if fields and not entity.visible:
                fields[DELETED] = False
            at_ms = self._task.changed_ms
        else:
            fields = says | fields_if_new | ({"position": places.next_position()} if places else {})
            self._draft.made[kind] = self._draft.made.get(kind, 0) + 1
        if fields:
            origin = import_origin(self._format, at_ms)
            self._draft.children.append(EntityWrite(identifier, kind, fields, origin=origin))
        return identifier

    def _match_ids(self, kind: str, keyed_titles: Sequence[tuple[str, str]]) -> dict[str, EntityId]:
        """Return the ids of items or entries by their keys; reworded ones have those of what they were."""
        if self._format not in child_matching.FORMATS_MATCHED_BY_WORDS or self._draft.is_new:
            return {key: self._derive_id(key) for key, _ in keyed_titles}
        ids = [self._ids_of(key) for key, _ in keyed_titles]
        titles = [(own, words) for own, (_, words) in zip(ids, keyed_titles, strict=True)]
        matched = child_matching.match_children(self._snapshot, self._owner, kind, titles, self._exported_ids)
        if kind == "checklist_item" and None in matched:
            present = {*filter(None, matched), *self._exported_ids}
            self._draft.gone = child_matching.open_items_beside(self._snapshot, self._owner, present)
        # The last of them is free: those before it may be of things reworded since.
        return {
            key: entity or own[-1] for (key, _), own, entity in zip(keyed_titles, ids, matched, strict=True)
        }

    def _ids_of(self, key: str) -> list[EntityId]:
        return keys_of(
            self._derive_id(key),
            lambda nth: self._derive_id(f"{key}\nagain\n{nth}"),
            lambda derived: self._snapshot.entity(derived) is not None,
        )

    def _derive_id(self, key: str) -> EntityId:
        return derived_id("import", self._format, key, time_of=self._owner)

    def _places(self, owner: EntityId, relation: str) -> LinePositions:
        if self._draft.is_new:
            return LinePositions(())
        entities = (
            self._snapshot.entity(identifier)
            for identifier in self._snapshot.ids_pointing_at(owner, relation, removed=True)
        )
        return LinePositions(entity.text("position") for entity in entities if entity)


def _difference(snapshot: Snapshot, entity: Entity | None, wanted: Mapping[str, Value]) -> FieldValues:
    """Return the fields in which the file says something else than when it was last imported."""
    if entity is None:
        return {name: value for name, value in wanted.items() if value is not None}
    memory = ImportHistory(snapshot, entity)
    return {name: value for name, value in wanted.items() if not memory.last_value_is(name, value)}


def _in_file(name: str) -> str:
    """Return a name as formats write it that have no blanks in names."""
    return "_".join(name.split())


def _is_imports(entity: Entity, name: str) -> bool:
    version = entity.version(name)
    return version is not None and is_from_import(version.source)
