"""What a person's reference means among the tasks of series that nobody has touched.

Never guesses between tasks of two series: of one series, a title means its earliest open task.
"""

from daemon.journal.fields.validation import CLOSED
from daemon.journal.recurring.occurrences import Occurrence, nameable_occurrences
from daemon.journal.recurring.series_record import TASK_SERIES, read_series
from daemon.journal.recurring.touching import touch_occurrence
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.snapshot import ID_PREFIX_CHARS_MIN, Snapshot
from store.transaction import Transaction
from syncproto.ids import ID_BYTES, EntityId, id_to_text


def is_of_series(task: Entity) -> bool:
    """Report whether a task follows from a series."""
    return isinstance(task.value(TASK_SERIES), bytes)


def occurrences_with_id(snapshot: Snapshot, prefix: str) -> list[Occurrence]:
    """Return the computed tasks whose id begins so."""
    digits = prefix.strip().lower()
    if len(digits) < ID_PREFIX_CHARS_MIN:
        return []
    occurrences = nameable_occurrences(snapshot)
    return [occurrence for occurrence in occurrences if id_to_text(occurrence.id).startswith(digits)]


def occurrences_named(snapshot: Snapshot, ref: str) -> list[Occurrence]:
    """Return the computed tasks whose id begins with a reference, or whose title is it or contains it."""
    occurrences = nameable_occurrences(snapshot)
    if not occurrences:
        return []
    by_id, key = occurrences_with_id(snapshot, ref), comparison_key(ref.strip())
    if by_id or not key:
        return by_id
    titles = [
        (comparison_key(occurrence.series.entity.text("title")), occurrence) for occurrence in occurrences
    ]
    exact = [occurrence for title, occurrence in titles if title == key]
    return exact or [occurrence for title, occurrence in titles if key in title]


def touched_task(snapshot: Snapshot, task: Entity, named: list[Occurrence]) -> Entity:
    """Return the task; in a transaction, a computed one is written first: somebody is about to touch it."""
    occurrence = next((candidate for candidate in named if candidate.id == task.id), None)
    if occurrence is None or not isinstance(snapshot, Transaction):
        return task
    touch_occurrence(snapshot, occurrence)
    written = snapshot.entity(task.id)
    assert written is not None
    return written


def earliest_of_series(snapshot: Snapshot, tasks: list[Entity]) -> list[Entity]:
    """Return the earliest open task if all are of one series, else all of them."""
    if len(tasks) < 2 or not all(map(is_of_series, tasks)):
        return tasks
    if len({_root_of(snapshot, task) for task in tasks}) > 1:
        return tasks
    still_open = [task for task in tasks if task.text("status") not in CLOSED]
    return sorted(still_open or tasks, key=lambda task: (task.text("due"), task.id))[:1]


def _root_of(snapshot: Snapshot, task: Entity) -> EntityId | None:
    value = task.value(TASK_SERIES)
    series = snapshot.entity(EntityId(value)) if isinstance(value, bytes) and len(value) == ID_BYTES else None
    return None if series is None else read_series(series).root
