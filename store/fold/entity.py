"""Entities as readers see them: winning values, provenance, concurrent versions, set members.

Never writes, and never folds: it reads what the fold has written.
"""

from store.fold.entity_state import EntityState
from store.fold.field_versions import Provenance, Version
from syncproto.codec import Value, encode
from syncproto.ids import EntityId
from syncproto.vector_clock import VectorClock


class Entity:
    """One entity at one moment."""

    __slots__ = ("id", "state", "visible")

    def __init__(self, entity: EntityId, row: EntityState, visible: bool) -> None:
        self.id = entity
        self.state = row
        self.visible = visible

    @property
    def kind(self) -> str:
        """Return the entity's kind."""
        return self.state.kind

    @property
    def clock(self) -> VectorClock:
        """Return what covers all operations on the entity: the base of a write whose author has seen them."""
        return self.state.clock

    @property
    def exists(self) -> bool:
        """Return whether a creating operation is live."""
        return self.state.exists

    @property
    def created(self) -> Provenance | None:
        """Return the provenance of the earliest live creation."""
        return self.state.born

    def value(self, field: str, default: Value = None) -> Value:
        """Return the winning value of a field."""
        return self.state.fields.value(field) if field in self.state.fields else default

    def text(self, field: str) -> str:
        """Return the winning value of a field if it is text, else the empty string."""
        value = self.value(field)
        return value if isinstance(value, str) else ""

    def version(self, field: str) -> Version | None:
        """Return the winning version of a field."""
        return self.state.fields.winner(field)

    def versions(self, field: str) -> list[Version]:
        """Return the maximal versions of a field, best first."""
        return list(self.state.fields.get(field, ()))

    def fields(self) -> list[str]:
        """Return the names of the fields that have a version."""
        return sorted(self.state.fields)

    def members(self, prefix: str) -> list[str]:
        """Return the members of a set, which is one field per member: `prefix/member`, true if it is in."""
        start = f"{prefix}/"
        return [
            name[len(start) :]
            for name in sorted(self.state.fields)
            if name.startswith(start) and self.state.value(name) is True
        ]

    def conflicts(self) -> dict[str, list[Version]]:
        """Return the fields whose maximal versions differ, with one version per value, best first."""
        conflicts = {}
        for name, values in self.state.fields.competing_values(self.kind):
            # By their bytes: for Python, 1 equals 1.0 and True (PROTOCOL.md §3).
            distinct: dict[bytes, int] = {}
            for index, value in values:
                distinct.setdefault(encode(value), index)
            if len(distinct) > 1:
                conflicts[name] = [self.state.fields.version(name, index) for index in distinct.values()]
        return conflicts
