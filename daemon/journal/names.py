"""Labels and categories by name: found where they are, made at first use.

Never made twice: a name has one derived id on every device, so two that make it while apart make one.
"""

import itertools
import re
from collections.abc import Iterable
from typing import Literal

from daemon.journal import refs, values
from daemon.journal.errors import Code, Refused, not_found
from daemon.journal.values import folded
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import PREFIX_MIN, Snapshot
from store.transaction import Write
from syncproto.heads import Clock, covers
from syncproto.ids import ZERO_ID, EntityId, derived_id, from_text, text

Kind = Literal["label", "category"]

SET = "label_ids"
"""The set of a task's labels: one field per member, `label_ids/<id as text>`."""

SCOPE = "category_ids"
"""The set of categories that a label is for, kept alike; empty: for every task."""

_ID = re.compile("[0-9a-f]{32}")
_BEGINNING = re.compile(f"[0-9a-f]{{{PREFIX_MIN},32}}")


def named_id(kind: Kind, name: str) -> EntityId:
    """Return the id that a label or category gets when its name is first used."""
    return derived_id(kind, folded(name), time_of=ZERO_ID)


def _nth_id(kind: Kind, name: str, nth: int) -> EntityId:
    """Return the id for a name whose earlier ids belong to things that have been renamed since."""
    return derived_id(kind, folded(name), nth, time_of=ZERO_ID) if nth else named_id(kind, name)


class Names:
    """The labels or categories of one snapshot, and the writes for those that were still missing."""

    def __init__(self, snapshot: Snapshot, kind: Kind) -> None:
        self._snapshot = snapshot
        self._kind: Kind = kind
        self._known: dict[str, EntityId] = {}
        for one in snapshot.entities(kind):
            self._known.setdefault(folded(one.text("name")), one.id)
        self.writes: list[Write] = []

    def id_of(self, name: str) -> EntityId:
        """Return the id of what is called `name`, in any case; where nothing is, note the write for it."""
        checked = values.name(name, self._kind)
        key = folded(checked)
        if key not in self._known:
            self._known[key] = self._make(checked)
        return self._known[key]

    def known(self, name: str) -> EntityId | None:
        """Return the id of what is called `name`, None where nothing is."""
        return self._known.get(folded(name))

    def ids_of(self, names: Iterable[str]) -> list[EntityId]:
        """Return the ids of several names, each once."""
        return list(dict.fromkeys(self.id_of(name) for name in names))

    def _make(self, name: str) -> EntityId:
        ids = (_nth_id(self._kind, name, nth) for nth in itertools.count())
        identifier = next(one for one in ids if not self._in_use(one, folded(name)))
        again = self._snapshot.entity(identifier) is not None
        self.writes.append(
            Write(identifier, self._kind, {"name": name, DELETED: False} if again else {"name": name})
        )
        return identifier

    def _in_use(self, identifier: EntityId, key: str) -> bool:
        """Say whether an id stands for something else; what was removed returns under its own name alone."""
        held = self._snapshot.entity(identifier)
        return held is not None and held.exists and (held.visible or folded(held.text("name")) != key)


def by_id(snapshot: Snapshot, kind: Kind) -> dict[EntityId, str]:
    """Return the names of all labels or categories in sight."""
    return {one.id: one.text("name") for one in snapshot.entities(kind)}


def find(snapshot: Snapshot, kind: Kind, ref: str, *, removed: bool = False) -> Entity:
    """Find a label or category by its whole name, in any case, or by the beginning of its id.

    `removed` looks among those out of sight too, after those in sight. Raises Refused: usage, not_found,
    ambiguous where two have this name.
    """
    for unseen in (False, True)[: 1 + removed]:
        named = [
            one for one in snapshot.entities(kind, removed=unseen) if folded(one.text("name")) == folded(ref)
        ]
        if len(named) == 1:
            return named[0]
        if named:
            raise Refused(
                Code.AMBIGUOUS,
                f"{len(named)} of them are called {ref[:80]!r}",
                "give the beginning of an id",
                [refs.candidate(one) for one in named],
            )
    if _BEGINNING.fullmatch(folded(ref)) is None:
        raise not_found(kind, ref, f"`{kind} list` shows their names")
    return refs.entity(snapshot, [kind], ref, removed=removed)


def ids_called(snapshot: Snapshot, kind: Kind, name: str) -> set[EntityId]:
    """Return all in sight that have this name: devices that renamed while apart may have made it two."""
    return {one.id for one in snapshot.entities(kind) if folded(one.text("name")) == folded(name)}


def is_for(label: Entity, category: EntityId | None) -> bool:
    """Say whether a label is for tasks of this category (None: of none)."""
    scope = members(label, SCOPE)
    return not scope or category in scope


def members(entity: Entity, prefix: str) -> list[EntityId]:
    """Return the ids in a set; what is no id is left out."""
    return [from_text(one) for one in entity.members(prefix) if _ID.fullmatch(one)]


def members_seen(snapshot: Snapshot, entity: Entity, prefix: str, clock: Clock | None) -> set[EntityId]:
    """Return the ids in a set that whoever was shown this clock saw in it; None: all that are in it."""
    found = set(members(entity, prefix))
    if clock is None:
        return found
    return {
        one
        for one in found
        for version in entity.versions(f"{prefix}/{text(one)}")
        if version.value is True and covers(clock, version.source.head, snapshot.log)
    }


def category_of(task: Entity) -> EntityId | None:
    """Return the id of a task's category."""
    value = task.value("category_id")
    return EntityId(value) if isinstance(value, bytes) else None
