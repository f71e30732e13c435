"""Open proposals, grouped by task and set, and what came of deciding them.

Never shows an agent's words as its own: they are marked as the agent's.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.painted import note_lines
from daemon.cli.views.journal.agent_words import agent_quote_lines
from daemon.cli.views.proposals.changes import diff_lines
from daemon.words import terms
from daemon.words.dates import relative_future_time, relative_time
from daemon.words.proposals import (
    LACKS,
    item_marks,
    question_id,
    rationale_words,
    side_values,
    summary_words,
    value_changes,
)
from daemon.words.sentences import answer_words
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import display_width, escape, pad_right, wrap_lines
from daemon.words.translation import _
from daemon.words.values import field_words, value_words, with_colon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import DecisionResultJson, PendingItemJson

WIDTH_MAX: Final = 88
SET_ID_CHARS: Final = 8
"""Sets are long lived and many: the fewest characters that would do need the whole store."""
_ID_DIGITS: Final = 32
_INDENT: Final = " " * 8
_RESULT_WIDTH_MIN: Final = 9
_MESSAGE_WIDTH_MIN: Final = 24
_RESULT_STYLES: Final = {
    "applied": "green",
    "already": "dim",
    "stale": "yellow",
    "conflict": "yellow",
    "left": "yellow",
}
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


def pending_rows(items: Iterable[PendingItemJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet pending --help` names."""
    for item in items:
        yield tuple(item.get(key) for key in _ROW_KEYS)


def pending_list(items: Sequence[PendingItemJson], titles: dict[str, str], display: Display) -> Iterator[str]:
    """Draw the open proposals beneath the tasks that they are about, set by set."""
    ids = short_ids_of(items, "item_id")
    by_task: dict[str, list[PendingItemJson]] = {}
    for item in items:
        by_task.setdefault(item.get("task_id", ""), []).append(item)
    for index, (task, of_task) in enumerate(by_task.items()):
        title = escape(titles.get(task) or task)
        yield from [""] * bool(index)
        yield display.paint(title, "bold")
        for fate, group in groupby(of_task, key=lambda item: set_heading(item, display)):
            before = ""
            for item in group:
                if question_id(item) not in ("", before):
                    yield from question_lines(item, display)
                before = question_id(item)
                yield from item_lines(item, ids.get(item.get("item_id", ""), ""), display)
            yield from (_INDENT + display.paint(line, "dim") for line in wrap_lines(fate, _room(display)))


def question_lines(item: PendingItemJson, display: Display) -> Iterator[str]:
    """Draw the question that an item answers; nothing of an item that answers none."""
    question = item.get("question")
    if question is not None:
        for line in wrap_lines(escape(question.get("text") or ""), _room(display)):
            yield f"  {display.paint(line, 'bold')}"


def _room(display: Display) -> int:
    return min(display.width, WIDTH_MAX) - len(_INDENT)


def item_lines(item: PendingItemJson, short: str, display: Display) -> Iterator[str]:
    """Draw one item of a list: what it would do, over which value, and what the agent says."""
    width = _room(display)
    first, *rest = wrap_lines(escape(summary_words(item)), width)
    marks = [(escape(words), style) for words, style in item_marks(item)]
    fits = not rest and display_width("  ".join([first, *(words for words, _style in marks)])) <= width
    painted = [display.paint(line, style) for words, style in marks for line in wrap_lines(words, width)]
    head = f"  {display.paint(escape(short), 'cyan')}{' ' * max(1, 6 - len(short))}{first}"
    yield "  ".join([head, *(painted if fits else ())])
    below = [
        *rest,
        *(() if fits else painted),
        *diff_lines(value_changes(item), width, display),
        *agent_quote_lines(rationale_words(item), width, display),
        *note_lines(item, width, display),
        *idle_verdict_lines(item, width, display),
    ]
    yield from (_INDENT + line for line in below)


def idle_verdict_lines(item: PendingItemJson, width: int, display: Display) -> Iterator[str]:
    """Say which verdicts on an item were kept and change nothing."""
    for idle in item.get("idle_verdicts") or ():
        say = LACKS.get(str(idle.get("lacks")))
        words = _("{verdict} on {device} ({when})").format(
            verdict=terms.proposal_status(idle.get("verdict")),
            device=escape(idle.get("device_name") or str(idle.get("device") or "")[:SET_ID_CHARS]),
            when=relative_time(idle.get("at"), display.now_s),
        )
        line = f"{words}: {say()}" if say is not None else words
        yield from (display.paint(part, "yellow") for part in wrap_lines(line, width))


def set_heading(item: PendingItemJson, display: Display) -> str:
    """Say whose it is, of which set, when it was proposed, and when it expires."""
    agent = item.get("agent_name")
    words = [escape(agent)] if agent else []
    words += [_("set {id}").format(id=escape(str(item.get("set_id") or ""))[:SET_ID_CHARS])]
    if item.get("created_at"):
        words.append(_("proposed {when}").format(when=relative_time(item["created_at"], display.now_s)))
    if item.get("status") == "expired":
        words.append(_("expired {when}").format(when=relative_time(item.get("expires_at"), display.now_s)))
    elif item.get("expires_at"):
        words.append(_("expires {when}").format(when=relative_future_time(item["expires_at"], display.now_s)))
    return f" {display.symbol('·')} ".join(words)


# -- what came of decisions -----------------------------------------------------------------------


def result_rows(verdicts: Iterable[DecisionResultJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: item, result, status, message."""
    for verdict in verdicts:
        yield verdict.get("item_id"), verdict.get("result"), verdict.get("status"), verdict.get("message")


def result_lines(verdicts: Sequence[DecisionResultJson], display: Display) -> Iterator[str]:
    """Draw what came of each decision."""
    ids = short_ids_of(verdicts, "item_id")
    wide = max(
        _RESULT_WIDTH_MIN,
        *(display_width(terms.outcome_name(verdict.get("result"))) + 1 for verdict in verdicts),
        0,
    )
    for verdict_json in verdicts:
        result = str(verdict_json.get("result") or "")
        good = result in ("applied", "already")
        sign = display.symbol("✓" if good else "✗")
        # Of a rejection, too, the answer is "applied": which is for scripts, and no word for a person.
        word = "" if result == "applied" else f"{pad_right(terms.outcome_name(result), wide)} "
        item_id = str(verdict_json.get("item_id") or "")
        # Words that are no whole id are named as they were typed: cut, nobody would know them again.
        short = escape(ids.get(item_id, "") if len(item_id) == _ID_DIGITS else item_id)
        sentence_words = answer_words(verdict_json, "message") or terms.proposal_status(
            verdict_json.get("status")
        )
        margin = display_width(f"{sign} {short}  {word}")
        first, *rest = wrap_lines(
            sentence_words, max(min(display.width, WIDTH_MAX) - margin, _MESSAGE_WIDTH_MIN)
        )
        colour = _RESULT_STYLES.get(result, "red")
        head = f"{display.paint(sign, 'green' if good else 'red')} {display.paint(short, 'cyan')}"
        yield f"{head}  {display.paint(word, colour)}{first}".rstrip()
        indent = " " * min(margin, display.width // 4)
        yield from (indent + line for line in rest)
        if result == "stale" and isinstance(verdict_json.get("proposed"), dict):
            # Of a single value the message says as much.
            width = min(display.width, WIDTH_MAX) - len(indent)
            yield from (indent + line for line in side_lines(verdict_json, width, display))


def side_lines(sides_json: Mapping[str, Any], width: int, display: Display) -> Iterator[str]:
    """Draw what a proposal rested on, what is there now, and what is proposed."""
    sides = [(_("when it was proposed"), "base"), (_("now"), "current"), (_("proposed"), "proposed")]
    if not any(sides_json.get(key) is not None for _words, key in sides):
        return
    wide = max(display_width(words) for words, _key in sides)
    for words, key in sides:
        values = side_values(sides_json, key)
        text = ", ".join(
            (with_colon(field_words(field)) if len(values) > 1 else "") + value_words(value, field)
            for field, value in values.items()
        )
        first, *rest = wrap_lines(text, max(width - wide - 2, _MESSAGE_WIDTH_MIN))
        if wide + 2 + display_width(first) <= width:
            yield display.paint(f"{pad_right(words, wide)}  ", "dim") + first
        else:
            # Too narrow for columns.
            yield display.paint(words, "dim")
            first, *rest = ["", *wrap_lines(text, width - 2)]
        yield from (f"{' ' * (wide + 2 if first else 2)}{line}" for line in rest)
