"""Full-text search: the tasks in which words were found, where in them, and the piece of text around.

Never shows what is out of sight unless it is asked for, whichever of its parents was removed.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from daemon.journal.recurring.occurrences import nameable_occurrences
from daemon.journal.recurring.series_record import KIND as SERIES
from daemon.journal.references.task_filters import ResolvedFilter, begins_after
from daemon.journal.views.sorted_tasks import TaskOrder, TaskState, sort_states
from daemon.refusal import usage_error
from store.fold.entity import Entity
from store.fold.word_index import CATEGORY_FIELD, LABEL_FIELD_PREFIX, searchable_fields
from store.queries import projections
from store.queries.task_ranges import count_beginning_after
from store.queries.word_search import SearchTerm, Snippet, WordSearch
from store.sentence import sentence
from store.snapshot import Snapshot
from syncproto.ids import ID_BYTES, EntityId, id_from_text, id_to_text

LIMIT_MAX = 100
LIMIT_DEFAULT = 20
PLACES_MAX = 3
MATCHES_SEARCHED_MAX = 2000
"""So many places are looked at for one answer: all that was found may lie in one task's notes."""

_UP = {"checklist": "task_id", "entry": "task_id", "time_record": "task_id", "checklist_item": "checklist_id"}
_WORDS_MISSING = sentence("give-a-word", "give at least one word to look for")


class Piece(Struct, frozen=True):
    """A piece of a snippet; `hit` if it is what was looked for."""

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
    """What was found, the best first; with `next`, more is found after it, perhaps on the same tasks.

    `begin_later` counts the tasks that were left out up to there because they have not begun.
    """

    tasks: list[FoundTask]
    next: Annotated[int | None, Meta(description="The `after` of the next page; null at the end.")]
    begin_later: int = 0


class _Hit(NamedTuple):
    """An entity that matches the query, its task, and whether either is out of sight."""

    entity: Entity
    task: Entity
    removed: bool


def search_tasks(
    snapshot: Snapshot, query: str, *, removed: bool, after: int, limit: int, begun_by: str | None = None
) -> Found:
    """Find tasks by words in them: in titles, reasons, items, notes, and by names of labels and categories.

    Of a series, its first task that nobody has touched is found by its title.

    `removed` looks among what is out of sight too. With `begun_by`, a day, open tasks whose start lies behind
    it are left out. Raises Refused (usage) for a query without a word.
    """
    finder = WordSearch(snapshot)
    terms = _terms(finder, query)
    words = _Words(snapshot, finder, terms)
    hits_by_task: dict[EntityId, tuple[_Hit, list[Place]]] = {}
    later: set[EntityId] = set()
    looked_at, more = 0, False
    for match in _hits(snapshot, finder.matching_ids(terms, after)):
        hit = match
        if hit is not None and not hit.removed and begins_after(hit.task.value, begun_by):
            later.add(hit.task.id)
            hit = None
        new = hit is not None and (removed or not hit.removed) and hit.task.id not in hits_by_task
        more = looked_at >= MATCHES_SEARCHED_MAX or (new and len(hits_by_task) >= limit)
        if more:
            break
        looked_at += 1
        if hit is not None and (removed or not hit.removed):
            _, places = hits_by_task.setdefault(hit.task.id, (hit, []))
            if len(places) < PLACES_MAX:
                places += words.places(hit)
    tasks_found = [_found_task(hit.task, places[:PLACES_MAX]) for hit, places in hits_by_task.values()]
    return Found(tasks_found, after + looked_at if more else None, len(later))


def found_states(
    snapshot: Snapshot,
    query: str,
    order: TaskOrder,
    *,
    wanted: ResolvedFilter | None,
    count: int,
    begun_by: str | None = None,
) -> list[TaskState]:
    """Return the states of the first `count` tasks in sight in which words are found; see `search_tasks`.

    In the order of their making the best come first. With another order, or a filter, they are those of the
    MATCHES_SEARCHED_MAX best places.
    """
    is_narrowed = wanted is not None or order is not TaskOrder.MADE
    tasks = _matching_tasks(snapshot, query, MATCHES_SEARCHED_MAX if is_narrowed else count, begun_by)
    state_by_task = projections.states_of(snapshot, tasks)
    if len(state_by_task) < len(tasks):
        state_by_task |= {
            task.id: task.state() for task in nameable_occurrences(snapshot) if task.id in tasks
        }
    states = [
        (task, state_by_task[task])
        for task in tasks
        if wanted is None or wanted.matches(projections.winning_values(state_by_task[task]))
    ]
    return sort_states(states, order)[:count]


def count_found_later(snapshot: Snapshot, query: str, *, wanted: ResolvedFilter | None, begun_by: str) -> int:
    """Count the tasks in sight in which words are found, and which `found_states` leaves out for their start.

    It looks at the MATCHES_SEARCHED_MAX best places.
    """
    if not count_beginning_after(snapshot, begun_by):
        return 0
    tasks = _matching_tasks(snapshot, query, MATCHES_SEARCHED_MAX, None)
    values = map(projections.winning_values, projections.states_of(snapshot, tasks).values())
    return sum(
        begins_after(task.get, begun_by) and (wanted is None or wanted.matches(task)) for task in values
    )


def _matching_tasks(snapshot: Snapshot, query: str, limit: int, begun_by: str | None) -> list[EntityId]:
    finder = WordSearch(snapshot)
    tasks: dict[EntityId, None] = {}
    matches = finder.matching_ids(_terms(finder, query), 0)
    for hit in _hits(snapshot, islice(matches, MATCHES_SEARCHED_MAX)):
        if hit is not None and not hit.removed and not begins_after(hit.task.value, begun_by):
            tasks[hit.task.id] = None
        if len(tasks) >= limit:
            break
    return list(tasks)


def _terms(finder: WordSearch, query: str) -> list[SearchTerm]:
    terms = finder.parse_query(query)
    if all(term.excluded for term in terms):
        raise usage_error(
            sentence("nothing-to-search", "nothing to search for in {query!r}", query=query[:80]),
            _WORDS_MISSING,
        )
    return terms


def _found_task(task: Entity, places: list[Place]) -> FoundTask:
    status = task.text("status") or "OPEN"
    return FoundTask(id_to_text(task.id), task.text("title"), status, places, not task.visible)


def _hits(snapshot: Snapshot, ids: Iterator[EntityId]) -> Iterator[_Hit | None]:
    """Yield what was found with its task; None for what belongs to none."""
    for identifier in ids:
        entity = snapshot.entity(identifier)
        if entity is not None and entity.kind == SERIES:
            yield _next_of_series(snapshot, entity)
            continue
        top, removed = entity, False
        while top is not None and top.kind in _UP:
            removed = removed or not top.visible
            above = top.value(_UP[top.kind])
            top = snapshot.entity(EntityId(above)) if isinstance(above, bytes) else None
        if entity is None or top is None or top.kind != "task":
            yield None
        else:
            yield _Hit(entity, top, removed or not top.visible)


def _next_of_series(snapshot: Snapshot, series: Entity) -> _Hit | None:
    """Return the first task of a series that nobody has touched; None if there is none."""
    task = next((task for task in nameable_occurrences(snapshot) if task.series.id == series.id), None)
    return None if task is None else _Hit(series, task.entity(), removed=False)


class _Words:
    """Locates the words of a query in the fields of an entity."""

    def __init__(self, snapshot: Snapshot, finder: WordSearch, terms: list[SearchTerm]) -> None:
        self._snapshot = snapshot
        self._finder = finder
        self._terms = terms
        self._tags = {
            identifier for term in terms if not term.excluded for identifier in finder.labels_matching(term)
        }

    def places(self, hit: _Hit) -> list[Place]:
        """Return the fields of the matched entity that contain a word, each with its snippet."""
        entity = hit.entity
        fields = ("title", "reason") if entity.kind == "task" else searchable_fields(entity.kind)
        places = [
            _place(entity, entity.kind, field, snippet, hit.removed)
            for field in fields
            if (snippet := self._finder.snippet(entity.text(field), self._terms)) is not None
        ]
        return places + [self._tag(tag, hit.removed) for tag in _tags_of(entity) if tag in self._tags]

    def _tag(self, tag: EntityId, removed: bool) -> Place:
        entity = self._snapshot.entity(tag)
        assert entity is not None, "a name was found, so what bears it is held"
        snippet = self._finder.snippet(entity.text("name"), self._terms)
        assert snippet is not None
        return _place(entity, entity.kind, "name", snippet, removed)


def _place(entity: Entity, kind: str, field: str, snippet: Snippet, removed: bool) -> Place:
    pieces = [Piece(part.text, part.is_match) for part in snippet.parts]
    before = [Piece("… ", hit=False)] if snippet.cut_before else []
    behind = [Piece(" …", hit=False)] if snippet.cut_after else []
    return Place(id_to_text(entity.id), kind, field, before + pieces + behind, removed)


def _tags_of(task: Entity) -> Iterator[EntityId]:
    """Yield the labels and the category of a task."""
    if task.kind == "task":
        yield from (
            id_from_text(member)
            for member in task.members(LABEL_FIELD_PREFIX[:-1])
            if len(member) == 2 * ID_BYTES
        )
        category = task.value(CATEGORY_FIELD)
        if isinstance(category, bytes):
            yield EntityId(category)
