"""The routes of what was removed.

Never decides anything: each line names a use case.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.control.route import Route
from daemon.control.use_case_routes import read_query, write_ref
from daemon.journal.removed import PAGE_MAX, BroughtBack, RemovedThing, bring_back, list_removed
from store.snapshot import Snapshot

LISTED_DEFAULT = 100


class RemovedQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which page: so many, after the one of that id, which is the last one of the page before."""

    after: str | None = None
    limit: Annotated[int, Meta(ge=1, le=PAGE_MAX)] = LISTED_DEFAULT


def routes() -> list[Route]:
    """Return the part of the table on what was removed; nothing is dated later than now."""
    path = "/v1/removed"
    return [
        read_query(
            path, "List what was removed, the newest first", _list_things, list[RemovedThing], RemovedQuery
        ),
        write_ref("POST", f"{path}/{{ref}}/restore", "Bring anything back", bring_back, BroughtBack),
    ]


def _list_things(snapshot: Snapshot, query: RemovedQuery) -> list[RemovedThing]:
    return list_removed(snapshot, after=query.after or None, limit=query.limit)
