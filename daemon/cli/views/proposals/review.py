"""One proposal in full, as a review shows it: what it changes, why, what else, what stands against it.

Never shows an agent's words as its own, and never leaves out that something has changed since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.painted import note_lines
from daemon.cli.views.journal.agent_words import agent_quote_lines
from daemon.cli.views.proposals.changes import diff_lines
from daemon.cli.views.proposals.pending import (
    WIDTH_MAX,
    idle_verdict_lines,
    set_heading,
    side_lines,
)
from daemon.words.dates import relative_time
from daemon.words.proposals import (
    item_marks,
    question_id,
    rationale_words,
    summary_words,
    value_changes,
    written_fields,
)
from daemon.words.short_ids import SHORT_ID_CHARS_MIN, short_ids_of
from daemon.words.terminal_text import escape, truncate, wrap_lines
from daemon.words.translation import _, ngettext
from daemon.words.values import author_words, field_words, in_quotation_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.views.proposals.review_progress import ReviewProgress
    from daemon.shapes.answers import ChecklistItemJson, EntryJson, PendingItemJson, TaskJson

_INDENT: Final = "  "
_KEY_WIDTH: Final = 7
_EVIDENCE_CHARS_MAX: Final = 300


def review_page(
    review: ReviewProgress, task: TaskJson | None, others: Sequence[PendingItemJson], display: Display
) -> Iterator[str]:
    """Draw the item that the review is at; `others` are the proposals that are open on its task now."""
    item = review.current
    width = min(display.width, WIDTH_MAX)
    place = _("{at} of {count}").format(at=review.position + 1, count=len(review))
    title = escape((task or {}).get("title") or item.get("task_title") or item.get("task_id") or "")
    yield ""
    yield display.paint(truncate(f"{place}  {title}", width), "bold")
    # Escaped as one line: nothing in it may begin a line of its own.
    if question_id(item):
        yield from _answer_lines(item, others, width, display)
    else:
        yield from wrap_lines(escape(summary_words(item)), width)
        for line in _detail_lines(item, task or {}, others, width - len(_INDENT), display):
            yield _INDENT + line
    short = escape(review.short_ids.get(str(item.get("item_id")), ""))
    fate = f"{set_heading(item, display)} {display.symbol('·')} {_('item {id}').format(id=short)}"
    yield from (_INDENT + display.paint(line, "dim") for line in wrap_lines(fate, width - len(_INDENT)))


def open_answers(item: PendingItemJson, others: Iterable[PendingItemJson]) -> dict[str, PendingItemJson]:
    """Give the answers of the question that an item answers, by the key that chooses each."""
    return {
        str((other.get("question") or {}).get("number")): other
        for other in others
        if question_id(other) == question_id(item) != ""
    }


def _answer_lines(
    item: PendingItemJson, others: Sequence[PendingItemJson], width: int, display: Display
) -> Iterator[str]:
    """Draw a question of the agent, and its answers with what each would change."""
    yield from wrap_lines(escape((item.get("question") or {}).get("text") or ""), width)
    for key, answer in open_answers(item, others).items():
        first, *rest = wrap_lines(escape(summary_words(answer)), width - 2 * len(_INDENT) - 1)
        yield f"{_INDENT}{display.paint(key, 'cyan')} {first}"
        marks = [display.paint(escape(words), style) for words, style in item_marks(answer)]
        diffs = diff_lines(value_changes(answer), width - 2 * len(_INDENT), display)
        yield from (f"{_INDENT * 2}{line}" for line in (*rest, *diffs, *marks))


def _detail_lines(
    item: PendingItemJson, task: TaskJson, others: Sequence[PendingItemJson], width: int, display: Display
) -> Iterator[str]:
    yield from diff_lines(value_changes(item), width, display, apart=True)
    for words, style in item_marks(item):
        yield from (display.paint(line, style) for line in wrap_lines(escape(words), width))
    if item.get("stale"):
        yield from side_lines(item, width, display)
    yield from agent_quote_lines(rationale_words(item), width, display)
    yield from note_lines(item, width, display)
    yield from idle_verdict_lines(item, width, display)
    yield from _tick(item, task, width, display)
    for words in (*_also(item, task), *_rivals(item, others)):
        yield from wrap_lines(words, width)


# -- what else it would change --------------------------------------------------------------------


def _also(item: PendingItemJson, task: TaskJson) -> Iterator[str]:
    """Say what confirming does beside the change itself, and what stands beside it already."""
    tool = str(item.get("tool"))
    if tool.startswith("add_checklist") and task and not task.get("checklists"):
        yield _("also: makes the checklist “Todos”")
    if tool == "assign_task_label" and task.get("labels"):
        labels = ", ".join(map(escape, task["labels"]))
        yield _("labels so far: {labels}").format(labels=labels)
    touched = {value_change.field for value_change in value_changes(item)}
    for conflict in task.get("conflicts") or ():
        if conflict.get("field") in touched:
            name = field_words(conflict.get("field"))
            yield _("{field} is in conflict: see placet conflicts").format(field=name)


def _rivals(item: PendingItemJson, others: Iterable[PendingItemJson]) -> Iterator[str]:
    """Name the other open proposals for the same values: confirming one makes them stale."""
    mine = written_fields(item)
    rivals = [
        rival
        for rival in others
        if rival.get("item_id") != item.get("item_id")
        and rival.get("task_id") == item.get("task_id")
        and mine & written_fields(rival)
    ]
    ids = short_ids_of(rivals, "item_id")
    for other in rivals:
        short = escape(ids.get(str(other.get("item_id")), ""))
        yield _("also proposed for this: {item} {summary}").format(item=short, summary=summary_words(other))


# -- a tick, and what speaks for it ---------------------------------------------------------------


def _tick(item: PendingItemJson, task: TaskJson, width: int, display: Display) -> Iterator[str]:
    """Put what the agent names as evidence beside who set the tick that it would change."""
    args = item.get("args") or {}
    if item.get("tool") != "update_checklist_item" or "isChecked" not in args:
        return
    target = _item_of(task, str(args.get("id") or ""))
    if target and (text := _tick_words(target, display)):
        yield from wrap_lines(text, width)
    if args.get("reason") and args["reason"] != rationale_words(item):
        yield from agent_quote_lines(args["reason"], width, display)
    for ref in args.get("evidenceIds") or ():
        yield from _evidence(str(ref), task, width, display)


def _item_of(task: TaskJson, ref: str) -> ChecklistItemJson | None:
    items = (item for listed in task.get("checklists") or () for item in listed.get("items") or ())
    return next((item for item in items if ref and item.get("id") == ref), None)


def _tick_words(item: Mapping[str, Any], display: Display) -> str:
    by, checked_at = item.get("checked_by"), item.get("checked_at")
    if not by:
        return ""
    who, when = author_words(by, item.get("checked_on")), relative_time(checked_at, display.now_s)
    message = _("ticked by {who}, {when}") if item.get("is_checked") else _("left open by {who}, {when}")
    return message.format(who=who, when=when)


def _evidence(ref: str, task: TaskJson, width: int, display: Display) -> Iterator[str]:
    entry: EntryJson | None = next(
        (entry_json for entry_json in task.get("entries") or () if entry_json.get("id") == ref), None
    )
    if entry is None:
        yield from wrap_lines(
            _("evidence {id}: the task has no such note").format(id=ref[:SHORT_ID_CHARS_MIN]), width
        )
        return
    who = author_words(entry.get("author"), entry.get("device_name"))
    text = in_quotation_marks(truncate(" ".join(str(entry.get("text") or "").split()), _EVIDENCE_CHARS_MAX))
    template = _("evidence: {who}, {when}: {words}")
    when = relative_time(entry.get("happened_at"), display.now_s)
    yield from wrap_lines(template.format(who=who, when=when, words=text), width)


# -- the end, and the help ------------------------------------------------------------------------


def closing_lines(review: ReviewProgress, behind: int, came: int) -> Iterator[str]:
    """Say what was decided, what is left, what the budget of attention held back, and what came meanwhile."""
    counts = [
        ngettext("{count} confirmed", "{count} confirmed", review.decided_count("confirmed")),
        ngettext("{count} rejected", "{count} rejected", review.decided_count("rejected")),
        ngettext("{count} deferred", "{count} deferred", review.decided_count("deferred")),
    ]
    numbers = [review.decided_count(verdict) for verdict in ("confirmed", "rejected", "deferred")]
    texts = [count.format(count=number) for count, number in zip(counts, numbers, strict=True) if number]
    yield ", ".join(texts) if texts else _("Nothing was decided.")
    if left := review.open_count():
        stays = ngettext("{count} is left as it was.", "{count} are left as they were.", left)
        yield stays.format(count=left)
    if behind:
        waits = ngettext(
            "{count} more waits behind these: placet pending --all",
            "{count} more wait behind these: placet pending --all",
            behind,
        )
        yield waits.format(count=behind)
    if came:
        message = ngettext(
            "{count} more came meanwhile: placet review", "{count} more came meanwhile: placet review", came
        )
        yield message.format(count=came)


def help_lines(display: Display) -> Iterator[str]:
    """Say what each key does."""
    for key, words in (
        ("y", _("confirm it")),
        ("1 2 …", _("choose this answer to a question")),
        ("n", _("reject it, and say why")),
        ("d", _("defer it: it stays, and does not expire")),
        ("e", _("change its arguments, and confirm that")),
        ("s", _("leave it as it is, and go on")),
        ("j k", _("look at the next, at the one before")),
        ("a", _("see what is left of this task, and confirm all of it")),
        ("u", _("take the last decision of this review back")),
        ("q", _("leave the rest as it is, and end")),
    ):
        first, *rest = wrap_lines(words, min(display.width, WIDTH_MAX) - _KEY_WIDTH)
        yield f"  {key:<{_KEY_WIDTH - 2}}{first}"
        yield from (" " * _KEY_WIDTH + line for line in rest)
