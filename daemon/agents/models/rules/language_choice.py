"""In which language a note is to be read.

Never guesses a task's language: a text that is not clearly in one language is in none.
"""

from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from daemon.agents.models.rules.clauses import words_in
from daemon.agents.models.rules.language_guess import LEAD_SURE, guessed_language
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import to_plain
from daemon.agents.models.rules.lexicon.tables import cue_tables
from daemon.dates.date_language import date_language
from daemon.dates.vocabulary import date_words
from daemon.language import DEFAULT_LANGUAGE, LANGUAGES

SAMPLE_CHARS_MAX = 8000
CERTAIN_WORDS_MIN = 3
CERTAIN_LEAD = 1.6
TELLING_WORDS_MIN = 2
_WORD_CHARS_MIN = 4


def load_words() -> None:
    """Read the words of all languages, which later calls then have at hand."""
    for table in cue_tables().values():
        _vocabulary(table)


def words_are_loaded() -> bool:
    """Return whether `load_words` has nothing left to do."""
    return _vocabulary.cache_info().currsize == len(LANGUAGES)


def note_table(note: str, language: str | None, around: str = "", own: str = DEFAULT_LANGUAGE) -> CueTable:
    """Return the table to read a note by: that of its own language if it is clear, else the task's.

    If the task has no language, the texts `around` it decide if they are clear, or have words of one language
    alone; then how the words of both are spelled, and the likeliest language.
    The device's `own` language breaks ties, and is what is left.
    """
    for text in (
        certain_language(note),
        language,
        certain_language(around),
        guessed_language(note, LEAD_SURE),
        likeliest_language(note, words_min=TELLING_WORDS_MIN),
        only_language(around),
        guessed_language(f"{around}\n{note}"),
        likeliest_language(note, own),
        likeliest_language(around, own),
    ):
        if (cue_table := cue_tables().get(text or "")) is not None:
            return cue_table
    return cue_tables()[own]


def note_tables(
    note: str, language: str | None, around: str = "", own: str = DEFAULT_LANGUAGE
) -> tuple[CueTable, ...]:
    """Return the tables to read a note by: its own, and that of its surroundings if they have another one.

    People mix languages. What the note's own table denies, the other one must not report.
    """
    table = note_table(note, language, around, own)
    home = cue_tables().get(language or certain_language(around) or "", table)
    return (table,) if home is table else (table, _with_negations_of(home, table))


@lru_cache(maxsize=20)
def _with_negations_of(table: CueTable, other: CueTable) -> CueTable:
    """Return a table that also denies cues by the words of another one."""
    return replace(
        table,
        negations=table.negations | other.negations,
        past_words=table.past_words | other.past_words,
        conditions=table.conditions | other.conditions,
        done=replace(table.done, unfinished=table.done.unfinished | other.done.unfinished),
        segment_words=table.segment_words | other.segment_words,
    )


def certain_language(text: str) -> str | None:
    """Return the language that a text is clearly in; None if it is too short, or in two languages."""
    (most, best), (less, _) = _rank_languages(text)[:2]
    return best if most >= CERTAIN_WORDS_MIN and most >= CERTAIN_LEAD * less else None


def only_language(text: str) -> str | None:
    """Return the language of all telling words of a text; None if they are too few, or of several."""
    (most, best), (less, _) = _rank_languages(text)[:2]
    return best if most >= TELLING_WORDS_MIN and not less else None


def likeliest_language(text: str, own: str = "", words_min: int = 1) -> str | None:
    """Return the language of most words of a text. Of several, `own` counts; None if it is none of them."""
    ranked = _rank_languages(text)
    best = [language for count, language in ranked if count >= words_min and count == ranked[0][0]]
    return best[0] if len(best) == 1 else own if own in best else None


def _rank_languages(text: str) -> list[tuple[int, str]]:
    """Return how many different words and letters of each language a text has, the highest first."""
    sample = text[:SAMPLE_CHARS_MAX]
    sample_words, signs = set(words_in(to_plain(sample))), set(sample.lower())
    scores = [
        (len(sample_words & _vocabulary(table)) + len(signs.intersection(table.letters)), table.language)
        for table in cue_tables().values()
    ]
    return sorted(scores, key=lambda ranked: -ranked[0])


@lru_cache(maxsize=8)
def _vocabulary(table: CueTable) -> frozenset[str]:
    """Return the words that tell a language: function words, and its cues and days that no other has."""
    others = (_cue_words(other) for other in cue_tables().values() if other is not table)
    return table.function_words | _cue_words(table).difference(*others)


@lru_cache(maxsize=8)
def _cue_words(table: CueTable) -> frozenset[str]:
    """Return the longer words of a table's cues and of its language's days, numbers and amounts."""
    dates = date_language(table.language)
    phrases = (
        *dates.weekdays,
        *dates.months,
        *dates.units,
        *dates.numbers,
        *date_words(table.language).length.amounts,
        *table.duration.amounts,
        *table.duration.cues,
        *table.duration.about,
        *table.priority.urgent_phrases,
        *table.deadline.cues,
        *table.to_do.cues,
        *table.done.cues,
        *table.status.blocked,
        *table.status.on_hold,
        *table.status.started,
        *table.status.resumed,
        *table.title.rename,
        *table.verbs.imperatives,
        *(form for forms in table.verbs.forms.values() for form in forms),
    )
    words = words_in(to_plain("\n".join(phrases)))
    return frozenset(word for word in words if len(word) >= _WORD_CHARS_MIN)


def sample_text(texts: Iterable[str]) -> str:
    """Return texts as one sample."""
    return "\n".join(text[:SAMPLE_CHARS_MAX] for text in texts)[: 4 * SAMPLE_CHARS_MAX]
