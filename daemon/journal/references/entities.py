"""What a person's reference means: a full id, a short prefix of one, or part of a task's title.

Never guesses: what could mean two things is refused with both of them named.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from daemon.journal.fields.validation import CLOSED, as_line
from daemon.journal.references.series_tasks import (
    earliest_of_series,
    is_of_series,
    occurrences_named,
    occurrences_with_id,
    touched_task,
)
from daemon.refusal import Candidate, RefusalCode, Refused, not_found_refusal, usage_error
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.queries.clock_counters import clock_from_counters
from store.queries.projections import task_titles
from store.queries.word_search import WordSearch
from store.sentence import Sentence, sentence
from store.snapshot import ID_PREFIX_CHARS_MIN, Snapshot
from syncproto.ids import EntityId, ReplicaId, id_from_text, id_to_text
from syncproto.vector_clock import VectorClock

_LIST_HINT = sentence("tasks-listed", "`placet list --all` shows all tasks, --removed the removed ones")
CANDIDATES_MAX = 8
TITLES_MAX = 50
WHOLE_ID_HINT = sentence("give-whole-id", "give the whole id")
ID_FORMAT_HINT = sentence("id-format", "an id is up to 32 of the characters 0-9 and a-f")
_DIGITS = frozenset("0123456789abcdef")
_HEX = re.compile(r"[0-9a-f]{3,32}")
assert ID_PREFIX_CHARS_MIN == 3


def find_task(snapshot: Snapshot, ref: str, *, removed: bool = False, untouched: bool = True) -> Entity:
    """Find the task that `ref` names; `removed` looks among those out of sight too, if none is in sight.

    Without `untouched`, the tasks of series that nobody has touched are none.
    Raises Refused: usage for an empty or too short reference, not_found, ambiguous.
    """
    by_id = _by_id(snapshot, ("task",), ref)
    if by_id is not None and by_id.id == _full(ref):
        return _in_sight(by_id, "task", removed)
    named = occurrences_named(snapshot, ref) if untouched else []
    entities = _by_title(snapshot, ref, removed)
    prefixed = _with_id_prefix(snapshot, ("task",), ref)
    computed = [occurrence.entity() for occurrence in named]
    together = _visible_or_removed([*prefixed, *entities, *computed], removed) or _visible_or_removed(
        _by_letters(snapshot, ref, removed), removed
    )
    if not together and prefixed:
        return _in_sight(prefixed[0], "task", removed)
    task = only_of(earliest_of_series(snapshot, list(together.values())), "task", ref)
    return touched_task(snapshot, task, named)


def find_entity(
    snapshot: Snapshot, kinds: Sequence[str], ref: str, *, removed: bool = False, noun: str = ""
) -> Entity:
    """Find the entity of one of these kinds whose id begins with `ref`. Raises Refused as `task` does."""
    noun = noun or kinds[0].replace("_", " ")
    if not is_id_prefix(ref):
        raise not_found_refusal(noun, ref, ID_FORMAT_HINT)
    entity = _by_id(snapshot, kinds, ref)
    if entity is None:
        prefixed = _with_id_prefix(snapshot, kinds, ref)
        named = occurrences_with_id(snapshot, ref) if "task" in kinds else []
        untouched = [occurrence.entity() for occurrence in named]
        visible = [match for match in (*prefixed, *untouched) if match.visible or removed]
        entity = touched_task(snapshot, only_of(visible or prefixed, noun, ref), named)
    return _in_sight(entity, noun, removed)


def find_by_full_id(
    snapshot: Snapshot,
    kind: str,
    ref: str,
    is_meant: Callable[[Entity], bool] = lambda _entity: True,
    hint: Sentence = WHOLE_ID_HINT,
    *,
    untouched: bool = True,
) -> Entity:
    """Find the entity of a kind that has this whole id, in sight or not. Raises Refused (not_found).

    One that is not meant is refused as if it were not there; so is, without `untouched`, a computed task.
    """
    entity = _by_id(snapshot, (kind,), ref)
    if entity is None and untouched and kind == "task" and _full(ref) is not None:
        named = occurrences_with_id(snapshot, ref)
        entity = touched_task(snapshot, named[0].entity(), named) if named else None
    if entity is None or not is_meant(entity):
        raise not_found_refusal(kind.replace("_", " "), ref, hint)
    return entity


def entity_by_full_id(snapshot: Snapshot, ref: str) -> Entity | None:
    """Return the entity of that full id, of whatever kind, also one that this version does not know."""
    full = _full(ref)
    return None if full is None else snapshot.entity(full)


def is_id_prefix(ref: str) -> bool:
    """Report whether `ref` can be the beginning of an id. Raises Refused (usage) if it is too short."""
    prefix = ref.strip().lower()
    if len(prefix) < ID_PREFIX_CHARS_MIN and all(letter in _DIGITS for letter in prefix):
        raise usage_error(
            sentence("id-too-short", "{ref!r} is too short for an id", ref=ref),
            sentence("give-characters", "give at least {count} characters", count=ID_PREFIX_CHARS_MIN),
        )
    return _HEX.fullmatch(prefix) is not None


BaseClock = Annotated[
    dict[str, int] | None, Meta(description="The vector_clock that was shown; without it, the current one.")
]


def resolve_base_clock(
    snapshot: Snapshot, entity: Entity, shown_counters: Mapping[str, int] | None
) -> VectorClock | None:
    """Turn the clock that a page or script was shown back into heads; None if none was given.

    Raises Refused: usage for what is no clock, stale for one of commits that are not held.
    """
    # Whoever saw a task of a series that nobody had touched saw no clock.
    if shown_counters is None or (not shown_counters and is_of_series(entity)):
        return None
    try:
        counters = {ReplicaId(id_from_text(replica)): counter for replica, counter in shown_counters.items()}
    except ValueError as error:
        raise usage_error(
            sentence("not-a-vector-clock", "not a vector clock: {fault}", fault=str(error))
        ) from None
    clock = clock_from_counters(snapshot, entity.clock, counters) if counters else None
    if not clock:
        raise Refused(
            RefusalCode.STALE,
            sentence("unknown-vector-clock", "the given vector clock is not one that was shown here"),
            sentence("read-again", "read it again"),
        )
    return clock


def removed_refusal(kind: str, entity: Entity) -> Refused:
    """Make the refusal of something that was removed; `kind` is its kind in words."""
    title = as_candidate(entity).title
    return Refused(
        RefusalCode.NOT_FOUND,
        sentence("was-removed", "the {kind} {title!r} was removed", kind=kind, title=title),
        sentence("restore-first", "restore it first"),
    )


def as_candidate(entity: Entity) -> Candidate:
    """Name an entity so that a person can tell it from others."""
    return Candidate(id_to_text(entity.id), entity.text("title") or entity.text("name") or entity.kind)


def _full(ref: str) -> EntityId | None:
    try:
        return id_from_text(ref.strip().lower())
    except ValueError:
        return None


def _by_id(snapshot: Snapshot, kinds: Sequence[str], ref: str) -> Entity | None:
    full = _full(ref)
    entity = None if full is None else snapshot.entity(full)
    return entity if entity is not None and entity.kind in kinds and entity.exists else None


def _with_id_prefix(snapshot: Snapshot, kinds: Sequence[str], ref: str) -> list[Entity]:
    prefix = ref.strip().lower()
    if not _HEX.fullmatch(prefix):
        return []
    return _existing_entities(snapshot, snapshot.ids_with_prefix(kinds, prefix, CANDIDATES_MAX + 1))


def _existing_entities(snapshot: Snapshot, ids: Iterable[EntityId]) -> list[Entity]:
    entities = (snapshot.entity(identifier) for identifier in ids)
    return [entity for entity in entities if entity is not None and entity.exists]


def _by_title(snapshot: Snapshot, ref: str, removed: bool) -> list[Entity]:
    """Return the tasks whose title is `ref`, or else those that contain its words in a row.

    The last word may be the beginning of one.
    """
    wanted = comparison_key(as_line(ref))
    if not wanted:
        raise usage_error(sentence("reference-empty", "a reference cannot be empty"))
    entities = WordSearch(snapshot).tasks_titled(ref, TITLES_MAX, removed=removed)
    return [entity for entity in entities if comparison_key(entity.text("title")) == wanted] or entities


def open_task_titled(
    snapshot: Snapshot,
    title: str,
    besides: EntityId | None = None,
    is_meant: Callable[[Entity], bool] = lambda _task: True,
) -> Entity | None:
    """Return a visible task with this very title that is not done, if there is one; `besides` is left out.

    `is_meant` says of each whether it counts.

    Of the tasks whose title contains these words, the fifty that fit best are looked at.
    """
    wanted = comparison_key(title)
    tasks = WordSearch(snapshot).tasks_titled(title, TITLES_MAX)
    return next(
        (
            task
            for task in tasks
            if task.id != besides
            and comparison_key(task.text("title")) == wanted
            and task.text("status") not in CLOSED
            and is_meant(task)
        ),
        None,
    )


def _by_letters(snapshot: Snapshot, ref: str, removed: bool) -> list[Entity]:
    """Return the tasks titled `ref`, or else those of whose title it is a part, be it inside a word.

    Reads every title.
    """
    wanted, exact, others = comparison_key(as_line(ref)), list[EntityId](), list[EntityId]()
    for identifier, title in task_titles(snapshot, removed=removed):
        if wanted in (key := comparison_key(title)):
            (exact if key == wanted else others).append(identifier)
    return _existing_entities(snapshot, (exact or others)[:TITLES_MAX])


def _visible_or_removed(entities: Iterable[Entity], removed: bool) -> dict[EntityId, Entity]:
    """Return those in sight; if there are none and `removed` is set, return the others."""
    stored_entities = {entity.id: entity for entity in entities}
    return {
        name: stored_entity for name, stored_entity in stored_entities.items() if stored_entity.visible
    } or (stored_entities if removed else {})


def only_of(entities: list[Entity], noun: str, ref: str) -> Entity:
    """Return the one entity that a reference means. Raises Refused (not_found, ambiguous)."""
    if len(entities) == 1:
        return entities[0]
    if not entities:
        raise not_found_refusal(noun, ref, _LIST_HINT if noun == "task" else None)
    count = min(len(entities), CANDIDATES_MAX)
    message = (
        sentence("ambiguous-or-more", "{ref!r} could mean {count} or more of them", ref=ref[:80], count=count)
        if len(entities) > CANDIDATES_MAX
        else sentence("ambiguous", "{ref!r} could mean {count} of them", ref=ref[:80], count=count)
    )
    raise Refused(
        RefusalCode.AMBIGUOUS,
        message,
        sentence("give-more", "give more of the id or of the title"),
        [as_candidate(entity) for entity in entities[:CANDIDATES_MAX]],
    )


def _in_sight(entity: Entity, noun: str, removed: bool) -> Entity:
    if entity.visible or removed:
        return entity
    raise removed_refusal(noun, entity)
