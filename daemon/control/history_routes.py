"""The routes of the history, and of what stands in conflict.

Never decides anything: each line names a use case.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from daemon.control.routes import Call, Nothing, Reads, Route, Writes
from daemon.journal import conflicts, log
from daemon.journal.conflicts import Keep, Kept
from daemon.journal.log import Filter
from daemon.journal.typed import Typed
from daemon.journal.views import Change, Conflict
from store.snapshot import Snapshot
from store.transaction import Transaction

LOG_DEFAULT = 100


class LogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose history: a task by id or title, anything else by id; and which changes of it.

    Those beyond the feed position `after`, or else the newest, before the position `before`.
    """

    entity: str | None = None
    after: Annotated[int, Meta(ge=0)] | None = None
    before: Annotated[int, Meta(ge=0)] | None = None
    limit: Annotated[int, Meta(ge=1, le=log.LIMIT_MAX)] = LOG_DEFAULT
    field: str | None = None
    kind: str | None = None
    by: Literal["user", "agent", "system"] | None = None
    device: str | None = None
    agent: str | None = None
    since: str | None = None
    until: str | None = None


class ConflictQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose conflicts: those on a task and what belongs to it, or all."""

    task: str | None = None


class HistoryRoutes:
    """The table; times are read as they are typed here."""

    def __init__(self, typed: Typed) -> None:
        self._typed = typed

    def routes(self) -> list[Route]:
        """Return the table."""
        path, several = "/v1/conflicts", list[Conflict]
        keep = "Settle a conflict by one of its values"
        return [
            Route("GET", "/v1/log", "Show the history", Reads(self._log), list[Change], query=LogQuery),
            Route("GET", path, "Show what is in conflict", Reads(_conflicts), several, query=ConflictQuery),
            Route("POST", f"{path}/keep", keep, Writes(_keep), Kept, Keep),
        ]

    def _log(self, snapshot: Snapshot, call: Call[Nothing, LogQuery]) -> list[Change]:
        asked = call.query
        only = Filter(
            field=asked.field,
            kind=asked.kind,
            by=asked.by,
            device=asked.device,
            agent=asked.agent,
            since_ms=self._ms(asked.since),
            until_ms=self._ms(asked.until),
        )
        return log.log(
            snapshot,
            asked.entity or None,
            limit=asked.limit,
            after=asked.after,
            before=asked.before,
            only=only,
        )

    def _ms(self, words: str | None) -> int | None:
        return None if not words else round(self._typed.moment(words).timestamp() * 1000)


def _conflicts(snapshot: Snapshot, call: Call[Nothing, ConflictQuery]) -> list[Conflict]:
    return conflicts.conflicts(snapshot, call.query.task or None)


def _keep(tx: Transaction, call: Call[Keep, Nothing]) -> Kept:
    return conflicts.keep(tx, call.body)
