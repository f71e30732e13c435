"""Days and lengths of time in a note that nothing was made of, for the person to see what was passed over.

Never says what they mean, and never names more than a few.
"""

from collections.abc import Collection, Iterable
from datetime import date

from daemon.agents.models.rules.clauses import Clause, words_in
from daemon.agents.models.rules.day_words import tells_a_day
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.masked_clauses import mask_days, mask_lengths

UNREAD_MAX = 3
PHRASE_CHARS_MAX = 40


def unread_times(clause: Clause, today: date, days: Collection[date], cues: CueTable) -> list[str]:
    """Return the words of each day of a clause that is none of `days`, and of each length of time.

    What was is over: a clause with a word of the past has none. `clause` has no length that was read.
    """
    words = words_in(clause.unquoted)
    tells = any(tells_a_day(word, cues.language) for word in words)
    if not tells or clause.is_question or not cues.past_words.isdisjoint(words):
        return []
    without_days, marks = mask_days(clause, today, cues)
    spans = [(day.start, day.end) for day in marks if day.day not in days and day.day >= today]
    spans += [(length.start, length.end) for length in mask_lengths(without_days, cues)[1]]
    return [clause.text[start:end].strip(" ,.;:") for start, end in sorted(spans)]


def worth_saying(phrases: Iterable[str]) -> list[str]:
    """Return the first few different phrases, without those that are too long to be one."""
    short = (phrase for phrase in phrases if 0 < len(phrase) <= PHRASE_CHARS_MAX)
    return list(dict.fromkeys(short))[:UNREAD_MAX]
