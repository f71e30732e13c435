"""Labels and categories by the names that a file uses.

Never makes one again because a person has renamed it: the name in the file goes on meaning the same one.
"""

from daemon.journal.names import Kind, Names, named_id
from store.snapshot import Snapshot
from store.transaction import Write
from syncproto.ids import EntityId


class Catalogue:
    """The ids behind the names, and the writes for those that are needed and not in sight."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._names: dict[Kind, Names] = {
            "label": Names(snapshot, "label"),
            "category": Names(snapshot, "category"),
        }
        self._ids: dict[tuple[Kind, str], EntityId] = {}

    @property
    def writes(self) -> list[Write]:
        """Return the writes for what was asked for by `need` and is not there."""
        return [write for names in self._names.values() for write in names.writes]

    def id_of(self, kind: Kind, name: str) -> EntityId:
        """Return the id for a name, whether or not there is such a thing yet."""
        if (kind, name) not in self._ids:
            derived = named_id(kind, name)
            known = None if self._snapshot.entity(derived) else self._names[kind].known(name)
            self._ids[kind, name] = known or derived
        return self._ids[kind, name]

    def need(self, kind: Kind, name: str) -> None:
        """Have it made, or brought back, where it is not in sight."""
        held = self._snapshot.entity(self.id_of(kind, name))
        if held is None or not held.visible:
            self._names[kind].id_of(name)
