"""What lies beneath an entity's values and may still count, read from its history.

Never a whole history: only what shows again once a confirmation is undone, and what an import last said.
"""

from daemon.journal.imports.memory import is_import, when_told
from store.entity import Entity
from store.fold import Source, Version, Written
from store.history import operations
from store.snapshot import Snapshot
from syncproto.codec import Redacted
from syncproto.heads import Chains, covers


class Beneath:
    """Of each field, by its name: `values` in effect but for confirmations, best first; the one `imported`.

    `sources` are those of all writes, dead ones too. Empty where no entity is given.
    """

    def __init__(self, snapshot: Snapshot | None = None, entity: Entity | None = None) -> None:
        self.values: dict[str, list[Version]] = {}
        self.imported: dict[str, list[Version]] = {}
        self.sources: list[Source] = []
        if snapshot is None or entity is None:
            return
        history = list(operations(snapshot, entity.id))
        self.sources = [one.source for one in history]
        for name, current in sorted(entity.row.fields.items()):
            writes = [one for one in history if name in one.operation.fields]
            if len(writes) > len(current):
                self._look(name, current, writes, snapshot.log)

    def _look(self, name: str, current: list[Version], writes: list[Written], chains: Chains) -> None:
        held = {one.source.head for one in current}
        if any(one.source.effect is not None for one in current):
            below = [one for one in _standing(writes, chains) if one.source.head not in held]
            self.values.update(_versions(name, sorted(below, key=lambda one: one.source.order, reverse=True)))
        imports = [one for one in writes if is_import(one.source) and one.source.effect is None]
        last = sorted(imports, key=lambda one: when_told(one.source))[-1:]
        known = held | {one.source.head for one in self.values.get(name, ())}
        self.imported.update(_versions(name, [one for one in last if one.source.head not in known]))


def _standing(writes: list[Written], chains: Chains) -> list[Written]:
    """Return the writes that no confirmation caused and no other such has seen."""
    free = [one for one in writes if one.source.effect is None]
    return [
        one
        for one in free
        if not any(covers(other.operation.base, one.head, chains) for other in free if other is not one)
    ]


def _versions(name: str, writes: list[Written]) -> dict[str, list[Version]]:
    found = [Version(one.source, one.operation.fields[name]) for one in writes]
    whole = [one for one in found if not isinstance(one.value, Redacted)]
    return {name: whole} if whole else {}
