"""The columns by which lists of entities are filtered and ordered; they follow from the folded state.

Never contains anything that the state does not.
"""

from typing import Final

from store.fold.entity_state import DELETED, EntityState, is_visible
from store.fold.lone_creation import LoneCreation
from syncproto.codec import are_equal
from syncproto.vector_clock import Chains

CLOSED_STATUSES: Final = frozenset({"DONE", "REJECTED"})
"""The statuses of a task that is over."""


def columns_of(row: EntityState, chains: Chains) -> tuple[str, int, int, int, int, int]:
    """Return kind, visible, closed, disputed, and the stamp (ms, n) of the creation, zeros without one."""
    made_at = (0, 0) if row.born is None else (row.born.ms, row.born.n)
    visible = is_visible(row, chains)
    return (row.kind, int(visible), int(_is_over(row)), int(visible and needs_settling(row)), *made_at)


def columns_of_lone_creation(row: LoneCreation) -> tuple[str, int, int, int, int, int]:
    """Return the same for an entity that only its creation has written: visible, nothing to settle."""
    return (row.kind, 1, int(_is_over(row)), 0, *row.creation_stamp)


def _is_over(row: EntityState | LoneCreation) -> bool:
    """Return whether a task is closed, or a time record has ended."""
    if row.kind == "task":
        status = row.value("status")
        # Fields have no types: a list that a peer wrote cannot be looked up in a set.
        return isinstance(status, str) and status in CLOSED_STATUSES
    ended = row.value("ended_at") if row.kind == "time_record" else None
    return isinstance(ended, str) and ended != ""


def needs_settling(row: EntityState) -> bool:
    """Return whether a visible entity has something to settle: a field of several values, or a deletion."""
    tombs = row.fields.get(DELETED)
    if tombs is not None and any(version.value is True for version in tombs):
        return True
    for _, values in row.fields.competing_values():
        best = values[0]
        if not all(are_equal(value, best) for value in values):
            return True
    return False
