"""The daemon's sentences in the language of the person: refusals, hints and findings, looked up by id.

Never drops a sentence whose id it does not know: a newer daemon sent it, and its English text is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.words import terms
from daemon.words.dates import full_day_words, full_time_words
from daemon.words.translation import _, ngettext, sentence_of, sentence_template

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from daemon.shapes.answers import SentenceJson

_WORDS: Final[Mapping[str, Callable[[object], str]]] = {
    "kind": terms.kind_name,
    "status": terms.task_status,
    "field": terms.field_name,
    "mode": terms.agent_state,
    "verdict": terms.proposal_status,
    "day": lambda day: full_day_words(day, None).words,
    **dict.fromkeys(("time", "now", "start", "end", "until", "since", "at"), full_time_words),
}
"""How the values of some parameters are shown, by the parameter's name; others are shown as they are."""
_DURATION: Final = "duration"
"""The sentence that is the length of a time: its words have plural forms, and are made here."""
_HOUR: Final = 60
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY


def answer_words(answer: Mapping[str, Any], name: str) -> str:
    """Return a sentence of an answer in the language in use.

    The answer has the English text under `name`. An older daemon sends no id beside it.
    """
    return sentence_words(sentence_of(answer, f"{name}_"), str(answer.get(name) or ""))


def sentence_words(sentence: SentenceJson | None, text: str) -> str:
    """Return a sentence in the language in use; `text` is its English, for an unknown id."""
    template = sentence_template(sentence["id"]) if sentence else None
    if sentence is None or template is None:
        return text
    if sentence["id"] == _DURATION and isinstance(minutes := sentence["params"].get("minutes"), int):
        return _length_words(minutes)
    try:
        return template.format(**{name: _value(name, value) for name, value in sentence["params"].items()})
    except (KeyError, IndexError, ValueError):
        # The daemon is of another version than the catalog, and fills other placeholders.
        return text


def _value(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return sentence_words(sentence_of(value), str(value.get("text") or ""))
    if isinstance(value, list):
        return "; ".join(str(_value(name, part)) for part in value)
    if name == "device" and not value:
        return _("this device")
    return _WORDS[name](value) if name in _WORDS and isinstance(value, str) else value


def _length_words(minutes: int) -> str:
    """Return the length of a time in its largest unit, in the plural form that the language has."""
    if minutes >= _YEAR:
        count = minutes // _YEAR
        words = ngettext("{count} year", "{count} years", count)
    elif minutes >= _DAY:
        count = minutes // _DAY
        words = ngettext("{count} day", "{count} days", count)
    elif minutes >= _HOUR:
        count = minutes // _HOUR
        words = ngettext("{count} hour", "{count} hours", count)
    else:
        count = minutes
        words = ngettext("{count} minute", "{count} minutes", count)
    return words.format(count=count)
