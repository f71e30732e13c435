"""What an agent did, run by run.

Never passes an agent's words off as the program's: what it said stands in quotation marks.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.text import display_width, escape, pad_right, wrap_lines
from daemon.cli.translation import _, ngettext, pgettext, pgettext_noop
from daemon.cli.wording.dates import relative_time
from daemon.cli.wording.proposals import summary_words
from daemon.cli.wording.sentences import answer_words
from daemon.cli.wording.values import in_quotation_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.api.other_shapes import AgentMessageJson
    from daemon.cli.terminal.display import Display

_WIDTH_MAX: Final = 88
_LINES_MAX: Final = 12
_ROW_KEYS: Final = ("id", "at", "thread_id", "kind", "tool", "outcome", "item_id", "trigger", "text")
_KINDS: Final = pgettext_noop(
    "activity", "said", "noted", "called", "answered", "confirmed", "done", "ended", "failed"
)
_STYLES: Final = {"noted": "cyan", "confirmed": "green", "done": "green", "failed": "red", "ended": "dim"}


def activity_rows(messages: Iterable[AgentMessageJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet agent log --help` names."""
    for message in messages:
        yield tuple(message.get(key) for key in _ROW_KEYS)


def activity_list(messages: Sequence[AgentMessageJson], display: Display) -> Iterator[str]:
    """Draw the messages, oldest first: a heading when the agent woke, and below it what it did."""
    words = {kind: pgettext("activity", kind) for kind in _KINDS}
    wide = max(map(display_width, words.values()))
    for index, message in enumerate(messages):
        if message.get("trigger"):
            yield from [""] * bool(index)
            yield display.paint(_woken_line(message, display), "bold")
            continue
        if message.get("kind") == "user":
            yield from [""] * bool(index)
            width = min(display.width, _WIDTH_MAX)
            lines = _first_lines(list(wrap_lines(_asked_line(message, display), width)))
            yield from (display.paint(line, "bold") for line in lines)
            continue
        kind = _kind(message)
        margin = " " * (wide + 4)
        width = min(display.width, _WIDTH_MAX) - len(margin)
        first, *rest = _first_lines(
            [line for part in _message_parts(message, display) for line in wrap_lines(part, width)]
        )
        yield f"  {display.paint(pad_right(words[kind], wide), _STYLES.get(kind, 'dim'))}  {first}"
        yield from (margin + line for line in rest)


def _first_lines(lines: list[str]) -> list[str]:
    return [*lines[:_LINES_MAX], "…"] if len(lines) > _LINES_MAX else lines or [""]


def _woken_line(activity: AgentMessageJson, display: Display) -> str:
    when, reason = (
        escape(relative_time(activity.get("at"), display.now_s)),
        escape(answer_words(activity, "trigger")),
    )
    return _("Woken {when}: {why}").format(when=when, why=reason)


def _asked_line(activity: AgentMessageJson, display: Display) -> str:
    when = escape(relative_time(activity.get("at"), display.now_s))
    text = str(activity.get("text") or "") + ("…" if activity.get("cut") else "")
    quoted = in_quotation_marks(text).replace("“", display.symbol("“")).replace("”", display.symbol("”"))
    return _("Asked {when}: {words}").format(when=when, words=quoted)


def _kind(activity: AgentMessageJson) -> str:
    """Name what a message is to people."""
    kind = str(activity.get("kind") or "")
    if activity.get("item_id"):
        return "confirmed" if kind == "action" else "done"
    if activity.get("error") and kind == "system":
        return "failed"
    return _NAMES.get(kind, "said")


_NAMES: Final = {
    "observation": "noted",
    "action": "called",
    "tool_result": "answered",
    "summary": "ended",
    "system": "answered",
}


def _message_parts(activity: AgentMessageJson, display: Display) -> Iterator[str]:
    """Say what a message holds, a line each."""
    text = str(activity.get("text") or "") + ("…" if activity.get("cut") else "")
    match _kind(activity):
        case "said" | "noted":
            yield in_quotation_marks(text).replace("“", display.symbol("“")).replace("”", display.symbol("”"))
        case "called":
            yield f"{activity.get('tool') or ''} {_call_arguments(activity.get('tool'), text)}"
        case "confirmed":
            as_item: Any = activity
            yield summary_words(as_item)
        case "done":
            yield relative_time(activity.get("at"), display.now_s)
        case "ended" if activity.get("ended"):
            yield from _ending_parts(activity, display)
        case _:
            yield text
            if activity.get("outcome") == "dropped":
                yield _("thrown away: the run was over before its end")


def _cut_short_words(reason: object) -> str:
    """Say why a run ended before the model had its say; nothing if it did not."""
    return _("cut short: {why}").format(why=reason) if isinstance(reason, str) and reason else ""


def _stand_in_words(reason: object) -> str:
    """Say why another model answered than the agent's own; nothing if none did."""
    return (
        _("in place of its own model: {why}").format(why=reason) if isinstance(reason, str) and reason else ""
    )


_TLDR: Final = re.compile(r'"tldr"\s*:\s*("(?:[^"\\]|\\.)*")')


def _call_arguments(tool: str | None, text: str) -> str:
    """Return what a call asked for as it was written, of a report what it says in short."""
    match = _TLDR.search(text) if tool == "update_report" else None
    if match is None:
        return text
    try:
        return in_quotation_marks(json.loads(match[1], strict=False))
    except ValueError:
        return text


def _ending_parts(activity: AgentMessageJson, display: Display) -> Iterator[str]:
    """Say what came of a run, in numbers, and what the agent said last."""
    ended: Any = activity.get("ended")
    reported_ended = ended if isinstance(ended, dict) else {}
    proposals, calls = int(reported_ended.get("proposals") or 0), int(reported_ended.get("calls") or 0)
    parts = [
        ngettext("{count} proposal", "{count} proposals", proposals).format(count=proposals),
        ngettext("{count} call", "{count} calls", calls).format(count=calls),
        _("with a report") if reported_ended.get("reported") else _("without a report"),
        str(reported_ended.get("model") or ""),
        _stand_in_words(reported_ended.get("stood_in_because")),
        _cut_short_words(reported_ended.get("cut_short")),
    ]
    yield f" {display.symbol('·')} ".join(part for part in parts if part)
    if activity.get("text"):
        yield in_quotation_marks(activity["text"])
