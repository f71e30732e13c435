"""What people see of a journal, as plain values that two moments or two devices can be compared by.

Never contains who wrote a value or when: an undo is a write of its own.
"""

from typing import Any

import msgspec

from daemon.journal import categories, labels, preferences, tasks, time_records
from store.snapshot import Snapshot
from syncproto.vector_clock import Head

_BY_WRITE = frozenset(
    {"vector_clock", "updated_at", "checked_at", "checked_by", "checked_on", "checked_as_proposed", "is_here"}
)


def whole_journal(snapshot: Snapshot) -> Any:
    """Return all that is in sight: tasks with their parts, labels, categories, preferences, times."""
    shown = [
        tasks.list_tasks(snapshot, closed=True, removed=False, brief=False),
        labels.list_labels(snapshot, task=None, removed=False),
        categories.list_categories(snapshot, removed=False),
        preferences.list_preferences(snapshot),
        time_records.list_records(snapshot, None, removed=False, limit=500),
    ]
    return _without(msgspec.to_builtins(shown))


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(part) for key, part in value.items() if key not in _BY_WRITE}
    return [_without(part) for part in value] if isinstance(value, list) else value


def last_head(snapshot: Snapshot) -> Head:
    """Return the newest commit of this store."""
    return snapshot.log.head_at(snapshot.feed_end())
