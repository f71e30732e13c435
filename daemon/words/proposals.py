"""What a proposal says, from its tool and arguments, in the language of the person.

Never shows an agent's words as its own. A tool that is not known here is shown as it came.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from daemon.words import terms
from daemon.words.dates import full_day_words, relative_time
from daemon.words.translation import _, ngettext
from daemon.words.values import in_quotation_marks, value_words, with_colon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from daemon.shapes.answers import DecisionJson, PendingItemJson

_ID_SHOWN: Final = 8
_FIELDS: Final = {
    "set_task_title": "title",
    "update_task_estimate": "estimate_minutes",
    "update_task_due_date": "due",
    "clear_task_due_date": "due",
    "clear_task_estimate": "estimate_minutes",
    "update_task_priority": "priority",
    "set_task_status": "status",
    "set_task_language": "language",
    "assign_task_label": "label",
    "remove_task_label": "label",
}
VERDICTS_ON_ASKS: Final = {"confirmed": "permitted", "rejected": "refused", "retracted": "withdrawn"}
_ENDS: Final = ".!?;:, …"
_ITEM_FIELDS: Final = {"isChecked": "is_checked", "title": "title", "isArchived": "is_archived"}


class ValueChange(NamedTuple):
    """One value that a proposal changes."""

    field: str
    before: Any
    after: Any


def summary_words(item: PendingItemJson) -> str:
    """Say what confirming would do; of a tool or arguments not known here, as the daemon told it.

    What an agent asks permission for is shown as it came: its action may have the name of a tool.
    """
    args = item.get("args")
    if item.get("is_ask"):
        return f"{item.get('tool') or ''} {json.dumps(args, ensure_ascii=False, sort_keys=True)}"
    say = _SAY.get(str(item.get("tool")))
    text = say(item, args) if say and isinstance(args, dict) else ""
    text = text or item.get("summary") or item.get("tool") or ""
    answer = answer_words(item)
    return f"{in_quotation_marks(answer)}: {text}" if answer else text


def verdict_words(decision: DecisionJson) -> str:
    """Say what a decision said: of an ask, that it was permitted or refused."""
    verdict = str(decision.get("verdict") or "")
    return terms.proposal_status(
        VERDICTS_ON_ASKS.get(verdict, verdict) if decision.get("is_ask") else verdict
    )


def answer_words(item: PendingItemJson) -> str:
    """Give the words of the answer that an item is; "" of an item that answers no question."""
    question = item.get("question")
    if not isinstance(question, dict):
        return ""
    number = question["number"]
    return next(
        (str(offered["text"]) for place, offered in enumerate(question["answers"], 1) if place == number), ""
    )


def question_words(item: PendingItemJson) -> str:
    """Give the words of the question that an item answers; "" of an item that answers none."""
    question = item.get("question")
    return str(question["text"]) if isinstance(question, dict) else ""


def question_id(item: PendingItemJson) -> str:
    """Give the id of the question that an item answers; "" of an item that answers none."""
    question = item.get("question")
    return str(question["question_id"]) if isinstance(question, dict) else ""


def without_held_back(items: Iterable[PendingItemJson]) -> list[PendingItemJson]:
    """Leave out what is beyond the budget of its agent: it waits behind the rest."""
    return [item for item in items if not item.get("held_back")]


def without_other_answers(items: Iterable[PendingItemJson]) -> list[PendingItemJson]:
    """Give what a person decides on, one after the other: of each question its first answer alone."""
    first_by_key: dict[str, PendingItemJson] = {}
    for item in items:
        first_by_key.setdefault(question_id(item) or str(item.get("item_id")), item)
    return list(first_by_key.values())


def is_addition(item: PendingItemJson) -> bool:
    """Say whether it makes something or adds to a set: then there is nothing before it."""
    return str(item.get("tool")).startswith(("add_", "assign_"))


def value_changes(item: PendingItemJson) -> list[ValueChange]:
    """Give each value that confirming would change; none of a proposal that only adds."""
    if is_addition(item):
        return []
    before, after = item.get("current"), item.get("proposed")
    if not isinstance(after, dict):
        return [ValueChange(_field(item), before, after)]
    old_before = before if isinstance(before, dict) else {}
    changes = [ValueChange(field, old_before.get(field), value) for field, value in after.items()]
    # If there was no reason before, the new one is in the summary already.
    return [change for change in changes if change.field != "reason" or change.before] or changes


def rationale_words(item: PendingItemJson) -> str:
    """Give the agent's own words for it, wherever it put them."""
    is_argued = item.get("tool") == "update_checklist_item"
    return item.get("rationale") or (str((item.get("args") or {}).get("reason") or "") if is_argued else "")


def item_marks(item: PendingItemJson) -> list[tuple[str, str]]:
    """Give what is unusual about an item, each with its colour."""
    marks = []
    if item.get("disputed"):
        marks.append((_("disputed: your devices decided differently"), "red"))
    if item.get("stale"):
        marks.append((_("stale: it has changed since"), "yellow"))
    if item.get("edited"):
        marks.append((_("with the arguments that you edited"), "yellow"))
    if item.get("expires_soon"):
        marks.append((_("expires within a day"), "yellow"))
    if item.get("status") == "deferred":
        marks.append((_("deferred"), "yellow"))
    if need_words(item.get("presence")):
        marks.append((need_words(item.get("presence")), "yellow"))
    if item.get("proposed_on"):
        words = _("proposed on {device}, which is not the agent's home")
        marks.append((words.format(device=item.get("proposed_on")), "yellow"))
    return marks


def need_words(presence: object) -> str:
    """Say what a verdict needs in order to count; empty if every one counts."""
    say = _NEEDS.get(str(presence))
    return "" if say is None else say()


LACKS: Final[Mapping[str, Callable[[], str]]] = {
    "other_device": lambda: _("not from another device: it does not count"),
    "passkey": lambda: _("without a passkey: it does not count"),
}
"""What a verdict lacks that changes nothing."""

_NEEDS: Final[Mapping[str, Callable[[], str]]] = {
    "other_device": lambda: _("counts only if another device decides"),
    "passkey": lambda: _("counts only with your passkey"),
}


def note_words(item: PendingItemJson, now_s: float | None) -> str:
    """Say what the notes say of it, as this device reads them; "" if they cannot tell."""
    notes = item.get("notes") or {}
    say = _NOTE_WORDS.get(str(notes.get("verdict")))
    if say is None:
        return ""
    argument = next(iter(value_changes(item)), None)
    value = value_words(notes.get("value"), "" if argument is None else argument.field)
    return say().format(when=relative_time(notes.get("written_at"), now_s), value=value)


def quoted_note(item: PendingItemJson) -> str:
    """Give the sentence of the note that says something of it; "" if no note does, or the agent quotes it."""
    quote = str((item.get("notes") or {}).get("quote") or "")
    own_words = f"{item.get('rationale') or ''} {cast('DecisionJson', item).get('agent_reason') or ''}"
    return "" if quote.rstrip(_ENDS).casefold() in own_words.casefold() else quote


def quoting_words(item: PendingItemJson, now_s: float | None) -> str:
    """Say what the notes say of it, and quote the note; "" if they cannot tell."""
    words, quote = note_words(item, now_s), quoted_note(item)
    return with_colon(words) + in_quotation_marks(quote) if words and quote else words


def agrees_with_notes(item: PendingItemJson) -> bool:
    """Report whether a note says or mentions what is proposed."""
    return (item.get("notes") or {}).get("verdict") in ("says so", "mentions it")


_NOTE_WORDS: Final[Mapping[str, Callable[[], str]]] = {
    "says so": lambda: _("a note says so ({when})"),
    "mentions it": lambda: _("a note mentions it ({when})"),
    "says other": lambda: _("a note says {value} ({when})"),
    "silent": lambda: _("no note says so"),
}
"""The sentences, which are looked up in the language of the person when they are shown."""


def side_values(item: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Give the values of one side (`base`, `current` or `proposed`) by their fields."""
    side: Any = item.get(key)
    pending: Any = item
    return side if isinstance(side, dict) else {_field(pending): side}


def written_fields(item: PendingItemJson) -> set[str]:
    """Name what it writes, so that two proposals for the same can be told to each other."""
    target = str((item.get("args") or {}).get("id") or "")
    if is_addition(item):
        return set()
    return {f"{target}/{value_change.field}" for value_change in value_changes(item)}


def _field(item: PendingItemJson) -> str:
    tool = str(item.get("tool") or "")
    args = item.get("args") or {}
    if tool == "update_checklist_item":
        return next((field for name, field in _ITEM_FIELDS.items() if name in args), "")
    return _FIELDS.get(tool) or tool.rpartition("_")[2]


def _subject(item: PendingItemJson, args: Mapping[str, Any]) -> str:
    """Name the item or label that is meant, as people do; by its id if no name is known."""
    return str(item.get("subject") or str(args.get("id") or "")[:_ID_SHOWN])


def _title(_item: PendingItemJson, args: Mapping[str, Any]) -> str:
    title = args.get("title")
    return _('Set title to "{title}"').format(title=title) if title else ""


def _estimate(_item: PendingItemJson, args: Mapping[str, Any]) -> str:
    count = args.get("minutes")
    if not isinstance(count, int):
        return ""
    message = ngettext("Set estimate to {count} minute", "Set estimate to {count} minutes", count)
    return message.format(count=count)


def _due(_item: PendingItemJson, args: Mapping[str, Any]) -> str:
    day = args.get("dueDate")
    return _("Set due date to {day}").format(day=full_day_words(day, None).words) if day else ""


def _priority(_item: PendingItemJson, args: Mapping[str, Any]) -> str:
    priority = args.get("priority")
    return _("Set priority to {priority}").format(priority=priority) if priority else ""


def _status(_item: PendingItemJson, args: Mapping[str, Any]) -> str:
    status, reason = terms.task_status(args.get("status")), args.get("reason")
    if not status:
        return ""
    message = _('Set status to {status} (reason: "{reason}")') if reason else _("Set status to {status}")
    return message.format(status=status, reason=reason)


def _language(_item: PendingItemJson, args: Mapping[str, Any]) -> str:
    language = args.get("languageCode")
    return _("Set language to {language}").format(language=language) if language else ""


def _label(item: PendingItemJson, args: Mapping[str, Any]) -> str:
    label = _subject(item, args)
    return _('Assign label: "{label}"').format(label=label) if label else ""


def _no_label(item: PendingItemJson, args: Mapping[str, Any]) -> str:
    label = _subject(item, args)
    return _('Take the label away: "{label}"').format(label=label) if label else ""


def _new_item(_item: PendingItemJson, args: Mapping[str, Any]) -> str:
    title = args.get("title")
    message = _('Add: "{title}" (checked)') if args.get("isChecked") is True else _('Add: "{title}"')
    return message.format(title=title) if title else ""


def _new_task(item: PendingItemJson, args: Mapping[str, Any]) -> str:
    """Say the title of a new task, and what it starts with."""
    if not args.get("title"):
        return ""
    beginnings = (_due(item, args), _priority(item, args), _estimate(item, args))
    return "; ".join(
        [_('New task: "{title}"').format(title=args["title"]), *(words for words in beginnings if words)]
    )


def _no_change(_item: PendingItemJson, _args: Mapping[str, Any]) -> str:
    return _("Change nothing")


def _changed_item(item: PendingItemJson, args: Mapping[str, Any]) -> str:
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


_SAY: Final[Mapping[str, Callable[[PendingItemJson, Mapping[str, Any]], str]]] = {
    "set_task_title": _title,
    "update_task_estimate": _estimate,
    "update_task_due_date": _due,
    "clear_task_due_date": lambda _item, _args: _("Take the due date away"),
    "clear_task_estimate": lambda _item, _args: _("Take the estimate away"),
    "update_task_priority": _priority,
    "set_task_status": _status,
    "set_task_language": _language,
    "assign_task_label": _label,
    "remove_task_label": _no_label,
    "add_checklist_item": _new_item,
    "add_task": _new_task,
    "update_checklist_item": _changed_item,
    "answer_question": _no_change,
}
