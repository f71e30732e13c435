"""Entities as readers see them: winning values, provenance, siblings, set members.

Never writes, and never folds: it reads what the fold left.
"""

from store.fold import Row, Source, Version
from syncproto.codec import Value
from syncproto.heads import Clock
from syncproto.ids import EntityId


class Entity:
    """One entity at one moment."""

    __slots__ = ("id", "row", "visible")

    def __init__(self, entity: EntityId, row: Row, visible: bool) -> None:
        self.id = entity
        self.row = row
        self.visible = visible

    @property
    def kind(self) -> str:
        """Return the entity's kind."""
        return self.row.kind

    @property
    def clock(self) -> Clock:
        """Return what a write that has seen this state names as its base."""
        return self.row.clock

    @property
    def exists(self) -> bool:
        """Say whether a creating operation is live."""
        return self.row.exists

    @property
    def created(self) -> Source | None:
        """Return the provenance of the earliest live creation."""
        return self.row.born

    def value(self, field: str, default: Value = None) -> Value:
        """Return the winning value of a field."""
        versions = self.row.fields.get(field)
        return versions[0].value if versions else default

    def text(self, field: str) -> str:
        """Return the winning value of a field where it is text, else the empty string."""
        value = self.value(field)
        return value if isinstance(value, str) else ""

    def version(self, field: str) -> Version | None:
        """Return the winning version of a field."""
        versions = self.row.fields.get(field)
        return versions[0] if versions else None

    def versions(self, field: str) -> list[Version]:
        """Return the maximal versions of a field, best first."""
        return list(self.row.fields.get(field, ()))

    def fields(self) -> list[str]:
        """Return the names of the fields that have a version."""
        return sorted(self.row.fields)

    def members(self, prefix: str) -> list[str]:
        """Return the members of a set: it is one field a member, `prefix/member`, true where it is in."""
        start = f"{prefix}/"
        return [
            name[len(start) :]
            for name, versions in sorted(self.row.fields.items())
            if name.startswith(start) and versions[0].value is True
        ]

    def conflicts(self) -> dict[str, list[Version]]:
        """Return the fields whose maximal versions differ in value, each best first, one per value."""
        found = {}
        for name, versions in self.row.fields.items():
            distinct: list[Version] = []
            for version in versions:
                if all(version.value != other.value for other in distinct):
                    distinct.append(version)
            if len(distinct) > 1:
                found[name] = distinct
        return found
