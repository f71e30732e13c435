"""The likeliest language of a few words by their letters: "Reifen bestellen" has no word of any table.

Never decides a task's language: it only chooses a table where words and people have not.
"""

import math
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from daemon.agents.models.rules.clauses import words_in
from daemon.agents.models.rules.lexicon.tables import cue_tables

SAMPLE_CHARS_MAX: Final = 2000
LEAD_MIN: Final = 4.0  # of natural logarithms of likelihood; each word of a language adds some three
LEAD_SURE: Final = 14.0
_WORD_CHARS_MIN: Final = 3
_UNSEEN: Final = 0.5
_KINDS: Final = 5000  # of three letters in a row, about what the languages have together


def guessed_language(text: str, lead_min: float = LEAD_MIN) -> str | None:
    """Return the language whose table has the words most like those of a text; None if two are alike."""
    triples = [triple for word in words_in(text[:SAMPLE_CHARS_MAX].lower()) for triple in _triples(word)]
    ranked = sorted(
        (sum(map(likelihoods.__getitem__, triples)), language)
        for language, likelihoods in _likelihoods().items()
    )
    (less, _), (most, best) = ranked[-2:]
    return best if most - less >= lead_min else None


class _Likelihoods(dict[str, float]):
    """The logarithm of how often three letters follow one another in the words of a language."""

    __slots__ = ("_unseen",)

    def __init__(self, counts: Counter[str]) -> None:
        total = counts.total() + _UNSEEN * _KINDS
        super().__init__((triple, math.log((count + _UNSEEN) / total)) for triple, count in counts.items())
        self._unseen = math.log(_UNSEEN / total)

    def __missing__(self, triple: str) -> float:
        return self._unseen


@cache
def _likelihoods() -> dict[str, _Likelihoods]:
    """Count the triples of each table's words, once: some 80 ms, and only if words decide nothing."""
    tables = cue_tables().items()
    words = {
        language: {word for text in _texts(table) for word in words_in(text.lower())}
        for language, table in tables
    }
    return {
        language: _Likelihoods(Counter(triple for word in sorted(own) for triple in _triples(word)))
        for language, own in words.items()
    }


def _triples(word: str) -> list[str]:
    edged = f" {word} " if len(word) >= _WORD_CHARS_MIN else ""
    return [edged[index : index + 3] for index in range(len(edged) - 2)]


def _texts(part: Any) -> Iterator[str]:
    """Yield every text of a table."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        yield from _texts((*part, *part.values()))
    elif isinstance(part, tuple | frozenset):
        for member in part:
            yield from _texts(member)
    else:
        for name in getattr(part, "__struct_fields__", ()):
            yield from _texts(getattr(part, name))
