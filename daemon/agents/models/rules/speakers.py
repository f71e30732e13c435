"""Who says each line of a note that is a transcript: the writer, or somebody whose name stands before it.

Never takes "Deadline: Friday" for the words of somebody called Deadline.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import to_plain

PREFIX_CHARS_MAX = 80
SPEAKERS_MIN = 2
_DAY = r"(?:\d{1,4}[./-]\d{1,2}(?:[./-]\d{2,4})?,?\s)?"
_TIME = rf"[\[(]?{_DAY}\d{{1,2}}[:.h]\d\d(?::\d\d)?(?:\s?[ap]m)?[\])]?"
_NAME = r"[^\W\d_][\w.'-]{0,30}(?:\s[^\W\d_][\w.'-]{0,30}){0,2}"
_PREFIX = re.compile(
    rf"\s*(?:(?P<time>{_TIME})\s?[-–]?\s?)?(?P<name>{_NAME}|<{_NAME}>)(?:\s(?P<late>{_TIME}))?(?:(?<=>)|\s?:|\s[-–—])\s"
)


class SpokenLine(NamedTuple):
    """A line without the name of its speaker. `is_others` means that it is not the writer who speaks."""

    text: str
    is_others: bool


class _Prefix(NamedTuple):
    name: str
    end: int
    has_time: bool


def spoken_lines(lines: Sequence[str], cues: CueTable) -> list[SpokenLine]:
    """Return the lines of a note, those of a transcript without their speakers.

    A note is a transcript if lines begin with a time and a name, if a name leads two lines, or if two names
    lead a line each.
    """
    prefixes = [_prefix(line, cues) for line in lines]
    names = Counter(prefix.name for prefix in prefixes if prefix is not None)
    is_transcript = names.total() >= SPEAKERS_MIN or any(
        prefix is not None and prefix.has_time for prefix in prefixes
    )
    return [
        SpokenLine(line[prefix.end :], prefix.name not in cues.speech.me)
        if is_transcript and prefix is not None
        else SpokenLine(line, False)
        for line, prefix in zip(lines, prefixes, strict=True)
    ]


def _prefix(line: str, cues: CueTable) -> _Prefix | None:
    """Return what names the speaker of a line; None if its first words are no name."""
    match = _PREFIX.match(line[:PREFIX_CHARS_MAX])
    if match is None or not line[match.end() :].strip():
        return None
    written = match["name"].strip("<>")
    name, words = to_plain(written), written.split()
    is_name = all(word[:1].isupper() for word in words) and _no_names(cues).isdisjoint(name.split())
    if name not in cues.speech.me and not is_name:
        return None
    return _Prefix(name, match.end(), bool(match["time"] or match["late"]))


@lru_cache(maxsize=16)
def _no_names(cues: CueTable) -> frozenset[str]:
    """Return the words that lead a line without being a name: those of mails, and all cues."""
    phrases = (
        *cues.deadline.cues,
        *cues.duration.cues,
        *cues.to_do.cues,
        *cues.done.cues,
        *cues.status.blocked,
        *cues.status.on_hold,
        *cues.priority.cues,
        *cues.priority.urgent_phrases,
        *cues.title.rename_quoted,
        *cues.label.cues,
    )
    words = {word for phrase in phrases for word in to_plain(phrase).split()}
    return frozenset(cues.speech.not_names | words)
