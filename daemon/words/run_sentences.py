"""What a run of an agent came to, in one sentence: "Proposed 3 steps, a due date and 2 h".

Never shows a word of a model: it counts what was proposed, and names values of few words.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from daemon.words.activity import activity_kind
from daemon.words.dates import duration_words
from daemon.words.proposals import summary_words
from daemon.words.translation import _, ngettext, pgettext, pgettext_noop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from daemon.shapes.others import AgentMessageJson

_QUEUED: Final = "queued"
_DONE: Final = "done"
_QUESTION: Final = "ask_question"
_ESTIMATE: Final = "update_task_estimate"
pgettext_noop(
    "proposed", "a title", "a due date", "no due date", "a length", "no length", "a priority", "a status"
)
_ONE_VALUE: Final[Mapping[str, str]] = {
    "set_task_title": "a title",
    "update_task_due_date": "a due date",
    "clear_task_due_date": "no due date",
    _ESTIMATE: "a length",
    "clear_task_estimate": "no length",
    "update_task_priority": "a priority",
    "set_task_status": "a status",
}
"""Proposals of which one counts in a run, however often it changed its mind."""
_SEVERAL: Final[Mapping[str, Callable[[int], str]]] = {
    "steps": lambda count: ngettext("{count} step", "{count} steps", count),
    "changed": lambda count: ngettext("{count} change of a step", "{count} changes of steps", count),
    "labels": lambda count: ngettext("{count} label", "{count} labels", count),
    "unlabelled": lambda count: ngettext("{count} label less", "{count} labels less", count),
    "tasks": lambda count: ngettext("{count} new task", "{count} new tasks", count),
    "others": lambda count: ngettext("{count} other change", "{count} other changes", count),
}
_GROUP: Final = {
    "add_checklist_item": "steps",
    "add_multiple_checklist_items": "steps",
    "update_checklist_item": "changed",
    "update_checklist_items": "changed",
    "assign_task_label": "labels",
    "assign_task_labels": "labels",
    "remove_task_label": "unlabelled",
    "add_task": "tasks",
}


class _Call(NamedTuple):
    """A call with its answer: how many proposals it became, and its outcome."""

    tool: str
    args: dict[str, Any]
    proposals: int
    outcome: str


def run_words(messages: Sequence[AgentMessageJson]) -> str:
    """Say what the messages of one run amount to; "" if they do not tell.

    Without the calls of the run, its end says how many proposals it made.
    """
    calls = list(_answered_calls(messages))
    ended = next((message for message in messages if activity_kind(message) == "ended"), None)
    fault = next((message for message in messages if activity_kind(message) == "failed"), None)
    deeds = [
        *_proposal_deeds([call for call in calls if call.outcome == _QUEUED]),
        *_other_deeds(calls),
        *([_("broke off: {why}").format(why=fault.get("text") or "?")] if fault is not None else []),
    ]
    if not deeds and ended is not None:
        numbers: Any = ended.get("ended")
        count = numbers.get("proposals") if isinstance(numbers, dict) else None
        words = _("proposed nothing")
        if isinstance(count, int) and count > 0:
            words = ngettext("made {count} proposal", "made {count} proposals", count).format(count=count)
        deeds = [words]
    text = "; ".join(deeds)
    return text[:1].upper() + text[1:]


def confirmation_words(message: AgentMessageJson) -> str:
    """Say which proposal of the agent a person confirmed."""
    as_item: Any = message
    return _("You confirmed: {change}").format(change=summary_words(as_item))


def list_words(parts: Sequence[str]) -> str:
    """Join the parts of a list as the language does: "3 steps, a due date and 2 h"."""
    if len(parts) < 2:
        return "".join(parts)
    return _("{parts} and {last}").format(parts=", ".join(parts[:-1]), last=parts[-1])


def _answered_calls(messages: Iterable[AgentMessageJson]) -> Iterator[_Call]:
    args: dict[str, Any] = {}
    for message in messages:
        if message.get("item_id"):
            continue
        if message.get("kind") == "action":
            args = _read_arguments(str(message.get("text") or ""))
        elif message.get("kind") == "tool_result":
            count = len(message.get("item_ids") or ()) or 1
            yield _Call(str(message.get("tool") or ""), args, count, str(message.get("outcome") or ""))
            args = {}


def _read_arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _proposal_deeds(queued: Sequence[_Call]) -> Iterator[str]:
    values: dict[str, str] = {}
    counts = Counter[str]()
    questions = 0
    for tool, args, count, _outcome in queued:
        if tool == _QUESTION:
            questions += 1
        elif tool in _ONE_VALUE:
            minutes = args.get("minutes")
            is_length = tool == _ESTIMATE and type(minutes) is int and minutes > 0
            values[tool] = duration_words(minutes) if is_length else pgettext("proposed", _ONE_VALUE[tool])
        else:
            counts[_GROUP.get(tool, "others")] += count
    several = [
        say(counts[group]).format(count=counts[group]) for group, say in _SEVERAL.items() if counts[group]
    ]
    # What is counted comes first, and a length last: "3 steps, a due date and 2 h".
    parts = [*several, *(values[tool] for tool in sorted(values, key=lambda tool: (tool == _ESTIMATE, tool)))]
    if parts:
        yield _("proposed {changes}").format(changes=list_words(parts))
    if questions:
        yield ngettext("asked {count} question", "asked {count} questions", questions).format(count=questions)


def _other_deeds(calls: Sequence[_Call]) -> Iterator[str]:
    done = Counter(call.tool for call in calls if call.outcome == _DONE)
    if done["retract_proposals"]:
        yield _("took proposals back")
    if done["update_report"]:
        yield _("wrote its report")
    refused = sum(call.outcome in ("refused", "denied") for call in calls)
    if refused:
        yield ngettext("{count} call was refused", "{count} calls were refused", refused).format(
            count=refused
        )
