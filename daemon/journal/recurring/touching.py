"""Writes a task of a series when somebody first touches it: with the id that every device computes.

Never writes as a person: what follows from a series is nobody's word, so it competes with nobody's.
"""

from collections.abc import Iterator
from dataclasses import replace

from daemon.journal.fields.positions import position_between
from daemon.journal.recurring.occurrences import Occurrence
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from syncproto.vector_clock import EMPTY_CLOCK

TODOS_TITLE = "Todos"


def touch_occurrence(tx: Transaction, occurrence: Occurrence) -> None:
    """Write a computed task with its checklist, in a commit before that of what a person does to it.

    Its base is empty: it covers no word of anybody.
    """
    writes = [EntityWrite(occurrence.id, "task", occurrence.fields()), *_checklist_writes(occurrence)]
    tx.commit([replace(write, base=EMPTY_CLOCK) for write in writes], by=AuthorKind.SYSTEM)


def _checklist_writes(occurrence: Occurrence) -> Iterator[EntityWrite]:
    steps, task = occurrence.series.steps, occurrence.id
    if not steps:
        return
    checklist = derived_id("checklist", id_to_text(task), time_of=task)
    place = position_between(None, None)
    yield EntityWrite(checklist, "checklist", {"task_id": task, "title": TODOS_TITLE, "position": place})
    for number, title in enumerate(steps):
        yield EntityWrite(
            step_id(task, title, steps[:number].count(title)),
            "checklist_item",
            {
                "checklist_id": checklist,
                "title": title,
                "is_checked": False,
                "is_archived": False,
                "position": place,
            },
        )
        place = position_between(place, None)


def step_id(task: EntityId, title: str, ordinal: int) -> EntityId:
    """Return the id of an item of the checklist that a task of a series begins with.

    It follows from the title, not from the place: whoever ticks one ticks it whatever the steps become.
    `ordinal` counts the steps of that title that stand before it.
    """
    return derived_id("occurrence step", id_to_text(task), title, ordinal, time_of=task)
