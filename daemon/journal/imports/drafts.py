"""What the journal still lacks of one planned task: the writes that would bring it in.

Never makes a commit, and never touches what a person changed or removed since the file said the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from daemon.journal.checklists import TODOS, todos_id
from daemon.journal.imports.catalogue import Catalogue
from daemon.journal.imports.memory import Memory, is_import, origin
from daemon.journal.imports.places import Places
from daemon.journal.imports.plan import PlannedChecklist, PlannedTask
from daemon.journal.imports.returned import FORMATS as RETURNING
from daemon.journal.imports.returned import Returned
from daemon.journal.imports.reworded import FORMATS as REWORDING
from daemon.journal.imports.reworded import known_as
from daemon.journal.names import SET
from daemon.journal.provenance import iso
from daemon.journal.values import CLOSED
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import Snapshot
from store.transaction import Write
from syncproto.codec import Value
from syncproto.ids import ZERO_ID, EntityId, derived_id, text, uuid7

_NO_RANDOMNESS = bytes(10)

Fields = dict[str, Value]


def task_id(format_: str, task: PlannedTask) -> EntityId:
    """Return the id of an imported task, derived from the source's own, its time that of the source."""
    time_of = ZERO_ID if task.made_ms is None else uuid7(task.made_ms, _NO_RANDOMNESS)
    return derived_id("import", format_, task.key, time_of=time_of)


@dataclass(slots=True)
class Draft:
    """The writes that a task needs; `made` counts what is new of each kind.

    `ends`: the task's last state, which its source wrote at another time than the rest. `buries`: the task is
    to be removed after all other writes. `is_removed_here`: a person removed it.
    """

    task: Write
    is_new: bool
    children: list[Write] = field(default_factory=list)
    made: dict[str, int] = field(default_factory=dict)
    ends: Write | None = None
    buries: bool = False
    buried_ms: int | None = None
    is_removed_here: bool = False

    @property
    def is_empty(self) -> bool:
        """Say whether the journal has all that the file says."""
        return not (self.task.fields or self.children or self.ends or self.buries)


class Drafter:
    """Compares the tasks of one file with the journal; `ids` are those of all its tasks, by key."""

    def __init__(self, snapshot: Snapshot, format_: str, ids: Mapping[str, EntityId]) -> None:
        self._snapshot = snapshot
        self._format = format_
        self._ids = ids
        self.catalogue = Catalogue(snapshot)

    def draft(self, task: PlannedTask) -> Draft:
        """Return what the journal lacks of a task."""
        identifier = self._ids[task.key]
        held = self._snapshot.entity(identifier)
        fields = self._task_fields(task, held)
        ends = self._ends(task, fields)
        write = Write(identifier, "task", fields, origin=self._origin(task, is_new=held is None))
        draft = Draft(write, is_new=held is None, buried_ms=task.ended_ms)
        if ends:
            draft.ends = Write(identifier, "task", ends, origin=origin(self._format, task.ended_ms))
        _Children(self._snapshot, self._format, task, draft, self._ids).collect()
        was_buried = held is not None and Memory(self._snapshot, held).value(DELETED) is True
        if was_buried and not task.removed:
            write.fields[DELETED] = False
        if held is not None and not held.visible:
            draft.is_removed_here = not _is_imports(held, DELETED)
            # A write to a removed task brings it back into sight, so the file's removal is said again.
            draft.buries = task.removed and not draft.is_empty
        else:
            draft.buries = task.removed and not was_buried
        return draft

    def _origin(self, task: PlannedTask, *, is_new: bool) -> Fields:
        if not is_new:
            return origin(self._format, task.changed_ms)
        changed_ms = None if task.changed_ms == task.made_ms else task.changed_ms
        return origin(self._format, task.made_ms, task.source, changed_ms)

    def _ends(self, task: PlannedTask, fields: Fields) -> Fields:
        """Take out of the fields what the source wrote when it finished the task."""
        if task.ended_ms is None or task.status not in CLOSED or "status" not in fields:
            return {}
        return {"status": fields.pop("status")}

    def _task_fields(self, task: PlannedTask, held: Entity | None) -> Fields:
        category = self.catalogue.id_of("category", task.category) if task.category else None
        wanted: Fields = {
            "title": task.title,
            "status": task.status,
            "reason": task.reason,
            "priority": task.priority,
            "due": task.due,
            "estimate_minutes": task.estimate_minutes,
            "language": task.language,
            "category_id": category,
        }
        fields = _difference(self._snapshot, held, wanted)
        if task.category and fields.get("category_id"):
            self.catalogue.need("category", task.category)
        return fields | self._label_fields(task, held)

    def _label_fields(self, task: PlannedTask, held: Entity | None) -> Fields:
        """Return the labels that the file gained or lost; those that a person gave or took stay."""
        wanted = {f"{SET}/{text(self.catalogue.id_of('label', name))}": name for name in task.labels}
        memory = Memory(self._snapshot, held) if held else None
        known = [name for name in held.fields() if name.startswith(f"{SET}/")] if held else []
        fields: Fields = {}
        for name in dict.fromkeys([*wanted, *known]):
            was_in = memory is not None and memory.value(name) is True
            if was_in != (name in wanted):
                fields[name] = name in wanted
        for name in wanted.keys() & fields.keys():
            self.catalogue.need("label", wanted[name])
        return fields


class _Children:
    """Adds to a draft what belongs to its task."""

    def __init__(
        self, snapshot: Snapshot, format_: str, task: PlannedTask, draft: Draft, ids: Mapping[str, EntityId]
    ) -> None:
        self._snapshot = snapshot
        self._format = format_
        self._task = task
        self._draft = draft
        self._owner = draft.task.entity
        self._ids = ids
        may_return = format_ in RETURNING and not draft.is_new
        self._returned = Returned(snapshot, frozenset(self._spoken())) if may_return else None

    def _spoken(self) -> Iterator[EntityId]:
        """Yield the ids of all that the file says of the task."""
        for checklist in self._task.checklists:
            yield self._derived(checklist.key)
            yield from (self._derived(item.key) for item in checklist.items)
        yield from (self._derived(entry.key) for entry in self._task.entries)
        yield from (self._derived(link.key) for link in self._task.links)

    def collect(self) -> None:
        """Add checklists with their items, entries and links."""
        if self._task.checklists:
            places = self._places(self._owner, "task_checklist")
            for checklist in self._task.checklists:
                self._checklist(checklist, places)
        self._entries()
        for link in self._task.links:
            ends: Fields = {
                "from_id": self._ids[link.from_key],
                "to_id": self._ids[link.to_key],
                "type": link.type,
            }
            line, at_ms = self._derived(link.key), self._task.changed_ms
            back = partial(Returned.link, says=ends)
            self._child("link", line, says=ends, made={}, at_ms=at_ms, back=back)

    def _checklist(self, checklist: PlannedChecklist, among: Places) -> None:
        # The list that people and agents add to where a task has none is the same one.
        shared = checklist.title == TODOS
        identifier = todos_id(self._owner) if shared else self._derived(checklist.key)
        made: Fields = {"task_id": self._owner}
        at_ms = self._task.made_ms
        is_ours = shared and self._snapshot.entity(identifier) is not None
        says: Fields = {} if is_ours else {"title": checklist.title}
        back = partial(Returned.titled, owner=self._owner, relation="task_checklist", title=checklist.title)
        identifier = self._child(
            "checklist", identifier, says=says, made=made, at_ms=at_ms, places=among, back=back
        )
        places = self._places(identifier, "checklist_item")
        known = self._known("checklist_item", [(item.key, item.title) for item in checklist.items])
        for item in checklist.items:
            says = {"title": item.title, "is_checked": item.is_checked}
            made = {"checklist_id": identifier, "is_archived": False}
            line = known[item.key]
            back = partial(Returned.titled, owner=identifier, relation="checklist_item", title=item.title)
            self._child("checklist_item", line, says=says, made=made, at_ms=at_ms, places=places, back=back)

    def _entries(self) -> None:
        places = self._places(self._owner, "task_entry")
        known = self._known("entry", [(entry.key, entry.text) for entry in self._task.entries])
        for entry in self._task.entries:
            made: Fields = {"task_id": self._owner, "source": "import"}
            at_ms = entry.happened_ms
            if at_ms is not None:
                made["happened_at"] = iso(at_ms)
            # What has no time of its own keeps the file's order by its place.
            self._child(
                "entry",
                known[entry.key],
                says={"text": entry.text},
                made=made,
                at_ms=at_ms,
                places=places if at_ms is None else None,
                back=partial(Returned.entry, task=self._owner, text=entry.text, happened_ms=at_ms),
            )

    def _child(
        self,
        kind: str,
        identifier: EntityId,
        *,
        says: Fields,
        made: Fields,
        at_ms: int | None,
        back: Callable[[Returned], Entity | None],
        places: Places | None = None,
    ) -> EntityId:
        """Add the write that a child needs: what the file `says`, and if it is new what it is `made` with.

        Needs none where it was written here and came `back`. Returns the id that it has.
        """
        held = self._snapshot.entity(identifier)
        if held is None and self._returned and (ours := back(self._returned)):
            if places:
                places.pass_by(ours.text("position"))
            return ours.id
        if held is not None:
            if places:
                places.pass_by(held.text("position"))
            fields = _difference(self._snapshot, held, says) if held.visible else {}
            at_ms = self._task.changed_ms
        else:
            fields = says | made | ({"position": places.take()} if places else {})
            self._draft.made[kind] = self._draft.made.get(kind, 0) + 1
        if fields:
            written = origin(self._format, at_ms)
            self._draft.children.append(Write(identifier, kind, fields, origin=written))
        return identifier

    def _known(self, kind: str, said: Sequence[tuple[str, str]]) -> dict[str, EntityId]:
        """Return the ids of items or entries by their keys; reworded ones have those of what they were."""
        derived = {key: self._derived(key) for key, _ in said}
        if self._format not in REWORDING or self._draft.is_new:
            return derived
        known = known_as(self._snapshot, self._owner, kind, [(derived[key], words) for key, words in said])
        return {key: known.get(one) or self._free(key, one) for key, one in derived.items()}

    def _free(self, key: str, derived: EntityId) -> EntityId:
        """Return an id for what is new: the one of its words may be that of a thing reworded since."""
        nth = 1
        while self._snapshot.entity(derived) is not None:
            nth += 1
            derived = self._derived(f"{key}\nagain\n{nth}")
        return derived

    def _derived(self, key: str) -> EntityId:
        return derived_id("import", self._format, key, time_of=self._owner)

    def _places(self, owner: EntityId, relation: str) -> Places:
        if self._draft.is_new:
            return Places(())
        held = (self._snapshot.entity(one) for one in self._snapshot.referring(owner, relation, removed=True))
        return Places(one.text("position") for one in held if one)


def _difference(snapshot: Snapshot, held: Entity | None, wanted: Mapping[str, Value]) -> Fields:
    """Return the fields in which the file says something else than when it was last imported."""
    if held is None:
        return {name: value for name, value in wanted.items() if value is not None}
    memory = Memory(snapshot, held)
    return {name: value for name, value in wanted.items() if not memory.says(name, value)}


def _is_imports(held: Entity, name: str) -> bool:
    version = held.version(name)
    return version is not None and is_import(version.source)
