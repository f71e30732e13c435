"""The JSON of the control API as the command line reads it; only type checkers import it.

Generated from the daemon's structures by `make shapes`, and never edited by hand. Keys may be missing from an
older daemon and added by a newer one, so views read with `get`.
"""

from __future__ import annotations

from typing import Any, TypedDict


class SentenceJson(TypedDict):
    """The id of one of the daemon's sentences, and what fills its template."""

    id: str
    params: dict[str, Any]


class CandidateJson(TypedDict, total=False):
    id: str
    title: str


class DetailJson(TypedDict, total=False):
    line: int
    message: str
    id: str
    params: dict[str, Any]


class OriginJson(TypedDict, total=False):
    by: str
    at: str
    device: str
    device_name: str
    item_id: str | None
    as_proposed: bool | None
    is_put_back: bool
    imported_from: str | None
    imported_at: str | None
    imported_device: str | None
    question: str | None
    answer: str | None


class ChecklistItemJson(TypedDict, total=False):
    id: str
    title: str
    is_checked: bool
    checked_by: str | None
    checked_at: str | None
    checked_on: str | None
    checked_as_proposed: bool | None
    is_archived: bool
    checklist_id: str
    task_id: str | None
    vector_clock: dict[str, int]
    removed: bool
    provenance: dict[str, OriginJson]
    unknown: dict[str, Any]


class ChecklistJson(TypedDict, total=False):
    id: str
    title: str
    items: list[ChecklistItemJson]
    left_out: int
    task_id: str | None
    vector_clock: dict[str, int]
    removed: bool


class EntryJson(TypedDict, total=False):
    id: str
    text: str
    happened_at: str
    author: str | None
    device_name: str | None
    source: str
    task_id: str | None
    created_at: str | None
    vector_clock: dict[str, int]
    as_proposed: bool | None
    removed: bool
    provenance: dict[str, OriginJson]
    unknown: dict[str, Any]


class ConflictVersionJson(TypedDict, total=False):
    value: Any
    by: str
    device: str
    device_name: str
    at: str
    as_proposed: bool | None
    words: str
    words_id: str
    words_params: dict[str, Any]


class ConflictJson(TypedDict, total=False):
    entity: str
    kind: str
    field: str
    versions: list[ConflictVersionJson]
    vector_clock: dict[str, int]
    name: str
    title: str
    task_id: str | None
    task_title: str
    left_out: int


class TimeRecordJson(TypedDict, total=False):
    id: str
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
    vector_clock: dict[str, int]
    removed: bool


class LinkJson(TypedDict, total=False):
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


class ProgressJson(TypedDict, total=False):
    completed: int
    total: int


class StatusStepJson(TypedDict, total=False):
    status: str
    reason: str | None
    origin: OriginJson


class TaskJson(TypedDict, total=False):
    id: str
    title: str
    status: str
    reason: str | None
    priority: str
    estimate_minutes: int | None
    due: str | None
    due_time: str | None
    start: str | None
    language: str | None
    labels: list[str]
    label_colors: dict[str, str]
    category: str | None
    checklists: list[ChecklistJson]
    checklist_progress: ProgressJson
    entries: list[EntryJson]
    times: list[TimeRecordJson]
    time_spent_minutes: int
    links: list[LinkJson]
    vector_clock: dict[str, int]
    conflicts: list[ConflictJson]
    agent_id: str | None
    report: dict[str, Any] | None
    created_at: str | None
    updated_at: str | None
    removed: bool
    series_id: str | None
    provenance: dict[str, OriginJson]
    unknown: dict[str, Any]
    status_history: list[StatusStepJson]
    left_out: dict[str, int]


class NoteEvidenceJson(TypedDict, total=False):
    verdict: str
    entry_id: str | None
    written_at: str | None
    value: int | str | None
    quote: str | None


class OfferedAnswerJson(TypedDict, total=False):
    item_id: str
    text: str
    tool: str | None
    args: dict[str, Any] | None


class AskedQuestionJson(TypedDict, total=False):
    question_id: str
    text: str
    number: int
    answers: list[OfferedAnswerJson]


class IdleVerdictJson(TypedDict, total=False):
    verdict: str
    lacks: str
    device: str
    device_name: str
    at: str


class PendingItemJson(TypedDict, total=False):
    item_id: str
    set_id: str
    task_id: str
    task_title: str
    agent_id: str
    tool: str
    args: dict[str, Any]
    args_hash: str
    edited: bool
    subject: str | None
    summary: str
    rationale: str | None
    base: Any
    current: Any
    proposed: Any
    status: str
    disputed: bool
    stale: bool
    created_at: str
    expires_at: str | None
    expires_soon: bool
    notes: NoteEvidenceJson | None
    question: AskedQuestionJson | None
    presence: str
    counts_here: bool
    idle_verdicts: list[IdleVerdictJson]
    agent_name: str | None
    proposed_on: str | None
    held_back: bool


class EvidenceJson(TypedDict, total=False):
    id: str
    text: str
    author: str
    happened_at: str


class DecisionJson(TypedDict, total=False):
    seq: int
    decision_id: str
    item_id: str
    task_id: str
    task_title: str
    agent_id: str
    tool: str
    args: Any
    subject: str | None
    summary: str
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
    without_effect: bool
    can_take_effect: bool
    question: str | None
    answer: str | None
    agent_reason: str | None
    evidence: list[EvidenceJson]
    notes: NoteEvidenceJson | None
    lacks: str | None
    is_ask: bool
    rule: str | None


class DecisionResultJson(TypedDict, total=False):
    item_id: str
    status: str
    result: str
    message: str
    message_id: str
    message_params: dict[str, Any]
    can_force: bool
    challenges: list[str]
    base: Any
    current: Any
    proposed: Any


class UnreachedJson(TypedDict, total=False):
    kind: str
    seen: str
    seen_id: str
    seen_params: dict[str, Any]


class PeerJson(TypedDict, total=False):
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
    clock_ahead_s: int | None
    unreached: list[UnreachedJson]
    unanswered: bool
    differs: bool
    left_out: bool
    link_fault: UnreachedJson | None


class AgentCountsJson(TypedDict, total=False):
    active: int
    due: int
    running: int
    dormant: int


class CheckJson(TypedDict, total=False):
    name: str
    well: bool
    found: str
    remedy: str
    code: str
    given: dict[str, str | int]
    found_id: str
    found_params: dict[str, Any]
    remedy_id: str
    remedy_params: dict[str, Any]


class MailboxReaderJson(TypedDict, total=False):
    device: str
    name: str
    noticed_at: str
    lacks: int


class MailboxStateJson(TypedDict, total=False):
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


class MailboxInvitationJson(TypedDict, total=False):
    id: str
    mailbox: str
    expires_at: str


class MailboxJoiningJson(TypedDict, total=False):
    mailbox: str
    place: str
    inviter_id: str
    began_at: str
    trouble: str | None
    trouble_id: str
    trouble_params: dict[str, Any]


class StatusJson(TypedDict, total=False):
    device_id: str
    name: str
    removed: bool
    replica: str | None
    vector: dict[str, int]
    vector_left_out: int
    state_hash: str
    entities: int
    commits: int
    peers: list[PeerJson]
    peers_left_out: int
    names_left_out: list[str]
    agents: AgentCountsJson
    pending_items: int
    expiring_items: int
    pending_asks: int
    expiring_asks: int
    conflicts: int
    model: CheckJson | None
    database: CheckJson | None
    mailboxes: list[MailboxStateJson]
    mailbox_invitations: list[MailboxInvitationJson]
    mailbox_joining: MailboxJoiningJson | None


class ChangeJson(TypedDict, total=False):
    seq: int
    at: str
    by: str
    agent_id: str | None
    device: str
    device_name: str
    entity: str
    kind: str
    title: str
    field: str
    before: Any
    after: Any
    why: str | None
    why_id: str
    why_params: dict[str, Any]
    unknown: bool
    agent_reason: str | None
    evidence: list[EvidenceJson]
    lacks: str | None
    left_out: bool
    is_about_ask: bool
    as_proposed: bool | None
    change: str
    undone: bool
    undoes: str | None


class RunSummaryJson(TypedDict, total=False):
    run_key: str
    reason: str
    reason_id: str
    reason_params: dict[str, Any]
    status: str
    started_at: str
    ended_at: str | None
    error: str | None


class AgentJson(TypedDict, total=False):
    id: str
    task_id: str
    task_title: str
    display_name: str
    kind: str
    mode: str
    lifecycle: str
    lifecycle_reason: str | None
    lifecycle_reason_id: str
    lifecycle_reason_params: dict[str, Any]
    model: str
    home_device_id: str
    home_device_name: str
    at_home: bool
    report: dict[str, Any] | None
    report_changes_since: int
    report_decisions_since: int
    last_wake_at: str | None
    next_wake_at: str | None
    next_wake_why: str
    next_wake_why_id: str
    next_wake_why_params: dict[str, Any]
    timers: list[str]
    recurring: dict[str, str]
    policy: dict[str, str]
    presence: dict[str, str]
    allowed_categories: list[str]
    consecutive_failures: int
    pending_items: int
    confirmed_without_effect: list[str]
    cannot_take_effect: list[str]
    runs: list[RunSummaryJson]
    name: str | None
    description: str | None
    paused_until: str | None
    wishes: list[str]
    report_confidence: str | None
