"""The names of what the daemon answers with, statuses, kinds and fields, in the language of the person.

Never hides a value that it does not know: a newer version wrote it, and it is shown as it came.
"""

from __future__ import annotations

from typing import Final

from daemon.task_fields import TASK_FIELDS
from daemon.words.terminal_text import escape
from daemon.words.translation import pgettext, pgettext_noop

pgettext_noop("task", "open", "groomed", "in progress", "blocked", "on hold", "done", "rejected", "removed")
pgettext_noop(
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
    "ask",
    "use",
    "standing rule",
    "passkey",
)
pgettext_noop(
    "outcome",
    "applied",
    "already",
    "stale",
    "obsolete",
    "expired",
    "left",
    "conflict",
    "not found",
    "failed",
    "not counted",
)
pgettext_noop(
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
    "permitted",
    "refused",
    "withdrawn",
    "too late",
    "used",
)
pgettext_noop(
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
pgettext_noop("run", "queued", "running", "completed", "skipped", "failed", "abandoned", "cut short")
pgettext_noop("presence", "any", "other device", "passkey")
pgettext_noop("ruling", "immediate", "deferred", "denied")
pgettext_noop("author", "you", "agent", "system", "someone")
pgettext_noop(
    "field",
    "due date",
    "minutes",
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
    "items",
    "labels",
    "rationale",
    "confidence",
    "question",
    "answers",
    "observations",
)

_WORDS_OF_TASKS: Final = {
    field.kept_as or field.name: field.word for field in TASK_FIELDS if field.type != "names"
}


def task_status(status: object) -> str:
    """Say the status of a task: "in progress"."""
    return _word("task", escape(status or "").lower())


def proposal_status(status: object) -> str:
    """Say what stands on a proposal, or what was decided: "confirmed"."""
    return _word("proposal", escape(status or ""))


def outcome_name(result: object) -> str:
    """Say what came of a decision: "applied", "not found"."""
    return _word("outcome", escape(result or ""))


def kind_name(name: object) -> str:
    """Say what something is: "checklist item"."""
    return _word("kind", escape(name or ""))


def agent_state(state: object) -> str:
    """Say the lifecycle, the mode or the kind of an agent: "dormant", "autonomous"."""
    return _word("agent", escape(state or ""))


def policy_name(word: object) -> str:
    """Say what becomes of a tool's calls: "denied"."""
    return _word("ruling", escape(word or ""))


def presence_name(presence: object) -> str:
    """Say what a verdict needs in order to count: "other device"."""
    return _word("presence", escape(presence or "any"))


def run_status(status: object) -> str:
    """Say how a run stands: "completed"."""
    return _word("run", escape(status or ""))


def author_name(by: object) -> str:
    """Say who: "you", "agent"."""
    return _word("author", {"user": "you"}.get(str(by), escape(by or "someone")))


def field_name(name: object) -> str:
    """Say a field's name: `is_checked` is "checked", `estimate_minutes` is "estimate"."""
    word = _WORDS_OF_TASKS.get(str(name))
    return _word(
        "field", word or escape(name).removeprefix("is_").removesuffix("_minutes").removesuffix("_id")
    )


def _word(what: str, value: str) -> str:
    return pgettext(what, value.replace("_", " "))
