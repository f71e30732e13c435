"""What a clause says of the task's status: blocked, on hold, started or resumed.

Never reports that a task is done: only the person decides that.
"""

import re
from typing import NamedTuple

from daemon.agents.models.rules.clauses import Clause, is_asserted, is_asserted_now, words_after, words_before
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import phrase_pattern
from daemon.agents.models.rules.lexicon.word_lists import Phrases
from daemon.agents.models.rules.masked_clauses import template_matches
from daemon.task_fields import CLOSED_STATUSES, IN_PROGRESS

BLOCKED = "BLOCKED"
ON_HOLD = "ON HOLD"
RESUMED = "resumed"
_BEFORE_BEGIN = frozenset({"OPEN", "GROOMED"})
_STANDING_STILL = frozenset({BLOCKED, ON_HOLD})


class StatusMention(NamedTuple):
    """A status, and its position in the clause."""

    status: str
    start: int


def status_mention(clause: Clause, cues: CueTable) -> StatusMention | None:
    """Return the last status that a clause mentions; None if it mentions none."""
    status_mentions = [StatusMention(BLOCKED, start) for start in _blocking_starts(clause, cues)]
    status_mentions += [
        StatusMention(ON_HOLD, start) for start in _effective_starts(clause, cues.status.on_hold, cues)
    ]
    status_mentions += [
        StatusMention(IN_PROGRESS, start) for start in _asserted_starts(clause, cues.status.started, cues)
    ]
    status_mentions += _standstills(clause, cues)
    # "No longer blocked" is the negation itself, and none stands before it.
    status_mentions += [
        StatusMention(RESUMED, start) for start in _asserted_starts(clause, cues.status.resumed, cues)
    ]
    return max(status_mentions, key=lambda mention: mention.start, default=None)


def next_status(text: str, status: str) -> str | None:
    """Return the task's next status after such a mention; None if the status stays the same."""
    if status in CLOSED_STATUSES or text == status:
        return None
    if text == IN_PROGRESS:
        return text if status in _BEFORE_BEGIN else None
    if text == RESUMED:
        return IN_PROGRESS if status in _STANDING_STILL else None
    return text


def _standstills(clause: Clause, cues: CueTable) -> list[StatusMention]:
    """Find idioms: those of waiting contain their own negation, those of putting off and beginning none."""
    if clause.is_question:
        return []
    idioms = cues.role.standstill
    starts = [match.start() for match in template_matches(idioms.stuck, clause)]
    stuck = [StatusMention(BLOCKED, start) for start in starts if _is_now(clause, start, cues)]
    others = [
        StatusMention(status, match.start())
        for status, templates in ((ON_HOLD, idioms.put_off), (IN_PROGRESS, idioms.begun))
        for match in template_matches(templates, clause)
        if is_asserted(clause, match.start(), cues)
    ]
    return stuck + others


def _is_now(clause: Clause, start: int, cues: CueTable) -> bool:
    led = words_before(clause.unquoted, start, cues)
    return (cues.past_words | cues.conditions | cues.negations).isdisjoint(led)


def _cue_matches(clause: Clause, cue: Phrases) -> list[re.Match[str]]:
    return [] if clause.is_question else list(phrase_pattern(cue).finditer(clause.unquoted))


def _effective_starts(clause: Clause, cue: Phrases, cues: CueTable) -> list[int]:
    return [match.start() for match in _cue_matches(clause, cue) if _is_in_effect(clause, match, cues)]


def _is_in_effect(clause: Clause, match: re.Match[str], cues: CueTable) -> bool:
    following = words_after(clause.unquoted, match.end(), cues)[:1]
    return is_asserted_now(clause, match.start(), cues) and not cues.negations.intersection(following)


def _asserted_starts(clause: Clause, cue: Phrases, cues: CueTable) -> list[int]:
    return [match.start() for match in _cue_matches(clause, cue) if is_asserted(clause, match.start(), cues)]


def _blocking_starts(clause: Clause, cues: CueTable) -> list[int]:
    """Find what blocks the task. Others who wait for the writer, or a bus to wait for, do not block it."""
    return [
        match.start()
        for match in _cue_matches(clause, cues.status.blocked)
        if is_asserted_now(clause, match.start(), cues)
        and cues.status.blocked_not_before.isdisjoint(_words_beside(clause, match, cues))
        and cues.status.blocked_not_with.isdisjoint(words_after(clause.unquoted, match.end(), cues))
    ]


def _words_beside(clause: Clause, match: re.Match[str], cues: CueTable) -> list[str]:
    return (
        words_before(clause.unquoted, match.start(), cues)[-2:]
        + words_after(clause.unquoted, match.end(), cues)[:1]
    )
