"""Labels and categories by name: existing ones are found, new ones are made at first use.

Never made twice: a name has one derived id on every device, so two that make it while apart make one.
"""

import itertools
from collections.abc import Iterable, Mapping

from daemon.journal.fields import validation
from daemon.journal.references.names import NamedKind, nth_id
from daemon.text_comparison import comparison_key
from store.fold.entity_state import DELETED
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto.ids import EntityId


class KnownNames:
    """The labels and categories in sight by name, kept for one feed position: all are not read twice.

    Never right for another position: `note_written` moves it on past what its owner wrote itself.
    """

    def __init__(self) -> None:
        self._position: int | None = None
        self._names: dict[NamedKind, dict[str, EntityId]] = {}

    def read(self, snapshot: Snapshot, kind: NamedKind) -> Mapping[str, EntityId]:
        """Return the ids of a kind by comparison keys of names."""
        if (position := snapshot.feed_end()) != self._position:
            self._position, self._names = position, {}
        if kind not in self._names:
            names: dict[str, EntityId] = {}
            for entity in snapshot.entities(kind):
                names.setdefault(comparison_key(entity.text("name")), entity.id)
            self._names[kind] = names
        return self._names[kind]

    def note_written(self, registries: Iterable["NameRegistry"], position: int) -> None:
        """Add the names that were made; the feed now ends at `position`, and has no other news of names."""
        for registry in registries:
            if registry.kind in self._names:
                self._names[registry.kind].update(registry.made)
        self._position = position


class NameRegistry:
    """The labels or categories of one snapshot, and the writes for those that were still missing.

    All names are read when the first is asked for; `known_names` keeps them for the next registry.
    """

    def __init__(self, snapshot: Snapshot, kind: NamedKind, known_names: KnownNames | None = None) -> None:
        self._snapshot = snapshot
        self.kind: NamedKind = kind
        self._known_names = known_names or KnownNames()
        self.made: dict[str, EntityId] = {}
        self.writes: list[EntityWrite] = []

    def id_to_use(self, name: str) -> EntityId:
        """Return the id of what is called `name`, ignoring case; if there is none, note the write for it."""
        checked = validation.checked_name(name, self.kind)
        key = comparison_key(checked)
        identifier = self._find(key)
        if identifier is None:
            identifier = self.made[key] = self._make(checked)
        return identifier

    def id_in_use(self, name: str) -> EntityId | None:
        """Return the id of what is called `name`, None if there is none."""
        return self._find(comparison_key(validation.as_line(name)))

    def ids_to_use(self, names: Iterable[str]) -> list[EntityId]:
        """Return the ids of several names, each once."""
        return list(dict.fromkeys(self.id_to_use(name) for name in names))

    def _find(self, key: str) -> EntityId | None:
        return self.made.get(key) or self._known_names.read(self._snapshot, self.kind).get(key)

    def _make(self, name: str) -> EntityId:
        ids = (nth_id(self.kind, name, nth) for nth in itertools.count())
        identifier = next(candidate for candidate in ids if not self._in_use(candidate, comparison_key(name)))
        again = self._snapshot.entity(identifier) is not None
        self.writes.append(
            EntityWrite(identifier, self.kind, {"name": name, DELETED: False} if again else {"name": name})
        )
        return identifier

    def _in_use(self, identifier: EntityId, key: str) -> bool:
        """Say whether an id stands for something else; what was removed returns under its own name alone."""
        entity = self._snapshot.entity(identifier)
        return (
            entity is not None
            and entity.exists
            and (entity.visible or comparison_key(entity.text("name")) != key)
        )
