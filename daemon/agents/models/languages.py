"""The tables of all languages, and in which of them a note is to be read.

Never guesses a task's language: what is not plainly in one language is in none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from daemon.agents.models.cues import Cues
from daemon.agents.models.cues_de import GERMAN
from daemon.agents.models.cues_en import ENGLISH
from daemon.agents.models.cues_es import SPANISH
from daemon.agents.models.cues_fr import FRENCH
from daemon.agents.models.cues_ro import ROMANIAN
from daemon.agents.models.plain import plain
from daemon.agents.models.segments import words
from daemon.journal.date_words import TONGUES

TABLES: Mapping[str, Cues] = {table.language: table for table in (ENGLISH, GERMAN, SPANISH, FRENCH, ROMANIAN)}
SAMPLE_CHARS_MAX = 8000
PLAIN_WORDS_MIN = 3
PLAIN_LEAD = 1.6
_WORD_CHARS_MIN = 4


def table_for(note: str, language: str | None, around: str = "") -> Cues:
    """Return the table to read a note by: its own language's if that is plain, else the task's.

    Where the task has none, by what stands `around` it if that is plain, else the likeliest, else English.
    """
    for told in (plainly(note), language, plainly(around), _likeliest(note), _likeliest(around)):
        if (known := TABLES.get(told or "")) is not None:
            return known
    return ENGLISH


def tables_for(note: str, language: str | None, around: str = "") -> tuple[Cues, ...]:
    """Return the tables to read a note by: its own, and that of its surroundings where they have another.

    People mix languages. What the note's own takes back, the other must not bring up.
    """
    own = table_for(note, language, around)
    home = TABLES.get(language or plainly(around) or "", own)
    return (own,) if home is own else (own, _wary(home, own))


@lru_cache(maxsize=20)
def _wary(table: Cues, other: Cues) -> Cues:
    """Return a table that takes cues back by the words of another one too."""
    return replace(
        table,
        negations=table.negations | other.negations,
        past=table.past | other.past,
        conditions=table.conditions | other.conditions,
        unfinished=table.unfinished | other.unfinished,
        segment_words=table.segment_words | other.segment_words,
    )


def plainly(text: str) -> str | None:
    """Return the language that a text is plainly in; None where it is short, or in two."""
    (most, best), (less, _) = _ranked(text)[:2]
    return best if most >= PLAIN_WORDS_MIN and most >= PLAIN_LEAD * less else None


def _likeliest(text: str) -> str | None:
    (most, best), (less, _) = _ranked(text)[:2]
    return best if most > less else None


def _ranked(text: str) -> list[tuple[int, str]]:
    """Return how many different words and letters of each language a text has, the most first."""
    sample = text[:SAMPLE_CHARS_MAX]
    said, signs = set(words(plain(sample))), set(sample.lower())
    scores = [
        (len(said & _vocabulary(table)) + len(signs.intersection(table.signs)), table.language)
        for table in TABLES.values()
    ]
    return sorted(scores, key=lambda one: -one[0])


@lru_cache(maxsize=8)
def _vocabulary(table: Cues) -> frozenset[str]:
    """Return the words that tell a language: its little words, and what of its cues and days is its alone."""
    others = (_said_by(other) for other in TABLES.values() if other is not table)
    return table.known_by | _said_by(table).difference(*others)


@lru_cache(maxsize=8)
def _said_by(table: Cues) -> frozenset[str]:
    tongue = TONGUES[table.language]
    told = (*tongue.weekdays, *tongue.months, *tongue.units, *table.urgent, *table.amounts)
    cues = (*table.due, *table.takes, *table.about, *table.to_do, *table.finished, *table.blocked)
    done = (table.verbs.acts, *table.verbs.forms.values(), tongue.numbers)
    cues += (
        *table.on_hold,
        *table.started,
        *table.resumed,
        *table.rename,
        *(word for listed in done for word in listed),
    )
    said = words(plain("\n".join((*told, *cues))))
    return frozenset(word for word in said if len(word) >= _WORD_CHARS_MIN)


def joined(texts: Iterable[str]) -> str:
    """Return texts as one sample."""
    return "\n".join(text[:SAMPLE_CHARS_MAX] for text in texts)[: 4 * SAMPLE_CHARS_MAX]
