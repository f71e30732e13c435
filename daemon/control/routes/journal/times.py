"""The routes of time records: the timer of this device, and the records of tasks.

Never decides anything: each line names a use case.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.control.route import CREATED, Route
from daemon.control.use_case_routes import read, read_query, write_body, write_ref, write_ref_body
from daemon.journal import time_records, time_totals
from daemon.journal.human_input import HumanInput
from daemon.journal.time_records import NewTimer, Started, Stop, TimeEdit
from daemon.journal.time_totals import TimeTotals, TotalsQuery
from daemon.journal.views.structures import TimeRecord
from store.snapshot import Snapshot
from store.transaction import Transaction

LISTED_DEFAULT = 100


class TimeQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose records: a task's by id or title, or all; a page of them, the newest first."""

    task: str | None = None
    removed: bool = False
    after: Annotated[str, Meta(max_length=32, description="The id of the last one of the page before.")] = ""
    limit: Annotated[int, Meta(ge=1, le=time_records.LISTED_MAX)] = LISTED_DEFAULT


def routes(human_input: HumanInput) -> list[Route]:
    """Return the part of the table on time; `human_input` reads times as people type them."""

    def start(tx: Transaction, task: str, body: NewTimer) -> Started:
        return time_records.start(tx, task, body, human_input)

    def stop(tx: Transaction, body: Stop) -> list[TimeRecord]:
        return time_records.stop(tx, body, human_input)

    def edit(tx: Transaction, record: str, body: TimeEdit) -> TimeRecord:
        return time_records.edit(tx, record, body, human_input)

    def totals(snapshot: Snapshot, query: TotalsQuery) -> TimeTotals:
        return time_totals.sum_time(snapshot, query, human_input)

    timer, timers, record = "/v1/tasks/{ref}/timer", "/v1/timers", "/v1/times/{ref}"
    restore, several = f"{record}/restore", list[TimeRecord]
    return [
        write_ref_body("POST", timer, "Start a timer", start, Started, NewTimer, status=CREATED),
        read(timers, "List the timers that run", time_records.list_running, several),
        write_body("POST", f"{timers}/stop", "Stop a timer", stop, several, Stop),
        read_query("/v1/times", "List time records", _list, several, TimeQuery),
        read_query("/v1/time-totals", "Add up time records of some days", totals, TimeTotals, TotalsQuery),
        write_ref_body("PATCH", record, "Change a time record", edit, TimeRecord, TimeEdit),
        write_ref("DELETE", record, "Take a time record out of sight", time_records.remove, TimeRecord),
        write_ref("POST", restore, "Bring a time record back", time_records.restore, TimeRecord),
    ]


def _list(snapshot: Snapshot, query: TimeQuery) -> list[TimeRecord]:
    return time_records.list_records(
        snapshot,
        query.task or None,
        removed=query.removed,
        limit=query.limit,
        after=query.after or None,
    )
