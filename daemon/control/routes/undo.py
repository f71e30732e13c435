"""The routes by which a change is shown and undone.

Never decides anything: each line names a use case.
"""

from typing import Literal

from msgspec import Struct

from daemon.agents.person.undo_of_change import UndoResult, VerdictRules, undo_change
from daemon.control.route import AsyncHandler, Call, Nothing, Route
from daemon.control.use_case_routes import read_query
from daemon.journal.undo.changes import last_change, show_change
from daemon.journal.undo.undo_answer import UndoView
from daemon.refusal import usage_error
from store.sentence import sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads


class UndoQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which change: by its name, or the last one on a task, or on this device."""

    change: str | None = None
    task: str | None = None


class UndoRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Which change to undo: by its name, or the last one on a task, or on this device.

    Several names may be given, with commas between them: all of it is undone, or nothing. What has more than
    500 values or so is undone in parts, the newest first.
    """

    change: str | None = None
    task: str | None = None
    via: Literal["cli", "web", "api"] = "api"


def routes(store: StoreThreads, reason_min: int) -> list[Route]:
    """Return the table; `reason_min` is how long an agent's reason against a person's tick is."""

    async def undo(call: Call[UndoRequest, Nothing]) -> UndoResult:
        body = call.body
        rules = VerdictRules(body.via, reason_min)
        return await undo_change(store, lambda snapshot: _name(snapshot, body.change, body.task), rules)

    path = "/v1/undo"
    return [
        read_query(path, "Show the change that would be undone", _show, UndoView, UndoQuery),
        Route("POST", path, "Undo a change", AsyncHandler(undo), UndoResult, UndoRequest),
    ]


def _show(snapshot: Snapshot, query: UndoQuery) -> UndoView:
    return show_change(snapshot, _name(snapshot, query.change, query.task))


def _name(snapshot: Snapshot, change: str | None, task: str | None) -> str:
    if change is not None and task is not None:
        raise usage_error(sentence("change-or-task", "name a change, or a task, not both"))
    return last_change(snapshot, task) if change is None else change
