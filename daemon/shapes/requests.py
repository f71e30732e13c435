"""The JSON of the control API as the command line reads it; only type checkers import it.

Generated from the daemon's structures by `make shapes`, and never edited by hand. Keys may be missing from an
older daemon and added by a newer one, so views read with `get`.
"""

from __future__ import annotations

from typing import Any, TypedDict

from daemon.shapes.answers import (
    IdleVerdictJson,
)


class ExternalAgentJson(TypedDict, total=False):
    id: str
    name: str
    kind: str
    lifecycle: str
    hindered: str | None
    hindered_id: str
    hindered_params: dict[str, Any]
    home_device_id: str
    home_device_name: str
    at_home: bool
    scope: str
    allowed_categories: list[str]
    policy: dict[str, str]
    presence: dict[str, str]
    daily_limits: dict[str, int]
    spent_today: dict[str, int]
    pending_items: int
    paused_until: str | None


class AskVerdictJson(TypedDict, total=False):
    at: str
    device: str
    device_name: str
    reason: str | None
    edited: bool
    presence: str
    rule: str | None


class AskDetailsJson(TypedDict, total=False):
    ask_id: str
    agent_id: str
    agent_name: str
    home_device: str
    home_device_name: str
    name: str
    args: dict[str, Any]
    asked_args: dict[str, Any]
    args_hash: str
    asked_hash: str
    title: str
    why: str
    options: list[str]
    presence: str
    not_after: str
    made_at: str
    changed_at: str
    state: str
    option: str | None
    verdict: AskVerdictJson | None
    idle_verdicts: list[IdleVerdictJson]
    execution_id: str | None
    used_at: str | None
    poll_after_ms: int | None


class UsedPermissionJson(TypedDict, total=False):
    result: str
    args: dict[str, Any] | None
    args_hash: str | None
    option: str | None


class ProposedItemJson(TypedDict, total=False):
    change: int
    item: str | None
    tool: str | None
    state: str
    summary: str
    reason: str | None
    args: dict[str, Any] | str | None
    args_hash: str | None
    edited: bool
    disputed: bool


class ProposedSetJson(TypedDict, total=False):
    set: str
    task: str | None
    state: str
    items: list[ProposedItemJson]
    expires_at: str | None
    poll_after_ms: int | None
    made_at: str
    changed_at: str


class OwnRequestsJson(TypedDict, total=False):
    sets: list[ProposedSetJson]
    asks: list[AskDetailsJson]
    more: bool


class VerdictsJson(TypedDict, total=False):
    sets: list[ProposedSetJson]
    asks: list[AskDetailsJson]
    next: int
    more: bool


class CallableToolJson(TypedDict, total=False):
    name: str
    description: str
    arguments: dict[str, Any]


class TaskHeadJson(TypedDict, total=False):
    id: str
    title: str
    status: str
    due: str | None
    open_proposals: int


class ReadableEntryJson(TypedDict, total=False):
    id: str
    text: str
    author: str | None
    at: str | None


class ReadableItemJson(TypedDict, total=False):
    id: str
    title: str
    checked: bool


class OwnProposalJson(TypedDict, total=False):
    item: str
    tool: str
    summary: str


class OwnDecisionJson(TypedDict, total=False):
    item: str
    tool: str
    summary: str
    verdict: str
    state: str
    at: str
    reason: str | None


class ReadableTaskJson(TypedDict, total=False):
    id: str
    title: str
    status: str
    priority: str
    due: str | None
    due_time: str | None
    start: str | None
    estimate_minutes: int | None
    labels: list[str]
    category: str | None
    notes: list[ReadableEntryJson]
    items: list[ReadableItemJson]
    open_proposals: int
    proposals: list[OwnProposalJson]
    decisions: list[OwnDecisionJson]
