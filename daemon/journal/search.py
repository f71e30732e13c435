"""Full-text search: the tasks in which words were found, where in them, and the piece of text around.

Never shows what is out of sight unless it is asked for, whichever of its parents was removed.
"""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from daemon.journal.errors import usage
from store.entity import Entity
from store.finding import Finder, Snippet, Term
from store.search import CATEGORY, LABELS, text_fields
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, EntityId, from_text, text

LIMIT_MAX = 100
LIMIT_DEFAULT = 20
PLACES_MAX = 3
LOOKED_AT_MAX = 2000
"""So many places are looked at for one answer: all that was found may lie in one task's notes."""

_UP = {"checklist": "task_id", "entry": "task_id", "time_record": "task_id", "checklist_item": "checklist_id"}
_WORDS_MISSING = "give at least one word to look for"


class Piece(Struct, frozen=True):
    """A piece of a snippet; `hit` where it is what was looked for."""

    text: str
    hit: bool


class Place(Struct, frozen=True):
    """Where in a task words were found: in which field of which entity, and the text around them."""

    id: str
    kind: str
    field: str
    snippet: list[Piece]
    removed: bool = False


class FoundTask(Struct, frozen=True):
    """A task in which something was found, with the best places in it."""

    id: str
    title: str
    status: str
    places: list[Place]
    removed: bool = False


class Found(Struct, frozen=True):
    """What was found, the best first; with `next`, more is found after it, perhaps on the same tasks."""

    tasks: list[FoundTask]
    next: Annotated[int | None, Meta(description="The `after` of the next page; null at the end.")]


class _Hit(NamedTuple):
    """An entity that holds what was looked for, its task, and whether either is out of sight."""

    entity: Entity
    task: Entity
    removed: bool


def search(snapshot: Snapshot, query: str, *, removed: bool, after: int, limit: int) -> Found:
    """Find tasks by words in them: in titles, reasons, items, notes, and by names of labels and categories.

    `removed` looks among what is out of sight too. Raises Refused (usage) for a query without a word.
    """
    finder = Finder(snapshot)
    terms = finder.terms(query)
    if all(term.excluded for term in terms):
        raise usage(f"nothing to search for in {query[:80]!r}", _WORDS_MISSING)
    words = _Words(snapshot, finder, terms)
    found: dict[EntityId, tuple[_Hit, list[Place]]] = {}
    looked_at, more = 0, False
    for hit in _hits(snapshot, finder.ids(terms, after)):
        new = hit is not None and (removed or not hit.removed) and hit.task.id not in found
        more = looked_at >= LOOKED_AT_MAX or (new and len(found) >= limit)
        if more:
            break
        looked_at += 1
        if hit is not None and (removed or not hit.removed):
            _, places = found.setdefault(hit.task.id, (hit, []))
            if len(places) < PLACES_MAX:
                places += words.places(hit)
    shown = [_shown(hit.task, places[:PLACES_MAX]) for hit, places in found.values()]
    return Found(shown, after + looked_at if more else None)


def _shown(task: Entity, places: list[Place]) -> FoundTask:
    status = task.text("status") or "OPEN"
    return FoundTask(text(task.id), task.text("title"), status, places, not task.visible)


def _hits(snapshot: Snapshot, ids: Iterator[EntityId]) -> Iterator[_Hit | None]:
    """Yield what was found with its task; None for what belongs to none."""
    for one in ids:
        entity = snapshot.entity(one)
        top, removed = entity, False
        while top is not None and top.kind in _UP:
            removed = removed or not top.visible
            above = top.value(_UP[top.kind])
            top = snapshot.entity(EntityId(above)) if isinstance(above, bytes) else None
        if entity is None or top is None or top.kind != "task":
            yield None
        else:
            yield _Hit(entity, top, removed or not top.visible)


class _Words:
    """Says where in an entity the words of a query stand."""

    def __init__(self, snapshot: Snapshot, finder: Finder, terms: list[Term]) -> None:
        self._snapshot = snapshot
        self._finder = finder
        self._terms = terms
        self._tags = {one for term in terms if not term.excluded for one in finder.named(term)}

    def places(self, hit: _Hit) -> list[Place]:
        """Return the fields of what was found that hold a word, each with its snippet."""
        entity = hit.entity
        fields = ("title", "reason") if entity.kind == "task" else text_fields(entity.kind)
        found = [
            _place(entity, entity.kind, field, snippet, hit.removed)
            for field in fields
            if (snippet := self._finder.snippet(entity.text(field), self._terms)) is not None
        ]
        return found + [self._tag(one, hit.removed) for one in _tags_of(entity) if one in self._tags]

    def _tag(self, tag: EntityId, removed: bool) -> Place:
        held = self._snapshot.entity(tag)
        assert held is not None, "a name was found, so what bears it is held"
        snippet = self._finder.snippet(held.text("name"), self._terms)
        assert snippet is not None
        return _place(held, held.kind, "name", snippet, removed)


def _place(entity: Entity, kind: str, field: str, snippet: Snippet, removed: bool) -> Place:
    pieces = [Piece(part.text, part.hit) for part in snippet.parts]
    before = [Piece("… ", hit=False)] if snippet.cut_before else []
    behind = [Piece(" …", hit=False)] if snippet.cut_after else []
    return Place(text(entity.id), kind, field, before + pieces + behind, removed)


def _tags_of(task: Entity) -> Iterator[EntityId]:
    """Yield the labels and the category of a task."""
    if task.kind == "task":
        yield from (from_text(one) for one in task.members(LABELS[:-1]) if len(one) == 2 * ID_BYTES)
        category = task.value(CATEGORY)
        if isinstance(category, bytes):
            yield EntityId(category)
