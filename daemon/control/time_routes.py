"""The routes of time records: the timer of this device, and the records of tasks.

Never decides anything: each line names a use case.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.control.routes import Call, Nothing, Reads, Route, Writes
from daemon.journal import times
from daemon.journal.times import NewTimer, Started, Stop, TimeEdit
from daemon.journal.typed import Typed
from daemon.journal.views import TimeRecord
from store.snapshot import Snapshot
from store.transaction import Transaction

CREATED = 201
LISTED_DEFAULT = 100


class TimeQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose records: a task's by id or title, or all; a page of them, the newest first."""

    task: str | None = None
    removed: bool = False
    after: Annotated[str, Meta(max_length=32, description="The id of the last one of the page before.")] = ""
    limit: Annotated[int, Meta(ge=1, le=times.LISTED_MAX)] = LISTED_DEFAULT


def routes(typed: Typed) -> list[Route]:
    """Return the part of the table that is about time; `typed` reads times as people type them."""

    def start(tx: Transaction, call: Call[NewTimer, Nothing]) -> Started:
        return times.start(tx, call.ref, call.body, typed)

    def stop(tx: Transaction, call: Call[Stop, Nothing]) -> list[TimeRecord]:
        return times.stop(tx, call.body, typed)

    def edit(tx: Transaction, call: Call[TimeEdit, Nothing]) -> TimeRecord:
        return times.edit(tx, call.ref, call.body, typed)

    record, timers = "/v1/times/{ref}", "/v1/timers"
    begin = "/v1/tasks/{ref}/timer"
    return [
        Route("POST", begin, "Start a timer", Writes(start), Started, NewTimer, status=CREATED),
        Route("GET", timers, "List the timers that run", Reads(_running), list[TimeRecord]),
        Route("POST", f"{timers}/stop", "Stop a timer", Writes(stop), list[TimeRecord], Stop),
        Route("GET", "/v1/times", "List time records", Reads(_list), list[TimeRecord], query=TimeQuery),
        Route("PATCH", record, "Change a time record", Writes(edit), TimeRecord, TimeEdit),
        Route("DELETE", record, "Take a time record out of sight", Writes(_remove), TimeRecord),
        Route("POST", f"{record}/restore", "Bring a time record back", Writes(_restore), TimeRecord),
    ]


def _running(snapshot: Snapshot, call: Call[Nothing, Nothing]) -> list[TimeRecord]:
    del call
    return times.running(snapshot)


def _list(snapshot: Snapshot, call: Call[Nothing, TimeQuery]) -> list[TimeRecord]:
    asked = call.query
    return times.records(
        snapshot,
        asked.task or None,
        removed=asked.removed,
        limit=asked.limit,
        after=asked.after or None,
    )


def _remove(tx: Transaction, call: Call[Nothing, Nothing]) -> TimeRecord:
    return times.remove(tx, call.ref)


def _restore(tx: Transaction, call: Call[Nothing, Nothing]) -> TimeRecord:
    return times.restore(tx, call.ref)
