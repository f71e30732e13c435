"""What an agent did, message by message, in words that a terminal and the page share.

Never passes an agent's words off as the program's: what it said stands in quotation marks.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from daemon.words.dates import full_day_words, relative_time
from daemon.words.proposals import summary_words
from daemon.words.sentences import answer_words
from daemon.words.terminal_text import escape
from daemon.words.translation import _, ngettext, pgettext, pgettext_noop
from daemon.words.values import in_quotation_marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.shapes.others import AgentMessageJson

ACTIVITY_KINDS: Final = pgettext_noop(
    "activity", "said", "noted", "called", "answered", "confirmed", "done", "ended", "failed"
)


def kind_words(kind: str) -> str:
    """Say what a message is to people, as `activity_kind` names it."""
    return pgettext("activity", kind)


def woken_words(activity: AgentMessageJson, now_s: float | None) -> str:
    """Say when an agent woke, and why."""
    when = escape(relative_time(activity.get("at"), now_s))
    return _("Woken {when}: {why}").format(when=when, why=escape(answer_words(activity, "trigger")))


def asked_words(activity: AgentMessageJson, now_s: float | None) -> str:
    """Say when a person put words to an agent, and which."""
    when = escape(relative_time(activity.get("at"), now_s))
    return _("Asked {when}: {words}").format(when=when, words=in_quotation_marks(_text(activity)))


def _text(activity: AgentMessageJson) -> str:
    return str(activity.get("text") or "") + ("…" if activity.get("cut") else "")


def activity_kind(activity: AgentMessageJson) -> str:
    """Name what a message is to people: one of `ACTIVITY_KINDS`."""
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


def message_parts(activity: AgentMessageJson, now_s: float | None) -> Iterator[str]:
    """Say what a message holds, a line each; the end of a run in several parts of one line."""
    text = _text(activity)
    match activity_kind(activity):
        case "said" | "noted":
            yield in_quotation_marks(text)
        case "called":
            yield f"{activity.get('tool') or ''} {_call_arguments(activity.get('tool'), text)}"
        case "confirmed":
            as_item: Any = activity
            yield summary_words(as_item)
        case "done":
            yield relative_time(activity.get("at"), now_s)
        case "ended" if activity.get("ended"):
            yield _SEPARATOR.join(_ending_parts(activity))
            if activity.get("text"):
                yield in_quotation_marks(activity["text"])
        case _:
            yield text
            if activity.get("outcome") == "dropped":
                yield _("thrown away: the run broke off")


_SEPARATOR: Final = " · "
_DAY_CHARS: Final = 10
_FREQUENT_WORDS_MAX: Final = 8
_WORD_CHARS_MAX: Final = 30


def _cut_short_words(reason: object) -> str:
    """Say why a run ended before the model had its say; nothing if it did not."""
    return _("cut short: {why}").format(why=reason) if isinstance(reason, str) and reason else ""


def _stand_in_words(reason: object) -> str:
    """Say why another model answered than the agent's own; nothing if none did."""
    return (
        _("in place of its own model: {why}").format(why=reason) if isinstance(reason, str) and reason else ""
    )


def _left_out_words(count: object) -> str:
    """Say how many observations an agent was not told again, because there are too many."""
    if not isinstance(count, int) or count < 1:
        return ""
    words = ngettext(
        "at least {count} older observation that it was not given",
        "at least {count} older observations that it was not given",
        count,
    )
    return words.format(count=count)


def _left_out_days(days: object) -> str:
    """Say of when those observations are; nothing if these are no two days."""
    texts = [str(day)[:_DAY_CHARS] for day in days] if isinstance(days, list) else []
    if len(texts) != 2:
        return ""
    first, last = (full_day_words(text, None).words for text in texts)
    return _("dated {first_day} to {last_day}").format(first_day=first, last_day=last)


def _frequent_words(words: object) -> str:
    """Say which words several of those observations have."""
    listed = words[:_FREQUENT_WORDS_MAX] if isinstance(words, list) else ()
    plain = [
        word for word in listed if isinstance(word, str) and word.isalpha() and len(word) <= _WORD_CHARS_MAX
    ]
    quoted = ", ".join(map(in_quotation_marks, plain))
    return _("frequent words in these: {words}").format(words=quoted) if plain else ""


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


def _ending_parts(activity: AgentMessageJson) -> Iterator[str]:
    """Say what came of a run, in numbers."""
    ended: Any = activity.get("ended")
    reported_ended = ended if isinstance(ended, dict) else {}
    proposals, calls = int(reported_ended.get("proposals") or 0), int(reported_ended.get("calls") or 0)
    parts = (
        ngettext("{count} proposal", "{count} proposals", proposals).format(count=proposals),
        ngettext("{count} call", "{count} calls", calls).format(count=calls),
        _("with a report") if reported_ended.get("reported") else "",
        str(reported_ended.get("model") or ""),
        _left_out_words(reported_ended.get("observations_left_out")),
        _left_out_days(reported_ended.get("observations_left_out_days")),
        _frequent_words(reported_ended.get("observations_left_out_words")),
        _stand_in_words(reported_ended.get("stood_in_because")),
        _cut_short_words(reported_ended.get("cut_short")),
    )
    yield from (part for part in parts if part)
