"""What lists of entities are cut and ordered by: columns beside the folded state that follow from it.

Never holds anything that the state does not.
"""

from typing import Final

from store.fold import Row, visible
from syncproto.heads import Chains

CLOSED: Final = frozenset({"DONE", "REJECTED"})
"""The statuses of a task that is over."""


def listed(row: Row, chains: Chains) -> tuple[str, int, int, int, int]:
    """Return kind, whether in sight, whether closed, and the stamp (ms, n) of the birth; zeros for none."""
    closed = row.kind == "task" and row.value("status") in CLOSED
    made = (0, 0) if row.born is None else (row.born.ms, row.born.n)
    return (row.kind, int(visible(row, chains)), int(closed), *made)
