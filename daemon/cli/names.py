"""The names of what the daemon answers with, statuses, kinds and fields, in the language of the person.

Never hides a value that it does not know: a newer version wrote it, and it is shown as it came.
"""

from __future__ import annotations

from daemon.cli.text import shown
from daemon.cli.words import named, said_of

named("task", "open", "groomed", "in progress", "blocked", "on hold", "done", "rejected", "removed")
named(
    "kind",
    "task",
    "checklist",
    "checklist item",
    "entry",
    "time record",
    "link",
    "label",
    "category",
    "agent",
    "decision",
    "device",
)
named("outcome", "applied", "already", "stale", "obsolete", "expired", "conflict", "not found", "failed")
named(
    "proposal",
    "pending",
    "confirmed",
    "rejected",
    "deferred",
    "undone",
    "reopened",
    "retracted",
    "stale",
    "obsolete",
    "expired",
    "disputed",
    "unknown",
)
named(
    "agent",
    "created",
    "active",
    "dormant",
    "destroyed",
    "autonomous",
    "interactive",
    "hybrid",
    "task agent",
)
named("run", "queued", "running", "completed", "skipped", "failed", "abandoned")
named("ruling", "immediate", "deferred", "denied")
named("author", "you", "agent", "system", "someone")
named(
    "field",
    "title",
    "status",
    "reason",
    "priority",
    "estimate",
    "due",
    "due date",
    "minutes",
    "language",
    "category",
    "label",
    "task",
    "checklist",
    "position",
    "checked",
    "archived",
    "deleted",
    "removed",
    "text",
    "source",
    "happened at",
    "started at",
    "ended at",
    "note",
    "from",
    "to",
    "type",
    "name",
    "color",
    "description",
    "default language",
    "correction examples",
    "verdict",
    "item",
    "mode",
    "kind",
    "lifecycle",
    "lifecycle reason",
    "timers",
    "allowed categories",
    "model",
    "display name",
    "home device",
    "address",
    "certificate",
    "created at",
    "updated at",
    "last wake at",
    "next wake at",
    "next wake why",
    "consecutive failures",
    "pending items",
)


def task_status(status: object) -> str:
    """Say the status of a task: "in progress"."""
    return _word("task", shown(status or "").lower())


def proposal_status(status: object) -> str:
    """Say what stands on a proposal, or what was decided: "confirmed"."""
    return _word("proposal", shown(status or ""))


def outcome(result: object) -> str:
    """Say what came of a decision: "applied", "not found"."""
    return _word("outcome", shown(result or ""))


def kind(name: object) -> str:
    """Say what something is: "checklist item"."""
    return _word("kind", shown(name or ""))


def agent_state(state: object) -> str:
    """Say the lifecycle, the mode or the kind of an agent: "dormant", "autonomous"."""
    return _word("agent", shown(state or ""))


def ruling(word: object) -> str:
    """Say what becomes of a tool's calls: "denied"."""
    return _word("ruling", shown(word or ""))


def run_status(status: object) -> str:
    """Say how a run stands: "completed"."""
    return _word("run", shown(status or ""))


def author(by: object) -> str:
    """Say who: "you", "agent"."""
    return _word("author", {"user": "you"}.get(str(by), shown(by or "someone")))


def field(name: object) -> str:
    """Say a field's name: `is_checked` is "checked", `estimate_minutes` is "estimate"."""
    return _word("field", shown(name).removeprefix("is_").removesuffix("_minutes").removesuffix("_id"))


def _word(what: str, value: str) -> str:
    return said_of(what, value.replace("_", " "))
