"""What a change did to one thing, as a sentence that names who did it: "You created an agent".

Never says in whose name something was done but by the kind of its author: who is meant stands beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.words import terms
from daemon.words.changes import NAMING_FIELDS
from daemon.words.terminal_text import truncate
from daemon.words.translation import _
from daemon.words.values import in_quotation_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from daemon.shapes.answers import ChangeJson

_NAME_WIDTH: Final = 120


def change_sentence(changes: Sequence[ChangeJson]) -> str:
    """Say what one commit did to one thing, by the rows that the log shows; "" if these say it better."""
    first = changes[0]
    deed = _name_deed(changes)
    if not deed:
        return ""
    made = next((change for change in changes if change.get("field") in NAMING_FIELDS), None)
    name = str((made or {}).get("after") or first.get("title") or "")
    say = _SAY[deed]
    by_you, by_others = say()
    template = by_you if first.get("by") == "user" or first.get("as_proposed") is not None else by_others
    return template.format(
        who=_author_words(first.get("by")),
        name=in_quotation_marks(truncate(" ".join(name.split()), _NAME_WIDTH)) if name else "",
        kind=terms.kind_name(first.get("kind")),
    ).rstrip(" :\u00a0\u202f")


def label_sentence(change: ChangeJson) -> str:
    """Say that a label was put on a task, or taken off; "" for any other change."""
    group, is_member, label = str(change.get("field") or "").partition("_ids/")
    if not is_member or group != "label":
        return ""
    by_you, by_others = _SAY["labelled" if change.get("after") else "unlabelled"]()
    is_yours = change.get("by") == "user" or change.get("as_proposed") is not None
    name = in_quotation_marks(truncate(label, _NAME_WIDTH))
    return (by_you if is_yours else by_others).format(who=_author_words(change.get("by")), name=name)


def _author_words(by: object) -> str:
    return {"agent": _("An agent"), "system": _("Placet")}.get(str(by), _("Somebody"))


def _name_deed(changes: Sequence[ChangeJson]) -> str:
    """Name what was done, as `_SAY` has it; "" for values of a task that changed."""
    kind = str(changes[0].get("kind") or "")
    after = {str(change.get("field")): change.get("after") for change in changes}
    is_new = any(change.get("field") in _FIRST_FIELDS and change.get("before") is None for change in changes)
    if after.get("deleted") is True:
        return "removed"
    if after.get("deleted") is False:
        return "restored"
    if is_new and kind != "agent_state":
        return f"new {kind}" if f"new {kind}" in _SAY else "new"
    if after.get("is_checked") in (True, False):
        return "ticked" if after["is_checked"] else "unticked"
    if kind == "time_record" and after.get("ended_at"):
        return "ended"
    if after.get("position") and not after.keys() - {"position", "checklist_id"}:
        return "moved"
    return "" if kind == "task" else "changed"


_FIRST_FIELDS: Final = frozenset(
    {*NAMING_FIELDS, "task_id", "from_id", "checklist_id", "public_key", "started_at"}
)
"""Fields of which each new thing has one, and which never change from nothing later."""

_SAY: Final[Mapping[str, Callable[[], tuple[str, str]]]] = {
    "new task": lambda: (_("You added this task"), _("{who} added this task")),
    "new checklist": lambda: (_("You added the checklist {name}"), _("{who} added the checklist {name}")),
    "new checklist_item": lambda: (_("You added the step {name}"), _("{who} added the step {name}")),
    "new entry": lambda: (_("You wrote a note: {name}"), _("{who} wrote a note: {name}")),
    "new time_record": lambda: (_("You recorded time"), _("{who} recorded time")),
    "new link": lambda: (_("You linked two tasks: {name}"), _("{who} linked two tasks: {name}")),
    "new agent": lambda: (_("You created an agent"), _("{who} created an agent")),
    "new": lambda: (_("You added: {kind} {name}"), _("{who} added: {kind} {name}")),
    "ticked": lambda: (_("You ticked the step {name}"), _("{who} ticked the step {name}")),
    "unticked": lambda: (
        _("You took the tick off the step {name}"),
        _("{who} took the tick off the step {name}"),
    ),
    "labelled": lambda: (_("You added the label {name}"), _("{who} added the label {name}")),
    "unlabelled": lambda: (_("You took the label {name} off"), _("{who} took the label {name} off")),
    "ended": lambda: (_("You stopped the time"), _("{who} stopped the time")),
    "removed": lambda: (_("You removed: {kind} {name}"), _("{who} removed: {kind} {name}")),
    "restored": lambda: (_("You brought back: {kind} {name}"), _("{who} brought back: {kind} {name}")),
    "moved": lambda: (_("You moved: {kind} {name}"), _("{who} moved: {kind} {name}")),
    "changed": lambda: (_("You changed: {kind} {name}"), _("{who} changed: {kind} {name}")),
}
"""The sentences, looked up in the language in use when they are shown: what you did, and what others did."""
