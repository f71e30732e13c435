"""What a proposal says, from its tool and arguments, in the language of the person.

Never shows an agent's words as its own. A tool that is not known here is told as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from daemon.cli import names
from daemon.cli.words import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from daemon.cli.shapes import PendingItem

_ID_SHOWN: Final = 8
_FIELDS: Final = {
    "set_task_title": "title",
    "update_task_estimate": "estimate_minutes",
    "update_task_due_date": "due",
    "update_task_priority": "priority",
    "set_task_status": "status",
    "set_task_language": "language",
    "assign_task_label": "label",
}
_ITEM_FIELDS: Final = {"isChecked": "is_checked", "title": "title", "isArchived": "is_archived"}


class Changed(NamedTuple):
    """One value that a proposal changes."""

    field: str
    before: Any
    after: Any


def summary(item: PendingItem) -> str:
    """Say what confirming would do; of a tool or arguments not known here, as the daemon told it."""
    args = item.get("args")
    say = _SAY.get(str(item.get("tool")))
    said = say(item, args) if say and isinstance(args, dict) else ""
    return said or item.get("summary") or item.get("tool") or ""


def adds(item: PendingItem) -> bool:
    """Say whether it makes something or adds to a set: then there is nothing before it."""
    return str(item.get("tool")).startswith(("add_", "assign_"))


def changes(item: PendingItem) -> list[Changed]:
    """Give each value that confirming would change; none of a proposal that only adds."""
    if adds(item):
        return []
    before, after = item.get("current"), item.get("proposed")
    if not isinstance(after, dict):
        return [Changed(_field(item), before, after)]
    was = before if isinstance(before, dict) else {}
    each = [Changed(field, was.get(field), value) for field, value in after.items()]
    # A reason where there was none stands in the summary already.
    return [one for one in each if one.field != "reason" or one.before] or each


def rationale(item: PendingItem) -> str:
    """Give the agent's own words for it, wherever it put them."""
    is_argued = item.get("tool") == "update_checklist_item"
    return item.get("rationale") or (str((item.get("args") or {}).get("reason") or "") if is_argued else "")


def compared(item: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Give the values of one side (`base`, `current` or `proposed`) by their fields."""
    told: Any = item.get(key)
    pending: Any = item
    return told if isinstance(told, dict) else {_field(pending): told}


def fields(item: PendingItem) -> set[str]:
    """Name what it writes, so that two proposals for the same can be told to each other."""
    target = str((item.get("args") or {}).get("id") or "")
    if adds(item):
        return set()
    return {f"{target}/{one.field}" for one in changes(item)}


def _field(item: PendingItem) -> str:
    tool = str(item.get("tool") or "")
    args = item.get("args") or {}
    if tool == "update_checklist_item":
        return next((field for name, field in _ITEM_FIELDS.items() if name in args), "")
    return _FIELDS.get(tool) or tool.rpartition("_")[2]


def _subject(item: PendingItem, args: Mapping[str, Any]) -> str:
    """Name the item or label that is meant, as people do; where nobody told, by its id."""
    return str(item.get("subject") or str(args.get("id") or "")[:_ID_SHOWN])


def _title(_item: PendingItem, args: Mapping[str, Any]) -> str:
    title = args.get("title")
    return _('Set title to "{title}"').format(title=title) if title else ""


def _estimate(_item: PendingItem, args: Mapping[str, Any]) -> str:
    count = args.get("minutes")
    if not isinstance(count, int):
        return ""
    said = ngettext("Set estimate to {count} minute", "Set estimate to {count} minutes", count)
    return said.format(count=count)


def _due(_item: PendingItem, args: Mapping[str, Any]) -> str:
    day = args.get("dueDate")
    return _("Set due date to {day}").format(day=day) if day else ""


def _priority(_item: PendingItem, args: Mapping[str, Any]) -> str:
    priority = args.get("priority")
    return _("Set priority to {priority}").format(priority=priority) if priority else ""


def _status(_item: PendingItem, args: Mapping[str, Any]) -> str:
    status, reason = names.task_status(args.get("status")), args.get("reason")
    if not status:
        return ""
    said = _('Set status to {status} (reason: "{reason}")') if reason else _("Set status to {status}")
    return said.format(status=status, reason=reason)


def _language(_item: PendingItem, args: Mapping[str, Any]) -> str:
    language = args.get("languageCode")
    return _("Set language to {language}").format(language=language) if language else ""


def _label(item: PendingItem, args: Mapping[str, Any]) -> str:
    label = _subject(item, args)
    return _('Assign label: "{label}"').format(label=label) if label else ""


def _new_item(_item: PendingItem, args: Mapping[str, Any]) -> str:
    title = args.get("title")
    said = _('Add: "{title}" (checked)') if args.get("isChecked") is True else _('Add: "{title}"')
    return said.format(title=title) if title else ""


def _changed_item(item: PendingItem, args: Mapping[str, Any]) -> str:
    """Say each thing that one proposal does to a checklist item."""
    return "; ".join(_deeds(_subject(item, args), args))


def _deeds(title: str, args: Mapping[str, Any]) -> Iterator[str]:
    match args.get("isChecked"):
        case True:
            yield _('Check off: "{title}"').format(title=title)
        case False:
            yield _('Uncheck: "{title}"').format(title=title)
    match args.get("isArchived"):
        case True:
            yield _('Archive: "{title}"').format(title=title)
        case False:
            yield _('Unarchive: "{title}"').format(title=title)
    if args.get("title"):
        yield _('Reword "{title}" as "{then}"').format(title=title, then=args["title"])


_SAY: Final[Mapping[str, Callable[[PendingItem, Mapping[str, Any]], str]]] = {
    "set_task_title": _title,
    "update_task_estimate": _estimate,
    "update_task_due_date": _due,
    "update_task_priority": _priority,
    "set_task_status": _status,
    "set_task_language": _language,
    "assign_task_label": _label,
    "add_checklist_item": _new_item,
    "update_checklist_item": _changed_item,
}
