"""The kinds of the journal and their fields, as this version knows them.

Never refuses what it does not know: a newer version wrote it, and it is shown as unknown.
"""

from collections.abc import Set as AbstractSet
from typing import Final

from daemon.task_fields import TASK_FIELDS
from store.fold.entity_state import DELETED

FIELDS_BY_KIND: Final[dict[str, frozenset[str]]] = {
    "task": frozenset({*(field.kept_as or field.name for field in TASK_FIELDS), "series_id", "occurrence"}),
    "checklist": frozenset({"task_id", "title", "position"}),
    "checklist_item": frozenset({"checklist_id", "title", "is_checked", "is_archived", "position"}),
    "entry": frozenset({"task_id", "text", "source", "happened_at", "position"}),
    "time_record": frozenset({"task_id", "started_at", "ended_at", "note"}),
    "link": frozenset({"from_id", "to_id", "type"}),
    "label": frozenset({"name", "color", "description", "category_ids"}),
    "category": frozenset({"name", "color", "default_language", "correction_examples"}),
    "preference": frozenset({"text", "category_id"}),
    "series": frozenset(
        {
            *("rule", "first", "until", "zone", "root_id", "follows_id", "skipped", "steps"),
            *("title", "priority", "estimate_minutes", "language", "category_id", "label_ids"),
            "due_time",
        }
    ),
}
"""The fields of what people write; a set by the name before its slash."""

OTHER_LOGGED_KINDS: Final = frozenset(
    {"agent", "ask", "decision", "device", "passkey", "standing_rule", "use"}
)
"""What the log shows too, whatever its fields."""

BOOKKEEPING_KINDS: Final = frozenset(
    {"agent_state", "message", "payload", "report", "change_set", "undo", "usage"}
)
"""What agents and devices keep for themselves, and by which an undo is told from an edit."""


def is_logged_kind(kind: str) -> bool:
    """Say whether the log of everything shows a kind; one that is not known here is shown."""
    return kind not in BOOKKEEPING_KINDS


def is_secret_field(kind: str, field: str) -> bool:
    """Say whether the members' stores keep the value of a field to themselves: only its change is shown."""
    return kind == "device" and field in ("beacon", "sealing_key")


def is_known_field(kind: str, field: str) -> bool:
    """Say whether this version knows what a field of a kind means."""
    if kind in OTHER_LOGGED_KINDS or kind in BOOKKEEPING_KINDS or field == DELETED:
        return True
    return field.partition("/")[0] in FIELDS_BY_KIND.get(kind, frozenset())


def unknown_fields(kind: str, fields: AbstractSet[str]) -> list[str]:
    """Return those of a kind's fields that this version does not know, in order."""
    # Nearly always there is none, and the difference of two sets shows that at once.
    rest = fields - FIELDS_BY_KIND.get(kind, frozenset()) - {DELETED}
    return sorted(field for field in rest if not is_known_field(kind, field))
