"""How what people type is made comparable: small letters, no accents, single spaces.

Never changes what is kept; it is for recognising words only.
"""

import re
import unicodedata
from collections.abc import Iterable

_BLANKS = re.compile(r"[\s,;]+")
_SHOWN_CHARS_MAX = 80


def folded(text: str) -> str:
    """Return text without case, accents, commas and doubled spaces, with plain apostrophes and hyphens."""
    apart = unicodedata.normalize(
        "NFKD", text.replace("’", "'").replace("\u2010", "-").replace("\u2011", "-")
    )
    plain = "".join(one for one in apart if not unicodedata.combining(one))
    return _BLANKS.sub(" ", plain.casefold()).strip()


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern of any of the words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def shortened(words: str) -> str:
    """Return what was typed, quoted, and cut where it is long."""
    return repr(words if len(words) <= _SHOWN_CHARS_MAX else words[: _SHOWN_CHARS_MAX - 1] + "…")
