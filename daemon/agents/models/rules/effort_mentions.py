"""Lengths that are efforts without a word for it: "another two hours of work", "a 15 min job".

Never reads how long something lasted, how long a way or a film is, or the time until something.
"""

from daemon.agents.models.rules.clauses import (
    Clause,
    is_asserted_now,
    is_unconditional,
    words_before,
    words_in,
)
from daemon.agents.models.rules.durations import StatedDuration
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.word_lists import Phrases
from daemon.agents.models.rules.masked_clauses import (
    LENGTH_SIGN,
    MaskedLength,
    mask_lengths,
    template_matches,
)
from daemon.agents.tools.arguments import MINUTES_MAX
from daemon.dates.length_grammar import WORKDAY_MINUTES


def efforts(clause: Clause, cues: CueTable) -> list[StatedDuration]:
    """Return the efforts in a clause that has no other cue for one."""
    if (
        clause.is_question
        or clause.is_others
        or not cues.role.effort.not_with.isdisjoint(words_in(clause.unquoted))
    ):
        return []
    masked, lengths = mask_lengths(clause, cues)
    if len(lengths) != 1 or not 1 <= (minutes := round(lengths[0].minutes)) <= MINUTES_MAX:
        return []
    cue_templates = cues.role.effort
    end = _said_end(cue_templates.templates, masked, lengths[0], cues)
    if end is None and minutes < WORKDAY_MINUTES:
        end = _said_end(cue_templates.rest, masked, lengths[0], cues)
    return [] if end is None else [StatedDuration(minutes, lengths[0].start, max(end, lengths[0].end))]


def _said_end(templates: Phrases, masked: Clause, length: MaskedLength, cues: CueTable) -> int | None:
    """Return where the words end that make an effort of a length; None if none do."""
    if not cues.past_words.isdisjoint(words_in(masked.unquoted)):
        return None
    ends = (
        match.end()
        for match in template_matches(templates, masked)
        if LENGTH_SIGN in match.group()
        and is_asserted_now(masked, match.start(), cues)
        and cues.duration.not_after.isdisjoint(words_before(masked.unquoted, match.start(), cues)[-1:])
        and is_unconditional(masked, length.end, cues)
    )
    return next(ends, None)
