"""One proposal in full, as a review shows it: what it changes, why, what else, what stands against it.

Never shows an agent's words as its own, and never leaves out that something has changed since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.proposals import changes, fields, rationale, summary
from daemon.cli.short import SHORT_MIN, shorts
from daemon.cli.text import cut, shown, wrapped
from daemon.cli.views.changes import change_lines
from daemon.cli.views.pending import WIDTH_MAX, agents_lines, compared_lines, fate_words, mark_words
from daemon.cli.views.values import author_words, field_words, quoted_words
from daemon.cli.when import ago
from daemon.cli.words import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.look import Look
    from daemon.cli.reviewing import Review
    from daemon.cli.shapes import ChecklistItem, Entry, PendingItem, Task

_INDENT: Final = "  "
_KEY_WIDTH: Final = 7
_EVIDENCE_CHARS_MAX: Final = 300


def review_page(
    review: Review, task: Task | None, others: Sequence[PendingItem], look: Look
) -> Iterator[str]:
    """Draw the item that the review is at; `others` are all proposals that are open now."""
    item = review.current
    width = min(look.width, WIDTH_MAX)
    place = _("{at} of {count}").format(at=review.at + 1, count=len(review))
    title = shown((task or {}).get("title") or item.get("task_title") or item.get("task_id") or "")
    yield ""
    yield look.paint(cut(f"{place}  {title}", width), "bold")
    # Escaped as one line: nothing in it may begin a line of its own.
    yield from wrapped(shown(summary(item)), width)
    for line in _below(item, task or {}, others, width - len(_INDENT), look):
        yield _INDENT + line
    short = shown(shorts(review.items, "item_id").get(str(item.get("item_id")), ""))
    fate = f"{fate_words(item, look)} {look.sign('·')} {_('item {id}').format(id=short)}"
    yield from (_INDENT + look.paint(line, "dim") for line in wrapped(fate, width - len(_INDENT)))


def _below(
    item: PendingItem, task: Task, others: Sequence[PendingItem], width: int, look: Look
) -> Iterator[str]:
    yield from change_lines(changes(item), width, look, apart=True)
    for words, style in mark_words(item):
        yield from (look.paint(line, style) for line in wrapped(words, width))
    if item.get("stale"):
        yield from compared_lines(item, width, look)
    yield from agents_lines(rationale(item), width, look)
    yield from _tick(item, task, width, look)
    for words in (*_also(item, task), *_rivals(item, others)):
        yield from wrapped(words, width)


# -- what else it would change --------------------------------------------------------------------


def _also(item: PendingItem, task: Task) -> Iterator[str]:
    """Say what confirming does beside the change itself, and what stands beside it already."""
    tool = str(item.get("tool"))
    if tool.startswith("add_checklist") and task and not task.get("checklists"):
        yield _("also: makes the checklist “Todos”")
    if tool == "assign_task_label" and task.get("labels"):
        labels = ", ".join(map(shown, task["labels"]))
        yield _("labels so far: {labels}").format(labels=labels)
    touched = {one.field for one in changes(item)}
    for conflict in task.get("conflicts") or ():
        if conflict.get("field") in touched:
            name = field_words(conflict.get("field"))
            yield _("{field} is in conflict: see placet conflicts").format(field=name)


def _rivals(item: PendingItem, others: Iterable[PendingItem]) -> Iterator[str]:
    """Name the other open proposals for the same values: confirming one makes them stale."""
    mine = fields(item)
    found = [
        one
        for one in others
        if one.get("item_id") != item.get("item_id")
        and one.get("task_id") == item.get("task_id")
        and mine & fields(one)
    ]
    ids = shorts(found, "item_id")
    for one in found:
        short = shown(ids.get(str(one.get("item_id")), ""))
        yield _("also proposed for this: {item} {summary}").format(item=short, summary=summary(one))


# -- a tick, and what speaks for it ---------------------------------------------------------------


def _tick(item: PendingItem, task: Task, width: int, look: Look) -> Iterator[str]:
    """Put what the agent names as evidence beside who set the tick that it would change."""
    args = item.get("args") or {}
    if item.get("tool") != "update_checklist_item" or "isChecked" not in args:
        return
    target = _item_of(task, str(args.get("id") or ""))
    if target and (said := _ticked(target, look)):
        yield from wrapped(said, width)
    if args.get("reason") and args["reason"] != rationale(item):
        yield from agents_lines(args["reason"], width, look)
    for ref in args.get("evidenceIds") or ():
        yield from _evidence(str(ref), task, width, look)


def _item_of(task: Task, ref: str) -> ChecklistItem | None:
    every = (one for listed in task.get("checklists") or () for one in listed.get("items") or ())
    return next((one for one in every if ref and one.get("id") == ref), None)


def _ticked(item: Mapping[str, Any], look: Look) -> str:
    by, at = item.get("checked_by"), item.get("checked_at")
    if not by:
        return ""
    who, when = author_words(by, item.get("checked_on")), ago(at, look.now_s)
    said = _("ticked by {who}, {when}") if item.get("is_checked") else _("left open by {who}, {when}")
    return said.format(who=who, when=when)


def _evidence(ref: str, task: Task, width: int, look: Look) -> Iterator[str]:
    entry: Entry | None = next((one for one in task.get("entries") or () if one.get("id") == ref), None)
    if entry is None:
        yield from wrapped(_("evidence {id}: the task has no such note").format(id=ref[:SHORT_MIN]), width)
        return
    who = author_words(entry.get("author"), entry.get("device_name"))
    text = quoted_words(cut(" ".join(str(entry.get("text") or "").split()), _EVIDENCE_CHARS_MAX))
    said = _("evidence: {who}, {when}: {words}")
    when = ago(entry.get("happened_at"), look.now_s)
    yield from wrapped(said.format(who=who, when=when, words=text), width)


# -- the end, and the help ------------------------------------------------------------------------


def closing(review: Review, came: int) -> Iterator[str]:
    """Say what was decided, what is left, and what came meanwhile."""
    counts = [
        ngettext("{count} confirmed", "{count} confirmed", review.count("confirmed")),
        ngettext("{count} rejected", "{count} rejected", review.count("rejected")),
        ngettext("{count} put off", "{count} put off", review.count("deferred")),
    ]
    numbers = [review.count(one) for one in ("confirmed", "rejected", "deferred")]
    done = [said.format(count=number) for said, number in zip(counts, numbers, strict=True) if number]
    yield ", ".join(done) if done else _("Nothing was decided.")
    if left := review.left():
        stays = ngettext("{count} is left as it was.", "{count} are left as they were.", left)
        yield stays.format(count=left)
    if came:
        told = ngettext(
            "{count} more came meanwhile: placet review", "{count} more came meanwhile: placet review", came
        )
        yield told.format(count=came)


def help_lines(look: Look) -> Iterator[str]:
    """Say what each key does."""
    for key, words in (
        ("y", _("confirm it")),
        ("n", _("reject it, and say why")),
        ("d", _("put it off: it stays, and does not expire")),
        ("e", _("change its arguments, and confirm that")),
        ("s", _("leave it as it is, and go on")),
        ("j k", _("look at the next, at the one before")),
        ("a", _("see what is left of this task, and confirm all of it")),
        ("u", _("take the last decision of this review back")),
        ("q", _("leave the rest as it is, and end")),
    ):
        first, *rest = wrapped(words, min(look.width, WIDTH_MAX) - _KEY_WIDTH)
        yield f"  {key:<{_KEY_WIDTH - 2}}{first}"
        yield from (" " * _KEY_WIDTH + line for line in rest)
