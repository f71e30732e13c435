"""Labels and categories by name: how they are found and shown, and which ids their names give.

Never makes one: `name_registry` does.
"""

import re
from typing import Literal

from daemon.journal.fields import validation
from daemon.journal.references import entities
from daemon.refusal import RefusalCode, Refused, not_found_refusal
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.sentence import sentence
from store.snapshot import ID_PREFIX_CHARS_MIN, Snapshot
from syncproto.ids import ZERO_ID, EntityId, derived_id, id_from_text, id_to_text
from syncproto.vector_clock import VectorClock, covers

NamedKind = Literal["label", "category"]

TASK_LABELS = "label_ids"
"""The set of a task's labels: one field per member, `label_ids/<id as text>`."""

LABEL_CATEGORIES = "category_ids"
"""The set of categories that a label is for, kept alike; empty: for every task."""

_ID = re.compile("[0-9a-f]{32}")
_BEGINNING = re.compile(f"[0-9a-f]{{{ID_PREFIX_CHARS_MIN},32}}")


def id_from_name(kind: NamedKind, name: str) -> EntityId:
    """Return the id that a label or category gets when its name is first used."""
    return derived_id(kind, comparison_key(name), time_of=ZERO_ID)


def nth_id(kind: NamedKind, name: str, nth: int) -> EntityId:
    """Return the id for a name whose earlier ids belong to things that have been renamed since."""
    return derived_id(kind, comparison_key(name), nth, time_of=ZERO_ID) if nth else id_from_name(kind, name)


def shown_name(entity: Entity) -> str:
    """Return the title or name of something as it stands beside other things: no longer than a title may be.

    Only what shows the thing itself shows a longer one. Another program may have written a title that fills a
    commit, and thousands of things that each name it in some bytes.
    """
    return short_text(entity.text("title") or entity.text("name"))


def short_text(text: str, most: int = validation.TITLE_CHARS_MAX) -> str:
    """Return a text, or the beginning of one that is longer than any title, or than so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def names_by_id(snapshot: Snapshot, kind: NamedKind) -> dict[EntityId, str]:
    """Return the names of all labels or categories in sight."""
    return {entity.id: shown_name(entity) for entity in snapshot.entities(kind)}


def find_named(snapshot: Snapshot, kind: NamedKind, ref: str, *, removed: bool = False) -> Entity:
    """Find a label or category by its whole name, in any case, or by the beginning of its id.

    `removed` looks among those out of sight too, after those in sight. Raises Refused: usage, not_found,
    ambiguous if two have this name.
    """
    key = _key(ref)
    for unseen in (False, True)[: 1 + removed]:
        matching_entities = [
            entity
            for entity in snapshot.entities(kind, removed=unseen)
            if comparison_key(entity.text("name")) == key
        ]
        if len(matching_entities) == 1:
            return matching_entities[0]
        if matching_entities:
            raise Refused(
                RefusalCode.AMBIGUOUS,
                sentence(
                    "ambiguous-name",
                    "{count} of them are called {name!r}",
                    count=len(matching_entities),
                    name=ref[:80],
                ),
                sentence("give-id-beginning", "give the beginning of an id"),
                [entities.as_candidate(matching_entity) for matching_entity in matching_entities],
            )
    if _BEGINNING.fullmatch(key) is None:
        raise not_found_refusal(
            kind, ref, sentence("names-listed", "`{noun} list` shows their names", noun=kind)
        )
    return entities.find_entity(snapshot, [kind], ref, removed=removed)


def ids_named(snapshot: Snapshot, kind: NamedKind, name: str) -> set[EntityId]:
    """Return all in sight that have this name: devices that renamed while apart may have made it two."""
    key = _key(name)
    return {entity.id for entity in snapshot.entities(kind) if comparison_key(entity.text("name")) == key}


def _key(ref: str) -> str:
    return comparison_key(validation.as_line(ref))


def label_allows_category(label: Entity, category: EntityId | None) -> bool:
    """Say whether a label is for tasks of this category (None: of none)."""
    scope = member_ids(label, LABEL_CATEGORIES)
    return not scope or category in scope


def is_id_text(text: str) -> bool:
    """Report whether a text is an id: a member may have signed anything as one of a set."""
    return _ID.fullmatch(text) is not None


def member_ids(entity: Entity, prefix: str) -> list[EntityId]:
    """Return the ids in a set; what is no id is left out."""
    return [id_from_text(member) for member in entity.members(prefix) if is_id_text(member)]


def member_ids_seen_at(
    snapshot: Snapshot, entity: Entity, prefix: str, clock: VectorClock | None
) -> set[EntityId]:
    """Return the ids in a set that whoever was shown this clock saw in it; None: all that are in it."""
    members = set(member_ids(entity, prefix))
    if clock is None:
        return members
    return {
        member
        for member in members
        for version in entity.versions(f"{prefix}/{id_to_text(member)}")
        if version.value is True and covers(clock, version.source.head, snapshot.log)
    }


def category_id_of(task: Entity) -> EntityId | None:
    """Return the id of a task's category."""
    value = task.value("category_id")
    return EntityId(value) if isinstance(value, bytes) else None
