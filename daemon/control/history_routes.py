"""The routes of the history, and of what stands in conflict.

Never decides anything: each line names a use case.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.control.routes import Call, Nothing, Reads, Route, Writes
from daemon.journal import conflicts, log
from daemon.journal.conflicts import Keep
from daemon.journal.views import Change, Conflict
from store.snapshot import Snapshot
from store.transaction import Transaction

LOG_DEFAULT = 100


class LogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose history: a task by id or title, anything else by id; without `after`, the newest changes."""

    entity: str | None = None
    after: Annotated[int, Meta(ge=0)] | None = None
    limit: Annotated[int, Meta(ge=1, le=log.LIMIT_MAX)] = LOG_DEFAULT


class ConflictQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose conflicts: those on a task and what belongs to it, or all."""

    task: str | None = None


def routes() -> list[Route]:
    """Return the table."""
    path, several = "/v1/conflicts", list[Conflict]
    return [
        Route("GET", "/v1/log", "Show the history", Reads(_log), list[Change], query=LogQuery),
        Route("GET", path, "Show what is in conflict", Reads(_conflicts), several, query=ConflictQuery),
        Route("POST", f"{path}/keep", "Settle a conflict by one of its values", Writes(_keep), several, Keep),
    ]


def _conflicts(snapshot: Snapshot, call: Call[Nothing, ConflictQuery]) -> list[Conflict]:
    return conflicts.conflicts(snapshot, call.query.task or None)


def _keep(tx: Transaction, call: Call[Keep, Nothing]) -> list[Conflict]:
    return conflicts.keep(tx, call.body)


def _log(snapshot: Snapshot, call: Call[Nothing, LogQuery]) -> list[Change]:
    asked = call.query
    return log.log(snapshot, asked.entity or None, after=asked.after, limit=asked.limit)
