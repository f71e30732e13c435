"""The JSON of the control API as the command line reads it; only type checkers import it.

Generated from the daemon's structures by `make shapes`, and never edited by hand. Keys may be missing from an
older daemon and added by a newer one, so views read with `get`.
"""

from __future__ import annotations

from typing import Any, TypedDict

from daemon.shapes.answers import (
    ChangeJson,
    DecisionResultJson,
)


class RemovedThingJson(TypedDict, total=False):
    id: str
    kind: str
    title: str
    at: str
    by: str
    device: str
    device_name: str
    change: str
    task_id: str | None
    task_title: str
    above_removed: bool


class BroughtBackJson(TypedDict, total=False):
    id: str
    kind: str
    title: str


class UndoViewJson(TypedDict, total=False):
    change: str
    at: str
    changes: list[ChangeJson]
    count: int
    undone: bool
    is_verdict: bool


class LeftChangeJson(TypedDict, total=False):
    entity: str
    kind: str
    title: str
    field: str
    why: str
    why_id: str
    why_params: dict[str, Any]


class UndoResultJson(TypedDict, total=False):
    change: str
    undo: str | None
    already: bool
    written: list[ChangeJson]
    written_count: int
    left: list[LeftChangeJson]
    left_count: int
    verdicts: list[DecisionResultJson]
