"""The time that something takes, as a clause says it.

Never reads a bare number, a past duration, or the time until something.
"""

import re
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from daemon.agents.models.rules.clauses import MATCHES_MAX, Clause, is_asserted_now, words_after, words_before
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import alternation, plain_spellings, to_plain
from daemon.agents.tools.arguments import MINUTES_MAX
from daemon.dates.length_grammar import (
    WORKDAY_MINUTES,
    LengthWordTable,
    all_spellings,
    fractions_of,
    joined_numbers_of,
    length_at,
    numbers_of,
    sizes_of_units,
    unread_units,
)
from daemon.dates.vocabulary import date_words


class StatedDuration(NamedTuple):
    """Minutes, and the positions in the clause between which they are stated."""

    minutes: int
    start: int
    end: int


def stated_durations(clause: Clause, cues: CueTable) -> list[StatedDuration]:
    """Find the estimates in a clause: an amount of time after a cue, in sensible bounds."""
    durations = []
    for match in islice(_pattern(cues).finditer(clause.unquoted), MATCHES_MAX):
        length = length_at(clause.unquoted, match.end(), word_table(cues))
        if length is None or not 1 <= (minutes := round(length.minutes)) <= MINUTES_MAX:
            continue
        if _is_estimate(clause, match, length.end, cues):
            durations.append(StatedDuration(minutes, match.start(), length.end))
    return durations


def _is_estimate(clause: Clause, match: re.Match[str], end: int, cues: CueTable) -> bool:
    led = words_before(clause.unquoted, match.start(), cues)
    if not is_asserted_now(clause, match.start(), cues) or cues.duration.not_with.intersection(led):
        return False
    if led and led[-1] in cues.duration.not_after:
        return False
    if match["about"] and not cues.duration.about_after.issuperset(led):
        return False
    rest = " ".join(words_after(clause.unquoted, end, cues)[:3]) + " "
    return not any(rest.startswith(f"{to_plain(text)} ") for text in cues.duration.not_before)


@lru_cache(maxsize=16)
def word_table(cues: CueTable) -> LengthWordTable:
    """Return the words of lengths of one language, with those that only notes have."""
    words, own = date_words(cues.language), cues.duration
    further = {
        **dict.fromkeys(all_spellings(own.units.day), WORKDAY_MINUTES),
        **dict.fromkeys(all_spellings(own.units.minute), 1),
        **dict.fromkeys(all_spellings(own.units.hour), 60),
    }
    units = {**sizes_of_units(words), **further}
    amounts = (*words.length.amounts.items(), *own.amounts.items())
    return LengthWordTable(
        units={word: size for word, size in units.items() if word not in own.units_not_read},
        numbers=numbers_of(words),
        joined_numbers=joined_numbers_of(words),
        amounts={typed: minutes for phrase, minutes in amounts for typed in plain_spellings(phrase)},
        fractions=fractions_of(words),
        joiners=all_spellings(words.length.joiners),
        range_words=all_spellings(own.range_words),
        unread=unread_units(words),
        vague=all_spellings(words.length.vague),
        # "20 de colegi" and "3 Mal" count people and times.
        tails=(cues.function_words | {to_plain(text).split()[0] for text in own.not_before}) - {"de", "mal"},
    )


@lru_cache(maxsize=16)
def _pattern(cues: CueTable) -> re.Pattern[str]:
    """Build: cue, filler words, and the place at which a length begins."""
    lead = (
        rf"(?:(?<![\w'-])(?:(?P<takes>{alternation(cues.duration.cues)})|(?P<about>{alternation(cues.duration.about)}))(?![\w'])\.?"
        r"|(?P<tilde>~))"
    )
    filler = rf"(?:[\s:=~]*(?:(?:{alternation(cues.duration.fillers)})\b\.?)?){{0,3}}[\s:=~]*(?<![\w.,-])"
    return re.compile(rf"{lead}{filler}(?={word_table(cues).part.pattern})")
