"""The JSON of the control API as the command line reads it; imported by type checkers alone.

Never complete: keys may be missing from an older daemon and added by a newer one,
so that views read with `get`.
"""

from __future__ import annotations

from typing import Any, TypedDict


class Candidate(TypedDict):
    id: str
    title: str


class Detail(TypedDict):
    line: int | None
    message: str


class ChecklistItem(TypedDict, total=False):
    id: str
    short: str
    title: str
    is_checked: bool
    is_archived: bool
    checked_by: str | None
    checked_at: str | None
    checked_on: str | None
    removed: bool


class Checklist(TypedDict, total=False):
    id: str
    title: str
    items: list[ChecklistItem]
    removed: bool


class Entry(TypedDict, total=False):
    id: str
    text: str
    happened_at: str
    author: str
    device_name: str
    source: str
    vector_clock: dict[str, int]
    removed: bool


class Conflict(TypedDict, total=False):
    entity: str
    kind: str
    field: str
    name: str
    title: str
    task_id: str | None
    task_title: str
    versions: list[Any]
    vector_clock: dict[str, int]


class TimeRecord(TypedDict, total=False):
    id: str
    short: str
    task_id: str | None
    task_title: str
    started_at: str
    ended_at: str | None
    minutes: int | None
    note: str | None
    is_running: bool
    is_here: bool
    device: str
    device_name: str
    removed: bool


class Link(TypedDict, total=False):
    id: str
    type: str
    direction: str
    from_id: str
    to_id: str
    task_id: str
    title: str | None
    status: str | None
    circular: bool
    task_removed: bool
    removed: bool


class Label(TypedDict, total=False):
    id: str
    name: str
    color: str | None
    description: str | None
    categories: list[str]
    is_double: bool
    conflicts: list[Conflict]
    removed: bool


class Category(TypedDict, total=False):
    id: str
    name: str
    color: str | None
    default_language: str | None
    correction_examples: list[str]
    is_double: bool
    conflicts: list[Conflict]
    removed: bool


class Task(TypedDict, total=False):
    id: str
    short: str
    title: str
    status: str
    reason: str | None
    priority: str
    estimate_minutes: int | None
    due: str | None
    language: str | None
    labels: list[str]
    label_colors: dict[str, str]
    category: str | None
    checklists: list[Checklist]
    entries: list[Entry]
    times: list[TimeRecord]
    time_spent_minutes: int
    links: list[Link]
    vector_clock: dict[str, int]
    conflicts: list[Conflict]
    agent_id: str | None
    report: dict[str, Any] | None
    removed: bool


class PendingItem(TypedDict, total=False):
    item_id: str
    short: str
    set_id: str
    task_id: str
    task_title: str
    agent_id: str
    tool: str
    args: dict[str, Any]
    summary: str
    subject: str | None
    rationale: str | None
    base: Any
    current: Any
    proposed: Any
    status: str
    disputed: bool
    stale: bool
    args_hash: str
    edited: bool
    created_at: str
    expires_at: str


class Decision(TypedDict, total=False):
    seq: int
    decision_id: str
    item_id: str
    task_id: str
    task_title: str
    agent_id: str
    tool: str
    args: Any
    summary: str
    subject: str | None
    verdict: str
    by: str
    device: str
    device_name: str
    at: str
    reason: str | None
    via: str | None
    edited_args: Any
    counts: bool
    status: str
    disputed: bool


class Verdict(TypedDict, total=False):
    item_id: str
    status: str
    result: str
    message: str


class Peer(TypedDict, total=False):
    device_id: str
    name: str
    this: bool
    connected: bool
    address: str | None
    lag: int | None
    missing: int
    last_seen: str | None
    removed: bool
    added_by: str | None
    added_by_id: str | None
    added_at: str | None
    added_heard_at: str | None
    unreached: list[dict[str, str]]
    unanswered: bool
    differs: bool


class Holding(TypedDict, total=False):
    device_id: str
    name: str
    this: bool
    removed: bool
    connected: bool
    lacks: int | None
    as_of: str | None


class Whereabouts(TypedDict, total=False):
    seq: int
    entity: str | None
    kind: str
    title: str
    commits: int
    at: str
    device_name: str
    devices: list[Holding]


class Status(TypedDict, total=False):
    device_id: str
    name: str
    removed: bool
    replica: str
    vector: dict[str, int]
    state_hash: str
    entities: int
    commits: int
    peers: list[Peer]
    agents: dict[str, int]
    pending_items: int
    conflicts: int
    model: dict[str, Any] | None


class Change(TypedDict, total=False):
    seq: int
    at: str
    by: str
    device: str
    device_name: str
    entity: str
    kind: str
    title: str
    field: str
    before: Any
    after: Any
    why: str
    unknown: bool


class Activity(TypedDict, total=False):
    id: str
    at: str
    thread_id: str
    kind: str
    trigger: str | None
    text: str
    cut: bool
    tool: str | None
    outcome: str | None
    error: bool
    denied: bool
    item_id: str | None
    args: Any
    subject: str | None
    item_ids: list[str]
    targets: list[str]
    tokens: int | None
    ended: Any
    device_name: str


class Agent(TypedDict, total=False):
    id: str
    short: str
    task_id: str
    task_title: str
    display_name: str
    lifecycle: str
    lifecycle_reason: str | None
    mode: str
    model: str
    home_device_id: str
    home_device_name: str
    at_home: bool
    last_wake_at: str | None
    next_wake_at: str | None
    next_wake_why: str
    timers: list[str]
    policy: dict[str, str]
    allowed_categories: list[str]
    runs: list[dict[str, Any]]
    pending_items: int
    report: dict[str, Any] | None
    report_changes_since: int
