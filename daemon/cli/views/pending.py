"""Open proposals, grouped by task and set, and what came of deciding them.

Never shows an agent's words as its own: they are marked as the agent's.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from daemon.cli import names
from daemon.cli.proposals import changes, compared, rationale, summary
from daemon.cli.sentences import retold
from daemon.cli.short import shorts
from daemon.cli.text import cells, padded, shown, wrapped
from daemon.cli.views.changes import change_lines
from daemon.cli.views.values import field_words, headed, quoted_words, value_words
from daemon.cli.when import ago, ahead
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import PendingItem, Verdict

WIDTH_MAX: Final = 88
SET_SHORT: Final = 8
"""Sets are long lived and many: the fewest characters that would do need the whole store."""
_INDENT: Final = " " * 8
_QUOTATION: Final = "“”„«»"
_RESULT_WIDTH_MIN: Final = 9
_MESSAGE_WIDTH_MIN: Final = 24
_RESULT_STYLES: Final = {"applied": "green", "already": "dim", "stale": "yellow", "conflict": "yellow"}
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
    "stale",
)


def pending_rows(items: Iterable[PendingItem]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet pending --help` names."""
    for item in items:
        yield tuple(item.get(key) for key in _ROW_KEYS)


def pending_list(items: Sequence[PendingItem], titles: dict[str, str], look: Look) -> Iterator[str]:
    """Draw the open proposals beneath the tasks that they are about, set by set."""
    ids = shorts(items, "item_id")
    by_task: dict[str, list[PendingItem]] = {}
    for item in items:
        by_task.setdefault(item.get("task_id", ""), []).append(item)
    for at, (task, of_task) in enumerate(by_task.items()):
        title = shown(titles.get(task) or task)
        yield from [""] * bool(at)
        yield look.paint(title, "bold")
        for fate, group in groupby(of_task, key=lambda item: fate_words(item, look)):
            for item in group:
                yield from item_lines(item, ids.get(item.get("item_id", ""), ""), look)
            yield from (_INDENT + look.paint(line, "dim") for line in wrapped(fate, _room(look)))


def _room(look: Look) -> int:
    return min(look.width, WIDTH_MAX) - len(_INDENT)


def item_lines(item: PendingItem, short: str, look: Look) -> Iterator[str]:
    """Draw one item of a list: what it would do, over which value, and what the agent says."""
    width = _room(look)
    first, *rest = wrapped(shown(summary(item)), width)
    marks = mark_words(item)
    fits = not rest and cells("  ".join([first, *(words for words, _style in marks)])) <= width
    painted = [look.paint(line, style) for words, style in marks for line in wrapped(words, width)]
    head = f"  {look.paint(shown(short), 'cyan')}{' ' * max(1, 6 - len(short))}{first}"
    yield "  ".join([head, *(painted if fits else ())])
    below = [
        *rest,
        *(() if fits else painted),
        *change_lines(changes(item), width, look),
        *agents_lines(rationale(item), width, look),
    ]
    yield from (_INDENT + line for line in below)


def mark_words(item: PendingItem) -> list[tuple[str, str]]:
    """Give what is unusual about an item, each with its colour."""
    marks = []
    if item.get("disputed"):
        marks.append((_("disputed: your devices decided differently"), "red"))
    if item.get("stale"):
        marks.append((_("stale: it has changed since"), "yellow"))
    if item.get("edited"):
        marks.append((_("with the arguments that you edited"), "yellow"))
    if item.get("status") == "deferred":
        marks.append((_("put off"), "yellow"))
    return marks


def agents_lines(words: object, width: int, look: Look) -> Iterator[str]:
    """Draw what an agent says, marked as the agent's; nothing where it says nothing."""
    if not words:
        return
    # What has such marks itself is not put between them once more.
    told = str(words) if any(mark in str(words) for mark in _QUOTATION) else quoted_words(words)
    for line in wrapped(_("the agent says: {words}").format(words=told), width):
        yield look.paint(line.replace("“", look.sign("“")).replace("”", look.sign("”")), "dim")


def fate_words(item: PendingItem, look: Look) -> str:
    """Say of which set it is, when it was proposed, and when it expires."""
    words = [_("set {id}").format(id=shown(str(item.get("set_id") or ""))[:SET_SHORT])]
    if item.get("created_at"):
        words.append(_("proposed {when}").format(when=ago(item["created_at"], look.now_s)))
    if item.get("expires_at") and item.get("status") != "deferred":
        words.append(_("expires {when}").format(when=ahead(item["expires_at"], look.now_s)))
    return f" {look.sign('·')} ".join(words)


# -- what came of decisions -----------------------------------------------------------------------


def verdict_rows(verdicts: Iterable[Verdict]) -> Iterator[Sequence[object]]:
    """Give the plain columns: item, result, status, message."""
    for one in verdicts:
        yield one.get("item_id"), one.get("result"), one.get("status"), one.get("message")


def verdict_lines(verdicts: Sequence[Verdict], look: Look) -> Iterator[str]:
    """Draw what came of each decision."""
    ids = shorts(verdicts, "item_id")
    wide = max(_RESULT_WIDTH_MIN, *(cells(names.outcome(one.get("result"))) + 1 for one in verdicts), 0)
    for one in verdicts:
        result = str(one.get("result") or "")
        good = result in ("applied", "already")
        sign = look.sign("✓" if good else "✗")
        # Of a rejection, too, the answer is "applied": which is for scripts, and no word for a person.
        word = "" if result == "applied" else f"{padded(names.outcome(result), wide)} "
        short = shown(ids.get(one.get("item_id", ""), ""))
        told = retold(str(one.get("message") or "")) or names.proposal_status(one.get("status"))
        margin = cells(f"{sign} {short}  {word}")
        first, *rest = wrapped(told, max(min(look.width, WIDTH_MAX) - margin, _MESSAGE_WIDTH_MIN))
        colour = _RESULT_STYLES.get(result, "red")
        head = f"{look.paint(sign, 'green' if good else 'red')} {look.paint(short, 'cyan')}"
        yield f"{head}  {look.paint(word, colour)}{first}".rstrip()
        indent = " " * min(margin, look.width // 4)
        yield from (indent + line for line in rest)
        if result == "stale" and isinstance(one.get("proposed"), dict):
            # Of a single value the message says as much.
            width = min(look.width, WIDTH_MAX) - len(indent)
            yield from (indent + line for line in compared_lines(one, width, look))


def compared_lines(told: Mapping[str, Any], width: int, look: Look) -> Iterator[str]:
    """Draw what a proposal rested on, what is there now, and what is proposed."""
    sides = [(_("when it was proposed"), "base"), (_("now"), "current"), (_("proposed"), "proposed")]
    if not any(told.get(key) is not None for _words, key in sides):
        return
    wide = max(cells(words) for words, _key in sides)
    for words, key in sides:
        values = compared(told, key)
        said = ", ".join(
            (headed(field_words(field)) if len(values) > 1 else "") + value_words(value, field)
            for field, value in values.items()
        )
        first, *rest = wrapped(said, max(width - wide - 2, _MESSAGE_WIDTH_MIN))
        if wide + 2 + cells(first) <= width:
            yield look.paint(f"{padded(words, wide)}  ", "dim") + first
        else:
            # Too narrow for columns.
            yield look.paint(words, "dim")
            first, *rest = ["", *wrapped(said, width - 2)]
        yield from (f"{' ' * (wide + 2 if first else 2)}{line}" for line in rest)
