"""How a note is made comparable to cue words: small letters without accents, sign for sign.

Never changes a text's length: what is found in the plain text is quoted from the note at the same place.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_ALIKE = {"ß": "s", "’": "'", "‘": "'", "ʼ": "'", "\u2010": "-", "\u2011": "-", "\u00a0": " ", "\u202f": " "}
# Germans without an umlaut on their keyboard write an e behind the letter.
_SPELLED = {"ä": "ae?", "ö": "oe?", "ü": "ue?", "ß": "ss?"}
_WITH_E = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_ANY_WORDS = "…"
_ANY_TWO = r"(?:\s+[\w'-]+){0,2}"
_ANY_HEADING = r"(?:\s+[\w'-]+){0,5}"


def to_plain(text: str) -> str:
    """Return a text in small letters without accents, as long as it was."""
    return text.lower() if text.isascii() else "".join(map(_sign, text))


@lru_cache(maxsize=2048)
def _sign(sign: str) -> str:
    small = _ALIKE.get(sign) or unicodedata.normalize("NFD", sign)[0].lower()
    return small if len(small) == 1 else sign


def plain_spellings(word: str) -> frozenset[str]:
    """Return how a word of a table looks in a plain text."""
    return frozenset((to_plain(word), to_plain(word.translate(_WITH_E))))


def alternation(spellings: Iterable[str]) -> str:
    """Return a pattern for any of these phrases in a plain text, the longest first."""
    return "|".join(_pattern(spelling) for spelling in sorted(spellings, key=len, reverse=True)) or r"(?!)"


@lru_cache(maxsize=512)
def phrase_pattern(texts: tuple[str, ...]) -> re.Pattern[str]:
    """Compile phrases to one pattern, the longest first, on word boundaries."""
    return re.compile(rf"(?<![\w'-])(?:{alternation(texts)})(?![\w'])")


def _pattern(phrase: str) -> str:
    """Write a phrase as a pattern; "…" in it stands for at most two words, before a colon for five."""
    words = phrase.split()
    # What leads up to a colon is a heading, however long: "Deadline for the handover protocol: Friday".
    gap = _ANY_HEADING if words[-1] == ":" else _ANY_TWO
    return "".join(_part(word, index, gap) for index, word in enumerate(words))


def _part(word: str, index: int, gap: str) -> str:
    if word == _ANY_WORDS:
        return gap
    spelled = "".join(_SPELLED.get(sign) or re.escape(to_plain(sign)) for sign in word)
    if word == ":":
        return r"\s*:"
    return (r"\s+" if index else "") + spelled
