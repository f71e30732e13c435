"""What the ids in a snapshot refer to: names, devices, and the children of an entity.

Never writes, and never reads the same thing twice: make one lookup per request.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from daemon.journal.fields.imported_provenance import original_write
from daemon.journal.references import names
from daemon.journal.views.structures import ClockJson
from daemon.timestamps import iso_utc
from daemon.words.devices import named_with_id
from daemon.words.short_ids import SHORT_ID_CHARS_MIN
from store.fold import founding
from store.fold.entity import Entity
from store.fold.field_versions import Provenance
from store.queries import device_entries
from store.queries.clock_counters import counters_of
from store.snapshot import Snapshot
from syncproto.codec import Redacted
from syncproto.ids import ID_BYTES, DeviceId, EntityId, ReplicaId, id_from_text, id_to_text
from syncproto.keys import device_id_of_key
from syncproto.vector_clock import VectorClock

DROPPED_TEXT = "(dropped)"
"""What is shown instead of a value that a compaction has dropped."""

ANSWER_TOOL: Final = "answer_question"
"""The tool by which agents offer an answer to a question; its arguments are the question and a number."""
ANSWER_CHARS_MAX: Final = 200

DEVICES_COMPARED_MAX: Final = 200
"""Of a roster with more entries each name is shown with an id, whether another device has it or not."""
_SHARED_NAMES: Final = "shared names of devices"

_RELATIONS_BELOW_TASK = ("agent_task", "task_time")


def clock_json(clock: VectorClock) -> ClockJson:
    """Show a clock as a map from replica, as text, to counter."""
    return {id_to_text(replica): counter for replica, counter in counters_of(clock).items()}


def json_value(value: object) -> Any:
    """Show any value that a field can contain as JSON, with ids as text."""
    if isinstance(value, bytes):
        return id_to_text(value) if len(value) == ID_BYTES else value.hex()
    if isinstance(value, Redacted):
        return DROPPED_TEXT
    if isinstance(value, list):
        return [json_value(element) for element in value]
    if isinstance(value, dict):
        return {key: json_value(element) for key, element in value.items()}
    return value


class ChosenAnswer(NamedTuple):
    """A question of an agent, and the answer that an item is, each on one line."""

    question: str
    answer: str


def answer_in(args: Mapping[str, Any]) -> ChosenAnswer | None:
    """Return the question and the answer of an item with these arguments; None if it answers none.

    Another device may have written anything in them.
    """
    question, answers, number = args.get("question"), args.get("answers"), args.get("number")
    if not isinstance(question, str) or not isinstance(answers, list | tuple) or type(number) is not int:
        return None
    offered = answers[number - 1] if 0 < number <= len(answers) else None
    text = offered.get("text") if isinstance(offered, dict) else None
    if not isinstance(text, str):
        return None
    return ChosenAnswer(
        names.short_text(question, ANSWER_CHARS_MAX), names.short_text(text, ANSWER_CHARS_MAX)
    )


def _entry_device(entry: Entity) -> DeviceId | None:
    """Return the device that an entry of the roster is about, None if it is not the one of its key."""
    key = entry.value("public_key") if entry.kind == founding.DEVICE else None
    device = device_id_of_key(key) if isinstance(key, bytes) else None
    return None if device is None or founding.roster_entity_id(device) != entry.id else device


class NameLookup:
    """The names of labels, categories and devices in one snapshot, each read when it is first needed."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._devices: dict[ReplicaId, DeviceId] = {}
        self._device_names: dict[DeviceId, str] = {}
        self._answers: dict[EntityId, ChosenAnswer | None] = {}

    def time_text(self, stamp_ms: int) -> str:
        """Return when something was stamped as it is shown, as ISO 8601: see `Snapshot.shown_ms`."""
        return iso_utc(self._snapshot.shown_ms(stamp_ms))

    @cached_property
    def labels(self) -> dict[EntityId, str]:
        """Names of the visible labels."""
        return {label: names.shown_name(entity) for label, entity in self.label_entities.items()}

    @cached_property
    def label_entities(self) -> dict[EntityId, Entity]:
        """The visible labels."""
        return {label.id: label for label in self._snapshot.entities("label")}

    @cached_property
    def categories(self) -> dict[EntityId, str]:
        """Names of the visible categories."""
        return names.names_by_id(self._snapshot, "category")

    def device_name(self, device: DeviceId) -> str:
        """Return by which name people know a device, also one that was removed; "" if it has no entry.

        If several have one name, it is followed by the beginning of the id: "laptop (3f2a)".
        """
        name = self.given_device_name(device)
        shared = self._shared_names if name else frozenset()
        return (
            named_with_id(name, device.hex()[:SHORT_ID_CHARS_MIN])
            if shared is None or name in shared
            else name
        )

    def given_device_name(self, device: DeviceId) -> str:
        """Return the name that a device was given, which others may have too; "" if it has no entry.

        Whatever the roster has, one entry is read.
        """
        if device not in self._device_names:
            entry = self._snapshot.entity(founding.roster_entity_id(device))
            is_genuine = entry is not None and _entry_device(entry) == device
            self._device_names[device] = names.shown_name(entry) if entry is not None and is_genuine else ""
        return self._device_names[device]

    @cached_property
    def _shared_names(self) -> frozenset[str] | None:
        """The names that several devices have; None for all, if the roster has too many to compare."""
        recalled, newest = self._snapshot.recall(_SHARED_NAMES), device_entries.newest_change(self._snapshot)
        if recalled is not None and isinstance(recalled[1], tuple) and recalled[1][0] == newest:
            kept: frozenset[str] | None = recalled[1][1]
            return kept
        entries = device_entries.some_entries(self._snapshot, DEVICES_COMPARED_MAX + 1)
        counts = Counter(names.shown_name(entry) for entry in entries if _entry_device(entry) is not None)
        shared = frozenset(name for name, count in counts.items() if count > 1)
        result = shared if len(entries) <= DEVICES_COMPARED_MAX else None
        self._snapshot.remember(_SHARED_NAMES, (newest, result))
        return result

    def read_device_names(self) -> dict[DeviceId, str]:
        """Return the names of all devices in the roster, including those that were removed."""
        devices = [*self._snapshot.entities("device"), *self._snapshot.entities("device", removed=True)]
        keys = [(device.value("public_key"), names.shown_name(device)) for device in devices]
        return {device_id_of_key(key): name for key, name in keys if isinstance(key, bytes)}

    def device_of_replica(self, replica: ReplicaId) -> DeviceId:
        """Return the device that writes as a replica."""
        if replica not in self._devices:
            self._devices[replica] = self._snapshot.device_of(replica)
        return self._devices[replica]

    def writing_device(self, source: Provenance) -> tuple[DeviceId, str]:
        """Return the device on which a value was first written, and its name, "" if that is not known."""
        original = original_write(source)
        if original is not None:
            return original.device, names.short_text(original.device_name)
        device = self.device_of_replica(source.head.replica)
        return device, self.device_name(device)

    def writing_device_name(self, source: Provenance | None) -> str | None:
        """Return the name of the device on which a value was first written, None if it is not known."""
        return None if source is None else self.writing_device(source)[1] or None

    def chosen_answer(self, item: EntityId) -> ChosenAnswer | None:
        """Return the question that an item answers and its answer; None of any other proposal."""
        if item not in self._answers:
            stored = self._snapshot.item(item)
            is_answer = stored is not None and stored.tool == ANSWER_TOOL
            self._answers[item] = answer_in(stored.args) if stored is not None and is_answer else None
        return self._answers[item]

    def field_value_json(self, field: str, value: object) -> Any:
        """Show the value of a field as JSON, a category by its name."""
        if field == "category_id" and isinstance(value, bytes):
            return self._tag_name("category", EntityId(value), removed=True) or json_value(value)
        return json_value(value)

    def field_label(self, field: str, *, removed: bool = False) -> str:
        """Name a field as people do: the membership of a label by the label's name.

        With `removed`, also of one that was removed, whose name another one may have by now.
        """
        prefix, slash, member = field.partition("/")
        if not slash or prefix not in (names.TASK_LABELS, names.LABEL_CATEGORIES):
            return field
        kind = "label" if prefix == names.TASK_LABELS else "category"
        try:
            return f"{prefix}/{self._tag_name(kind, id_from_text(member), removed=removed) or member}"
        except ValueError:
            return field

    def _tag_name(self, kind: str, tag: EntityId, *, removed: bool) -> str:
        """Return the name of a label or category; "" if it is not held, or was removed and is not meant."""
        name = (self.labels if kind == "label" else self.categories).get(tag)
        stored = self._snapshot.entity(tag) if removed and not name else None
        return name or ("" if stored is None or stored.kind != kind else names.shown_name(stored))


class ChildLookup:
    """The visible children of entities in one snapshot, each read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._children: dict[str, dict[EntityId, list[Entity]]] = {}

    def preload(self, tasks: Sequence[EntityId], *, texts: bool) -> None:
        """Read what belongs to these tasks at once, which is cheaper for more than a few of them.

        `texts` includes their entries.
        """
        checklists = self._preload_relation(tasks, "task_checklist")
        self._preload_relation([checklist.id for checklist in checklists], "checklist_item")
        for relation in _RELATIONS_BELOW_TASK:
            self._preload_relation(tasks, relation)
        if texts:
            self._preload_relation(tasks, "task_entry")

    def _preload_relation(self, targets: Sequence[EntityId], relation: str) -> list[Entity]:
        children: dict[EntityId, list[Entity]] = {target: [] for target in targets}
        for target, child in self._snapshot.entities_pointing_at_any(targets, relation):
            children[target].append(child)
        self._children[relation] = children
        return [child for siblings in children.values() for child in siblings]

    def entities_pointing_at(self, target: EntityId, relation: str) -> list[Entity]:
        """Return the visible entities that point at `target` by a relation."""
        children = self._children.setdefault(relation, {})
        if target not in children:
            ids = self._snapshot.ids_pointing_at(target, relation)
            entities = (self._snapshot.entity(child) for child in ids)
            children[target] = [entity for entity in entities if entity is not None]
        return children[target]
