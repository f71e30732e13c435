"""What lists of entities are cut and ordered by: columns beside the folded state that follow from it.

Never holds anything that the state does not.
"""

from typing import Final

from store.alone import Alone
from store.fold import DELETED, Row, Version, visible
from syncproto.heads import Chains

CLOSED: Final = frozenset({"DONE", "REJECTED"})
"""The statuses of a task that is over."""


def listed(row: Row, chains: Chains) -> tuple[str, int, int, int, int, int]:
    """Return kind, whether in sight, closed, disputed, and the stamp (ms, n) of the birth; zeros for none."""
    made = (0, 0) if row.born is None else (row.born.ms, row.born.n)
    shown = visible(row, chains)
    return (row.kind, int(shown), int(_is_over(row)), int(shown and disputed(row)), *made)


def listed_alone(row: Alone) -> tuple[str, int, int, int, int, int]:
    """Return the same for what its creation alone has made: in sight, and with nothing to settle."""
    return (row.kind, 1, int(_is_over(row)), 0, *row.made)


def _is_over(row: Row | Alone) -> bool:
    """Say whether a task is closed, or a time record has ended."""
    if row.kind == "task":
        status = row.value("status")
        return isinstance(status, str) and status in CLOSED
    ended = row.value("ended_at") if row.kind == "time_record" else None
    return isinstance(ended, str) and ended != ""


def disputed(row: Row) -> bool:
    """Say whether an entity in sight has something to settle: a field of several values, or a deletion."""
    tombs = row.fields.get(DELETED)
    if tombs is not None and any(version.value is True for version in tombs):
        return True
    for versions in row.fields.values():  # noqa: SIM110 - a plain loop: it runs for every row that is written
        if len(versions) > 1 and _differ(versions):
            return True
    return False


def _differ(versions: list[Version]) -> bool:
    return any(version.value != versions[0].value for version in versions[1:])
