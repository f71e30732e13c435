"""Which tasks in sight have a label, or are of a category.

Never reads a state: the index of words keeps the ids of a task's labels and of its category.
"""

from typing import Any

from store.fold.word_index import label_word
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def tasks_tagged(snapshot: Snapshot, label_or_category: EntityId, limit: int) -> list[EntityId]:
    """Return at most `limit` tasks in sight that have this label, or are of this category."""
    rows: Any = snapshot.db.execute(
        "SELECT id FROM search JOIN entity ON no = search.rowid WHERE search MATCH ? AND visible LIMIT ?",
        (f'tags : "{label_word(label_or_category)}"', limit),
    )
    return [task for (task,) in rows]
