"""How what people type is made comparable: small letters, no accents, single spaces.

Never changes what is kept; it is for recognising words only.
"""

import re
import unicodedata
from collections.abc import Iterable

_BLANKS = re.compile(r"[\s,;]+")
_SHOWN_CHARS_MAX = 80
# Germans without an umlaut on their keyboard write an e behind the letter.
_WITH_E = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def normalized_words(text: str) -> str:
    """Return text without case, accents, commas and doubled spaces, with plain apostrophes and hyphens."""
    apart = unicodedata.normalize(
        "NFKD", text.replace("’", "'").replace("\u2010", "-").replace("\u2011", "-")
    )
    plain = "".join(character for character in apart if not unicodedata.combining(character))
    return _BLANKS.sub(" ", plain.casefold()).strip()


def typed_spellings(word: str) -> tuple[str, ...]:
    """Return how a word of a table may look in a normalized text: "März" is typed as "marz" or "maerz".

    ß becomes "ss", and also "s": the embedded model reads texts whose letters were replaced one by one.
    """
    small = word.lower()
    forms = (small, small.translate(_WITH_E), small.replace("ß", "s"))
    return tuple(dict.fromkeys(map(normalized_words, forms)))


def any_of_pattern(words: Iterable[str]) -> str:
    """Return a pattern of any of the words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def excerpt(words: str) -> str:
    """Return what was typed as a refusal shows it: cut if it is long."""
    return words if len(words) <= _SHOWN_CHARS_MAX else words[: _SHOWN_CHARS_MAX - 1] + "…"
