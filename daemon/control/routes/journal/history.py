"""The routes of the history, and of what stands in conflict.

Never decides anything: each line names a use case.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from daemon.control.route import Route
from daemon.control.use_case_routes import read_query, write_body
from daemon.journal import change_log, conflicts
from daemon.journal.change_log import ChangeFilter
from daemon.journal.conflicts import Keep, Kept
from daemon.journal.human_input import HumanInput
from daemon.journal.views.structures import Change, Conflict
from store.snapshot import Snapshot

LOG_DEFAULT = 100


class LogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which changes to list: those of `entity` (a task by id or title, anything else by id), or all.

    Those beyond the feed position `after`, or else the newest, before the position `before`.
    """

    entity: str | None = None
    after: Annotated[int, Meta(ge=0)] | None = None
    before: Annotated[int, Meta(ge=0)] | None = None
    limit: Annotated[int, Meta(ge=1, le=change_log.LIMIT_MAX)] = LOG_DEFAULT
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


def routes(human_input: HumanInput) -> list[Route]:
    """Return the part of the table on history; `human_input` reads times as people type them."""

    def moment_ms(words: str | None) -> int | None:
        return round(human_input.moment(words).timestamp() * 1000) if words else None

    def list_changes(snapshot: Snapshot, query: LogQuery) -> list[Change]:
        only = ChangeFilter(
            field=query.field,
            kind=query.kind,
            by=query.by,
            device=query.device,
            agent=query.agent,
            since_ms=moment_ms(query.since),
            until_ms=moment_ms(query.until),
        )
        return change_log.list_changes(
            snapshot,
            query.entity or None,
            limit=query.limit,
            after=query.after,
            before=query.before,
            only=only,
        )

    path, keep = "/v1/conflicts", "/v1/conflicts/keep"
    return [
        read_query("/v1/log", "Show the history", list_changes, list[Change], LogQuery),
        read_query(path, "Show what is in conflict", _list_conflicts, list[Conflict], ConflictQuery),
        write_body(
            "POST", keep, "Settle a conflict by one of its values", conflicts.keep_version, Kept, Keep
        ),
    ]


def _list_conflicts(snapshot: Snapshot, query: ConflictQuery) -> list[Conflict]:
    return conflicts.list_conflicts(snapshot, query.task or None)
