"""Open proposals, grouped by task, and what came of deciding them.

Never shows an agent's words as its own: they are marked as the agent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli import names
from daemon.cli.sentences import retold
from daemon.cli.short import shorts
from daemon.cli.text import cells, padded, shown, wrapped
from daemon.cli.views.values import before_after, quoted_words
from daemon.cli.when import ago
from daemon.cli.words import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import PendingItem, Verdict

_WIDTH_MAX: Final = 88
_INDENT: Final = " " * 8
# Sets are long lived and many: their own short ids would need the whole store.
_SET_SHORT: Final = 8
_RESULT_WIDTH_MIN: Final = 9
_RESULT_STYLES: Final = {"applied": "green", "already": "dim", "stale": "yellow", "conflict": "yellow"}


def pending_rows(items: Iterable[PendingItem]) -> Iterator[Sequence[object]]:
    """Give the plain columns: item, set, task, tool, status, disputed, summary, before, after, expiry."""
    for item in items:
        yield tuple(item.get(key) for key in _ROW_KEYS)


_ROW_KEYS: Final = (
    "item_id",
    "set_id",
    "task_id",
    "tool",
    "status",
    "disputed",
    "summary",
    "current",
    "proposed",
    "expires_at",
)


def pending_list(items: Sequence[PendingItem], titles: dict[str, str], look: Look) -> Iterator[str]:
    """Draw the open proposals beneath the tasks that they are about."""
    ids = shorts(items, "item_id")
    by_task: dict[str, list[PendingItem]] = {}
    for item in items:
        by_task.setdefault(item.get("task_id", ""), []).append(item)
    for at, (task, grouped) in enumerate(by_task.items()):
        title = shown(titles.get(task) or task)
        yield from [""] * bool(at)
        yield look.paint(title, "bold")
        for item in grouped:
            yield from _item(item, ids.get(item.get("item_id", ""), ""), look)


def _item(item: PendingItem, short: str, look: Look) -> Iterator[str]:
    width = min(look.width, _WIDTH_MAX) - len(_INDENT)
    first, *rest = wrapped(summary(item), width)
    gap = " " * max(1, 6 - len(short))
    yield f"  {look.paint(shown(short), 'cyan')}{gap}{first}{_marks(item, look)}"
    yield from (f"{_INDENT}{line}" for line in rest)
    if not str(item.get("tool")).startswith("add_"):
        yield _INDENT + before_after(item.get("current"), item.get("proposed"), _field(item), look)
    if item.get("rationale"):
        words = _agents_words(str(item["rationale"]))
        yield from (_INDENT + look.paint(_quoted(line, look), "dim") for line in wrapped(words, width))
    yield _INDENT + look.paint(_fate(item, look), "dim")


def summary(item: PendingItem) -> str:
    """Say what confirming would do, from the tool and its arguments; of a tool not known here, as it came."""
    args = item.get("args") or {}
    match item.get("tool"), args:
        case "set_task_title", {"title": title}:
            return _('Set title to "{title}"').format(title=title)
        case "update_task_estimate", {"minutes": int(count)}:
            said = ngettext("Set estimate to {count} minute", "Set estimate to {count} minutes", count)
            return said.format(count=count)
        case "update_task_due_date", {"dueDate": day}:
            return _("Set due date to {day}").format(day=day)
        case "update_task_priority", {"priority": priority}:
            return _("Set priority to {priority}").format(priority=priority)
        case "add_checklist_item", {"title": title}:
            said = _('Add: "{title}" (checked)') if args.get("isChecked") is True else _('Add: "{title}"')
            return said.format(title=title)
    return item.get("summary") or item.get("tool") or ""


def _agents_words(rationale: str) -> str:
    words = rationale if "“" in rationale else quoted_words(rationale)
    return _("the agent says: {words}").format(words=words)


def _quoted(line: str, look: Look) -> str:
    return line.replace("“", look.sign("“")).replace("”", look.sign("”"))


def _field(item: PendingItem) -> str:
    tool = item.get("tool") or ""
    return "estimate_minutes" if tool == "update_task_estimate" else tool.rpartition("_")[2]


def _marks(item: PendingItem, look: Look) -> str:
    marks = []
    if item.get("disputed"):
        marks.append(look.paint(_("disputed: your devices decided differently"), "red"))
    if item.get("stale"):
        marks.append(look.paint(_("stale: it has changed since"), "yellow"))
    if item.get("status") == "deferred":
        marks.append(look.paint(_("put off"), "yellow"))
    return "".join(f"  {mark}" for mark in marks)


def _fate(item: PendingItem, look: Look) -> str:
    words = [_("set {id}").format(id=shown(str(item.get("set_id") or ""))[:_SET_SHORT])]
    if item.get("created_at"):
        words.append(_("proposed {when}").format(when=ago(item["created_at"], look.now_s)))
    if item.get("expires_at") and item.get("status") != "deferred":
        words.append(_("expires {when}").format(when=ago(item["expires_at"], look.now_s)))
    return f" {look.sign('·')} ".join(words)


def verdict_rows(verdicts: Iterable[Verdict]) -> Iterator[Sequence[object]]:
    """Give the plain columns: item, result, status, message."""
    for one in verdicts:
        yield one.get("item_id"), one.get("result"), one.get("status"), one.get("message")


def verdict_lines(verdicts: Sequence[Verdict], look: Look) -> Iterator[str]:
    """Draw what came of each decision."""
    ids = shorts(verdicts, "item_id")
    wide = max(_RESULT_WIDTH_MIN, *(cells(names.outcome(one.get("result"))) + 1 for one in verdicts))
    for one in verdicts:
        result = str(one.get("result") or "")
        good = result in ("applied", "already")
        sign = look.paint(look.sign("✓" if good else "✗"), "green" if good else "red")
        told = retold(str(one.get("message") or "")) or names.proposal_status(one.get("status"))
        word = look.paint(padded(names.outcome(result), wide), _RESULT_STYLES.get(result, "red"))
        short = look.paint(shown(ids.get(one.get("item_id", ""), "")), "cyan")
        yield f"{sign} {short}  {word} {shown(told)}".rstrip()
