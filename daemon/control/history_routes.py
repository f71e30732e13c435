"""The routes of the history, and of what stands in conflict.

Never decides anything: each line names a use case.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.control.routes import Call, Nothing, Reads, Route
from daemon.journal import log
from daemon.journal.views import Change
from store.snapshot import Snapshot

LOG_DEFAULT = 100


class LogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose history: a task by id or title, anything else by id; without `after`, the newest changes."""

    entity: str | None = None
    after: Annotated[int, Meta(ge=0)] | None = None
    limit: Annotated[int, Meta(ge=1, le=log.LIMIT_MAX)] = LOG_DEFAULT


def routes() -> list[Route]:
    """Return the table."""
    return [Route("GET", "/v1/log", "Show the history", Reads(_log), list[Change], query=LogQuery)]


def _log(snapshot: Snapshot, call: Call[Nothing, LogQuery]) -> list[Change]:
    asked = call.query
    return log.log(snapshot, asked.entity or None, after=asked.after, limit=asked.limit)
