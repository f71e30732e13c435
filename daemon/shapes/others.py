"""The JSON of the control API as the command line reads it; only type checkers import it.

Generated from the daemon's structures by `make shapes`, and never edited by hand. Keys may be missing from an
older daemon and added by a newer one, so views read with `get`.
"""

from __future__ import annotations

from typing import Any, TypedDict

from daemon.shapes.answers import (
    ChangeJson,
    ConflictJson,
    ConflictVersionJson,
    MailboxReaderJson,
    PeerJson,
    ProgressJson,
)


class ReadingJson(TypedDict, total=False):
    field: str
    words: str


class CapturedLineJson(TypedDict, total=False):
    title: str
    due: str | None
    due_time: str | None
    estimate_minutes: int | None
    labels: list[str]
    priority: str | None
    category: str | None
    every: str | None
    readings: list[ReadingJson]


class ListedTaskJson(TypedDict, total=False):
    id: str
    title: str
    status: str
    priority: str
    due: str | None
    due_time: str | None
    start: str | None
    estimate_minutes: int | None
    labels: list[str]
    label_colors: dict[str, str]
    category: str | None
    checklist_progress: ProgressJson
    removed: bool
    series_id: str | None
    waiting: int
    agent_id: str | None


class PieceJson(TypedDict, total=False):
    text: str
    hit: bool


class PlaceJson(TypedDict, total=False):
    id: str
    kind: str
    field: str
    snippet: list[PieceJson]
    removed: bool


class FoundTaskJson(TypedDict, total=False):
    id: str
    title: str
    status: str
    places: list[PlaceJson]
    removed: bool


class FoundJson(TypedDict, total=False):
    tasks: list[FoundTaskJson]
    next: int | None
    begin_later: int


class KeptJson(TypedDict, total=False):
    entity: str
    kind: str
    title: str
    field: str
    name: str
    kept: ConflictVersionJson
    left: list[ConflictJson]
    left_out: int


class SeriesJson(TypedDict, total=False):
    id: str
    title: str
    rule: str
    is_understood: bool
    first: str
    until: str | None
    zone: str
    due_time: str | None
    priority: str
    estimate_minutes: int | None
    language: str | None
    labels: list[str]
    category: str | None
    steps: list[str]
    skipped: list[str]
    next: list[str]
    next_task: str | None
    follows: str | None
    created_at: str | None
    vector_clock: dict[str, int]
    removed: bool


class DayLineJson(TypedDict, total=False):
    id: str
    title: str
    status: str
    priority: str
    due: str | None
    due_time: str | None
    start: str | None
    estimate_minutes: int | None
    labels: list[str]
    label_colors: dict[str, str]
    category: str | None
    checklist_progress: ProgressJson
    removed: bool
    series_id: str | None
    waiting: int


class DayGroupJson(TypedDict, total=False):
    name: str
    day: str | None
    count: int
    tasks: list[DayLineJson]


class DayJson(TypedDict, total=False):
    day: str
    groups: list[DayGroupJson]
    begin_later: int
    today: str | None


RelationJson = TypedDict(
    "RelationJson",
    {
        "from": str,
        "relation": str,
        "to": str,
        "from_kind": str | None,
        "to_kind": str | None,
        "removed": bool,
    },
    total=False,
)


class LabelJson(TypedDict, total=False):
    id: str
    name: str
    color: str | None
    description: str | None
    categories: list[str]
    is_double: bool
    conflicts: list[ConflictJson]
    vector_clock: dict[str, int]
    removed: bool


class CategoryJson(TypedDict, total=False):
    id: str
    name: str
    color: str | None
    default_language: str | None
    correction_examples: list[str]
    is_double: bool
    conflicts: list[ConflictJson]
    vector_clock: dict[str, int]
    removed: bool


class PreferenceJson(TypedDict, total=False):
    id: str
    text: str
    category: str | None
    created_at: str | None
    removed: bool


class UnderwayJson(TypedDict, total=False):
    format: str
    name: str
    tasks: int
    done: int


class SkippedJson(TypedDict, total=False):
    line: int | None
    what: str
    why: str
    what_id: str
    what_params: dict[str, Any]
    why_id: str
    why_params: dict[str, Any]


class FaultyJson(TypedDict, total=False):
    line: int | None
    why: str
    why_id: str
    why_params: dict[str, Any]


class ImportResultJson(TypedDict, total=False):
    tasks: int
    entries: int
    checklist_items: int
    updated: int
    unchanged: int
    skipped: list[SkippedJson]
    others: int
    remarks: list[SkippedJson]
    faulty: list[FaultyJson]
    removed: int
    gone: list[SkippedJson]


class AgentMessageJson(TypedDict, total=False):
    id: str
    at: str
    thread_id: str
    kind: str
    trigger: str | None
    trigger_id: str
    trigger_params: dict[str, Any]
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


class RuleUseJson(TypedDict, total=False):
    decision_id: str
    ask_id: str
    at: str


class StandingRuleDetailsJson(TypedDict, total=False):
    rule_id: str
    agent_id: str
    agent_name: str
    name: str
    exact: Any
    begins: dict[str, str]
    until: str
    lets_through: Any
    still_asks: Any
    uses_a_day: int
    uses_today: int
    state: str
    made_at: str
    device: str
    device_name: str
    revoked_at: str | None
    revoked_on: str | None
    uses: list[RuleUseJson]


class ChangeSetItemJson(TypedDict, total=False):
    item_id: str
    tool: str
    status: str
    disputed: bool


class ChangeSetSummaryJson(TypedDict, total=False):
    set_id: str
    status: str
    resolved_at: str | None
    items: list[ChangeSetItemJson]


class SignInJson(TypedDict, total=False):
    secret: str
    address: str
    addresses: list[str]
    expires_at: str


class BrowserSessionJson(TypedDict, total=False):
    id: str
    browser: str
    began_at: str
    used_at: str


class InvitedJson(TypedDict, total=False):
    id: str
    code: str | None
    token: str | None
    address: str
    addresses: list[str]
    expires_at: str


class JoinedDeviceJson(TypedDict, total=False):
    device_id: str
    name: str
    waits_for: str | None
    linked: bool


class InvitationStateJson(TypedDict, total=False):
    id: str
    stage: str
    tries_left: int
    device: JoinedDeviceJson | None


class AdmittedDevicesJson(TypedDict, total=False):
    count: int
    names: list[str]


class GoodbyeJson(TypedDict, total=False):
    told: list[str]
    untold: list[str]
    removed: bool


class HoldingJson(TypedDict, total=False):
    device_id: str
    name: str
    this: bool
    removed: bool
    connected: bool
    lacks: int | None
    as_of: str | None


class MailboxDeliveryJson(TypedDict, total=False):
    device_id: str
    name: str
    waits: int


class MailboxHoldingJson(TypedDict, total=False):
    mailbox: str
    brought: int
    holds: int
    looked_at: str | None
    devices: list[MailboxDeliveryJson]


class ReplicationJson(TypedDict, total=False):
    seq: int
    entity: str | None
    kind: str
    title: str
    commits: int
    at: str
    device_name: str
    devices: list[HoldingJson]
    devices_left_out: int
    mailboxes: list[MailboxHoldingJson]


class ExchangeDayJson(TypedDict, total=False):
    day: str
    links: int
    failed_calls: int
    faults: int
    received: int
    sent: int
    visits: int
    failed_visits: int
    taken: int
    put: int


class SyncReportJson(TypedDict, total=False):
    complete: bool
    paused: bool
    peers: list[PeerJson]
    peers_left_out: int


class AddedMailboxJson(TypedDict, total=False):
    name: str
    kind: str
    place: str
    looked_at: str | None
    trouble: str | None
    trouble_id: str
    trouble_params: dict[str, Any]
    blobs: int
    bytes: int
    unreadable: int
    foreign: int
    gaps: int
    readers: list[MailboxReaderJson]
    overdue_s: int
    newer: list[str]
    older: list[str]
    changed: bool


class WrittenBundleJson(TypedDict, total=False):
    file: str
    bytes: int
    blobs: int
    devices: list[str]


class ReadBundleJson(TypedDict, total=False):
    file: str
    blobs: int
    taken: int
    gaps: int
    sealed: int
    refused: int


class CompactedJson(TypedDict, total=False):
    older_than_days: int
    commits: int
    values: int
    bytes: int
    unheard: list[str]
    members_left_out: int
    emptied: int


class HealthJson(TypedDict, total=False):
    status: str
    version: str
    feed_end: int


class TouchedJson(TypedDict, total=False):
    id: str
    kind: str


class EventJson(TypedDict, total=False):
    seq: int
    at: str
    by: str
    agent_id: str | None
    device: str
    device_name: str
    touched: list[TouchedJson]
    changes: list[ChangeJson]
    changes_left_out: int
