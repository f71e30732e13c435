"""Items and notes of a task that its file repeats, with the same or other words.

Never takes what a person wrote here, or removed here, for a thing that the file reworded.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from daemon.file_formats import FILE_FORMATS
from daemon.formats.core.import_history import ImportHistory
from daemon.formats.core.similarity import TextElement, pair_similar
from daemon.journal.fields.imported_provenance import is_from_import
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Redacted, Value, redaction_of
from syncproto.ids import EntityId

FORMATS_MATCHED_BY_WORDS = frozenset(row.name for row in FILE_FORMATS if row.matches_by_words)
"""Their items and notes are matched by their words: they have no ids unless Placet exported them."""

_WORDS = {"checklist_item": "title", "entry": "text"}


def match_children(
    snapshot: Snapshot,
    task: EntityId,
    kind: str,
    titles: Sequence[tuple[Sequence[EntityId], str]],
    identifiers: Collection[EntityId],
) -> list[EntityId | None]:
    """Return which of a task's items or entries each of the file's is, None for a new one.

    Those of the file are given with the ids that they may have, and their words. None of those in
    `identifiers` is meant: the file names them by their ids.
    """
    entities = {entity.id: entity for entity in _children_ever(snapshot, task, kind)}
    for derived in chain.from_iterable(ids for ids, _ in titles):
        # It may have come under another owner since.
        if derived not in entities and (child := snapshot.entity(derived)):
            entities[derived] = child
    known_children = sorted(
        (
            (_place(snapshot, entity), entity)
            for entity in entities.values()
            if _is_imported(entity) and entity.id not in identifiers
        ),
        key=lambda pair: pair[0],
    )
    pairs = pair_similar(
        [TextElement(ids, text) for ids, text in titles],
        [TextElement([entity.id], _words(snapshot, entity)) for _, entity in known_children],
    )
    return [known_children[pairs[index]][1].id if index in pairs else None for index in range(len(titles))]


def last_imported_texts(snapshot: Snapshot, task: EntityId) -> set[str | Redacted]:
    """Return what the file last contained of a task: its items and notes."""
    entities = (
        entity for kind in _WORDS for entity in _children_ever(snapshot, task, kind) if _is_imported(entity)
    )
    return {_words(snapshot, entity) for entity in entities if entity.visible}


def open_items_beside(snapshot: Snapshot, task: EntityId, matched: Collection[EntityId]) -> list[str]:
    """Return the titles of the open items that came from a file and are none of those that it has now."""
    return [
        entity.text("title")
        for entity in _children_ever(snapshot, task, "checklist_item")
        if entity.id not in matched
        and entity.visible
        and _is_imported(entity)
        and not entity.value("is_checked")
        and not entity.value("is_archived")
    ]


def archived_as_said(snapshot: Snapshot, item: EntityId, is_archived: bool) -> dict[str, Value]:
    """Return what a file says of an item's being archived: without the mark it only takes back its own."""
    entity = snapshot.entity(item)
    was_said = entity is not None and ImportHistory(snapshot, entity).last_value("is_archived") is True
    return {"is_archived": is_archived} if is_archived or was_said else {}


def _children_ever(snapshot: Snapshot, task: EntityId, kind: str) -> Iterator[Entity]:
    """Yield all that points at the task, also what was removed or put into another checklist of it."""
    owners, relation = [task], "task_entry"
    if kind == "checklist_item":
        owners, relation = snapshot.ids_pointing_at(task, "task_checklist", removed=True), "checklist_item"
    for owner in owners:
        entities = (
            snapshot.entity(identifier)
            for identifier in snapshot.ids_pointing_at(owner, relation, removed=True)
        )
        yield from (entity for entity in entities if entity)


def _is_imported(entity: Entity) -> bool:
    return entity.created is not None and is_from_import(entity.created)


def _place(snapshot: Snapshot, entity: Entity) -> tuple[str, EntityId]:
    """Return where the file had it: a person may have moved it since."""
    place = ImportHistory(snapshot, entity).last_value("position")
    return (place if isinstance(place, str) else "", entity.id)


def _words(snapshot: Snapshot, entity: Entity) -> str | Redacted:
    """Return what the file last said; of what is removed only what tells whether it says the same again."""
    words = ImportHistory(snapshot, entity).last_value(_WORDS[entity.kind])
    if isinstance(words, Redacted):
        return words
    text = words if isinstance(words, str) else ""
    # What a person removed must not come back in another wording: only the very same words match it.
    return text if entity.visible else redaction_of(text)
